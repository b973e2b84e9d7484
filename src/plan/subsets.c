/* SPDX-License-Identifier: BSD-3-Clause */
/* Least congestion by dynamic programming: for each subtree and each subset of the domains the best
 * that the subtree can do if it owns just these. The load of the link above a subtree depends on
 * nothing else, so that the best for a vertex follows from those of its children. */
#include "plan/congestion.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* A set has a bit for each domain. */
typedef uint16_t domain_set;

enum { MOST_DOMAINS = 16 };
/* Vertices times sets, which take memory. */
#define MOST_STATES ((size_t)1 << 24)
/* Pairs of a set of a child and one of those before it that are looked at: about a second. */
#define MOST_PAIRS ((size_t)1 << 26)

struct subset_search {
    const struct link_problem *p;
    size_t sets;
    double limit;       /* of loads */
    bool sum_hops;      /* the best is the fewest hop-bytes, else the least maximum load */
    double *best;       /* best[(v - nodes) * sets + set], of the children so far; INFINITY: none */
    bool *begun;        /* by vertex: there are children so far */
    domain_set *choice; /* choice[v * sets + set]: what v owns if `set` is owned by v and the
                           children of its parent before it */
    double *load, *value, *merged; /* by set: of the link above the current vertex, of its subtree;
                                      of the parent's children up to it */
    domain_set *possible, *before; /* sets that the subtree can own, that those before it can */
    size_t pairs;                  /* looked at so far */
};

static size_t lowest_of(size_t set)
{
    return (size_t)__builtin_ctzll(set);
}

static size_t without_lowest(size_t set)
{
    return set & (set - 1);
}

/* ---- a vertex ---- */

/* Of the link above v, for each set that the subtree may own. */
static void fill_loads(struct subset_search *s, size_t v)
{
    const struct link_problem *p = s->p;
    double cable = cables(p->topology, v), up = 0.0;
    double *down_of = s->merged, *up_of = s->load;
    for (size_t j = 0; j < p->domains; j++)
        up += p->within[j * p->vertices + v];
    down_of[0] = 0.0;
    up_of[0] = up;
    for (size_t set = 1; set < s->sets; set++) {
        size_t j = lowest_of(set), rest = without_lowest(set);
        double in = p->within[j * p->vertices + v];
        down_of[set] = down_of[rest] + (p->total[j] - in);
        up_of[set] = up_of[rest] - in;
    }
    for (size_t set = 0; set < s->sets; set++)
        s->load[set] = fmax(down_of[set], up_of[set]) / cable;
}

static void fill_node(struct subset_search *s, size_t n)
{
    const struct link_problem *p = s->p;
    s->value[0] = 0.0;
    for (size_t set = 1; set < s->sets; set++) {
        double hops = s->sum_hops ? p->cost[lowest_of(set) * p->nodes + n] : 0.0;
        bool fits = (size_t)__builtin_popcountll(set) <= p->costs->capacity[n];
        s->value[set] = fits ? s->value[without_lowest(set)] + hops : (double)INFINITY;
    }
}

static double *best_of_children(const struct subset_search *s, size_t v)
{
    return s->best + (v - s->p->nodes) * s->sets;
}

/* A switch without nodes owns nothing. */
static void fill_switch(struct subset_search *s, size_t v)
{
    const double *best = best_of_children(s, v);
    for (size_t set = 0; set < s->sets; set++)
        s->value[set] = s->begun[v] ? best[set] : set == 0 ? 0.0 : (double)INFINITY;
}

static size_t list_possible(const struct subset_search *s, const double *best, domain_set *list)
{
    size_t count = 0;
    for (size_t set = 0; set < s->sets; set++)
        if (best[set] < (double)INFINITY)
            list[count++] = (domain_set)set;
    return count;
}

/* Sets s->value for the subtree of v with the link above it. Returns the number of possible sets.
 */
static size_t fill_subtree(struct subset_search *s, size_t v)
{
    fill_loads(s, v);
    if (v < s->p->nodes)
        fill_node(s, v);
    else
        fill_switch(s, v);
    for (size_t set = 0; set < s->sets; set++)
        if (s->load[set] > s->limit)
            s->value[set] = INFINITY;
        else if (!s->sum_hops)
            s->value[set] = fmax(s->value[set], s->load[set]);
    return list_possible(s, s->value, s->possible);
}

/* ---- a child and those before it ---- */

static void merge_pair(struct subset_search *s, const double *best, size_t own, size_t rest,
                       domain_set *choice)
{
    double value = s->value[own];
    double both = s->sum_hops ? best[rest] + value : fmax(best[rest], value);
    if (both < s->merged[own | rest]) {
        s->merged[own | rest] = both;
        choice[own | rest] = (domain_set)own;
    }
}

/* All sets that are disjoint from `own`. */
static void merge_subsets(struct subset_search *s, const double *best, size_t own,
                          domain_set *choice)
{
    size_t others = (s->sets - 1) & ~own, rest = others;
    do {
        rest = (rest - 1) & others;
        merge_pair(s, best, own, rest, choice);
    } while (rest != others);
}

