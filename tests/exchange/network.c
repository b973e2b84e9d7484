/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated transport, with MPI's rules: messages between two ranks do not overtake each other,
 * receives match in the order in which they were posted, a rendezvous or synchronous send completes
 * after it was matched, and its data are read until then. An eager send may complete at once; the
 * network then keeps its data. */
#include "simulation.h"

#include <stdlib.h>
#include <string.h>

struct sim_request {
    sim_request *next;    /* unmatched, of the same pair and kind */
    sim_request *earlier; /* of the whole schedule */
    sim_pair *pair;
    int64_t number; /* among those of its rank */
    bool send, synchronous, eager;
    const char *data; /* of a send */
    char *copy;       /* its data in the network, or NULL */
    char *to;         /* of a receive */
    size_t bytes;     /* of the message, or room for it */
    size_t received;
    int error; /* that test returns */
    bool lost; /* arrives without data */
    bool arrived, matched, transferred, complete, freed;
    sim_request *peer; /* of a send that is matched */
};

struct sim_pair {
    int from, to;
    sim_request *send, *send_last, *arriving; /* unmatched; the first that has not arrived */
    sim_request *receive, *receive_last;
    int64_t unreceived; /* sends that are complete and not matched */
    int64_t sent, synchronous;
};

enum event_kind { EVENT_ARRIVAL, EVENT_TRANSFER, EVENT_COMPLETION };
struct sim_event {
    enum event_kind kind;
    sim_pair *pair;
    sim_request *send;
};

static void push_event(simulation *sim, enum event_kind kind, sim_pair *pair, sim_request *send)
{
    if (sim->events == sim->event_capacity) {
        sim->event_capacity = sim->event_capacity * 2 + 64;
        sim->event = realloc(sim->event, sim->event_capacity * sizeof *sim->event);
    }
    sim->event[sim->events++] = (sim_event){kind, pair, send};
}

static sim_pair *pair_of(simulation *sim, int from, int to)
{
    return &sim->pair[from * sim->ranks + to];
}

/* ---- events ---- */

static const char *source_of(const sim_request *send)
{
    return send->copy != NULL ? send->copy : send->data;
}

/* A request that the network gave up is the engine's no more, nor is its memory. */
static void copy_data(const sim_request *send, const sim_request *receive, size_t from, size_t end)
{
    bool there = !receive->freed && (send->copy != NULL || !send->freed);
    if (there && !send->lost && receive->error == 0 && send->bytes <= receive->bytes && end > from)
        memcpy(receive->to + from, source_of(send) + from, end - from);
}

static bool is_cut(const simulation *sim, const sim_pair *pair)
{
    return sim->vanished && (pair->from == sim->victim || pair->to == sim->victim);
}

/* The first half of the data moves when a message is matched, the rest when the receive completes.
 */
static void match_messages(simulation *sim, sim_pair *pair)
{
    while (!is_cut(sim, pair) && pair->send != NULL && pair->send->arrived &&
           pair->receive != NULL) {
        sim_request *send = pair->send, *receive = pair->receive;
        pair->send = send->next;
        pair->receive = receive->next;
        send->matched = receive->matched = true;
        send->peer = receive;
        pair->unreceived -= send->complete;
        copy_data(send, receive, 0, send->bytes / 2);
        push_event(sim, EVENT_TRANSFER, pair, send);
    }
}

static void arrive(simulation *sim, sim_pair *pair)
{
    pair->arriving->arrived = true;
    pair->arriving = pair->arriving->next;
    if (pair->arriving != NULL)
        push_event(sim, EVENT_ARRIVAL, pair, NULL);
    match_messages(sim, pair);
}

