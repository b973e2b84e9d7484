/* SPDX-License-Identifier: BSD-3-Clause */
/* The node of each rank: that of the node's leader, which its ranks know since launch. All ranks
 * ask each other for it once for a group of ranks, whatever files they open. */
#include "collective/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collective/nodes_internal.h"

struct coll_nodes {
    bool is_known; /* what follows */
    unsigned char *nearness;
    coll_node_map map;
};

coll_nodes *coll_nodes_new(void)
{
    return calloc(1, sizeof(coll_nodes));
}

static void release_nodes(coll_nodes *nodes)
{
    coll_node_map *map = &nodes->map;
    free(map->node_of_rank);
    free(map->ranks_on_node);
    for (size_t n = 0; map->host != NULL && n < map->nodes; n++)
        free(map->host[n]);
    free(map->host);
    topo_release(&map->topology);
    free(nodes->nearness);
    *nodes = (coll_nodes){0};
}

void coll_nodes_free(coll_nodes *nodes)
{
    if (nodes == NULL)
        return;
    release_nodes(nodes);
    free(nodes);
}

const unsigned char *coll_nodes_nearness(const coll_nodes *nodes)
{
    return nodes->nearness;
}

const coll_node_map *coll_nodes_map(const coll_nodes *nodes)
{
    return &nodes->map;
}

/* ---- the map ---- */

/* By the first rank of each. */
static int name_nodes(coll_node_map *map, const coll_group *group)
{
    map->host = calloc(map->nodes, sizeof *map->host);
    if (map->host == NULL)
        return -ENOMEM;
    for (int r = 0; r < group->size; r++) {
        char **host = &map->host[map->node_of_rank[r]];
        if (*host == NULL)
            *host = group->runtime->host(group->runtime->context, r);
        if (*host == NULL)
            return -ENOMEM;
    }
    return 0;
}

/* Without names. Collective. */
static int make_map(coll_node_map *map, coll_group *group)
{
    size_t ranks = (size_t)group->size;
    map->node_of_rank = calloc(ranks, sizeof *map->node_of_rank);
    map->ranks_on_node = calloc(ranks, sizeof *map->ranks_on_node);
    int rc = coll_find_leaders(group, map->node_of_rank, &map->nodes);
    if (rc != 0)
        return rc;
    if (map->node_of_rank == NULL || map->ranks_on_node == NULL)
        return -ENOMEM;
    for (size_t r = 0; r < ranks; r++)
        map->ranks_on_node[map->node_of_rank[r]]++;
    return 0;
}

/* ---- all of it ---- */

/* What has to be asked for once the nodes are known, by maxima: whether rank 0 finds the distances
 * between nodes in the environment, and any node has an address; whether any launcher gives no
 * localities of the ranks of a node, and any rank may be bound; errors. */
enum { OPEN, ADDRESS, NO_LOCALITIES, BOUND, ERROR, VALUES };

static int find_nodes(coll_nodes *nodes, coll_group *group, parameter_texts text)
{
    coll_process *process = group->runtime->process;
    coll_node_map *map = &nodes->map;
    bool is_root = group->rank == 0, is_open = false, given = true;
    int rc = make_map(map, group);
    if (rc == 0 && is_root)
        rc = name_nodes(map, group);
    if (rc == 0 && is_root)
        rc = coll_distances_read(map, process, text, &is_open);
    if (rc == 0 && coll_is_leader(group))
        rc = coll_nearness_read(group, &nodes->nearness, &given);
    int64_t value[VALUES] = {is_open, coll_has_address(group), !given, coll_may_be_bound(),
                             group->runtime->error_class(rc)};
    rc = group->runtime->reduce(group->runtime->context, value, VALUES, COLL_MAX);
    if (rc == 0)
        rc = (int)value[ERROR];
    bool asks_ranks = value[NO_LOCALITIES] && value[BOUND];
    if (rc == 0 && asks_ranks)
        rc = coll_nearness_ask(group, given, &nodes->nearness);
    if (rc == 0 && value[OPEN] && value[ADDRESS])
        rc = coll_distances_ask(map, group, &is_open);
    if (rc == 0 && is_open)
        coll_distances_report_flat(map, process);
    if (rc == 0 && is_root)
        coll_nearness_report(group, given, asks_ranks);
    return rc;
}

int coll_nodes_find(coll_nodes *nodes, coll_group *group, parameter_texts text)
{
    release_nodes(nodes);
    int rc = find_nodes(nodes, group, text);
    nodes->is_known = rc == 0;
    return rc;
}

bool coll_nodes_are_known(const coll_nodes *nodes)
{
    return nodes->is_known;
}
