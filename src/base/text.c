/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* open_memstream */
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Room for a character whose bytes are all escaped, and a NUL. */
#define MOST_ESCAPED 17

size_t base_character(const char *text, bool *valid)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = 1, length = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    unsigned char low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;
    *valid = s[0] < 0x80 || (s[0] >= 0xc2 && s[0] <= 0xf4);
    while (*valid && n < length) {
        *valid = s[n] >= low && s[n] <= high;
        n += *valid;
        low = 0x80, high = 0xbf;
    }
    return n;
}

bool base_is_control(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

/* Whether the valid character is invisible or changes the direction of text: U+200B to U+200F,
 * U+2028 to U+202E, U+2060 to U+206F, the byte order mark U+FEFF. */
static bool is_invisible(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    return (s[0] == 0xe2 && s[1] == 0x80 &&
            ((s[2] >= 0x8b && s[2] <= 0x8f) || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
           (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf) ||
           (s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf);
}

/* Copies the character at `text`, as a string; the bytes of these characters and of invalid UTF-8
 * as \x1b. Returns the number of its bytes in `text`. */
static size_t escape_character(const char *text, char escaped[MOST_ESCAPED])
{
    bool valid;
    size_t length = base_character(text, &valid);
    if (valid && !base_is_control(text) && !is_invisible(text)) {
        memcpy(escaped, text, length);
        escaped[length] = '\0';
        return length;
    }
    for (size_t i = 0; i < length; i++)
        snprintf(escaped + 4 * i, 5, "\\x%02x", (unsigned)(unsigned char)text[i]);
    return length;
}

void base_escape(char *to, size_t size, const char *text)
{
    char escaped[MOST_ESCAPED];
    for (; *text != '\0'; to += strlen(escaped), size -= strlen(escaped)) {
        text += escape_character(text, escaped);
        if (strlen(escaped) >= size)
            break;
        strcpy(to, escaped);
    }
    *to = '\0';
}

static void put_characters(FILE *stream, const char *text, bool escapes_newlines)
{
    char escaped[MOST_ESCAPED];
    while (*text != '\0') {
        const char *at = text;
        text += escape_character(text, escaped);
        fputs(*at == '\n' && !escapes_newlines ? "\n" : escaped, stream);
    }
}

void base_put_escaped(FILE *stream, const char *text)
{
    put_characters(stream, text, true);
}

void base_show_message(const char *text)
{
    static const char dashes[] =
        "--------------------------------------------------------------------------\n";
    char *whole = NULL;
    size_t length;
    FILE *stream = open_memstream(&whole, &length);
    if (stream == NULL)
        return;
    fputs(dashes, stream);
    put_characters(stream, text, false);
    fputs(dashes, stream);
    if (fclose(stream) == 0)
        fputs(whole, stderr);
    free(whole);
}

bool base_lists(const char *list, const char *item)
{
    size_t length = strlen(item), end = strcspn(list, ",");
    while (list[end] != '\0' && (end != length || strncmp(list, item, length) != 0)) {
        list += end + 1;
        end = strcspn(list, ",");
    }
    return end == length && strncmp(list, item, length) == 0;
}

int base_append_line(FILE *stream, size_t most, char **line, size_t *capacity, size_t *length)
{
    int c = EOF, rc = base_reserve(line, capacity, *length + 1, 1), any = 0;
    errno = EIO;
    while (rc == 0 && (c = getc_unlocked(stream)) != EOF) {
        any = 1;
        if (c == '\n')
            break;
        rc = c == '\0' ? -EILSEQ : *length == most ? -EMSGSIZE : 0;
        if (rc == 0)
            rc = base_reserve(line, capacity, *length + 2, 1);
        if (rc == 0)
            (*line)[(*length)++] = (char)c;
    }
    if (rc == 0 && ferror(stream))
        rc = -errno;
    if (rc != 0)
        return rc;
    (*line)[*length] = '\0';
    return any;
}
