/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rmaps/dla in PRRTE: the names that orte/shared uses. prrte.h has those that differ between
 * releases.
 */
#ifndef RMAPS_DLA_PRTE_H
#define RMAPS_DLA_PRTE_H

#include "prte/compat/prrte.h"

#define RTE(name) PRTE_##name
#define rte(name) prte_##name
#define core(name) pmix_##name
#define core_macro(name) PMIX_##name
#define core_list_destruct PMIX_LIST_DESTRUCT
typedef prte_rmaps_options_t rte_options;
#define RTE_JOB_NAME(job) PRTE_JOBID_PRINT((job)->nspace)
#define RTE_OVERSUBSCRIBES(job, options) ((options)->oversubscribe)
#define RTE_JOB_FLAG_INTERNAL PRTE_JOB_FLAG_TOOL
#define RTE_SHOW_TEXT prrte_show_text
#define RTE_LAUNCH()

#endif
