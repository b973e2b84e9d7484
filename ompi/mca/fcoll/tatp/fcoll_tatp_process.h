/* SPDX-License-Identifier: BSD-3-Clause */
/* This process, for src/collective: the job, the machine, messages to the user. */
#ifndef MCA_FCOLL_TATP_PROCESS_H
#define MCA_FCOLL_TATP_PROCESS_H

#include "collective/process.h"

/* Made when it is first asked for. */
coll_process *tatp_process(void);
/* Has what the process recorded written when MPI is finalized. */
void tatp_process_records(void);
/* Frees what is kept for later files; for the component's close. */
void tatp_process_release(void);

#endif
