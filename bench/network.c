/* SPDX-License-Identifier: BSD-3-Clause */
#include "network.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/memory.h"
#include "exchange/internal.h"

/* A message or a receive of one rank. */
typedef struct message {
    struct message *next; /* of the unmatched between two ranks */
    int from, to;
    size_t bytes;
    bool is_receive, synchronous, complete, tested;
    struct message *sender; /* of a receive that is complete, to be freed with it */
} message;

/* What has not met its counterpart between two ranks: arrived messages, or receives. */
typedef struct pair {
    uint64_t key; /* 0: none */
    message *first, *last;
} pair;

typedef struct event {
    double time;
    uint64_t order;
    int rank;
    message *arrival; /* or NULL: the rank may have something to do */
} event;

typedef struct net_rank {
    network *net;
    int rank;
    double clock, planned; /* end of the last step; begin of the next one, or INFINITY */
    double spent;          /* in the present step */
    exchange *ex;
    exchange_transport transport;
    bool finished;
    int64_t moved;
} net_rank;

struct network {
    network_costs costs;
    int ranks, nodes;
    double *link[2], *uplink[2]; /* when each is free: from and to a node or switch */
    double *core;
    net_rank *rank;
    event *queue;
    size_t events, capacity;
    uint64_t order;
    pair *pair;
    size_t pairs, used;
    int rc;
};

static inline int event_precedes(const void *order, event a, event b)
{
    (void)order;
    return a.time != b.time ? a.time < b.time : a.order < b.order;
}

BASE_HEAP(event_heap, event, const void *, event_precedes, BASE_HEAP_UNPLACED);

/* ---- events ---- */

static void add_event(network *net, double time, int rank, message *arrival)
{
    if (base_reserve(&net->queue, &net->capacity, net->events + 1, sizeof *net->queue) != 0) {
        net->rc = -ENOMEM;
        return;
    }
    const event added = {time, net->order++, rank, arrival};
    event_heap_up(NULL, net->queue, net->events++, added);
}

static event next_event(network *net)
{
    event first = net->queue[0], last = net->queue[--net->events];
    if (net->events > 0)
        event_heap_down(NULL, net->queue, net->events, 0, last);
    return first;
}

static void wake(network *net, int rank, double time)
{
    net_rank *r = &net->rank[rank];
    if (time < r->clock)
        time = r->clock;
    if (r->finished || time >= r->planned)
        return;
    r->planned = time;
    add_event(net, time, rank, NULL);
}

/* ---- messages that meet their receives ---- */

static bool grow_pairs(network *net)
{
    size_t count = net->pairs * 2 + 1024;
    pair *old = net->pair, *grown = calloc(count, sizeof *grown);
    if (grown == NULL)
        return false;
    for (size_t i = 0; i < net->pairs; i++) {
        if (old[i].key == 0)
            continue;
        size_t at = old[i].key * UINT64_C(0x9e3779b97f4a7c15) % count;
        while (grown[at].key != 0)
            at = (at + 1) % count;
        grown[at] = old[i];
    }
    free(old);
    net->pair = grown;
    net->pairs = count;
    return true;
}

/* NULL: no memory. */
static pair *find_pair(network *net, int from, int to)
{
    uint64_t key = ((uint64_t)from << 32 | (uint64_t)to) + 1;
    if (2 * net->used >= net->pairs && !grow_pairs(net))
        return NULL;
    size_t at = key * UINT64_C(0x9e3779b97f4a7c15) % net->pairs;
    while (net->pair[at].key != 0 && net->pair[at].key != key)
        at = (at + 1) % net->pairs;
    net->used += net->pair[at].key == 0;
    net->pair[at].key = key;
    return &net->pair[at];
}

/* The first unmatched of the other kind, or NULL: then m waits for it. */
static message *meet(network *net, message *m)
{
    pair *p = find_pair(net, m->from, m->to);
    if (p == NULL) {
        net->rc = -ENOMEM;
        return NULL;
    }
    message *other = p->first;
    if (other != NULL && other->is_receive != m->is_receive) {
        p->first = other->next;
        return other;
    }
    if (other == NULL)
        p->first = m;
    else
        p->last->next = m;
    p->last = m;
    return NULL;
}

