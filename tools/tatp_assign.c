/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp assign: solves an assignment problem. */
#include "tatp.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "table.h"
#include "tool.h"

struct assign_options {
    const char *file;
    tatp_answer answer;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct assign_options *options = state->input;
    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &options->file;
    state->child_inputs[1] = state->child_inputs[2] = &options->answer;
    return 0;
}

static const struct argp assign_argp = {
    .parser = parse_option,
    .children = (const struct argp_child[]){{&tool_file_argp, 0, NULL, 0},
                                            {&tatp_json_argp, 0, NULL, 0},
                                            {&tatp_solver_argp, 0, NULL, 0},
                                            {0}},
    .doc = "Gives each column of a cost matrix to a row, no row and no column twice, at the least "
           "cost. FILE is "
           "Matrix Market; pairs that a coordinate file does not list are not allowed.",
};

/* ---- the problem and its answer ---- */

struct result {
    const lap_problem *problem;
    const matrix_costs *costs;
    lap_solution solution;
    double seconds;
    bool feasible;
};

static int explain(const struct assign_options *options, int rc)
{
    if (rc == -ERANGE)
        return tool_fail("%s: a cost is so large that sums of costs are out of range",
                         options->file);
    return tool_fail("%s: %s: %s", options->file, options->answer.solver->name, strerror(-rc));
}

static int solve(const struct assign_options *options, struct result *r)
{
    double begin = tatp_seconds();
    int rc = options->answer.solver->solve(r->problem, &r->solution);
    r->seconds = tatp_seconds() - begin;
    r->feasible = rc == 0;
    return rc >= 0 ? 0 : explain(options, rc);
}

/* ---- printing ---- */

/* The number of an allowed pair. */
static size_t find_pair(const matrix_costs *costs, size_t row, size_t col)
{
    if (costs->start == NULL)
        return col * costs->rows + row;
    size_t low = costs->start[col], high = costs->start[col + 1];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(costs->row[middle] <= row ? &low : &high) = middle;
    }
    return low;
}

static void add_row(tool_table *table, const struct result *r, size_t col)
{
    size_t row = r->solution.row_of_col[col];
    tool_table_add(table, "%zu", col);
    if (row == LAP_UNASSIGNED) {
        tool_table_add(table, "-");
        tool_table_add(table, "-");
        return;
    }
    size_t pair = find_pair(r->costs, row, col);
    tool_table_add(table, "%zu", row);
    if (r->costs->real != NULL)
        tool_table_add(table, "%.15g", r->costs->real[pair]);
    else
        tool_table_add(table, "%" PRId64, r->costs->whole[pair]);
}

static void print_table(const struct result *r)
{
    tool_table table = {.align = "rrr"};
    tool_table_add(&table, "column");
    tool_table_add(&table, "row");
    tool_table_add(&table, "cost");
    for (size_t j = 0; j < r->costs->cols; j++)
        add_row(&table, r, j);
    tool_table_add(&table, "total");
    tool_table_add(&table, "%s", "");
    if (r->costs->real != NULL)
        tool_table_add(&table, "%.15g", r->solution.total);
    else
        tool_table_add(&table, "%" PRId64, r->solution.integer_total);
    tool_table_print(&table);
}

static json_t *cost_of(const struct result *r)
{
    if (!r->feasible)
        return json_null();
    return r->costs->real != NULL ? json_real(r->solution.total)
                                  : json_integer(r->solution.integer_total);
}

static int print_json(const struct assign_options *options, const struct result *r)
{
    json_t *list =
        r->feasible ? tool_json_numbers(r->solution.row_of_col, r->costs->cols) : json_null();
    return tool_print_json(json_pack("{s:s, s:o, s:o, s:f}", "solver", options->answer.solver->name,
                                     "assignment", list, "cost", cost_of(r), "seconds",
                                     r->seconds));
}

static int print(const struct assign_options *options, const struct result *r)
{
    int status = 0;
    if (options->answer.json)
        status = print_json(options, r);
    else if (r->feasible)
        print_table(r);
    if (status == 0 && !r->feasible) {
        tool_fail(
            "%s: no assignment: the pairs that are allowed do not give each of the %s another %s",
            options->file, r->costs->cols > r->costs->rows ? "rows" : "columns",
            r->costs->cols > r->costs->rows ? "column" : "row");
        status = TOOL_INFEASIBLE;
    }
    return status;
}

/* ---- the command ---- */

static int assign(const struct assign_options *options, const matrix_costs *costs)
{
    const lap_problem problem = {.rows = costs->rows,
                                 .cols = costs->cols,
                                 .cost = costs->real,
                                 .integer_cost = costs->whole,
                                 .start = costs->start,
                                 .row = costs->row};
    struct result r = {.problem = &problem, .costs = costs};
    r.solution.row_of_col = tool_allocate(costs->cols, sizeof *r.solution.row_of_col);
    int status = solve(options, &r);
    if (status == 0)
        status = print(options, &r);
    free(r.solution.row_of_col);
    return status;
}

static int read_costs(FILE *stream, void *made, matrix_error *error)
{
    return matrix_read_costs(stream, made, error);
}

int run_assign(int argc, char **argv)
{
    struct assign_options options = {.answer.solver = lap_solvers};
    matrix_costs costs;
    if (argp_parse(&assign_argp, argc, argv, 0, NULL, &options) != 0)
        return tool_fail("out of memory");
    int status = tool_read(options.file, read_costs, &costs);
    if (status != 0)
        return status;
    status = assign(&options, &costs);
    matrix_costs_release(&costs);
    return status;
}
