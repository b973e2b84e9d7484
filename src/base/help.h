/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages from a help file in Open MPI's format: a line "[topic]", the lines of its text, a format
 * for printf, and comments that begin with #.
 */
#ifndef BASE_HELP_H
#define BASE_HELP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

#endif
