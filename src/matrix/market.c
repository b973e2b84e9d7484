/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market exchange files: https://math.nist.gov/MatrixMarket/formats.html */
#include "matrix/comments.h"
#include "matrix/scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef int (*read_value_fn)(matrix_scan *scan, const char *what, int64_t *value);

/* What banner and sizes say. */
struct layout {
    int array;
    int symmetric;
    read_value_fn read_value;
    size_t rows, cols;
    size_t stored; /* entries in the file */
};

/* Entries as they are collected; room for every one of them is taken at once. */
struct collection {
    matrix_entry *entries;
    size_t count;
};

/* A pattern has no values: a place that is named holds a 1. */
static int read_pattern(matrix_scan *scan, const char *what, int64_t *value)
{
    (void)scan;
    (void)what;
    *value = 1;
    return 0;
}

/* The next word of the banner, which must be one of the NULL-closed list. */
static int read_choice(matrix_scan *scan, const char *what, const char *const *choices,
                       size_t *choice)
{
    int rc = matrix_scan_word(scan);
    if (rc != 0)
        return rc;
    for (*choice = 0; scan->word_line == 1 && choices[*choice] != NULL; (*choice)++)
        if (strcasecmp(scan->word, choices[*choice]) == 0)
            return 0;
    return matrix_scan_refuse(scan, 1, "Matrix Market %s '%.40s' is not supported", what,
                              scan->word_line == 1 ? scan->word : "");
}

static int read_banner(matrix_scan *scan, struct layout *layout)
{
    static const char *const objects[] = {"matrix", NULL};
    static const char *const formats[] = {"coordinate", "array", NULL};
    static const char *const fields[] = {"integer", "real", "double", "pattern", NULL};
    static const read_value_fn readers[] = {matrix_scan_number, matrix_scan_real,
                                            matrix_scan_real, read_pattern};
    static const char *const symmetries[] = {"general", "symmetric", NULL};
    size_t object, format, field, symmetry;
    int rc = matrix_scan_word(scan);
    if (rc != 0)
        return rc;
    if (scan->word_length == 0)
        return matrix_scan_refuse(scan, 0, "the file is empty");
    if (strcmp(scan->word, "%%MatrixMarket") != 0 || scan->word_line != 1)
        return matrix_scan_refuse(scan, scan->word_line, "does not begin with %%%%MatrixMarket");
    rc = read_choice(scan, "object", objects, &object);
    if (rc == 0)
        rc = read_choice(scan, "format", formats, &format);
    if (rc == 0)
        rc = read_choice(scan, "field", fields, &field);
    if (rc == 0)
        rc = read_choice(scan, "symmetry", symmetries, &symmetry);
    if (rc != 0)
        return rc;
    layout->array = format == 1;
    layout->symmetric = symmetry == 1;
    layout->read_value = readers[field];
    if (layout->array && layout->read_value == read_pattern)
        return matrix_scan_refuse(scan, 1, "an array cannot be a pattern");
    return 0;
}

/* Copies one comment line without its '%' and '\r' to `out`. */
static int copy_comment(matrix_scan *scan, FILE *out)
{
    matrix_scan_next(scan);
    for (int c = matrix_scan_next(scan); c != '\n' && c != EOF; c = matrix_scan_next(scan)) {
        if (c == '\0')
            return matrix_scan_refuse(scan, scan->line, "a NUL byte");
        if (c != '\r')
            putc_unlocked(c, out);
    }
    putc_unlocked('\n', out);
    return matrix_scan_failure(scan);
}

static int read_comments(matrix_scan *scan, char **comments)
{
    size_t length;
    int rc = 0;
    *comments = NULL;
    FILE *out = open_memstream(comments, &length);
    if (out == NULL)
        return -ENOMEM;
    while (rc == 0 && matrix_scan_at_comment(scan))
        rc = copy_comment(scan, out);
    /* A memory stream fails for want of memory only. */
    int failed = ferror(out);
    if ((fclose(out) != 0 || failed) && rc == 0)
        rc = -ENOMEM;
    if (rc != 0) {
        free(*comments);
        *comments = NULL;
    }
    return rc;
}

/* Values of an array: all of them, or a triangle with its diagonal. */
static int count_array(struct layout *layout)
{
    size_t others = layout->cols;
    if (!layout->symmetric)
        return __builtin_mul_overflow(layout->rows, others, &layout->stored);
    if (__builtin_mul_overflow(layout->rows, others + 1, &layout->stored))
        return 1;
    layout->stored /= 2;
    return 0;
}

/* A number takes a separator and a digit. */
static int check_length(matrix_scan *scan, const struct layout *layout)
{
    size_t numbers = layout->array ? 1 : layout->read_value == read_pattern ? 2 : 3;
    size_t bytes;
    if (__builtin_mul_overflow(layout->stored, 2 * numbers, &bytes) ||
        bytes > matrix_scan_left(scan))
        return matrix_scan_refuse(scan, scan->word_line, "%zu entries cannot be in a file of %"
                                  PRIu64 " bytes", layout->stored, scan->length);
    if (layout->rows > MATRIX_MARKET_FREE_ROWS && layout->rows > scan->length)
        return matrix_scan_refuse(scan, scan->word_line, "%zu rows in a file of %" PRIu64
                                  " bytes", layout->rows, scan->length);
    return 0;
}

