/* SPDX-License-Identifier: BSD-3-Clause */
/* SetMatch as in the paper: make_sets, merge_sets, match_sets. */
#include <errno.h>

#include "setmatch/pack.h"
#include "setmatch/setmatch.h"
#include "setmatch/walk.h"

/* make_sets and merge_sets: the components of the counted values, numbered by their lowest rank.
 * Returns their number. */
static size_t walk_sets(walk *w, const affinity *ranks, unsigned threshold)
{
    size_t sets = 0;
    walk_reset(w, ranks, threshold);
    for (size_t rank = 0; rank < ranks->vertices; rank++) {
        size_t from = w->length;
        bool path;
        if (w->mark[rank] != NO_VERTEX)
            continue;
        walk_breadth_first(w, (vertex)rank, (vertex)sets);
        walk_depth_first(w, walk_undo(w, from, &path), (vertex)sets++);
    }
    return sets;
}

/* match_sets packs sets by their size only: as if there were no weights between them. */
int place_by_sets(const affinity *ranks, const allocation *s, unsigned threshold, size_t *node)
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
        rc = sets_merge(&sets, w.mark, walk_sets(&w, ranks, threshold), w.order, ranks->vertices);
    if (rc == 0)
        rc = sets_pack(&sets, NULL);
    sets_release(&sets);
    affinity_release(&unlinked);
    return rc;
}

int setmatch_sets(const matrix *view, unsigned threshold, size_t *set_of_rank, size_t *sets)
{
    affinity ranks;
    walk w;
    if (threshold > 100)
        return -EINVAL;
    int rc = affinity_from_view(&ranks, view, true);
    if (rc != 0)
        return rc;
    rc = walk_init(&w, &ranks.arena, ranks.vertices);
    if (rc == 0)
        *sets = walk_sets(&w, &ranks, threshold);
    for (size_t v = 0; rc == 0 && v < ranks.vertices; v++)
        set_of_rank[v] = w.mark[v];
    affinity_release(&ranks);
    return rc;
}
