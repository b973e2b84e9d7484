/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp assign: solves an assignment problem. */
#include "tatp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lap/lap.h"
#include "output.h"
#include "tool.h"

struct assignment {
    tool_options common;
    const lap_solver *solver;
    matrix_costs costs;
    lap_solution solution;
    double seconds;
    bool feasible;
};

static error_t parse_assign_option(int key, char *arg, struct argp_state *state)
{
    struct assignment *a = state->input;
    if (key != 's')
        return ARGP_ERR_UNKNOWN;
    a->solver = tool_choose(state, "solver", arg, lap_solvers, sizeof *lap_solvers);
    return 0;
}

/* Returns malloc'ed text, which argp frees. */
static char *list_solvers(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)(uintptr_t)text;
    char *list = tool_copy("Solvers:\n");
    for (const lap_solver *s = lap_solvers; s->name != NULL; s++)
        tool_append_choice(&list, 10, s->name, s->note);
    return list;
}

static const struct argp assign_argp = {
    .options =
        (const struct argp_option[]){
            {"solver", 's', "NAME", 0, "Solver of the assignment problem", 0}, {0}},
    .parser = parse_assign_option,
    .args_doc = "FILE",
    .help_filter = list_solvers,
    .doc =
        "Assigns each column of a cost matrix to a different row at the least total cost. FILE is "
        "Matrix Market; pairs that a coordinate file does not list are forbidden.",
};

static void solve_assignment(struct assignment *a)
{
    const lap_problem problem = {.rows = a->costs.rows,
                                 .cols = a->costs.cols,
                                 .cost = a->costs.real,
                                 .integer_cost = a->costs.whole,
                                 .start = a->costs.start,
                                 .row = a->costs.row};
    double begin = tool_seconds();
    int rc = a->solver->solve(&problem, &a->solution);
    a->seconds = tool_seconds() - begin;
    a->feasible = rc == 0;
    if (rc == -ERANGE)
        exit(tool_fail("%s: a cost is so large that sums of costs are out of range",
                       a->common.file));
    if (rc < 0)
        exit(tool_fail("%s: %s: %s", a->common.file, a->solver->name, strerror(-rc)));
}

/* ---- printing ---- */

/* Index of an allowed pair in the arrays of costs. */
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

static void add_assignment_row(tool_table *table, const struct assignment *a, size_t col)
{
    size_t row = a->solution.row_of_col[col];
    if (row == LAP_UNASSIGNED)
        tool_table_add(table, "%zu\n-\n-", col);
    else if (a->costs.real != NULL)
        tool_table_add(table, "%zu\n%zu\n%.15g", col, row,
                       a->costs.real[find_pair(&a->costs, row, col)]);
    else
        tool_table_add(table, "%zu\n%zu\n%" PRId64, col, row,
                       a->costs.whole[find_pair(&a->costs, row, col)]);
}

static void print_assignment(const struct assignment *a)
{
    tool_table table = {.align = "rrr"};
    tool_table_add(&table, "column\nrow\ncost");
    for (size_t j = 0; j < a->costs.cols; j++)
        add_assignment_row(&table, a, j);
    if (a->costs.real != NULL)
        tool_table_add(&table, "total\n\n%.15g", a->solution.total);
    else
        tool_table_add(&table, "total\n\n%" PRId64, a->solution.integer_total);
    tool_table_print(&table);
}

static void print_assignment_json(const struct assignment *a)
{
    tool_json json;
    json_writer *w = tool_json_begin(&json);
    json_put_string(w, "solver", a->solver->name);
    if (!a->feasible) {
        json_put_null(w, "assignment");
        json_put_null(w, "cost");
    } else {
        json_put_sizes(w, "assignment", a->solution.row_of_col, a->costs.cols);
        if (a->costs.real != NULL)
            json_put_real(w, "cost", a->solution.total);
        else
            json_put_int64(w, "cost", a->solution.integer_total);
    }
    json_put_real(w, "seconds", a->seconds);
    tool_json_end(&json);
}

static int print_solution(const struct assignment *a)
{
    bool wide = a->costs.cols > a->costs.rows;
    if (a->common.json)
        print_assignment_json(a);
    else if (a->feasible)
        print_assignment(a);
    if (a->feasible)
        return 0;
    tool_fail("%s: no assignment: the pairs that are allowed do not give each of the %s another %s",
              a->common.file, wide ? "rows" : "columns", wide ? "column" : "row");
    return TOOL_INFEASIBLE;
}

static int read_costs(FILE *stream, void *object, matrix_error *error)
{
    return matrix_read_costs(stream, object, error);
}

int tatp_assign(int argc, char **argv)
{
    struct assignment a = {.solver = lap_solvers};
    tool_parse(&assign_argp, TOOL_JSON, argc, argv, &a);
    tool_read(a.common.file, read_costs, &a.costs);
    a.solution.row_of_col = tool_allocate(a.costs.cols, sizeof *a.solution.row_of_col);
    solve_assignment(&a);
    int status = print_solution(&a);
    free(a.solution.row_of_col);
    matrix_costs_release(&a.costs);
    return status;
}
