/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Why a text is refused.
 */
#ifndef MATRIX_ERROR_H
#define MATRIX_ERROR_H

#include <stddef.h>

/* 1-based line (0: the whole file) and a sentence without a full stop, for "FILE:LINE: REASON". */
typedef struct matrix_error {
    size_t line;
    char reason[200];
} matrix_error;

/* Fills in the error, without control characters, and returns -EBADMSG. */
int matrix_refuse(matrix_error *error, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Fills in that the stream failed by this errno, and returns -EIO. */
int matrix_refuse_stream(matrix_error *error, int cause);

/* The same where base_append_line failed by rc, with at most `most` characters, at that line.
 * Returns -EBADMSG; -ENOMEM, without an error; -EIO: the stream failed. */
int matrix_refuse_line(matrix_error *error, size_t line, size_t most, int rc);

#endif
