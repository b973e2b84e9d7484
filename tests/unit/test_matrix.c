/* SPDX-License-Identifier: BSD-3-Clause */
/* src/matrix: building, looking up, and both file formats with good and bad text. */
#include "matrix/view_file.h"

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

typedef int (*read_fn)(FILE *stream, matrix *m, matrix_error *error);

static int read_market_only(FILE *stream, matrix *m, matrix_error *error)
{
    return matrix_read_market(stream, m, NULL, error);
}

static int read_fileview(FILE *stream, matrix *m, matrix_error *error)
{
    view_file f;
    int rc = view_file_read(stream, &f, error);
    if (rc != 0)
        return rc;
    *m = f.view;
    f.view = (matrix){0};
    view_file_release(&f);
    return 0;
}

static int write_fileview(FILE *stream, const matrix *m, const char *comments)
{
    view_file f = {.view = *m, .comments = (char *)(uintptr_t)comments};
    return view_file_write(stream, &f);
}

static FILE *open_text(const char *text, size_t length)
{
    FILE *stream = tmpfile();
    ck_assert_ptr_nonnull(stream);
    ck_assert_uint_eq(fwrite(text, 1, length, stream), length);
    rewind(stream);
    return stream;
}

static int read_text(read_fn reader, const char *text, size_t length, matrix *m, matrix_error *e)
{
    FILE *stream = open_text(text, length);
    int rc = reader(stream, m, e);
    fclose(stream);
    return rc;
}

static matrix read_good(read_fn reader, const char *text)
{
    matrix m = {0};
    matrix_error error = {0};
    int rc = read_text(reader, text, strlen(text), &m, &error);
    ck_assert_msg(rc == 0, "%d, line %zu: %s", rc, error.line, error.reason);
    return m;
}

/* Compares with values[i * cols + j]. */
static void assert_values(const matrix *m, size_t rows, size_t cols, const int64_t *values)
{
    ck_assert_uint_eq(m->rows, rows);
    ck_assert_uint_eq(m->cols, cols);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            ck_assert_int_eq(matrix_get(m, i, j), values[i * cols + j]);
}

static void assert_equal(const matrix *a, const matrix *b)
{
    ck_assert_uint_eq(a->rows, b->rows);
    ck_assert_uint_eq(a->cols, b->cols);
    ck_assert_mem_eq(a->row_start, b->row_start, (a->rows + 1) * sizeof *a->row_start);
    size_t nnz = a->row_start[a->rows];
    for (size_t i = 0; i < nnz; i++) {
        ck_assert_uint_eq(a->col[i], b->col[i]);
        ck_assert_int_eq(a->value[i], b->value[i]);
    }
}

/* --- compressed rows --- */

/* Columns ascend in each row. */
static void assert_sorted(const matrix *m)
{
    for (size_t row = 0; row < m->rows; row++)
        for (size_t k = m->row_start[row] + 1; k < m->row_start[row + 1]; k++)
            ck_assert_uint_lt(m->col[k - 1], m->col[k]);
}

START_TEST(random_entries_equal_a_dense_model)
{
    uint64_t seed = first_seed() + (uint64_t)_i;
    enum { ROWS = 7, COLS = 5, MOST = 60 };
    int64_t model[ROWS * COLS] = {0}, sum = 0, found;
    matrix_entry entries[MOST];
    size_t count = next_random(&seed) % (MOST + 1);
    for (size_t k = 0; k < count; k++) {
        entries[k] = (matrix_entry){next_random(&seed) % ROWS, next_random(&seed) % COLS,
                                    (int64_t)(next_random(&seed) % 100) - 50};
        model[entries[k].row * COLS + entries[k].col] += entries[k].value;
        sum += entries[k].value;
    }
    matrix m;
    ck_assert_int_eq(matrix_from_entries(&m, ROWS, COLS, entries, count), 0);
    assert_values(&m, ROWS, COLS, model);
    assert_sorted(&m);
    ck_assert_int_eq(matrix_sum(&m, &found), 0);
    ck_assert_int_eq(found, sum);
    matrix_release(&m);
}
END_TEST

