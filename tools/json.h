/* SPDX-License-Identifier: BSD-3-Clause
 *
 * JSON that a command prints.
 */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <jansson.h>
#include <stddef.h>

/* A string; bytes that are no UTF-8 become question marks. */
json_t *tool_json_text(const char *text);

/* A list of whole numbers, null for SIZE_MAX. */
json_t *tool_json_numbers(const size_t *number, size_t count);

/* A list of numbers that need not be whole. */
json_t *tool_json_reals(const double *number, size_t count);

/* A list of rows, each a list; number[j * rows + i] is that of row i and column j. */
json_t *tool_json_rows(const double *number, size_t rows, size_t columns);

/* Prints one line to stdout and gives the value up. Returns 0, or TOOL_FAILURE after a message. */
int tool_print_json(json_t *value);

#endif
