/* SPDX-License-Identifier: BSD-3-Clause */
/* A low maximum of the link loads: a local search from the assignment of minimum hop-bytes.
 *
 * A domain on node n loads the link above vertex v
 *   downwards with its bytes outside the subtree of v, if n is inside;
 *   upwards with its bytes inside, if n is outside.
 */
#include "base/memory.h"
#include "plan/links.h"
#include "plan/plan.h"
#include "plan/steps.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Arrays are in the arena of the costs. */
struct link_problem {
    const topo *topology;
    struct costs *costs; /* with the capacity of each node */
    size_t vertices, nodes, domains;
    double *total;  /* bytes of each domain */
    double *within; /* within[j * vertices + v] = bytes of domain j in the subtree of v */
    double *cost;   /* cost[j * nodes + n] = hop-bytes of domain j on node n, with its best rank */
};

/* A move changes only the links between the old and the new node. */
struct link_search {
    const struct link_problem *p;
    double *up, *down; /* bytes on each link */
    double limit;      /* maximum load of a cable */
    size_t *node_of;   /* of each domain */
    size_t *capacity;  /* left on each node */
    size_t *best;      /* node_of when the limit was last lowered */

    struct touched *touched; /* the previous loads of the links that the trial changed */
    size_t *trial_of;        /* of each link: the last trial that changed it */
    size_t trial, count;
    size_t effort; /* link updates so far */
};

struct touched {
    size_t v;
    double up, down;
};

/* A domain moves to a node or, unless `other` is NONE, exchanges nodes with another one. */
struct step {
    size_t domain, node, other;
    double gain; /* hop-bytes saved */
};

#define NONE SIZE_MAX
/* Link updates in one search. */
#define MOST_EFFORT ((size_t)1 << 28)

/* Sets within[v] to the bytes of domain j in the subtree of each vertex v. */
static void sum_within(const struct link_problem *p, size_t j, double *within)
{
    const struct sums *sums = &p->costs->sums;
    memset(within, 0, p->vertices * sizeof *within);
    for (size_t e = sums->start[j]; e < sums->start[j + 1]; e++)
        within[sums->node[e]] = sums->bytes[e];
    for (size_t v = 0; v + 1 < p->vertices; v++)
        within[parent_of(p->topology, v)] += within[v];
}

/* Adds the bytes that domain j moves through the link above each vertex from or to its `node`. */
static void add_loads(const struct link_problem *p, size_t j, const double *within, size_t node,
                      double *up, double *down)
{
    size_t inside = node;
    for (size_t v = 0; v + 1 < p->vertices; v++) {
        if (v != inside) {
            up[v] += within[v];
            continue;
        }
        down[v] += p->total[j] - within[v];
        inside = parent_of(p->topology, v);
    }
}

/* ---- trials ---- */

static void add_load(struct link_search *s, size_t v, double up, double down)
{
    if (s->trial_of[v] != s->trial) {
        s->trial_of[v] = s->trial;
        s->touched[s->count++] = (struct touched){v, s->up[v], s->down[v]};
    }
    s->up[v] += up;
    s->down[v] += down;
    s->effort++;
}

static void move_domain(struct link_search *s, size_t j, size_t from, size_t to)
{
    const double *within = s->p->within + j * s->p->vertices;
    while (from != to) {
        if (from < to) {
            add_load(s, from, within[from], within[from] - s->p->total[j]);
            from = parent_of(s->p->topology, from);
        } else {
            add_load(s, to, -within[to], s->p->total[j] - within[to]);
            to = parent_of(s->p->topology, to);
        }
    }
}

static void try_step(struct link_search *s, struct step step)
{
    size_t from = s->node_of[step.domain];
    s->trial++;
    s->count = 0;
    move_domain(s, step.domain, from, step.node);
    if (step.other != NONE)
        move_domain(s, step.other, step.node, from);
}

static void undo_step(struct link_search *s)
{
    while (s->count > 0) {
        struct touched t = s->touched[--s->count];
        s->up[t.v] = t.up;
        s->down[t.v] = t.down;
    }
}

static int count_at(double limit, double cable, double up, double down)
{
    return (up / cable >= limit) + (down / cable >= limit);
}

/* False if a link exceeds the limit; otherwise the change of the number of links at it. */
static bool stays_below(const struct link_search *s, long *more_at_limit)
{
    *more_at_limit = 0;
    for (size_t k = 0; k < s->count; k++) {
        struct touched t = s->touched[k];
        double cable = cables(s->p->topology, t.v);
        if (s->up[t.v] / cable > s->limit || s->down[t.v] / cable > s->limit)
            return false;
        *more_at_limit += count_at(s->limit, cable, s->up[t.v], s->down[t.v]) -
                          count_at(s->limit, cable, t.up, t.down);
    }
    return true;
}

