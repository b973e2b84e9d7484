/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement: the largest values over all ranks; and broadcast.
 *
 * The ranks of a node agree first, so that only one of them talks to other nodes: to the leader by
 * a tree, among the leaders by dissemination, and back down the tree. Maxima do not depend on the
 * order, nor on how often a value is taken. A broadcast takes the same ways, so that it needs no
 * connection that an agreement has not made. After an error messages continue, because other ranks
 * wait for them. */
#include <string.h>

#include "fcoll_tatp_comm_internal.h"

/* Values of an agreement at most. */
#define MOST_VALUES 64
/* Few steps matter more than few messages of a rank, and so more on a node, where a message takes
 * less. */
#define NODE_RADIX 16
#define LEADER_RADIX 4
/* Messages that a rank sends at once at most: to its children in a tree of 31 binary digits, four
 * to a level. */
#define MOST_SENDS ((NODE_RADIX - 1) * 8)

typedef struct agreement {
    tatp_comm *comm;
    int64_t *value;
    int count; /* of values; at most, before a broadcast is received */
    int rc;    /* the first error */
} agreement;

static void keep_error(agreement *a, int rc)
{
    if (OMPI_SUCCESS == a->rc)
        a->rc = rc;
}

static size_t value_bytes(const agreement *a)
{
    return (size_t)a->count * sizeof *a->value;
}

static void receive_and_merge(agreement *a, int peer)
{
    int64_t other[MOST_VALUES];
    int rc = tatp_receive(a->comm, other, value_bytes(a), peer, TATP_TAG_AGREE);
    keep_error(a, rc);
    for (int i = 0; i < a->count && OMPI_SUCCESS == rc; i++)
        if (other[i] > a->value[i])
            a->value[i] = other[i];
}

static void replace_values(agreement *a, int peer)
{
    size_t bytes = value_bytes(a);
    int rc = tatp_receive_some(a->comm, a->value, &bytes, peer, TATP_TAG_AGREE);
    keep_error(a, rc);
    if (OMPI_SUCCESS == rc)
        a->count = (int)(bytes / sizeof *a->value);
}

/* Messages on their way. */
typedef struct sends {
    ompi_request_t *request[MOST_SENDS];
    int count;
} sends;

static void start_sending(agreement *a, const int64_t *value, int peer, sends *out)
{
    int rc =
        tatp_isend(a->comm, value, value_bytes(a), peer, TATP_TAG_AGREE, &out->request[out->count]);
    keep_error(a, rc);
    out->count += OMPI_SUCCESS == rc;
}

static void complete_sends(agreement *a, sends *out)
{
    for (int i = 0; i < out->count; i++)
        keep_error(a, tatp_wait(a->comm, &out->request[i], MPI_STATUS_IGNORE));
}

/* ---- trees ---- */

/* Of indices: the parent of one has 0 in place of the lowest digit that is not 0. */
typedef struct rank_tree {
    const int *rank;  /* by index */
    int count, index; /* this rank's */
    int radix;
} rank_tree;

static rank_tree tree_of_node(const tatp_comm *comm)
{
    int index = tatp_comm_local_index(comm, comm->rank);
    return (rank_tree){comm->local, comm->locals, index, NODE_RADIX};
}

static rank_tree tree_of_leaders(const tatp_comm *comm)
{
    return (rank_tree){comm->leader, comm->leaders, comm->leader_index, LEADER_RADIX};
}

/* The radix to the power of the number of levels below this rank. */
static int span_of_children(const rank_tree *tree)
{
    int span = 1;
    while (span < tree->count && tree->index / span % tree->radix == 0)
        span *= tree->radix;
    return span;
}

static int find_parent(const rank_tree *tree, int span)
{
    return tree->rank[tree->index - tree->index / span % tree->radix * span];
}

/* To the root. */
static void collect_values(agreement *a, const rank_tree *tree)
{
    int span = span_of_children(tree);
    for (int step = 1; step < span; step *= tree->radix)
        for (int d = 1; d < tree->radix && tree->index + d * step < tree->count; d++)
            receive_and_merge(a, tree->rank[tree->index + d * step]);
    if (tree->index > 0)
        keep_error(a, tatp_send(a->comm, a->value, value_bytes(a), find_parent(tree, span),
                                TATP_TAG_AGREE));
}

