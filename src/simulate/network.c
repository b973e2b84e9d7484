/* SPDX-License-Identifier: BSD-3-Clause */
#include "simulate/network.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "simulate/memory.h"

enum { STACK = 1 << 18 };

struct net_collective {
    net_collective *next; /* later */
    uint64_t number;
    enum net_operation operation;
    size_t count;
    int64_t *value;
    bool is_complete; /* all have entered */
    int entered, left;
};

/* ---- failures ---- */

void net_fail(network *n, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (n->failure == NULL)
        vsnprintf(n->failure_text, sizeof n->failure_text, format, arguments);
    va_end(arguments);
    n->failure = n->failure_text;
    if (n->running >= 0)
        net_yield(n, n->running);
}

/* ---- running ---- */

static bool net_chance(network *n, int64_t of, int64_t all)
{
    return n->order.chance(n->order.context, of, all);
}

void net_wake(network *n, int rank)
{
    n->rank[rank].is_woken = true;
    n->order.wake(n->order.context, rank);
}

void net_yield(network *n, int rank)
{
    n->resume(n->context, -1);
    swapcontext(&n->rank[rank].context, &n->scheduler);
    n->resume(n->context, rank);
}

void net_pause(network *n, int rank)
{
    net_rank *r = &n->rank[rank];
    r->awaited = &r->is_woken;
    net_yield(n, rank);
    r->awaited = NULL;
    r->is_woken = false;
}

/* Some time after the loss. */
bool net_has_noticed(network *n, int rank)
{
    net_rank *r = &n->rank[rank];
    r->has_noticed = r->has_noticed || (n->lost >= 0 && net_chance(n, 1, 16));
    return r->has_noticed;
}

bool net_await(network *n, int rank, const bool *flag)
{
    net_rank *r = &n->rank[rank];
    r->awaited = flag;
    while (!*flag && !net_has_noticed(n, rank))
        net_yield(n, rank);
    r->awaited = NULL;
    return *flag;
}

/* ---- requests ---- */

static net_request *new_request(network *n, int rank, int from, int to, int tag)
{
    net_request *q = sim_zeroed(1, sizeof *q);
    *q = (net_request){.from = from, .to = to, .tag = tag, .users = 2, .is_send = rank == from};
    q->number = n->rank[rank].requests++;
    n->requests++;
    q->earlier = n->latest;
    q->place = &n->latest;
    if (q->earlier != NULL)
        q->earlier->place = &q->earlier;
    n->latest = q;
    return q;
}

static void drop_request(net_request *q)
{
    if (--q->users > 0)
        return;
    *q->place = q->earlier;
    if (q->earlier != NULL)
        q->earlier->place = q->place;
    __real_free(q->copy);
    __real_free(q);
}

static void net_append(net_list *list, net_request *q)
{
    q->at = list->end;
    *list->end = q;
    list->end = &q->next;
}

static void remove_request(net_list *list, net_request *q)
{
    *q->at = q->next;
    *(q->next != NULL ? &q->next->at : &list->end) = q->at;
    q->next = NULL;
}

static int owner_of(const net_request *q)
{
    return q->is_send ? q->from : q->to;
}

static bool is_cut(const network *n, const net_request *q)
{
    return n->lost >= 0 && (q->from == n->lost || q->to == n->lost);
}

/* ---- events ---- */

static void push_event(network *n, enum net_event_kind kind, net_request *send)
{
    if (!is_cut(n, send))
        n->order.add(n->order.context, (net_event){kind, send});
}

/* A request that was given up is its rank's no more, nor is its memory. */
static void copy_data(const net_request *send, const net_request *receive, size_t from, size_t end)
{
    const char *data = send->copy != NULL ? send->copy : send->data;
    bool is_there = !receive->is_given_up && (send->copy != NULL || !send->is_given_up);
    if (is_there && !send->is_empty && receive->error == 0 && send->bytes <= receive->bytes &&
        data != NULL && end > from)
        memcpy(receive->room + from, data + from, end - from);
}

