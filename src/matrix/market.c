/* SPDX-License-Identifier: BSD-3-Clause */
/* Matrix Market exchange files: https://math.nist.gov/MatrixMarket/formats.html */
#include "base/memory.h"
#include "matrix/market.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

/* ---- banner, comments, sizes ---- */

/* The words of the banner after the first. */
enum { OBJECT, FORMAT, FIELD, SYMMETRY };
static const struct {
    const char *what, *choice[6]; /* ends with NULL */
} banner[] = {{"object", {"matrix"}},
              {"format", {"coordinate", "array"}},
              {"field", {"integer", "unsigned-integer", "real", "double", "pattern"}},
              {"symmetry", {"general", "symmetric"}}};

/* Reads the next word, and returns which choice of that word of the banner it is. */
static size_t read_banner_word(matrix_scan *scan, size_t word)
{
    const char *const *known = banner[word].choice;
    size_t choice = 0;
    matrix_scan_word(scan);
    while (known[choice] != NULL && strcasecmp(scan->word, known[choice]) != 0)
        choice++;
    SCAN_EXPECT_AT(scan, 1, scan->word_line == 1 && known[choice] != NULL,
                   "Matrix Market %s '%.40s' is not supported", banner[word].what,
                   scan->word_line == 1 ? scan->word : "");
    return choice;
}

static void read_banner(matrix_scan *scan, market_file *f)
{
    matrix_scan_word(scan);
    SCAN_EXPECT_AT(scan, 0, scan->word_length > 0, "the file is empty");
    SCAN_EXPECT(scan, strcmp(scan->word, "%%MatrixMarket") == 0 && scan->word_line == 1,
                "does not begin with %%%%MatrixMarket");
    (void)read_banner_word(scan, OBJECT);
    f->array = read_banner_word(scan, FORMAT) == 1;
    size_t field = read_banner_word(scan, FIELD);
    f->decimals = field == 2 || field == 3;
    f->real = f->decimals && !f->weights;
    f->pattern = field == 4;
    f->symmetric = read_banner_word(scan, SYMMETRY) == 1;
    SCAN_EXPECT_AT(scan, 1, !f->array || !f->pattern, "an array cannot be a pattern");
}

/* The numbers of an array: all, or a triangle with its diagonal. False: beyond 64 bits. */
static bool count_stored(market_file *f)
{
    if (__builtin_mul_overflow(f->costs.rows, f->costs.cols + f->symmetric, &f->stored))
        return false;
    f->stored /= f->symmetric ? 2 : 1;
    return true;
}

static void check_extent(matrix_scan *scan, size_t extent, const char *what)
{
    SCAN_EXPECT(scan, extent <= MATRIX_MARKET_FREE_ROWS || extent <= scan->length,
                "%zu %s in a file of %" PRIu64 " bytes", extent, what, scan->length);
}

static void read_market_sizes(matrix_scan *scan, market_file *f)
{
    matrix_costs *c = &f->costs;
    c->rows = matrix_scan_count(scan, "the number of rows");
    c->cols = matrix_scan_count(scan, "the number of columns");
    if (!f->array)
        f->stored = matrix_scan_count(scan, "the number of entries");
    SCAN_EXPECT(scan, !f->symmetric || c->rows == c->cols,
                "a symmetric matrix of %zu rows and %zu columns", c->rows, c->cols);
    SCAN_EXPECT(scan, !f->array || count_stored(f), "%zu times %zu is beyond 64 bits", c->rows,
                c->cols);
    SCAN_EXPECT(scan,
                matrix_scan_holds(scan, f->stored,
                                  f->array     ? 1
                                  : f->pattern ? 2
                                               : 3,
                                  0),
                "%zu entries cannot be in a file of %" PRIu64 " bytes", f->stored, scan->length);
    check_extent(scan, c->rows, "rows");
    check_extent(scan, c->cols, "columns");
}

/* ---- the entries ---- */

static int allocate_entries(market_file *f)
{
    size_t count;
    int rc = 0;
    if (f->array ? __builtin_mul_overflow(f->costs.rows, f->costs.cols, &count)
                 : __builtin_mul_overflow(f->stored, f->symmetric ? 2 : 1, &count))
        return -ENOMEM;
    if (!f->array || f->weights)
        f->entry = base_zeroed(count, sizeof *f->entry, &rc);
    else if (f->real)
        f->costs.real = base_zeroed(count, sizeof *f->costs.real, &rc);
    else
        f->costs.whole = base_zeroed(count, sizeof *f->costs.whole, &rc);
    return rc;
}

