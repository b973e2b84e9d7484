/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market exchange files: https://math.nist.gov/MatrixMarket/formats.html */
#include "base/memory.h"
#include "matrix/market.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- banner, comments, sizes ---- */

/* The words of the banner after the first. */
static const struct {
    const char *what, *choice[6]; /* ends with NULL */
} banner[] = {{"object", {"matrix"}},
              {"format", {"coordinate", "array"}},
              {"field", {"integer", "unsigned-integer", "real", "double", "pattern"}},
              {"symmetry", {"general", "symmetric"}}};

/* Reads the next word, which must be a choice of that one of the banner. */
static int read_banner_word(matrix_scan *scan, size_t word, size_t *choice)
{
    const char *const *known = banner[word].choice;
    int rc = matrix_scan_word(scan);
    if (rc != 0)
        return rc;
    for (*choice = 0; scan->word_line == 1 && known[*choice] != NULL; (*choice)++)
        if (strcasecmp(scan->word, known[*choice]) == 0)
            return 0;
    return matrix_refuse(scan->error, 1, "Matrix Market %s '%.40s' is not supported",
                         banner[word].what, scan->word_line == 1 ? scan->word : "");
}

static int read_banner(matrix_scan *scan, market_layout *layout)
{
    static const market_field fields[] = {MARKET_INTEGER, MARKET_INTEGER, MARKET_REAL, MARKET_REAL,
                                          MARKET_PATTERN};
    size_t choice[4];
    int rc = matrix_scan_word(scan);
    if (rc != 0)
        return rc;
    if (scan->word_length == 0)
        return matrix_refuse(scan->error, 0, "the file is empty");
    if (strcmp(scan->word, "%%MatrixMarket") != 0 || scan->word_line != 1)
        return matrix_refuse(scan->error, scan->word_line, "does not begin with %%%%MatrixMarket");
    for (size_t k = 0; rc == 0 && k < 4; k++)
        rc = read_banner_word(scan, k, &choice[k]);
    if (rc != 0)
        return rc;
    layout->array = choice[1] == 1;
    layout->field = fields[choice[2]];
    layout->symmetric = choice[3] == 1;
    if (layout->array && layout->field == MARKET_PATTERN)
        return matrix_refuse(scan->error, 1, "an array cannot be a pattern");
    return 0;
}

/* The values of an array: all, or a triangle with its diagonal. */
static int count_array_values(market_layout *layout)
{
    if (!layout->symmetric)
        return __builtin_mul_overflow(layout->rows, layout->cols, &layout->stored);
    if (__builtin_mul_overflow(layout->rows, layout->cols + 1, &layout->stored))
        return 1;
    layout->stored /= 2;
    return 0;
}

static int market_check_extent(matrix_scan *scan, size_t extent, const char *what)
{
    if (extent > MATRIX_MARKET_FREE_ROWS && extent > scan->length)
        return matrix_refuse(scan->error, scan->word_line, "%zu %s in a file of %" PRIu64 " bytes",
                             extent, what, scan->length);
    return 0;
}

/* A number takes a separator and a digit. */
static int check_market_length(matrix_scan *scan, const market_layout *layout)
{
    size_t numbers = layout->array ? 1 : layout->field == MARKET_PATTERN ? 2 : 3;
    size_t bytes;
    if (__builtin_mul_overflow(layout->stored, 2 * numbers, &bytes) ||
        bytes > matrix_scan_left(scan))
        return matrix_refuse(scan->error, scan->word_line,
                             "%zu entries cannot be in a file of %" PRIu64 " bytes", layout->stored,
                             scan->length);
    int rc = market_check_extent(scan, layout->rows, "rows");
    return rc == 0 ? market_check_extent(scan, layout->cols, "columns") : rc;
}

static int read_market_sizes(matrix_scan *scan, market_layout *layout)
{
    int rc = matrix_scan_count(scan, "the number of rows", &layout->rows);
    if (rc == 0)
        rc = matrix_scan_count(scan, "the number of columns", &layout->cols);
    if (rc == 0 && !layout->array)
        rc = matrix_scan_count(scan, "the number of entries", &layout->stored);
    if (rc != 0)
        return rc;
    if (layout->symmetric && layout->rows != layout->cols)
        return matrix_refuse(scan->error, scan->word_line,
                             "a symmetric matrix of %zu rows and %zu columns", layout->rows,
                             layout->cols);
    if (layout->array && count_array_values(layout))
        return matrix_refuse(scan->error, scan->word_line, "%zu times %zu is beyond 64 bits",
                             layout->rows, layout->cols);
    return check_market_length(scan, layout);
}

/* ---- the entries ---- */

static int add_to_sink(const market_sink *sink, const market_layout *layout, size_t row, size_t col,
                       market_number value)
{
    int rc = sink->add(sink->context, row, col, value);
    if (rc == 0 && layout->symmetric && row != col)
        rc = sink->add(sink->context, col, row, value);
    return rc;
}

/* Entries of a pattern have the value 1. */
static int read_value(matrix_scan *scan, const market_sink *sink, market_field field,
                      market_number *value)
{
    if (field == MARKET_INTEGER)
        return matrix_scan_number(scan, "a value", &value->whole);
    if (field == MARKET_REAL)
        return sink->read_real(sink->context, scan, value);
    value->whole = 1;
    return 0;
}

