/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading lines, scanning tokens, reporting errors. Private to this folder.
 */
#ifndef TOPO_TEXT_H
#define TOPO_TEXT_H

#include "matrix/matrix.h"

/* Limits a line with those that backslashes join to it: the list of a million hosts in one line is
 * shorter. */
enum { TEXT_MOST_CHARACTERS = 1 << 24 };

typedef struct text_lines {
    FILE *stream;
    matrix_error *error;
    char *line; /* without its line end; the caller frees it */
    size_t capacity;
    size_t number; /* of the line, from 1; of the first one joined by backslashes */
    size_t passed; /* lines read so far */
} text_lines;

/* 1: a line; 0: the end; -EBADMSG: a NUL, or too long; -EIO; -ENOMEM. */
int text_next(text_lines *text);

/* Skips blanks. */
const char *skip_blanks(const char *at);

/* Each passes one token and returns 1, or returns 0 and leaves *at unchanged. */
int scan_text(const char **at, const char *expected);
int scan_number(const char **at, uint64_t most, uint64_t *number);
int scan_hex(const char **at, uint64_t *number); /* without "0x" */
int scan_quoted(const char **at, const char **start, size_t *length);
int scan_port(const char **at, uint32_t *port); /* "[7]" */

#endif