static void market_add_entry(market_file *f, matrix_entry entry)
{
    if (f->array && f->weights && entry.value == 0)
        return;
    if (!f->array || f->weights)
        f->entry[f->entries++] = entry;
    else if (f->real)
        f->costs.real[entry.col * f->costs.rows + entry.row] = market_real(&entry);
    else
        f->costs.whole[entry.col * f->costs.rows + entry.row] = entry.value;
}

static void read_entry(matrix_scan *scan, market_file *f, size_t row, size_t col)
{
    int64_t value = 1;
    double real = f->real ? matrix_scan_double(scan, "a cost") : 0.0;
    if (f->real)
        memcpy(&value, &real, sizeof value);
    else if (!f->pattern)
        value = (f->decimals ? matrix_scan_real : matrix_scan_number)(scan, "a value");
    SCAN_EXPECT(scan, !f->weights || value >= 0, "a value is negative: %s", scan->word);
    if (scan->rc == 0)
        market_add_entry(f, (matrix_entry){row, col, value});
    if (scan->rc == 0 && f->symmetric && row != col)
        market_add_entry(f, (matrix_entry){col, row, value});
}

/* Reads a 1-based index, and returns a 0-based one. */
static size_t read_index(matrix_scan *scan, const char *what, size_t limit)
{
    size_t n = matrix_scan_count(scan, what);
    SCAN_EXPECT(scan, n >= 1 && n <= limit, "%s is %zu, not in 1..%zu", what, n, limit);
    return n - 1;
}

static void read_coordinates(matrix_scan *scan, market_file *f)
{
    for (size_t i = 0; i < f->stored && scan->rc == 0; i++) {
        size_t row = read_index(scan, "a row", f->costs.rows);
        size_t col = read_index(scan, "a column", f->costs.cols);
        read_entry(scan, f, row, col);
    }
}

/* Column by column; of a symmetric one, the part on and below the diagonal. Without rows there are
 * no values, whatever the number of columns. */
static void read_array(matrix_scan *scan, market_file *f)
{
    size_t rows = f->costs.rows, cols = rows > 0 ? f->costs.cols : 0;
    for (size_t col = 0; col < cols && scan->rc == 0; col++)
        for (size_t row = f->symmetric ? col : 0; row < rows && scan->rc == 0; row++)
            read_entry(scan, f, row, col);
}

void market_scan(matrix_scan *scan, market_file *f)
{
    read_banner(scan, f);
    f->comments = matrix_scan_comments(scan);
    read_market_sizes(scan, f);
    if (scan->rc == 0)
        matrix_scan_fail(scan, allocate_entries(f));
    if (scan->rc == 0)
        (f->array ? read_array : read_coordinates)(scan, f);
    matrix_scan_word(scan);
    SCAN_EXPECT(scan, scan->word_length == 0, "more text after the last entry");
}

void matrix_costs_release(matrix_costs *costs)
{
    free(costs->start);
    free(costs->row);
    free(costs->whole);
    free(costs->real);
    *costs = (matrix_costs){0};
}

void market_release(market_file *f)
{
    matrix_costs_release(&f->costs);
    free(f->entry);
    free(f->comments);
}

/* ---- a matrix of integers ---- */

void market_scan_matrix(matrix_scan *scan, matrix *m, char **comments)
{
    market_file f = {.weights = true};
    int rc = 0;
    market_scan(scan, &f);
    if (scan->rc == 0)
        rc = matrix_from_entries(m, f.costs.rows, f.costs.cols, f.entry, f.entries);
    SCAN_EXPECT_AT(scan, 0, rc != -ERANGE, "entries of one place add up beyond 64 bits");
    matrix_scan_fail(scan, rc);
    if (scan->rc == 0) {
        *comments = f.comments;
        f.comments = NULL;
    }
    market_release(&f);
}

int matrix_read_market(FILE *stream, matrix *m, char **comments, matrix_error *error)
{
    matrix_scan scan;
    char *text = NULL;
    matrix_scan_init(&scan, stream, error);
    market_scan_matrix(&scan, m, &text);
    if (comments == NULL || scan.rc != 0)
        free(text);
    else
        *comments = text;
    return scan.rc;
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
