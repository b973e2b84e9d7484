/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rmaps/dla: maps the ranks of a job so that ranks that access neighbouring regions of a file share
 * a node. What the components for ORTE and for PRRTE share. PRRTE came from ORTE: rte() and RTE()
 * make the names of either, core() those of OPAL or PMIx, which have their lists and arrays. The
 * build names the header that has these macros, rmaps_dla_orte.h or rmaps_dla_prte.h, by
 * RMAPS_DLA_LAUNCHER.
 */
#ifndef RMAPS_DLA_H
#define RMAPS_DLA_H

#include RMAPS_DLA_LAUNCHER

typedef rte(job_t) rte_job;
typedef rte(node_t) rte_node;
typedef rte(app_context_t) rte_context;
typedef core(list_t) rte_list;

#include "base/groups.h"
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
 * locality, as topo_locality_level reads it, which the caller frees; NULL if it is unknown. */
char *dla_unbind(const rte_job *jdata, const rte_node *node, size_t rank, dla_binding *binding);
void dla_bind(const rte_job *jdata, size_t rank, const dla_binding *binding);

#endif
