/* SPDX-License-Identifier: BSD-3-Clause */
/* dla show: prints the contents of a view file. dla convert: a view file as Matrix Market, which
 * other programs read, and back. */
#include "dla.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output.h"
#include "setmatch/setmatch.h"
#include "tool.h"

/* Sums up the view matrix. `largest` is the largest value between two ranks, 0 if there is none. */
struct view_summary {
    size_t entries;
    int64_t weight, largest;
    size_t rank[2]; /* of the largest value */
};

static const struct argp show_argp = {
    .args_doc = "FILE",
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
    tool_check(setmatch_weight(view, node, &inside, &s->weight), "the weights");
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

/* Both cut the comments into lines in place. */
static void show_view(view_file *f, const struct view_summary *s)
{
    printf("ranks %zu\nentries %zu\nweight %" PRId64 "\nlargest %" PRId64, f->view.rows, s->entries,
           s->weight, s->largest);
    if (s->largest > 0)
        printf(" between ranks %zu and %zu", s->rank[0], s->rank[1]);
    putchar('\n');
    for (size_t k = 0; k < f->patterns; k++)
        print_pattern(f, k);
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

static void show_view_json(view_file *f, const struct view_summary *s)
{
    tool_json json;
    json_writer *w = tool_json_begin(&json);
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
    json_begin_array(w, "provenance");
    for (char *rest = NULL, *line = strtok_r(f->comments, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        json_put_string(w, NULL, line);
    json_end_array(w);
    tool_json_end(&json);
}

int dla_show(int argc, char **argv)
{
    tool_options options = {.file = NULL};
    view_file file;
    struct view_summary s;
    tool_parse(&show_argp, TOOL_JSON, argc, argv, &options);
    tool_read_view(options.file, &file);
    summarise_view(&file.view, &s);
    (options.json ? show_view_json : show_view)(&file, &s);
    view_file_release(&file);
    return 0;
}

/* ---- convert ---- */

struct convert_options {
    tool_options common;
    const char *const *format; /* of formats; NULL if it is not given */
};

static const char *const formats[] = {"mtx", "fileview", NULL};

static error_t parse_convert_option(int key, char *arg, struct argp_state *state)
{
    struct convert_options *options = state->input;
    switch (key) {
    case 't':
        options->format = tool_choose(state, "format", arg, formats, sizeof *formats);
        return 0;
    case ARGP_KEY_END:
        if (options->format == NULL)
            argp_error(state, "--to is needed");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp convert_argp = {
    .options = (const struct argp_option[]){{"to", 't', "FORMAT", 0, "mtx or fileview", 0}, {0}},
    .parser = parse_convert_option,
    .args_doc = "FILE",
    .doc = "Writes a view file in another format. Only fileview contains the profile.",
};

int dla_convert(int argc, char **argv)
{
    struct convert_options options = {.format = NULL};
    view_file file;
    tool_parse(&convert_argp, 0, argc, argv, &options);
    tool_read_view(options.common.file, &file);
    int rc = options.format == formats ? matrix_write_market(stdout, &file.view, file.comments)
                                       : view_file_write(stdout, &file);
    view_file_release(&file);
    const char *name = ferror(stdout) ? "standard output" : options.common.file;
    return rc == 0 ? 0 : tool_fail("%s: %s", name, strerror(-rc));
}
