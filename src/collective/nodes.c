/* SPDX-License-Identifier: BSD-3-Clause */
/* The node of each rank: that of the node's leader, which its ranks know since launch. Rank 0 asks
 * all ranks for it once for a group of ranks, whatever files they open, and tells the leaders. No
 * other rank has memory for each rank or node. */
#include "collective/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collective/nodes_internal.h"

#include "base/memory.h"
#include "plan/division.h"

void coll_nodes_release(coll_nodes *nodes)
{
    free(nodes->node_of_rank);
    free(nodes->ranks_on_node);
    for (size_t n = 0; nodes->host != NULL && n < nodes->count; n++)
        free(nodes->host[n]);
    free(nodes->host);
    topo_release(&nodes->topology);
    free(nodes->nearness);
    *nodes = (coll_nodes){0};
}

/* ---- the map ---- */

/* By the first rank of each. */
static int name_nodes(coll_nodes *nodes, const coll_group *group)
{
    nodes->host = calloc(nodes->count, sizeof *nodes->host);
    if (nodes->host == NULL)
        return -ENOMEM;
    for (int r = 0; r < group->size; r++) {
        char **host = &nodes->host[nodes->node_of_rank[r]];
        if (*host == NULL)
            *host = group->runtime->host(group->runtime->context, r);
        if (*host == NULL)
            return -ENOMEM;
    }
    return 0;
}

/* What all ranks get of the map; the leader of each node, and its number of ranks, follow. */
enum { NODES, CAPACITY, HEAD };
/* Elements of a reduction at most: no rank takes memory for it. */
enum { MOST_ELEMENTS = 512 };

/* On rank 0, from the leader of each rank, of which *leader becomes that of each node. */
static int number_nodes(coll_nodes *nodes, size_t ranks, int64_t *leader)
{
    size_t count = 0;
    for (size_t r = 0; r < ranks; r++)
        count += leader[r] == (int64_t)r;
    nodes->node_of_rank = calloc(ranks, sizeof *nodes->node_of_rank);
    nodes->ranks_on_node = calloc(count, sizeof *nodes->ranks_on_node);
    if (nodes->node_of_rank == NULL || nodes->ranks_on_node == NULL)
        return -ENOMEM;
    for (size_t r = 0; r < ranks; r++) {
        size_t of = (size_t)leader[r];
        if (of == r)
            leader[nodes->count] = leader[r];
        nodes->node_of_rank[r] = of == r ? nodes->count++ : nodes->node_of_rank[of];
        nodes->ranks_on_node[nodes->node_of_rank[r]]++;
    }
    nodes->capacity = division_chosen_capacity(nodes->ranks_on_node, nodes->count);
    return 0;
}

/* On a leader. */
static int allocate_leaders(coll_nodes *nodes, coll_group *group)
{
    free(group->leader);
    group->leader = base_alloc(nodes->count, sizeof *group->leader);
    if (group->rank != 0)
        nodes->ranks_on_node = calloc(nodes->count, sizeof *nodes->ranks_on_node);
    return group->leader == NULL || nodes->ranks_on_node == NULL ? -ENOMEM : 0;
}

static void keep_leader(coll_nodes *nodes, coll_group *group, size_t node, const int64_t *element)
{
    group->leader[node] = (int)element[0];
    nodes->ranks_on_node[node] = (size_t)element[1];
    if (group->leader[node] == group->rank)
        group->leader_index = (int)node;
}

/* From rank 0 to all leaders, by maxima: messages need leaders that know each other. rc: this
 * rank's status so far. Collective. */
static int share_leaders(coll_nodes *nodes, coll_group *group, const int64_t *leader, int rc)
{
    const coll_runtime *runtime = group->runtime;
    int64_t element[MOST_ELEMENTS];
    enum { STEP = MOST_ELEMENTS / 2 };
    for (size_t from = 0; from < nodes->count; from += STEP) {
        size_t count = nodes->count - from < STEP ? nodes->count - from : STEP;
        memset(element, 0, sizeof element);
        for (size_t n = 0; n < count && group->rank == 0; n++) {
            element[2 * n] = leader[from + n];
            element[2 * n + 1] = (int64_t)nodes->ranks_on_node[from + n];
        }
        int failed = runtime->reduce(runtime->context, element, 2 * count, COLL_MAX);
        rc = rc != 0 ? rc : failed;
        for (size_t n = 0; n < count && rc == 0 && coll_is_leader(group); n++)
            keep_leader(nodes, group, from + n, element + 2 * n);
    }
    return rc;
}

/* leader: on rank 0, room for that of each rank. Collective. */
static int share_map(coll_nodes *nodes, coll_group *group, int64_t *leader)
{
    const coll_runtime *runtime = group->runtime;
    int64_t own = group->local[0];
    int rc = runtime->gather(runtime->context, &own, 1, leader);
    if (rc == 0 && group->rank == 0)
        rc = number_nodes(nodes, (size_t)group->size, leader);
    int64_t head[HEAD] = {(int64_t)nodes->count, nodes->capacity};
    int failed = runtime->reduce(runtime->context, head, HEAD, COLL_MAX);
    if (failed != 0)
        return failed;
    nodes->count = (size_t)head[NODES];
    nodes->capacity = head[CAPACITY];
    group->leaders = (int)nodes->count;
    if (rc == 0 && coll_is_leader(group))
        rc = allocate_leaders(nodes, group);
    return share_leaders(nodes, group, leader, rc);
}

/* Without names. Collective. */
static int make_map(coll_nodes *nodes, coll_group *group)
{
    const coll_runtime *runtime = group->runtime;
    int rc = 0;
    int64_t *leader =
        group->rank == 0 ? base_zeroed((size_t)group->size, sizeof *leader, &rc) : NULL;
    int64_t error = runtime->error_class(rc);
    rc = runtime->reduce(runtime->context, &error, 1, COLL_MAX);
    if (rc == 0)
        rc = (int)error;
    if (rc == 0)
        rc = share_map(nodes, group, leader);
    free(leader);
    return rc;
}

/* ---- all of it ---- */

/* What has to be asked for once the nodes are known, by maxima: whether rank 0 finds the distances
 * between nodes in the environment, and any node has an address; whether any launcher gives no
 * localities of the ranks of a node, and any rank may be bound; errors. */
enum { OPEN, ADDRESS, NO_LOCALITIES, BOUND, ERROR, VALUES };

static int find_nodes(coll_nodes *nodes, coll_group *group, parameter_texts text)
{
    coll_process *process = group->runtime->process;
    bool is_root = group->rank == 0, is_open = false, given = true;
    int rc = make_map(nodes, group);
    if (rc == 0 && is_root)
        rc = name_nodes(nodes, group);
    if (rc == 0 && is_root)
        rc = coll_distances_read(nodes, process, text, &is_open);
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
        rc = coll_distances_ask(nodes, group, &is_open);
    if (rc == 0 && is_open)
        coll_distances_report_flat(nodes, process);
    if (rc == 0 && is_root)
        coll_nearness_report(group, given, asks_ranks);
    return rc;
}

int coll_nodes_find(coll_nodes *nodes, coll_group *group, parameter_texts text)
{
    coll_nodes_release(nodes);
    int rc = find_nodes(nodes, group, text);
    nodes->is_known = rc == 0;
    return rc;
}
