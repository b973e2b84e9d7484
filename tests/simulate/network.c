/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime of the ranks. Messages of a pair of ranks do not overtake each other; a message that
 * is not eager is read where it is matched, and completes then. All ranks come to the reductions
 * and the like in the same order. Who waits lets the others run; where nothing happens any more
 * while ranks wait, they wait for ever. */
#include <stdlib.h>
#include <string.h>

#include "life.h"

/* Steps of each rank in which nothing happens: more than ranks take that only share memory, for all
 * cycles of a file that has failed. */
enum { PATIENCE = 100000, STACK = 1 << 18 };

struct sim_request {
    sim_request *next; /* sent to, or posted by, the same rank */
    int from, to;
    enum coll_tag tag;
    const char *data; /* of a send; NULL: copied, and the sender's request is complete */
    char *copy, *room;
    size_t bytes;
    int error; /* of a receive that is complete */
    bool arrived, complete, freed;
    sim_request *of_sender; /* while it is not complete */
};

enum collective_kind { REDUCE, GATHER, ALLGATHER };

struct sim_collective {
    sim_collective *next; /* later */
    uint64_t number;
    enum collective_kind kind;
    enum coll_operation operation;
    size_t count;
    int64_t *value; /* reduced, or of all ranks */
    bool complete;  /* all have entered */
    int entered, left;
};

static int64_t random_to(sim_rank *r, int64_t most)
{
    return pick(&r->life->state, 0, most);
}

/* ---- running ---- */

void sim_yield(sim_rank *r)
{
    sim_memory_of(NULL);
    swapcontext(&r->context, &r->life->scheduler);
    sim_memory_of(r);
}

static void happened(life *l)
{
    l->idle = 0;
    l->time += 1e-5 * (double)pick(&l->state, 1, 100);
}

/* A rank is lost at some call of the runtime, and the others notice it some time later. */
static bool is_lost(sim_rank *r)
{
    life *l = r->life;
    if (sim_fault(r, FAULT_LOSS))
        l->is_lost = r->has_noticed = true;
    if (l->is_lost && !r->has_noticed && random_to(r, 30) == 0) {
        r->has_noticed = true;
        happened(l);
    }
    return r->has_noticed;
}

/* Until the flag is true; false: a rank is lost. */
static bool await(sim_rank *r, const bool *flag)
{
    r->awaited = flag;
    while (!*flag && !is_lost(r))
        sim_yield(r);
    r->awaited = NULL;
    return *flag;
}

static bool now_and_then(sim_rank *r, const char *where)
{
    r->where = where;
    if (random_to(r, 2) == 0)
        sim_yield(r);
    return is_lost(r);
}

/* ---- messages ---- */

static void append(sim_request **list, sim_request *request)
{
    while (*list != NULL)
        list = &(*list)->next;
    *list = request;
}

static void complete_send(sim_request *sender)
{
    sender->complete = true;
    if (sender->freed)
        __real_free(sender);
}

/* A sender that was lost may have given up its message. */
static void match(life *l, sim_request **send, sim_request **receive)
{
    sim_request *s = *send, *r = *receive;
    bool is_there = s->copy != NULL || !s->of_sender->freed;
    r->error = s->bytes > r->bytes ? CLASS_TRUNCATED : is_there ? 0 : CLASS_LOST;
    if (r->error != 0 && !l->has_fired)
        sim_fail(l, "a message of %zu bytes from rank %d to %d has room for %zu", s->bytes, s->from,
                 s->to, r->bytes);
    else if (r->error == 0 && !r->freed && s->bytes > 0)
        memcpy(r->room, s->copy != NULL ? s->copy : s->data, s->bytes);
    *send = s->next;
    *receive = r->next;
    r->bytes = s->bytes;
    complete_send(r);
    if (s->of_sender != NULL)
        complete_send(s->of_sender);
    __real_free(s->copy);
    __real_free(s);
    happened(l);
}

/* All that can be matched at a rank. */
static void match_all(life *l, int to)
{
    for (sim_request **send = &l->sent[to]; *send != NULL;) {
        sim_request **receive = &l->posted[to], *s = *send;
        while (*receive != NULL && ((*receive)->from != s->from || (*receive)->tag != s->tag))
            receive = &(*receive)->next;
        if (s->arrived && *receive != NULL)
            match(l, send, receive);
        else
            send = &s->next;
    }
}

/* The first of a random pair. */
static void arrive(life *l)
{
    int64_t which = pick(&l->state, 0, l->flying - 1);
    for (int to = 0; to < l->ranks; to++)
        for (sim_request *s = l->sent[to]; s != NULL; s = s->next) {
            if (s->arrived || which-- > 0)
                continue;
            for (sim_request *first = l->sent[to]; first != s; first = first->next)
                if (!first->arrived && first->from == s->from) {
                    s = first;
                    break;
                }
            s->arrived = true;
            l->flying--;
            happened(l);
            match_all(l, to);
            return;
        }
}

static sim_request *new_request(int from, int to, enum coll_tag tag, size_t bytes)
{
    sim_request *request = __real_calloc(1, sizeof *request);
    if (request == NULL)
        abort();
    request->from = from;
    request->to = to;
    request->tag = tag;
    request->bytes = bytes;
    return request;
}

