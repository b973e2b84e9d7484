/* SPDX-License-Identifier: BSD-3-Clause */
/* Merges what is bound most, as long as a node can hold it. */
#include <errno.h>
#include <stdlib.h>

#include "setmatch/candidates.h"
#include "setmatch/mix.h"
#include "setmatch/pack.h"

/* A set's choice among the sets it could merge with. */
struct choice {
    vertex other;
    int64_t weight;
};

/* A number for a pair of sets that is the same from both sides; without it, a row of equal weights
 * would merge from one end on, one pair a round. */
static uint64_t draw(vertex a, vertex b, size_t turn)
{
    return mixed(turn ^ (a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a));
}

/* More weight is better, then fewer ranks, then the draw. */
static int is_better(const affinity *g, vertex c, size_t i, size_t best, size_t turn)
{
    vertex a = g->other[i], b = g->other[best];
    if (g->weight[i] != g->weight[best])
        return g->weight[i] > g->weight[best];
    if (g->size[a] != g->size[b])
        return g->size[a] < g->size[b];
    return draw(c, a, turn) > draw(c, b, turn);
}

static struct choice choose(const affinity *g, vertex c, size_t largest, size_t turn)
{
    size_t best = SIZE_MAX;
    for (size_t i = g->start[c]; i < g->start[c + 1]; i++)
        if ((size_t)g->size[c] + g->size[g->other[i]] <= largest &&
            (best == SIZE_MAX || is_better(g, c, i, best, turn)))
            best = i;
    return best == SIZE_MAX ? (struct choice){NO_VERTEX, 0}
                            : (struct choice){g->other[best], g->weight[best]};
}

/* Pairs that chose each other merge when their weight is near the largest one of this round.
 * Returns the number of sets afterwards. */
static size_t pair_up(const affinity *g, size_t largest, size_t turn, struct choice *choice,
                      vertex *to)
{
    int64_t heaviest = 0;
    size_t count = 0;
    for (size_t c = 0; c < g->vertices; c++) {
        choice[c] = choose(g, (vertex)c, largest, turn);
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

/* Until no two sets fit a node together. The heaviest of all is always chosen from both sides. */
static int merge_all(sets_graph *sets, size_t largest, size_t turn, struct choice *choice,
                     vertex *to)
{
    for (;;) {
        size_t before = sets->g.vertices;
        size_t count = pair_up(&sets->g, largest, turn, choice, to);
        if (count == before)
            return 0;
        int rc = sets_merge(sets, to, count, NULL, before);
        if (rc != 0)
            return rc;
    }
}

int place_agglomerative(const affinity *ranks, const site *s, size_t turn, size_t *node)
{
    sets_graph sets;
    int rc = sets_init(&sets, ranks, s, node);
    if (rc != 0)
        return rc;
    struct choice *choice = calloc(ranks->vertices + 1, sizeof *choice);
    vertex *to = calloc(ranks->vertices + 1, sizeof *to);
    rc = choice == NULL || to == NULL ? -ENOMEM : 0;
    if (rc == 0 && s->nodes > 0)
        rc = merge_all(&sets, s->slots[s->by_size[0]], turn, choice, to);
    if (rc == 0)
        rc = sets_pack(&sets, ranks);
    free(choice);
    free(to);
    sets_release(&sets);
    return rc;
}
