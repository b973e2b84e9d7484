/* SPDX-License-Identifier: BSD-3-Clause */
/* Multilevel recursive bisection of the ranks together with the nodes. */
#define _GNU_SOURCE /* CPU_COUNT */

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/thread.h"
#include "setmatch/candidates.h"
#include "setmatch/divide.h"
#include "setmatch/halves.h"
#include "setmatch/walk.h"

/* Divisions that variants of the method choose from. */
enum { TRIES = 2 };

/* With many ranks, a part of up to MOST_IN_FOREST of them without a cycle is placed as a forest
 * instead of being divided further. Windows are larger for large nodes, as long as that takes no
 * more time than bisection. */
enum { MOST_IN_FOREST = 32768, LEAST_WINDOW = 512, MOST_WINDOW = 768 };

/* Two threads bisect halves of at least RANKS_PER_THREAD ranks, up to MOST_THREADS in all. The
 * result does not depend on the number of threads. */
enum { RANKS_PER_THREAD = 2048, MOST_THREADS = 8 };

/* The ranks of a graph, to be placed on the nodes in places first .. end - 1 of the order. */
struct part {
    affinity g;
    vertex *rank; /* of each vertex */
    size_t first, end;
};

struct bisection {
    halves nodes;
    size_t variant;
    bool is_large;  /* there are many ranks */
    size_t threads; /* that may bisect parts of the current one */
    size_t *node;
    struct base_arena arena; /* of what follows, and is of use for one part at a time */
    two_way t;
    unsigned char *side; /* of the vertices of the current part */
    vertex *member;      /* of one half of it */
    vertex *to;          /* for affinity_extract */
};

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

/* Memory for parts of up to that number of ranks. */
static int init_memory(struct bisection *b, size_t ranks)
{
    b->side = base_arena_alloc(&b->arena, ranks, sizeof *b->side);
    b->member = base_arena_alloc(&b->arena, ranks, sizeof *b->member);
    b->to = base_arena_alloc(&b->arena, ranks, sizeof *b->to);
    if (two_way_init(&b->t, &b->arena, ranks) != 0)
        return -ENOMEM;
    for (size_t v = 0; v < ranks; v++)
        b->to[v] = NO_VERTEX;
    return 0;
}

/* A part that another thread bisects. */
struct other_part {
    struct bisection b;
    const struct part *p;
    int rc;
};

static void *bisect_other(void *context)
{
    struct other_part *other = context;
    other->rc = init_memory(&other->b, other->p->g.vertices);
    if (other->rc == 0)
        other->rc = bisect_part(&other->b, other->p);
    return NULL;
}

static int bisect_both(struct bisection *b, const struct part *low, const struct part *high)
{
    size_t threads = b->threads;
    struct other_part other = {.b = *b, .p = high};
    other.b.arena = (struct base_arena){0};
    other.b.threads = threads / 2;
    b->threads = threads - threads / 2;
    const struct base_task task = base_begin_task(bisect_other, &other);
    int rc = bisect_part(b, low);
    base_end_task(&task);
    b->threads = threads;
    b->t.work += other.b.t.work;
    base_arena_release(&other.b.arena);
    return rc != 0 ? rc : other.rc;
}

static int bisect_halves(struct bisection *b, const struct part *low, const struct part *high)
{
    size_t fewer = low->g.vertices < high->g.vertices ? low->g.vertices : high->g.vertices;
    if (b->threads > 1 && fewer >= RANKS_PER_THREAD)
        return bisect_both(b, low, high);
    int rc = bisect_part(b, low);
    return rc == 0 ? bisect_part(b, high) : rc;
}

static int place_halves(struct bisection *b, const struct part *p, size_t middle)
{
    struct part low = {.first = p->first, .end = middle}, high = {.first = middle, .end = p->end};
    int rc = extract_half(b, p, 0, &low);
    if (rc == 0)
        rc = extract_half(b, p, 1, &high);
    if (rc == 0)
        rc = bisect_halves(b, &low, &high);
    affinity_release(&low.g);
    affinity_release(&high.g);
    return rc;
}

static bool has_few_edges(const struct part *p)
{
    return p->g.start[p->g.vertices] / 2 < p->g.vertices;
}

static size_t window_for(const struct part *p, const site *s)
{
    size_t window = NODES_PER_WINDOW * site_slots(s, s->by_size[0], p->g.vertices);
    return window > LEAST_WINDOW && window <= MOST_WINDOW ? window : LEAST_WINDOW;
}

