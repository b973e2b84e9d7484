/* SPDX-License-Identifier: BSD-3-Clause */
#include "rmaps_dla_arrange.h"

#include "topo/machine.h"

/* The processors of each rank, which this array owns then; false: a rank is not bound. */
static bool take_bindings(const prte_job_t *jdata, const size_t *rank, size_t ranks, char **cpus)
{
    bool all = true;

    for (size_t i = 0; i < ranks; i++) {
        prte_proc_t *proc = pmix_pointer_array_get_item(jdata->procs, (int)rank[i]);

        cpus[i] = proc->cpuset;
        proc->cpuset = NULL;
        all = all && NULL != cpus[i];
    }
    return all;
}

static void give_bindings(const prte_job_t *jdata, const size_t *rank, size_t ranks,
                          const size_t *place, char *const *cpus)
{
    for (size_t i = 0; i < ranks; i++) {
        prte_proc_t *proc = pmix_pointer_array_get_item(jdata->procs, (int)rank[i]);

        proc->cpuset = cpus[place[i]];
    }
}

/* Places of unknown locality are far from all others. */
static int find_locality(const prte_node_t *node, char *const *cpus, size_t ranks, char **locality)
{
    int rc = 0;

    for (size_t i = 0; - ENOMEM != rc && i < ranks; i++)
        rc = topo_machine_locality(node->topology->topo, cpus[i], &locality[i]);
    return -ENOMEM == rc ? -ENOMEM : 0;
}

int dla_arrange_node(dla_layout *l, const prte_job_t *jdata, const prte_node_t *node,
                     const size_t *rank, size_t ranks)
{
    struct base_arena arena = {0};
    char **cpus = base_arena_alloc(&arena, ranks, sizeof(*cpus));
    char **locality = base_arena_alloc(&arena, ranks, sizeof(*locality));
    size_t *place = base_arena_alloc(&arena, ranks, sizeof(*place));
    const dla_bound_ranks bound = {ranks, rank, locality};
    int rc = 0;

    if (arena.failed || NULL == node->topology || NULL == node->topology->topo) {
        rc = arena.failed ? PRTE_ERR_OUT_OF_RESOURCE : PRTE_SUCCESS;
        base_arena_release(&arena);
        return rc;
    }
    for (size_t i = 0; i < ranks; i++)
        place[i] = i;
    if (take_bindings(jdata, rank, ranks, cpus)) {
        rc = find_locality(node, cpus, ranks, locality);
        if (0 == rc)
            rc = dla_arrange(&l->view, &bound, place, &l->inside);
    }
    give_bindings(jdata, rank, ranks, place, cpus);
    for (size_t i = 0; i < ranks; i++)
        free(locality[i]);
    base_arena_release(&arena);
    return 0 == rc ? PRTE_SUCCESS : PRTE_ERR_OUT_OF_RESOURCE;
}