static void transfer(simulation *sim, sim_request *send)
{
    sim_request *receive = send->peer;
    send->transferred = true;
    if (receive->error == 0 && send->bytes > receive->bytes && !send->lost)
        receive->error = TRUNCATED;
    if (send->freed && send->copy == NULL)
        receive->error = sim->vanished ? LOST : GONE;
    copy_data(send, receive, send->bytes / 2, send->bytes);
    receive->received = send->lost || receive->error != 0 ? 0 : send->bytes;
    receive->complete = true;
    sim_wake(sim, send->pair->to);
    if (!send->complete)
        push_event(sim, EVENT_COMPLETION, send->pair, send);
}

/* What an eager send has not transferred is in the network from now on. */
static void complete_send(simulation *sim, sim_request *send)
{
    sim_pair *pair = send->pair;
    if (send->complete)
        return;
    if (!send->transferred && !send->freed) {
        send->copy = malloc(send->bytes + 1);
        memcpy(send->copy, send->data, send->bytes);
    }
    send->complete = true;
    pair->unreceived += !send->matched;
    sim_wake(sim, pair->from);
    int64_t most = (2 * EXCHANGE_DEPTH - 1) * (sim->chunk_messages[pair->from][pair->to] +
                                               sim->chunk_messages[pair->to][pair->from]);
    if (pair->unreceived > most)
        sim_fail(sim, "rank %d runs ahead of rank %d by %" PRId64 " messages", pair->from, pair->to,
                 pair->unreceived);
}

static bool is_delayed(const simulation *sim, size_t i)
{
    return sim->event[i].pair->from == sim->delayed;
}

static size_t choose_event(simulation *sim)
{
    int64_t last = (int64_t)sim->events - 1;
    size_t i = (size_t)(sim->order == ORDER_OLDEST   ? 0
                        : sim->order == ORDER_NEWEST ? last
                                                     : pick(&sim->state, 0, last));
    for (int k = 0; k < 3 && is_delayed(sim, i); k++)
        i = (size_t)pick(&sim->state, 0, last);
    return i;
}

void sim_network_event(simulation *sim)
{
    sim_network_take(sim, choose_event(sim));
}

bool sim_network_matters(const simulation *sim, size_t i)
{
    return sim->event[i].kind != EVENT_COMPLETION || !sim->event[i].send->complete;
}

void sim_network_take(simulation *sim, size_t i)
{
    sim_event e = sim->event[i];
    sim->events--;
    if (sim->order == ORDER_OLDEST)
        memmove(sim->event + i, sim->event + i + 1, (sim->events - i) * sizeof e);
    else
        sim->event[i] = sim->event[sim->events];
    sim_trace(sim, "%d -> %d: %s", e.pair->from, e.pair->to,
              e.kind == EVENT_ARRIVAL    ? "arrives"
              : e.kind == EVENT_TRANSFER ? "is received"
                                         : "is sent");
    switch (e.kind) {
    case EVENT_ARRIVAL: arrive(sim, e.pair); break;
    case EVENT_TRANSFER: transfer(sim, e.send); break;
    case EVENT_COMPLETION: complete_send(sim, e.send); break;
    }
}

/* Events follow from it, and so does what is matched with what. */
uint64_t sim_network_digest(const simulation *sim)
{
    uint64_t sum = 0;
    for (const sim_request *q = sim->latest; q != NULL; q = q->earlier) {
        int rank = q->send ? q->pair->from : q->pair->to;
        unsigned state = q->eager | q->lost << 1 | q->arrived << 2 | q->matched << 3 |
                         q->transferred << 4 | q->complete << 5 | q->freed << 6;
        sum += sim_mix(sim_mix((uint64_t)rank, (uint64_t)q->number), state);
    }
    return sum;
}

/* ---- the transport ---- */

static int owner_of(const sim_request *q)
{
    return q->send ? q->pair->from : q->pair->to;
}

static sim_request *new_request(simulation *sim, sim_rank *r, sim_pair *pair, size_t bytes)
{
    sim_request *request = calloc(1, sizeof *request);
    request->pair = pair;
    request->number = r->requests++;
    request->bytes = bytes;
    request->earlier = sim->latest;
    sim->latest = request;
    sim->live_requests++;
    return request;
}

