/* SPDX-License-Identifier: BSD-3-Clause */
/* K-way merge of ordered lists, and their union. */
#include "access/merge.h"
#include "base/heap.h"

#include <errno.h>
#include <stdlib.h>

#define HEAD_PRECEDES(order, a, b)                                                                 \
    ((a).next != (b).next ? (a).next < (b).next : (a).list < (b).list)

BASE_HEAP(head_heap, access_head, const void *, HEAD_PRECEDES, BASE_HEAP_UNPLACED);

int access_merge_take(access_merge *merge, access_piece *piece, size_t *list)
{
    if (merge->live == 0)
        return 0;
    access_head head = merge->heap[0];
    *list = head.list;
    access_take_piece(&merge->cursor[head.list], ACCESS_END, piece);
    head.next = access_next(&merge->cursor[head.list]);
    if (head.next == ACCESS_END && --merge->live > 0)
        head = merge->heap[merge->live];
    head_heap_down(NULL, merge->heap, merge->live, 0, head);
    return 1;
}

/* ---- the union ---- */

/* The state of the merge at offset `from`, to be compared with the state one stride later. If every
 * list has by then advanced by one block of the same run, and these blocks leave no hole, the
 * pattern repeats until a run ends. */
typedef struct period {
    int64_t from, stride; /* stride 0: no period is being followed */
    int64_t covered;      /* end of the bytes covered without a hole since `from` */
    size_t live;
    access_cursor *at; /* per list */
} period;

static int begins_block(const access_cursor *cursor)
{
    return cursor->byte == 0 && cursor->block + 2 < cursor->run->count;
}

/* A period begins here if the next block of every list is one of a run of the same stride. */
static void begin_period(const access_merge *merge, period *p)
{
    p->stride = 0;
    p->live = merge->live;
    for (size_t h = 0; h < merge->live; h++) {
        const access_cursor *cursor = &merge->cursor[merge->heap[h].list];
        if (!begins_block(cursor) ||
            cursor->run->stride != merge->cursor[merge->heap[0].list].run->stride)
            return;
        p->at[merge->heap[h].list] = *cursor;
    }
    p->from = p->covered = merge->heap[0].next;
    if (merge->live > 0)
        p->stride = merge->cursor[merge->heap[0].list].run->stride;
}

/* How often the last period repeats. */
static int64_t count_periods(const access_merge *merge, const period *p)
{
    int64_t least = INT64_MAX;
    if (merge->live != p->live)
        return 0;
    for (size_t h = 0; h < merge->live; h++) {
        const access_cursor *cursor = &merge->cursor[merge->heap[h].list];
        const access_cursor *before = &p->at[merge->heap[h].list];
        if (cursor->run != before->run || cursor->byte != 0 || cursor->block != before->block + 1)
            return 0;
        if (cursor->run->count - 1 - cursor->block < least)
            least = cursor->run->count - 1 - cursor->block;
    }
    return least;
}

/* Passes the repetitions at the end of a period. Returns their bytes. */
static int64_t pass_periods(access_merge *merge, const period *p)
{
    int64_t periods = count_periods(merge, p);
    for (size_t h = 0; h < merge->live && periods > 0; h++) {
        merge->cursor[merge->heap[h].list].block += periods;
        merge->heap[h].next += periods * p->stride;
    }
    return periods * p->stride;
}

/* Adds a block to the current period and passes the repetitions at its end. Returns the end of the
 * covered bytes. */
static int64_t extend_period(access_merge *merge, period *p, const access_piece *piece)
{
    int64_t next = merge->heap[0].next, covered = p->covered;
    if (piece->offset > covered) {
        p->stride = 0;
        return 0;
    }
    if (piece->offset + piece->length > covered)
        p->covered = covered = piece->offset + piece->length;
    if (next < p->from + p->stride)
        return covered;
    if (next == p->from + p->stride && covered >= next)
        covered += pass_periods(merge, p);
    p->stride = 0;
    return covered;
}

/* Merges one stretch without holes. Tries less often to begin a period after failures. */
static void merge_stretch(access_merge *merge, period *p, int64_t *lo, int64_t *end)
{
    access_piece piece;
    size_t list, taken = 0, wait = 1;
    *lo = *end = merge->heap[0].next;
    begin_period(merge, p);
    while (merge->heap[0].next <= *end && access_merge_take(merge, &piece, &list)) {
        if (piece.offset + piece.length > *end)
            *end = piece.offset + piece.length;
        if (p->stride > 0) {
            int64_t covered = extend_period(merge, p, &piece);
            *end = covered > *end ? covered : *end;
        } else if (++taken >= wait) {
            begin_period(merge, p);
            taken = 0;
            wait += wait < merge->live ? wait : 0;
        }
    }
}

static int merge_lists(access_merge *merge, period *p, access_list *cover)
{
    int64_t lo, end;
    int rc = 0;
    while (merge->live > 0 && rc == 0) {
        merge_stretch(merge, p, &lo, &end);
        rc = access_append(cover, lo, end - lo, cover->bytes);
    }
    return rc;
}

int access_merge_init(access_merge *merge, const access_list *const *lists, size_t count)
{
    access_cursor *cursor = calloc(count + 1, sizeof *cursor);
    access_head *heap = calloc(count + 1, sizeof *heap);
    if (cursor == NULL || heap == NULL) {
        free(cursor);
        free(heap);
        return -ENOMEM;
    }
    *merge = (access_merge){.cursor = cursor, .heap = heap};
    heap[0].next = ACCESS_END;
    for (size_t i = 0; i < count; i++) {
        access_cursor_init(&cursor[i], lists[i]);
        if (access_next(&cursor[i]) != ACCESS_END)
            heap[merge->live++] = (access_head){access_next(&cursor[i]), i};
    }
    head_heap_build(NULL, heap, merge->live);
    return 0;
}

void access_merge_release(access_merge *merge)
{
    free(merge->heap);
    free(merge->cursor);
}

int access_union(const access_list *const *lists, size_t count, access_list *cover)
{
    access_merge merge;
    period p = {0};
    int rc = access_merge_init(&merge, lists, count);
    if (rc != 0)
        return rc;
    p.at = calloc(count + 1, sizeof *p.at);
    rc = p.at == NULL ? -ENOMEM : merge_lists(&merge, &p, cover);
    free(p.at);
    access_merge_release(&merge);
    return rc;
}

/* Each piece begins at or above the one before, so that bytes below the end of the union are
 * adjacent in it from the piece's begin on. */
static int merge_append(const access_piece *piece, access_list *cover, access_list *part)
{
    int64_t known = access_upper(cover) - piece->offset;
    known = known < 0 ? 0 : known;
    int rc = access_append(part, cover->bytes - known, piece->length, piece->stream);
    if (rc == 0 && piece->length > known)
        rc = access_append(cover, piece->offset + known, piece->length - known, cover->bytes);
    return rc;
}

int access_union_parts(const access_list *const *lists, size_t count, access_list *cover,
                       access_list *part)
{
    access_merge merge;
    access_piece piece;
    size_t list;
    int rc = access_merge_init(&merge, lists, count);
    if (rc != 0)
        return rc;
    while (rc == 0 && access_merge_take(&merge, &piece, &list))
        rc = merge_append(&piece, cover, &part[list]);
    access_merge_release(&merge);
    return rc;
}