START_TEST(bad_entries_leave_the_output_alone)
{
    matrix untouched = {.rows = 99};
    matrix_entry row[] = {{3, 0, 1}}, col[] = {{0, 2, 1}};
    matrix_entry large[] = {{1, 1, INT64_MAX}, {1, 1, 1}};
    ck_assert_int_eq(matrix_from_entries(&untouched, 3, 2, row, 1), -EINVAL);
    ck_assert_int_eq(matrix_from_entries(&untouched, 3, 2, col, 1), -EINVAL);
    ck_assert_int_eq(matrix_from_entries(&untouched, 3, 2, large, 2), -ERANGE);
    ck_assert_uint_eq(untouched.rows, 99);
    ck_assert_ptr_null(untouched.row_start);
}
END_TEST

START_TEST(only_the_sum_itself_must_fit)
{
    matrix_entry place[] = {{0, 0, INT64_MAX}, {0, 0, INT64_MAX}, {0, 0, INT64_MIN}};
    matrix_entry wide[] = {{0, 0, INT64_MAX}, {0, 1, INT64_MAX}, {1, 0, INT64_MIN}};
    matrix m;
    int64_t sum = 5;
    ck_assert_int_eq(matrix_from_entries(&m, 1, 1, place, 3), 0);
    ck_assert_int_eq(matrix_get(&m, 0, 0), INT64_MAX - 1);
    matrix_release(&m);
    ck_assert_int_eq(matrix_from_entries(&m, 2, 2, wide, 3), 0);
    ck_assert_int_eq(matrix_sum(&m, &sum), 0);
    ck_assert_int_eq(sum, INT64_MAX - 1);
    m.value[2] = 0;
    ck_assert_int_eq(matrix_sum(&m, &sum), -ERANGE);
    ck_assert_int_eq(sum, INT64_MAX - 1);
    matrix_release(&m);
}
END_TEST

START_TEST(empty_matrices)
{
    matrix m, zeroed = {0};
    int64_t sum = 1;
    ck_assert_int_eq(matrix_from_entries(&m, 0, 0, NULL, 0), 0);
    ck_assert_int_eq(matrix_sum(&m, &sum), 0);
    ck_assert_int_eq(sum, 0);
    matrix_release(&m);
    matrix_release(&m);
    matrix_release(&zeroed);
    ck_assert_ptr_null(zeroed.row_start);
    ck_assert_int_eq(matrix_sum(&zeroed, &sum), 0);
    ck_assert_int_eq(matrix_allocate(&zeroed, SIZE_MAX, 1, 1), -ENOMEM);
    ck_assert_ptr_null(zeroed.row_start);
}
END_TEST

/* --- FILEVIEW --- */

/* In the layout of Open MPI 4.1: each number followed by a blank. Not symmetric, to tell rows
 * from columns. */
#define STOCK "FILEVIEW\n5 4\n1 2 0 2 0 \n2 1 2 1 1 \n1 3 5 6 \n"

struct good_text {
    size_t rows, cols;
    int64_t values[9];
    const char *text;
};
#define STOCK_VALUES                                                                               \
    {                                                                                              \
        0, 2, 1, 2, 0, 1, 1, 0, 0                                                                  \
    }

