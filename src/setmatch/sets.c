/* SPDX-License-Identifier: BSD-3-Clause */
/* SetMatch as in the paper: make_sets, merge_sets, match_sets. */
#include "setmatch/pack.h"
#include "setmatch/walk.h"

/* The least value that counts: nine tenths of the largest one, rounded up. */
static int64_t least_counted(const affinity *ranks)
{
    int64_t largest = 0;
    for (size_t i = 0; i < ranks->start[ranks->vertices]; i++)
        largest = ranks->weight[i] > largest ? ranks->weight[i] : largest;
    return largest - largest / 10;
}

/* make_sets and merge_sets: the components of the counted values, numbered by their lowest rank.
 * Returns their number. */
static size_t walk_sets(walk *w, const affinity *ranks)
{
    size_t sets = 0;
    walk_reset(w, ranks, least_counted(ranks));
    for (size_t rank = 0; rank < ranks->vertices; rank++) {
        size_t from = w->length;
        if (w->mark[rank] != NO_VERTEX)
            continue;
        walk_breadth_first(w, (vertex)rank, (vertex)sets);
        walk_depth_first(w, walk_undo(w, from), (vertex)sets++);
    }
    return sets;
}

/* match_sets packs sets by their size only: as if there were no weights between them. */
int place_by_sets(const affinity *ranks, const allocation *s, size_t *node)
{
    affinity unlinked;
    sets_graph sets;
    walk w;
    int rc = affinity_allocate(&unlinked, ranks->vertices, 0);
    if (rc != 0)
        return rc;
    for (size_t v = 0; v < ranks->vertices; v++)
        unlinked.size[v] = 1;
    rc = sets_init(&sets, &unlinked, s, node);
    if (rc == 0)
        rc = walk_init(&w, &sets.arena, ranks->vertices);
    if (rc == 0)
        rc = sets_merge(&sets, w.mark, walk_sets(&w, ranks), w.order, ranks->vertices);
    if (rc == 0)
        rc = sets_pack(&sets, NULL);
    sets_release(&sets);
    affinity_release(&unlinked);
    return rc;
}
