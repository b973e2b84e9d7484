/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Several ordered lists in ascending order of offset, and their union.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef ACCESS_MERGE_H
#define ACCESS_MERGE_H

#include "access/cursor.h"

/* The union of the lists, as one ordered list whose stream begins at 0, appended to the empty list
 * *cover. Where all lists continue with the same stride and leave no hole, whole periods are passed
 * at once: O(runs) for interleaved records; else O(blocks log count). -ENOMEM. */
int access_union(const access_list *const *lists, size_t count, access_list *cover);

/* Makes the union, and each list's part of it: part[i], empty at first, becomes list i with offsets
 * that are bytes of the union's stream. O(blocks log count). -ENOMEM. */
int access_union_parts(const access_list *const *lists, size_t count, access_list *cover,
                       access_list *part);

/* A list, and the offset of its next byte. */
typedef struct access_head {
    int64_t next;
    size_t list;
} access_head;

/* heap[0] is the list with the lowest next byte (ACCESS_END: none); the lower number wins ties. */
typedef struct access_merge {
    access_cursor *cursor; /* one per list */
    access_head *heap;
    size_t live; /* number of lists with bytes left */
} access_merge;

/* Refers to the lists, owned by the caller. -ENOMEM. */
int access_merge_init(access_merge *merge, const access_list *const *lists, size_t count);

/* The block (or rest of one) with the lowest offset: 1, the piece and the number of its list; 0
 * after the last. O(log count). */
int access_merge_take(access_merge *merge, access_piece *piece, size_t *list);

void access_merge_release(access_merge *merge);

#endif