/* 1: the part is no forest, or too large. */
static int place_forest_part(struct bisection *b, const struct part *p)
{
    const site s = {
        .slots = b->nodes.slots, .by_size = b->nodes.order + p->first, .nodes = p->end - p->first};
    struct base_arena arena = {0};
    if (!b->is_large || p->g.vertices > MOST_IN_FOREST || !has_few_edges(p))
        return 1;
    size_t window = window_for(p, &s);
    size_t *node = base_arena_alloc(&arena, p->g.vertices, sizeof *node);
    int rc = node != NULL ? place_forest(&p->g, &s, b->variant, window, node, &b->t.work) : -ENOMEM;
    for (size_t v = 0; rc == 0 && v < p->g.vertices; v++)
        b->node[p->rank[v]] = node[v];
    base_arena_release(&arena);
    return rc;
}

/* Those of both halves of the nodes. */
static void count_slots(const struct bisection *b, const struct part *p, size_t middle,
                        uint64_t slots[2])
{
    slots[0] = halves_slots(&b->nodes, p->first, middle);
    slots[1] = halves_slots(&b->nodes, middle, p->end);
}

/* Nodes of different slots can be divided almost anywhere. So the ranks are divided first, where
 * the cut is small, and then the nodes. */
static int divide_ranks_first(struct bisection *b, const struct part *p, const divide_rules *rules,
                              size_t *middle)
{
    uint64_t all = p->g.vertices, half = all - all / 2, part = all * 4 / 5, ranks[2] = {0, 0};
    uint64_t most = part > half ? part : half, capacity[2] = {most, most};
    int rc = divide_in_two(&b->t, &p->g, capacity, rules, b->side);
    if (rc != 0)
        return rc;
    for (size_t v = 0; v < all; v++)
        ranks[b->side[v] & TWO_WAY_SIDE]++;
    *middle = halves_divide_for(&b->nodes, p->first, p->end, ranks, b->variant);
    count_slots(b, p, *middle, capacity);
    redivide_in_two(&b->t, &p->g, capacity, rules, b->side);
    return 0;
}

static int divide_nodes_first(struct bisection *b, const struct part *p, const divide_rules *rules,
                              size_t *middle)
{
    uint64_t capacity[2];
    *middle = halves_divide(&b->nodes, p->first, p->end, b->variant);
    count_slots(b, p, *middle, capacity);
    return divide_in_two(&b->t, &p->g, capacity, rules, b->side);
}

/* Of many ranks only where there are few edges, as in trees, which have few good places to divide
 * them: meshes have enough, and time counts. */
static bool ranks_come_first(const struct bisection *b, const struct part *p)
{
    return (!b->is_large || has_few_edges(p)) && !halves_are_even(&b->nodes, p->first, p->end);
}

static int divide_part(struct bisection *b, const struct part *p)
{
    const divide_rules rules = {b->variant, b->variant == 0 ? 1 : TRIES, b->is_large};
    size_t middle;
    int rc =
        (ranks_come_first(b, p) ? divide_ranks_first : divide_nodes_first)(b, p, &rules, &middle);
    return rc == 0 ? place_halves(b, p, middle) : rc;
}

/* The recursion depth is the logarithm of the number of nodes. */
static int bisect_part(struct bisection *b, const struct part *p)
{
    if (p->g.vertices == 0 || p->end - p->first <= 1) {
        for (size_t v = 0; v < p->g.vertices; v++)
            b->node[p->rank[v]] = b->nodes.order[p->first];
        return 0;
    }
    int rc = place_forest_part(b, p);
    return rc == 1 ? divide_part(b, p) : rc;
}

/* The ranks in the order of a walk, so that neighbours are near each other in memory. */
static int order_ranks(struct bisection *b, const affinity *ranks, struct part *all)
{
    walk w;
    if (walk_init(&w, &b->arena, ranks->vertices) != 0)
        return -ENOMEM;
    walk_reset(&w, ranks, 100);
    for (size_t v = 0; v < ranks->vertices; v++)
        if (w.mark[v] == NO_VERTEX)
            walk_breadth_first(&w, (vertex)v, 0);
    all->rank = w.order;
    return affinity_extract(&all->g, ranks, w.order, w.length, b->to);
}

static int init_bisection(struct bisection *b, const affinity *ranks, const site *s)
{
    return halves_init(&b->nodes, &b->arena, s) != 0 || init_memory(b, ranks->vertices) != 0
               ? -ENOMEM
               : 0;
}

/* As many as the processors that this process may use. */
static size_t usable_threads(void)
{
    cpu_set_t usable;
    int count = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
    return (size_t)(count < MOST_THREADS ? count : MOST_THREADS);
}

int bisect_ranks(const affinity *ranks, const site *s, size_t variant, size_t *node, size_t *work)
{
    struct part all = {.end = site_to_use(s, ranks->vertices, variant)};
    struct bisection b = {.variant = variant,
                          .is_large = ranks->vertices > MANY_RANKS,
                          .threads = usable_threads(),
                          .node = node};
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

int place_bisected(const affinity *ranks, const site *s, unsigned threshold, size_t *node)
{
    size_t work = 0;
    (void)threshold;
    return bisect_ranks(ranks, s, 0, node, &work);
}
