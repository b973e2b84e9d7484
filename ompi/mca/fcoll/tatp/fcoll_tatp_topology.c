/* SPDX-License-Identifier: BSD-3-Clause */
/* Which node each rank is on. Open MPI has known that since launch, so rank 0 looks it up without a
 * word to the others; once for a group of ranks, whatever files they open. */
#include "fcoll_tatp.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/proc/proc.h"
#include "opal/mca/pmix/pmix.h"

/* A rank and what tells its node from others: the launcher's number for it, and its host name,
 * because two jobs that were connected number their nodes alike. */
typedef struct seat {
    size_t rank;
    uint32_t node_id;
    char *host;
} seat;

/* The host name of a process; the caller frees it. NULL without memory. */
static char *host_of(const ompi_proc_t *proc)
{
    char *name = NULL;
    int rc;
    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, OPAL_PMIX_HOSTNAME, &proc->super.proc_name, &name,
                                   OPAL_STRING);
    if (OPAL_SUCCESS == rc && NULL != name)
        return name;
    return strdup(NULL != proc->super.proc_hostname ? proc->super.proc_hostname : "(unknown)");
}

/* A singleton has no launcher that numbers nodes: its host name alone decides. */
static uint32_t node_id_of(const ompi_proc_t *proc)
{
    uint32_t id = UINT32_MAX, *where = &id;
    int rc;
    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, OPAL_PMIX_NODEID, &proc->super.proc_name, &where,
                                   OPAL_UINT32);
    return OPAL_SUCCESS == rc ? id : UINT32_MAX;
}

static int compare_nodes(const seat *x, const seat *y)
{
    if (x->node_id != y->node_id)
        return x->node_id < y->node_id ? -1 : 1;
    return strcmp(x->host, y->host);
}

