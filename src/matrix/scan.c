/* SPDX-License-Identifier: BSD-3-Clause */
/* A scanner for words and numbers that tracks line numbers. */
#define _GNU_SOURCE /* getc_unlocked */
#include "matrix/scan.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* isspace depends on the locale. */
static int is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int is_digit(int c)
{
    return c >= '0' && c <= '9';
}

void matrix_scan_fail(matrix_scan *scan, int rc)
{
    if (scan->rc == 0)
        scan->rc = rc;
    if (scan->rc != 0)
        scan->ahead = EOF;
}

static void scan_look_ahead(matrix_scan *scan)
{
    scan->ahead = getc_unlocked(scan->stream);
    if (scan->ahead == EOF && ferror(scan->stream))
        matrix_scan_fail(scan, matrix_refuse_stream(scan->error, errno));
}

void matrix_scan_init(matrix_scan *scan, FILE *stream, matrix_error *error)
{
    *scan = (matrix_scan){.stream = stream, .error = error, .line = 1, .at_line_start = 1};
    off_t start = ftello(stream), end = -1;
    if (start >= 0 && fseeko(stream, 0, SEEK_END) == 0)
        end = ftello(stream);
    if (end < 0 || fseeko(stream, start, SEEK_SET) != 0) {
        matrix_scan_fail(scan, matrix_refuse_stream(error, errno));
        return;
    }
    scan->length = end > start ? (uint64_t)(end - start) : 0;
    scan_look_ahead(scan);
}

bool matrix_scan_holds(const matrix_scan *scan, size_t entries, size_t numbers, size_t others)
{
    uint64_t bytes, left = scan->length > scan->consumed ? scan->length - scan->consumed : 0;
    return !__builtin_mul_overflow(entries, numbers, &bytes) &&
           !__builtin_add_overflow(bytes, others, &bytes) &&
           !__builtin_mul_overflow(bytes, 2, &bytes) && bytes <= left;
}

int matrix_scan_next(matrix_scan *scan)
{
    int c = scan->ahead;
    if (c == EOF)
        return EOF;
    scan->consumed++;
    scan->at_line_start = c == '\n';
    scan->line += c == '\n';
    scan_look_ahead(scan);
    return c;
}

static void skip_space(matrix_scan *scan)
{
    while (is_space(scan->ahead))
        matrix_scan_next(scan);
}

int matrix_scan_at_comment(matrix_scan *scan)
{
    skip_space(scan);
    return scan->ahead == '%' && scan->at_line_start;
}

void matrix_scan_word(matrix_scan *scan)
{
    skip_space(scan);
    scan->word_line = scan->line;
    scan->word_first = scan->at_line_start;
    scan->word_length = 0;
    while (scan->ahead != EOF && !is_space(scan->ahead)) {
        SCAN_EXPECT(scan, scan->word_length < MATRIX_SCAN_WORD, "a word of more than %d characters",
                    MATRIX_SCAN_WORD);
        SCAN_EXPECT(scan, scan->ahead != '\0', "a NUL byte");
        if (scan->rc == 0)
            scan->word[scan->word_length++] = (char)matrix_scan_next(scan);
    }
    if (scan->rc != 0)
        scan->word_length = 0;
    scan->word[scan->word_length] = '\0';
}

void matrix_scan_rest_of_line(matrix_scan *scan, size_t most, struct matrix_text *text)
{
    size_t begin = text->length, line = scan->line;
    int c;
    matrix_scan_fail(scan, base_reserve(&text->string, &text->capacity, begin + 1, 1));
    while ((c = matrix_scan_next(scan)) != '\n' && c != EOF) {
        SCAN_EXPECT_AT(scan, line, c != '\0', "a NUL byte");
        SCAN_EXPECT_AT(scan, line, text->length < most, "text of more than %zu characters", most);
        matrix_scan_fail(scan, base_reserve(&text->string, &text->capacity, text->length + 2, 1));
        if (scan->rc == 0)
            text->string[text->length++] = (char)c;
    }
    if (scan->rc != 0)
        return;
    text->length -= text->length > begin && text->string[text->length - 1] == '\r';
    text->string[text->length] = '\0';
}

void matrix_scan_unexpected(matrix_scan *scan, const char *what)
{
    enum { SHOWN = 40 };
    SCAN_EXPECT(scan, false, "'%.*s%s' where %s is expected", SHOWN, scan->word,
                scan->word_length > SHOWN ? "..." : "", what);
}

static void next_word(matrix_scan *scan, const char *what)
{
    matrix_scan_word(scan);
    SCAN_EXPECT(scan, scan->word_length > 0, "the file ends where %s is expected", what);
}