static void complete_receive(network *net, message *receive, message *arrived, double time)
{
    receive->bytes = arrived->bytes;
    receive->complete = true;
    wake(net, receive->to, time);
    if (arrived->synchronous) {
        arrived->complete = true;
        wake(net, arrived->from, time + net->costs.latency);
    }
    if (arrived->tested)
        free(arrived);
    else
        arrived->tested = true;
}

/* ---- links ---- */

/* A message occupies a link from when it is free. */
static void occupy(double *link, double rate, size_t bytes, double *begin, double *end)
{
    if (*link > *begin)
        *begin = *link;
    *link = *begin + (double)bytes / rate;
    if (*link > *end)
        *end = *link;
}

/* The time at which a message arrives that is sent now. */
static double cross_links(network *net, const message *m, double now)
{
    const network_costs *costs = &net->costs;
    int from = m->from / costs->per_node, to = m->to / costs->per_node;
    int leaf = from / costs->per_switch, other = to / costs->per_switch;
    double begin = now, end = now;
    occupy(&net->link[0][from], costs->link, m->bytes, &begin, &end);
    if (leaf != other && costs->uplink > 0) {
        occupy(&net->uplink[0][leaf], costs->uplink, m->bytes, &begin, &end);
        occupy(&net->uplink[1][other], costs->uplink, m->bytes, &begin, &end);
    }
    occupy(&net->link[1][to], costs->link, m->bytes, &begin, &end);
    return end + costs->latency;
}

/* ---- transport ---- */

static message *new_message(net_rank *r, int from, int to, size_t bytes)
{
    message *m = calloc(1, sizeof *m);
    if (m == NULL)
        r->net->rc = -ENOMEM;
    else
        *m = (message){.from = from, .to = to, .bytes = bytes};
    return m;
}

static void spend_on_message(net_rank *r, size_t bytes)
{
    r->spent += r->net->costs.message + (double)bytes * r->net->costs.byte;
}

/* Standard messages are complete at once: they are copied. */
static int model_isend(void *context, int peer, const void *data, size_t bytes, bool synchronous,
                       exchange_request *request)
{
    net_rank *r = context;
    message *m = new_message(r, r->rank, peer, bytes);
    (void)data;
    *request = m;
    if (m == NULL)
        return -ENOMEM;
    m->synchronous = synchronous;
    m->complete = !synchronous;
    spend_on_message(r, bytes);
    add_event(r->net, cross_links(r->net, m, r->clock + r->spent), peer, m);
    return 0;
}

static int model_irecv(void *context, int peer, void *data, size_t bytes, exchange_request *request)
{
    net_rank *r = context;
    message *m = new_message(r, peer, r->rank, bytes);
    (void)data;
    *request = m;
    if (m == NULL)
        return -ENOMEM;
    m->is_receive = true;
    message *arrived = meet(r->net, m);
    if (arrived != NULL)
        complete_receive(r->net, m, arrived, r->clock + r->spent);
    return 0;
}

/* A message is freed when its sender has tested it and it was received. */
static int model_test(void *context, exchange_request *request, bool *complete, size_t *bytes)
{
    net_rank *r = context;
    message *m = *request;
    *complete = m->complete;
    if (!m->complete)
        return 0;
    *bytes = m->bytes;
    *request = NULL;
    if (m->is_receive)
        spend_on_message(r, m->bytes);
    if (m->is_receive || m->tested)
        free(m);
    else
        m->tested = true;
    return 0;
}

static void no_progress(void *context)
{
    (void)context;
}

/* ---- the file takes no time ---- */

static int model_write(void *context, const access_extent *extent, size_t count)
{
    (void)context, (void)extent, (void)count;
    return 0;
}

static int model_read(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    (void)context, (void)offset, (void)data;
    *done = bytes;
    return 0;
}

static bool model_read_includes(void *context, int64_t hole)
{
    (void)context;
    return hole <= 64 * 1024;
}

/* ---- ranks ---- */

