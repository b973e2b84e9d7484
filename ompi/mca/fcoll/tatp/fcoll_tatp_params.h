/* SPDX-License-Identifier: BSD-3-Clause */
/* MCA parameters and hints. Values may change between files: a program may set the parameters. */
#ifndef MCA_FCOLL_TATP_PARAMS_H
#define MCA_FCOLL_TATP_PARAMS_H

#include "ompi_config.h"

#include <stdbool.h>

#include "ompi/mca/common/ompio/common_ompio.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan.h"

#include "access/neighbours.h"

int tatp_params_register(void);
/* For the component's close. */
void tatp_params_release(void);
/* Reports the first value that cannot be used. OMPI or MPI error code. */
int tatp_params_check(void);

/* What plans of a file depend on, by the hints that it was opened with, the parameters and the file
 * system. The same on all ranks. */
tatp_plan_settings tatp_params_settings(ompio_file_t *fh);

/* What does not concern plans; of files, empty or NULL is off. */
typedef struct tatp_params {
    const char *topology, *record_file, *stats_file;
    access_weight record_weight;
    bool shared_memory;
} tatp_params;
tatp_params tatp_params_get(void);

#endif
