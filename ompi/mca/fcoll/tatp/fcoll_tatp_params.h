/* SPDX-License-Identifier: BSD-3-Clause */
/* MCA parameters. Values may change between files: a program may set the parameters. */
#ifndef MCA_FCOLL_TATP_PARAMS_H
#define MCA_FCOLL_TATP_PARAMS_H

#include "ompi_config.h"

#include <stdbool.h>

#include "ompi/mca/common/ompio/common_ompio.h"

#include "collective/settings.h"

int tatp_params_register(void);
/* Returns the component's priority. automatic: runs are recorded in the user's cache, with which it
 * comes before the stock components as long as the parameter is the default. */
int tatp_params_priority(bool automatic);

/* The value of a parameter that is a text; empty: none. */
const char *tatp_params_text(enum parameter parameter);

/* Collects what this process knows of a file with these hints, as far as OMPIO has it yet. */
coll_facts tatp_params_facts(ompio_file_t *fh, const coll_hint_values *hints);

#endif
