/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* vasprintf */
#include "rmaps_dla_help.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../compat/prrte.h"
#include "dla/folder.h"

#define HELP_FILE "help-rmaps-dla.txt"

static const char dashes[] =
    "--------------------------------------------------------------------------\n";

/* Copies the lines of the topic, up to the next one; a line that begins with # is a comment. */
static void copy_topic(FILE *help, const char *topic, FILE *text)
{
    char *line = NULL;
    size_t room = 0, length = strlen(topic);
    bool is_topic = false;

    while (-1 != getline(&line, &room, help))
        if ('[' == line[0])
            is_topic = 0 == strncmp(line + 1, topic, length) && ']' == line[1 + length];
        else if (is_topic && '#' != line[0])
            (void)fputs(line, text);
    free(line);
}

/* The help file is one folder up: PRRTE would take it for a component. Returns the message before
 * its arguments are put in, which the caller frees; NULL: it cannot be read. */
static char *read_topic(const char *topic)
{
    char folder[DLA_FOLDER_SIZE], *format = NULL, *name = NULL;
    size_t length;
    FILE *help = NULL, *text = NULL;

    if (0 != dla_folder_above(dashes, HELP_FILE, folder) ||
        -1 == asprintf(&name, "%s/%s", folder, HELP_FILE))
        return NULL;
    help = fopen(name, "r");
    text = NULL == help ? NULL : open_memstream(&format, &length);
    if (NULL != text) {
        (void)fputs(dashes, text);
        copy_topic(help, topic, text);
        (void)fputs(dashes, text);
        (void)fclose(text);
    }
    if (NULL != help)
        (void)fclose(help);
    free(name);
    return format;
}

void dla_show_help(const char *topic, ...)
{
    char *format = read_topic(topic), *text = NULL;
    va_list args;

    va_start(args, topic);
    if (NULL == format || -1 == vasprintf(&text, format, args))
        text = NULL;
    va_end(args);
    if (NULL != text)
        prrte_show_text(HELP_FILE, topic, text);
    else
        pmix_output(0, "rmaps:dla: %s (the help file %s cannot be read)", topic, HELP_FILE);
    free(text);
    free(format);
}