static const struct good_text good_fileviews[] = {
    {3, 3, STOCK_VALUES, STOCK},
    {3, 3, STOCK_VALUES, "FILEVIEW\r\n5 4\r\n1 2 0 2 0\r\n2 1 2 1 1\r\n1 3 5 6"},
    {3, 3, STOCK_VALUES,
     "FILEVIEW\n% format 1\n%\n%% 7 ranks? no\n5 4\n1 2 0 2 0\n2 1 2 1 1\n1 3 5 6\n"},
    {3, 3, STOCK_VALUES, "FILEVIEW 5\n4 1\n2\n0\n2\n0\n2 1 2 1 1 1 3 5 6"},
    {3, 3, STOCK_VALUES, "FILEVIEW\n5 4\n+1 02 0 2 0\n2 1 2 1 1\n1 3 5 6\n\n \t\n"},
    {3, 3, STOCK_VALUES, STOCK "OTHER 1 2 3\n% no part of this version\n-7 \001"},
    {3, 3, {0}, "FILEVIEW\n0 4\n\n\n1 1 1 1 \n"},
    {0, 0, {0}, "FILEVIEW\n0 1\n\n\n1\n"},
    {1, 1, {INT64_MAX}, "FILEVIEW\n1 2\n0\n9223372036854775807\n1 2\n"},
};

static void assert_good(read_fn reader, const struct good_text *good)
{
    matrix m = read_good(reader, good->text);
    ck_assert_uint_eq(m.rows, good->rows);
    ck_assert_uint_eq(m.cols, good->cols);
    if (m.cols < 10)
        assert_values(&m, good->rows, good->cols, good->values);
    matrix_release(&m);
}

START_TEST(good_fileview)
{
    assert_good(read_fileview, &good_fileviews[_i]);
}
END_TEST

struct bad_text {
    const char *text;
    size_t length;
    size_t line;
};
#define BAD(text, line)                                                                            \
    {                                                                                              \
        text, sizeof(text) - 1, line                                                               \
    }
#define FIFTY "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* The beginning of a small file, and the end of it. */
#define COUNTS "FILEVIEW\n5 4\n"
#define COLUMNS COUNTS "1 2 0 2 0\n"
#define VALUES COLUMNS "2 1 2 1 1\n"
#define POINTERS "1 3 5 6\n"
#define FROM_VALUES "2 1 2 1 1\n" POINTERS
#define FROM_COLUMNS "1 2 0 2 0\n" FROM_VALUES

static const struct bad_text bad_fileviews[] = {
    BAD("", 0),
    BAD(" \n\n", 0),
    BAD("fileview\n", 1),
    BAD("\nFILEVIEWS\n", 2),
    BAD("FILEVIEW", 1),
    BAD("FILEVIEW\n% only\n% comments", 3),
    BAD("FILEVIEW\n5\n", 3),
    BAD(COUNTS, 2),
    BAD(VALUES "1 3\n", 2),
    BAD(VALUES "1 3 5\n", 2),
    BAD(COUNTS "1  2  0  2  0\n2 1 2 1 1\n1 3 5\n", 6),
    BAD(COUNTS "1 2 0 2                                        \n", 4),
    BAD(COLUMNS "2 1 2 1                          \n", 5),
    BAD("FILEVIEW\n5 x\n" FROM_COLUMNS, 2),
    BAD(COUNTS "1 2 0 two 0\n" FROM_VALUES, 3),
    BAD(COLUMNS "2 1 2.5 1 1\n" POINTERS, 4),
    BAD(COLUMNS "2 1 - 1 1\n" POINTERS, 4),
    BAD(VALUES "1 3 0x5 6\n", 5),
    BAD(COLUMNS "2 1 \033[2J\377 1 1\n" POINTERS, 4),
    BAD(COLUMNS "2 1 " FIFTY " 1 1\n" POINTERS, 4),
    BAD(COLUMNS "2 1 " FIFTY FIFTY FIFTY " 1 1\n" POINTERS, 4),
    BAD(COLUMNS "2 1 \0002 1 1\n" POINTERS, 4),
    BAD(COLUMNS "2 1 2\000 1 1\n" POINTERS, 4),
    BAD("\000FILEVIEW\n", 1),
    BAD("FILEVIEW\n-5 4\n" FROM_COLUMNS, 2),
    BAD("FILEVIEW\n5 -4\n" FROM_COLUMNS, 2),
    BAD("FILEVIEW\n5 0\n" FROM_COLUMNS, 2),
    BAD(COUNTS "1 2 0 3 0\n" FROM_VALUES, 3),
    BAD(COUNTS "1 2 0 -2 0\n" FROM_VALUES, 3),
    BAD(COLUMNS "2 1 -2 1 1\n" POINTERS, 4),
    BAD(COLUMNS "2 1 9223372036854775808 1 1\n" POINTERS, 4),
    BAD("FILEVIEW\n99999999999999999999 4\n1 2 0 2 0\n", 2),
    BAD("FILEVIEW\n10000000000 17\n" FROM_COLUMNS, 2),
    BAD("FILEVIEW\n5 9223372036854775807\n1 2 0 2 0\n", 2),
    BAD("FILEVIEW\n9223372036854775807 9223372036854775807\n1 2 0 2 0\n", 2),
    BAD(VALUES "0 3 5 6\n", 5),
    BAD(VALUES "2 3 5 6\n", 5),
    BAD(VALUES "1 3 2 6\n", 5),
    BAD(VALUES "1\n3\n5\n7\n", 8),
    BAD(VALUES "1 3 5 5\n", 5),
    BAD(COUNTS "1 2 2 0 0\n" FROM_VALUES, 5),
    BAD(COUNTS "1 1 0 2 0\n" FROM_VALUES, 5),
    BAD(STOCK "7\n", 6),
    BAD(STOCK "rubbish\n", 6),
    BAD(STOCK "Rubbish\n", 6),
    BAD(STOCK "\n ACCESS\n", 7),
    BAD(VALUES "1 3 5 6 ACCESS\n", 5),
    BAD(STOCK "\000", 6),
    BAD(COUNTS "% late\n" FROM_COLUMNS, 3),
    BAD("FILEVIEW % early\n5 4\n" FROM_COLUMNS, 1),
};

