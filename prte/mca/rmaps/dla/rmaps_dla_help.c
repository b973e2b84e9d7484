/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* vasprintf */
#include "rmaps_dla_help.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../../compat/prrte.h"
#include "base/help.h"
#include "dla/folder.h"
#include "rmaps_dla.h"

#define HELP_FILE "help-rmaps-dla.txt"

/* The help file is one folder up, because PRRTE would take it for a component, or where it is
 * installed. Returns the message before its arguments are put in, which the caller frees; NULL: it
 * cannot be read. */
static char *read_topic(const char *topic)
{
    static const char here;
    char folder[DLA_FOLDER_SIZE], *format = NULL, *name = NULL;

    if (0 != dla_folder_above(&here, HELP_FILE, folder))
        (void)snprintf(folder, sizeof folder, "%s", RMAPS_DLA_HELP_DIR);
    if (-1 == asprintf(&name, "%s/%s", folder, HELP_FILE))
        return NULL;
    format = base_help_topic(name, topic);
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

void dla_show_refusal(const char *reason)
{
    dla_show_help("bad-map-by", NULL == rmaps_dla.spec ? "dla" : rmaps_dla.spec, reason);
}
