/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for the user. */
#include "fcoll_tatp.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void tatp_show_help(const char *topic, ...)
{
    va_list arguments;
    va_start(arguments, topic);
    char *text = opal_show_help_vstring(TATP_HELP_FILE, topic, true, arguments);
    va_end(arguments);
    if (NULL != text)
        fputs(text, stderr);
    free(text);
}
