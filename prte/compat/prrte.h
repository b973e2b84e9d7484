/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the components use of PRRTE, and what differs between its releases. All of PRRTE's headers
 * are included here; where they are not installed, prrte5.h declares what is needed of them.
 */
#ifndef PRRTE_COMPAT_H
#define PRRTE_COMPAT_H

#ifdef PRRTE_DECLARED
#include "prrte5.h"
#else
#include "prte_config.h"

#include "prte_version.h"

#include "constants.h"
#include "src/mca/base/pmix_base.h"
#include "src/mca/errmgr/errmgr.h"
#include "src/mca/rmaps/base/base.h"
#include "src/mca/rmaps/base/rmaps_private.h"
#include "src/mca/rmaps/rmaps.h"
#include "src/mca/schizo/base/base.h"
#include "src/mca/schizo/schizo.h"
#include "src/runtime/runtime.h"
#include "src/util/attr.h"
#include "src/util/error_strings.h"
#include "src/util/name_fns.h"
#include "src/util/pmix_cmd_line.h"
#include "src/util/proc_info.h"
#include "src/util/prte_cmd_line.h"
#endif

#include "src/class/pmix_list.h"
#include "src/class/pmix_pointer_array.h"
#include "src/mca/base/pmix_mca_base_vari.h"
#include "src/util/pmix_output.h"
#include "src/util/pmix_show_help.h"

#include <pmix_version.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The default of --map-by, as a parameter in the environment. */
#define PRRTE_POLICY_VARIABLE                                                                      \
    (PRTE_VERSION_MAJOR > 3 || PRTE_VERSION_RELEASE >= 13                                          \
         ? "PRTE_MCA_mapby"                                                                        \
         : "PRTE_MCA_rmaps_default_mapping_policy")

/* PRRTE 5.0.0rc1. The PRRTE 5 in Open MPI's own sources has the interfaces of PRRTE 3. */
#ifdef PRTE_MCA_BASE_VERSION
#define PRRTE_BY_CONTEXT 1
#define PRRTE_RMAPS_VERSION PRTE_MCA_BASE_VERSION(rmaps)
#define PRRTE_SCHIZO_VERSION PRTE_MCA_BASE_VERSION(schizo)
/* The arguments of a program, the folder in which it is started, and variables for it:
 * prrte5_types.h lacks them. */
#define RTE_ARGUMENTS(context) NULL
#define RTE_FOLDER(context) NULL
#define RTE_TELL_RANKS(context, name, value) ((void)(context))
/* The parameters in a file. */
#define PRRTE_READ_PARAMETERS(file, values)
/* The name of the one mapper that the user demands; NULL if there is none. */
#define RTE_DEMANDED_MAPPER(job)                                                                   \
    ((void)(job), 1 == pmix_list_get_size(&prte_rmaps_base.selected_modules) ? "dla" : NULL)

#else

#define PRRTE_BY_CONTEXT 0
#define PRRTE_RMAPS_VERSION PRTE_RMAPS_BASE_VERSION_4_0_0
#define PRRTE_SCHIZO_VERSION PRTE_MCA_SCHIZO_BASE_VERSION_1_0_0
#define RTE_ARGUMENTS(context) ((context)->argv)
#define RTE_FOLDER(context) ((context)->cwd)
#define RTE_TELL_RANKS(context, name, value)                                                       \
    ((void)pmix_setenv(name, value, false, &(context)->env))
#define RTE_DEMANDED_MAPPER(job) ((const char *)(job)->map->req_mapper)
#define PRRTE_READ_PARAMETERS(file, values) ((void)pmix_mca_base_parse_paramfile(file, values))

#endif

/* How schizo/dla hands the text of --map-by dla... to rmaps/dla: as a parameter. */
#define PRRTE_SPEC_VARIABLE "PRTE_MCA_rmaps_dla_spec"

/* From 3.0.7 on this function has an argument more. */
#define PRRTE_HAS_KEEPALL(major, minor, release) ((major) > 3 || (minor) > 0 || (release) >= 7)

static inline int prrte_get_target_nodes(pmix_list_t *list, int32_t *slots, prte_job_t *jdata,
                                         prte_app_context_t *context, prte_mapping_policy_t policy,
                                         bool initial)
{
#if PRRTE_HAS_KEEPALL(PRTE_VERSION_MAJOR, PRTE_VERSION_MINOR, PRTE_VERSION_RELEASE)
    return prte_rmaps_base_get_target_nodes(list, slots, jdata, context, policy, initial, false,
                                            false);
#else
    return prte_rmaps_base_get_target_nodes(list, slots, jdata, context, policy, initial, false);
#endif
}

/* Some releases note themselves who mapped a job. */
static inline void prrte_note_mapper(prte_job_t *jdata, const char *name)
{
#if PRRTE_BY_CONTEXT
    (void)jdata;
    (void)name;
#else
    free(jdata->map->last_mapper);
    jdata->map->last_mapper = strdup(name);
#endif
}

/* Whether the application contexts of the job are mapped one by one, each by options of its own. */
static inline bool prrte_maps_by_context(const prte_rmaps_options_t *options)
{
#if PRRTE_BY_CONTEXT
    return 0 <= options->app_idx;
#else
    (void)options;
    return false;
#endif
}

/* Local ranks, for a job whose ranks are placed. */
static inline int prrte_rank_locally(prte_job_t *jdata, prte_rmaps_options_t *options)
{
    options->userranked = true; /* otherwise PRRTE ranks anew */
#if PRRTE_BY_CONTEXT
    return prte_rmaps_base_compute_vpids(jdata, options, -1, NULL);
#else
    return prte_rmaps_base_compute_vpids(jdata, options);
#endif
}

/* Shows a message that is complete. */
static inline void prrte_show_text(const char *text)
{
#if PMIX_VERSION_MAJOR >= 7
    (void)pmix_show_help_norender(NULL, "rmaps_dla", text, text);
#else
    (void)pmix_show_help_norender("rmaps_dla", text, text);
#endif
}

#define PRRTE_REASON_SIZE 256

/* Whether the PRRTE that runs is as the components were built for: its structs differ between
 * releases, and a struct that is taken for another one is memory that is overwritten. Compares the
 * release, the sizes of structs, and how PRRTE's functions use objects that are made for it. Sets
 * `reason` where something differs. */
bool prrte_fits(char reason[PRRTE_REASON_SIZE]);

#endif