static void assert_refused(read_fn reader, const struct bad_text *bad)
{
    matrix m = {.rows = 99};
    matrix_error error = {.line = 77};
    ck_assert_int_eq(read_text(reader, bad->text, bad->length, &m, &error), -EBADMSG);
    ck_assert_uint_eq(error.line, bad->line);
    check_printable(error.reason);
    ck_assert_uint_eq(m.rows, 99);
    ck_assert_ptr_null(m.row_start);
}

START_TEST(bad_fileview)
{
    assert_refused(read_fileview, &bad_fileviews[_i]);
}
END_TEST

static char *write_to_text(int (*writer)(FILE *, const matrix *, const char *), const matrix *m,
                           const char *comments)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(writer(stream, m, comments), 0);
    fclose(stream);
    return text;
}

START_TEST(fileview_is_written_as_open_mpi_does)
{
    static const struct {
        const char *read, *comments, *written;
    } cases[] = {
        {STOCK, NULL, STOCK},
        {STOCK, "ranks 3\nfiles 1",
         "FILEVIEW\n% ranks 3\n% files 1\n5 4\n1 2 0 2 0 \n2 1 2 1 1 \n1 3 5 6 \n"},
        {"FILEVIEW\n0 3\n\n\n1 1 1 \n", "", "FILEVIEW\n0 3\n\n\n1 1 1 \n"},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        matrix m = read_good(read_fileview, cases[i].read);
        char *text = write_to_text(write_fileview, &m, cases[i].comments);
        ck_assert_str_eq(text, cases[i].written);
        free(text);
        matrix_release(&m);
    }
}
END_TEST

static matrix random_matrix(uint64_t *seed, size_t rows, size_t cols)
{
    enum { MOST = 200 };
    matrix_entry entries[MOST];
    matrix m;
    size_t count = rows * cols > 0 ? next_random(seed) % MOST : 0;
    for (size_t k = 0; k < count; k++) {
        int64_t value = (int64_t)(next_random(seed) >> (8 + next_random(seed) % 56));
        entries[k] = (matrix_entry){next_random(seed) % rows, next_random(seed) % cols, value};
    }
    ck_assert_int_eq(matrix_from_entries(&m, rows, cols, entries, count), 0);
    return m;
}

