/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses as messages to the owners of the parts of a range, and reports to the root. */
#include "record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access/cut.h"
#include "access/units.h"

/* ---- from a rank to the owners of the parts ---- */

/* Parts of the file begin at its multiples. Smaller ones are not worth a message. */
#define ALIGNMENT 4096

enum { RANKS_OF_PART = 16, LEAST_PARTS = 8 };

size_t record_count_parts(size_t ranks)
{
    size_t parts = ranks / RANKS_OF_PART;
    parts = parts < LEAST_PARTS ? LEAST_PARTS : parts;
    parts = parts > RECORD_MOST_PARTS ? RECORD_MOST_PARTS : parts;
    return parts < ranks ? parts : ranks;
}

size_t record_owner_of_part(size_t part, size_t parts, size_t ranks)
{
    return part * ranks / parts;
}

size_t record_part_of_rank(size_t rank, size_t parts, size_t ranks)
{
    size_t part = (rank * parts + ranks - 1) / ranks;
    return part < parts && record_owner_of_part(part, parts, ranks) == rank ? part : SIZE_MAX;
}

int record_describe_access(const access_list *list, int64_t lo, int64_t hi, access_message *part,
                           size_t parts)
{
    file_domains domains;
    domain_share *share = NULL;
    size_t shares = 0;
    int rc = domains_even(&domains, lo, hi, parts, ALIGNMENT);
    if (rc != 0)
        return rc;
    rc = domains_cut(&domains, list, false, &share, &shares);
    for (size_t i = 0; rc == 0 && i < shares; i++) {
        size_t j = share[i].domain;
        const domain_range *range = &domains.range[domains.by_domain[domains.first[j]]];
        rc = access_encode_runs(&share[i].list, range->lo - range->position, &part[j]);
    }
    domains_free_shares(share, shares);
    domains_release(&domains);
    return rc;
}

/* ---- a rank's row of the profile: its bytes in each bin of the accessed range ---- */

/* Each rank counts its bytes in the smallest possible bins, and the entries that its row would have
 * with larger bins. The smallest bins are chosen whose entries, over all ranks, are few enough for
 * the data of the call, so that recording costs little, and for the size of the file. A range in
 * blocks, one per rank, has hardly more entries than ranks for any bins; interleaved records have
 * ranks times bins. */

/* There are at most MOST_BINS, so that RECORD_DOUBLINGS doublings leave one. */
enum { MOST_BINS = 1 << RECORD_DOUBLINGS, SMALLEST_BIN = 64 };

/* Bytes of data per entry of 16 bytes; entries that are always allowed. */
enum { BYTES_PER_ENTRY = 4096, ALWAYS_ENTRIES = 4096 };

static int64_t smallest_unit(int64_t range)
{
    int64_t unit = SMALLEST_BIN;
    while ((range - 1) / unit >= MOST_BINS)
        unit *= 2;
    return unit;
}

/* Adds to entries[d] the number of bins with bytes after d doublings. */
static void count_bin_entries(const unit_counts *bins, int64_t *entries)
{
    for (unsigned d = 0; d <= RECORD_DOUBLINGS; d++) {
        int64_t last = -1;
        for (size_t i = 0; i < bins->count; i++) {
            int64_t first = bins->step[i].first >> d;
            int64_t end = ((bins->step[i].first + bins->step[i].count - 1) >> d) + 1;
            entries[d] += end - (first > last ? first : first + 1);
            last = end - 1;
        }
    }
}

int record_add_sums(const access_list *list, int64_t lo, int64_t hi, int64_t *sum)
{
    unit_counts bins = {0};
    int rc = units_count(list, lo, smallest_unit(hi - lo), &bins);
    if (rc != 0)
        return rc;
    count_bin_entries(&bins, sum);
    sum[RECORD_SUM_BYTES] += list->bytes;
    free(bins.step);
    return 0;
}

int64_t record_choose_unit(int64_t lo, int64_t hi, const int64_t *sum)
{
    int64_t most = sum[RECORD_SUM_BYTES] / BYTES_PER_ENTRY;
    unsigned d = 0;
    if (most < ALWAYS_ENTRIES)
        most = ALWAYS_ENTRIES;
    if (most > (int64_t)VIEW_FILE_ENTRIES)
        most = (int64_t)VIEW_FILE_ENTRIES;
    while (d < RECORD_DOUBLINGS && sum[d] > most)
        d++;
    return smallest_unit(hi - lo) << d;
}

/* Appends the bytes of the list in each bin to a message. -ENOMEM. */
static int describe_profile(const access_list *list, int64_t lo, int64_t unit,
                            access_message *message)
{
    unit_counts bins = {0};
    int rc = units_count(list, lo, unit, &bins);
    if (rc == 0)
        rc = access_message_append(message, (const int64_t *)bins.step,
                                   bins.count * UNIT_STEP_ELEMENTS);
    free(bins.step);
    return rc;
}

/* ---- neighbours in an owner's part ---- */

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

/* Appends the pairs of neighbours among the lists that an owner received to a message; owner[l] is
 * the rank of list l. -ENOMEM and the errors of matrix_builder_add. */
static int describe_neighbours(const access_list *lists, const size_t *owner, size_t count,
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

/* ---- reports ---- */

/* The lists are those of ranks of the world, up to the largest of which there are neighbours. */
int record_make_report(const record_received *received, const access_list *own, int64_t lo,
                       int64_t unit, access_message *report)
{
    int64_t head = 0;
    size_t ranks = 0;
    for (size_t l = 0; l < received->count; l++)
        ranks = received->rank[l] >= ranks ? received->rank[l] + 1 : ranks;
    int rc = access_message_append(report, &head, 1);
    if (rc == 0 && received->count > 0)
        rc = describe_neighbours(received->list, received->rank, received->count, ranks, report);
    if (rc != 0)
        return rc;
    report->element[0] = (int64_t)report->count - 1;
    return describe_profile(own, lo, unit, report);
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

static int add_neighbours(record_sums *sums, size_t part, const int64_t *element, size_t count)
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

static int add_profile(record_sums *sums, size_t rank, const int64_t *element, size_t count)
{
    const unit_step *step = (const unit_step *)element, *end = step + count / UNIT_STEP_ELEMENTS;
    int rc = 0;
    for (; step < end && rc == 0; step++)
        for (int64_t b = 0; b < step->count && rc == 0; b++)
            rc = matrix_builder_add(&sums->bytes, rank, (size_t)(step->first + b), step->bytes);
    return rc;
}

int record_sums_add_report(record_sums *sums, size_t part, size_t rank, const int64_t *element,
                           size_t count)
{
    int rc = 0;
    if (count == 0 || element[0] < 0 || (uint64_t)element[0] >= count)
        return -EINVAL;
    size_t neighbours = (size_t)element[0];
    if (neighbours > 0)
        rc = add_neighbours(sums, part, element + 1, neighbours);
    if (rc == 0 && rank != SIZE_MAX)
        rc = add_profile(sums, rank, element + 1 + neighbours, count - 1 - neighbours);
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