static int by_node_then_rank(const void *a, const void *b)
{
    const seat *x = a, *y = b;
    int order = compare_nodes(x, y);
    return order != 0 ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static void free_seats(seat *seats, size_t count)
{
    for (size_t i = 0; NULL != seats && i < count; i++)
        free(seats[i].host);
    free(seats);
}

static seat *find_seats(ompio_file_t *fh, size_t ranks)
{
    seat *seats = calloc(ranks, sizeof *seats);
    for (size_t r = 0; NULL != seats && r < ranks; r++) {
        const ompi_proc_t *proc = ompi_comm_peer_lookup(fh->f_comm, (int)r);
        seats[r] = (seat){r, node_id_of(proc), host_of(proc)};
        if (NULL == seats[r].host) {
            free_seats(seats, ranks);
            return NULL;
        }
    }
    return seats;
}

/* Numbers the nodes by their lowest rank. `lowest` (per rank) is the lowest rank of its node. */
static void number_nodes(tatp_nodes *where, const size_t *lowest, size_t ranks)
{
    for (size_t r = 0; r < ranks; r++) {
        if (lowest[r] == r)
            where->node_of_rank[r] = where->nodes++;
        else
            where->node_of_rank[r] = where->node_of_rank[lowest[r]];
        where->ranks_on_node[where->node_of_rank[r]]++;
    }
}

/* The first of a node's names, taken from its seat. */
static void name_nodes(tatp_nodes *where, seat *seats, size_t ranks)
{
    for (size_t i = 0; i < ranks; i++) {
        size_t n = where->node_of_rank[seats[i].rank];
        if (NULL == where->host[n]) {
            where->host[n] = seats[i].host;
            seats[i].host = NULL;
        }
    }
}

static int map_ranks(tatp_nodes *where, seat *seats, size_t ranks)
{
    size_t *lowest = calloc(ranks, sizeof *lowest);
    where->node_of_rank = calloc(ranks, sizeof *where->node_of_rank);
    where->ranks_on_node = calloc(ranks, sizeof *where->ranks_on_node);
    where->count = calloc(ranks, sizeof *where->count);
    where->start = calloc(ranks, sizeof *where->start);
    where->told = calloc(ranks, TATP_TOLD_WORDS * sizeof *where->told);
    if (NULL == lowest || NULL == where->node_of_rank || NULL == where->ranks_on_node ||
        NULL == where->count || NULL == where->start || NULL == where->told) {
        free(lowest);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    qsort(seats, ranks, sizeof *seats, by_node_then_rank);
    for (size_t i = 0; i < ranks; i++) {
        bool same = i > 0 && compare_nodes(&seats[i - 1], &seats[i]) == 0;
        lowest[seats[i].rank] = same ? lowest[seats[i - 1].rank] : seats[i].rank;
    }
    number_nodes(where, lowest, ranks);
    free(lowest);
    where->host = calloc(where->nodes, sizeof *where->host);
    if (NULL == where->host)
        return OMPI_ERR_OUT_OF_RESOURCE;
    name_nodes(where, seats, ranks);
    return OMPI_SUCCESS;
}

static int look_up(ompio_file_t *fh, tatp_nodes *where)
{
    size_t ranks = (size_t)fh->f_size;
    seat *seats = find_seats(fh, ranks);
    if (NULL == seats)
        return OMPI_ERR_OUT_OF_RESOURCE;
    int rc = map_ranks(where, seats, ranks);
    if (OMPI_SUCCESS == rc)
        rc = tatp_distances_begin(where);
    free_seats(seats, ranks);
    return rc;
}

/* Everything that can be wrong with what the user asked for, before the first access. */
static int check_and_look_up(ompio_file_t *fh, tatp_nodes *where)
{
    int rc = tatp_check_parameters();
    if (OMPI_SUCCESS == rc)
        rc = look_up(fh, where);
    if (OMPI_SUCCESS == rc && tatp_records())
        rc = tatp_record_check();
    return rc;
}

/* So many aggregators a node when rates are not known: more of them copy faster through its shared
 * memory, until the network is the bound. */
#define SEATS_PER_NODE 4

/* As many as it takes to access the file as fast as the node's link brings the data. */
static int64_t seats_per_node(void)
{
    const mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    if (c->link_rate == 0 || c->access_rate == 0)
        return SEATS_PER_NODE;
    return (c->link_rate - 1) / c->access_rate + 1;
}

/* Aggregators that there is room for with so many on a node. */
static int64_t count_seats(const tatp_nodes *where, int64_t most)
{
    int64_t seats = 0;
    for (size_t n = 0; n < where->nodes; n++) {
        int64_t ranks = (int64_t)where->ranks_on_node[n];
        seats += ranks < most ? ranks : most;
    }
    return seats;
}

static int make_room_for_answers(const ompio_file_t *fh, tatp_nodes *where)
{
    size_t words = TATP_ANSWER_WORDS + 2 * (size_t)fh->f_size;
    if (NULL == where->answer)
        where->answer =
            calloc(words > TATP_ANSWER_PIECE ? words : TATP_ANSWER_PIECE, sizeof *where->answer);
    return NULL == where->answer ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

/* What rank 0 knows of everyone, on rank 0. */
static int know_nodes(ompio_file_t *fh, tatp_nodes *where)
{
    if (fh->f_rank != 0 || NULL != where->node_of_rank)
        return OMPI_SUCCESS;
    return check_and_look_up(fh, where);
}

/* What all ranks have to know, or that one of them is in trouble. */
static int agree(ompio_file_t *fh, tatp_module *module, int rc, bool *ask)
{
    enum { NODES, SEATS, WANTED, TOLD, ERROR, ROOM, VALUES = ROOM + TATP_ROOMS };
    int64_t value[VALUES] = {[ERROR] = tatp_error_class(rc)};
    tatp_nodes *where = &module->where;
    if (OMPI_SUCCESS == rc && fh->f_rank == 0) {
        value[NODES] = (int64_t)where->nodes;
        value[SEATS] = count_seats(where, seats_per_node());
        value[WANTED] = where->distances_open;
        for (int k = 0; k < TATP_ROOMS; k++)
            value[ROOM + k] = count_seats(where, INT64_C(1) << k);
    }
    value[TOLD] = OMPI_SUCCESS == rc && tatp_has_address(fh, module);
    rc = tatp_agree_max(fh, value, VALUES);
    if (OMPI_SUCCESS == rc)
        rc = (int)value[ERROR];
    if (OMPI_SUCCESS != rc)
        return rc;
    *ask = value[WANTED] && value[TOLD];
    where->nodes = (size_t)value[NODES];
    where->seats = (size_t)value[SEATS];
    memcpy(where->room, value + ROOM, sizeof where->room);
    return OMPI_SUCCESS;
}

/* From how many ranks rank 0 hears what their nodes have. */
static int count_leaders(ompio_file_t *fh, tatp_module *module)
{
    int64_t leaders = module->local[0] == fh->f_rank;
    int rc = tatp_allreduce(fh, &leaders, 1, MPI_INT64_T, MPI_SUM);
    module->where.leaders = (size_t)leaders;
    return rc;
}

int tatp_where(ompio_file_t *fh, tatp_module *module)
{
    bool ask = false;
    if (module->where.agreed)
        return module->where.error;
    int rc = tatp_find_local(fh, module);
    if (OMPI_SUCCESS == rc)
        rc = make_room_for_answers(fh, &module->where);
    if (OMPI_SUCCESS == rc)
        rc = know_nodes(fh, &module->where);
    rc = agree(fh, module, rc, &ask);
    if (OMPI_SUCCESS == rc)
        rc = count_leaders(fh, module);
    if (OMPI_SUCCESS == rc && ask)
        rc = tatp_ask_addresses(fh, module);
    if (OMPI_SUCCESS == rc && fh->f_rank == 0)
        tatp_distances_end(&module->where);
    if (OMPI_SUCCESS != rc)
        tatp_where_release(&module->where);
    module->where.agreed = true;
    module->where.error = rc;
    return rc;
}

void tatp_where_release(tatp_nodes *where)
{
    free(where->node_of_rank);
    free(where->ranks_on_node);
    free(where->count);
    free(where->start);
    free(where->told);
    free(where->answer);
    for (size_t n = 0; NULL != where->host && n < where->nodes; n++)
        free(where->host[n]);
    free(where->host);
    topo_release(&where->topology);
    memset(where, 0, sizeof *where);
}