static int start_send(void *context, int peer, enum coll_tag tag, const void *data, size_t bytes,
                      bool synchronous, exchange_request *result)
{
    sim_rank *r = context;
    *result = NULL;
    if (now_and_then(r, "send"))
        return CLASS_LOST;
    sim_request *message = new_request(r->rank, peer, tag, bytes),
                *own = new_request(r->rank, peer, tag, bytes);
    message->data = data;
    own->complete = !synchronous && (bytes <= 8 || random_to(r, 1) == 0);
    if (own->complete) {
        message->copy = __real_calloc(1, bytes + 1);
        if (bytes > 0)
            memcpy(message->copy, data, bytes);
    } else {
        message->of_sender = own;
    }
    append(&r->life->sent[peer], message);
    r->life->flying++;
    happened(r->life);
    *result = own;
    r->life->requests++;
    return 0;
}

static int start_receive(void *context, int peer, enum coll_tag tag, void *data, size_t bytes,
                         exchange_request *result)
{
    sim_rank *r = context;
    *result = NULL;
    if (now_and_then(r, "receive"))
        return CLASS_LOST;
    sim_request *request = new_request(peer, r->rank, tag, bytes);
    request->room = data;
    *result = request;
    r->life->requests++;
    append(&r->life->posted[r->rank], request);
    match_all(r->life, r->rank);
    return 0;
}

/* After a loss a message may be given up: the network frees it when it can. */
static int end_request(sim_rank *r, exchange_request *request, size_t *bytes)
{
    sim_request *q = *request;
    bool complete = q->complete;
    int rc = complete ? q->error : CLASS_LOST;
    r->life->requests--;
    *request = NULL;
    if (bytes != NULL)
        *bytes = complete ? q->bytes : 0;
    if (complete)
        __real_free(q);
    else
        q->freed = true;
    happened(r->life);
    return rc;
}

static int test(void *context, exchange_request *request, bool *complete, size_t *bytes)
{
    sim_rank *r = context;
    bool lost = now_and_then(r, "test");
    *complete = lost || (((sim_request *)*request)->complete && random_to(r, 3) > 0);
    return *complete ? end_request(r, request, bytes) : 0;
}

static int wait_for(void *context, exchange_request *request, size_t *bytes)
{
    sim_rank *r = context;
    r->where = "wait";
    (void)await(r, &((sim_request *)*request)->complete);
    return end_request(r, request, bytes);
}

static int probe(void *context, enum coll_tag tag, bool *is_found, coll_found *found)
{
    sim_rank *r = context;
    int count = 0;
    *is_found = false;
    if (now_and_then(r, "probe"))
        return CLASS_LOST;
    /* Of each sender its first message of the tag. */
    bool seen[MOST_RANKS] = {false};
    for (sim_request *s = r->life->sent[r->rank]; s != NULL; s = s->next) {
        if (s->tag != tag || seen[s->from])
            continue;
        seen[s->from] = true;
        if (s->arrived && random_to(r, count++) == 0) {
            *is_found = true;
            *found = (coll_found){s->from, s->bytes};
        }
    }
    return 0;
}

static int progress(void *context)
{
    sim_rank *r = context;
    r->where = "progress";
    sim_yield(r);
    return is_lost(r) ? CLASS_LOST : 0;
}

static bool has_lost(void *context)
{
    return ((const sim_rank *)context)->has_noticed;
}

/* ---- reductions and the like ---- */

static sim_collective *enter(sim_rank *r, enum collective_kind kind, size_t count,
                             enum coll_operation operation)
{
    life *l = r->life;
    uint64_t number = r->collectives++;
    sim_collective **at = &l->collective;
    while (*at != NULL && (*at)->number != number)
        at = &(*at)->next;
    sim_collective *c = *at;
    if (c == NULL) {
        c = *at = __real_calloc(1, sizeof *c);
        *c = (sim_collective){
            .number = number, .kind = kind, .operation = operation, .count = count};
        c->value = __real_calloc((size_t)l->ranks * count + 1, sizeof *c->value);
    }
    if (c->kind != kind || c->count != count || c->operation != operation)
        sim_fail(l, "rank %d is in another collective operation than other ranks", r->rank);
    return c;
}

static void leave(sim_rank *r, sim_collective *c)
{
    sim_collective **at = &r->life->collective;
    if (++c->left < r->life->ranks)
        return;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    __real_free(c->value);
    __real_free(c);
}

/* Until all ranks have entered, unless it needs not wait for them. */
static int wait_for_all(sim_rank *r, sim_collective *c, bool waits)
{
    c->complete = ++c->entered == r->life->ranks;
    happened(r->life);
    return waits && !await(r, &c->complete) ? CLASS_LOST : 0;
}