/* The core that is free first, if cores are shared. */
static double *find_core(const network *net)
{
    double *first = net->core;
    for (int i = 1; i < net->costs.cores; i++)
        if (net->core[i] < *first)
            first = &net->core[i];
    return first;
}

static void wake_node(network *net, const net_rank *r)
{
    int first = r->rank - r->rank % net->costs.per_node;
    for (int i = first; i < first + net->costs.per_node && i < net->ranks; i++)
        wake(net, i, r->clock);
}

static void step(network *net, net_rank *r, double time)
{
    double *core = net->costs.cores > 0 ? find_core(net) : NULL;
    r->planned = INFINITY;
    if (core != NULL && *core > time) {
        wake(net, r->rank, *core);
        return;
    }
    r->clock = time;
    r->spent = 0;
    bool moved = exchange_step(r->ex);
    int64_t bytes = r->ex->result.moved;
    r->clock += r->spent + (double)(bytes - r->moved) * net->costs.byte;
    r->moved = bytes;
    r->finished = exchange_finished(r->ex);
    if (core != NULL)
        *core = r->clock;
    if (moved)
        wake_node(net, r);
}

static void handle_event(network *net, const event *e)
{
    if (e->arrival != NULL) {
        message *receive = meet(net, e->arrival);
        if (receive != NULL)
            complete_receive(net, receive, e->arrival, e->time);
    } else if (e->time == net->rank[e->rank].planned) {
        step(net, &net->rank[e->rank], e->time);
    }
}

static void free_links(network *net)
{
    for (int d = 0; d < 2; d++) {
        for (int i = 0; i < net->nodes; i++)
            net->link[d][i] = 0;
        for (int i = 0; i < net->nodes / net->costs.per_switch + 1; i++)
            net->uplink[d][i] = 0;
    }
    for (int i = 0; i < net->costs.cores; i++)
        net->core[i] = 0;
}

double network_run(network *net, exchange *const *ex, exchange_run run, const access_list *memory,
                   int64_t *messages)
{
    const exchange_store store = {NULL, model_write, model_read, model_read_includes};
    double last = 0;
    *messages = 0;
    free_links(net);
    for (int i = 0; i < net->ranks; i++) {
        net_rank *r = &net->rank[i];
        *r = (net_rank){.net = net, .rank = i, .planned = INFINITY, .ex = ex[i]};
        r->transport = (exchange_transport){r, model_isend, model_irecv, model_test, no_progress};
        run.transport = &r->transport;
        run.store = &store;
        run.memory = &memory[i];
        exchange_begin(r->ex, &run);
        wake(net, i, 0);
    }
    while (net->events > 0 && net->rc == 0) {
        const event e = next_event(net);
        handle_event(net, &e);
    }
    for (int i = 0; i < net->ranks; i++) {
        exchange_result result;
        if (!net->rank[i].finished)
            return -1;
        exchange_end(ex[i], &result);
        *messages += result.messages;
        last = fmax(last, net->rank[i].clock);
    }
    return net->rc == 0 ? last : net->rc;
}

/* ---- a network ---- */

static double *new_times(int count, int *rc)
{
    return base_zeroed((size_t)count + 1, sizeof(double), rc);
}

network *network_new(const network_costs *costs, int ranks)
{
    network *net = calloc(1, sizeof *net);
    int rc = 0;
    if (net == NULL)
        return NULL;
    net->costs = *costs;
    net->ranks = ranks;
    net->nodes = (ranks - 1) / costs->per_node + 1;
    for (int d = 0; d < 2; d++) {
        net->link[d] = new_times(net->nodes, &rc);
        net->uplink[d] = new_times(net->nodes / costs->per_switch + 1, &rc);
    }
    net->core = new_times(costs->cores, &rc);
    net->rank = base_zeroed((size_t)ranks, sizeof *net->rank, &rc);
    if (rc == 0)
        return net;
    network_free(net);
    return NULL;
}

void network_free(network *net)
{
    for (int d = 0; d < 2; d++) {
        free(net->link[d]);
        free(net->uplink[d]);
    }
    free(net->core);
    free(net->rank);
    free(net->queue);
    free(net->pair);
    free(net);
}
