/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated network as the runtime of src/collective, with faults; the job. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "life.h"

/* Whether the message is not started, which is made good by starting it again. */
static bool is_refused(sim_rank *r, int peer, enum fault_kind kind)
{
    if (peer < 0 || peer >= r->life->ranks || peer == r->rank)
        sim_fail(r->life, "rank %d communicates with rank %d", r->rank, peer);
    return sim_has_fault(r, kind);
}

/* A message was started, or no communication is possible. Half of the sends that fail after that
 * arrive without their data. */
static int end_start(sim_rank *r, int rc, net_request *request, unsigned tag, size_t bytes)
{
    if (rc != 0)
        return sim_report(r, rc);
    sim_happened(&r->life->order);
    sim_trace(&r->life->order, "rank %d: %s%s, %zu bytes, %d -> %d", r->rank,
              request->is_send ? "sends" : "receives", request->is_eager ? ", eager" : "", bytes,
              request->from, request->to);
    if (tag == COLL_TAG_DATA && bytes > 0 && sim_has_fault(r, FAULT_MESSAGE))
        net_spoil(request, CLASS_OTHER, request->is_send && sim_chance(&r->life->order, 1, 2));
    return 0;
}

static int start_send(void *context, int peer, unsigned tag, const void *data, size_t bytes,
                      bool synchronous, exchange_request *request)
{
    sim_rank *r = context;
    *request = NULL;
    if (is_refused(r, peer, FAULT_SEND))
        return CLASS_NO_MEMORY;
    int rc = net_send(context, peer, tag, data, bytes, synchronous, request);
    if (tag == COLL_TAG_DATA && rc == 0) {
        sim_check_ahead(r, peer, synchronous);
        sim_note_place(r, data);
    }
    return end_start(r, rc, *request, tag, bytes);
}

static int start_receive(void *context, int peer, unsigned tag, void *data, size_t bytes,
                         exchange_request *request)
{
    sim_rank *r = context;
    *request = NULL;
    if (is_refused(r, peer, FAULT_RECEIVE))
        return CLASS_NO_MEMORY;
    int rc = net_receive(context, peer, tag, data, bytes, request);
    if (tag == COLL_TAG_DATA && rc == 0)
        sim_note_place(r, data);
    return end_start(r, rc, *request, tag, bytes);
}

/* Messages have the room that they need, unless they are discarded: an MPI may end the job. What
 * fails because a rank is lost tells of it. */
static int check_error(sim_rank *r, int rc)
{
    if (rc == CLASS_TRUNCATED)
        sim_fail(r->life, "rank %d has no room for a message", r->rank);
    if (rc == CLASS_LOST)
        r->life->net.rank[r->rank].has_noticed = true;
    return rc == 0 ? 0 : sim_report(r, rc);
}

static int test(void *context, exchange_request *request, bool *complete, size_t *bytes)
{
    return check_error(context, net_test(context, request, complete, bytes));
}

static int wait_for(void *context, exchange_request *request, size_t *bytes)
{
    return check_error(context, net_wait(context, request, bytes));
}

static int probe(void *context, enum coll_tag tag, bool *is_found, coll_found *found)
{
    return check_error(context, net_probe(context, tag, is_found, found));
}

static int progress(void *context)
{
    sim_rank *r = context;
    net_yield(&r->life->net, r->rank);
    return sim_call(&r->life->net, r->rank, "progress") ? sim_report(r, CLASS_LOST) : 0;
}

static bool has_lost(void *context)
{
    const sim_rank *r = context;
    return r->life->net.rank[r->rank].has_noticed;
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
size_t sim_job_rank(void *context, int rank)
{
    const life *l = ((const sim_rank *)context)->life;
    return (size_t)(l->seed % 2 == 0 ? rank : l->ranks - 1 - rank);
}

static int error_class(int error)
{
    if (error >= 0)
        return error % CLASSES;
    return error == -ENOMEM ? CLASS_NO_MEMORY : CLASS_OTHER;
}

static void show(const char *text)
{
    (void)text;
}

void sim_front(sim_rank *r)
{
    const life *l = r->life;
    uint64_t of_life = l->seed;
    net_front(&r->port, &r->process, &r->runtime);
    r->process.job.is_first = sim_job_rank(r, r->rank) == 0;
    r->process.job.folder = l->folder[0] != '\0' ? l->folder : NULL;
    r->process.show = show;
    r->runtime.near_message_size = pick(&of_life, 8, INT64_C(32) << pick(&of_life, 0, 6));
    r->runtime.far_message_size = pick(&of_life, 8, INT64_C(32) << pick(&of_life, 0, 6));
    r->runtime.locality = locality;
    r->runtime.job_rank = sim_job_rank;
    r->runtime.isend = start_send;
    r->runtime.irecv = start_receive;
    r->runtime.test = test;
    r->runtime.wait = wait_for;
    r->runtime.probe = probe;
    r->runtime.progress = progress;
    r->runtime.has_lost = has_lost;
    r->runtime.error_class = error_class;
}
