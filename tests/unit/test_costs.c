/* SPDX-License-Identifier: BSD-3-Clause */
/* Costs of pairs from Matrix Market text. */
#include "matrix/matrix.h"

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

#define MM "%%MatrixMarket matrix "

static int read_text(const char *text, matrix_costs *costs, matrix_error *error)
{
    FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    if (stream == NULL) /* an assertion would allocate memory */
        ck_abort_msg("no stream");
    int rc = matrix_read_costs(stream, costs, error);
    fclose(stream);
    return rc;
}

static matrix_costs read_good(const char *text)
{
    matrix_costs costs = {0};
    matrix_error error = {0};
    int rc = read_text(text, &costs, &error);
    ck_assert_msg(rc == 0, "%d, line %zu: %s", rc, error.line, error.reason);
    return costs;
}

/* ---- all pairs ---- */

START_TEST(array_of_reals)
{
    static const double expected[6] = {1.5, -2000.0, INFINITY, INFINITY, 0.0, 1e-300};
    matrix_costs c = read_good(
        MM "array real general\r\n% a note\r\n\r\n3 2\r\n1.5\r\n-2E3\n+inf\n\nInfinity\n0\n1e-300");
    ck_assert(c.rows == 3 && c.cols == 2 && c.start == NULL && c.row == NULL && c.whole == NULL);
    for (size_t k = 0; k < 6; k++)
        ck_assert(c.real[k] == expected[k]);
    matrix_costs_release(&c);
    ck_assert(c.real == NULL && c.rows == 0);
}
END_TEST

START_TEST(symmetric_array)
{
    static const int64_t expected[9] = {1, INT64_MAX, 3, INT64_MAX, 0, INT64_MIN, 3, INT64_MIN, 6};
    matrix_costs c = read_good(
        MM "array integer symmetric\n3 3\n1 9223372036854775807 3 0 -9223372036854775808 6\n");
    ck_assert(c.rows == 3 && c.cols == 3 && c.start == NULL && c.real == NULL);
    ck_assert_int_eq(memcmp(c.whole, expected, sizeof expected), 0);
    matrix_costs_release(&c);
}
END_TEST

/* Digits beyond what a double holds are rounded as by strtod in the C locale, whatever the locale
 * is. */
START_TEST(reals_are_rounded_once)
{
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "C"};
    for (size_t i = 0; i < LENGTH(locales) && setlocale(LC_ALL, locales[i]) == NULL; i++)
        continue;
    matrix_costs c = read_good(
        MM "array double general\n1 2\n0.1000000000000000055511151231257827\n9007199254740993.0\n");
    ck_assert(c.real[0] == 0.1 && c.real[1] == 9007199254740992.0);
    matrix_costs_release(&c);
}
END_TEST

/* ---- a list of pairs ---- */

START_TEST(pattern_and_symmetry)
{
    matrix_costs c = read_good(MM "coordinate pattern symmetric\n2 2 2\n2 1\n2 2\n");
    static const size_t start[] = {0, 1, 3}, row[] = {1, 0, 1};
    ck_assert_int_eq(memcmp(c.start, start, sizeof start), 0);
    ck_assert_int_eq(memcmp(c.row, row, sizeof row), 0);
    ck_assert(c.whole[0] == 1 && c.whole[1] == 1 && c.whole[2] == 1);
    matrix_costs_release(&c);
}
END_TEST

START_TEST(nothing_listed)
{
    matrix_costs c = read_good(MM "coordinate real general\n2 3 0\n");
    ck_assert(c.rows == 2 && c.cols == 3 && c.start[0] == 0 && c.start[3] == 0 && c.real != NULL &&
              c.row != NULL);
    matrix_costs_release(&c);
    c = read_good(MM "array integer general\n0 5\n");
    ck_assert(c.rows == 0 && c.cols == 5 && c.whole != NULL);
    matrix_costs_release(&c);
}
END_TEST

/* Pairs are sorted, and those listed several times summed: against a dense table of sums. */
START_TEST(random_lists)
{
    uint64_t seed = first_seed() + (uint64_t)_i;
    size_t rows = (size_t)pick(&seed, 1, 9), cols = (size_t)pick(&seed, 1, 9),
           count = (size_t)pick(&seed, 0, 60);
    int listed[81] = {0};
    int64_t sum[81] = {0};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fprintf(out, "%%%%MatrixMarket matrix coordinate %s general\n%zu %zu %zu\n",
            _i % 2 ? "real" : "integer", rows, cols, count);
    for (size_t k = 0; k < count; k++) {
        size_t row = (size_t)pick(&seed, 0, (int64_t)rows - 1),
               col = (size_t)pick(&seed, 0, (int64_t)cols - 1);
        int64_t cost = pick(&seed, -50, 50);
        fprintf(out, "%zu %zu %" PRId64 "\n", row + 1, col + 1, cost);
        listed[col * 9 + row] = 1;
        sum[col * 9 + row] += cost;
    }
    fclose(out);
    matrix_costs c = read_good(text);
    ck_assert(c.rows == rows && c.cols == cols && c.start[0] == 0);
    ck_assert((c.real != NULL) == (_i % 2) && (c.whole != NULL) == (_i % 2 == 0));
    for (size_t j = 0; j < cols; j++) {
        size_t k = c.start[j];
        for (size_t i = 0; i < rows; i++) {
            if (!listed[j * 9 + i])
                continue;
            ck_assert(k < c.start[j + 1] && c.row[k] == i);
            ck_assert(c.real != NULL ? c.real[k] == (double)sum[j * 9 + i]
                                     : c.whole[k] == sum[j * 9 + i]);
            k++;
        }
        ck_assert_uint_eq(k, c.start[j + 1]);
    }
    matrix_costs_release(&c);
    free(text);
}
END_TEST

/* ---- bad text ---- */

/* "refused, line N: REASON"; 0: of no line alone */
static void check_refused(const char *head, const char *text, size_t length)
{
    matrix_costs costs = {.rows = 99};
    matrix_error error = {0};
    char reached[300], *copy = strndup(text, length);
    ck_assert_int_eq(read_text(copy, &costs, &error), -EBADMSG);
    snprintf(reached, sizeof reached, "refused, line %zu: %s", error.line, error.reason);
    ck_assert_str_eq(reached, head);
    ck_assert(costs.rows == 99 && costs.start == NULL && costs.real == NULL);
    free(copy);
}

START_TEST(bad_text)
{
    check_cases("costs", check_refused);
}
END_TEST

static int read_and_release(const char *text)
{
    matrix_costs costs = {.rows = 99};
    matrix_error error;
    int rc = read_text(text, &costs, &error);
    if (rc != 0)
        return costs.rows == 99 ? rc : -EIO;
    matrix_costs_release(&costs);
    return 0;
}

START_TEST(memory_runs_out)
{
    static const char *const texts[] = {MM "coordinate integer symmetric\n2 2 2\n2 1 4\n1 1 2\n",
                                        MM "array real general\n2 2\n1\n2\n3\n4\n"};
    for (size_t k = 0; k < LENGTH(texts); k++)
        fail_each_allocation(read_and_release(texts[k]));
}
END_TEST

int main(void)
{
    return run_tests("costs", ONCE(array_of_reals), ONCE(symmetric_array),
                     ONCE(reals_are_rounded_once), ONCE(pattern_and_symmetry), ONCE(nothing_listed),
                     TIMES(random_lists, random_cases(100)), ONCE(bad_text), ONCE(memory_runs_out));
}
