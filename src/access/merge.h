/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several ordered lists read as one, in ascending order of offset.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef ACCESS_MERGE_H
#define ACCESS_MERGE_H

#include "access/access.h"
#include "matrix/matrix.h"

/* heap[0] is the list whose next byte is lowest; the lower list number wins a tie. */
typedef struct access_merge {
    access_cursor *cursor; /* one a list, as given: the merge advances them */
    size_t *heap;
    size_t live; /* lists that have bytes left */
} access_merge;

/* Takes the cursors of `count` lists; `heap` is the caller's array of `count` entries. Never
 * allocates, so that it can be used between two messages. */
void access_merge_init(access_merge *merge, access_cursor *cursor, size_t count, size_t *heap);

/* The block (or rest of one, cut at `hi`) that begins lowest: 1, the piece and the number of its
 * list; 0 when no list has a byte below hi. O(log count). */
int access_merge_take(access_merge *merge, int64_t hi, access_piece *piece, size_t *list);

/* The longest stretch [*lo, *end) below hi that the lists cover together, holes of at most `gap`
 * bytes included: 1, or 0 when there is none. Pieces that overlap count once. */
int access_merge_extent(access_merge *merge, int64_t hi, int64_t gap, int64_t *lo, int64_t *end);

/* The lowest and the highest block met: whose they are (SIZE_MAX: there was none), where the first
 * begins and the last ends. */
typedef struct access_ends {
    size_t first_owner, last_owner;
    int64_t lower, upper;
} access_ends;

/* Who touches the file after whom: walks all blocks of all lists in order of offset and adds to
 * `counts`, for each two that follow one another, 1 in each direction (an owner that follows
 * itself: 2 on the diagonal). owner[l] is the row of list l. Memory O(lists) beside the builder.
 * -ENOMEM and the errors of matrix_builder_add; *ends is set in any case but -ENOMEM. */
int access_count_neighbours(const access_list *lists, const size_t *owner, size_t count,
                            matrix_builder *counts, access_ends *ends);

#endif
