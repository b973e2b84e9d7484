/* SPDX-License-Identifier: BSD-3-Clause */
/* dla convert: a view file in the formats of other programs. */
#include "dla.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dla_problem.h"
#include "graph.h"
#include "tool.h"

/* Formats are written from the view, or from its undirected graph. */
struct conversion {
    const char *name;
    int (*write)(const view_file *f); /* 0 or a negative errno value */
    void (*print)(const matrix *graph);
};

struct convert_options {
    const char *file;
    const struct conversion *conversion;
};

static void print_dot(const matrix *g)
{
    printf("graph view {\n");
    for (size_t row = 0; row < g->rows; row++)
        printf("  %zu;\n", row);
    for (size_t row = 0; row < g->rows; row++)
        for (size_t i = g->row_start[row]; i < g->row_start[row + 1]; i++)
            if (row < g->col[i])
                printf("  %zu -- %zu [weight=%" PRId64 ", label=%" PRId64 "];\n", row, g->col[i],
                       g->value[i], g->value[i]);
    printf("}\n");
}

/* Header: version; vertices and arcs; first index and flags (weighted arcs). Then per vertex its
 * degree, and the weight and the end of each arc. */
static void print_scotch(const matrix *g)
{
    printf("0\n%zu %zu\n0 010\n", g->rows, g->row_start[g->rows]);
    for (size_t row = 0; row < g->rows; row++) {
        printf("%zu", g->row_start[row + 1] - g->row_start[row]);
        for (size_t i = g->row_start[row]; i < g->row_start[row + 1]; i++)
            printf(" %" PRId64 " %zu", g->value[i], g->col[i]);
        putchar('\n');
    }
}

/* Header: vertices, edges, format (weighted edges). Then per vertex its neighbours, counted from 1,
 * and the weights. */
static void print_metis(const matrix *g)
{
    printf("%zu %zu 001\n", g->rows, g->row_start[g->rows] / 2);
    for (size_t row = 0; row < g->rows; row++) {
        for (size_t i = g->row_start[row]; i < g->row_start[row + 1]; i++)
            printf("%s%zu %" PRId64, i > g->row_start[row] ? " " : "", g->col[i] + 1, g->value[i]);
        putchar('\n');
    }
}

static int write_mtx(const view_file *f)
{
    return matrix_write_market(stdout, &f->view, f->comments);
}

static int write_fileview(const view_file *f)
{
    return view_file_write(stdout, f);
}

static const struct conversion conversions[] = {
    {"mtx", write_mtx, NULL},       {"fileview", write_fileview, NULL}, {"dot", NULL, print_dot},
    {"scotch", NULL, print_scotch}, {"metis", NULL, print_metis},
};

static error_t parse_convert_option(int key, char *arg, struct argp_state *state)
{
    struct convert_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->file; return 0;
    case 't':
        for (size_t k = 0; k < sizeof conversions / sizeof conversions[0]; k++)
            if (strcmp(conversions[k].name, arg) == 0) {
                options->conversion = &conversions[k];
                return 0;
            }
        argp_error(state, "'%s' is not a format: mtx, fileview, dot, scotch or metis", arg);
        return 0;
    case ARGP_KEY_END:
        if (options->conversion == NULL)
            argp_error(state, "--to is needed");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp convert_argp = {
    .options =
        (const struct argp_option[]){
            {"to", 't', "FORMAT", 0, "mtx, fileview, dot, scotch or metis", 0}, {0}},
    .parser = parse_convert_option,
    .children = (const struct argp_child[]){{&tool_file_argp, 0, NULL, 0}, {0}},
    .doc = "Writes a view file in another format. Only fileview contains the profile.",
};

static int convert_view(const struct convert_options *options, const view_file *file)
{
    matrix graph = {0};
    int rc;
    if (options->conversion->write != NULL) {
        rc = options->conversion->write(file);
    } else if ((rc = undirected_graph(&file->view, &graph)) == 0) {
        options->conversion->print(&graph);
        matrix_release(&graph);
    }
    const char *name = ferror(stdout) ? "standard output" : options->file;
    return rc == 0 ? 0 : tool_fail("%s: %s", name, strerror(-rc));
}

int dla_convert(int argc, char **argv)
{
    struct convert_options options = {.file = NULL};
    view_file file;
    tool_parse(&convert_argp, argc, argv, &options);
    problem_read_view(options.file, &file);
    int status = convert_view(&options, &file);
    view_file_release(&file);
    return status;
}
