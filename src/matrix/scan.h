/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A scanner for words and numbers that tracks line numbers, and parts of both formats. Private to
 * this folder.
 */
#ifndef MATRIX_SCAN_H
#define MATRIX_SCAN_H

#include "matrix/matrix.h"

/* Longer words are refused: numbers of 64 bits are shorter. */
#define MATRIX_SCAN_WORD 127

/* Longer lines of text are refused. */
#define MATRIX_SCAN_LINE ((size_t)32768)

/* Comments of more characters are refused: twice the names of a million hosts. */
#define MATRIX_SCAN_COMMENTS ((size_t)1 << 26)

/* After an error the text seems to end, so that a reader may go on and check `rc` where it needs
 * what it has read. */
typedef struct matrix_scan {
    FILE *stream;
    matrix_error *error; /* set on every error but -ENOMEM */
    int rc;              /* 0, or the first error: -EIO, -EBADMSG or -ENOMEM */
    uint64_t length;     /* bytes from the initial position of the stream to its end */
    uint64_t consumed;   /* bytes of these already read */
    int ahead;           /* the next character, or EOF */
    size_t line;         /* line of the next character, from 1 */
    int at_line_start;   /* the next character is the first of its line */
    size_t word_line;    /* line of the last word, or of the end of the text */
    size_t word_length;  /* 0: end of the text */
    int word_first;      /* the word is the first of its line */
    char word[MATRIX_SCAN_WORD + 1];
} matrix_scan;

void matrix_scan_init(matrix_scan *scan, FILE *stream, matrix_error *error);

/* Notes an error, unless it is 0 or not the first one. */
void matrix_scan_fail(matrix_scan *scan, int rc);

/* Refuses the text by a line and a format with its arguments, unless the condition holds. After an
 * error none of these is evaluated. */
#define SCAN_EXPECT_AT(scan, line, condition, ...)                                                 \
    do {                                                                                           \
        if ((scan)->rc == 0 && !(condition))                                                       \
            matrix_scan_fail(scan, matrix_refuse((scan)->error, line, __VA_ARGS__));               \
    } while (0)

/* The same at the last word. */
#define SCAN_EXPECT(scan, condition, ...)                                                          \
    SCAN_EXPECT_AT(scan, (scan)->word_line, condition, __VA_ARGS__)

/* Reads the next word; word_length is 0 at the end of the text. */
void matrix_scan_word(matrix_scan *scan);

/* Reads the next word as an integer (with an optional sign). `what` names the number in messages,
 * with its article: "a column". Each of these returns 0 after an error. */
int64_t matrix_scan_number(matrix_scan *scan, const char *what);

/* Refuses numbers below 0. */
size_t matrix_scan_count(matrix_scan *scan, const char *what);

/* Accepts every decimal with an integral value: 3.0, 25e2. */
int64_t matrix_scan_real(matrix_scan *scan, const char *what);

/* Reads the next word as a real number. "inf" and "infinity" are infinite. NaN, -INFINITY and
 * numbers beyond a double are refused. */
double matrix_scan_double(matrix_scan *scan, const char *what);

/* Skips white space. 1: the next character is a '%' at the beginning of a line; otherwise 0. */
int matrix_scan_at_comment(matrix_scan *scan);

/* A string that grows; zeroed: none. The caller frees it, also after an error. */
struct matrix_text {
    char *string;
    size_t length, capacity;
};

/* Appends the rest of the line, without the line end, to a text of at most that many characters. */
void matrix_scan_rest_of_line(matrix_scan *scan, size_t most, struct matrix_text *text);

/* Reads comment lines up to the next word, as matrix_read_market. The caller frees them; NULL after
 * an error. */
char *matrix_scan_comments(matrix_scan *scan);

/* The next character, or EOF. */
int matrix_scan_next(matrix_scan *scan);

/* Whether what is left may hold entries of so many numbers each, and other numbers: one takes a
 * separator and a digit. */
bool matrix_scan_holds(const matrix_scan *scan, size_t entries, size_t numbers, size_t others);

/* Refuses the last word, where something else is expected: "a column". */
void matrix_scan_unexpected(matrix_scan *scan, const char *what);

/* Writes each line of the text (NULL if there is none), prefixed by "% ", as in both formats. */
void matrix_write_comments(FILE *stream, const char *comments);

/* Flushes the stream. Errors of the stream; -EIO: it has failed before. */
int matrix_finish_writing(FILE *stream);

#endif