/* Reads a 1-based index, and returns a 0-based one. */
static int read_index(matrix_scan *scan, const char *what, size_t limit, size_t *index)
{
    size_t n;
    int rc = matrix_scan_count(scan, what, &n);
    if (rc != 0)
        return rc;
    if (n < 1 || n > limit)
        return matrix_refuse(scan->error, scan->word_line, "%s is %zu, not in 1..%zu", what, n,
                             limit);
    *index = n - 1;
    return 0;
}

static int read_coordinates(matrix_scan *scan, const market_layout *layout, const market_sink *sink)
{
    for (size_t i = 0; i < layout->stored; i++) {
        size_t row = 0, col = 0;
        market_number value;
        int rc = read_index(scan, "a row", layout->rows, &row);
        if (rc == 0)
            rc = read_index(scan, "a column", layout->cols, &col);
        if (rc == 0)
            rc = read_value(scan, sink, layout->field, &value);
        if (rc == 0)
            rc = add_to_sink(sink, layout, row, col, value);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* Column by column; of a symmetric one, the part on and below the diagonal. */
static int read_array(matrix_scan *scan, const market_layout *layout, const market_sink *sink)
{
    /* Without rows there are no values, whatever the number of columns. */
    for (size_t col = 0; layout->rows > 0 && col < layout->cols; col++) {
        for (size_t row = layout->symmetric ? col : 0; row < layout->rows; row++) {
            market_number value;
            int rc = read_value(scan, sink, layout->field, &value);
            if (rc == 0)
                rc = add_to_sink(sink, layout, row, col, value);
            if (rc != 0)
                return rc;
        }
    }
    return 0;
}

static int read_market_end(matrix_scan *scan)
{
    int rc = matrix_scan_word(scan);
    if (rc == 0 && scan->word_length > 0)
        rc = matrix_refuse(scan->error, scan->word_line, "more text after the last entry");
    return rc;
}

int market_read(matrix_scan *scan, const market_sink *sink, char **comments)
{
    market_layout layout = {0};
    char *text = NULL;
    int rc = read_banner(scan, &layout);
    if (rc == 0)
        rc = matrix_scan_comments(scan, &text);
    if (rc == 0)
        rc = read_market_sizes(scan, &layout);
    if (rc == 0)
        rc = sink->begin(sink->context, scan, &layout);
    if (rc == 0)
        rc = (layout.array ? read_array : read_coordinates)(scan, &layout, sink);
    if (rc == 0)
        rc = read_market_end(scan);
    if (rc != 0 || comments == NULL)
        free(text);
    else
        *comments = text;
    return rc;
}

/* ---- a matrix of integers ---- */

/* Entries as read; allocated once for all of them. */
struct collection {
    matrix_entry *entries;
    size_t count;
    size_t rows, cols;
    int array;
    matrix_scan *scan;
};

static int begin_collection(void *context, matrix_scan *scan, const market_layout *layout)
{
    struct collection *c = context;
    size_t capacity;
    c->scan = scan;
    c->rows = layout->rows;
    c->cols = layout->cols;
    c->array = layout->array;
    if (__builtin_mul_overflow(layout->stored, layout->symmetric ? 2 : 1, &capacity))
        return -ENOMEM;
    c->entries = base_alloc(capacity, sizeof *c->entries);
    return c->entries != NULL ? 0 : -ENOMEM;
}

static int collect_entry(void *context, size_t row, size_t col, market_number value)
{
    struct collection *c = context;
    if (value.whole < 0)
        return matrix_refuse(c->scan->error, c->scan->word_line, "a value is negative: %s",
                             c->scan->word);
    if (value.whole != 0 || !c->array)
        c->entries[c->count++] = (matrix_entry){row, col, value.whole};
    return 0;
}

static int read_whole_real(void *context, matrix_scan *scan, market_number *value)
{
    (void)context;
    return matrix_scan_real(scan, "a value", &value->whole);
}

int market_scan_matrix(matrix_scan *scan, matrix *m, char **comments)
{
    struct collection c = {0};
    const market_sink sink = {&c, begin_collection, read_whole_real, collect_entry};
    char *text = NULL;
    int rc = market_read(scan, &sink, &text);
    if (rc == 0)
        rc = matrix_from_entries(m, c.rows, c.cols, c.entries, c.count);
    if (rc == -ERANGE)
        rc = matrix_refuse(scan->error, 0, "entries of one place add up beyond 64 bits");
    free(c.entries);
    if (rc != 0 || comments == NULL)
        free(text);
    else
        *comments = text;
    return rc;
}

int matrix_read_market(FILE *stream, matrix *m, char **comments, matrix_error *error)
{
    matrix_scan scan;
    int rc = matrix_scan_init(&scan, stream, error);
    return rc == 0 ? market_scan_matrix(&scan, m, comments) : rc;
}

int matrix_write_market(FILE *stream, const matrix *m, const char *comments)
{
    size_t nnz = matrix_entries(m);
    fputs("%%MatrixMarket matrix coordinate integer general\n", stream);
    matrix_write_comments(stream, comments);
    fprintf(stream, "%zu %zu %zu\n", m->rows, m->cols, nnz);
    for (size_t row = 0; nnz > 0 && row < m->rows; row++)
        for (size_t i = m->row_start[row]; i < m->row_start[row + 1]; i++)
            fprintf(stream, "%zu %zu %" PRId64 "\n", row + 1, m->col[i] + 1, m->value[i]);
    return matrix_finish_writing(stream);
}
