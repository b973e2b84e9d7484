/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rmaps/dla: maps the ranks of a job so that ranks that access neighbouring regions of a file share
 * a node. What the components for ORTE and for PRRTE share. PRRTE came from ORTE: rte() and RTE()
 * make the names of either, core() those of OPAL or PMIx, which have their lists and arrays.
 */
#ifndef RMAPS_DLA_H
#define RMAPS_DLA_H

#if defined(PRRTE_BUILT_FOR) || defined(PRRTE_DECLARED)

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

#else

#include "orte_config.h"

#include "opal/class/opal_list.h"
#include "opal/class/opal_pointer_array.h"
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
#define RTE_ENVIRONMENT(context) ((context)->env)
#define RTE_TELL_RANKS(context, marks) dla_tell_ranks(&(context)->env, marks)

/* Acquires the mapping policy if it is for this component ("dla..."): replaces it by a stock policy
 * before Open MPI parses it, wherever mpirun and its daemons read it. Returns the replaced text,
 * which the caller frees; NULL if the policy is another one or this process does not map. Call it
 * while the rmaps framework registers its components: its parameters are not parsed yet. */
char *dla_mapby_acquire(void);

#endif

typedef rte(job_t) rte_job;
typedef rte(node_t) rte_node;
typedef rte(app_context_t) rte_context;
typedef core(list_t) rte_list;

#include "base/arena.h"
#include "dla/arrange.h"
#include "dla/mapper.h"

/* Above all stock mappers that are selected by priority (the highest, ppr, has 90). */
#define DLA_DEFAULT_PRIORITY 95

/* MCA parameters */
typedef struct rmaps_dla_settings {
    int priority, verbose;
    char *map_by; /* the text of --map-by dla..., NULL without it */
    char *item[DLA_ITEMS];
} rmaps_dla_settings;
extern rmaps_dla_settings rmaps_dla;

/* The job for the mapper, and the launcher's objects behind its indices. */
typedef struct dla_layout {
    struct base_arena arena; /* of the arrays */
    dla_mapping mapping;
    rte_context **context; /* of each of mapping.job.apps */
    rte_node **node;       /* of each of mapping.job.nodes, each with a reference */
    size_t *index;         /* of each node of the pool in node[]; SIZE_MAX: not in it */
    dla_inside inside;     /* what the arrangement inside nodes is worth */
} dla_layout;

/* Gathers the nodes that each application context may use, and their capacities. Returns an error
 * code of the launcher, as all functions here; release after success only. */
int dla_layout_init(dla_layout *l, rte_job *jdata, rte_options *options, bool no_local);
void dla_layout_release(dla_layout *l);

/* Whether the job is for this mapper. */
bool dla_is_ours(rte_job *jdata);

/* Maps the job by the request, or returns ERR_TAKE_NEXT_OPTION. */
int dla_map_job(rte_job *jdata, rte_options *options);

/* Shows that nothing is started, and why. Returns ERR_SILENT. */
int dla_refuse(const char *reason);

/* For dla_check_parameters. */
void dla_report_unknown(const char *message);

/* ---- what each launcher has of its own ---- */

/* Whether a program of another job starts it. */
bool dla_is_spawned(rte_job *jdata);

/* The nodes that the hosts and hostfiles of an application context allow, with a reference each,
 * and its number of ranks: `first`: of the job. */
int dla_target_nodes(rte_list *list, size_t *ranks, rte_job *jdata, rte_context *context,
                     bool no_local, bool first);

/* Its free slots, and its largest number of ranks if oversubscribed. */
dla_node dla_node_capacity(const rte_node *node);

/* Writes the placement into the job's map, with the effective policies, and binds the ranks or lets
 * them be bound. *ordered: by an order of processors that the user gives. */
int dla_fill_map(dla_layout *l, rte_job *jdata, rte_options *options, bool no_local, bool *ordered);

/* The processors of a rank; cpus is NULL where it is not bound. */
typedef struct dla_binding {
    char *cpus;
    void *object; /* of ORTE */
} dla_binding;

/* Takes a binding from a rank on the node, for dla_bind to give it to another one. Returns its
 * locality, as topo_locality_level reads it, which the caller frees; NULL: unknown. */
char *dla_unbind(const rte_job *jdata, const rte_node *node, size_t rank, dla_binding *binding);
void dla_bind(const rte_job *jdata, size_t rank, const dla_binding *binding);

#endif