static void accept_step(struct link_search *s, struct step step)
{
    size_t from = s->node_of[step.domain];
    s->node_of[step.domain] = step.node;
    if (step.other != NONE) {
        s->node_of[step.other] = from;
    } else {
        s->capacity[from]++;
        s->capacity[step.node]--;
    }
}

static double step_gain(const struct link_search *s, struct step step)
{
    size_t from = s->node_of[step.domain];
    const double *cost = s->p->cost + step.domain * s->p->nodes;
    double gain = cost[from] - cost[step.node];
    if (step.other != NONE) {
        cost = s->p->cost + step.other * s->p->nodes;
        gain += cost[step.node] - cost[from];
    }
    return gain;
}

/* ---- the steps of one domain: to each free node, then exchanges ---- */

static bool next_domain_step(const struct link_search *s, size_t j, size_t *k, struct step *step)
{
    for (; *k < s->p->nodes + s->p->domains; ++*k) {
        bool exchange = *k >= s->p->nodes;
        size_t other = exchange ? *k - s->p->nodes : NONE;
        size_t node = exchange ? s->node_of[other] : *k;
        if (node != s->node_of[j] && (exchange || s->capacity[node] > 0)) {
            *step = (struct step){.domain = j, .node = node, .other = other};
            step->gain = step_gain(s, *step);
            ++*k;
            return true;
        }
    }
    return false;
}

/* ---- a lower limit ---- */

/* Returns the first link that has the greatest load; NONE: no link has any. */
static size_t find_limit(struct link_search *s)
{
    size_t first = NONE;
    s->limit = 0.0;
    for (size_t v = 0; v + 1 < s->p->vertices; v++) {
        double load = fmax(s->up[v], s->down[v]) / cables(s->p->topology, v);
        if (load > s->limit) {
            s->limit = load;
            first = v;
        }
    }
    return first;
}

static bool lies_below(const struct link_search *s, size_t n, size_t v)
{
    while (n < v)
        n = parent_of(s->p->topology, n);
    return n == v;
}

static bool loads_link(const struct link_search *s, size_t j, size_t v)
{
    double in = s->p->within[j * s->p->vertices + v], cable = cables(s->p->topology, v);
    bool upwards = s->up[v] / cable >= s->limit, downwards = s->down[v] / cable >= s->limit;
    return lies_below(s, s->node_of[j], v) ? downwards && s->p->total[j] > in : upwards && in > 0.0;
}

/* Of the steps that leave fewer links at the limit, the one that saves the most hop-bytes. */
static bool find_relieving_step(struct link_search *s, size_t hot, struct step *best)
{
    struct step step;
    long more;
    best->gain = -(double)INFINITY;
    for (size_t j = 0; j < s->p->domains; j++) {
        for (size_t k = 0; loads_link(s, j, hot) && next_domain_step(s, j, &k, &step);) {
            if (step.gain <= best->gain)
                continue;
            try_step(s, step);
            if (stays_below(s, &more) && more < 0)
                *best = step;
            undo_step(s);
        }
    }
    return best->gain > -(double)INFINITY;
}

static void lower_limit(struct link_search *s)
{
    struct step step;
    double lowest = INFINITY;
    bool found = true;
    while (found) {
        size_t hot = find_limit(s);
        if (s->limit < lowest) {
            lowest = s->limit;
            memcpy(s->best, s->node_of, s->p->domains * sizeof *s->best);
        }
        found = s->limit > 0.0 && s->effort < MOST_EFFORT && find_relieving_step(s, hot, &step);
        if (found) {
            try_step(s, step);
            accept_step(s, step);
        }
    }
}

/* ---- fewer hop-bytes at that limit ---- */

/* Steps since then relieved some of the links at the limit, not all: they did not lower it. */
static void return_to_best(struct link_search *s)
{
    for (size_t j = 0; j < s->p->domains; j++) {
        size_t from = s->node_of[j];
        s->trial++;
        s->count = 0;
        move_domain(s, j, from, s->best[j]);
        s->capacity[from]++;
        s->capacity[s->best[j]]--;
        s->node_of[j] = s->best[j];
    }
    find_limit(s);
}

static bool save_hops(struct link_search *s, size_t j)
{
    struct step step;
    long more;
    for (size_t k = 0; next_domain_step(s, j, &k, &step);) {
        if (step.gain <= 0.0)
            continue;
        try_step(s, step);
        if (stays_below(s, &more)) {
            accept_step(s, step);
            return true;
        }
        undo_step(s);
    }
    return false;
}

