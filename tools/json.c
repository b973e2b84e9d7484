/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON that a command prints. */
#include "json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool.h"

json_t *tool_json_text(const char *text)
{
    json_t *value = json_string(text);
    if (value != NULL)
        return value;
    char *copy = tool_copy(text);
    for (char *c = copy; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    value = json_string(copy);
    free(copy);
    return value;
}

json_t *tool_json_numbers(const size_t *number, size_t count)
{
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++)
        json_array_append_new(list, number[k] != SIZE_MAX ? json_integer((json_int_t)number[k])
                                                          : json_null());
    return list;
}

json_t *tool_json_reals(const double *number, size_t count)
{
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++)
        json_array_append_new(list, json_real(number[k]));
    return list;
}

json_t *tool_json_rows(const double *number, size_t rows, size_t columns)
{
    json_t *list = json_array();
    for (size_t i = 0; i < rows; i++) {
        json_t *row = json_array();
        for (size_t j = 0; j < columns; j++)
            json_array_append_new(row, json_real(number[j * rows + i]));
        json_array_append_new(list, row);
    }
    return list;
}

/* Memory that was short on the way shows here: something is missing. */
int tool_print_json(json_t *value)
{
    int rc = json_dumpf(value, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(value);
    putchar('\n');
    return rc == 0 ? 0 : tool_fail("the JSON cannot be written");
}
