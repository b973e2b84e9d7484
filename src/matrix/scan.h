/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Words and numbers of a text, with the line they stand on. Private to the readers
 * of this folder.
 */
#ifndef MATRIX_SCAN_H
#define MATRIX_SCAN_H

#include "matrix/matrix.h"

#include <locale.h>

/* Longer words are refused: no number that fits 64 bits needs so many characters. */
#define MATRIX_SCAN_WORD 127

/* Longer lines are refused where a line is text. */
#define MATRIX_SCAN_LINE 32768

typedef struct matrix_scan {
    FILE *stream;
    matrix_error *error; /* filled in by whatever fails */
    uint64_t length;     /* bytes from where the stream stood to its end */
    uint64_t consumed;   /* bytes of these that next() has passed */
    size_t line;         /* line of the next character, from 1 */
    int at_line_start;   /* the next character is the first of its line */
    size_t word_line;    /* of the last word; after the end, of the end */
    size_t word_length;  /* 0: the text has ended */
    int word_first;      /* the word begins its line */
    char word[MATRIX_SCAN_WORD + 1];
    size_t position, held; /* of buffer */
    char buffer[4096];
} matrix_scan;

/* Each returns 0, or -EIO or -EBADMSG with the error filled in. */
int matrix_scan_init(matrix_scan *scan, FILE *stream, matrix_error *error);

/* The next word into word; word_length is 0 at the end of the text. */
int matrix_scan_word(matrix_scan *scan);

/* The next word as a whole number (with an optional sign). `what` names the number in
 * messages, with its article: "a column". */
int matrix_scan_number(matrix_scan *scan, const char *what, int64_t *number);

/* As matrix_scan_number, but not below 0. */
int matrix_scan_count(matrix_scan *scan, const char *what, size_t *count);

/* As matrix_scan_number, but also 3.0, 25e2 and the like: every decimal with a whole value. */
int matrix_scan_real(matrix_scan *scan, const char *what, int64_t *number);

/* The next word as a real number in that locale, which is C's; "inf" and "infinity" are infinite.
 * NaN, what lies below every number and what a double cannot hold are refused. */
int matrix_scan_double(matrix_scan *scan, locale_t c, const char *what, double *number);

/* Passes white space. 1: the next character begins a line and is a '%'. 0: it is not. */
int matrix_scan_at_comment(matrix_scan *scan);

/* The rest of the line, without the newline, as a string that the caller frees. -ENOMEM too. */
int matrix_scan_rest_of_line(matrix_scan *scan, char **text);

/* The next character, or EOF. */
int matrix_scan_next(matrix_scan *scan);

/* Bytes not yet read. */
uint64_t matrix_scan_left(const matrix_scan *scan);

/* Refuses what stands on that line: fills in the error and returns -EBADMSG. */
int matrix_scan_refuse(matrix_scan *scan, size_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Refuses the last word, where something else is expected: "a column". */
int matrix_scan_unexpected(matrix_scan *scan, const char *what);

/* -EIO with the system's reason when the stream has failed, otherwise 0. */
int matrix_scan_failure(matrix_scan *scan);

#endif
