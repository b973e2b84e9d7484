/* SPDX-License-Identifier: BSD-3-Clause */
/* Multilevel recursive bisection of the ranks together with the nodes. */

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/mix.h"
#include "setmatch/candidates.h"
#include "setmatch/divide.h"
#include "setmatch/walk.h"

/* The ranks of a graph, to be placed on the nodes in places first .. end - 1 of the order. */
struct part {
    affinity g;
    vertex *rank; /* of each vertex */
    size_t first, end;
};

struct bisection {
    variant variant;
    const size_t *slots; /* by node; borrowed */
    size_t *order;       /* nodes; parts of them are ranges, the largest node of each first */
    size_t *moved;       /* by place: a second half; scratch */
    bool *is_first;      /* by place: a node of the first half of a part */
    bool is_large;       /* there are many ranks */
    size_t *node;
    struct base_arena arena; /* of what follows, and is of use for one part at a time */
    two_way t;
    unsigned char *side; /* of the vertices of the current part */
    vertex *member;      /* of one half of it */
    vertex *to;          /* for affinity_extract */
};

variant variant_of(size_t k)
{
    static const variant in_turn[] = {
        {FEWEST_NODES, AT_MIDDLE, 0},          {MOST_NODES, BY_LEAST_FACTOR, 0},
        {FEWEST_NODES, BY_GREATEST_FACTOR, 0}, {ANY_NODES, AT_MIDDLE, 0},
        {FEWEST_NODES, BY_LEAST_FACTOR, 0},    {ANY_NODES, BY_GREATEST_FACTOR, 0},
    };
    variant v = in_turn[k % (sizeof in_turn / sizeof in_turn[0])];
    v.seed = k;
    return v;
}

/* ---- halves of the nodes: half the number, or half the slots ---- */

/* The slots of a part, UINT64_MAX if there are more. */
static uint64_t slots_of_nodes(const struct bisection *b, size_t first, size_t end)
{
    uint64_t slots = 0;
    for (size_t k = first; k < end; k++)
        if (__builtin_add_overflow(slots, b->slots[b->order[k]], &slots))
            return UINT64_MAX;
    return slots;
}

/* Moves the nodes of the first half to the front. */
static size_t move_half(struct bisection *b, size_t first, size_t end)
{
    size_t kept = first, moved = first;
    for (size_t k = first; k < end; k++)
        if (b->is_first[k])
            b->order[kept++] = b->order[k];
        else
            b->moved[moved++] = b->order[k];
    memcpy(b->order + kept, b->moved + first, (moved - first) * sizeof *b->moved);
    return kept;
}

/* The least prime factor of n > 1; or the greatest. */
static size_t prime_factor(size_t n, bool greatest)
{
    for (size_t factor = 2; factor * factor <= n; factor++) {
        if (n % factor != 0)
            continue;
        if (!greatest)
            return factor;
        for (; n % factor == 0 && n > factor; n /= factor)
            ;
    }
    return n;
}

/* Groups of equal numbers of nodes, as many as a prime factor of their number, stay whole: 27 nodes
 * are divided into 9 and 18. */
static size_t divide_by_factor(size_t first, size_t end, bool greatest)
{
    size_t factor = prime_factor(end - first, greatest);
    return first + (end - first) / factor * (factor / 2);
}

/* Nodes with half the slots, the largest first. */
static size_t divide_by_slots(const struct bisection *b, size_t first, size_t end)
{
    uint64_t half = slots_of_nodes(b, first, end) / 2, slots = b->slots[b->order[first]];
    size_t middle = first + 1;
    while (middle + 1 < end && slots + b->slots[b->order[middle]] / 2 < half)
        slots += b->slots[b->order[middle++]];
    return middle;
}

static size_t divide_at_random(struct bisection *b, size_t first, size_t end)
{
    size_t wanted = (end - first) / 2;
    for (size_t k = first; k < end; k++) {
        b->is_first[k] = base_mix(b->variant.seed ^ (uint64_t)k << 32) % (end - k) < wanted;
        wanted -= b->is_first[k];
    }
    return move_half(b, first, end);
}

/* Divides a part in two, as the variant says. Returns where the second half begins. Both halves
 * keep their order. */
