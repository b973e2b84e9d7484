/* SPDX-License-Identifier: BSD-3-Clause
 *
 * JSON on standard output: an object in one line, or nothing when the command fails.
 */
#ifndef TOOLS_TOOL_JSON_H
#define TOOLS_TOOL_JSON_H

#include <argp.h>

#include "json/json.h"

/* A child of a command's argp for --json; its input is a bool *. */
extern const struct argp tool_json_argp;

typedef struct tool_json {
    json_writer w; /* to a buffer */
    char *text;
    size_t length;
} tool_json;

/* Begins the object. The struct must not move until tool_json_end. Returns its writer. Ends the
 * program when out of memory. */
json_writer *tool_json_begin(tool_json *json);

/* Ends the object, prints the line, and releases the buffer. */
void tool_json_end(tool_json *json);

#endif
