/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer entry: any bytes as a Matrix Market file of costs; what is accepted must be costs of
 * pairs, and every small problem of them must be solved alike by two solvers. */
#include "lap/lap.h"
#include "matrix/matrix.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SMALL = 40 };

static void check_list(const matrix_costs *c)
{
    for (size_t j = 0; c->start != NULL && j < c->cols; j++)
        for (size_t k = c->start[j]; k < c->start[j + 1]; k++)
            if (c->row[k] >= c->rows || (k > c->start[j] && c->row[k - 1] >= c->row[k]))
                abort();
}

static void check_numbers(const matrix_costs *c)
{
    size_t count = c->start != NULL ? c->start[c->cols] : c->rows * c->cols;
    for (size_t k = 0; c->real != NULL && k < count; k++)
        if (isnan(c->real[k]) || c->real[k] == -INFINITY)
            abort();
}

static void check_solvers(const matrix_costs *c)
{
    const lap_problem problem = {.rows = c->rows,
                                 .cols = c->cols,
                                 .cost = c->real,
                                 .integer_cost = c->whole,
                                 .start = c->start,
                                 .row = c->row};
    size_t row_of_col[2][SMALL];
    lap_solution first = {.row_of_col = row_of_col[0]}, second = {.row_of_col = row_of_col[1]};
    int rc = lap_jv(&problem, &first);
    if (rc != lap_hungarian(&problem, &second))
        abort();
    if (rc == 0 && c->whole != NULL && first.integer_total != second.integer_total)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    matrix_costs costs;
    matrix_error error;
    FILE *stream = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    if (stream == NULL)
        return 0;
    if (matrix_read_costs(stream, &costs, &error) == 0) {
        check_list(&costs);
        check_numbers(&costs);
        if (costs.rows <= SMALL && costs.cols <= SMALL)
            check_solvers(&costs);
        matrix_costs_release(&costs);
    }
    fclose(stream);
    return 0;
}
