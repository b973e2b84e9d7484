/* SPDX-License-Identifier: BSD-3-Clause */
/* dla convert: a view file as Matrix Market, which other programs read, and back. */
#include "dla.h"

#include <string.h>

#include "tool.h"

struct convert_options {
    const char *file;
    const char *const *format; /* of formats; NULL if it is not given */
};

static const char *const formats[] = {"mtx", "fileview", NULL};

static error_t parse_convert_option(int key, char *arg, struct argp_state *state)
{
    struct convert_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->file; return 0;
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
    .children = (const struct argp_child[]){{&tool_file_argp, 0, NULL, 0}, {0}},
    .doc = "Writes a view file in another format. Only fileview contains the profile.",
};

int dla_convert(int argc, char **argv)
{
    struct convert_options options = {.file = NULL};
    view_file file;
    tool_parse(&convert_argp, 0, argc, argv, &options);
    tool_read_view(options.file, &file);
    int rc = options.format == formats ? matrix_write_market(stdout, &file.view, file.comments)
                                       : view_file_write(stdout, &file);
    view_file_release(&file);
    const char *name = ferror(stdout) ? "standard output" : options.file;
    return rc == 0 ? 0 : tool_fail("%s: %s", name, strerror(-rc));
}
