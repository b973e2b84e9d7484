/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The messages by which one rank, the root, records a collective call: which ranks access adjacent
 * parts of the file (the view matrix), and the bytes of each rank in each bin of the accessed range
 * (the profile).
 *
 * The range is cut into parts, each with an owner. A rank sends its accesses in a part to the
 * owner; the owner counts the pairs of neighbours there; the root adds up the messages of owners
 * and ranks. All messages are int64 elements.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include "access/access.h"
#include "access/encoding.h"
#include "access/neighbours.h"
#include "matrix/view_file.h"

/* ---- parts and their owners, of `ranks` ranks ---- */

enum { RECORD_MOST_PARTS = 256 };

/* One for so many ranks, as long as messages to their owners are few; no more than ranks. */
size_t record_count_parts(size_t ranks);

size_t record_owner_of_part(size_t part, size_t parts, size_t ranks);

/* The part that a rank owns; SIZE_MAX: none. */
size_t record_part_of_rank(size_t rank, size_t parts, size_t ranks);

/* ---- from a rank to the owners of the parts ---- */

/* Cuts an ordered list within [lo, hi) at the borders of `parts` equal parts, multiples of 4,096
 * bytes, and encodes the accesses in each part in its empty message (access_decode_runs). -EINVAL:
 * the list exceeds the range; -ENOMEM. */
int record_describe_access(const access_list *list, int64_t lo, int64_t hi, access_message *part,
                           size_t parts);

/* ---- the profile ---- */

/* The sums over all ranks that determine the bins: entries in the smallest possible bins of the
 * range, and after 1, 2, ... 15 doublings of these; bytes. */
#define RECORD_DOUBLINGS 15
enum { RECORD_SUM_BYTES = RECORD_DOUBLINGS + 1, RECORD_SUMS };

/* Adds those of an ordered list within [lo, hi) to sum[]. -ENOMEM. */
int record_add_sums(const access_list *list, int64_t lo, int64_t hi, int64_t *sum);

/* Bytes of a bin: the smallest with few enough entries. */
int64_t record_choose_unit(int64_t lo, int64_t hi, const int64_t *sum);

/* ---- from a rank to the root ---- */

/* The lists that a rank received as an owner, each of a rank of the world. */
typedef struct record_received {
    access_list *list;
    size_t *rank, count;
} record_received;

/* The report of a rank: the length of the counts of neighbours among the lists that it received,
 * these, and its own list's row of the profile. The report is empty before. -ENOMEM, and the errors
 * of matrix_builder_add. */
int record_make_report(const record_received *received, const access_list *own, int64_t lo,
                       int64_t unit, access_message *report);

/* ---- at the root ---- */

typedef struct record_sums {
    matrix_builder view, bytes;
    access_ends *ends; /* by part */
    size_t parts;
} record_sums;

/* The call is of `ranks` ranks on [lo, hi); unit 0: no profile. -ENOMEM. Release with
 * record_sums_release. */
int record_sums_start(record_sums *sums, size_t ranks, int64_t lo, int64_t hi, int64_t unit,
                      size_t parts);

/* Adds a report of the owner of a part, or (SIZE_MAX) of a rank that owns none; rank: SIZE_MAX has
 * no row. -EINVAL: malformed; -ENOMEM; -ERANGE. */
int record_sums_add_report(record_sums *sums, size_t part, size_t rank, const int64_t *element,
                           size_t count);

/* The view matrix and the profile (without rows when there is none). -ENOMEM; -ERANGE. */
int record_sums_finish(record_sums *sums, matrix *view, matrix *bytes);

void record_sums_release(record_sums *sums);

/* ---- back to accesses ---- */

/* What the ranks of a view file access in a call of its pattern k, relative to the first byte, in
 * list[], which is empty at first. In a bin they come in turn, with pieces as long as the view has
 * them in the mean. *hidden: the bytes of which the record does not say the place in a bin.
 * -ENOMEM; the lists may then have some of it. */
int record_deal(const view_file *file, size_t k, access_list *list, int64_t *hidden);

#endif
