/* SPDX-License-Identifier: BSD-3-Clause */
/* MCA parameters, and hints that take precedence over them. Values may change between files: a
 * program may set the parameters. */
#ifndef MCA_FCOLL_TATP_PARAMS_H
#define MCA_FCOLL_TATP_PARAMS_H

#include "ompi_config.h"

#include <stdbool.h>

#include "ompi/mca/common/ompio/common_ompio.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_hints.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_settings.h"

int tatp_params_register(void);
/* Whether this process has values that cannot be used, which were reported: OMPI_SUCCESS or
 * tatp_params_refuse's result. */
int tatp_params_check(void);
/* A parameter, or a file that it names, cannot be used, which was reported: the result is `error`
 * where parameter strict is set, and OMPI_SUCCESS otherwise. */
int tatp_params_refuse(int error);

/* Of the component; automatic: runs are recorded in the user's cache, with which it comes before
 * the stock components as long as the parameter is the default. */
int tatp_params_priority(bool automatic);

/* This rank's settings of a file that is opened with these hints. Local. */
tatp_settings tatp_params_collect(ompio_file_t *fh, const tatp_hint_values *hints);
/* What plans of a file depend on; the same on all ranks if the settings are. Local. */
tatp_plan_settings tatp_params_plan(const ompio_file_t *fh, const tatp_settings *settings);
/* The hints that these settings mean, for MPI_File_get_info. given: the user's; aggregators: the
 * number of them in the last call, where it is chosen; 0: not known. */
tatp_hint_values tatp_params_hints(const tatp_plan_settings *settings,
                                   const tatp_hint_values *given, int64_t aggregators);

/* The value of a parameter that is a text; empty: none. */
const char *tatp_params_text(enum parameter parameter);

#endif
