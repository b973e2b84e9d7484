/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for the user. */
#include "ompi_config.h"

#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/help.h"
#include "base/text.h"

/* The file is beside the DSO, or else, as for a static library, where it is installed. */
static char *find_help_file(void)
{
    static const char here;
    Dl_info dso;
    char *path;
    const char *slash = 0 == dladdr(&here, &dso) ? NULL : strrchr(dso.dli_fname, '/');
    int folder = NULL == slash ? 0 : (int)(slash - dso.dli_fname);
    if (0 < folder && asprintf(&path, "%.*s/" TATP_HELP_FILE, folder, dso.dli_fname) >= 0) {
        if (0 == access(path, R_OK))
            return path;
        free(path);
    }
    return strdup(TATP_HELP_DIR "/" TATP_HELP_FILE);
}

/* As opal_show_help_vstring, which knows no files of components in some releases. */
static char *format_topic(const char *topic, va_list arguments)
{
    char *path = find_help_file(), *text = NULL;
    char *format = NULL == path ? NULL : base_help_topic(path, topic);
    if (NULL != format && vasprintf(&text, format, arguments) < 0)
        text = NULL;
    free(format);
    free(path);
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

void tatp_show_help(const char *topic, va_list arguments)
{
    char *text = format_topic(topic, arguments);
    if (NULL != text)
        print_escaped(text);
    free(text);
}
