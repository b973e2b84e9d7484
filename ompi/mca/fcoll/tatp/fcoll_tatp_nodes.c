/* SPDX-License-Identifier: BSD-3-Clause */
/* The node of each rank. Open MPI has known that since launch: rank 0 looks it up without a
 * message, once for a group of ranks, whatever files they open. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "fcoll_tatp_nodes_internal.h"
#include "ompi/communicator/communicator.h"
#include "ompi/proc/proc.h"
#include "ompi/compat/compat.h"

#include "base/memory.h"
#include "plan/division.h"

struct tatp_nodes {
    bool agreed; /* all ranks know what follows */
    size_t count;
    int64_t chosen_capacity, capacity[TATP_CAPACITIES];
    tatp_inside inside; /* the leader of a node */
    tatp_node_map map;  /* rank 0 */
};

tatp_nodes *tatp_nodes_new(void)
{
    return calloc(1, sizeof(tatp_nodes));
}

static void release_map(tatp_node_map *map)
{
    free(map->node_of_rank);
    free(map->ranks_on_node);
    for (size_t n = 0; NULL != map->host && n < map->nodes; n++)
        free(map->host[n]);
    free(map->host);
    topo_release(&map->topology);
    *map = (tatp_node_map){0};
}

void tatp_nodes_free(tatp_nodes *nodes)
{
    if (NULL == nodes)
        return;
    release_map(&nodes->map);
    tatp_inside_release(&nodes->inside);
    free(nodes);
}

size_t tatp_nodes_count(const tatp_nodes *nodes)
{
    return nodes->count;
}

int64_t tatp_nodes_capacity(const tatp_nodes *nodes, int k)
{
    return nodes->capacity[k];
}

int64_t tatp_nodes_chosen_capacity(const tatp_nodes *nodes)
{
    return nodes->chosen_capacity;
}

const tatp_inside *tatp_nodes_inside(const tatp_nodes *nodes)
{
    return &nodes->inside;
}

const tatp_node_map *tatp_nodes_map(const tatp_nodes *nodes)
{
    return nodes->map.nodes > 0 ? &nodes->map : NULL;
}

/* ---- the map on rank 0 ---- */

/* A rank and what distinguishes its node from others: the launcher's number for it, and its host
 * name, because two jobs that were connected may use the same numbers. */
typedef struct rank_location {
    size_t rank;
    uint32_t node_id;
    char *host;
} rank_location;

/* The host name of a process; the caller frees it. NULL: no memory. */
static char *host_of(const ompi_proc_t *proc)
{
    char *name = NULL;
    if (compat_modex_get(proc, COMPAT_PMIX_HOSTNAME, &name, COMPAT_PMIX_STRING) && NULL != name)
        return name;
    const char *known = compat_proc_hostname(proc);
    return strdup(NULL != known ? known : "(unknown)");
}

/* A singleton has no launcher that numbers nodes: its host name alone decides. */
static uint32_t node_id_of(const ompi_proc_t *proc)
{
    uint32_t id = UINT32_MAX, *at = &id;
    return compat_modex_get(proc, COMPAT_PMIX_NODEID, &at, COMPAT_PMIX_UINT32) ? id : UINT32_MAX;
}

static int compare_nodes(const rank_location *x, const rank_location *y)
{
    if (x->node_id != y->node_id)
        return x->node_id < y->node_id ? -1 : 1;
    return strcmp(x->host, y->host);
}

