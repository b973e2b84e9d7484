/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading lines, scanning tokens, reporting errors. */
#include "topo/text.h"

#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines ---- */

/* Appends the next line at `used`. 1, 0 at the end, or an error. */
static int read_rest_of_line(text_lines *text, size_t *used)
{
    int rc =
        base_append_line(text->stream, TEXT_MOST_CHARACTERS, &text->line, &text->capacity, used);
    if (rc < 0)
        return matrix_refuse_line(text->error, text->passed + 1, TEXT_MOST_CHARACTERS, rc);
    text->passed += (size_t)rc;
    return rc;
}

int text_next(text_lines *text)
{
    size_t used = 0;
    int rc = read_rest_of_line(text, &used);
    text->number = text->passed;
    while (rc == 1) {
        while (used > 0 && memchr(" \t\r", text->line[used - 1], 3) != NULL)
            used--;
        if (used == 0 || text->line[used - 1] != '\\')
            break;
        used--;
        rc = read_rest_of_line(text, &used);
        rc = rc == 0 ? 1 : rc;
        if (feof(text->stream))
            break;
    }
    if (rc == 1)
        text->line[used] = '\0';
    return rc;
}

/* ---- tokens ---- */

const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

int scan_text(const char **at, const char *expected)
{
    size_t length = strlen(expected);
    if (strncmp(*at, expected, length) != 0)
        return 0;
    *at += length;
    return 1;
}

static int scan_base(const char **at, int base, uint64_t most, uint64_t *number)
{
    size_t length = strspn(*at, base == 10 ? "0123456789" : "0123456789abcdefABCDEF");
    errno = 0;
    uint64_t value = length > 0 ? strtoull(*at, NULL, base) : 0;
    if (length == 0 || errno != 0 || value > most)
        return 0;
    *at += length;
    *number = value;
    return 1;
}

int scan_number(const char **at, uint64_t most, uint64_t *number)
{
    return scan_base(at, 10, most, number);
}

int scan_hex(const char **at, uint64_t *number)
{
    return scan_base(at, 16, UINT64_MAX, number);
}

int scan_quoted(const char **at, const char **start, size_t *length)
{
    if (**at != '"')
        return 0;
    const char *end = strchr(*at + 1, '"');
    if (end == NULL)
        return 0;
    *start = *at + 1;
    *length = (size_t)(end - *start);
    *at = end + 1;
    return 1;
}

int scan_port(const char **at, uint32_t *port)
{
    const char *p = *at;
    uint64_t number;
    if (!scan_text(&p, "[") || !scan_number(&p, UINT16_MAX, &number) || !scan_text(&p, "]"))
        return 0;
    *at = p;
    *port = (uint32_t)number;
    return 1;
}
