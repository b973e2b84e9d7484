/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text from files that are not trusted: lines of bounded length, and what of it may be sent to a
 * terminal.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Bytes of the character at s, 1 to 4; *valid: it is well-formed UTF-8 (Unicode, table 3-7). The
 * NUL at the end of a string ends every sequence. */
static inline size_t base_character(const char *text, bool *valid)
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

/* Whether the valid character is a control character: U+0000 to U+001F, U+007F to U+009F. */
static inline bool base_is_control(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

/* Whether the valid character is invisible or changes the direction of text: U+200B to U+200F,
 * U+2028 to U+202E, U+2060 to U+206F, the byte order mark U+FEFF. */
static inline bool base_is_invisible(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    return (s[0] == 0xe2 && s[1] == 0x80 &&
            ((s[2] >= 0x8b && s[2] <= 0x8f) || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
           (s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf) ||
           (s[0] == 0xef && s[1] == 0xbb && s[2] == 0xbf);
}

/* Room for a character whose bytes are all escaped, and a NUL. */
#define BASE_ESCAPED 17

/* Copies the character at `text`, as a string; the bytes of these characters and of invalid UTF-8
 * as \x1b. Returns the number of its bytes in `text`. */
static inline size_t base_escape_character(const char *text, char escaped[BASE_ESCAPED])
{
    bool valid;
    size_t length = base_character(text, &valid);
    if (valid && !base_is_control(text) && !base_is_invisible(text)) {
        memcpy(escaped, text, length);
        escaped[length] = '\0';
        return length;
    }
    for (size_t i = 0; i < length; i++)
        snprintf(escaped + 4 * i, 5, "\\x%02x", (unsigned)(unsigned char)text[i]);
    return length;
}

/* Copies as many characters as fit into `size` bytes, at least 1, escaped as above, and a NUL. */
static inline void base_escape(char *to, size_t size, const char *text)
{
    char escaped[BASE_ESCAPED];
    for (; *text != '\0'; to += strlen(escaped), size -= strlen(escaped)) {
        text += base_escape_character(text, escaped);
        if (strlen(escaped) >= size)
            break;
        strcpy(to, escaped);
    }
    *to = '\0';
}

/* Writes the text, escaped as above. */
static inline void base_put_escaped(FILE *stream, const char *text)
{
    char escaped[BASE_ESCAPED];
    while (*text != '\0') {
        text += base_escape_character(text, escaped);
        fputs(escaped, stream);
    }
}

/* Shows a message on standard error: its lines, escaped as above, between lines of dashes. In one
 * call, so that messages of ranks do not mix. */
static inline void base_show_message(const char *text)
{
    static const char dashes[] =
        "--------------------------------------------------------------------------\n";
    char *whole = NULL, escaped[BASE_ESCAPED];
    size_t length;
    FILE *stream = open_memstream(&whole, &length);
    if (stream == NULL)
        return;
    fputs(dashes, stream);
    while (*text != '\0') {
        size_t bytes = base_escape_character(text, escaped);
        fputs(*text == '\n' ? "\n" : escaped, stream);
        text += bytes;
    }
    fputs(dashes, stream);
    if (fclose(stream) == 0)
        fputs(whole, stderr);
    free(whole);
}

/* Appends the next line, without its newline, to the *length characters of *line, and a NUL. 1; 0:
 * the stream has ended; -EMSGSIZE: more than `most` characters in *line; -EILSEQ: a NUL; -ENOMEM;
 * other errors of the stream. */
static inline int base_append_line(FILE *stream, size_t most, char **line, size_t *capacity,
                                   size_t *length)
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

#endif
