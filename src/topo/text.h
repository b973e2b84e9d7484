/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lines of a text, pieces of a line, and why one is refused. Private to this folder.
 */
#ifndef TOPO_TEXT_H
#define TOPO_TEXT_H

#include "matrix/matrix.h"

/* Fills in the error and returns -EBADMSG. */
int refuse(matrix_error *error, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef struct text_lines {
    FILE *stream;
    matrix_error *error;
    char *line; /* without the line's end; owned */
    size_t room;
    size_t number; /* of the line, from 1; the first of those that backslashes join */
    size_t passed; /* lines read so far */
} text_lines;

/* 1: a line; 0: the end; -EBADMSG: a NUL; -EIO; -ENOMEM. */
int text_next(text_lines *text);

void text_release(text_lines *text);

/* Passes blanks. */
const char *skip_blanks(const char *at);

/* Each passes what it tells of and returns 1, or returns 0 and leaves *at alone. */
int scan_text(const char **at, const char *expected);
int scan_number(const char **at, uint64_t most, uint64_t *number);
int scan_hex(const char **at, uint64_t *number); /* without "0x" */
int scan_quoted(const char **at, const char **start, size_t *length);
int scan_port(const char **at, uint32_t *port); /* "[7]" */

#endif
