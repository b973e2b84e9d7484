/* SPDX-License-Identifier: BSD-3-Clause
 *
 * View files: what a run of a program did in its files, for placement at the next launch. A view
 * matrix in the FILEVIEW format and, in files that fcoll/tatp has recorded, a profile: an ACCESS
 * section for each kind of collective call. doc/viewfile.md has the format.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef MATRIX_VIEW_FILE_H
#define MATRIX_VIEW_FILE_H

#include "matrix/matrix.h"

/* Calls on one file that look alike: the same ranks access as many bytes of the same bins, counted
 * from the first byte that anybody accesses in the call. */
typedef struct access_pattern {
    char *file;    /* as the program named it */
    int64_t calls; /* so many, at least 1 */
    int64_t first; /* byte of the file where the range of the first of them begins */
    int64_t
        unit; /* bytes of a bin: a power of two; bin b is unit * b bytes from the first one on */
} access_pattern;

/* More bins than these are refused, so that a short file cannot ask for much memory. */
#define VIEW_FILE_MOST_BINS ((size_t)1 << 20)
#define VIEW_FILE_MOST_PATTERNS 64

/* What view_file_add keeps the entries of all patterns to: some 6 MB of text. */
#define VIEW_FILE_ENTRIES ((size_t)1 << 19)

/* bytes[k] belongs to pattern[k]: a row for each rank, a column for each bin; bytes, over all calls
 * of the pattern. So {patterns, bytes} is what setmatch calls a profile; patterns is 0 in files of
 * the stock recorder. A zeroed view_file is empty. */
typedef struct view_file {
    matrix view;    /* square; its rows are the ranks */
    char *comments; /* the lines directly after the first without their "% "; "" without any */
    size_t patterns;
    access_pattern *pattern;
    matrix *bytes;
} view_file;

/* Reads a whole file: matrix_read_fileview says what is refused in the matrix; an ACCESS section is
 * refused when a number is missing, out of its range or out of order. Sections of other names end
 * the reading. Errors as there. Release with view_file_release. */
int view_file_read(FILE *stream, view_file *f, matrix_error *error);

/* Writes it. -EINVAL: what view_file_read would refuse (nothing is written then); -EIO. */
int view_file_write(FILE *stream, const view_file *f);

void view_file_release(view_file *f);

/* Appends a pattern as it is and takes both over (they are zeroed). -ENOMEM. */
int view_file_append(view_file *f, access_pattern *pattern, matrix *bytes);

/* Adds a copy of `times` calls, each like `bytes` (pattern->calls is not looked at), to the pattern
 * of the same file that looks alike, or as one more. What has become too much is made less:
 * patterns of several files that look alike become one, then the last ones of a file, and bins
 * twice as large. -EINVAL: times < 1, or as many ranks as the others have not; -ERANGE: bytes
 * beyond int64; -ENOMEM. After an error other than -EINVAL a part may be missing. */
int view_file_add_calls(view_file *f, const access_pattern *pattern, const matrix *bytes,
                        int64_t times);

/* Adds all that `more` holds but its comments; an empty `f` takes its number of ranks. Errors as
 * above. */
int view_file_add(view_file *f, const view_file *more);

/* Bins of 2^doublings the size. -ERANGE; -ENOMEM. Release with matrix_release. */
int view_file_coarsen(const matrix *bytes, unsigned doublings, matrix *coarse);

#endif