/* The first half of the data moves when a message is matched, the rest when the receive completes.
 */
static void net_match(network *n, net_request *s, net_request *r)
{
    s->is_matched = r->is_matched = true;
    s->peer = r;
    copy_data(s, r, 0, s->bytes / 2);
    push_event(n, NET_TRANSFER, s);
}

/* A message that has arrived, and a receive that is posted: the oldest of the pair and the tag. */
static net_request *take_match(net_list *list, const net_request *of)
{
    net_request *q = list->first;
    while (q != NULL &&
           (q->from != of->from || q->tag != of->tag || (q->is_send && !q->has_arrived)))
        q = q->next;
    if (q != NULL)
        remove_request(list, q);
    return q;
}

static void count_one(int64_t *now, int64_t *most)
{
    if (++*now > *most)
        *most = *now;
}

static void net_arrive(network *n, net_request *send)
{
    net_rank *to = &n->rank[send->to];
    send->has_arrived = true;
    net_request *receive = take_match(&to->posted, send);
    if (receive == NULL) {
        count_one(&to->unexpected, &to->most_unexpected);
        return;
    }
    to->receives--;
    remove_request(&to->sent, send);
    net_match(n, send, receive);
}

static void net_transfer(network *n, net_request *send)
{
    net_request *receive = send->peer;
    send->is_transferred = receive->is_transferred = receive->is_complete = true;
    if (receive->error == 0 && send->bytes > receive->bytes && !send->is_empty)
        receive->error = NET_TRUNCATED;
    if (send->is_given_up && send->copy == NULL && send->data != NULL)
        receive->error = NET_LOST;
    copy_data(send, receive, send->bytes / 2, send->bytes);
    receive->received = send->is_empty || receive->error != 0 ? 0 : send->bytes;
    net_wake(n, send->to);
    drop_request(receive);
    if (send->is_complete)
        drop_request(send);
    else if (!send->is_eager)
        push_event(n, NET_COMPLETION, send);
}

/* What an eager send has not transferred is in the network from now on. */
static void complete_send(network *n, net_request *send)
{
    if (!send->is_transferred && !send->is_given_up && send->data != NULL) {
        send->copy = sim_zeroed(1, send->bytes + 1);
        memcpy(send->copy, send->data, send->bytes);
    }
    send->is_complete = true;
    net_wake(n, send->from);
    if (send->is_transferred)
        drop_request(send);
}

void net_take(network *n, net_event e)
{
    switch (e.kind) {
    case NET_ARRIVAL: net_arrive(n, e.send); break;
    case NET_TRANSFER: net_transfer(n, e.send); break;
    case NET_COMPLETION: complete_send(n, e.send); break;
    }
}

/* ---- messages ---- */

int net_send(void *context, int peer, unsigned tag, const void *data, size_t bytes,
             bool is_synchronous, exchange_request *request)
{
    const net_port *port = context;
    network *n = port->net;
    int rank = port->rank;
    *request = NULL;
    if (n->order.call(n, rank, "send"))
        return NET_LOST;
    net_request *send = *request = new_request(n, rank, rank, peer, (int)tag);
    send->data = data;
    send->bytes = bytes;
    send->is_eager = !is_synchronous && n->order.is_eager(n->order.context, (int64_t)bytes);
    n->rank[rank].out++;
    n->rank[peer].in++;
    net_append(&n->rank[peer].sent, send);
    push_event(n, NET_ARRIVAL, send);
    if (send->is_eager && net_chance(n, 2, 3))
        complete_send(n, send);
    else if (send->is_eager)
        push_event(n, NET_COMPLETION, send);
    return 0;
}

