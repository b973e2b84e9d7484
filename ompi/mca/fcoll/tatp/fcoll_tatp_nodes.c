/* SPDX-License-Identifier: BSD-3-Clause */
/* The node of each rank: that of the node's leader, which its ranks know since launch. All ranks
 * ask each other for it once for a group of ranks, whatever files they open. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fcoll_tatp_nodes_internal.h"
#include "ompi/communicator/communicator.h"
#include "ompi/proc/proc.h"
#include "ompi/compat/compat.h"

struct tatp_nodes {
    bool is_known; /* what follows */
    tatp_inside inside;
    tatp_node_map map;
};

tatp_nodes *tatp_nodes_new(void)
{
    return calloc(1, sizeof(tatp_nodes));
}

static void release_nodes(tatp_nodes *nodes)
{
    tatp_node_map *map = &nodes->map;
    free(map->node_of_rank);
    free(map->ranks_on_node);
    for (size_t n = 0; NULL != map->host && n < map->nodes; n++)
        free(map->host[n]);
    free(map->host);
    topo_release(&map->topology);
    tatp_inside_release(&nodes->inside);
    *nodes = (tatp_nodes){0};
}

void tatp_nodes_free(tatp_nodes *nodes)
{
    if (NULL == nodes)
        return;
    release_nodes(nodes);
    free(nodes);
}

const tatp_inside *tatp_nodes_inside(const tatp_nodes *nodes)
{
    return &nodes->inside;
}

const tatp_node_map *tatp_nodes_map(const tatp_nodes *nodes)
{
    return &nodes->map;
}

/* ---- the map ---- */

/* The host name of a process; the caller frees it. NULL: no memory. */
static char *host_of(const ompi_proc_t *proc)
{
    char *name = compat_modex_string(proc, COMPAT_PMIX_HOSTNAME);
    if (NULL != name)
        return name;
    const char *known = compat_proc_hostname(proc);
    return strdup(NULL != known ? known : "(unknown)");
}

/* By the first rank of each. */
static int name_nodes(tatp_node_map *map, const coll_group *group)
{
    map->host = calloc(map->nodes, sizeof *map->host);
    if (NULL == map->host)
        return -ENOMEM;
    for (int r = 0; r < group->size; r++) {
        char **host = &map->host[map->node_of_rank[r]];
        if (NULL == *host)
            *host = host_of(ompi_comm_peer_lookup(tatp_communicator_of(group), r));
        if (NULL == *host)
            return -ENOMEM;
    }
    return OMPI_SUCCESS;
}

/* Without names. Collective. */
static int make_map(tatp_node_map *map, coll_group *group)
{
    size_t ranks = (size_t)group->size;
    map->node_of_rank = calloc(ranks, sizeof *map->node_of_rank);
    map->ranks_on_node = calloc(ranks, sizeof *map->ranks_on_node);
    int rc = coll_find_leaders(group, map->node_of_rank, &map->nodes);
    if (OMPI_SUCCESS != rc)
        return rc;
    if (NULL == map->node_of_rank || NULL == map->ranks_on_node)
        return -ENOMEM;
    for (size_t r = 0; r < ranks; r++)
        map->ranks_on_node[map->node_of_rank[r]]++;
    return OMPI_SUCCESS;
}

/* ---- agreement ---- */

/* What the ranks agree on when a file is opened, by maxima: what any rank lacks; settings, and
 * their negative; errors; what rank 0 knows of the file. */
enum { NODES_MISSING, MEMORY_MISSING, LARGEST, SMALLEST, OPENING_ERROR, ROOT };
enum { OPENING_VALUES = ROOT + sizeof((tatp_opening){0}.root) / sizeof(int64_t) };

/* *is_known becomes that of all ranks: some may know the nodes from an earlier file. */
static int agree_on_opening(coll_group *group, int rc, bool *is_known, tatp_opening *opening)
{
    int64_t value[OPENING_VALUES] = {
        [NODES_MISSING] = !*is_known,
        [LARGEST] = opening->digest,
        [SMALLEST] = -opening->digest,
        [OPENING_ERROR] = tatp_error_class(rc),
    };
    if (OMPI_SUCCESS == rc && 0 == group->rank)
        memcpy(value + ROOT, &opening->root, sizeof opening->root);
    rc = group->runtime->reduce(group->runtime->context, value, OPENING_VALUES, COLL_MAX);
    if (OMPI_SUCCESS != rc)
        return rc;
    *is_known = !value[NODES_MISSING];
    opening->settings_differ = value[LARGEST] != -value[SMALLEST];
    memcpy(&opening->root, value + ROOT, sizeof opening->root);
    return value[MEMORY_MISSING] ? tatp_error_class(-ENOMEM) : (int)value[OPENING_ERROR];
}

void tatp_nodes_refuse(struct ompi_communicator_t *communicator)
{
    int64_t value[OPENING_VALUES] = {[MEMORY_MISSING] = true};
    (void)tatp_reduce_max(communicator, value, OPENING_VALUES);
}

/* What has to be asked for once the nodes are known, by maxima: whether rank 0 finds the distances
 * between nodes in the environment, and any node has an address; whether any launcher gives no
 * localities of the ranks of a node, and any rank may be bound; errors. */
enum { OPEN, ADDRESS, NO_LOCALITIES, BOUND, ERROR, VALUES };

static int find_nodes(tatp_nodes *nodes, coll_group *group, const char *source)
{
    tatp_node_map *map = &nodes->map;
    bool is_root = 0 == group->rank, is_open = false, given = true;
    int rc = make_map(map, group);
    if (OMPI_SUCCESS == rc && is_root)
        rc = name_nodes(map, group);
    if (OMPI_SUCCESS == rc && is_root)
        rc = tatp_distances_read(map, source, &is_open);
    if (OMPI_SUCCESS == rc && coll_is_leader(group))
        rc = tatp_inside_read(group, &nodes->inside, &given);
    int64_t value[VALUES] = {is_open, tatp_has_address(group), !given, tatp_may_be_bound(),
                             tatp_error_class(rc)};
    rc = group->runtime->reduce(group->runtime->context, value, VALUES, COLL_MAX);
    if (OMPI_SUCCESS == rc)
        rc = (int)value[ERROR];
    bool asks_inside = value[NO_LOCALITIES] && value[BOUND];
    if (OMPI_SUCCESS == rc && asks_inside)
        rc = tatp_inside_ask(group, given, &nodes->inside);
    if (OMPI_SUCCESS == rc && value[OPEN] && value[ADDRESS])
        rc = tatp_distances_ask(map, group, &is_open);
    if (OMPI_SUCCESS == rc && is_open)
        tatp_distances_report_flat(map);
    if (OMPI_SUCCESS == rc && is_root)
        tatp_inside_report(group, given, asks_inside);
    return rc;
}

int tatp_nodes_init(tatp_nodes *nodes, coll_group *group, const char *source, tatp_opening *opening,
                    int rc)
{
    bool is_known = nodes->is_known;
    rc = agree_on_opening(group, rc, &is_known, opening);
    if (OMPI_SUCCESS != rc || is_known)
        return rc;
    release_nodes(nodes);
    rc = find_nodes(nodes, group, source);
    nodes->is_known = OMPI_SUCCESS == rc;
    return rc;
}