static void lower_hops(struct link_search *s)
{
    bool changed = true;
    while (changed && s->effort < MOST_EFFORT) {
        changed = false;
        for (size_t j = 0; j < s->p->domains; j++)
            changed |= save_hops(s, j);
    }
}

/* Lowering the hop-bytes may allow a lower limit again. */
static void lower_congestion(struct link_search *s)
{
    double before;
    find_limit(s);
    do {
        before = s->limit;
        lower_limit(s);
        return_to_best(s);
        lower_hops(s);
        find_limit(s);
    } while (s->limit < before && s->effort < MOST_EFFORT);
}

static int assign_by_search(const struct link_problem *p, size_t *node_of)
{
    struct base_arena *arena = &p->costs->arena;
    struct link_search s = {.p = p, .node_of = node_of};
    s.up = base_arena_alloc(arena, p->vertices, sizeof *s.up);
    s.down = base_arena_alloc(arena, p->vertices, sizeof *s.down);
    s.capacity = base_arena_alloc(arena, p->nodes, sizeof *s.capacity);
    s.best = base_arena_alloc(arena, p->domains, sizeof *s.best);
    s.touched = base_arena_alloc(arena, p->vertices, sizeof *s.touched);
    s.trial_of = base_arena_alloc(arena, p->vertices, sizeof *s.trial_of);
    if (arena->failed)
        return -ENOMEM;
    memcpy(s.capacity, p->costs->capacity, p->nodes * sizeof *s.capacity);
    for (size_t j = 0; j < p->domains; j++) {
        s.capacity[node_of[j]]--;
        add_loads(p, j, p->within + j * p->vertices, node_of[j], s.up, s.down);
    }
    lower_congestion(&s);
    return 0;
}

/* ---- set-up ---- */

static void fill_domain(struct link_problem *p, size_t j)
{
    sum_within(p, j, p->within + j * p->vertices);
    costs_on_nodes(p->costs, j, p->cost + j * p->nodes);
}

static bool is_small(const plan_input *in)
{
    size_t pairs;
    return !__builtin_mul_overflow(in->requests->cols,
                                   in->topology->nodes + count_vertices(in->topology), &pairs) &&
           pairs <= PLAN_CONGESTION_PAIRS;
}

static int link_problem_init(struct link_problem *p, const plan_input *in, struct costs *costs)
{
    struct base_arena *arena = &costs->arena;
    const struct sums *sums = &costs->sums;
    *p = (struct link_problem){
        .topology = in->topology,
        .costs = costs,
        .vertices = count_vertices(in->topology),
        .nodes = in->topology->nodes,
        .domains = in->requests->cols,
    };
    p->total = base_arena_alloc(arena, p->domains, sizeof *p->total);
    p->within = base_arena_alloc(arena, p->domains, p->vertices * sizeof *p->within);
    p->cost = base_arena_alloc(arena, p->domains, p->nodes * sizeof *p->cost);
    if (arena->failed)
        return -ENOMEM;
    for (size_t j = 0; j < p->domains; j++) {
        for (size_t e = sums->start[j]; e < sums->start[j + 1]; e++)
            p->total[j] += sums->bytes[e];
        fill_domain(p, j);
    }
    return 0;
}

/* ---- the assignment ---- */

/* Moves domains to other nodes, then assigns them to ranks again. */
static int lower_loads(const plan_input *in, struct costs *costs, size_t *rank_of_domain)
{
    struct link_problem p;
    size_t *node_of = base_arena_alloc(&costs->arena, in->requests->cols, sizeof *node_of);
    int rc = node_of == NULL ? -ENOMEM : link_problem_init(&p, in, costs);
    for (size_t j = 0; j < in->requests->cols && rc == 0; j++)
        node_of[j] = in->node_of_rank[rank_of_domain[j]];
    if (rc == 0)
        rc = assign_by_search(&p, node_of);
    if (rc == 0)
        rc = assign_ranks(costs, plan_savings(in), node_of, rank_of_domain);
    return rc;
}

static int improve_assignment(const plan_input *in, size_t *rank_of_domain)
{
    struct costs costs;
    struct held held = held_bytes(in);
    int rc = costs_init(&costs, in, &held);
    if (rc == 0)
        rc = lower_loads(in, &costs, rank_of_domain);
    costs_release(&costs);
    return rc;
}

int plan_least_congestion(const plan_input *in, size_t *rank_of_domain)
{
    int rc = 0;
    size_t *made = base_zeroed(in->requests->cols, sizeof *made, &rc);
    if (rc == 0)
        rc = plan_least_hop_bytes(in, made);
    if (rc == 0 && is_small(in))
        rc = improve_assignment(in, made);
    for (size_t j = 0; j < in->requests->cols && rc == 0; j++)
        rank_of_domain[j] = made[j];
    free(made);
    return rc;
}