static size_t divide_nodes(struct bisection *b, size_t first, size_t end)
{
    bool even = b->slots[b->order[first]] == b->slots[b->order[end - 1]];
    if (b->variant.halves == AT_MIDDLE)
        return first + (end - first) / 2;
    if (even)
        return divide_by_factor(first, end, b->variant.halves == BY_GREATEST_FACTOR);
    return b->variant.halves == BY_LEAST_FACTOR ? divide_by_slots(b, first, end)
                                                : divide_at_random(b, first, end);
}

/* ---- halves of the ranks ---- */

/* The half of a part that is on side `s`. Release half->g, also after an error. */
static int extract_half(struct bisection *b, const struct part *whole, unsigned char s,
                        struct part *half)
{
    size_t count = 0;
    for (size_t v = 0; v < whole->g.vertices; v++)
        if ((b->side[v] & TWO_WAY_SIDE) == s)
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

static int divide_part(struct bisection *b, const struct part *p)
{
    const divide_rules rules = {b->variant.seed, b->is_large};
    size_t middle = divide_nodes(b, p->first, p->end);
    assert(p->first < middle && middle < p->end);
    const uint64_t capacity[2] = {slots_of_nodes(b, p->first, middle),
                                  slots_of_nodes(b, middle, p->end)};
    int rc = divide_in_two(&b->t, &p->g, capacity, &rules, b->side);
    return rc == 0 ? place_halves(b, p, middle) : rc;
}

/* The recursion depth is the logarithm of the number of nodes. */
static int bisect_part(struct bisection *b, const struct part *p)
{
    if (p->g.vertices == 0 || p->end - p->first <= 1) {
        for (size_t v = 0; v < p->g.vertices; v++)
            b->node[p->rank[v]] = b->order[p->first];
        return 0;
    }
    return divide_part(b, p);
}

/* The ranks in the order of a walk, so that neighbours are near each other in memory. */
static int order_ranks(struct bisection *b, const affinity *ranks, struct part *all)
{
    walk w;
    if (walk_init(&w, &b->arena, ranks->vertices) != 0)
        return -ENOMEM;
    walk_reset(&w, ranks, 1);
    for (size_t v = 0; v < ranks->vertices; v++)
        if (!w.visited[v])
            walk_breadth_first(&w, (vertex)v);
    all->rank = w.order;
    return affinity_extract(&all->g, ranks, w.order, w.length, b->to);
}

static int init_bisection(struct bisection *b, const affinity *ranks, const allocation *s)
{
    size_t most = ranks->vertices;
    b->side = base_arena_alloc(&b->arena, most, sizeof *b->side);
    b->member = base_arena_alloc(&b->arena, most, sizeof *b->member);
    b->to = base_arena_alloc(&b->arena, most, sizeof *b->to);
    b->slots = s->slots;
    b->order = base_arena_alloc(&b->arena, s->nodes, sizeof *b->order);
    b->moved = base_arena_alloc(&b->arena, s->nodes, sizeof *b->moved);
    b->is_first = base_arena_alloc(&b->arena, s->nodes, sizeof *b->is_first);
    if (two_way_init(&b->t, &b->arena, most) != 0)
        return -ENOMEM;
    memcpy(b->order, s->by_size, s->nodes * sizeof *b->order);
    for (size_t v = 0; v < most; v++)
        b->to[v] = NO_VERTEX;
    return 0;
}

int bisect_ranks(const affinity *ranks, const allocation *s, variant v, size_t *node, size_t *work)
{
    struct part all = {.end = nodes_to_use(s, ranks->vertices, v)};
    struct bisection b = {.variant = v, .is_large = ranks->vertices > MANY_RANKS, .node = node};
    int rc = init_bisection(&b, ranks, s);
    if (rc == 0)
        rc = order_ranks(&b, ranks, &all);
    if (rc == 0)
        rc = bisect_part(&b, &all);
    *work += b.t.work;
    affinity_release(&all.g);
    base_arena_release(&b.arena);
    return rc;
}

int place_bisected(const affinity *ranks, const allocation *s, size_t *node)
{
    size_t work = 0;
    return bisect_ranks(ranks, s, variant_of(0), node, &work);
}
