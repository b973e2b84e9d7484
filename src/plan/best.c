/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks that access most of a domain, on each node. */
#include "plan/best.h"

#include <errno.h>
#include <string.h>

struct best_search {
    const struct costs *costs;
    struct best *best;
    size_t *at;    /* of each domain: the next entry; entries are ordered by node, as C is read */
    size_t *used;  /* of each entry: its ranks so far */
    double *least; /* of each entry with all its ranks: the fewest bytes of one */
};

/* SIZE_MAX: there is none. */
static size_t entry_of(const struct best_search *s, size_t n, size_t j)
{
    const struct sums *sums = &s->costs->sums;
    size_t end = sums->start[j + 1];
    while (s->at[j] < end && sums->node[s->at[j]] < n)
        s->at[j]++;
    return s->at[j] < end && sums->node[s->at[j]] == n ? s->at[j] : SIZE_MAX;
}

/* The last of the ranks with the fewest bytes. */
static size_t worst_of(const struct best_rank *rank, size_t count)
{
    size_t worst = 0;
    for (size_t k = 1; k < count; k++)
        if (rank[k].bytes <= rank[worst].bytes)
            worst = k;
    return worst;
}

/* Ranks are offered in the order of places. */
static void offer_rank(const struct best_search *s, size_t e, struct best_rank offered)
{
    struct best_rank *rank = s->best->rank + s->best->start[e];
    size_t room = s->best->start[e + 1] - s->best->start[e];
    if (s->used[e] == room) {
        if (room == 0 || offered.bytes <= s->least[e])
            return;
        size_t worst = worst_of(rank, room);
        memmove(rank + worst, rank + worst + 1, (room - worst - 1) * sizeof *rank);
        s->used[e]--;
    }
    rank[s->used[e]++] = offered;
    if (s->used[e] == room)
        s->least[e] = rank[worst_of(rank, room)].bytes;
}

static void offer_ranks(const struct best_search *s, const matrix *c)
{
    const struct groups *ranks = &s->costs->ranks;
    for (size_t n = 0; n < ranks->count; n++) {
        for (size_t r = ranks->start[n]; r < ranks->start[n + 1]; r++) {
            size_t i = ranks->item[r];
            for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
                size_t e = entry_of(s, n, c->col[k]);
                if (e != SIZE_MAX)
                    offer_rank(s, e, (struct best_rank){r, (double)c->value[k]});
            }
        }
    }
}

int find_best(struct costs *costs, const matrix *requests, const bool *wanted, struct best *best)
{
    struct base_arena *arena = &costs->arena;
    const struct sums *sums = &costs->sums;
    size_t entries = sums->start[sums->domains];
    struct best_search s = {.costs = costs, .best = best};
    s.at = base_arena_alloc(arena, sums->domains, sizeof *s.at);
    s.used = base_arena_alloc(arena, entries, sizeof *s.used);
    s.least = base_arena_alloc(arena, entries, sizeof *s.least);
    best->start = base_arena_alloc(arena, entries + 1, sizeof *best->start);
    if (arena->failed)
        return -ENOMEM;
    for (size_t e = 0; e < entries; e++) {
        size_t most = costs->capacity[sums->node[e]], ranks = wanted[e] ? sums->ranks[e] : 0;
        best->start[e + 1] = best->start[e] + (ranks < most ? ranks : most);
    }
    best->rank = base_arena_alloc(arena, best->start[entries], sizeof *best->rank);
    if (arena->failed)
        return -ENOMEM;
    memcpy(s.at, sums->start, sums->domains * sizeof *s.at);
    offer_ranks(&s, requests);
    return 0;
}
