/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement: the largest values over all ranks; and broadcast.
 *
 * The ranks of a node agree first, so that only one of them talks to other nodes: to the leader by
 * a tree, among the leaders by recursive doubling, and back down the tree. Maxima do not
 * depend on the order. A broadcast takes the same ways, so that it needs no connection that an
 * agreement has not made. After an error messages continue, because other ranks wait for them. */
#include "fcoll_tatp_comm_internal.h"

/* Values that agree by node at most. */
#define MOST_VALUES 64

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

static void send_values(agreement *a, int peer)
{
    keep_error(a, tatp_send(a->comm, a->value, value_bytes(a), peer, TATP_TAG_AGREE));
}

static void merge_values(agreement *a, const int64_t *other)
{
    for (int i = 0; i < a->count; i++)
        if (other[i] > a->value[i])
            a->value[i] = other[i];
}

static void receive_and_merge(agreement *a, int peer)
{
    int64_t other[MOST_VALUES];
    int rc = tatp_receive(a->comm, other, value_bytes(a), peer, TATP_TAG_AGREE);
    keep_error(a, rc);
    if (OMPI_SUCCESS == rc)
        merge_values(a, other);
}

static void replace_values(agreement *a, int peer)
{
    size_t bytes = value_bytes(a);
    int rc = tatp_receive_some(a->comm, a->value, &bytes, peer, TATP_TAG_AGREE);
    keep_error(a, rc);
    if (OMPI_SUCCESS == rc)
        a->count = (int)(bytes / sizeof *a->value);
}

static void exchange_values(agreement *a, int peer)
{
    int64_t other[MOST_VALUES];
    int rc = tatp_send_receive(a->comm, a->value, other, value_bytes(a), peer, TATP_TAG_AGREE);
    keep_error(a, rc);
    if (OMPI_SUCCESS == rc)
        merge_values(a, other);
}

/* ---- on a node ---- */

/* A tree of the local indices: the parent of an index has 0 in place of the lowest digit that is
 * not 0. Few levels matter more than few messages at a parent. */
#define RADIX 16
/* A rank's children at most: those of 31 binary digits, four to a level. */
#define MOST_CHILDREN ((RADIX - 1) * 8)

/* RADIX to the power of the number of levels below this rank. */
static int span_of_children(int index, int locals)
{
    int span = 1;
    while (span < locals && index / span % RADIX == 0)
        span *= RADIX;
    return span;
}

static int find_parent(const tatp_comm *comm, int index, int span)
{
    return comm->local[index - index / span % RADIX * span];
}

static void collect_on_node(agreement *a, int index)
{
    const tatp_comm *comm = a->comm;
    int span = span_of_children(index, comm->locals);
    for (int step = 1; step < span; step *= RADIX)
        for (int d = 1; d < RADIX && index + d * step < comm->locals; d++)
            receive_and_merge(a, comm->local[index + d * step]);
    if (index > 0)
        send_values(a, find_parent(comm, index, span));
}

static void start_sending(agreement *a, int peer, ompi_request_t **sent, int *count)
{
    int rc = tatp_isend(a->comm, a->value, value_bytes(a), peer, TATP_TAG_AGREE, &sent[*count]);
    keep_error(a, rc);
    *count += OMPI_SUCCESS == rc;
}

/* To all children at once: in shared memory a send is complete only after the peer has run, and
 * where ranks share processors each wait for that takes a turn of all of them. */
static void spread_on_node(agreement *a, int index)
{
    const tatp_comm *comm = a->comm;
    ompi_request_t *sent[MOST_CHILDREN];
    int count = 0, span = span_of_children(index, comm->locals);
    if (index > 0)
        replace_values(a, find_parent(comm, index, span));
    for (int step = span / RADIX; step > 0; step /= RADIX)
        for (int d = 1; d < RADIX && index + d * step < comm->locals; d++)
            start_sending(a, comm->local[index + d * step], sent, &count);
    for (int i = 0; i < count; i++)
        keep_error(a, tatp_wait(a->comm, &sent[i], MPI_STATUS_IGNORE));
}

/* ---- among nodes ---- */

/* Recursive doubling of a power of two of leaders; each of those beyond lets another one act for
 * it. */
static void agree_among_leaders(agreement *a)
{
    const int *leader = a->comm->leader;
    int leaders = (int)a->comm->leaders, me = a->comm->leader_index, power = 1;
    while (2 * power <= leaders)
        power *= 2;
    if (me >= power) {
        send_values(a, leader[me - power]);
        replace_values(a, leader[me - power]);
        return;
    }
    if (me + power < leaders)
        receive_and_merge(a, leader[me + power]);
    for (int step = 1; step < power; step <<= 1)
        exchange_values(a, leader[me ^ step]);
    if (me + power < leaders)
        send_values(a, leader[me + power]);
}

/* From the first one by a binomial tree. */
static void spread_among_leaders(agreement *a)
{
    const int *leader = a->comm->leader;
    int leaders = a->comm->leaders, me = a->comm->leader_index, step = 1;
    while (step < leaders && (me & step) == 0)
        step <<= 1;
    if (me > 0)
        replace_values(a, leader[me - step]);
    for (step >>= 1; step > 0; step >>= 1)
        if (me + step < leaders)
            send_values(a, leader[me + step]);
}

int tatp_agree_max(tatp_comm *comm, int64_t *value, int count)
{
    agreement a = {comm, value, count, OMPI_SUCCESS};
    int index = tatp_comm_local_index(comm, comm->rank);
    if (count > MOST_VALUES || comm->leaders <= 1 || comm->leaders == comm->size)
        return tatp_allreduce(comm, value, (compat_count)count, MPI_INT64_T, MPI_MAX);
    collect_on_node(&a, index);
    if (0 == index)
        agree_among_leaders(&a);
    spread_on_node(&a, index);
    return a.rc;
}

int tatp_bcast(tatp_comm *comm, int64_t *value, int *count)
{
    agreement a = {comm, value, *count, OMPI_SUCCESS};
    int index = tatp_comm_local_index(comm, comm->rank);
    if (0 == index)
        spread_among_leaders(&a);
    spread_on_node(&a, index);
    *count = a.count;
    return a.rc;
}

int tatp_agree_error(tatp_comm *comm, int rc)
{
    int64_t worst = tatp_error_class(rc);
    int failed = tatp_agree_max(comm, &worst, 1);
    return OMPI_SUCCESS != failed ? failed : (int)worst;
}

/* ---- leaders ---- */

/* of: the leader of each rank. In place: the leaders, ascending. */
static void keep_leaders(tatp_comm *comm, int *of)
{
    int leaders = 0;
    for (int r = 0; r < comm->size; r++) {
        if (of[r] != r)
            continue;
        if (r == comm->local[0])
            comm->leader_index = leaders;
        of[leaders++] = r;
    }
    comm->leaders = leaders;
}

bool tatp_comm_knows_leaders(const tatp_comm *comm)
{
    return comm->leaders > 0;
}

int tatp_comm_find_leaders(tatp_comm *comm)
{
    int rc = tatp_allgather(comm, comm->local[0], comm->leader);
    if (OMPI_SUCCESS == rc)
        keep_leaders(comm, comm->leader);
    return rc;
}
