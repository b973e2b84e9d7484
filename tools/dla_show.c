/* SPDX-License-Identifier: BSD-3-Clause */
/* dla show: prints the contents of a view file. */
#include "dla.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dla_problem.h"
#include "storage/storage.h"
#include "tool.h"
#include "tool_json.h"

/* Of a file, in text. */
enum { MOST_TARGETS = 16 };

struct show_options {
    const char *file;
    bool json;
};

/* Of the view matrix. `largest` is the largest value between two ranks, 0 if there is none. */
struct view_summary {
    size_t entries;
    int64_t weight, largest;
    size_t rank[2]; /* of the largest value */
};

static error_t parse_show_option(int key, char *arg, struct argp_state *state)
{
    struct show_options *options = state->input;
    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &options->file;
    state->child_inputs[1] = &options->json;
    return 0;
}

static const struct argp show_argp = {
    .parser = parse_show_option,
    .children = (const struct argp_child[]){{&tool_file_argp, 0, NULL, 0},
                                            {&tool_json_argp, 0, NULL, 0},
                                            {0}},
    .doc =
        "Prints the contents of a view file: the matrix, the recorded calls, and its provenance.",
};

static void find_largest(const matrix *view, struct view_summary *s)
{
    for (size_t row = 0; row < view->rows; row++)
        for (size_t i = view->row_start[row]; i < view->row_start[row + 1]; i++)
            if (view->col[i] != row && view->value[i] > s->largest) {
                s->largest = view->value[i];
                s->rank[0] = row;
                s->rank[1] = view->col[i];
            }
}

static void summarise_view(const matrix *view, struct view_summary *s)
{
    int64_t inside;
    size_t *node = tool_allocate(view->rows, sizeof *node);
    *s = (struct view_summary){.entries = view->row_start[view->rows]};
    int rc = setmatch_weight(view, node, &inside, &s->weight);
    if (rc != 0)
        exit(tool_fail("the weights: %s", strerror(-rc)));
    find_largest(view, s);
    free(node);
}

/* ---- text ---- */

static void print_pattern(const view_file *f, size_t k)
{
    const access_pattern *a = &f->pattern[k];
    int64_t bytes = 0;
    matrix_sum(&f->bytes[k], &bytes);
    printf("calls %" PRId64 " of %" PRId64 " bytes in %zu bins of %" PRId64 " from %" PRId64 " in ",
           a->calls, bytes / a->calls, f->bytes[k].cols, a->unit, a->first);
    base_put_escaped(stdout, a->file);
    putchar('\n');
}

static storage_layout *read_layout(const struct show_options *options, const view_layout *recorded)
{
    storage_layout *layout = NULL;
    matrix_error error = {0, ""};
    int rc = storage_read_recorded(recorded->text, recorded->line, &layout, &error);
    if (rc != 0)
        exit(tool_fail_reading(options->file, rc, &error));
    return layout;
}

/* The stripes of the first extent: nearly all files have one. */
static void print_layout(const struct show_options *options, const view_layout *recorded)
{
    storage_layout *layout = read_layout(options, recorded);
    storage_extent e;
    storage_get_extent(layout, 0, &e);
    printf("stripes %zu of %" PRId64 " on", e.count, e.unit);
    for (size_t t = 0; t < storage_targets(layout) && t < MOST_TARGETS; t++) {
        const char *host = storage_target_host(layout, t);
        printf(" %" PRIu64 "%s%s", storage_target_number(layout, t), host != NULL ? "@" : "",
               host != NULL ? host : "");
    }
    printf("%s in ", storage_targets(layout) > MOST_TARGETS ? " ..." : "");
    base_put_escaped(stdout, recorded->file);
    putchar('\n');
    storage_free(layout);
}

