/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages from a help file in Open MPI's format: a line "[topic]", the lines of its text, a format
 * for printf, and comments that begin with #. Needs _GNU_SOURCE.
 */
#ifndef BASE_HELP_H
#define BASE_HELP_H

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

static inline void base_copy_topic(FILE *help, const char *topic, FILE *text)
{
    char *line = NULL;
    size_t room = 0, length = strlen(topic);
    bool is_topic = false;
    while (getline(&line, &room, help) != -1)
        if (line[0] == '[')
            is_topic = strncmp(line + 1, topic, length) == 0 && line[1 + length] == ']';
        else if (is_topic && line[0] != '#')
            fputs(line, text);
    free(line);
}

/* The text of the topic between two lines of dashes. The caller frees it. NULL: the file cannot be
 * read, or no memory. */
static inline char *base_help_topic(const char *path, const char *topic)
{
    static const char dashes[] =
        "--------------------------------------------------------------------------\n";
    char *format = NULL;
    size_t length;
    FILE *help = fopen(path, "r");
    FILE *text = help == NULL ? NULL : open_memstream(&format, &length);
    if (text != NULL) {
        fputs(dashes, text);
        base_copy_topic(help, topic, text);
        fputs(dashes, text);
        fclose(text);
    }
    if (help != NULL)
        fclose(help);
    return format;
}

/* The help file beside the shared object that has `here` or else, as for a static library, in the
 * folder `installed`. The caller frees it. NULL: no memory. */
static inline char *base_find_help(const void *here, const char *installed, const char *name)
{
    Dl_info object;
    char *path;
    const char *slash = dladdr(here, &object) == 0 ? NULL : strrchr(object.dli_fname, '/');
    if (slash != NULL &&
        asprintf(&path, "%.*s/%s", (int)(slash - object.dli_fname), object.dli_fname, name) >= 0) {
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return asprintf(&path, "%s/%s", installed, name) < 0 ? NULL : path;
}

/* Names of files and values may hold anything. In one call, so that messages of ranks do not mix.
 */
static inline void base_print_escaped(const char *text)
{
    char *whole = NULL, escaped[BASE_ESCAPED];
    size_t length;
    FILE *stream = open_memstream(&whole, &length);
    if (stream == NULL)
        return;
    while (*text != '\0') {
        size_t bytes = base_escape_character(text, escaped);
        fputs(*text == '\n' ? "\n" : escaped, stream);
        text += bytes;
    }
    if (fclose(stream) == 0)
        fputs(whole, stderr);
    free(whole);
}

/* Prints a topic on standard error. path: NULL: nothing. */
static inline void base_show_topic(const char *path, const char *topic, va_list arguments)
{
    char *text = NULL, *format = path == NULL ? NULL : base_help_topic(path, topic);
    if (format != NULL && vasprintf(&text, format, arguments) >= 0) {
        base_print_escaped(text);
        free(text);
    }
    free(format);
}

#endif
