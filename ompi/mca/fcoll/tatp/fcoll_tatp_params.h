/* SPDX-License-Identifier: BSD-3-Clause */
/* MCA parameters. Values may change between files: a program may set the parameters. */
#ifndef MCA_FCOLL_TATP_PARAMS_H
#define MCA_FCOLL_TATP_PARAMS_H

#include "ompi_config.h"

#include <stdbool.h>

#include "ompi/mca/common/ompio/common_ompio.h"

#include "collective/settings.h"

int tatp_params_register(void);
/* Of the component; automatic: runs are recorded in the user's cache, with which it comes before
 * the stock components as long as the parameter is the default. */
int tatp_params_priority(bool automatic);

/* Of this process. Local, as all here. */
coll_parameters tatp_params_texts(void);
/* The value of a parameter that is a text; empty: none. */
const char *tatp_params_text(enum parameter parameter);

/* What OMPIO has for a file. */
coll_mpi_values tatp_params_of_file(ompio_file_t *fh);

#endif
