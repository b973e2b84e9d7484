/* SPDX-License-Identifier: BSD-3-Clause */
/* The consecutive accesses in an owner's part as a message, and the sum of all parts. */
#include "record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access/units.h"

/* The message of an owner: the number of blocks at the ends of its part; these blocks; the counted
 * pairs, as entries of the upper triangle of the symmetric view matrix. */
enum { HEAD_ENDS, HEAD_ELEMENTS };
enum { BLOCK_OWNER, BLOCK_OFFSET, BLOCK_LENGTH, BLOCK_ELEMENTS };
enum { ENTRY_ROW, ENTRY_COL, ENTRY_VALUE, ENTRY_ELEMENTS };

static int append_ends(const access_ends *ends, access_message *message)
{
    int64_t head[HEAD_ELEMENTS] = {(int64_t)ends->count};
    int rc = access_message_append(message, head, HEAD_ELEMENTS);
    for (size_t k = 0; k < ends->count && rc == 0; k++) {
        const access_block *block = &ends->block[k];
        int64_t element[BLOCK_ELEMENTS] = {(int64_t)block->owner, block->offset, block->length};
        rc = access_message_append(message, element, BLOCK_ELEMENTS);
    }
    return rc;
}

static int append_entries(const matrix *m, access_message *message)
{
    int rc = 0;
    for (size_t i = 0; i < m->rows; i++) {
        for (size_t k = m->row_start[i]; k < m->row_start[i + 1] && rc == 0; k++) {
            int64_t element[ENTRY_ELEMENTS] = {(int64_t)i, (int64_t)m->col[k], m->value[k]};
            if (m->col[k] >= i)
                rc = access_message_append(message, element, ENTRY_ELEMENTS);
        }
    }
    return rc;
}

int record_describe_neighbours(const access_list *lists, const size_t *owner, size_t count,
                               size_t ranks, access_message *message)
{
    matrix_builder counts = {.rows = ranks, .cols = ranks};
    access_ends ends;
    matrix m;
    int rc = access_count_neighbours(lists, owner, count, &counts, &ends);
    if (rc == 0)
        rc = append_ends(&ends, message);
    if (rc == 0)
        rc = matrix_builder_finish(&counts, &m);
    if (rc == 0) {
        rc = append_entries(&m, message);
        matrix_release(&m);
    }
    matrix_builder_clear(&counts);
    return rc;
}

/* ---- at the root ---- */

int record_sums_start(record_sums *sums, size_t ranks, int64_t lo, int64_t hi, int64_t unit,
                      size_t parts)
{
    size_t bins = unit > 0 ? (size_t)units_to(lo, hi, unit) : 0;
    access_ends *ends = calloc(parts + 1, sizeof *ends);
    if (ends == NULL)
        return -ENOMEM;
    *sums = (record_sums){.view = {.rows = ranks, .cols = ranks},
                          .bytes = {.rows = ranks, .cols = bins},
                          .ends = ends,
                          .parts = parts};
    return 0;
}

static int add_view_entry(matrix_builder *view, const int64_t *entry)
{
    size_t row = (size_t)entry[ENTRY_ROW], col = (size_t)entry[ENTRY_COL];
    int rc = matrix_builder_add(view, row, col, entry[ENTRY_VALUE]);
    return rc != 0 || row == col ? rc : matrix_builder_add(view, col, row, entry[ENTRY_VALUE]);
}

int record_sums_add_neighbours(record_sums *sums, size_t part, const int64_t *element, size_t count)
{
    int rc = 0;
    size_t blocks = count >= HEAD_ELEMENTS ? (size_t)element[HEAD_ENDS] : SIZE_MAX;
    if (part >= sums->parts || blocks > 4 || count < HEAD_ELEMENTS + blocks * BLOCK_ELEMENTS)
        return -EINVAL;
    access_ends *here = &sums->ends[part];
    const int64_t *end = element + count, *block = element + HEAD_ELEMENTS;
    here->count = blocks;
    for (size_t k = 0; k < blocks; k++, block += BLOCK_ELEMENTS)
        here->block[k] =
            (access_block){(size_t)block[BLOCK_OWNER], block[BLOCK_OFFSET], block[BLOCK_LENGTH]};
    for (const int64_t *entry = block; end - entry >= ENTRY_ELEMENTS && rc == 0;
         entry += ENTRY_ELEMENTS)
        rc = add_view_entry(&sums->view, entry);
    return rc;
}

int record_sums_finish(record_sums *sums, matrix *view, matrix *bytes)
{
    matrix none = {0};
    int rc = access_join_ends(sums->ends, sums->parts, &sums->view);
    if (rc == 0 && sums->bytes.cols > 0)
        rc = matrix_builder_finish(&sums->bytes, &none);
    if (rc == 0)
        rc = matrix_builder_finish(&sums->view, view);
    if (rc != 0)
        matrix_release(&none);
    else
        *bytes = none;
    return rc;
}

void record_sums_release(record_sums *sums)
{
    matrix_builder_clear(&sums->view);
    matrix_builder_clear(&sums->bytes);
    free(sums->ends);
    memset(sums, 0, sizeof *sums);
}