static int by_node_then_rank(const void *a, const void *b)
{
    const rank_location *x = a, *y = b;
    int order = compare_nodes(x, y);
    return 0 != order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static void free_locations(rank_location *location, size_t ranks)
{
    for (size_t i = 0; NULL != location && i < ranks; i++)
        free(location[i].host);
    free(location);
}

/* Where the launcher's number is not known of some ranks, or there was no memory to ask for it, the
 * host names decide for all: else ranks of one node would seem to be on two. */
static void forget_partial_ids(rank_location *location, size_t ranks)
{
    bool is_partial = false;
    for (size_t r = 0; r < ranks; r++)
        is_partial = is_partial || UINT32_MAX == location[r].node_id;
    for (size_t r = 0; r < ranks && is_partial; r++)
        location[r].node_id = UINT32_MAX;
}

/* NULL: no memory. */
static rank_location *locate_ranks(const tatp_comm *comm, size_t ranks)
{
    rank_location *location = calloc(ranks, sizeof *location);
    for (size_t r = 0; NULL != location && r < ranks; r++) {
        const ompi_proc_t *proc = ompi_comm_peer_lookup(tatp_comm_communicator(comm), (int)r);
        location[r] = (rank_location){r, node_id_of(proc), host_of(proc)};
        if (NULL == location[r].host) {
            free_locations(location, ranks);
            return NULL;
        }
    }
    if (NULL != location)
        forget_partial_ids(location, ranks);
    return location;
}

/* Numbers the nodes by their lowest rank. `lowest` (per rank) is the lowest rank of its node. */
static void number_nodes(tatp_node_map *map, const size_t *lowest, size_t ranks)
{
    for (size_t r = 0; r < ranks; r++) {
        size_t node = lowest[r] == r ? map->nodes++ : map->node_of_rank[lowest[r]];
        map->node_of_rank[r] = node;
        map->ranks_on_node[node]++;
    }
}

/* Moves a host name to each node. */
static void name_nodes(tatp_node_map *map, rank_location *location, size_t ranks)
{
    for (size_t i = 0; i < ranks; i++) {
        size_t node = map->node_of_rank[location[i].rank];
        if (NULL == map->host[node]) {
            map->host[node] = location[i].host;
            location[i].host = NULL;
        }
    }
}

static int fill_map(tatp_node_map *map, rank_location *location, size_t ranks)
{
    size_t *lowest = calloc(ranks, sizeof *lowest);
    map->node_of_rank = calloc(ranks, sizeof *map->node_of_rank);
    map->ranks_on_node = calloc(ranks, sizeof *map->ranks_on_node);
    if (NULL == lowest || NULL == map->node_of_rank || NULL == map->ranks_on_node) {
        free(lowest);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    qsort(location, ranks, sizeof *location, by_node_then_rank);
    for (size_t i = 0; i < ranks; i++) {
        bool is_same = i > 0 && 0 == compare_nodes(&location[i - 1], &location[i]);
        lowest[location[i].rank] = is_same ? lowest[location[i - 1].rank] : location[i].rank;
    }
    number_nodes(map, lowest, ranks);
    free(lowest);
    map->host = calloc(map->nodes, sizeof *map->host);
    if (NULL == map->host)
        return OMPI_ERR_OUT_OF_RESOURCE;
    name_nodes(map, location, ranks);
    return OMPI_SUCCESS;
}

static int make_map(tatp_node_map *map, const tatp_comm *comm)
{
    size_t ranks = (size_t)tatp_comm_size(comm);
    rank_location *location = locate_ranks(comm, ranks);
    if (NULL == location)
        return OMPI_ERR_OUT_OF_RESOURCE;
    int rc = fill_map(map, location, ranks);
    free_locations(location, ranks);
    return rc;
}

/* ---- agreement ---- */

/* What the ranks agree on when a file is opened, by maxima: what rank 0 knows of the nodes; whether
 * any node has an address; what any rank lacks; whether any launcher gives no localities of the
 * ranks of a node, and any rank may be bound; what rank 0 knows of the file; settings, and their
 * negative; errors. */
enum {
    NODES,
    OPEN,
    ADDRESS,
    LEADERS_MISSING,
    MEMORY_MISSING,
    NO_LOCALITIES,
    BOUND,
    STRIPE,
    TARGETS,
    RECORDS,
    LARGEST,
    SMALLEST,
    ERROR,
    CHOSEN_CAPACITY,
    CAPACITY,
    VALUES = CAPACITY + TATP_CAPACITIES
};

/* What this module's questions are. */
typedef struct questions {
    bool is_open; /* rank 0: the environment has to be asked for the distances */
    bool no_localities, may_be_bound;       /* this rank's part of what follows */
    bool ask, ask_inside, all_know_leaders; /* the result */
} questions;

/* Not by node: some ranks may know the leaders from an earlier file and others not. */
static int agree_on_opening(tatp_nodes *nodes, tatp_comm *comm, int rc, questions *q,
                            tatp_opening *opening)
{
    int64_t value[VALUES] = {
        [LEADERS_MISSING] = !tatp_comm_knows_leaders(comm),
        [NO_LOCALITIES] = q->no_localities,
        [BOUND] = q->may_be_bound,
        [LARGEST] = opening->digest,
        [SMALLEST] = -opening->digest,
        [ERROR] = tatp_error_class(rc),
    };
    if (OMPI_SUCCESS == rc && 0 == tatp_comm_rank(comm)) {
        value[NODES] = (int64_t)nodes->map.nodes;
        value[OPEN] = q->is_open;
        value[STRIPE] = opening->stripe;
        value[TARGETS] = opening->targets;
        value[RECORDS] = opening->records;
        value[CHOSEN_CAPACITY] =
            division_chosen_capacity(nodes->map.ranks_on_node, nodes->map.nodes);
        for (int k = 0; k < TATP_CAPACITIES; k++)
            value[CAPACITY + k] =
                division_capacity(nodes->map.ranks_on_node, nodes->map.nodes, (size_t)1 << k);
    }
    value[ADDRESS] = OMPI_SUCCESS == rc && tatp_has_address(comm);
    rc = tatp_allreduce(comm, value, VALUES, MPI_INT64_T, MPI_MAX);
    if (OMPI_SUCCESS == rc)
        rc = value[MEMORY_MISSING] ? tatp_error_class(OMPI_ERR_OUT_OF_RESOURCE) : (int)value[ERROR];
    if (OMPI_SUCCESS != rc)
        return rc;
    q->ask = value[OPEN] && value[ADDRESS];
    q->ask_inside = value[NO_LOCALITIES] && value[BOUND];
    opening->settings_differ = value[LARGEST] != -value[SMALLEST];
    opening->stripe = value[STRIPE];
    opening->targets = value[TARGETS];
    opening->records = value[RECORDS];
    q->all_know_leaders = !value[LEADERS_MISSING];
    nodes->count = (size_t)value[NODES];
    nodes->chosen_capacity = value[CHOSEN_CAPACITY];
    memcpy(nodes->capacity, value + CAPACITY, sizeof nodes->capacity);
    return OMPI_SUCCESS;
}

void tatp_nodes_refuse(struct ompi_communicator_t *communicator)
{
    int64_t value[VALUES] = {[MEMORY_MISSING] = true};
    (void)tatp_allreduce_max(communicator, value, VALUES);
}

/* Distances inside the node, from the launcher. */
static int read_inside(tatp_nodes *nodes, tatp_comm *comm, questions *q)
{
    bool given = true;
    int rc = OMPI_SUCCESS;
    if (tatp_comm_is_leader(comm))
        rc = tatp_inside_read(comm, &nodes->inside, &given);
    q->no_localities = !given;
    q->may_be_bound = tatp_may_be_bound();
    return rc;
}

int tatp_nodes_init(tatp_nodes *nodes, tatp_comm *comm, const char *source, tatp_opening *opening,
                    int rc)
{
    bool is_root = 0 == tatp_comm_rank(comm);
    questions q = {.is_open = false};
    if (OMPI_SUCCESS == rc && !nodes->agreed)
        rc = read_inside(nodes, comm, &q);
    if (OMPI_SUCCESS == rc && is_root && !nodes->agreed) {
        rc = make_map(&nodes->map, comm);
        if (OMPI_SUCCESS == rc)
            rc = tatp_distances_read(&nodes->map, source, &q.is_open);
    }
    rc = agree_on_opening(nodes, comm, rc, &q, opening);
    if (OMPI_SUCCESS == rc && !q.all_know_leaders)
        rc = tatp_comm_find_leaders(comm);
    if (OMPI_SUCCESS == rc && q.ask_inside)
        rc = tatp_inside_ask(comm, !q.no_localities, &nodes->inside);
    if (OMPI_SUCCESS == rc && q.ask)
        rc = tatp_distances_ask(&nodes->map, comm, &q.is_open);
    if (OMPI_SUCCESS == rc && q.is_open)
        tatp_distances_report_flat(&nodes->map);
    if (OMPI_SUCCESS == rc && is_root && !nodes->agreed)
        tatp_inside_report(comm, !q.no_localities, q.ask_inside);
    nodes->agreed = OMPI_SUCCESS == rc;
    if (OMPI_SUCCESS != rc) {
        release_map(&nodes->map);
        tatp_inside_release(&nodes->inside);
    }
    return rc;
}
