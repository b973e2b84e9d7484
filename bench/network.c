/* SPDX-License-Identifier: BSD-3-Clause */
#include "network.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/heap.h"
#include "base/memory.h"
#include "exchange/internal.h"

/* The links of a message in their order. */
enum { FROM_NODE, FROM_SWITCH, TO_SWITCH, TO_NODE, LINKS };
enum { SENDER = -1 };

/* A message or a receive of one rank. */
typedef struct message {
    struct message *next; /* of those that wait for a link, or of the unmatched */
    int from, to;
    size_t bytes;
    bool is_receive, synchronous, complete, tested;
    struct message *acknowledges; /* a synchronous message, whose sender waits for this one */
    int link;                     /* that it reaches next; LINKS: none */
    double last;                  /* when the last byte has left the links before */
} message;

/* The messages of a rank for another one that wait for the link of the sender's node. */
typedef struct connection {
    message *first, *last;
    struct connection *next; /* whose turn comes next */
} connection;

/* What has not met its counterpart between two ranks: arrived messages, or receives. */
typedef struct pair {
    uint64_t key; /* 0: none */
    message *first, *last;
    connection *connection; /* or NULL */
} pair;

typedef struct event {
    double time;
    uint64_t order;
    int rank;        /* or SENDER - node: the node's link takes the next message */
    message *moving; /* reaches a link, or the rank; NULL: the rank may have something to do */
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

/* Of a node. */
typedef struct sender {
    connection *first, *last; /* those with messages for the node's link, in turn */
    bool is_busy;
} sender;

struct network {
    network_costs costs;
    int ranks, nodes;
    double *link[LINKS]; /* until when each is busy, by node or switch */
    double *core;
    sender *sender; /* of each node */
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

static void add_event(network *net, double time, int rank, message *moving)
{
    if (base_reserve(&net->queue, &net->capacity, net->events + 1, sizeof *net->queue) != 0) {
        net->rc = -ENOMEM;
        return;
    }
    const event added = {time, net->order++, rank, moving};
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

static message *new_message(network *net, int from, int to, size_t bytes)
{
    message *m = calloc(1, sizeof *m);
    if (m == NULL)
        net->rc = -ENOMEM;
    else
        *m = (message){.from = from, .to = to, .bytes = bytes};
    return m;
}

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

/* ---- links ---- */

static int next_link(const network *net, int at, int from, int to)
{
    const network_costs *costs = &net->costs;
    int of = costs->per_node * costs->per_switch;
    bool has_uplinks = costs->uplink > 0 && from / of != to / of;
    return at == FROM_NODE && !has_uplinks ? TO_NODE : at + 1;
}

static size_t count_frames(const network_costs *costs, size_t bytes)
{
    return costs->frame > 0 ? (bytes + costs->envelope + costs->frame - 1) / costs->frame : 0;
}

/* Returns when the first byte has passed a link; *last, when the last one had passed those before:
 * when it has passed this one. At its rate the link would be busy until `*busy`; by its burst it
 * may be ahead of that. */
static double occupy(network *net, int at, int from, int to, size_t bytes, double time,
                     double *last)
{
    const network_costs *costs = &net->costs;
    int node = (at < TO_SWITCH ? from : to) / costs->per_node;
    bool is_uplink = at == FROM_SWITCH || at == TO_SWITCH;
    double rate = is_uplink ? costs->uplink : costs->link;
    double ahead = fmax(costs->burst / rate, costs->burst_time);
    double *busy = &net->link[at][is_uplink ? node / costs->per_switch : node];
    double begin = fmax(*busy, time);
    *busy = begin + (double)bytes / rate;
    *last = fmax(*last, fmax(time, *busy - ahead));
    return fmax(time, begin - ahead);
}

static void cross_link(network *net, message *m, double time)
{
    size_t headers = count_frames(&net->costs, m->bytes) * net->costs.header;
    size_t bytes = m->bytes + net->costs.envelope + headers;
    double first = occupy(net, m->link, m->from, m->to, bytes, time, &m->last);
    m->link = next_link(net, m->link, m->from, m->to);
    add_event(net, m->link < LINKS ? first : m->last + net->costs.latency, m->to, m);
}

/* TCP: a header for every second frame, in the other direction. */
static void answer_frames(network *net, const message *m, double time)
{
    size_t frames = (count_frames(&net->costs, m->bytes) + 1) / 2;
    double last = time;
    for (int at = FROM_NODE; at < LINKS && frames > 0; at = next_link(net, at, m->to, m->from))
        (void)occupy(net, at, m->to, m->from, frames * net->costs.header, time, &last);
}

static bool is_within_node(const network *net, const message *m)
{
    return m->from / net->costs.per_node == m->to / net->costs.per_node;
}

static void send_message(network *net, message *m, double time)
{
    bool within = is_within_node(net, m);
    m->link = within ? LINKS : FROM_NODE;
    m->last = time;
    add_event(net, within ? time + net->costs.latency : time, m->to, m);
}

/* ---- connections, which take turns on the link of their node ---- */

/* NULL: no memory. */
static connection *find_connection(network *net, int from, int to)
{
    pair *p = find_pair(net, from, to);
    if (p != NULL && p->connection == NULL)
        p->connection = calloc(1, sizeof *p->connection);
    if (p == NULL || p->connection == NULL)
        net->rc = -ENOMEM;
    return p == NULL ? NULL : p->connection;
}

static void take_turn(sender *s, connection *c)
{
    c->next = NULL;
    if (s->first == NULL)
        s->first = c;
    else
        s->last->next = c;
    s->last = c;
}

static void add_to_queue(network *net, message *m, double time)
{
    connection *c = find_connection(net, m->from, m->to);
    int node = m->from / net->costs.per_node;
    sender *s = &net->sender[node];
    if (c == NULL)
        return;
    if (c->first == NULL) {
        c->first = m;
        take_turn(s, c);
    } else {
        c->last->next = m;
    }
    c->last = m;
    if (!s->is_busy)
        add_event(net, time, SENDER - node, NULL);
    s->is_busy = true;
}

static void send_next(network *net, int node, double time)
{
    sender *s = &net->sender[node];
    connection *c = s->first;
    s->is_busy = c != NULL;
    if (c == NULL)
        return;
    message *m = c->first;
    s->first = c->next;
    c->first = m->next;
    m->next = NULL;
    if (c->first != NULL)
        take_turn(s, c);
    cross_link(net, m, time);
    add_event(net, m->last, SENDER - node, NULL);
}

/* ---- arrivals ---- */

static void acknowledge(network *net, message *m, double time)
{
    message *answer = new_message(net, m->to, m->from, 0);
    if (answer == NULL)
        return;
    answer->acknowledges = m;
    send_message(net, answer, time);
}

/* A message is freed when its sender has tested it and it was received. */
static void complete_receive(network *net, message *receive, message *arrived, double time)
{
    receive->bytes = arrived->bytes;
    receive->complete = true;
    wake(net, receive->to, time);
    if (arrived->synchronous)
        acknowledge(net, arrived, time);
    if (arrived->tested)
        free(arrived);
    else
        arrived->tested = true;
}

static void arrive(network *net, message *m, double time)
{
    if (!is_within_node(net, m))
        answer_frames(net, m, time);
    if (m->acknowledges != NULL) {
        m->acknowledges->complete = true;
        wake(net, m->to, time);
        free(m);
        return;
    }
    message *receive = meet(net, m);
    if (receive != NULL)
        complete_receive(net, receive, m, time);
}

/* ---- transport ---- */

static void spend_on_message(net_rank *r, size_t bytes)
{
    r->spent += r->net->costs.message + (double)bytes * r->net->costs.byte;
}

/* Standard messages are complete at once: they are copied. */
static int model_isend(void *context, int peer, const void *data, size_t bytes, bool synchronous,
                       exchange_request *request)
{
    net_rank *r = context;
    message *m = new_message(r->net, r->rank, peer, bytes);
    (void)data;
    *request = m;
    if (m == NULL)
        return -ENOMEM;
    m->synchronous = synchronous;
    m->complete = !synchronous;
    spend_on_message(r, bytes);
    send_message(r->net, m, r->clock + r->spent);
    return 0;
}

static int model_irecv(void *context, int peer, void *data, size_t bytes, exchange_request *request)
{
    net_rank *r = context;
    message *m = new_message(r->net, peer, r->rank, bytes);
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

static int no_progress(void *context)
{
    (void)context;
    return 0;
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
    if (e->rank <= SENDER)
        send_next(net, SENDER - e->rank, e->time);
    else if (e->moving != NULL && e->moving->link == FROM_NODE)
        add_to_queue(net, e->moving, e->time);
    else if (e->moving != NULL && e->moving->link < LINKS)
        cross_link(net, e->moving, e->time);
    else if (e->moving != NULL)
        arrive(net, e->moving, e->time);
    else if (e->time == net->rank[e->rank].planned)
        step(net, &net->rank[e->rank], e->time);
}

static void free_links(network *net)
{
    for (int i = 0; i < LINKS; i++)
        for (int j = 0; j < net->nodes; j++)
            net->link[i][j] = 0;
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
    for (int i = 0; i < LINKS; i++)
        net->link[i] = new_times(net->nodes, &rc);
    net->core = new_times(costs->cores, &rc);
    net->sender = base_zeroed((size_t)net->nodes, sizeof *net->sender, &rc);
    net->rank = base_zeroed((size_t)ranks, sizeof *net->rank, &rc);
    if (rc == 0)
        return net;
    network_free(net);
    return NULL;
}

void network_free(network *net)
{
    for (int i = 0; i < LINKS; i++)
        free(net->link[i]);
    free(net->core);
    free(net->sender);
    free(net->rank);
    free(net->queue);
    for (size_t i = 0; i < net->pairs; i++)
        free(net->pair[i].connection);
    free(net->pair);
    free(net);
}
