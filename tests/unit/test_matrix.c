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

#include "cases.h"
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
    matrix_entry large[] = {{1, 1, INT64_MAX}, {1, 1, 1}};
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

/* --- texts --- */

typedef struct sized_text {
    const char *text;
    size_t length;
    read_fn reader;
} sized_text;

static int read_and_release(const sized_text *t)
{
    matrix m = {.rows = 99};
    matrix_error error;
    FILE *stream = fmemopen((void *)(uintptr_t)t->text, t->length, "r");
    int rc = t->reader(stream, &m, &error);
    fclose(stream);
    if (rc != 0)
        return m.rows == 99 && m.row_start == NULL ? rc : -EIO;
    matrix_release(&m);
    return 0;
}

static void assert_refused(const sized_text *t, size_t line)
{
    matrix m = {.rows = 99};
    matrix_error error = {.line = 77};
    ck_assert_int_eq(read_text(t->reader, t->text, t->length, &m, &error), -EBADMSG);
    ck_assert_msg(error.line == line, "line %zu: %s\n%s", error.line, error.reason, t->text);
    check_printable(error.reason);
    ck_assert_uint_eq(m.rows, 99);
    ck_assert_ptr_null(m.row_start);
}

/* "ROWS COLUMNS: VALUES", of which the rest are zeros, or "refused, line N" or without a
 * line. */
static void check_case(const char *head, const sized_text *t)
{
    size_t rows, cols, line = 0;
    int64_t values[9] = {0};
    int used;
    if (sscanf(head, "%zu %zu:%n", &rows, &cols, &used) != 2) {
        sscanf(head, "refused, line %zu", &line);
        assert_refused(t, line);
        return;
    }
    matrix m;
    matrix_error error;
    ck_assert_msg(read_text(t->reader, t->text, t->length, &m, &error) == 0, "%s: %s", head,
                  error.reason);
    char *rest = (char *)(uintptr_t)head + used;
    for (size_t k = 0; k < LENGTH(values); k++)
        values[k] = strtoll(rest, &rest, 10);
    assert_values(&m, rows, cols, values);
    matrix_release(&m);
    fail_each_allocation(read_and_release(t));
}

static void check_fileview(const char *head, const char *text, size_t length)
{
    check_case(head, &(sized_text){text, length, read_fileview});
}

static void check_market(const char *head, const char *text, size_t length)
{
    check_case(head, &(sized_text){text, length, read_market_only});
}

START_TEST(small_texts)
{
    check_cases("fileview", check_fileview);
    check_cases("market", check_market);
}
END_TEST

/* In the layout of Open MPI 4.1: each number followed by a blank. Not symmetric, to tell rows
 * from columns. */
#define STOCK "FILEVIEW\n5 4\n1 2 0 2 0 \n2 1 2 1 1 \n1 3 5 6 \n"
#define MM "%%MatrixMarket matrix "

/* What an editor does not show. */
START_TEST(no_text)
{
#define SIZED(text, reader)                                                                        \
    {                                                                                              \
        text, sizeof(text) - 1, reader                                                             \
    }
    static const sized_text texts[] = {
        SIZED("FILEVIEW\n5 4\n1 2 0 2 0\n2 1 \033[2J\377 1 1\n1 3 5 6\n", read_fileview),
        SIZED("FILEVIEW\n5 4\n1 2 0 2 0\n2 1 \0002 1 1\n1 3 5 6\n", read_fileview),
        SIZED("FILEVIEW\n5 4\n1 2 0 2 0\n2 1 2\000 1 1\n1 3 5 6\n", read_fileview),
        SIZED("\000FILEVIEW\n", read_fileview),
        SIZED(STOCK "\000", read_fileview),
        SIZED(MM "array integer general\n% a\000b\n1 1\n1\n", read_market_only),
    };
    static const size_t line[] = {4, 4, 4, 1, 6, 2};
    for (size_t k = 0; k < LENGTH(texts); k++)
        assert_refused(&texts[k], line[k]);
}
END_TEST

/* --- writing --- */

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
    static const size_t same[] = {1, 1};
    matrix_entry large[] = {{0, 1, INT64_MAX}, {1, 1, 1}};
    matrix m, sums = {.rows = 99};
    ck_assert_int_eq(matrix_from_entries(&m, 2, 2, large, 2), 0);
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
    return run_tests("matrix", TIMES(random_entries_equal_a_dense_model, random_cases(50)),
                     TIMES(sums_of_rows, random_cases(200)), ONCE(small_texts), ONCE(no_text),
                     TIMES(round_trips, random_cases(30)), TIMES(unreadable_streams, 2),
                     ONCE(bad_entries_leave_the_output_alone), ONCE(only_the_sum_itself_must_fit),
                     ONCE(empty_matrices), ONCE(sums_of_rows_that_cannot_be),
                     ONCE(fileview_is_written_as_open_mpi_does), ONCE(fileview_is_not_written),
                     ONCE(zeroed_matrices_are_equal), ONCE(market_comments),
                     ONCE(comments_beyond_the_limit), ONCE(locale_does_not_matter));
}
