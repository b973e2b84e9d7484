/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for the user. */
#include "ompi_config.h"

#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/compat/compat.h"
#include "opal/util/component_help.h"
#include "opal/util/show_help.h"

/* The text from the line "[topic]" of the help file to the next topic; NULL: none. The caller frees
 * it. */
static char *read_topic(FILE *file, const char *topic)
{
    char line[1024], *text = NULL;
    size_t size, length = strlen(topic);
    bool inside = false;
    FILE *out = open_memstream(&text, &size);
    while (NULL != out && NULL != fgets(line, sizeof line, file))
        if ('[' == line[0])
            inside = 0 == strncmp(line + 1, topic, length) && ']' == line[1 + length];
        else if (inside && '#' != line[0])
            fputs(line, out);
    if (NULL != out)
        fclose(out);
    return text;
}

/* As opal_show_help_vstring, which knows no files of components in some releases. */
static char *format_topic(const char *topic, va_list arguments)
{
    static const char bar[] =
        "--------------------------------------------------------------------------\n";
    static const char here;
    char path[4096], *text = NULL, *format = NULL, *body = NULL;
    if (OPAL_SUCCESS != component_help_find_dir(TATP_HELP_FILE, &here, path, sizeof path))
        snprintf(path, sizeof path, "%s", TATP_HELP_DIR);
    strncat(path, "/" TATP_HELP_FILE, sizeof path - strlen(path) - 1);
    FILE *file = fopen(path, "r");
    if (NULL != file) {
        format = read_topic(file, topic);
        fclose(file);
    }
    if (NULL != format && vasprintf(&body, format, arguments) < 0)
        body = NULL;
    if (NULL != body && asprintf(&text, "%s%s%s", bar, body, bar) < 0)
        text = NULL;
    free(body);
    free(format);
    return text;
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
        fputs(text, stderr);
    free(text);
}
