/* SPDX-License-Identifier: BSD-3-Clause */
/* Multilevel recursive bisection of the ranks together with the nodes. */
#include <errno.h>
#include <stdlib.h>

#include "setmatch/candidates.h"
#include "setmatch/divide.h"

/* The ranks of a graph, to be placed on the nodes by_size[first] .. by_size[end - 1]. */
struct part {
    affinity g;
    vertex *rank; /* of each vertex */
    size_t first, end;
};

struct bisection {
    const site *site;
    size_t variant;
    two_way t;
    struct base_arena arena;
    size_t *node;
    unsigned char *side; /* of the vertices of the current part */
    vertex *member;      /* of one half of it */
    vertex *to;          /* for affinity_extract */
};

static void part_release(struct part *p)
{
    affinity_release(&p->g);
    free(p->rank);
}

static uint64_t slots_of(const struct bisection *b, size_t first, size_t end)
{
    uint64_t slots = 0;
    for (size_t k = first; k < end; k++)
        if (__builtin_add_overflow(slots, b->site->slots[b->site->by_size[k]], &slots))
            return UINT64_MAX;
    return slots;
}

/* The half of a part that is on side `s`. */
static int extract_half(struct bisection *b, const struct part *whole, unsigned char s,
                        struct part *half)
{
    size_t count = 0;
    for (size_t v = 0; v < whole->g.vertices; v++)
        if (b->side[v] == s)
            b->member[count++] = (vertex)v;
    vertex *rank = calloc(count + 1, sizeof *rank);
    if (rank == NULL)
        return -ENOMEM;
    if (affinity_extract(&half->g, &whole->g, b->member, count, b->to) != 0) {
        free(rank);
        return -ENOMEM;
    }
    for (size_t k = 0; k < count; k++)
        rank[k] = whole->rank[b->member[k]];
    half->rank = rank;
    return 0;
}

static int bisect_part(struct bisection *b, struct part *p);

static int place_halves(struct bisection *b, const struct part *p, size_t middle)
{
    struct part low = {.first = p->first, .end = middle}, high = {.first = middle, .end = p->end};
    int rc = extract_half(b, p, 0, &low);
    if (rc != 0)
        return rc;
    rc = extract_half(b, p, 1, &high);
    if (rc != 0) {
        part_release(&low);
        return rc;
    }
    rc = bisect_part(b, &low);
    if (rc == 0)
        return bisect_part(b, &high);
    part_release(&high);
    return rc;
}

/* Releases the part. The recursion depth is the logarithm of the number of nodes. */
static int bisect_part(struct bisection *b, struct part *p)
{
    size_t middle = p->first + (p->end - p->first) / 2;
    int rc = 0;
    if (p->g.vertices > 0 && p->end - p->first > 1) {
        uint64_t capacity[2] = {slots_of(b, p->first, middle), slots_of(b, middle, p->end)};
        rc = divide_in_two(&b->t, &p->g, capacity, b->variant, b->side);
        if (rc == 0)
            rc = place_halves(b, p, middle);
    } else {
        for (size_t v = 0; v < p->g.vertices; v++)
            b->node[p->rank[v]] = b->site->by_size[p->first];
    }
    part_release(p);
    return rc;
}

static int part_init(struct part *p, struct bisection *b, const affinity *ranks)
{
    *p = (struct part){.rank = calloc(ranks->vertices + 1, sizeof *p->rank), .end = b->site->nodes};
    if (p->rank == NULL)
        return -ENOMEM;
    for (size_t v = 0; v < ranks->vertices; v++) {
        p->rank[v] = (vertex)v;
        b->to[v] = NO_VERTEX;
    }
    int rc = affinity_extract(&p->g, ranks, p->rank, ranks->vertices, b->to);
    if (rc != 0)
        free(p->rank);
    return rc;
}

int place_bisected(const affinity *ranks, const site *s, unsigned threshold, size_t variant,
                   size_t *node)
{
    (void)threshold;
    struct part p;
    struct bisection b = {.site = s, .variant = variant, .node = node};
    b.side = base_arena_alloc(&b.arena, ranks->vertices, sizeof *b.side);
    b.member = base_arena_alloc(&b.arena, ranks->vertices, sizeof *b.member);
    b.to = base_arena_alloc(&b.arena, ranks->vertices, sizeof *b.to);
    int rc = b.arena.failed ? -ENOMEM : two_way_init(&b.t, ranks->vertices);
    if (rc == 0)
        rc = part_init(&p, &b, ranks);
    if (rc == 0)
        rc = bisect_part(&b, &p);
    two_way_release(&b.t);
    base_arena_release(&b.arena);
    return rc;
}
