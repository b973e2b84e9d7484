/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's profile: the bytes of each rank in each bin of the accessed range.
 *
 * Each rank counts its own, in the smallest bins there may be, and says how many entries its row would have
 * with larger ones. The smallest bins win whose entries, over all ranks, are few enough: few for the data of
 * the call, so that recording costs little, and few for a file that people keep. A range in blocks, one
 * for each rank, has hardly more entries than ranks in any bins; records in turn have as many as
 * ranks times bins. */
#include "fcoll_tatp_record.h"

#include <stdlib.h>

#include "access/units.h"

/* Of the smallest bins; a power of two, so that these bins become one after so many doublings. */
enum { MOST_DOUBLINGS = 15, MOST_BINS = 1 << MOST_DOUBLINGS, SMALLEST_BIN = 64 };

/* An entry of 16 bytes for so many bytes of data. */
enum { BYTES_PER_ENTRY = 4096, ALWAYS_ENTRIES = 4096 };

/* What the ranks add up: entries by doublings; bytes; how many of them are in trouble. */
enum { SUM_BYTES = MOST_DOUBLINGS + 1, SUM_ERRORS, SUMS };

static int64_t smallest_unit(int64_t range)
{
    int64_t unit = SMALLEST_BIN;
    while ((range - 1) / unit >= MOST_BINS)
        unit *= 2;
    return unit;
}

/* Adds to entries[d] how many bins are touched when they have doubled d times. */
static void count_entries(const unit_counts *bins, int64_t *entries)
{
    for (unsigned d = 0; d <= MOST_DOUBLINGS; d++) {
        int64_t last = -1;
        for (size_t i = 0; i < bins->count; i++) {
            int64_t first = bins->step[i].first >> d;
            int64_t end = ((bins->step[i].first + bins->step[i].count - 1) >> d) + 1;
            entries[d] += end - (first > last ? first : first + 1);
            last = end - 1;
        }
    }
}

static unsigned choose_doublings(const int64_t *sum)
{
    int64_t most = sum[SUM_BYTES] / BYTES_PER_ENTRY;
    unsigned d = 0;
    if (most < ALWAYS_ENTRIES)
        most = ALWAYS_ENTRIES;
    if (most > (int64_t)VIEW_FILE_ENTRIES)
        most = (int64_t)VIEW_FILE_ENTRIES;
    while (d < MOST_DOUBLINGS && sum[d] > most)
        d++;
    return d;
}

/* The sums over all ranks of entries and bytes. `rc` is what this rank brings along. Collective; an error
 * is everyone's. */
static int agree(const tatp_pass *pass, int rc, const unit_counts *bins, int64_t *sum)
{
    for (int i = 0; i < SUMS; i++)
        sum[i] = 0;
    if (rc == OMPI_SUCCESS)
        count_entries(bins, sum);
    sum[SUM_BYTES] = pass->file->bytes;
    sum[SUM_ERRORS] = rc != OMPI_SUCCESS;
    int failed = tatp_allreduce(pass->fh, sum, SUMS, MPI_INT64_T, MPI_SUM);
    if (failed != OMPI_SUCCESS)
        return failed;
    return sum[SUM_ERRORS] > 0 ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

int tatp_describe_profile(const tatp_pass *pass, int rc, int64_t *unit, tatp_account *words)
{
    unit_counts fine = {0}, bins = {0};
    int64_t sum[SUMS], lo = pass->schedule->lo, smallest = smallest_unit(pass->schedule->hi - lo);
    if (rc == OMPI_SUCCESS)
        rc = tatp_from_errno(units_count(pass->file, lo, smallest, &fine));
    rc = agree(pass, rc, &fine, sum);
    free(fine.step);
    if (rc != OMPI_SUCCESS)
        return rc;
    *unit = smallest << choose_doublings(sum);
    rc = units_count(pass->file, lo, *unit, &bins);
    if (rc == 0)
        rc = tatp_account_add(words, (const int64_t *)bins.step, bins.count * UNIT_STEP_WORDS);
    free(bins.step);
    return tatp_from_errno(rc);
}

int tatp_add_profile(const int64_t *word, size_t count, size_t row, matrix_builder *bytes)
{
    const unit_step *step = (const unit_step *)word, *end = step + count / UNIT_STEP_WORDS;
    int rc = 0;
    for (; step < end && rc == 0; step++) {
        for (int64_t b = 0; b < step->count && rc == 0; b++)
            rc = matrix_builder_add(bytes, row, (size_t)(step->first + b), step->bytes);
    }
    return rc;
}
