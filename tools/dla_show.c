/* SPDX-License-Identifier: BSD-3-Clause */
/* dla show: what a view file holds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dla.h"
#include "json.h"

struct show_options {
    const char *file;
    bool json;
};

/* Rows and columns are ranks; largest is 0 when nothing is between two ranks. */
struct summary {
    size_t entries;
    int64_t weight, largest;
    size_t rank[2];
};

static error_t parse_show_option(int key, char *arg, struct argp_state *state)
{
    struct show_options *options = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->file; return 0;
    case 'j': options->json = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp show_argp = {
    .options = (const struct argp_option[]){{"json", 'j', NULL, 0, "Print JSON", 0}, {0}},
    .parser = parse_show_option,
    .children = (const struct argp_child[]){{&tool_file_argp, 0, NULL, 0}, {0}},
    .doc = "Tells what a view file holds: the matrix, the recorded calls, and where it comes from.",
};

static void find_largest(const matrix *view, struct summary *s)
{
    for (size_t row = 0; row < view->rows; row++)
        for (size_t i = view->row_start[row]; i < view->row_start[row + 1]; i++)
            if (view->col[i] != row && view->value[i] > s->largest) {
                s->largest = view->value[i];
                s->rank[0] = row;
                s->rank[1] = view->col[i];
            }
}

static int summarise(const matrix *view, struct summary *s)
{
    int64_t inside;
    size_t *node = tool_allocate(view->rows, sizeof *node);
    *s = (struct summary){.entries = view->row_start[view->rows]};
    int rc = setmatch_weight(view, node, &inside, &s->weight);
    find_largest(view, s);
    free(node);
    return rc == 0 ? 0 : tool_fail("the weights: %s", strerror(-rc));
}

/* ---- text ---- */

static void print_pattern(const view_file *f, size_t k)
{
    const access_pattern *a = &f->pattern[k];
    int64_t bytes = 0;
    matrix_sum(&f->bytes[k], &bytes);
    printf("calls %" PRId64 " of %" PRId64 " bytes in %zu bins of %" PRId64 " from %" PRId64
           " in %s\n",
           a->calls, bytes / a->calls, f->bytes[k].cols, a->unit, a->first, a->file);
}

static int print_text(const view_file *f, const struct summary *s)
{
    printf("ranks %zu\nentries %zu\nweight %" PRId64 "\nlargest %" PRId64, f->view.rows, s->entries,
           s->weight, s->largest);
    if (s->largest > 0)
        printf(" between ranks %zu and %zu", s->rank[0], s->rank[1]);
    putchar('\n');
    for (size_t k = 0; k < f->patterns; k++)
        print_pattern(f, k);
    for (char *rest = NULL, *line = strtok_r(f->comments, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        printf("%% %s\n", line);
    return 0;
}

/* ---- JSON ---- */

static json_t *describe_pattern(const view_file *f, size_t k)
{
    const access_pattern *a = &f->pattern[k];
    const matrix *m = &f->bytes[k];
    json_t *pattern = json_object();
    int64_t bytes = 0;
    matrix_sum(m, &bytes);
    json_object_set_new(pattern, "file", tool_json_text(a->file));
    json_object_set_new(pattern, "calls", json_integer(a->calls));
    json_object_set_new(pattern, "first", json_integer(a->first));
    json_object_set_new(pattern, "bin_bytes", json_integer(a->unit));
    json_object_set_new(pattern, "bins", json_integer((json_int_t)m->cols));
    json_object_set_new(pattern, "entries", json_integer((json_int_t)m->row_start[m->rows]));
    json_object_set_new(pattern, "bytes", json_integer(bytes));
    return pattern;
}

static json_t *describe_profile(const view_file *f)
{
    json_t *profile = json_array();
    for (size_t k = 0; k < f->patterns; k++)
        json_array_append_new(profile, describe_pattern(f, k));
    return profile;
}

/* Cuts the comments up. */
static json_t *list_comments(const view_file *f)
{
    json_t *lines = json_array();
    for (char *rest = NULL, *line = strtok_r(f->comments, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        json_array_append_new(lines, tool_json_text(line));
    return lines;
}

static int print_json(const view_file *f, const struct summary *s)
{
    json_t *all = json_object();
    json_object_set_new(all, "ranks", json_integer((json_int_t)f->view.rows));
    json_object_set_new(all, "entries", json_integer((json_int_t)s->entries));
    json_object_set_new(all, "weight", json_integer(s->weight));
    json_object_set_new(all, "largest", json_integer(s->largest));
    if (s->largest > 0)
        json_object_set_new(all, "largest_between", tool_json_numbers(s->rank, 2));
    json_object_set_new(all, "profile", describe_profile(f));
    json_object_set_new(all, "provenance", list_comments(f));
    return tool_print_json(all);
}

int run_show(int argc, char **argv)
{
    struct show_options options = {.file = NULL};
    view_file file;
    struct summary s;
    if (argp_parse(&show_argp, argc, argv, 0, NULL, &options) != 0)
        return tool_fail("out of memory");
    int status = read_view(options.file, &file);
    if (status != 0)
        return status;
    status = summarise(&file.view, &s);
    if (status == 0)
        status = (options.json ? print_json : print_text)(&file, &s);
    view_file_release(&file);
    return status;
}
