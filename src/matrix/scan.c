/* SPDX-License-Identifier: BSD-3-Clause */
/* A scanner for words and numbers that tracks line numbers. */
#define _GNU_SOURCE /* strtod_l */
#include "matrix/scan.h"

#include "base/memory.h"
#include "base/text.h"

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

static int io_failure(matrix_scan *scan)
{
    scan->error->line = 0;
    snprintf(scan->error->reason, sizeof scan->error->reason, "cannot be read: %m");
    return -EIO;
}

int matrix_scan_failure(matrix_scan *scan)
{
    return ferror(scan->stream) ? io_failure(scan) : 0;
}

int matrix_scan_init(matrix_scan *scan, FILE *stream, matrix_error *error)
{
    *scan = (matrix_scan){.stream = stream, .error = error, .line = 1, .at_line_start = 1};
    off_t start = ftello(stream);
    if (start < 0 || fseeko(stream, 0, SEEK_END) != 0)
        return io_failure(scan);
    off_t end = ftello(stream);
    if (end < 0 || fseeko(stream, start, SEEK_SET) != 0)
        return io_failure(scan);
    scan->length = end > start ? (uint64_t)(end - start) : 0;
    return 0;
}

uint64_t matrix_scan_left(const matrix_scan *scan)
{
    return scan->length > scan->consumed ? scan->length - scan->consumed : 0;
}

/* The next character without reading it, or EOF. */
static int peek(matrix_scan *scan)
{
    if (scan->position == scan->held) {
        scan->position = 0;
        scan->held = fread(scan->buffer, 1, sizeof scan->buffer, scan->stream);
    }
    return scan->held > 0 ? (unsigned char)scan->buffer[scan->position] : EOF;
}

int matrix_scan_next(matrix_scan *scan)
{
    int c = peek(scan);
    if (c == EOF)
        return EOF;
    scan->position++;
    scan->consumed++;
    scan->at_line_start = c == '\n';
    scan->line += c == '\n';
    return c;
}

/* Stops before the first character that is not white space and returns it; EOF at the end. */
static int skip_space(matrix_scan *scan)
{
    int c;
    while (is_space(c = peek(scan)))
        matrix_scan_next(scan);
    return c;
}

int matrix_scan_at_comment(matrix_scan *scan)
{
    return skip_space(scan) == '%' && scan->at_line_start;
}

int matrix_scan_word(matrix_scan *scan)
{
    int c = skip_space(scan);
    scan->word_line = scan->line;
    scan->word_first = scan->at_line_start;
    scan->word_length = 0;
    while (c != EOF && !is_space(c)) {
        if (scan->word_length == MATRIX_SCAN_WORD)
            return matrix_refuse(scan->error, scan->word_line, "a word of more than %d characters",
                                 MATRIX_SCAN_WORD);
        if (c == '\0')
            return matrix_refuse(scan->error, scan->word_line, "a NUL byte");
        scan->word[scan->word_length++] = (char)matrix_scan_next(scan);
        c = peek(scan);
    }
    scan->word[scan->word_length] = '\0';
    return matrix_scan_failure(scan);
}

int matrix_scan_rest_of_line(matrix_scan *scan, size_t most, struct matrix_text *text)
{
    size_t begin = text->length, line = scan->line;
    int c, rc = base_reserve(&text->string, &text->capacity, begin + 1, 1);
    while (rc == 0 && (c = matrix_scan_next(scan)) != '\n' && c != EOF) {
        if (c == '\0')
            return matrix_refuse(scan->error, line, "a NUL byte");
        if (text->length == most)
            return matrix_refuse(scan->error, line, "text of more than %zu characters", most);
        rc = base_reserve(&text->string, &text->capacity, text->length + 2, 1);
        if (rc == 0)
            text->string[text->length++] = (char)c;
    }
    if (rc != 0)
        return rc;
    text->length -= text->length > begin && text->string[text->length - 1] == '\r';
    text->string[text->length] = '\0';
    return 0;
}

int matrix_scan_unexpected(matrix_scan *scan, const char *what)
{
    enum { SHOWN = 40 };
    return matrix_refuse(scan->error, scan->word_line, "'%.*s%s' where %s is expected", SHOWN,
                         scan->word, scan->word_length > SHOWN ? "..." : "", what);
}

static int beyond(matrix_scan *scan, const char *what)
{
    return matrix_refuse(scan->error, scan->word_line, "%s is beyond 64 bits", what);
}

static int next_word(matrix_scan *scan, const char *what)
{
    int rc = matrix_scan_word(scan);
    if (rc == 0 && scan->word_length == 0)
        rc =
            matrix_refuse(scan->error, scan->word_line, "the file ends where %s is expected", what);
    return rc;
}

