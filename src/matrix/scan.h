/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A scanner for words and numbers that tracks line numbers, and parts of both formats. Private to
 * this folder.
 */
#ifndef MATRIX_SCAN_H
#define MATRIX_SCAN_H

#include "matrix/matrix.h"

#include <locale.h>

/* Longer words are refused: numbers of 64 bits are shorter. */
#define MATRIX_SCAN_WORD 127

/* Longer lines of text are refused. */
#define MATRIX_SCAN_LINE ((size_t)32768)

/* Comments of more characters are refused: twice the names of a million hosts. */
#define MATRIX_SCAN_COMMENTS ((size_t)1 << 26)

typedef struct matrix_scan {
    FILE *stream;
    matrix_error *error; /* set on every error */
    uint64_t length;     /* bytes from the initial position of the stream to its end */
    uint64_t consumed;   /* bytes of these already read */
    size_t line;         /* line of the next character, from 1 */
    int at_line_start;   /* the next character is the first of its line */
    size_t word_line;    /* line of the last word, or of the end of the text */
    size_t word_length;  /* 0: end of the text */
    int word_first;      /* the word is the first of its line */
    char word[MATRIX_SCAN_WORD + 1];
    size_t position, held; /* bytes of buffer: read, filled */
    char buffer[4096];
} matrix_scan;

/* Each returns 0, or -EIO or -EBADMSG with the error set. */
int matrix_scan_init(matrix_scan *scan, FILE *stream, matrix_error *error);

/* Reads the next word; word_length is 0 at the end of the text. */
int matrix_scan_word(matrix_scan *scan);

/* Reads the next word as an integer (with an optional sign). `what` names the number in messages,
 * with its article: "a column". */
int matrix_scan_number(matrix_scan *scan, const char *what, int64_t *number);

/* As matrix_scan_number, but not below 0. */
int matrix_scan_count(matrix_scan *scan, const char *what, size_t *count);

/* As matrix_scan_number, but accepts every decimal with an integral value: 3.0, 25e2. */
int matrix_scan_real(matrix_scan *scan, const char *what, int64_t *number);

/* Reads the next word as a real number; `c` is the C locale. "inf" and "infinity" are infinite.
 * NaN, -INFINITY and numbers beyond a double are refused. */
int matrix_scan_double(matrix_scan *scan, locale_t c, const char *what, double *number);

/* Skips white space. 1: the next character is a '%' at the beginning of a line; otherwise 0. */
int matrix_scan_at_comment(matrix_scan *scan);

/* A string that grows; zeroed: none. The caller frees it, also after an error. */
struct matrix_text {
    char *string;
    size_t length, capacity;
};

/* Appends the rest of the line, without the line end, to a text of at most that many characters.
 * Also -ENOMEM. */
int matrix_scan_rest_of_line(matrix_scan *scan, size_t most, struct matrix_text *text);

/* Reads comment lines up to the next word, as matrix_read_market. Also -ENOMEM. */
int matrix_scan_comments(matrix_scan *scan, char **comments);

/* The next character, or EOF. */
int matrix_scan_next(matrix_scan *scan);

/* Bytes not yet read. */
uint64_t matrix_scan_left(const matrix_scan *scan);

/* Refuses the last word, where something else is expected: "a column". */
int matrix_scan_unexpected(matrix_scan *scan, const char *what);

/* Writes each line of the text (NULL if there is none), prefixed by "% ", as in both formats. */
void matrix_write_comments(FILE *stream, const char *comments);

/* Flushes the stream. Errors of the stream; -EIO: it has failed before. */
int matrix_finish_writing(FILE *stream);

/* -EIO with the system's reason when the stream has failed, otherwise 0. */
int matrix_scan_failure(matrix_scan *scan);

#endif
