/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's row of the profile: its bytes in each bin of the accessed range.
 *
 * Each rank counts its bytes in the smallest possible bins, and the entries that its row would have
 * with larger bins. The smallest bins are chosen whose entries, over all ranks, are few enough for
 * the data of the call, so that recording costs little, and for the size of the file. A range in
 * blocks, one per rank, has hardly more entries than ranks for any bins; interleaved records have
 * ranks times bins. */
#include "record/record.h"

#include <stdlib.h>

#include "access/units.h"
#include "matrix/view_file.h"

/* Of the smallest bins; a power of two, so that RECORD_DOUBLINGS doublings leave one bin. */
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

int record_describe_profile(const access_list *list, int64_t lo, int64_t unit,
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

int record_sums_add_profile(record_sums *sums, size_t rank, const int64_t *element, size_t count)
{
    const unit_step *step = (const unit_step *)element, *end = step + count / UNIT_STEP_ELEMENTS;
    int rc = 0;
    for (; step < end && rc == 0; step++)
        for (int64_t b = 0; b < step->count && rc == 0; b++)
            rc = matrix_builder_add(&sums->bytes, rank, (size_t)(step->first + b), step->bytes);
    return rc;
}