/* Both cut the comments into lines in place. */
static void print_view(const struct show_options *options, view_file *f,
                       const struct view_summary *s)
{
    printf("ranks %zu\nentries %zu\nweight %" PRId64 "\nlargest %" PRId64, f->view.rows, s->entries,
           s->weight, s->largest);
    if (s->largest > 0)
        printf(" between ranks %zu and %zu", s->rank[0], s->rank[1]);
    putchar('\n');
    for (size_t k = 0; k < f->patterns; k++)
        print_pattern(f, k);
    for (size_t k = 0; k < f->layouts; k++)
        print_layout(options, &f->layout[k]);
    for (char *rest = NULL, *line = strtok_r(f->comments, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        printf("%% ");
        base_put_escaped(stdout, line);
        putchar('\n');
    }
}

/* ---- JSON ---- */

static void put_pattern(json_writer *w, const access_pattern *a, const matrix *m)
{
    int64_t bytes = 0;
    matrix_sum(m, &bytes);
    json_begin_object(w, NULL);
    json_put_string(w, "file", a->file);
    json_put_int64(w, "calls", a->calls);
    json_put_int64(w, "first", a->first);
    json_put_int64(w, "bin_bytes", a->unit);
    json_put_size(w, "bins", m->cols);
    json_put_size(w, "entries", m->row_start[m->rows]);
    json_put_int64(w, "bytes", bytes);
    json_end_object(w);
}

static void put_layout(json_writer *w, const struct show_options *options,
                       const view_layout *recorded)
{
    storage_layout *layout = read_layout(options, recorded);
    storage_extent e;
    storage_get_extent(layout, 0, &e);
    json_begin_object(w, NULL);
    json_put_string(w, "file", recorded->file);
    json_put_size(w, "extents", storage_extents(layout));
    json_put_int64(w, "stripe_bytes", e.unit);
    json_put_size(w, "stripe_count", e.count);
    json_begin_array(w, "targets");
    for (size_t t = 0; t < storage_targets(layout); t++) {
        json_begin_object(w, NULL);
        json_put_int64(w, "number", (int64_t)storage_target_number(layout, t));
        if (storage_target_host(layout, t) != NULL)
            json_put_string(w, "host", storage_target_host(layout, t));
        json_end_object(w);
    }
    json_end_array(w);
    json_end_object(w);
    storage_free(layout);
}

static void print_view_json(const struct show_options *options, view_file *f,
                            const struct view_summary *s)
{
    tool_json json;
    json_writer *w = tool_json_begin(&json);
    json_begin_object(w, NULL);
    json_put_size(w, "ranks", f->view.rows);
    json_put_size(w, "entries", s->entries);
    json_put_int64(w, "weight", s->weight);
    json_put_int64(w, "largest", s->largest);
    if (s->largest > 0)
        json_put_sizes(w, "largest_between", s->rank, 2);
    json_begin_array(w, "profile");
    for (size_t k = 0; k < f->patterns; k++)
        put_pattern(w, &f->pattern[k], &f->bytes[k]);
    json_end_array(w);
    json_begin_array(w, "layouts");
    for (size_t k = 0; k < f->layouts; k++)
        put_layout(w, options, &f->layout[k]);
    json_end_array(w);
    json_begin_array(w, "provenance");
    for (char *rest = NULL, *line = strtok_r(f->comments, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        json_put_string(w, NULL, line);
    json_end_array(w);
    json_end_object(w);
    tool_json_end(&json);
}

/* Before anything is printed: ends the program after a message if one is malformed. */
static void check_layouts(const struct show_options *options, const view_file *f)
{
    for (size_t k = 0; k < f->layouts; k++)
        storage_free(read_layout(options, &f->layout[k]));
}

int dla_show(int argc, char **argv)
{
    struct show_options options = {.file = NULL};
    view_file file;
    struct view_summary s;
    tool_parse(&show_argp, argc, argv, &options);
    problem_read_view(options.file, &file);
    check_layouts(&options, &file);
    summarise_view(&file.view, &s);
    (options.json ? print_view_json : print_view)(&options, &file, &s);
    view_file_release(&file);
    return 0;
}
