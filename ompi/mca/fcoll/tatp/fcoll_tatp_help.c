/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for the user. */
#include "ompi_config.h"

#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/help.h"
#include "base/text.h"
#include "ompi/compat/compat.h"
#include "opal/util/component_help.h"
#include "opal/util/show_help.h"

/* As opal_show_help_vstring, which knows no files of components in some releases. */
static char *format_topic(const char *topic, va_list arguments)
{
    static const char here;
    char folder[4096], *path = NULL, *format = NULL, *text = NULL;
    if (OPAL_SUCCESS != component_help_find_dir(TATP_HELP_FILE, &here, folder, sizeof folder))
        snprintf(folder, sizeof folder, "%s", TATP_HELP_DIR);
    if (asprintf(&path, "%s/%s", folder, TATP_HELP_FILE) >= 0) {
        format = base_help_topic(path, topic);
        free(path);
    }
    if (NULL != format && vasprintf(&text, format, arguments) < 0)
        text = NULL;
    free(format);
    return text;
}

/* Names of files and values may hold anything. In one call, so that messages of ranks do not mix.
 */
static void print_escaped(const char *text)
{
    char *whole = NULL, escaped[BASE_ESCAPED];
    size_t length;
    FILE *stream = open_memstream(&whole, &length);
    if (NULL == stream)
        return;
    while ('\0' != *text) {
        size_t bytes = base_escape_character(text, escaped);
        fputs('\n' == *text ? "\n" : escaped, stream);
        text += bytes;
    }
    if (0 == fclose(stream))
        fputs(whole, stderr);
    free(whole);
}

void tatp_show_help(const char *topic, ...)
{
    va_list arguments;
    va_start(arguments, topic);
    char *text = COMPAT_HELP_IS_BUILT_IN
                     ? format_topic(topic, arguments)
                     : opal_show_help_vstring(TATP_HELP_FILE, topic, true, arguments);
    va_end(arguments);
    if (NULL != text)
        print_escaped(text);
    free(text);
}