/* strtoll accepts also white space before a number, and more after it. */
static bool is_integer(const char *text)
{
    text += *text == '-' || *text == '+';
    return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static int64_t integer_of(matrix_scan *scan, const char *text, const char *what)
{
    errno = 0;
    int64_t number = strtoll(text, NULL, 10);
    SCAN_EXPECT(scan, errno == 0, "%s is beyond 64 bits", what);
    return scan->rc == 0 ? number : 0;
}

int64_t matrix_scan_number(matrix_scan *scan, const char *what)
{
    next_word(scan, what);
    if (!is_integer(scan->word))
        matrix_scan_unexpected(scan, what);
    return scan->rc == 0 ? integer_of(scan, scan->word, what) : 0;
}

size_t matrix_scan_count(matrix_scan *scan, const char *what)
{
    int64_t n = matrix_scan_number(scan, what);
    SCAN_EXPECT(scan, n >= 0, "%s is negative: %s", what, scan->word);
    return scan->rc == 0 ? (size_t)n : 0;
}

/* With a greater exponent every number of at most MATRIX_SCAN_WORD digits is 0, fractional or too
 * large. */
#define EXPONENT_LIMIT 100000

/* A word as an integer and a power of ten: -12.5e3 is "-125", 2. */
struct decimal {
    long exponent;
    size_t length; /* of the text, of which the sign is the first */
    char text[MATRIX_SCAN_WORD + 32];
};

static bool parse_decimal(const char *word, struct decimal *d)
{
    bool point = false;
    d->text[0] = *word == '-' ? '-' : '+';
    d->length = 1;
    d->exponent = 0;
    for (word += *word == '-' || *word == '+'; is_digit(*word) || (*word == '.' && !point); word++)
        if (*word == '.') {
            point = true;
        } else {
            d->text[d->length++] = *word;
            d->exponent -= point;
        }
    bool scaled = (*word == 'e' || *word == 'E') && is_integer(word + 1);
    long exponent = scaled ? strtol(word + 1, NULL, 10) : 0;
    d->exponent += exponent > EXPONENT_LIMIT    ? EXPONENT_LIMIT
                   : exponent < -EXPONENT_LIMIT ? -EXPONENT_LIMIT
                                                : exponent;
    return d->length > 1 && (scaled || *word == '\0');
}

/* Whether the last word is one; otherwise refuses it. */
static bool is_decimal(matrix_scan *scan, const char *what, struct decimal *d)
{
    if (scan->rc == 0 && !parse_decimal(scan->word, d))
        matrix_scan_unexpected(scan, what);
    return scan->rc == 0;
}

/* A double does not represent every int64. */
int64_t matrix_scan_real(matrix_scan *scan, const char *what)
{
    enum { MOST_ZEROS = 18 }; /* at the end of a number other than 0 */
    struct decimal d;
    next_word(scan, what);
    if (!is_decimal(scan, what, &d))
        return 0;
    for (; d.length > 1 && d.text[d.length - 1] == '0'; d.length--)
        d.exponent++;
    if (d.length == 1)
        return 0;
    SCAN_EXPECT(scan, d.exponent >= 0, "%s is not whole: %s", what, scan->word);
    SCAN_EXPECT(scan, d.exponent <= MOST_ZEROS, "%s is beyond 64 bits", what);
    for (; scan->rc == 0 && d.exponent > 0; d.exponent--)
        d.text[d.length++] = '0';
    d.text[d.length] = '\0';
    return scan->rc == 0 ? integer_of(scan, d.text, what) : 0;
}

static bool is_infinite(const char *word)
{
    word += *word == '+';
    return strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0;
}

/* strtod expects the decimal point of the locale: it gets none. */
double matrix_scan_double(matrix_scan *scan, const char *what)
{
    struct decimal d;
    next_word(scan, what);
    if (is_infinite(scan->word))
        return INFINITY;
    if (!is_decimal(scan, what, &d))
        return 0.0;
    snprintf(d.text + d.length, sizeof d.text - d.length, "e%ld", d.exponent);
    double number = strtod(d.text, NULL);
    SCAN_EXPECT(scan, !isinf(number), "%s is beyond a double: %s", what, scan->word);
    return number;
}

/* ---- comment lines, which are the same in both formats ---- */

void matrix_write_comments(FILE *stream, const char *comments)
{
    while (comments != NULL && *comments != '\0') {
        size_t length = strcspn(comments, "\n");
        fputs("% ", stream);
        fwrite(comments, 1, length, stream);
        fputc('\n', stream);
        comments += length + (comments[length] == '\n');
    }
}

int matrix_finish_writing(FILE *stream)
{
    int failed = ferror(stream);
    errno = EIO; /* the cause of an earlier failure is not known any more */
    return fflush(stream) != 0 || failed ? -errno : 0;
}

/* Appends the line without its '%' and one blank after that, and a newline. */
static void append_comment(matrix_scan *scan, struct matrix_text *text)
{
    size_t line = text->length;
    matrix_scan_next(scan);
    matrix_scan_rest_of_line(scan, MATRIX_SCAN_COMMENTS, text);
    if (scan->rc == 0 && text->string[line] == ' ')
        memmove(text->string + line, text->string + line + 1, --text->length - line);
    matrix_scan_fail(scan, base_reserve(&text->string, &text->capacity, text->length + 2, 1));
    if (scan->rc == 0)
        text->string[text->length++] = '\n';
}

char *matrix_scan_comments(matrix_scan *scan)
{
    struct matrix_text text = {0};
    matrix_scan_fail(scan, base_reserve(&text.string, &text.capacity, 1, 1));
    while (matrix_scan_at_comment(scan))
        append_comment(scan, &text);
    if (scan->rc == 0)
        text.string[text.length] = '\0';
    else
        free(text.string);
    return scan->rc == 0 ? text.string : NULL;
}