START_TEST(fileview_is_not_written)
{
    matrix_entry entry[] = {{0, 1, -1}};
    matrix m;
    FILE *stream = tmpfile(), *full = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_eq(matrix_from_entries(&m, 2, 2, entry, 1), 0);
    ck_assert_int_eq(write_fileview(stream, &m, "x"), -EINVAL);
    m.cols = 3;
    m.value[0] = 1;
    ck_assert_int_eq(write_fileview(stream, &m, "x"), -EINVAL);
    ck_assert_int_eq(ftell(stream), 0);
    m.cols = 2;
    if (full != NULL) {
        ck_assert_int_eq(write_fileview(full, &m, NULL), -ENOSPC);
        ck_assert_int_eq(matrix_write_market(full, &m, NULL), -ENOSPC);
        fclose(full);
    }
    fclose(stream);
    matrix_release(&m);
}
END_TEST

START_TEST(zeroed_matrices_are_equal)
{
    matrix zeroed = {0}, other = {0}, empty;
    ck_assert(matrix_equals(&zeroed, 1, &other, 1));
    ck_assert_int_eq(matrix_allocate(&empty, 0, 0, 0), 0);
    ck_assert(matrix_equals(&zeroed, 1, &empty, 2) && matrix_equals(&empty, 1, &zeroed, 1));
    matrix_release(&empty);
}
END_TEST

/* --- Matrix Market --- */

#define MM "%%MatrixMarket matrix "
#define INTEGERS MM "coordinate integer general\n"
#define SYMMETRIC MM "coordinate integer symmetric\n"
#define REALS MM "coordinate real general\n"

static const struct good_text good_markets[] = {
    {2, 3, {5, 1, 0, 0, 0, 7}, INTEGERS "2 3 3\n1 1 5\n2 3 7\n1 2 1\n"},
    {2, 2, {0, 0, 4}, "%%MatrixMarket MATRIX Coordinate Integer General\n%\n% a\n\n2 2 1\n2 1 4"},
    {2, 2, {0, 1, 0, 1}, MM "coordinate pattern general\r\n2 2 2\r\n1 2\r\n2 2\r\n"},
    {3, 3, {0, 4, 2, 4, 0, 0, 2, 0, 9}, SYMMETRIC "3 3 3\n2 1 4\n3 3 9\n1 3 2\n"},
    {2, 2, {9}, INTEGERS "2 2 3\n1 1 4\n1 1 5\n2 2 0\n"},
    {1, 2, {3, 2500}, REALS "1 2 2\n1 1 3.0000000000000000e+00\n1 2 2.5E3\n"},
    {1, 2, {12, 0}, REALS "1 2 2\n1 1 1200.e-2\n1 2 .0\n"},
    {1, 1, {INT64_MAX}, REALS "1 1 1\n1 1 9223372036854775807.000\n"},
    {1, 1, {INT64_MAX}, REALS "1 1 1\n1 1 922337203685477580.7e1\n"},
    {2, 3, {1, 3, 5, 2, 0, 6}, MM "array integer general\n2 3\n1\n2\n3\n0\n5\n6\n"},
    {3, 3, {0, 2, 4, 2, 0, 6, 4, 6, 0}, MM "array real symmetric\n3 3\n0\n2\n4.0\n0\n6\n0\n"},
    {1, 3, {0}, REALS "1 3 3\n1 1 0e-5\n1 2 -0.00\n1 3 0e99999999999\n"},
    {1, 1, {1}, MM "coordinate pattern general\n1 1 1\n1 1"},
    {2, 2, {1, 3, 2, 4}, MM "array unsigned-integer general\n2 2\n1\n2\n3\n4\n"},
    {1, 1, {7}, MM "coordinate Unsigned-Integer symmetric\n1 1 1\n1 1 7\n"},
    {1, 2, {3, 4}, MM "array integer general\n1 2 3 4"},
    {0, 1048576, {0}, MM "array integer general\n0 1048576\n"},
};

