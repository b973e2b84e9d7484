/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Bins of a record, and the file domains or units that they overlap. Private to this folder.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef PREDICT_OVERLAP_H
#define PREDICT_OVERLAP_H

#include "access/domain.h"
#include "matrix/view_file.h"

/* The range that the calls of a pattern access, as if all were at the place of the first. */
typedef struct recorded_range {
    int64_t lo, hi;
    int64_t unit; /* bytes of a bin */
    size_t bins;
} recorded_range;

/* hi is known to a bin; bytes in the last one count as contiguous. */
recorded_range recorded_range_of(const access_pattern *pattern, const matrix *bytes);

/* parts: bins x domains, the bytes of each bin that belong to each domain; of a bin that is longer
 * than a period of striped domains, those of a period. -ENOMEM. Release with matrix_release. */
int overlap_find(const recorded_range *range, const file_domains *domains, matrix *parts);

/* result: rows x domains, the bytes of each row of a profile (a rank's or a node's) in each domain:
 * those of a bin in proportion to its parts. -ENOMEM. Release with matrix_release. */
int overlap_spread(const matrix *bytes, const matrix *parts, matrix *result);

/* The entries that this takes before entries of one domain are added up. */
size_t overlap_count(const matrix *bytes, const matrix *parts);

#endif
