/* SPDX-License-Identifier: BSD-3-Clause */
/* K-way merge of ordered lists: what they cover, and who follows whom. */
#include "access/merge.h"

#include <errno.h>
#include <stdlib.h>

static int before(const access_merge *merge, size_t a, size_t b)
{
    int64_t x = access_next(&merge->cursor[a]), y = access_next(&merge->cursor[b]);
    return x != y ? x < y : a < b;
}

static void sift_down(access_merge *merge, size_t at)
{
    size_t list = merge->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= merge->live)
            break;
        if (child + 1 < merge->live && before(merge, merge->heap[child + 1], merge->heap[child]))
            child++;
        if (!before(merge, merge->heap[child], list))
            break;
        merge->heap[at] = merge->heap[child];
        at = child;
    }
    merge->heap[at] = list;
}

void access_merge_init(access_merge *merge, access_cursor *cursor, size_t count, size_t *heap)
{
    merge->cursor = cursor;
    merge->heap = heap;
    merge->live = 0;
    for (size_t i = 0; i < count; i++) {
        if (access_next(&cursor[i]) != ACCESS_END)
            heap[merge->live++] = i;
    }
    for (size_t at = merge->live / 2; at-- > 0;)
        sift_down(merge, at);
}

int access_merge_take(access_merge *merge, int64_t hi, access_piece *piece, size_t *list)
{
    if (merge->live == 0)
        return 0;
    *list = merge->heap[0];
    if (!access_take_piece(&merge->cursor[*list], hi, piece))
        return 0;
    if (access_next(&merge->cursor[*list]) == ACCESS_END)
        merge->heap[0] = merge->heap[--merge->live];
    if (merge->live > 0)
        sift_down(merge, 0);
    return 1;
}

int access_merge_extent(access_merge *merge, int64_t hi, int64_t gap, int64_t *lo, int64_t *end)
{
    access_piece piece;
    size_t list;
    if (!access_merge_take(merge, hi, &piece, &list))
        return 0;
    *lo = piece.offset;
    *end = piece.offset + piece.length;
    while (merge->live > 0 && access_next(&merge->cursor[merge->heap[0]]) - *end <= gap &&
           access_merge_take(merge, hi, &piece, &list)) {
        if (piece.offset + piece.length > *end)
            *end = piece.offset + piece.length;
    }
    return 1;
}

static int count_pair(matrix_builder *counts, size_t a, size_t b)
{
    int rc = matrix_builder_add(counts, a, b, 1);
    return rc != 0 ? rc : matrix_builder_add(counts, b, a, 1);
}

static int count_all(access_merge *merge, const size_t *owner, matrix_builder *counts,
                     access_ends *ends)
{
    access_piece piece;
    size_t list;
    int rc = 0;
    *ends = (access_ends){SIZE_MAX, SIZE_MAX, 0, 0};
    while (rc == 0 && access_merge_take(merge, ACCESS_END, &piece, &list)) {
        if (ends->first_owner == SIZE_MAX) {
            ends->first_owner = owner[list];
            ends->lower = piece.offset;
        } else {
            rc = count_pair(counts, ends->last_owner, owner[list]);
        }
        ends->last_owner = owner[list];
        ends->upper = piece.offset + piece.length;
    }
    return rc;
}

int access_count_neighbours(const access_list *lists, const size_t *owner, size_t count,
                            matrix_builder *counts, access_ends *ends)
{
    access_merge merge;
    int rc = -ENOMEM;
    access_cursor *cursor = calloc(count + 1, sizeof *cursor);
    size_t *heap = calloc(count + 1, sizeof *heap);
    if (cursor != NULL && heap != NULL) {
        for (size_t i = 0; i < count; i++)
            access_cursor_init(&cursor[i], &lists[i]);
        access_merge_init(&merge, cursor, count, heap);
        rc = count_all(&merge, owner, counts, ends);
    }
    free(heap);
    free(cursor);
    return rc;
}
