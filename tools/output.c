/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* vasprintf, strsep, open_memstream */
#include "output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "tool.h"

static void add_cell(tool_table *table, char *cell)
{
    tool_reserve(&table->cell, &table->capacity, table->cells + 1, sizeof *table->cell);
    table->cell[table->cells++] = cell;
}

void tool_table_add_text(tool_table *table, const char *text)
{
    size_t size = strlen(text) * 4 + 1; /* an escaped byte takes 4 */
    char *cell = tool_allocate(size, 1);
    base_escape(cell, size, text);
    add_cell(table, cell);
}

void tool_table_add(tool_table *table, const char *format, ...)
{
    va_list args;
    char *text, *cell;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0)
        exit(tool_fail("out of memory"));
    for (char *rest = text; (cell = strsep(&rest, "\n")) != NULL;)
        add_cell(table, tool_copy(cell));
    free(text);
}

static void find_widths(const tool_table *table, size_t columns, size_t *width)
{
    for (size_t k = 0; k < table->cells; k++) {
        size_t length = strlen(table->cell[k]);
        if (width[k % columns] < length)
            width[k % columns] = length;
    }
}

/* The last column is not padded. */
static void print_cell(const char *text, char align, size_t width, int last)
{
    if (align == 'r')
        printf("%*s", (int)width, text);
    else
        printf("%-*s", last ? 0 : (int)width, text);
    fputs(last ? "\n" : "  ", stdout);
}

void tool_table_print(tool_table *table)
{
    size_t columns = strlen(table->align);
    size_t *width = tool_allocate(columns, sizeof *width);
    find_widths(table, columns, width);
    for (size_t k = 0; k < table->cells; k++) {
        size_t column = k % columns;
        print_cell(table->cell[k], table->align[column], width[column], column + 1 == columns);
        free(table->cell[k]);
    }
    free(width);
    free(table->cell);
    *table = (tool_table){.align = table->align};
}

/* ---- JSON ---- */

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
