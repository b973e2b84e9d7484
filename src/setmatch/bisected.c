/* SPDX-License-Identifier: BSD-3-Clause */
/* Multilevel recursive bisection of the ranks together with the nodes. */
#include <errno.h>

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

static uint64_t slots_of(const struct bisection *b, size_t first, size_t end)
{
    uint64_t slots = 0;
    for (size_t k = first; k < end; k++)
        if (__builtin_add_overflow(slots, b->site->slots[b->site->by_size[k]], &slots))
            return UINT64_MAX;
    return slots;
}

/* The half of a part that is on side `s`. Release half->g, also after an error. */
static int extract_half(struct bisection *b, const struct part *whole, unsigned char s,
                        struct part *half)
{
    size_t count = 0;
    for (size_t v = 0; v < whole->g.vertices; v++)
        if (b->side[v] == s)
            b->member[count++] = (vertex)v;
    int rc = affinity_extract(&half->g, &whole->g, b->member, count, b->to);
    if (rc != 0)
        return rc;
    half->rank = base_arena_alloc(&half->g.arena, count, sizeof *half->rank);
    for (size_t k = 0; half->rank != NULL && k < count; k++)
        half->rank[k] = whole->rank[b->member[k]];
    return half->rank != NULL ? 0 : -ENOMEM;
}

static int bisect_part(struct bisection *b, const struct part *p);

static int place_halves(struct bisection *b, const struct part *p, size_t middle)
{
    struct part low = {.first = p->first, .end = middle}, high = {.first = middle, .end = p->end};
    int rc = extract_half(b, p, 0, &low);
    if (rc == 0)
        rc = extract_half(b, p, 1, &high);
    if (rc == 0)
        rc = bisect_part(b, &low);
    if (rc == 0)
        rc = bisect_part(b, &high);
    affinity_release(&low.g);
    affinity_release(&high.g);
    return rc;
}

/* The recursion depth is the logarithm of the number of nodes. */
static int bisect_part(struct bisection *b, const struct part *p)
{
    size_t middle = p->first + (p->end - p->first) / 2;
    if (p->g.vertices == 0 || p->end - p->first <= 1) {
        for (size_t v = 0; v < p->g.vertices; v++)
            b->node[p->rank[v]] = b->site->by_size[p->first];
        return 0;
    }
    uint64_t capacity[2] = {slots_of(b, p->first, middle), slots_of(b, middle, p->end)};
    int rc = divide_in_two(&b->t, &p->g, capacity, b->variant, b->side);
    return rc == 0 ? place_halves(b, p, middle) : rc;
}

int place_bisected(const affinity *ranks, const site *s, unsigned threshold, size_t variant,
                   size_t *node)
{
    (void)threshold;
    size_t count = ranks->vertices;
    struct part all = {.g = *ranks, .end = s->nodes};
    struct bisection b = {.site = s, .variant = variant, .node = node};
    all.rank = base_arena_alloc(&b.arena, count, sizeof *all.rank);
    b.side = base_arena_alloc(&b.arena, count, sizeof *b.side);
    b.member = base_arena_alloc(&b.arena, count, sizeof *b.member);
    b.to = base_arena_alloc(&b.arena, count, sizeof *b.to);
    int rc = two_way_init(&b.t, &b.arena, count);
    for (size_t v = 0; rc == 0 && v < count; v++) {
        all.rank[v] = (vertex)v;
        b.to[v] = NO_VERTEX;
    }
    if (rc == 0)
        rc = bisect_part(&b, &all);
    base_arena_release(&b.arena);
    return rc;
}
