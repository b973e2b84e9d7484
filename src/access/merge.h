/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several ordered lists in ascending order of offset, and what they cover.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef ACCESS_MERGE_H
#define ACCESS_MERGE_H

#include "access/cursor.h"

/* The bytes that any of the lists has, as one ordered list whose stream begins at 0, appended to
 * the empty list *cover. Where all lists go on with the same stride and leave no hole, whole
 * periods are passed at once: O(runs) for interleaved records; else O(blocks log count). -ENOMEM.
 */
int access_union(const access_list *const *lists, size_t count, access_list *cover);

/* heap[0] is the list whose next byte is lowest; the lower list number wins a tie. */
typedef struct access_merge {
    access_cursor *cursor; /* one a list: the merge advances them */
    size_t *heap;
    size_t live; /* lists that have bytes left */
} access_merge;

/* The lists stay the caller's, and stay where they are. -ENOMEM. */
int access_merge_init(access_merge *merge, const access_list *const *lists, size_t count);

/* The block (or rest of one) that begins lowest: 1, the piece and the number of its list; 0 when
 * there is none. O(log count). */
int access_merge_take(access_merge *merge, access_piece *piece, size_t *list);

void access_merge_release(access_merge *merge);

#endif
