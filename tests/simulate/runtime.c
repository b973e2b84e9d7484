/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated network as the runtime of src/collective; nodes, and the job. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "life.h"

static network *network_of(const sim_rank *r)
{
    return &r->life->net;
}

/* ---- messages ---- */

/* The error of a call that starts a message. One with data may fail; an empty one does with the
 * whole network only. */
static int fail_to_start(sim_rank *r, int peer, enum coll_tag tag, size_t bytes,
                         enum fault_kind kind)
{
    if (peer < 0 || peer >= r->life->ranks || peer == r->rank)
        sim_fail(r->life, "rank %d communicates with rank %d", r->rank, peer);
    if (sim_call(r, kind == FAULT_SEND ? "send" : "receive"))
        return sim_report(r, CLASS_LOST);
    bool fails = tag == COLL_TAG_DATA && bytes > 0 && sim_has_fault(r, kind);
    return fails ? sim_report(r, CLASS_OTHER) : 0;
}

/* Half of the sends that fail after they were started arrive without their data. */
static void spoil(sim_rank *r, net_request *request, enum coll_tag tag, size_t bytes, bool is_send)
{
    if (tag == COLL_TAG_DATA && bytes > 0 && sim_has_fault(r, FAULT_MESSAGE))
        net_spoil(request, CLASS_OTHER, is_send && sim_chance(&r->life->order, 1, 2));
}

static int start_send(void *context, int peer, unsigned tag, const void *data, size_t bytes,
                      bool synchronous, exchange_request *request)
{
    sim_rank *r = context;
    *request = NULL;
    int rc = fail_to_start(r, peer, tag, bytes, FAULT_SEND);
    if (rc != 0)
        return rc;
    if (tag == COLL_TAG_DATA)
        sim_check_ahead(r, peer, synchronous);
    *request = net_send(network_of(r), r->rank, peer, (int)tag, data, bytes, synchronous);
    spoil(r, *request, tag, bytes, true);
    return 0;
}

static int start_receive(void *context, int peer, unsigned tag, void *data, size_t bytes,
                         exchange_request *request)
{
    sim_rank *r = context;
    *request = NULL;
    int rc = fail_to_start(r, peer, tag, bytes, FAULT_RECEIVE);
    if (rc != 0)
        return rc;
    *request = net_receive(network_of(r), r->rank, peer, (int)tag, data, bytes);
    spoil(r, *request, tag, bytes, false);
    return 0;
}

/* Messages have the room that they need, where there is memory for it. */
static int check_error(sim_rank *r, int rc)
{
    if (rc == CLASS_TRUNCATED && r->life->fired == 0)
        sim_fail(r->life, "rank %d has no room for a message", r->rank);
    return rc == 0 ? 0 : sim_report(r, rc);
}

static int test(void *context, exchange_request *request, bool *complete, size_t *bytes)
{
    sim_rank *r = context;
    (void)sim_call(r, "test");
    int rc = net_test(network_of(r), r->rank, (net_request **)request, bytes);
    *complete = *request == NULL;
    return check_error(r, rc);
}

static int wait_for(void *context, exchange_request *request, size_t *bytes)
{
    sim_rank *r = context;
    (void)sim_call(r, "wait");
    return check_error(r, net_wait(network_of(r), r->rank, (net_request **)request, bytes));
}

static int probe(void *context, enum coll_tag tag, bool *is_found, coll_found *found)
{
    sim_rank *r = context;
    *is_found = false;
    if (sim_call(r, "probe"))
        return sim_report(r, CLASS_LOST);
    found->from = net_probe(network_of(r), r->rank, (int)tag, &found->bytes);
    *is_found = found->from >= 0;
    return 0;
}

static int progress(void *context)
{
    sim_rank *r = context;
    net_yield(network_of(r), r->rank);
    return sim_call(r, "progress") ? sim_report(r, CLASS_LOST) : 0;
}

static bool has_lost(void *context)
{
    const sim_rank *r = context;
    return r->life->net.rank[r->rank].has_noticed;
}

/* ---- collective operations ---- */

static int reduce(void *context, int64_t *value, size_t count, enum coll_operation operation)
{
    sim_rank *r = context;
    if (sim_call(r, "reduce"))
        return sim_report(r, CLASS_LOST);
    const net_values values = {value, count, value};
    return net_collect(network_of(r), r->rank, "reduce", operation == COLL_SUM ? NET_SUM : NET_MAX,
                       &values, true);
}

static int gather(void *context, const int64_t *own, size_t count, int64_t *all)
{
    sim_rank *r = context;
    if (sim_call(r, "gather"))
        return sim_report(r, CLASS_LOST);
    bool waits = r->rank == 0 || sim_chance(&r->life->order, 1, 2);
    const net_values values = {own, count, r->rank == 0 ? all : NULL};
    return net_collect(network_of(r), r->rank, "gather", NET_GATHER, &values, waits);
}

/* ---- nodes and the job ---- */

static bool is_local(void *context, int rank)
{
    const sim_rank *r = context;
    return sim_node_of(r->life, rank) == sim_node_of(r->life, r->rank);
}

static char *host(void *context, int rank)
{
    const sim_rank *r = context;
    char *name = malloc(16);
    if (name != NULL)
        snprintf(name, 16, "node%d", sim_node_of(r->life, rank));
    return name;
}

static char *locality(void *context, int rank)
{
    (void)context;
    char *text = rank % 3 > 0 ? malloc(40) : NULL;
    if (text != NULL)
        snprintf(text, 40, "SK%d:L30:L2%d:L1%d:CR%d", rank % 2, rank % 4, rank % 4, rank % 4);
    return text;
}

/* In every second life the other way round. */
size_t sim_job_rank(const life *l, int rank)
{
    return (size_t)(l->seed % 2 == 0 ? rank : l->ranks - 1 - rank);
}

static size_t job_rank(void *context, int rank)
{
    return sim_job_rank(((const sim_rank *)context)->life, rank);
}

static int error_class(int error)
{
    if (error >= 0)
        return error % CLASSES;
    return error == -ENOMEM ? CLASS_NO_MEMORY : CLASS_OTHER;
}

void sim_runtime(sim_rank *r)
{
    const life *l = r->life;
    uint64_t of_life = l->seed;
    r->runtime = (coll_runtime){
        .context = r,
        .process = &r->process,
        .rank = r->rank,
        .size = l->ranks,
        .near_message_size = pick(&of_life, 8, INT64_C(32) << pick(&of_life, 0, 6)),
        .far_message_size = pick(&of_life, 8, INT64_C(32) << pick(&of_life, 0, 6)),
        .is_local = is_local,
        .host = host,
        .locality = locality,
        .job_rank = job_rank,
        .isend = start_send,
        .irecv = start_receive,
        .test = test,
        .wait = wait_for,
        .probe = probe,
        .progress = progress,
        .has_lost = has_lost,
        .reduce = reduce,
        .gather = gather,
        .error_class = error_class,
    };
}
