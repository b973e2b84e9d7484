/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables on standard output.
 */
#ifndef TOOLS_TABLE_H
#define TOOLS_TABLE_H

#include <stddef.h>

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

#endif