START_TEST(good_market_text)
{
    assert_good(read_market_only, &good_markets[_i]);
}
END_TEST

static const struct bad_text bad_markets[] = {
    BAD("", 0),
    BAD("2 2\n", 1),
    BAD("\n" INTEGERS, 2),
    BAD("%%MatrixMarket vector coordinate integer general\n", 1),
    BAD(MM "sparse integer general\n", 1),
    BAD(MM "coordinate complex general\n", 1),
    BAD(MM "coordinate real skew-symmetric\n", 1),
    BAD(MM "coordinate complex hermitian\n", 1),
    BAD(MM "coordinate integer\n1 1 1\n", 1),
    BAD(MM, 1),
    BAD(MM "array pattern general\n1 1\n1\n", 1),
    BAD(INTEGERS, 2),
    BAD(INTEGERS "2 2\n", 3),
    BAD(INTEGERS "2 two 1\n1 1 1\n", 2),
    BAD(INTEGERS "-2 2 1\n1 1 1\n", 2),
    BAD(INTEGERS "2 2 10000000000\n1 1 1\n", 2),
    BAD(INTEGERS "2 2 9223372036854775807\n1 1 1\n", 2),
    BAD(INTEGERS "2000000000 2 1\n1 1 1\n", 2),
    BAD(INTEGERS "1 9223372036854775807 0\n", 2),
    BAD(MM "array integer general\n5000000000 5000000000\n1\n", 2),
    BAD(MM "array integer symmetric\n6000000000 6000000000\n1\n", 2),
    BAD(MM "array integer general\n5000 5000\n1\n", 2),
    BAD(MM "coordinate pattern general\n1 1 1\n1\n", 2),
    BAD(SYMMETRIC "2 3 1\n1 1 1\n", 2),
    BAD(INTEGERS "% c\n2 2 1\n3 1 1\n", 4),
    BAD(INTEGERS "2 2 1\n1 0 1\n", 3),
    BAD(INTEGERS "2 2 1\n-1 1 1\n", 3),
    BAD(INTEGERS "2 2 1\n1 1 1.0\n", 3),
    BAD(INTEGERS "2 2 1\n1 1 9223372036854775808\n", 3),
    BAD(INTEGERS "2 2 2\n1 1 1      \n", 4),
    BAD(INTEGERS "2 2 1\n1         \n", 4),
    BAD(INTEGERS "2 2 1\n1 1       \n", 4),
    BAD(INTEGERS "2 2 1\n1 1 1\n1 2 1\n", 4),
    BAD(INTEGERS "2 2 2\n1 1 9223372036854775807\n1 1 1\n", 0),
    BAD(INTEGERS "2 2 2\n1 1 1\n2 1 -4\n", 4),
    BAD(REALS "2 2 1\n1 1 -922337203685477580.8e1\n", 3),
    BAD(MM "array integer general\n1 2\n3\n-1\n", 4),
    BAD(REALS "2 2 1\n1 1 1.5\n", 3),
    BAD(REALS "2 2 1\n1 1 1e-1\n", 3),
    BAD(REALS "2 2 1\n1 1 1e19\n", 3),
    BAD(REALS "2 2 1\n1 1 1e999999999999999999999\n", 3),
    BAD(REALS "2 2 1\n1 1 nan\n", 3),
    BAD(REALS "2 2 1\n1 1 1e\n", 3),
    BAD(REALS "2 2 1\n1 1 1e+\n", 3),
    BAD(REALS "2 2 1\n1 1 1.2.3\n", 3),
    BAD(REALS "2 2 1\n1 1 .\n", 3),
    BAD(REALS "2 2 1\n1 1 1,5\n", 3),
    BAD(INTEGERS "% a\000b\n2 2 1\n1 1 1\n", 2),
    BAD(INTEGERS "2 2 1\n% late\n1 1 1\n", 3),
};

