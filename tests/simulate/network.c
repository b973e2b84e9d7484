/* SPDX-License-Identifier: BSD-3-Clause */
#include "network.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { STACK = 1 << 18, MOST_CALLS = 100000000 };

struct net_request {
    net_request *next;             /* sent to, or posted by, the same rank */
    net_request *earlier, **place; /* of all, and what points to this one */
    int from, to, tag;
    int users; /* its rank, and the network */
    int64_t number;
    bool is_send, is_eager, is_empty; /* the latter: arrives without its data */
    bool has_arrived, is_matched, is_transferred, is_complete, is_given_up;
    const char *data;
    char *copy; /* of the data in the network, or NULL */
    char *room;
    size_t bytes, received; /* of the message, or room for it */
    int error;
    net_request *peer; /* of a send that is matched */
};

enum event_kind { EVENT_ARRIVAL, EVENT_TRANSFER, EVENT_COMPLETION };
struct net_event {
    enum event_kind kind;
    net_request *send;
};

struct net_collective {
    net_collective *next; /* later */
    uint64_t number;
    const char *where;
    enum net_operation operation;
    size_t count;
    int64_t *value;
    bool is_complete; /* all have entered */
    int entered, left;
};

static void *allocate(size_t count, size_t size)
{
    void *memory = __real_calloc(count, size);
    if (memory == NULL)
        abort();
    return memory;
}

bool net_chance(network *n, int64_t of, int64_t all)
{
    if (n->choose != NULL)
        return of >= all || (of > 0 && n->choose(n->context, 2) == 1);
    return pick(n->state, 1, all) <= of;
}

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

/* Only while a case that failed is repeated: texts take more time than the case. */
void net_trace(network *n, const char *format, ...)
{
    va_list arguments;
    if (!n->is_traced)
        return;
    char *line = n->trace[n->traced++ % NET_TRACE];
    va_start(arguments, format);
    vsnprintf(line, sizeof n->trace[0], format, arguments);
    va_end(arguments);
    if (n->is_verbose)
        printf("# %s\n", line);
}

void net_print_trace(const network *n)
{
    uint64_t first = n->traced < NET_TRACE ? 0 : n->traced - NET_TRACE;
    for (uint64_t i = first; i < n->traced && !n->is_verbose; i++)
        printf("#   %s\n", n->trace[i % NET_TRACE]);
    if (n->failure != NULL)
        printf("# %s\n", n->failure);
}

/* ---- running ---- */

void net_happened(network *n)
{
    n->idle = 0;
    n->time += 1e-5 * (double)pick(n->state, 1, 100);
}