static int reduce(void *context, int64_t *value, size_t count, enum coll_operation operation)
{
    sim_rank *r = context;
    if (now_and_then(r, "reduce"))
        return CLASS_LOST;
    sim_collective *c = enter(r, REDUCE, count, operation);
    for (size_t i = 0; i < count && r->life->failure == NULL; i++)
        if (c->entered == 0)
            c->value[i] = value[i];
        else if (operation == COLL_SUM)
            c->value[i] += value[i];
        else if (value[i] > c->value[i])
            c->value[i] = value[i];
    int rc = wait_for_all(r, c, true);
    if (rc == 0)
        memcpy(value, c->value, count * sizeof *value);
    leave(r, c);
    return rc;
}

static int gather(void *context, const int64_t *own, size_t count, int64_t *all)
{
    sim_rank *r = context;
    if (now_and_then(r, "gather"))
        return CLASS_LOST;
    sim_collective *c = enter(r, GATHER, count, COLL_MAX);
    if (r->life->failure == NULL)
        memcpy(c->value + (size_t)r->rank * count, own, count * sizeof *own);
    int rc = wait_for_all(r, c, r->rank == 0 || random_to(r, 1) == 0);
    if (rc == 0 && r->rank == 0)
        memcpy(all, c->value, (size_t)r->life->ranks * count * sizeof *all);
    leave(r, c);
    return rc;
}

static int allgather(void *context, int own, int *all)
{
    sim_rank *r = context;
    if (now_and_then(r, "allgather"))
        return CLASS_LOST;
    sim_collective *c = enter(r, ALLGATHER, 1, COLL_MAX);
    c->value[r->rank] = own;
    int rc = wait_for_all(r, c, true);
    for (int i = 0; rc == 0 && i < r->life->ranks; i++)
        all[i] = (int)c->value[i];
    leave(r, c);
    return rc;
}

/* ---- nodes and the job ---- */

static int node_of(const life *l, int rank)
{
    return l->by_node ? rank % l->nodes : rank * l->nodes / l->ranks;
}

static bool is_local(void *context, int rank)
{
    const sim_rank *r = context;
    return node_of(r->life, rank) == node_of(r->life, r->rank);
}

static char *host(void *context, int rank)
{
    const sim_rank *r = context;
    char *name = malloc(16);
    if (name != NULL)
        snprintf(name, 16, "node%d", node_of(r->life, rank));
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
        return error;
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
        .near_message_size = pick(&of_life, 32, 512),
        .far_message_size = pick(&of_life, 32, 512),
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
        .allgather = allgather,
        .error_class = error_class,
    };
}

/* ---- all ranks ---- */

static void start_rank(unsigned int high, unsigned int low)
{
    sim_rank *r = (sim_rank *)(uintptr_t)((uint64_t)high << 32 | (uint64_t)low);
    sim_memory_of(r);
    sim_rank_main(r);
    r->has_ended = true;
    happened(r->life);
    sim_yield(r);
}

static void make_rank(sim_rank *r)
{
    static char *stacks[MOST_RANKS]; /* kept for the next life */
    uint64_t address = (uint64_t)(uintptr_t)r;
    if (stacks[r->rank] == NULL)
        stacks[r->rank] = __real_calloc(1, STACK);
    getcontext(&r->context);
    r->context.uc_stack.ss_sp = stacks[r->rank];
    r->context.uc_stack.ss_size = STACK;
    r->context.uc_link = NULL;
    makecontext(&r->context, (void (*)(void))start_rank, 2, (unsigned int)(address >> 32),
                (unsigned int)address);
}

/* The slow one only now and then. */
static void run_some_rank(life *l)
{
    sim_rank *r = &l->rank[pick(&l->state, 0, l->ranks - 1)];
    if (r->has_ended || (r->rank == l->slow && pick(&l->state, 0, 19) > 0))
        return;
    l->idle++;
    if (r->awaited == NULL || *r->awaited || l->is_lost)
        swapcontext(&l->scheduler, &r->context);
}

static bool have_all_ended(const life *l)
{
    for (int i = 0; i < l->ranks; i++)
        if (!l->rank[i].has_ended)
            return false;
    return true;
}

void sim_run(life *l)
{
    for (int i = 0; i < l->ranks; i++)
        make_rank(&l->rank[i]);
    while (l->failure == NULL && !have_all_ended(l)) {
        if (l->flying > 0 && pick(&l->state, 0, 2) == 0)
            arrive(l);
        else
            run_some_rank(l);
        if (l->idle > (int64_t)PATIENCE * l->ranks)
            sim_fail(l, "ranks wait for what does not come");
    }
}

static int free_list(sim_request **list)
{
    int count = 0;
    for (sim_request *next; *list != NULL; *list = next, count++) {
        next = (*list)->next;
        __real_free((*list)->copy);
        if ((*list)->of_sender != NULL && (*list)->of_sender->freed)
            __real_free((*list)->of_sender);
        __real_free(*list);
    }
    return count;
}

void sim_network_end(life *l)
{
    int left = l->requests;
    for (int i = 0; i < l->ranks; i++)
        left += free_list(&l->sent[i]) + free_list(&l->posted[i]);
    if (left > 0 && !l->is_lost)
        sim_fail(l, "%d messages and requests are left", left);
    for (sim_collective *next; l->collective != NULL; l->collective = next) {
        next = l->collective->next;
        __real_free(l->collective->value);
        __real_free(l->collective);
    }
}