int net_receive(void *context, int peer, unsigned tag, void *data, size_t bytes,
                exchange_request *request)
{
    const net_port *port = context;
    network *n = port->net;
    net_rank *r = &n->rank[port->rank];
    *request = NULL;
    if (n->order.call(n, port->rank, "receive"))
        return NET_LOST;
    net_request *receive = *request = new_request(n, port->rank, peer, port->rank, (int)tag);
    receive->room = data;
    receive->bytes = bytes;
    bool is_cut_off = peer == n->lost || port->rank == n->lost;
    net_request *send = is_cut_off ? NULL : take_match(&r->sent, receive);
    if (send == NULL) {
        net_append(&r->posted, receive);
        count_one(&r->receives, &r->most_receives);
    } else {
        r->unexpected--;
        net_match(n, send, receive);
    }
    return 0;
}

/* The network frees what was given up when it can. */
static int net_end_request(network *n, int rank, exchange_request *request, size_t *bytes)
{
    net_request *q = *request;
    net_rank *r = &n->rank[rank];
    int rc = q->is_complete ? q->error : NET_LOST;
    *request = NULL;
    if (bytes != NULL)
        *bytes = q->is_send ? 12345 : q->received; /* of a send it means nothing */
    r->seen = net_mix(net_mix(r->seen, (uint64_t)q->number), q->received);
    q->is_given_up = true;
    r->ended++;
    drop_request(q);
    return rc;
}

int net_test(void *context, exchange_request *request, bool *complete, size_t *bytes)
{
    const net_port *port = context;
    network *n = port->net;
    (void)n->order.call(n, port->rank, "test");
    const net_request *q = *request;
    if (q == NULL || q->is_given_up || owner_of(q) != port->rank)
        net_fail(n, "rank %d tests a request that it does not have", port->rank);
    *complete = q->is_complete || (n->rank[port->rank].has_noticed && net_chance(n, 1, 2));
    return *complete ? net_end_request(n, port->rank, request, bytes) : 0;
}

int net_wait(void *context, exchange_request *request, size_t *bytes)
{
    const net_port *port = context;
    network *n = port->net;
    (void)n->order.call(n, port->rank, "wait");
    (void)net_await(n, port->rank, &((net_request *)*request)->is_complete);
    return net_end_request(n, port->rank, request, bytes);
}

int net_probe(void *context, enum coll_tag tag, bool *is_found, coll_found *found)
{
    const net_port *port = context;
    network *n = port->net;
    int count = 0;
    *is_found = false;
    if (n->order.call(n, port->rank, "probe"))
        return NET_LOST;
    const net_request *list = n->rank[port->rank].sent.first, *s;
    for (s = list; s != NULL && !(n->order.keeps_order && count > 0); s = s->next)
        if (s->tag == (int)tag && s->has_arrived && net_chance(n, 1, ++count))
            found->from = s->from;
    *is_found = count > 0;
    for (s = list; *is_found && (s->tag != (int)tag || s->from != found->from); s = s->next)
        continue;
    found->bytes = *is_found ? s->bytes : 0;
    return 0;
}

/* ---- collective operations ---- */

static net_collective *net_enter(network *n, int rank, enum net_operation operation, size_t count)
{
    uint64_t number = n->rank[rank].operations++;
    net_collective **at = &n->collective;
    while (*at != NULL && (*at)->number != number)
        at = &(*at)->next;
    net_collective *c = *at;
    if (c == NULL) {
        c = *at = sim_zeroed(1, sizeof *c);
        *c = (net_collective){.number = number, .operation = operation, .count = count};
        size_t parts = operation == NET_GATHER ? (size_t)n->ranks : 1;
        c->value = sim_zeroed(parts * count + 1, sizeof *c->value);
    }
    if (c->operation != operation || c->count != count)
        net_fail(n, "rank %d is in another collective operation than other ranks", rank);
    return c;
}

static void add_values(net_collective *c, int rank, const int64_t *own)
{
    int64_t *value = c->value + (c->operation == NET_GATHER ? (size_t)rank * c->count : 0);
    for (size_t i = 0; i < c->count; i++)
        if (c->operation == NET_SUM)
            value[i] += own[i];
        else if (c->entered == 0 || c->operation == NET_GATHER || own[i] > value[i])
            value[i] = own[i];
}

