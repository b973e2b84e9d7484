/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges the pairs of sets of greatest weight, as long as a node can hold them. */
#include <errno.h>

#include "base/mix.h"
#include "setmatch/pack.h"

/* The set with which another one prefers to merge. */
struct choice {
    vertex other;
    int64_t weight;
};

/* A pseudo-random number for a pair of sets, the same from both sides. Without it, a path of equal
 * weights would merge from one end on, one pair per round. */
static uint64_t pair_number(vertex a, vertex b)
{
    return base_mix(a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a);
}

/* More weight is better, then fewer ranks, then the greater pair number. */
static int is_better_arc(const affinity *g, vertex c, size_t i, size_t best)
{
    vertex a = g->other[i], b = g->other[best];
    if (g->weight[i] != g->weight[best])
        return g->weight[i] > g->weight[best];
    if (g->size[a] != g->size[b])
        return g->size[a] < g->size[b];
    return pair_number(c, a) > pair_number(c, b);
}

static struct choice choose_partner(const affinity *g, vertex c, size_t largest)
{
    size_t best = SIZE_MAX;
    for (size_t i = g->start[c]; i < g->start[c + 1]; i++)
        if ((size_t)g->size[c] + g->size[g->other[i]] <= largest &&
            (best == SIZE_MAX || is_better_arc(g, c, i, best)))
            best = i;
    return best == SIZE_MAX ? (struct choice){NO_VERTEX, 0}
                            : (struct choice){g->other[best], g->weight[best]};
}

/* Merges pairs that chose each other and have at least half the greatest weight of this round.
 * Returns the number of sets afterwards. */
static size_t merge_pairs(const affinity *g, size_t largest, struct choice *choice, vertex *to)
{
    int64_t heaviest = 0;
    size_t count = 0;
    for (size_t c = 0; c < g->vertices; c++) {
        choice[c] = choose_partner(g, (vertex)c, largest);
        heaviest = choice[c].weight > heaviest ? choice[c].weight : heaviest;
    }
    for (size_t c = 0; c < g->vertices; c++) {
        vertex other = choice[c].other;
        int merged = other != NO_VERTEX && choice[other].other == c &&
                     choice[c].weight >= heaviest - heaviest / 2;
        to[c] = merged && other < c ? to[other] : (vertex)count++;
    }
    return count;
}

/* Until no two sets fit a node together. The heaviest pair always chooses each other. */
static int merge_all(sets_graph *sets, size_t largest, struct choice *choice, vertex *to)
{
    for (;;) {
        size_t before = sets->g.vertices;
        size_t count = merge_pairs(&sets->g, largest, choice, to);
        if (count == before)
            return 0;
        int rc = sets_merge(sets, to, count, NULL, before);
        if (rc != 0)
            return rc;
    }
}

int place_agglomerative(const affinity *ranks, const site *s, unsigned threshold, size_t *node)
{
    (void)threshold;
    sets_graph sets;
    int rc = sets_init(&sets, ranks, s, node);
    struct choice *choice = base_arena_alloc(&sets.arena, ranks->vertices, sizeof *choice);
    vertex *to = base_arena_alloc(&sets.arena, ranks->vertices, sizeof *to);
    if (rc == 0 && sets.arena.failed)
        rc = -ENOMEM;
    if (rc == 0 && s->nodes > 0)
        rc = merge_all(&sets, s->slots[s->by_size[0]], choice, to);
    if (rc == 0)
        rc = sets_pack(&sets, ranks);
    sets_release(&sets);
    return rc;
}