static void merge_sets(struct subset_search *s, const double *best, size_t count,
                       domain_set *choice)
{
    size_t before = list_possible(s, best, s->before);
    for (size_t set = 0; set < s->sets; set++)
        s->merged[set] = INFINITY;
    for (size_t k = 0; k < count && s->pairs < MOST_PAIRS; k++) {
        size_t own = s->possible[k];
        size_t subsets = s->sets >> __builtin_popcountll(own);
        s->pairs += subsets < before ? subsets : before;
        if (subsets < before)
            merge_subsets(s, best, own, choice);
        for (size_t i = 0; subsets >= before && i < before; i++)
            if ((s->before[i] & own) == 0)
                merge_pair(s, best, own, s->before[i], choice);
    }
}

static void merge_into_parent(struct subset_search *s, size_t v)
{
    size_t count = fill_subtree(s, v), parent = parent_of(s->p->topology, v);
    double *best = best_of_children(s, parent);
    domain_set *choice = s->choice + v * s->sets;
    if (s->begun[parent]) {
        merge_sets(s, best, count, choice);
        memcpy(best, s->merged, s->sets * sizeof *best);
        return;
    }
    memcpy(best, s->value, s->sets * sizeof *best);
    for (size_t set = 0; set < s->sets; set++)
        choice[set] = (domain_set)set;
    s->begun[parent] = true;
}

/* ---- the tree ---- */

/* Returns the best for all domains; INFINITY if that took too long. Parents have higher numbers
 * than their children. */
static double search_tree(struct subset_search *s)
{
    size_t root = s->p->vertices - 1;
    s->pairs = 0;
    memset(s->begun, 0, s->p->vertices * sizeof *s->begun);
    for (size_t v = 0; v < root && s->pairs < MOST_PAIRS; v++)
        merge_into_parent(s, v);
    return s->pairs < MOST_PAIRS ? best_of_children(s, root)[s->sets - 1] : (double)INFINITY;
}

/* The sets that made up the best; `left` is scratch, an entry for each vertex. */
static void follow_choices(const struct subset_search *s, domain_set *left, size_t *node_of)
{
    size_t root = s->p->vertices - 1;
    left[root] = (domain_set)(s->sets - 1);
    for (size_t v = root; v-- > 0;) {
        domain_set *others = &left[parent_of(s->p->topology, v)];
        left[v] = s->choice[v * s->sets + *others];
        *others &= (domain_set)~left[v];
        for (size_t set = left[v]; v < s->p->nodes && set != 0; set = without_lowest(set))
            node_of[lowest_of(set)] = v;
    }
}

/* The maximum load of an assignment; `owned` is scratch as above. */
static double most_load(struct subset_search *s, domain_set *owned, const size_t *node_of)
{
    double most = 0.0;
    memset(owned, 0, s->p->vertices * sizeof *owned);
    for (size_t j = 0; j < s->p->domains; j++)
        owned[node_of[j]] |= (domain_set)(1U << j);
    for (size_t v = 0; v + 1 < s->p->vertices; v++) {
        fill_loads(s, v);
        most = fmax(most, s->load[owned[v]]);
        owned[parent_of(s->p->topology, v)] |= owned[v];
    }
    return most;
}

static int subset_search_allocate(struct subset_search *s)
{
    const struct link_problem *p = s->p;
    struct base_arena *arena = &p->costs->arena;
    s->best = base_arena_alloc(arena, p->vertices - p->nodes, s->sets * sizeof *s->best);
    s->begun = base_arena_alloc(arena, p->vertices, sizeof *s->begun);
    s->choice = base_arena_alloc(arena, p->vertices, s->sets * sizeof *s->choice);
    s->load = base_arena_alloc(arena, s->sets, sizeof *s->load);
    s->value = base_arena_alloc(arena, s->sets, sizeof *s->value);
    s->merged = base_arena_alloc(arena, s->sets, sizeof *s->merged);
    s->possible = base_arena_alloc(arena, s->sets, sizeof *s->possible);
    s->before = base_arena_alloc(arena, s->sets, sizeof *s->before);
    return arena->failed ? -ENOMEM : 0;
}

static bool has_few_sets(const struct link_problem *p)
{
    return p->domains <= MOST_DOMAINS && p->vertices <= MOST_STATES >> p->domains &&
           p->vertices > p->nodes;
}

int assign_by_subsets(const struct link_problem *p, size_t *node_of, struct link_load *load)
{
    struct subset_search s = {.p = p};
    if (!has_few_sets(p))
        return 0;
    s.sets = (size_t)1 << p->domains;
    domain_set *by_vertex = base_arena_alloc(&p->costs->arena, p->vertices, sizeof *by_vertex);
    int rc = subset_search_allocate(&s);
    if (rc != 0)
        return rc;
    s.limit = most_load(&s, by_vertex, node_of);
    s.limit = search_tree(&s);
    if (isinf(s.limit))
        return 0;
    /* With a lower limit there are fewer sets: this does not take too long either. */
    s.sum_hops = true;
    search_tree(&s);
    follow_choices(&s, by_vertex, node_of);
    *load = (struct link_load){s.limit, true};
    return 0;
}
