/* SPDX-License-Identifier: BSD-3-Clause
 *
 * View files: the recorded file accesses of a run, for placement at the next launch. A view matrix
 * in the FILEVIEW format and, in files recorded by fcoll/tatp, a profile: an ACCESS section per
 * kind of collective call with aggregators. doc/viewfile.md describes the format.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef MATRIX_VIEW_FILE_H
#define MATRIX_VIEW_FILE_H

#include "matrix/matrix.h"

/* The number and kind of the file domains of the calls followed from these members of
 * division_settings (plan/division.h). Zeroed: nothing was set, or the record is older. A fifth
 * number, the bytes of a unit that release 1.0 could be asked for, is written as 0 and ignored. */
typedef struct access_division {
    int64_t kind, aggregators, stripe, targets;
} access_division;

#define VIEW_FILE_MOST_KIND 3
#define VIEW_FILE_MOST_AGGREGATORS INT32_MAX
#define VIEW_FILE_MOST_TARGETS (1 << 20)
#define VIEW_FILE_LARGEST_STRIPE (INT64_C(1) << 32)

/* Equivalent calls on one file: the same ranks access the same number of bytes in the same bins,
 * relative to the first byte accessed by any rank in the call. */
typedef struct access_pattern {
    char *file;    /* name used by the program */
    int64_t calls; /* number of calls, at least 1 */
    int64_t first; /* offset of the first byte accessed in the first of the calls */
    int64_t unit;  /* bytes per bin: a power of two; bin b begins unit * b bytes after the first */
    access_division division;
} access_pattern;

/* Files with more bins are refused, so that a short file cannot cause a large allocation. */
#define VIEW_FILE_MOST_BINS ((size_t)1 << 20)
#define VIEW_FILE_MOST_PATTERNS 64

/* Limit of view_file_add for the entries of all patterns: about 6 MB of text. */
#define VIEW_FILE_ENTRIES ((size_t)1 << 19)

/* bytes[k] belongs to pattern[k]: a row per rank, a column per bin, the bytes of all calls of the
 * pattern. {patterns, bytes} is a setmatch_profile; patterns is 0 in files of the stock recorder. A
 * zeroed view_file is empty. */
typedef struct view_file {
    matrix view;    /* square; its rows are the ranks */
    size_t *order;  /* per rank, that in a communicator with all of them; NULL: the same */
    char *comments; /* the lines directly after the first without their "% "; "" without any */
    size_t patterns, capacity;
    access_pattern *pattern;
    matrix *bytes;
} view_file;

/* Reads a whole file; also a square matrix in Matrix Market format, which has no patterns. Refuses
 * matrices as matrix_read_market does, row pointers that decrease or do not span 1..nnz + 1, ACCESS
 * sections in which a number is missing, out of range or out of order, malformed DIVISION sections,
 * and weights or bytes whose sum is beyond int64. A section of another name, an upper-case word
 * that begins a line, ends reading, as LAYOUT, which release 1.0.0 wrote at the end. Errors as
 * there. Release with view_file_release. */
int view_file_read(FILE *stream, view_file *f, matrix_error *error);

/* The bytes of a record that were accessed without aggregators, by its comments; 0 where they do
 * not say. They are in no pattern. */
int64_t view_file_independent(const view_file *f);

/* -EINVAL: view_file_read would refuse the file (nothing is written then); -ENOMEM; errors
 * of the stream. */
int view_file_write(FILE *stream, const view_file *f);

void view_file_release(view_file *f);

/* Appends a pattern unchanged. Takes ownership of pattern->file and *bytes, and zeroes both
 * structs. -ENOMEM. */
int view_file_append(view_file *f, access_pattern *pattern, matrix *bytes);

/* Adds a copy of `times` calls, each with these bytes (pattern->calls is ignored), to the
 * equivalent pattern of the same file, or as another pattern. Beyond the limits above, merges
 * equivalent patterns of several files, then the last two of a file, and doubles the size of bins.
 * -EINVAL: times < 1, or another number of ranks than the other patterns; -ERANGE: bytes beyond
 * int64; -ENOMEM. After an error other than -EINVAL a part may be missing. */
int view_file_add_calls(view_file *f, const access_pattern *pattern, const matrix *bytes,
                        int64_t times);

/* Adds the contents of `more` except its comments; an empty `f` gets its number of ranks. The first
 * order stays. Errors as above. */
int view_file_add(view_file *f, const view_file *more);

/* Sets a copy of the order, which may be NULL, unless there is one. -ENOMEM. */
int view_file_set_order(view_file *f, const size_t *order, size_t ranks);

/* Merges bins to 2^doublings (< 2^64) their size. -ERANGE; -ENOMEM. Release with matrix_release. */
int view_file_coarsen(const matrix *bytes, unsigned doublings, matrix *coarse);

#endif
