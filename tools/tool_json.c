/* SPDX-License-Identifier: BSD-3-Clause */
#include "tool_json.h"

#include <stdlib.h>

#include "tool.h"

static error_t parse_json_option(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key != 'j')
        return ARGP_ERR_UNKNOWN;
    *(bool *)state->input = true;
    return 0;
}

const struct argp tool_json_argp = {
    .options = (const struct argp_option[]){{"json", 'j', NULL, 0, "Print JSON", 0}, {0}},
    .parser = parse_json_option,
};

json_writer *tool_json_begin(tool_json *json)
{
    *json = (tool_json){.text = NULL};
    json->w = (json_writer){.out = open_memstream(&json->text, &json->length)};
    if (json->w.out == NULL)
        exit(tool_fail("out of memory"));
    json_begin_object(&json->w, NULL);
    return &json->w;
}

void tool_json_end(tool_json *json)
{
    json_end_object(&json->w);
    if (fclose(json->w.out) != 0)
        exit(tool_fail("out of memory"));
    puts(json->text);
    free(json->text);
}
