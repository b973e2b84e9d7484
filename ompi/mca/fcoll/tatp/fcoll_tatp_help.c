/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for the user, and the identity of the job. */
#include "ompi_config.h"

#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/mca/rte/rte.h"
#include "opal/util/show_help.h"

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

/* mpirun draws a random key for each job. */
const char *tatp_job_id(void)
{
    static char id[96];
    const char *key = getenv("OMPI_MCA_orte_precondition_transports");
    if (NULL != key && strlen(key) < sizeof id)
        return strcpy(id, key);
    snprintf(id, sizeof id, "%s.%ld", ompi_process_info.nodename, (long)ompi_process_info.pid);
    return id;
}