START_TEST(bad_market_text)
{
    assert_refused(read_market_only, &bad_markets[_i]);
}
END_TEST

static int read_market(const char *text, matrix *m, char **comments)
{
    matrix_error error;
    FILE *stream = open_text(text, strlen(text));
    int rc = matrix_read_market(stream, m, comments, &error);
    fclose(stream);
    return rc;
}

START_TEST(market_comments)
{
    char *comments = NULL;
    matrix m;
    ck_assert_int_eq(read_market(MM "array integer general\n%one\n1 1\nx\n", &m, &comments),
                     -EBADMSG);
    ck_assert_ptr_null(comments);
    ck_assert_int_eq(
        read_market(MM "array integer general\n%one\n\n%  two\r\n%\n1 1\n3\n", &m, &comments), 0);
    ck_assert_str_eq(comments, "one\n two\n\n");
    free(comments);
    matrix_release(&m);
}
END_TEST

/* The limit counts the characters of all comments together. */
START_TEST(comments_beyond_the_limit)
{
    enum { LINE = (1 << 26) / 2 - 1 };
    char *comment = malloc(LINE + 2);
    FILE *stream = tmpfile();
    matrix m;
    matrix_error error;
    ck_assert(comment != NULL && stream != NULL);
    memset(comment, 'c', LINE);
    strcpy(comment + LINE, "\n");
    fprintf(stream, "FILEVIEW\n%%%s%%%s%%c\n0 1 1\n", comment, comment);
    rewind(stream);
    if (random_cases(2) == 2) {
        ck_assert_int_eq(read_fileview(stream, &m, &error), -EBADMSG);
        ck_assert_uint_eq(error.line, 4);
    }
    fclose(stream);
    free(comment);
}
END_TEST

START_TEST(round_trips)
{
    uint64_t seed = first_seed() + (uint64_t)_i;
    size_t rows = next_random(&seed) % 30, cols = next_random(&seed) % 30;
    matrix m = random_matrix(&seed, rows, cols), square = random_matrix(&seed, rows, rows), back;
    char *comments = NULL, *text = write_to_text(matrix_write_market, &m, "hosts a b");
    ck_assert_int_eq(read_market(text, &back, &comments), 0);
    assert_equal(&m, &back);
    ck_assert_str_eq(comments, "hosts a b\n");
    free(comments);
    free(text);
    matrix_release(&back);
    text = write_to_text(write_fileview, &square, "seeded\n\nround trip\n");
    back = read_good(read_fileview, text);
    assert_equal(&square, &back);
    free(text);
    matrix_release(&back);
    matrix_release(&m);
    matrix_release(&square);
}
END_TEST

/* A comma as decimal point must not matter; without such a locale this tests the C locale. */
START_TEST(locale_does_not_matter)
{
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C"};
    for (size_t i = 0; i < LENGTH(locales) && setlocale(LC_ALL, locales[i]) == NULL; i++)
        continue;
    matrix m = read_good(read_market_only, MM "coordinate real general\n1 1 1\n1 1 2.0\n");
    ck_assert_int_eq(matrix_get(&m, 0, 0), 2);
    matrix_release(&m);
}
END_TEST

/* --- streams and memory that fail --- */

START_TEST(unreadable_streams)
{
    static const read_fn readers[] = {read_fileview, read_market_only};
    int ends[2];
    matrix m = {.rows = 99};
    matrix_error error = {0};
    ck_assert_int_eq(pipe(ends), 0);
    FILE *streams[] = {fopen("/", "r"), fdopen(ends[0], "r")};
    for (size_t s = 0; s < LENGTH(streams); s++) {
        ck_assert_ptr_nonnull(streams[s]);
        memset(&error, 0, sizeof error);
        ck_assert_int_eq(readers[_i](streams[s], &m, &error), -EIO);
        ck_assert_uint_eq(error.line, 0);
        ck_assert_uint_eq(m.rows, 99);
        fclose(streams[s]);
    }
    close(ends[1]);
}
END_TEST

