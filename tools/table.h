/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Tables that people read.
 */
#ifndef TOOLS_TABLE_H
#define TOOLS_TABLE_H

#include <stddef.h>

/* align has a letter for each column: 'l' or 'r', the side where its cells begin or end. */
typedef struct tool_table {
    const char *align;
    char **cell;
    size_t cells, room;
} tool_table;

/* The next cell; those of a row follow each other. */
void tool_table_add(tool_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints to stdout, two blanks between columns, and empties the table. */
void tool_table_print(tool_table *table);

#endif
