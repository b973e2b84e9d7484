/* SPDX-License-Identifier: BSD-3-Clause */
/* dla convert: a view file in the formats of other programs. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dla.h"
#include "graph.h"

typedef int (*write_fn)(const view_file *f); /* to standard output; 0 or a negative errno value */

struct convert_options {
    const char *file;
    write_fn write;
};

/* ---- graphs ---- */

typedef void (*print_fn)(const matrix *graph);

static int print_graph(const view_file *f, print_fn print)
{
    matrix graph;
    int rc = undirected_graph(&f->view, &graph);
    if (rc != 0)
        return rc;
    print(&graph);
    matrix_release(&graph);
    return 0;
}

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

/* Version, vertices and arcs, first number and flags: arcs have weights; then the degree and each
 * arc's weight and end. */
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

/* Vertices, edges, format: edges have weights; then each vertex' neighbours, counted from 1, and
 * weights. */
static void print_metis(const matrix *g)
{
    printf("%zu %zu 001\n", g->rows, g->row_start[g->rows] / 2);
    for (size_t row = 0; row < g->rows; row++) {
        for (size_t i = g->row_start[row]; i < g->row_start[row + 1]; i++)
            printf("%s%zu %" PRId64, i > g->row_start[row] ? " " : "", g->col[i] + 1, g->value[i]);
        putchar('\n');
    }
}

/* ---- formats ---- */

static int write_mtx(const view_file *f)
{
    return matrix_write_market(stdout, &f->view, f->comments);
}

static int write_fileview(const view_file *f)
{
    return view_file_write(stdout, f);
}

static int write_dot(const view_file *f)
{
    return print_graph(f, print_dot);
}

static int write_scotch(const view_file *f)
{
    return print_graph(f, print_scotch);
}

static int write_metis(const view_file *f)
{
    return print_graph(f, print_metis);
}

static const struct {
    const char *name;
    write_fn write;
} formats[] = {
    {"mtx", write_mtx},       {"fileview", write_fileview}, {"dot", write_dot},
    {"scotch", write_scotch}, {"metis", write_metis},
};

static error_t parse_convert_option(int key, char *arg, struct argp_state *state)
{
    struct convert_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->file; return 0;
    case 't':
        for (size_t k = 0; k < sizeof formats / sizeof formats[0]; k++)
            if (strcmp(formats[k].name, arg) == 0) {
                options->write = formats[k].write;
                return 0;
            }
        argp_error(state, "'%s' is not a format: mtx, fileview, dot, scotch or metis", arg);
        return 0;
    case ARGP_KEY_END:
        if (options->write == NULL)
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
    .doc = "Writes a view file, or a matrix in Matrix Market format, in another format; a profile "
           "only as fileview.",
};

static int read_market(const char *name, view_file *file)
{
    matrix_error error = {0, "cannot be read"};
    FILE *stream = tool_open(name);
    if (stream == NULL)
        return TOOL_FAILURE;
    int rc = matrix_read_market(stream, &file->view, NULL, &error);
    rewind(stream);
    if (rc == 0)
        rc = matrix_read_comments(stream, &file->comments);
    fclose(stream);
    return rc == 0 ? 0 : tool_fail_reading(name, rc, &error);
}

/* So that a view can come back. */
static int read_either(const char *name, view_file *file)
{
    char begin[2] = "";
    FILE *stream = tool_open(name);
    if (stream == NULL)
        return TOOL_FAILURE;
    size_t got = fread(begin, 1, sizeof begin, stream);
    fclose(stream);
    if (got < sizeof begin || memcmp(begin, "%%", sizeof begin) != 0)
        return read_view(name, file);
    return read_market(name, file);
}

static int convert(const struct convert_options *options, const view_file *file)
{
    if (file->view.rows != file->view.cols)
        return tool_fail("%s: %zu rows and %zu columns: a view is square", options->file,
                         file->view.rows, file->view.cols);
    int rc = options->write(file);
    /* of a failing stream main() tells */
    return rc == 0 || rc == -EIO ? 0 : tool_fail("%s: %s", options->file, strerror(-rc));
}

int run_convert(int argc, char **argv)
{
    struct convert_options options = {.file = NULL};
    view_file file = {.patterns = 0};
    if (argp_parse(&convert_argp, argc, argv, 0, NULL, &options) != 0)
        return tool_fail("out of memory");
    int status = read_either(options.file, &file);
    if (status == 0)
        status = convert(&options, &file);
    view_file_release(&file);
    return status;
}