void net_wake(network *n, int rank)
{
    n->rank[rank].is_woken = true;
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
    if (n->lost < 0 || r->has_noticed || !net_chance(n, 1, 16))
        return r->has_noticed;
    net_trace(n, "rank %d notices that rank %d is lost", rank, n->lost);
    r->has_noticed = true;
    net_happened(n);
    return true;
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

bool net_call(network *n, int rank, const char *where)
{
    n->rank[rank].where = where;
    if (n->calls++ > MOST_CALLS)
        net_fail(n, "rank %d makes calls without end: %s", rank, where);
    if (net_chance(n, n->pauses, 16))
        net_yield(n, rank);
    return net_has_noticed(n, rank);
}

/* ---- requests ---- */

static net_request *new_request(network *n, int rank, int from, int to, int tag)
{
    net_request *q = allocate(1, sizeof *q);
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

static void append(net_request **list, net_request *q)
{
    while (*list != NULL)
        list = &(*list)->next;
    *list = q;
}

static int owner_of(const net_request *q)
{
    return q->is_send ? q->from : q->to;
}

static bool is_cut(const network *n, const net_request *q)
{
    return n->lost >= 0 && (q->from == n->lost || q->to == n->lost);
}

uint64_t net_digest(const network *n)
{
    uint64_t digest = 0;
    for (const net_request *q = n->latest; q != NULL; q = q->earlier) {
        unsigned state = q->is_eager | q->is_empty << 1 | q->has_arrived << 2 | q->is_matched << 3 |
                         q->is_transferred << 4 | q->is_complete << 5 | q->is_given_up << 6;
        digest += net_mix(net_mix((uint64_t)owner_of(q), (uint64_t)q->number), state);
    }
    for (int i = 0; i < n->ranks; i++)
        digest = net_mix(net_mix(digest, n->rank[i].seen),
                         n->rank[i].has_ended | n->rank[i].is_woken << 1);
    return digest;
}

/* ---- events ---- */

static void push_event(network *n, enum event_kind kind, net_request *send)
{
    if (n->events == n->event_capacity) {
        n->event_capacity = n->event_capacity * 2 + 64;
        n->event = __real_realloc(n->event, n->event_capacity * sizeof *n->event);
        if (n->event == NULL)
            abort();
    }
    n->event[n->events++] = (net_event){kind, send};
}

/* A request that was given up is its rank's no more, nor is its memory. */
static void copy_data(const net_request *send, const net_request *receive, size_t from, size_t end)
{
    bool is_there = !receive->is_given_up && (send->copy != NULL || !send->is_given_up);
    if (is_there && !send->is_empty && receive->error == 0 && send->bytes <= receive->bytes &&
        end > from)
        memcpy(receive->room + from, (send->copy != NULL ? send->copy : send->data) + from,
               end - from);
}

/* The first half of the data moves when a message is matched, the rest when the receive completes.
 */
static void match_all(network *n, int to)
{
    for (net_request **send = &n->rank[to].sent; *send != NULL;) {
        net_request *s = *send, **receive = &n->rank[to].posted, *r;
        while (*receive != NULL && ((*receive)->from != s->from || (*receive)->tag != s->tag))
            receive = &(*receive)->next;
        r = *receive;
        if (r == NULL || !s->has_arrived || is_cut(n, s)) {
            send = &s->next;
            continue;
        }
        *send = s->next;
        *receive = r->next;
        s->is_matched = r->is_matched = true;
        s->peer = r;
        copy_data(s, r, 0, s->bytes / 2);
        push_event(n, EVENT_TRANSFER, s);
    }
}

/* The first message of a pair of ranks that has not arrived. */
static net_request *first_on_way(const network *n, int from, int to)
{
    net_request *s = n->rank[to].sent;
    while (s != NULL && (s->from != from || s->has_arrived))
        s = s->next;
    return s;
}

static void arrive(network *n, net_request *send)
{
    send->has_arrived = true;
    net_request *next = first_on_way(n, send->from, send->to);
    if (next != NULL)
        push_event(n, EVENT_ARRIVAL, next);
    match_all(n, send->to);
}

static void transfer(network *n, net_request *send)
{
    net_request *receive = send->peer;
    send->is_transferred = receive->is_transferred = receive->is_complete = true;
    if (receive->error == 0 && send->bytes > receive->bytes && !send->is_empty)
        receive->error = NET_TRUNCATED;
    if (send->is_given_up && send->copy == NULL)
        receive->error = NET_LOST;
    copy_data(send, receive, send->bytes / 2, send->bytes);
    receive->received = send->is_empty || receive->error != 0 ? 0 : send->bytes;
    net_wake(n, send->to);
    drop_request(receive);
    if (send->is_complete)
        drop_request(send);
    else if (!send->is_eager)
        push_event(n, EVENT_COMPLETION, send);
}

/* What an eager send has not transferred is in the network from now on. */
static void complete_send(network *n, net_request *send)
{
    if (!send->is_transferred && !send->is_given_up) {
        send->copy = allocate(1, send->bytes + 1);
        if (send->bytes > 0)
            memcpy(send->copy, send->data, send->bytes);
    }
    send->is_complete = true;
    net_wake(n, send->from);
    if (send->is_transferred)
        drop_request(send);
}

static size_t choose_event(network *n)
{
    int64_t last = (int64_t)n->events - 1;
    size_t i = (size_t)pick(n->state, 0, last);
    for (int k = 0; k < 3 && n->event[i].send->from == n->delayed; k++)
        i = (size_t)pick(n->state, 0, last);
    return i;
}

static void take_event(network *n, size_t i)
{
    static const char *const what[] = {"arrives", "is received", "is sent"};
    net_event e = n->event[i];
    memmove(n->event + i, n->event + i + 1, (--n->events - i) * sizeof e);
    net_trace(n, "%d -> %d: %s", e.send->from, e.send->to, what[e.kind]);
    net_happened(n);
    switch (e.kind) {
    case EVENT_ARRIVAL: arrive(n, e.send); break;
    case EVENT_TRANSFER: transfer(n, e.send); break;
    case EVENT_COMPLETION: complete_send(n, e.send); break;
    }
}

/* ---- messages ---- */

static bool is_eager(network *n, int64_t bytes)
{
    return bytes <= n->always_eager ||
           (bytes <= n->eager_limit && net_chance(n, n->eager_share, 8));
}

net_request *net_send(network *n, int rank, int peer, int tag, const void *data, size_t bytes,
                      bool is_synchronous)
{
    bool is_first = first_on_way(n, rank, peer) == NULL;
    net_request *send = new_request(n, rank, rank, peer, tag);
    send->data = data;
    send->bytes = bytes;
    send->is_eager = !is_synchronous && is_eager(n, (int64_t)bytes);
    net_trace(n, "rank %d: sends %zu bytes to %d%s%s", rank, bytes, peer,
              is_synchronous ? ", synchronous" : "", send->is_eager ? ", eager" : "");
    append(&n->rank[peer].sent, send);
    if (is_first && !is_cut(n, send))
        push_event(n, EVENT_ARRIVAL, send);
    if (send->is_eager && net_chance(n, 2, 3))
        complete_send(n, send);
    else if (send->is_eager && !is_cut(n, send))
        push_event(n, EVENT_COMPLETION, send);
    net_happened(n);
    return send;
}

net_request *net_receive(network *n, int rank, int peer, int tag, void *data, size_t bytes)
{
    net_request *receive = new_request(n, rank, peer, rank, tag);
    receive->room = data;
    receive->bytes = bytes;
    net_trace(n, "rank %d: receives up to %zu bytes from %d", rank, bytes, peer);
    append(&n->rank[rank].posted, receive);
    match_all(n, rank);
    return receive;
}

void net_spoil(net_request *request, int error, bool without_data)
{
    request->error = error;
    request->is_empty = without_data;
}

/* The network frees what was given up when it can. */
static int end_request(network *n, int rank, net_request **request, size_t *bytes)
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
    net_happened(n);
    return rc;
}

int net_test(network *n, int rank, net_request **request, size_t *bytes)
{
    net_request *q = *request;
    if (q == NULL || q->is_given_up || owner_of(q) != rank)
        net_fail(n, "rank %d tests a request that it does not have", rank);
    bool ends = q->is_complete || (n->rank[rank].has_noticed && net_chance(n, 1, 2));
    return ends ? end_request(n, rank, request, bytes) : 0;
}

int net_wait(network *n, int rank, net_request **request, size_t *bytes)
{
    (void)net_await(n, rank, &(*request)->is_complete);
    return end_request(n, rank, request, bytes);
}

static bool is_first(const net_request *list, const net_request *s)
{
    while (list != s && (list->from != s->from || list->tag != s->tag))
        list = list->next;
    return list == s;
}

int net_probe(network *n, int rank, int tag, size_t *bytes)
{
    const net_request *list = n->rank[rank].sent;
    int count = 0, from = -1;
    for (const net_request *s = list; s != NULL; s = s->next) {
        if (s->tag != tag || !s->has_arrived || !is_first(list, s) ||
            pick(n->state, 0, count++) > 0)
            continue;
        from = s->from;
        *bytes = s->bytes;
    }
    return from;
}

/* What others have sent to it, or receive from it, does not end. */
void net_lose(network *n, int rank)
{
    size_t kept = 0;
    n->lost = rank;
    net_trace(n, "rank %d is lost", rank);
    for (size_t i = 0; i < n->events; i++)
        if (!is_cut(n, n->event[i].send))
            n->event[kept++] = n->event[i];
    n->events = kept;
    n->rank[rank].has_ended = true;
    n->ended++;
    for (int i = 0; i < n->ranks; i++)
        net_wake(n, i);
    net_happened(n);
    net_yield(n, rank);
}

/* ---- collective operations ---- */

static net_collective *enter(network *n, int rank, const char *where, enum net_operation operation,
                             size_t count)
{
    uint64_t number = n->rank[rank].operations++;
    net_collective **at = &n->collective;
    while (*at != NULL && (*at)->number != number)
        at = &(*at)->next;
    net_collective *c = *at;
    if (c == NULL) {
        c = *at = allocate(1, sizeof *c);
        *c = (net_collective){
            .number = number, .where = where, .operation = operation, .count = count};
        size_t parts = operation == NET_GATHER ? (size_t)n->ranks : 1;
        c->value = allocate(parts * count + 1, sizeof *c->value);
    }
    if (strcmp(c->where, where) != 0 || c->operation != operation || c->count != count)
        net_fail(n, "rank %d is in %s, other ranks are in %s", rank, where, c->where);
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

static void leave(network *n, net_collective *c)
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

int net_collect(network *n, int rank, const char *where, enum net_operation operation,
                const int64_t *own, size_t count, int64_t *result, bool waits)
{
    net_collective *c = enter(n, rank, where, operation, count);
    size_t parts = operation == NET_GATHER ? (size_t)n->ranks : 1;
    add_values(c, rank, own);
    c->is_complete = ++c->entered == n->ranks;
    net_happened(n);
    int rc = waits && !net_await(n, rank, &c->is_complete) ? NET_LOST : 0;
    if (rc == 0 && result != NULL)
        memcpy(result, c->value, parts * count * sizeof *result);
    leave(n, c);
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
    net_happened(n);
    net_yield(n, rank);
}

/* Stacks are kept for the next network; one may run on the stack of a rank of another. */
static char **stacks;
static int made, used;

static char *take_stack(void)
{
    if (used == made) {
        stacks = __real_realloc(stacks, (size_t)++made * sizeof *stacks);
        if (stacks == NULL)
            abort();
        stacks[used] = allocate(1, STACK);
    }
    return stacks[used++];
}

static void make_rank(network *n, net_rank *r)
{
    uint64_t address = (uint64_t)(uintptr_t)n;
    r->where = "";
    r->is_woken = true;
    getcontext(&r->context);
    r->context.uc_stack.ss_sp = take_stack();
    r->context.uc_stack.ss_size = STACK;
    r->context.uc_link = NULL;
    makecontext(&r->context, (void (*)(void))start_rank, 2, (unsigned int)(address >> 32),
                (unsigned int)address);
}

static bool may_go_on(const network *n, int rank)
{
    const net_rank *r = &n->rank[rank];
    bool has_to_notice = n->lost >= 0 && !r->has_noticed;
    return !r->has_ended && (r->awaited == NULL || *r->awaited || has_to_notice);
}

/* From a random one on, the slow one now and then or if no other can; -1: none can. */
static int find_rank(network *n)
{
    int first = (int)pick(n->state, 0, n->ranks - 1), found = -1;
    for (int i = 0; i < n->ranks; i++) {
        int rank = (first + i) % n->ranks;
        if (!may_go_on(n, rank))
            continue;
        found = rank;
        if (rank != n->slow || pick(n->state, 1, 24) == 1)
            break;
    }
    return found;
}

static void run_rank(network *n, int rank)
{
    n->idle++;
    n->running = rank;
    swapcontext(&n->scheduler, &n->rank[rank].context);
    n->running = -1;
}

/* Some rank though it waits: it may have noticed something by itself. */
static void run_any(network *n)
{
    int rank = (int)pick(n->state, 0, n->ranks - 1);
    while (n->rank[rank].has_ended)
        rank = (rank + 1) % n->ranks;
    run_rank(n, rank);
}

static void step_at_random(network *n)
{
    int rank = find_rank(n);
    if (n->events > 0 && (rank < 0 || rank == n->slow || net_chance(n, n->event_share, 8)))
        take_event(n, choose_event(n));
    else if (rank < 0 || net_chance(n, 1, 16))
        run_any(n);
    else
        run_rank(n, rank);
}

static void step_by_choice(network *n)
{
    size_t ranks = 0;
    int rank = -1;
    for (int i = 0; i < n->ranks; i++)
        ranks += may_go_on(n, i);
    if (ranks + n->events == 0) {
        run_any(n);
        return;
    }
    size_t choice = n->choose(n->context, ranks + n->events);
    if (choice >= ranks) {
        take_event(n, choice - ranks);
    } else {
        for (choice++; choice > 0; choice -= may_go_on(n, rank))
            rank++;
        run_rank(n, rank);
    }
    n->has_come_back = n->is_known(n->context);
}

void net_draw(network *n, int ranks, uint64_t *state)
{
    uint64_t *s = n->state = state;
    n->ranks = ranks;
    n->eager_limit = INT64_C(1) << pick(s, 0, 10);
    n->eager_share = 4 * pick(s, 0, 2);
    n->slow = pick(s, 0, 2) == 0 ? (int)pick(s, 0, n->ranks - 1) : -1;
    n->delayed = pick(s, 0, 3) == 0 ? (int)pick(s, 0, n->ranks - 1) : -1;
    n->event_share = pick(s, 1, 7);
    n->pauses = pick(s, 0, 1) == 0 ? 0 : pick(s, 1, 12);
}

void net_run(network *n)
{
    n->lost = n->running = -1;
    n->rank = allocate((size_t)n->ranks, sizeof *n->rank);
    for (int i = 0; i < n->ranks; i++)
        make_rank(n, &n->rank[i]);
    while (n->failure == NULL && n->ended < n->ranks && !n->has_come_back) {
        if (n->choose != NULL)
            step_by_choice(n);
        else
            step_at_random(n);
        if (n->idle > n->patience * n->ranks)
            net_fail(n, "ranks wait for what does not come");
    }
    while (n->events > 0 && n->failure == NULL && !n->has_come_back)
        take_event(n, choose_event(n));
}

int net_end(network *n)
{
    int left = 0;
    for (int i = 0; i < n->ranks && n->lost < 0; i++)
        left += (n->rank[i].sent != NULL) + (n->rank[i].posted != NULL);
    for (net_request *q; (q = n->latest) != NULL; drop_request(q)) {
        left += !q->is_given_up && owner_of(q) != n->lost;
        q->users = 1;
    }
    for (net_collective *next; n->collective != NULL; n->collective = next) {
        next = n->collective->next;
        __real_free(n->collective->value);
        __real_free(n->collective);
    }
    used -= n->ranks;
    __real_free(n->event);
    __real_free(n->rank);
    return left;
}