static int read_sizes(matrix_scan *scan, struct layout *layout)
{
    int rc = matrix_scan_count(scan, "the number of rows", &layout->rows);
    if (rc == 0)
        rc = matrix_scan_count(scan, "the number of columns", &layout->cols);
    if (rc == 0 && !layout->array)
        rc = matrix_scan_count(scan, "the number of entries", &layout->stored);
    if (rc != 0)
        return rc;
    if (layout->symmetric && layout->rows != layout->cols)
        return matrix_scan_refuse(scan, scan->word_line,
                                  "a symmetric matrix of %zu rows and %zu columns", layout->rows,
                                  layout->cols);
    if (layout->array && count_array(layout))
        return matrix_scan_refuse(scan, scan->word_line, "%zu times %zu is beyond 64 bits",
                                  layout->rows, layout->cols);
    return check_length(scan, layout);
}

static void collect(struct collection *c, const struct layout *layout, size_t row, size_t col,
                    int64_t value)
{
    c->entries[c->count++] = (matrix_entry){row, col, value};
    if (layout->symmetric && row != col)
        c->entries[c->count++] = (matrix_entry){col, row, value};
}

/* A 1-based index, made 0-based. */
static int read_index(matrix_scan *scan, const char *what, size_t limit, size_t *index)
{
    size_t n;
    int rc = matrix_scan_count(scan, what, &n);
    if (rc != 0)
        return rc;
    if (n < 1 || n > limit)
        return matrix_scan_refuse(scan, scan->word_line, "%s is %zu, not in 1..%zu", what, n,
                                  limit);
    *index = n - 1;
    return 0;
}

static int read_coordinates(matrix_scan *scan, const struct layout *layout, struct collection *c)
{
    for (size_t i = 0; i < layout->stored; i++) {
        size_t row = 0, col = 0;
        int64_t value = 0;
        int rc = read_index(scan, "a row", layout->rows, &row);
        if (rc == 0)
            rc = read_index(scan, "a column", layout->cols, &col);
        if (rc == 0)
            rc = layout->read_value(scan, "a value", &value);
        if (rc != 0)
            return rc;
        collect(c, layout, row, col, value);
    }
    return 0;
}

/* Column by column; of a symmetric one, the part on and below the diagonal. */
static int read_array(matrix_scan *scan, const struct layout *layout, struct collection *c)
{
    /* Without rows there is nothing in any number of columns. */
    for (size_t col = 0; layout->rows > 0 && col < layout->cols; col++) {
        for (size_t row = layout->symmetric ? col : 0; row < layout->rows; row++) {
            int64_t value;
            int rc = layout->read_value(scan, "a value", &value);
            if (rc != 0)
                return rc;
            if (value != 0)
                collect(c, layout, row, col, value);
        }
    }
    return 0;
}

static int read_end(matrix_scan *scan)
{
    int rc = matrix_scan_word(scan);
    if (rc == 0 && scan->word_length > 0)
        rc = matrix_scan_refuse(scan, scan->word_line, "more text after the last entry");
    return rc;
}

static int allocate_collection(struct collection *c, const struct layout *layout)
{
    size_t most, bytes;
    c->count = 0;
    if (__builtin_mul_overflow(layout->stored, layout->symmetric ? 2 : 1, &most) ||
        __builtin_mul_overflow(most, sizeof *c->entries, &bytes))
        return -ENOMEM;
    c->entries = malloc(bytes > 0 ? bytes : 1);
    return c->entries != NULL ? 0 : -ENOMEM;
}

static int build(matrix_scan *scan, const struct layout *layout, struct collection *c, matrix *m)
{
    int rc = matrix_from_entries(m, layout->rows, layout->cols, c->entries, c->count);
    if (rc == -ERANGE)
        rc = matrix_scan_refuse(scan, 0, "entries of one place add up beyond 64 bits");
    return rc;
}

static int read_entries(matrix_scan *scan, const struct layout *layout, matrix *m)
{
    struct collection c;
    int rc = allocate_collection(&c, layout);
    if (rc != 0)
        return rc;
    rc = layout->array ? read_array(scan, layout, &c) : read_coordinates(scan, layout, &c);
    if (rc == 0)
        rc = read_end(scan);
    if (rc == 0)
        rc = build(scan, layout, &c, m);
    free(c.entries);
    return rc;
}

int matrix_read_market(FILE *stream, matrix *m, char **comments, matrix_error *error)
{
    matrix_scan scan;
    struct layout layout = {0};
    char *text = NULL;
    int rc = matrix_scan_init(&scan, stream, error);
    if (rc == 0)
        rc = read_banner(&scan, &layout);
    if (rc == 0)
        rc = read_comments(&scan, &text);
    if (rc == 0)
        rc = read_sizes(&scan, &layout);
    if (rc == 0)
        rc = read_entries(&scan, &layout, m);
    if (rc != 0 || comments == NULL)
        free(text);
    else
        *comments = text;
    return rc;
}

int matrix_write_market(FILE *stream, const matrix *m, const char *comments)
{
    size_t nnz = m->row_start != NULL ? m->row_start[m->rows] : 0;
    fputs("%%MatrixMarket matrix coordinate integer general\n", stream);
    matrix_write_comments(stream, comments);
    fprintf(stream, "%zu %zu %zu\n", m->rows, m->cols, nnz);
    for (size_t row = 0; nnz > 0 && row < m->rows; row++)
        for (size_t i = m->row_start[row]; i < m->row_start[row + 1]; i++)
            fprintf(stream, "%zu %zu %" PRId64 "\n", row + 1, m->col[i] + 1, m->value[i]);
    return matrix_finish_writing(stream);
}
