/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances between the hosts of a job, from a fabric. */
#include "topo/hosts.h"

#include <errno.h>
#include <stdlib.h>

#include "topo/read.h"

int topo_find_hosts(const topo_fabric *fabric, const char *const *hosts, size_t nodes,
                    size_t *found, matrix_error *error)
{
    return find_hosts(&fabric->hosts, hosts, nodes, 1, found, error);
}

int topo_from_fabric(const topo_fabric *fabric, const char *const *hosts, size_t nodes, topo *t,
                     matrix_error *error)
{
    if (fabric->has_hops)
        return hops_of_market(fabric, hosts, nodes, t, error);
    job_hosts s = {.fabric = fabric, .names = hosts, .nodes = nodes};
    topo_tree tree = {0};
    s.host = base_arena_alloc(&s.arena, nodes, sizeof *s.host);
    int rc = s.host == NULL ? -ENOMEM : find_hosts(&fabric->hosts, hosts, nodes, 0, s.host, error);
    if (rc == 0)
        rc = hosts_find_classes(&s, error);
    if (rc == 0)
        rc = hosts_count_hops(&s);
    if (rc == 0 && fabric->traces > 0)
        rc = hosts_apply_traces(&s, error);
    if (rc == 0)
        rc = hosts_check_reached(&s, error);
    if (rc == 0)
        rc = hosts_find_tree(&s, &tree);
    if (rc == 0) {
        *t = (topo){nodes, s.classes, s.class, s.between, tree, fabric->format};
        s.class = NULL;
        s.between = NULL;
    }
    base_arena_release(&s.arena);
    free(s.class);
    free(s.between);
    return rc;
}