/* Whether the whole network has failed. */
static bool is_gone(simulation *sim, int rank)
{
    bool gone = sim->gone_after >= 0 && sim->transport_calls++ >= sim->gone_after;
    if (gone)
        sim_report(&sim->rank[rank], GONE);
    return gone;
}

static bool is_eager(simulation *sim, size_t bytes)
{
    switch (sim->protocol) {
    case EAGER: return true;
    case RENDEZVOUS: return false;
    case EAGER_BY_SIZE: return bytes <= sim->eager_limit;
    default: return sim_chance(sim, 1, 2);
    }
}

static int check_peer(simulation *sim, const sim_rank *r, int peer, size_t bytes)
{
    if (peer < 0 || peer >= sim->ranks || peer == r->rank)
        sim_fail(sim, "rank %d communicates with rank %d", r->rank, peer);
    else if (bytes > (size_t)sim->message_size)
        sim_fail(sim, "rank %d: a message of %zu bytes", r->rank, bytes);
    return sim->failure != NULL ? GONE : 0;
}

/* The error of a call that starts a message of so many bytes. An empty one fails with the whole
 * network only. */
static int fail_to_start(sim_rank *r, int peer, size_t bytes, enum fault_kind kind)
{
    int rc = check_peer(r->sim, r, peer, bytes);
    if (rc == 0 && is_gone(r->sim, r->rank))
        return GONE;
    if (rc == 0 && r->knows)
        return sim_report(r, LOST);
    if (rc == 0 && bytes > 0)
        rc = sim_inject(r->sim, r->rank, kind);
    return rc != 0 ? sim_report(r, rc) : 0;
}

static void enqueue_send(simulation *sim, sim_pair *pair, sim_request *send)
{
    if (pair->send == NULL)
        pair->send = send;
    else
        pair->send_last->next = send;
    pair->send_last = send;
    pair->sent++;
    pair->synchronous += send->synchronous;
    if (pair->synchronous * EXCHANGE_DEPTH > pair->sent)
        sim_fail(sim, "rank %d: too many synchronous messages to rank %d", pair->from, pair->to);
    if (pair->arriving == NULL && !is_cut(sim, pair)) {
        pair->arriving = send;
        push_event(sim, EVENT_ARRIVAL, pair, NULL);
    }
    if (send->eager && sim_chance(sim, 2, 3))
        complete_send(sim, send);
    else if (send->eager && !is_cut(sim, pair))
        push_event(sim, EVENT_COMPLETION, pair, send);
}

/* Half of the sends that fail after they were started arrive without their data. */
static int sim_isend(void *context, int peer, const void *data, size_t bytes, bool synchronous,
                     exchange_request *request)
{
    sim_rank *r = context;
    simulation *sim = r->sim;
    *request = NULL;
    sim_may_vanish(r);
    sim_interrupt(sim);
    int rc = fail_to_start(r, peer, bytes, FAULT_ISEND);
    if (rc != 0)
        return rc;
    sim_request *send = new_request(sim, r, pair_of(sim, r->rank, peer), bytes);
    send->send = true;
    send->data = data;
    send->synchronous = synchronous;
    send->eager = !synchronous && is_eager(sim, bytes);
    send->error = bytes > 0 ? sim_inject(sim, r->rank, FAULT_TEST) : 0;
    send->lost = send->error != 0 && sim_chance(sim, 1, 2);
    *request = send;
    sim_trace(sim, "rank %d: isend %zu bytes to %d%s%s", r->rank, bytes, peer,
              synchronous ? ", synchronous" : "", send->eager ? ", eager" : "");
    enqueue_send(sim, send->pair, send);
    return 0;
}

