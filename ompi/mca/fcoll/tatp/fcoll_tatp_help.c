/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for the user, and the identity of the job. */
#include "ompi_config.h"

#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/compat/compat.h"
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

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return NULL != value ? value : "";
}

/* The launcher's name for the job; the mpirun of Open MPI 4.1 draws a random key besides. A process
 * that was started alone may have neither. */
const char *tatp_job_id(void)
{
    static char id[256];
    const char *key = environment("OMPI_MCA_orte_precondition_transports");
    const char *job = environment("PMIX_NAMESPACE");
    int length = snprintf(id, sizeof id, "%s%s%s", key, *key && *job ? "." : "", job);
    if (length == 0 || (size_t)length >= sizeof id)
        snprintf(id, sizeof id, "%s.%ld", ompi_process_info.nodename, (long)ompi_process_info.pid);
    return id;
}