static void net_leave(network *n, net_collective *c)
{
    net_collective **at = &n->collective;
    if (++c->left < n->ranks)
        return;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    __real_free(c->value);
    __real_free(c);
}

int net_collect(network *n, int rank, enum net_operation operation, const int64_t *own,
                size_t count, int64_t *result)
{
    net_collective *c = net_enter(n, rank, operation, count);
    size_t parts = operation == NET_GATHER ? (size_t)n->ranks : 1;
    add_values(c, rank, own);
    c->is_complete = ++c->entered == n->ranks;
    n->collected += c->is_complete;
    for (int i = 0; i < n->ranks && c->is_complete; i++)
        net_wake(n, i);
    bool waits = result != NULL || net_chance(n, 1, 2);
    int rc = waits && !net_await(n, rank, &c->is_complete) ? NET_LOST : 0;
    if (rc == 0 && result != NULL)
        memcpy(result, c->value, parts * count * sizeof *result);
    net_leave(n, c);
    return rc;
}

/* ---- all ranks ---- */

static void start_rank(unsigned int high, unsigned int low)
{
    network *n = (network *)(uintptr_t)((uint64_t)high << 32 | (uint64_t)low);
    int rank = n->running;
    n->resume(n->context, rank);
    n->main(n->context, rank);
    n->rank[rank].has_ended = true;
    n->ended++;
    net_yield(n, rank);
}

/* Stacks are one mapping, of which only what they use takes memory. */
static void net_make_ranks(network *n)
{
    uint64_t address = (uint64_t)(uintptr_t)n;
    n->rank = sim_zeroed((size_t)n->ranks, sizeof *n->rank);
    n->stacks = mmap(NULL, (size_t)n->ranks * STACK, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (n->stacks == MAP_FAILED)
        abort();
    for (int i = 0; i < n->ranks; i++) {
        net_rank *r = &n->rank[i];
        r->sent.end = &r->sent.first;
        r->posted.end = &r->posted.first;
        r->is_woken = true;
        getcontext(&r->context);
        r->context.uc_stack.ss_sp = n->stacks + (size_t)i * STACK;
        r->context.uc_stack.ss_size = STACK;
        r->context.uc_link = NULL;
        makecontext(&r->context, (void (*)(void))start_rank, 2, (unsigned int)(address >> 32),
                    (unsigned int)address);
    }
}

bool net_may_go_on(const network *n, int rank)
{
    const net_rank *r = &n->rank[rank];
    bool has_to_notice = n->lost >= 0 && !r->has_noticed;
    return !r->has_ended && (r->awaited == NULL || *r->awaited || has_to_notice);
}

void net_go_on(network *n, int rank)
{
    n->running = rank;
    swapcontext(&n->scheduler, &n->rank[rank].context);
    n->running = -1;
}

void net_run(network *n)
{
    n->lost = n->running = -1;
    net_make_ranks(n);
    while (n->failure == NULL && (n->stop == NULL || *n->stop == 0) &&
           n->order.step(n->order.context))
        continue;
}

int net_end(network *n)
{
    int left = 0;
    for (int i = 0; i < n->ranks && n->lost < 0; i++)
        left += (n->rank[i].sent.first != NULL) + (n->rank[i].posted.first != NULL);
    for (net_request *q; (q = n->latest) != NULL; drop_request(q)) {
        left += !q->is_given_up && owner_of(q) != n->lost;
        q->users = 1;
    }
    for (net_collective *next; n->collective != NULL; n->collective = next) {
        next = n->collective->next;
        __real_free(n->collective->value);
        __real_free(n->collective);
    }
    munmap(n->stacks, (size_t)n->ranks * STACK);
    __real_free(n->rank);
    return left;
}
