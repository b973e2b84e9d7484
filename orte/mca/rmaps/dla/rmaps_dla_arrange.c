/* SPDX-License-Identifier: BSD-3-Clause */
#include "rmaps_dla_arrange.h"

#include <stdlib.h>

#include "opal/class/opal_pointer_array.h"
#include "opal/mca/hwloc/base/base.h"
#include "orte/constants.h"
#include "orte/util/attr.h"

/* The ranks of the job on a node, ascending, and to what each is bound. */
typedef struct bound_node {
    struct base_arena arena;
    size_t count;
    orte_proc_t **proc;
    size_t *rank, *place;
    char **cpus, **locality; /* NULL: the rank is not bound */
    hwloc_obj_t *object;
} bound_node;

static int bound_node_init(bound_node *b, const orte_node_t *node)
{
    size_t most = (size_t)node->procs->size;

    *b = (bound_node){.count = 0};
    b->proc = base_arena_alloc(&b->arena, most, sizeof(orte_proc_t *));
    b->rank = base_arena_alloc(&b->arena, most, sizeof(*b->rank));
    b->place = base_arena_alloc(&b->arena, most, sizeof(*b->place));
    b->cpus = base_arena_alloc(&b->arena, most, sizeof(*b->cpus));
    b->locality = base_arena_alloc(&b->arena, most, sizeof(*b->locality));
    b->object = base_arena_alloc(&b->arena, most, sizeof(*b->object));
    return b->arena.failed ? ORTE_ERR_OUT_OF_RESOURCE : ORTE_SUCCESS;
}

static void bound_node_release(bound_node *b)
{
    for (size_t i = 0; i < b->count; i++) {
        free(b->cpus[i]);
        free(b->locality[i]);
    }
    base_arena_release(&b->arena);
}

static void add_bound_rank(bound_node *b, orte_proc_t *proc, hwloc_topology_t topology)
{
    size_t i = b->count++;

    b->proc[i] = proc;
    b->rank[i] = proc->name.vpid;
    (void)orte_get_attribute(&proc->attributes, ORTE_PROC_CPU_BITMAP, (void **)&b->cpus[i],
                             OPAL_STRING);
    (void)orte_get_attribute(&proc->attributes, ORTE_PROC_HWLOC_BOUND, (void **)&b->object[i],
                             OPAL_PTR);
    if (NULL != b->cpus[i])
        b->locality[i] = opal_hwloc_base_get_locality_string(topology, b->cpus[i]);
}

/* Returns whether all of them are bound. */
static bool find_bound_ranks(bound_node *b, const orte_job_t *jdata, const orte_node_t *node)
{
    bool all = true;

    for (int i = 0; i < node->procs->size; i++) {
        orte_proc_t *proc = opal_pointer_array_get_item(node->procs, i);

        if (NULL == proc || proc->name.jobid != jdata->jobid)
            continue;
        add_bound_rank(b, proc, node->topology->topo);
        all = all && NULL != b->cpus[b->count - 1];
    }
    return all;
}

static void bind_to_places(const bound_node *b)
{
    for (size_t i = 0; i < b->count; i++) {
        size_t place = b->place[i];

        if (place == i)
            continue;
        orte_set_attribute(&b->proc[i]->attributes, ORTE_PROC_CPU_BITMAP, ORTE_ATTR_GLOBAL,
                           b->cpus[place], OPAL_STRING);
        orte_set_attribute(&b->proc[i]->attributes, ORTE_PROC_HWLOC_BOUND, ORTE_ATTR_LOCAL,
                           b->object[place], OPAL_PTR);
    }
}

int dla_arrange_node(dla_layout *l, const orte_job_t *jdata, const orte_node_t *node)
{
    bound_node b;
    int rc = bound_node_init(&b, node);

    if (ORTE_SUCCESS == rc && find_bound_ranks(&b, jdata, node)) {
        const dla_bound_ranks ranks = {b.count, b.rank, b.locality};

        if (0 == dla_arrange(&l->view, &ranks, b.place, &l->inside))
            bind_to_places(&b);
        else
            rc = ORTE_ERR_OUT_OF_RESOURCE;
    }
    bound_node_release(&b);
    return rc;
}
