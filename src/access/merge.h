/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several ordered lists in ascending order of offset: what they cover, and who follows whom.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef ACCESS_MERGE_H
#define ACCESS_MERGE_H

#include "access/access.h"
#include "matrix/matrix.h"

/* The bytes that any of the lists has, as one ordered list whose stream begins at 0, appended to the
 * empty list *cover. Where all lists go on with the same stride and leave no hole, whole periods are
 * passed at once: O(runs) for interleaved records; else O(blocks log count). -ENOMEM. */
int access_union(const access_list *const *lists, size_t count, access_list *cover);

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
