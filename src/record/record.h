/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ranks tell each other so that one of them can record a collective call: who follows whom in
 * the file (the view matrix), and the bytes of each rank in each bin of the accessed range (the
 * profile).
 *
 * The range is cut into parts, each with an owner. A rank sends the owners what it accesses in
 * their parts; owners count the neighbours there; the root sums up what owners and ranks say. All
 * of it travels as lists of words.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include "access/access.h"
#include "access/neighbours.h"
#include "matrix/matrix.h"

/* Zeroed: none. Release by free(word). */
typedef struct record_words {
    int64_t *word;
    size_t count, capacity;
} record_words;

/* -ENOMEM. */
int record_add_words(record_words *words, const int64_t *more, size_t count);

/* ---- from a rank to the owners of the parts ---- */

/* What an ordered list within [lo, hi) has in each of `parts` equal parts (whose borders are at
 * multiples of 4,096 bytes) is appended to the words of the part, as a piece about call `call`.
 * Parts without any get none. -EINVAL: the list lies outside; -ENOMEM. */
int record_describe_access(const access_list *list, int64_t lo, int64_t hi, size_t call,
                           record_words *part, size_t parts);

/* The next piece of words from *at on: the call, and its runs appended to the empty *list; *at
 * moves behind it. -EINVAL: no such piece; -ENOMEM. */
int record_read_access(const int64_t *word, size_t count, size_t *at, size_t *call,
                       access_list *list);

/* ---- the profile ---- */

/* What all ranks add up before anything is said of bins: entries in the smallest bins there may be
 * for the range, and after 1, 2, ... 15 doublings of these; bytes. */
#define RECORD_DOUBLINGS 15
enum { RECORD_SUM_BYTES = RECORD_DOUBLINGS + 1, RECORD_SUMS };

/* Adds what an ordered list within [lo, hi) has to sum[]. -ENOMEM. */
int record_add_sums(const access_list *list, int64_t lo, int64_t hi, int64_t *sum);

/* Bytes of a bin: the smallest ones with few enough entries. */
int64_t record_choose_unit(int64_t lo, int64_t hi, const int64_t *sum);

/* Bytes of the list by bins, as words. -ENOMEM. */
int record_describe_profile(const access_list *list, int64_t lo, int64_t unit, record_words *words);

/* ---- neighbours ---- */

/* Of an owner: who follows whom among the lists that it was sent, owner[l] being the rank of list
 * l, as words. -ENOMEM and the errors of matrix_builder_add. */
int record_describe_neighbours(const access_list *lists, const size_t *owner, size_t count,
                               size_t ranks, access_weight weight, record_words *words);

/* ---- at the root ---- */

typedef struct record_sums {
    matrix_builder view, bytes;
    access_ends *ends; /* by part */
    size_t parts;
} record_sums;

/* For a call of so many ranks on [lo, hi); unit 0: no profile. -ENOMEM. Release with
 * record_sums_release. */
int record_sums_start(record_sums *sums, size_t ranks, int64_t lo, int64_t hi, int64_t unit,
                      size_t parts);

/* Adds what the owner of a part said, and what a rank said of itself. -EINVAL: words that cannot
 * be; -ENOMEM; -ERANGE. */
int record_sums_add_neighbours(record_sums *sums, size_t part, const int64_t *word, size_t count);
int record_sums_add_profile(record_sums *sums, size_t rank, const int64_t *word, size_t count);

/* The view matrix and the profile (without rows when there is none). -ENOMEM; -ERANGE. */
int record_sums_finish(record_sums *sums, access_weight weight, matrix *view, matrix *bytes);

void record_sums_release(record_sums *sums);

#endif
