/* SPDX-License-Identifier: BSD-3-Clause */
/* SetMatch as in the paper: make_sets, merge_sets, match_sets. */
#include <string.h>

#include "base/arena.h"
#include "setmatch/candidates.h"
#include "setmatch/walk.h"

/* Set c is rank[first[c]] .. rank[first[c + 1] - 1], in set order. */
struct sets {
    size_t count;
    const vertex *rank;
    size_t *first;
};

/* The nodes, most free slots first, the lower index on a tie. */
struct free_nodes {
    size_t *free; /* by node */
    size_t *order, count;
};

/* ---- make_sets and merge_sets ---- */

/* The least value that counts: nine tenths of the largest one, rounded up. */
static int64_t least_counted(const affinity *ranks)
{
    int64_t largest = 0;
    for (size_t i = 0; i < ranks->start[ranks->vertices]; i++)
        largest = ranks->weight[i] > largest ? ranks->weight[i] : largest;
    return largest - largest / 10;
}

/* The components of the counted values, numbered by their lowest rank. */
static void walk_sets(walk *w, const affinity *ranks, struct sets *sets)
{
    walk_reset(w, ranks, least_counted(ranks));
    for (size_t rank = 0; rank < ranks->vertices; rank++) {
        size_t from = w->length;
        if (w->visited[rank])
            continue;
        sets->first[sets->count++] = from;
        walk_breadth_first(w, (vertex)rank);
        walk_depth_first(w, walk_undo(w, from));
    }
    sets->first[sets->count] = ranks->vertices;
    sets->rank = w->order;
}

static size_t size_of_set(const struct sets *sets, size_t c)
{
    return sets->first[c + 1] - sets->first[c];
}

/* Sets by decreasing size, equal ones by number: a counting sort. place: of as many zeros as ranks,
 * and two more. */
static void sort_sets(const struct sets *sets, size_t ranks, size_t *place, size_t *sorted)
{
    for (size_t c = 0; c < sets->count; c++)
        place[ranks - size_of_set(sets, c) + 1]++;
    for (size_t k = 1; k <= ranks; k++)
        place[k] += place[k - 1];
    for (size_t c = 0; c < sets->count; c++)
        sorted[place[ranks - size_of_set(sets, c)]++] = c;
}

/* ---- match_sets ---- */

/* The number of nodes with more free slots, or as many and a lower index. */
static size_t nodes_before(const struct free_nodes *f, size_t slots, size_t index)
{
    size_t low = 0, high = f->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2, n = f->order[middle];
        if (f->free[n] > slots || (f->free[n] == slots && n < index))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The node with the fewest free slots that are at least `count`, otherwise the one with most; the
 * lower index on a tie. */
static size_t sets_find_node(const struct free_nodes *f, size_t count)
{
    size_t sufficient = nodes_before(f, count, SIZE_MAX);
    size_t slots = f->free[f->order[sufficient > 0 ? sufficient - 1 : 0]];
    return f->order[nodes_before(f, slots, 0)];
}

/* The first node leaves the list when it is full, so that no others move: a large set fills many.
 */
static void occupy_slots(struct free_nodes *f, size_t node, size_t count)
{
    size_t from = nodes_before(f, f->free[node], node), free = f->free[node] - count;
    size_t to = nodes_before(f, free, node) - 1;
    f->free[node] = free;
    if (from == 0 && free == 0) {
        f->order++;
        f->count--;
        return;
    }
    memmove(f->order + from, f->order + from + 1, (to - from) * sizeof *f->order);
    f->order[to] = node;
}

static void match_sets(const struct sets *sets, const size_t *sorted, struct free_nodes *f,
                       size_t *node)
{
    for (size_t k = 0; k < sets->count; k++) {
        size_t left = size_of_set(sets, sorted[k]);
        for (const vertex *rank = sets->rank + sets->first[sorted[k]]; left > 0;) {
            size_t n = sets_find_node(f, left);
            size_t count = left < f->free[n] ? left : f->free[n];
            occupy_slots(f, n, count);
            for (left -= count; count > 0; count--)
                node[*rank++] = n;
        }
    }
}

int place_by_sets(const affinity *ranks, const allocation *s, size_t *node)
{
    struct base_arena arena = {0};
    walk w;
    size_t n = ranks->vertices;
    struct sets sets = {.first = base_arena_alloc(&arena, n + 1, sizeof *sets.first)};
    struct free_nodes f = {.free = base_arena_alloc(&arena, s->listed, sizeof *f.free),
                           .order = base_arena_alloc(&arena, s->nodes, sizeof *f.order),
                           .count = s->nodes};
    size_t *place = base_arena_alloc(&arena, n + 2, sizeof *place);
    size_t *sorted = base_arena_alloc(&arena, n, sizeof *sorted);
    int rc = walk_init(&w, &arena, n);
    if (rc == 0) {
        for (size_t k = 0; k < s->listed; k++)
            f.free[k] = s->slots[k];
        memcpy(f.order, s->by_size, s->nodes * sizeof *f.order);
        walk_sets(&w, ranks, &sets);
        sort_sets(&sets, n, place, sorted);
        match_sets(&sets, sorted, &f, node);
    }
    base_arena_release(&arena);
    return rc;
}
