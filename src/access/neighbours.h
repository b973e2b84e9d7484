/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Pairs of consecutive accesses: blocks that follow one another in order of offset. The owner of a
 * part of the file counts the pairs within it. The pairs at its borders are counted when the parts
 * are joined, since a border may cut a block.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef ACCESS_NEIGHBOURS_H
#define ACCESS_NEIGHBOURS_H

#include "access/list.h"
#include "matrix/matrix.h"

/* Adjacent blocks of one owner are one block. */
typedef struct access_block {
    size_t owner;
    int64_t offset, length;
} access_block;

/* The first two blocks of a part and the last two, in order; all of them if there are less than
 * four. With four, all pairs from the second to the third have been counted. */
typedef struct access_ends {
    size_t count;
    access_block block[4];
} access_ends;

/* Walks all blocks of all lists in order of offset and adds 1 to `counts` for each pair, in both
 * directions (so an owner that follows itself gets 2 on the diagonal), except for the first pair
 * and the last one. owner[l] is the row of list l; bytes in two lists count for both, the lower
 * list first. Memory O(lists) beside the builder. -ENOMEM and the errors of matrix_builder_add. */
int access_count_neighbours(const access_list *lists, const size_t *owner, size_t count,
                            matrix_builder *counts, access_ends *ends);

/* Adds the pairs at the ends of `parts` parts, which follow one another in the file. Errors of
 * matrix_builder_add. */
int access_join_ends(const access_ends *ends, size_t parts, matrix_builder *counts);

#endif
