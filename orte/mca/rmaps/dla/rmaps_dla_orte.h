/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rmaps/dla in ORTE: the names that orte/shared uses.
 */
#ifndef RMAPS_DLA_ORTE_H
#define RMAPS_DLA_ORTE_H

#include "orte_config.h"

#include "opal/class/opal_list.h"
#include "opal/class/opal_pointer_array.h"
#include "opal/util/opal_environ.h"
#include "opal/util/output.h"
#include "orte/constants.h"
#include "orte/mca/rmaps/base/base.h"
#include "orte/mca/rmaps/base/rmaps_private.h"
#include "orte/runtime/orte_globals.h"
#include "orte/util/name_fns.h"
#include "orte/util/show_help.h"

#define RTE(name) ORTE_##name
#define rte(name) orte_##name
#define core(name) opal_##name
#define core_macro(name) OBJ_##name
#define core_list_destruct OPAL_LIST_DESTRUCT
typedef void rte_options; /* there are none */
#define RTE_JOB_NAME(job) ORTE_JOBID_PRINT((job)->jobid)
#define RTE_OVERSUBSCRIBES(job, options)                                                           \
    (!(ORTE_MAPPING_NO_OVERSUBSCRIBE & ORTE_GET_MAPPING_DIRECTIVE((job)->map->mapping)))
#define RTE_JOB_FLAG_INTERNAL ORTE_JOB_FLAG_DEBUGGER_DAEMON
#define RTE_LAUNCH() (orte_do_not_launch = false)
#define RTE_SHOW_TEXT(text) orte_show_help_norender("rmaps_dla", text, true, text)
#define RTE_DEMANDED_MAPPER(job) ((const char *)(job)->map->req_mapper)
#define RTE_ARGUMENTS(context) ((context)->argv)
#define RTE_FOLDER(context) ((context)->cwd)
#define RTE_TELL_RANKS(context, name, value)                                                       \
    ((void)opal_setenv(name, value, false, &(context)->env))

/* Acquires the mapping policy if it is for this component ("dla..."): replaces it by a stock policy
 * before Open MPI parses it, wherever mpirun and its daemons read it. Returns the replaced text,
 * which the caller frees; NULL if the policy is another one or this process does not map. Call it
 * while the rmaps framework registers its components: its parameters are not parsed yet. */
char *dla_mapby_acquire(void);

#endif