static int read_and_release(const void *text)
{
    matrix m = {.rows = 99};
    matrix_error error;
    FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    int rc = matrix_read_market(stream, &m, NULL, &error);
    fclose(stream);
    if (rc != 0)
        return m.rows == 99 && m.row_start == NULL ? rc : -EIO;
    matrix_release(&m);
    return 0;
}

START_TEST(memory_runs_out)
{
    fail_each_allocation(read_and_release, SYMMETRIC "%x\n2 2 1\n2 1 4\n");
    fail_each_allocation(read_and_release, MM "array integer general\n2 2\n1\n2\n3\n4\n");
}
END_TEST

START_TEST(sums_of_rows)
{
    uint64_t state = first_seed() + (uint64_t)_i;
    size_t group[7];
    matrix m = random_matrix(&state, 7, 5), sums;
    for (size_t row = 0; row < 7; row++)
        group[row] = (size_t)pick(&state, 0, 2);
    ck_assert_int_eq(matrix_sum_rows(&sums, &m, group, 3), 0);
    int64_t model[3 * 5] = {0};
    for (size_t row = 0; row < 7; row++)
        for (size_t col = 0; col < 5; col++)
            model[group[row] * 5 + col] += matrix_get(&m, row, col);
    assert_values(&sums, 3, 5, model);
    assert_sorted(&sums);
    for (size_t k = 0; k < matrix_entries(&sums); k++)
        ck_assert_int_ne(sums.value[k], 0);
    matrix_release(&m);
    matrix_release(&sums);
}
END_TEST

START_TEST(sums_of_rows_that_cannot_be)
{
    static const size_t same[] = {1, 1}, beyond[] = {0, 2};
    matrix_entry large[] = {{0, 1, INT64_MAX}, {1, 1, 1}};
    matrix m, sums = {.rows = 99};
    ck_assert_int_eq(matrix_from_entries(&m, 2, 2, large, 2), 0);
    ck_assert_int_eq(matrix_sum_rows(&sums, &m, beyond, 2), -EINVAL);
    ck_assert_int_eq(matrix_sum_rows(&sums, &m, same, 2), -ERANGE);
    for (long nth = 0, rc = -ENOMEM; rc == -ENOMEM; nth++) {
        fail_allocation(nth);
        rc = matrix_sum_rows(&sums, &m, same, 2);
        stop_failing();
        ck_assert_int_eq(rc, allocations.failed ? -ENOMEM : -ERANGE);
        ck_assert_int_le(allocations.live, 0);
    }
    ck_assert_uint_eq(sums.rows, 99);
    matrix_release(&m);
}
END_TEST

int main(void)
{
    return run_tests(
        "matrix", TIMES(random_entries_equal_a_dense_model, random_cases(50)),
        TIMES(sums_of_rows, random_cases(200)), TIMES(good_fileview, LENGTH(good_fileviews)),
        TIMES(bad_fileview, LENGTH(bad_fileviews)), TIMES(good_market_text, LENGTH(good_markets)),
        TIMES(bad_market_text, LENGTH(bad_markets)), TIMES(round_trips, random_cases(30)),
        TIMES(unreadable_streams, 2), ONCE(memory_runs_out),
        ONCE(bad_entries_leave_the_output_alone), ONCE(only_the_sum_itself_must_fit),
        ONCE(empty_matrices), ONCE(sums_of_rows_that_cannot_be),
        ONCE(fileview_is_written_as_open_mpi_does), ONCE(fileview_is_not_written),
        ONCE(zeroed_matrices_are_equal), ONCE(market_comments), ONCE(comments_beyond_the_limit),
        ONCE(locale_does_not_matter));
}
