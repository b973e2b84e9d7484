/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables on standard output; and JSON, an object in one line, or nothing when the command fails.
 */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include <stddef.h>

#include "json/json.h"

/* align has one letter per column: 'l' or 'r' for left or right. Initialise to {.align = ...}. */
typedef struct tool_table {
    const char *align;
    char **cell;
    size_t cells, capacity;
} tool_table;

/* Appends cells, row by row. A newline in the text separates two cells. */
void tool_table_add(tool_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends one cell with this text from a file, without control characters. */
void tool_table_add_text(tool_table *table, const char *text);

/* Prints with two blanks between columns, and releases the cells. */
void tool_table_print(tool_table *table);

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
