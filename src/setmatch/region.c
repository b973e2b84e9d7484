/* SPDX-License-Identifier: BSD-3-Clause */
/* Places the ranks of some neighbouring nodes anew: a large neighbourhood search (Shaw, "Using
 * constraint programming and local search methods to solve vehicle routing problems", CP 1998). */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "setmatch/candidates.h"
#include "setmatch/mix.h"

/* Nodes of a region; steps of annealing for each of its ranks. */
enum { LEAST_NODES = 2, MOST_NODES = 8, STEPS_PER_RANK = 200, MOST_STEPS = 400000 };

struct region {
    struct base_arena arena;
    const affinity *ranks;
    affinity g; /* of the ranks of the region */
    site site;  /* its nodes have slots, the others none */
    size_t *slots;
    size_t nodes;        /* number of nodes */
    vertex *member;      /* by vertex of g: the rank */
    vertex *to;          /* for affinity_extract */
    size_t *now, *trial; /* by vertex of g: the nodes */
};

static int region_init(struct region *r, const affinity *ranks, const site *s)
{
    size_t count = ranks->vertices;
    *r = (struct region){.ranks = ranks};
    r->slots = base_arena_alloc(&r->arena, s->listed, sizeof *r->slots);
    r->member = base_arena_alloc(&r->arena, count, sizeof *r->member);
    r->to = base_arena_alloc(&r->arena, count, sizeof *r->to);
    r->now = base_arena_alloc(&r->arena, count, sizeof *r->now);
    r->trial = base_arena_alloc(&r->arena, count, sizeof *r->trial);
    return r->arena.failed ? -ENOMEM : 0;
}

static void region_release(struct region *r)
{
    affinity_release(&r->g);
    site_release(&r->site);
    base_arena_release(&r->arena);
}

static void add_node(struct region *r, const site *s, size_t n)
{
    r->nodes += r->slots[n] == 0;
    r->slots[n] = s->slots[n];
}

/* Adds the nodes that a walk along arcs from `seed` meets first. member[] and to[] are the walk's
 * queue and marks; restores to[]. */
static void grow_region(struct region *r, const site *s, const size_t *node, vertex seed,
                        size_t nodes)
{
    const affinity *g = r->ranks;
    size_t length = 1;
    r->member[0] = seed;
    r->to[seed] = 0;
    for (size_t head = 0; head < length && r->nodes < nodes; head++) {
        vertex v = r->member[head];
        add_node(r, s, node[v]);
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++) {
            if (r->to[g->other[i]] != NO_VERTEX)
                continue;
            r->to[g->other[i]] = 0;
            r->member[length++] = g->other[i];
        }
    }
    while (length > 0)
        r->to[r->member[--length]] = NO_VERTEX;
}

static int extract_region(struct region *r, const site *s, const size_t *node)
{
    size_t count = 0;
    for (size_t v = 0; v < r->ranks->vertices; v++) {
        if (r->slots[node[v]] == 0)
            continue;
        r->now[count] = node[v];
        r->member[count++] = (vertex)v;
    }
    int rc = site_init(&r->site, r->slots, s->listed);
    return rc == 0 ? affinity_extract(&r->g, r->ranks, r->member, count, r->to) : rc;
}

/* From nothing, or by annealing from where they are. */
static int place_region(struct region *r, size_t variant, size_t *work)
{
    size_t ranks = r->g.vertices;
    size_t steps = ranks < MOST_STEPS / STEPS_PER_RANK ? STEPS_PER_RANK * ranks : MOST_STEPS;
    const annealing_rules rules = {steps, variant / 2, NULL, NULL};
    int rc;
    if (variant % 2 == 0) {
        rc = bisect_ranks(&r->g, &r->site, variant / 2, r->trial, work);
    } else {
        memcpy(r->trial, r->now, ranks * sizeof *r->trial);
        rc = anneal_placement(&r->g, &r->site, &rules, r->trial);
        *work += steps / STEPS_PER_VISIT;
    }
    return rc == 0 ? refine_multilevel(&r->g, &r->site, NULL, variant, r->trial, work) : rc;
}

/* Another placement of equal cut may lead further. */
static void keep_region(const struct region *r, size_t *node)
{
    if (affinity_cut(&r->g, r->trial) <= affinity_cut(&r->g, r->now))
        for (size_t v = 0; v < r->g.vertices; v++)
            node[r->member[v]] = r->trial[v];
}

int improve_region(const affinity *ranks, const site *s, size_t variant, size_t *node, size_t *work)
{
    struct region r;
    uint64_t drawn = mixed(variant);
    size_t nodes = LEAST_NODES + (drawn >> 32) % (MOST_NODES - LEAST_NODES + 1);
    int rc = region_init(&r, ranks, s);
    if (rc == 0) {
        memset(r.to, 0xff, ranks->vertices * sizeof *r.to);
        grow_region(&r, s, node, (vertex)(drawn % ranks->vertices), nodes);
        rc = extract_region(&r, s, node);
    }
    if (rc == 0)
        rc = place_region(&r, variant, work);
    if (rc == 0)
        keep_region(&r, node);
    region_release(&r);
    return rc;
}
