/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for the user. Local. */
#ifndef MCA_FCOLL_TATP_HELP_H
#define MCA_FCOLL_TATP_HELP_H

#include <stdarg.h>

#define TATP_HELP_FILE "help-fcoll-tatp.txt"

/* Prints one message of the help file on standard error, for what one rank reports for all ranks.
 * Open MPI's own path through mpirun, which folds equal messages of many ranks into one, now and
 * then loses a message of an application process (4.1 with PMIx 4). */
void tatp_show_help(const char *topic, va_list arguments);

#endif
