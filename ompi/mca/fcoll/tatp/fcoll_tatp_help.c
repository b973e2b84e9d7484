/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for the user. */
#include "ompi_config.h"

#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"

#include "base/help.h"

/* opal_show_help_vstring knows no files of components in some releases. */
void tatp_show_help(const char *topic, va_list arguments)
{
    static const char here;
    char *path = base_find_help(&here, TATP_HELP_DIR, TATP_HELP_FILE);
    base_show_topic(path, topic, arguments);
    free(path);
}