static int sim_irecv(void *context, int peer, void *data, size_t bytes, exchange_request *request)
{
    sim_rank *r = context;
    simulation *sim = r->sim;
    *request = NULL;
    sim_may_vanish(r);
    sim_interrupt(sim);
    int rc = fail_to_start(r, peer, bytes, FAULT_IRECV);
    if (rc != 0) {
        r->domain_failed |= sim->write[r->run];
        return rc;
    }
    sim_pair *pair = pair_of(sim, peer, r->rank);
    sim_request *receive = new_request(sim, r, pair, bytes);
    receive->to = data;
    receive->error = bytes > 0 ? sim_inject(sim, r->rank, FAULT_TEST) : 0;
    *request = receive;
    sim_trace(sim, "rank %d: irecv %zu bytes from %d", r->rank, bytes, peer);
    if (pair->receive == NULL)
        pair->receive = receive;
    else
        pair->receive_last->next = receive;
    pair->receive_last = receive;
    match_messages(sim, pair);
    return 0;
}

static int sim_test(void *context, exchange_request *request, bool *complete, size_t *bytes)
{
    sim_rank *r = context;
    simulation *sim = r->sim;
    sim_request *q = *request;
    sim_may_vanish(r);
    if (q == NULL || q->freed || r->rank != owner_of(q)) {
        sim_fail(sim, "rank %d tests a request that it does not have", r->rank);
        return GONE;
    }
    if (!q->complete && sim->gone_after >= 0 && is_gone(sim, r->rank))
        q->complete = (q->error = GONE) != 0;
    if (!q->complete && r->knows && sim_chance(sim, 1, 2))
        q->complete = (q->error = LOST) != 0;
    sim_interrupt(sim);
    *complete = q->complete;
    if (!q->complete)
        return 0;
    *bytes = q->send ? 12345 : q->received; /* of a send it means nothing */
    *request = NULL;
    q->freed = true;
    r->seen = sim_mix(sim_mix(r->seen, (uint64_t)q->number), q->received);
    sim->live_requests--;
    if (!q->send && q->received < q->bytes)
        r->domain_failed |= sim->write[r->run];
    return q->error != 0 ? sim_report(r, q->error) : 0;
}

static int sim_progress(void *context)
{
    sim_rank *r = context;
    return r->knows ? sim_report(r, LOST) : 0;
}

/* ---- a rank that vanishes ---- */

/* What others have sent to it, or receive from it, does not end. */
void sim_network_vanish(simulation *sim)
{
    size_t kept = 0;
    sim->vanished = true;
    for (size_t i = 0; i < sim->events; i++)
        if (!is_cut(sim, sim->event[i].pair))
            sim->event[kept++] = sim->event[i];
    sim->events = kept;
    for (const sim_request *q = sim->latest; q != NULL; q = q->earlier)
        sim->live_requests -= !q->freed && owner_of(q) == sim->victim;
}

/* ---- the beginning and the end ---- */

void sim_network_init(simulation *sim)
{
    sim->pair = calloc((size_t)(sim->ranks * sim->ranks), sizeof *sim->pair);
    for (int i = 0; i < sim->ranks; i++) {
        sim->transport[i] =
            (exchange_transport){&sim->rank[i], sim_isend, sim_irecv, sim_test, sim_progress};
        for (int k = 0; k < sim->ranks; k++) {
            pair_of(sim, i, k)->from = i;
            pair_of(sim, i, k)->to = k;
        }
    }
}

/* Nothing is left when all ranks have finished and all events have happened. */
void sim_network_check(simulation *sim)
{
    if (sim->gone_after >= 0)
        return;
    for (int i = 0; i < sim->ranks * sim->ranks && sim->failure == NULL && !sim->vanished; i++) {
        const sim_pair *pair = &sim->pair[i];
        if (pair->send != NULL || pair->receive != NULL)
            sim_fail(sim, "a message from rank %d to rank %d was not matched", pair->from,
                     pair->to);
    }
    if (sim->live_requests > 0)
        sim_fail(sim, "%zu requests were not freed", sim->live_requests);
}

void sim_network_release(simulation *sim)
{
    for (sim_request *q = sim->latest, *earlier; q != NULL; q = earlier) {
        earlier = q->earlier;
        free(q->copy);
        free(q);
    }
    free(sim->event);
    free(sim->pair);
}
