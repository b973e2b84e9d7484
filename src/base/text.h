/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Text from files that are not trusted: lines of bounded length, and what of it may be sent to a
 * terminal.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes of the character at `text`, 1 to 4; *valid: it is well-formed UTF-8 (Unicode, table 3-7).
 * The NUL at the end of a string ends every sequence. */
size_t base_character(const char *text, bool *valid);

/* Whether a list, separated by commas, has that item. */
bool base_lists(const char *list, const char *item);

/* Whether the valid character is a control character: U+0000 to U+001F, U+007F to U+009F. */
bool base_is_control(const char *text);

/* Copies as many characters as fit into `size` bytes, at least 1, and a NUL. The bytes of control
 * characters, of invisible ones, of those that change the direction of text, and of invalid UTF-8
 * are escaped as \x1b. */
void base_escape(char *to, size_t size, const char *text);

/* Writes the text, escaped so. */
void base_put_escaped(FILE *stream, const char *text);

/* Shows a message on standard error: its lines, escaped so, between lines of dashes. In one
 * call, so that messages of ranks do not mix. */
void base_show_message(const char *text);

/* Appends the next line, without its newline, to the *length characters of *line, and a NUL. 1; 0:
 * the stream has ended; -EMSGSIZE: more than `most` characters in *line; -EILSEQ: a NUL; -ENOMEM;
 * other errors of the stream. */
int base_append_line(FILE *stream, size_t most, char **line, size_t *capacity, size_t *length);

#endif