/* *n = 10 * *n - digit: negative, since the range of int64 is larger below 0. */
static int append_digit(int64_t *n, int digit)
{
    return __builtin_mul_overflow(*n, 10, n) || __builtin_sub_overflow(*n, digit, n);
}

static int apply_sign(int64_t negated, int negative, int64_t *number)
{
    if (negative) {
        *number = negated;
        return 0;
    }
    return __builtin_sub_overflow(0, negated, number);
}

int matrix_scan_number(matrix_scan *scan, const char *what, int64_t *number)
{
    int rc = next_word(scan, what);
    if (rc != 0)
        return rc;
    const char *digit = scan->word;
    int negative = *digit == '-';
    if (*digit == '-' || *digit == '+')
        digit++;
    if (digit[strspn(digit, "0123456789")] != '\0' || *digit == '\0')
        return matrix_scan_unexpected(scan, what);
    int64_t n = 0;
    for (; *digit != '\0'; digit++)
        if (append_digit(&n, *digit - '0'))
            return beyond(scan, what);
    return apply_sign(n, negative, number) ? beyond(scan, what) : 0;
}

int matrix_scan_count(matrix_scan *scan, const char *what, size_t *count)
{
    int64_t n = 0;
    int rc = matrix_scan_number(scan, what, &n);
    if (rc != 0)
        return rc;
    if (n < 0)
        return matrix_refuse(scan->error, scan->word_line, "%s is negative: %s", what, scan->word);
    *count = (size_t)n;
    return 0;
}

/* A decimal as sign, digits and power of ten: -12.5e3 is -, "125", 2. */
struct decimal {
    int negative;
    long exponent;
    size_t length;
    char digits[MATRIX_SCAN_WORD + 1];
};

/* With a greater exponent every number of at most MATRIX_SCAN_WORD digits is 0, fractional or too
 * large. */
#define EXPONENT_LIMIT 100000

static int parse_exponent(const char *text, long *exponent)
{
    int negative = *text == '-';
    long n = 0;
    if (*text == '-' || *text == '+')
        text++;
    if (*text == '\0')
        return -1;
    for (; is_digit(*text); text++)
        if (n < EXPONENT_LIMIT)
            n = n * 10 + (*text - '0');
    *exponent += negative ? -n : n;
    return *text == '\0' ? 0 : -1;
}

static int parse_decimal(const char *text, struct decimal *d)
{
    d->negative = *text == '-';
    d->exponent = 0;
    d->length = 0;
    if (*text == '-' || *text == '+')
        text++;
    int point = 0;
    for (; is_digit(*text) || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = 1;
        } else {
            d->digits[d->length++] = *text;
            d->exponent -= point;
        }
    }
    if (d->length == 0)
        return -1;
    if (*text == 'e' || *text == 'E')
        return parse_exponent(text + 1, &d->exponent);
    return *text == '\0' ? 0 : -1;
}

static void drop_trailing_zeros(struct decimal *d)
{
    while (d->length > 0 && d->digits[d->length - 1] == '0') {
        d->length--;
        d->exponent++;
    }
}

/* strtod depends on the locale, and a double does not represent every int64. */
int matrix_scan_real(matrix_scan *scan, const char *what, int64_t *number)
{
    struct decimal d;
    int64_t n = 0;
    int rc = next_word(scan, what);
    if (rc != 0)
        return rc;
    if (parse_decimal(scan->word, &d) != 0)
        return matrix_scan_unexpected(scan, what);
    drop_trailing_zeros(&d);
    if (d.length > 0 && d.exponent < 0)
        return matrix_refuse(scan->error, scan->word_line, "%s is not whole: %s", what, scan->word);
    for (size_t i = 0; i < d.length; i++)
        if (append_digit(&n, d.digits[i] - '0'))
            return beyond(scan, what);
    for (; n != 0 && d.exponent > 0; d.exponent--)
        if (append_digit(&n, 0))
            return beyond(scan, what);
    return apply_sign(n, d.negative, number) ? beyond(scan, what) : 0;
}

static int is_infinite(const char *word)
{
    word += *word == '+';
    return strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0;
}

int matrix_scan_double(matrix_scan *scan, locale_t c, const char *what, double *number)
{
    struct decimal d;
    int rc = next_word(scan, what);
    if (rc != 0)
        return rc;
    if (is_infinite(scan->word)) {
        *number = INFINITY;
        return 0;
    }
    if (parse_decimal(scan->word, &d) != 0)
        return matrix_scan_unexpected(scan, what);
    *number = strtod_l(scan->word, NULL, c);
    if (isinf(*number))
        return matrix_refuse(scan->error, scan->word_line, "%s is beyond a double: %s", what,
                             scan->word);
    return 0;
}