/* From the root; to all children at once: in shared memory a send is complete only after the peer
 * has run, and where ranks share processors each wait for that takes a turn of all of them. */
static void spread_values(agreement *a, const rank_tree *tree)
{
    sends out = {.count = 0};
    int span = span_of_children(tree);
    if (tree->index > 0)
        replace_values(a, find_parent(tree, span));
    for (int step = span / tree->radix; step > 0; step /= tree->radix)
        for (int d = 1; d < tree->radix && tree->index + d * step < tree->count; d++)
            start_sending(a, a->value, tree->rank[tree->index + d * step], &out);
    complete_sends(a, &out);
}

/* ---- among nodes ---- */

/* Before a step each leader has the values of the `step` leaders up to itself, then of LEADER_RADIX
 * times as many. The peers of an agreement differ, so that messages match in the order of
 * agreements. */
static void agree_among_leaders(agreement *a)
{
    const tatp_comm *comm = a->comm;
    int leaders = comm->leaders, me = comm->leader_index;
    for (int64_t step = 1; step < leaders; step *= LEADER_RADIX) {
        int64_t before[MOST_VALUES];
        sends out = {.count = 0};
        memcpy(before, a->value, value_bytes(a));
        for (int64_t d = step; d < LEADER_RADIX * step && d < leaders; d += step)
            start_sending(a, before, comm->leader[(me + d) % leaders], &out);
        for (int64_t d = step; d < LEADER_RADIX * step && d < leaders; d += step)
            receive_and_merge(a, comm->leader[(me + leaders - d) % leaders]);
        complete_sends(a, &out);
    }
}

static int agree(tatp_comm *comm, int64_t *value, int count, bool among_nodes)
{
    agreement a = {comm, value, count, OMPI_SUCCESS};
    const rank_tree node = tree_of_node(comm);
    collect_values(&a, &node);
    if (among_nodes && 0 == node.index)
        agree_among_leaders(&a);
    spread_values(&a, &node);
    return a.rc;
}

int tatp_agree_max(tatp_comm *comm, int64_t *value, int count)
{
    return agree(comm, value, count, true);
}

int tatp_node_max(tatp_comm *comm, int64_t *value, int count)
{
    return agree(comm, value, count, false);
}

static int broadcast(tatp_comm *comm, int64_t *value, int *count, bool among_nodes)
{
    agreement a = {comm, value, *count, OMPI_SUCCESS};
    const rank_tree node = tree_of_node(comm), leaders = tree_of_leaders(comm);
    if (among_nodes && 0 == node.index)
        spread_values(&a, &leaders);
    spread_values(&a, &node);
    *count = a.count;
    return a.rc;
}

int tatp_bcast(tatp_comm *comm, int64_t *value, int *count)
{
    return broadcast(comm, value, count, true);
}

int tatp_node_bcast(tatp_comm *comm, int64_t *value, int count)
{
    return broadcast(comm, value, &count, false);
}

int tatp_agree_error(tatp_comm *comm, int rc)
{
    int64_t worst = tatp_error_class(rc);
    int failed = tatp_agree_max(comm, &worst, 1);
    return OMPI_SUCCESS != failed ? failed : (int)worst;
}

/* ---- leaders ---- */

/* of: the leader of each rank. In place: the leaders, ascending. */
static void keep_leaders(tatp_comm *comm, int *of, size_t *node_of_rank)
{
    int leaders = 0;
    for (int r = 0; r < comm->size; r++) {
        int leader = of[r];
        if (NULL != node_of_rank)
            node_of_rank[r] = leader == r ? (size_t)leaders : node_of_rank[leader];
        if (leader != r)
            continue;
        if (r == comm->local[0])
            comm->leader_index = leaders;
        of[leaders++] = r;
    }
    comm->leaders = leaders;
}

int tatp_comm_find_leaders(tatp_comm *comm, size_t *node_of_rank, size_t *nodes)
{
    int rc = tatp_allgather(comm, comm->local[0], comm->leader);
    if (OMPI_SUCCESS == rc)
        keep_leaders(comm, comm->leader, node_of_rank);
    *nodes = (size_t)comm->leaders;
    return rc;
}
