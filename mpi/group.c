/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/group.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mpi/process.h"

/* Messages of this size are sent without the receiver, or nearly so, by the MPIs that were tried.
 */
#define MESSAGE_BYTES ((int64_t)63 << 10)

_Static_assert(sizeof(MPI_Request) <= sizeof(exchange_request), "a request is kept as a pointer");

/* ---- messages ---- */

/* Collective operations have these tags, besides enum coll_tag. */
enum { TAG_REDUCE = COLL_TAG_STATS + 1, TAG_GATHER, TAGS };

/* MPIs number their tags from 0 on. */
static int tag_of(const front_group *group, unsigned tag)
{
    return group->number * TAGS + (int)tag + 1;
}

static exchange_request keep_request(MPI_Request request)
{
    exchange_request kept = NULL;
    memcpy(&kept, &request, sizeof request);
    return kept;
}

static MPI_Request request_of(exchange_request kept)
{
    MPI_Request request;
    memcpy(&request, &kept, sizeof request);
    return request;
}

static int start_send(void *context, int peer, unsigned tag, const void *data, size_t bytes,
                      bool synchronous, exchange_request *request)
{
    const front_group *group = context;
    MPI_Request started;
    *request = NULL;
    if (bytes > INT_MAX)
        return MPI_ERR_COUNT;
    int rc = (synchronous ? mpi.Issend : mpi.Isend)(
        data, (int)bytes, MPI_BYTE, peer, tag_of(group, tag), group->ranks->comm, &started);
    if (rc == MPI_SUCCESS)
        *request = keep_request(started);
    return rc;
}

static int start_receive(void *context, int peer, unsigned tag, void *data, size_t bytes,
                         exchange_request *request)
{
    const front_group *group = context;
    MPI_Request started;
    *request = NULL;
    if (bytes > INT_MAX)
        return MPI_ERR_COUNT;
    int rc = mpi.Irecv(data, (int)bytes, MPI_BYTE, peer, tag_of(group, tag), group->ranks->comm,
                       &started);
    if (rc == MPI_SUCCESS)
        *request = keep_request(started);
    return rc;
}

/* A received message has a count; a send has none. */
static size_t bytes_of(const MPI_Status *status)
{
    int bytes = 0;
    mpi.Get_count(status, MPI_BYTE, &bytes);
    return bytes > 0 ? (size_t)bytes : 0;
}

static int complete_message(int rc, const MPI_Status *status, exchange_request *request,
                            size_t *bytes)
{
    *request = NULL;
    if (bytes != NULL)
        *bytes = rc == MPI_SUCCESS ? bytes_of(status) : 0;
    return rc;
}

static int test_message(void *context, exchange_request *request, bool *complete, size_t *bytes)
{
    MPI_Request tested = request_of(*request);
    MPI_Status status;
    int flag = 0;
    (void)context;
    int rc = mpi.Test(&tested, &flag, &status);
    *complete = flag || rc != MPI_SUCCESS;
    return *complete ? complete_message(rc, &status, request, bytes) : 0;
}

int front_group_wait(front_group *group, int started, MPI_Request *request, MPI_Status *status)
{
    int flag = 0, rc = started;
    do {
        if (rc == MPI_SUCCESS)
            rc = mpi.Test(request, &flag, status);
    } while (rc == MPI_SUCCESS && !flag && front_request_pause(&group->queue));
    return rc != MPI_SUCCESS || flag ? rc : mpi.Wait(request, status);
}

static int wait_for_message(void *context, exchange_request *request, size_t *bytes)
{
    MPI_Request awaited = request_of(*request);
    MPI_Status status;
    int rc = front_group_wait(context, MPI_SUCCESS, &awaited, &status);
    return complete_message(rc, &status, request, bytes);
}

static int probe_messages(void *context, enum coll_tag tag, bool *is_found, coll_found *found)
{
    const front_group *group = context;
    MPI_Status status;
    int flag = 0;
    int rc = mpi.Iprobe(MPI_ANY_SOURCE, tag_of(group, tag), group->ranks->comm, &flag, &status);
    *is_found = rc == MPI_SUCCESS && flag;
    if (*is_found)
        *found = (coll_found){status.MPI_SOURCE, bytes_of(&status)};
    return rc;
}

/* MPI_Recv is needed: where another function finds a message longer than its room, MPICH ends the
 * job, because it no longer knows whose error handler counts. */
static int discard_message(void *context, int from, enum coll_tag tag)
{
    const front_group *group = context;
    int class = MPI_SUCCESS;
    int rc = mpi.Recv(NULL, 0, MPI_BYTE, from, tag_of(group, tag), group->ranks->comm,
                      MPI_STATUS_IGNORE);
    mpi.Error_class(rc, &class);
    return class == MPI_ERR_TRUNCATE ? MPI_SUCCESS : rc;
}

/* An MPI makes progress while its functions are called; no message has this tag. */
static int make_progress(void *context)
{
    const front_group *group = context;
    int flag;
    (void)front_request_pause(&group->queue);
    return mpi.Iprobe(MPI_ANY_SOURCE, 0, group->ranks->comm, &flag, MPI_STATUS_IGNORE);
}

/* ---- collective operations: of messages, which other files of the communicator have, too ---- */

static int send_values(front_group *group, const int64_t *value, size_t count, int peer,
                       unsigned tag)
{
    exchange_request request;
    int rc = coll_isend(&group->runtime, peer, tag, value, count * sizeof *value, false, &request);
    return rc != MPI_SUCCESS ? rc : wait_for_message(group, &request, NULL);
}

static int receive_values(front_group *group, int64_t *value, size_t count, int peer, unsigned tag)
{
    exchange_request request;
    int rc = coll_irecv(&group->runtime, peer, tag, value, count * sizeof *value, &request);
    return rc != MPI_SUCCESS ? rc : wait_for_message(group, &request, NULL);
}

/* The values of a reduction that fit into a message, and the first error: all go on after one. */
typedef struct reduction {
    front_group *group;
    int64_t *value;
    size_t count;
    enum coll_operation operation;
    int rc;
} reduction;

static void note_error(reduction *r, int rc)
{
    if (r->rc == MPI_SUCCESS)
        r->rc = rc;
}

static void receive_and_merge(reduction *r, int peer)
{
    int64_t other[COLL_MOST_VALUES];
    int rc = receive_values(r->group, other, r->count, peer, TAG_REDUCE);
    note_error(r, rc);
    for (size_t i = 0; i < r->count && rc == MPI_SUCCESS; i++)
        if (r->operation == COLL_SUM)
            r->value[i] += other[i];
        else if (other[i] > r->value[i])
            r->value[i] = other[i];
}

/* Values go up a binomial tree to rank 0, and back. */
static void reduce_part(reduction *r)
{
    const int rank = r->group->ranks->rank, size = r->group->ranks->size;
    int step = 1;
    for (; step < size && (rank & step) == 0; step *= 2)
        if (rank + step < size)
            receive_and_merge(r, rank + step);
    if (rank > 0) {
        note_error(r, send_values(r->group, r->value, r->count, rank - step, TAG_REDUCE));
        note_error(r, receive_values(r->group, r->value, r->count, rank - step, TAG_REDUCE));
    }
    while ((step /= 2) > 0)
        if (rank + step < size)
            note_error(r, send_values(r->group, r->value, r->count, rank + step, TAG_REDUCE));
}

static int reduce_values(void *context, int64_t *value, size_t count, enum coll_operation operation)
{
    reduction r = {context, value, 0, operation, MPI_SUCCESS};
    for (; count > 0; count -= r.count, r.value += r.count) {
        r.count = count < COLL_MOST_VALUES ? count : COLL_MOST_VALUES;
        reduce_part(&r);
    }
    return r.rc;
}

static int gather_values(void *context, const int64_t *own, size_t count, int64_t *all)
{
    front_group *group = context;
    int first = MPI_SUCCESS;
    if (group->ranks->rank > 0)
        return send_values(group, own, count, 0, TAG_GATHER);
    memcpy(all, own, count * sizeof *own);
    for (int peer = 1; peer < group->ranks->size; peer++) {
        int rc = receive_values(group, all + (size_t)peer * count, count, peer, TAG_GATHER);
        first = first != MPI_SUCCESS ? first : rc;
    }
    return first;
}

static void end_job(void *context, int class)
{
    (void)context;
    mpi.Abort(MPI_COMM_WORLD, class);
}

/* ---- ranks ---- */

static bool is_local(void *context, int rank)
{
    const front_group *group = context;
    return group->ranks->node[rank] == front_process_node();
}

static char *host_of(void *context, int rank)
{
    const front_group *group = context;
    return strdup(group->ranks->host + (size_t)rank * FRONT_HOST);
}

/* No function of MPI tells where another rank is bound. */
static char *locality_of(void *context, int rank)
{
    (void)context;
    (void)rank;
    return NULL;
}

static size_t job_rank_of(void *context, int rank)
{
    const front_group *group = context;
    return (size_t)group->ranks->job_rank[rank];
}

/* Sets the rank in `to` of each rank of `from`; MPI_UNDEFINED: none. */
static int translate(MPI_Comm from, MPI_Comm to, int ranks, int *rank)
{
    MPI_Group group, other;
    int *own = base_alloc((size_t)ranks, sizeof *own);
    if (own == NULL)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < ranks; i++)
        own[i] = i;
    mpi.Comm_group(from, &group);
    mpi.Comm_group(to, &other);
    int rc = mpi.Group_translate_ranks(group, ranks, own, other, rank);
    mpi.Group_free(&group);
    mpi.Group_free(&other);
    free(own);
    return rc;
}

/* ---- what the new order means to a record ---- */

/* The attribute of communicators whose processes have other ranks by mpi/order.c, each that of a
 * rank of the job: what a process does in it would be done by the one with this rank in
 * MPI_COMM_WORLD. */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static int order_key = MPI_KEYVAL_INVALID;

static int copy_mark(MPI_Comm from, int key, void *state, void *value, void *copy, int *is_copied)
{
    (void)from;
    (void)key;
    (void)state;
    *(void **)copy = value;
    *is_copied = 1;
    return MPI_SUCCESS;
}

static void make_key(void)
{
    if (mpi.Comm_create_keyval(copy_mark, MPI_COMM_NULL_DELETE_FN, &order_key, NULL) != MPI_SUCCESS)
        order_key = MPI_KEYVAL_INVALID;
}

static bool is_in_new_order(MPI_Comm comm)
{
    void *value;
    int is_new = 0;
    if (order_key != MPI_KEYVAL_INVALID)
        mpi.Comm_get_attr(comm, order_key, &value, &is_new);
    return is_new;
}

/* Whether its ranks are those of the job, or would be without a new order. */
static bool has_ranks_of_job(MPI_Comm comm)
{
    int ranks = 0;
    mpi.Comm_size(comm, &ranks);
    int *rank = base_alloc((size_t)ranks, sizeof *rank);
    bool is_same = rank != NULL && translate(comm, MPI_COMM_WORLD, ranks, rank) == MPI_SUCCESS;
    for (int i = 0; is_same && i < ranks; i++)
        is_same = rank[i] == i;
    free(rank);
    return is_same;
}

void front_group_note_order(MPI_Comm old, bool is_new, MPI_Comm created)
{
    if (created == MPI_COMM_NULL || !(is_in_new_order(old) || (is_new && has_ranks_of_job(old))))
        return;
    pthread_once(&key_once, make_key);
    if (order_key != MPI_KEYVAL_INVALID)
        mpi.Comm_set_attr(created, order_key, &order_key);
}

/* ---- questions about a communicator ---- */

bool front_group_is_of_job(MPI_Comm comm)
{
    MPI_Group group, world, both;
    int ranks, common;
    mpi.Comm_group(comm, &group);
    mpi.Comm_group(MPI_COMM_WORLD, &world);
    mpi.Group_intersection(group, world, &both);
    mpi.Group_size(group, &ranks);
    mpi.Group_size(both, &common);
    mpi.Group_free(&group);
    mpi.Group_free(&world);
    mpi.Group_free(&both);
    return ranks == common;
}

int front_group_largest(MPI_Comm comm, int value)
{
    int rc = mpi.Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, comm);
    return rc != MPI_SUCCESS ? rc : value;
}

/* MPI_Comm_split_type would not do: where a host file names a host several times, as for a
 * placement, MPICH takes it for several nodes. */
static int share_nodes(front_ranks *ranks)
{
    int64_t own = front_process_node();
    return mpi.Allgather(&own, 1, MPI_INT64_T, ranks->node, 1, MPI_INT64_T, ranks->comm);
}

static int gather_hosts(front_ranks *ranks)
{
    return mpi.Gather(front_process_host(), FRONT_HOST, MPI_CHAR, ranks->host, FRONT_HOST, MPI_CHAR,
                      0, ranks->comm);
}

/* ---- what files share ---- */

static pthread_mutex_t ranks_lock =
    PTHREAD_MUTEX_INITIALIZER; /* no function of the MPI is called */
static int ranks_key = MPI_KEYVAL_INVALID;
static int most_files;
static bool is_finalised;

static void free_ranks(front_ranks *ranks)
{
    if (ranks->comm != MPI_COMM_NULL && !is_finalised)
        mpi.Comm_free(&ranks->comm);
    free(ranks->node);
    free(ranks->job_rank);
    free(ranks->host);
    free(ranks);
}

static void leave_ranks(front_ranks *ranks)
{
    pthread_mutex_lock(&ranks_lock);
    const bool is_last = --ranks->users == 0;
    pthread_mutex_unlock(&ranks_lock);
    if (is_last)
        free_ranks(ranks);
}

/* Returns NULL if it has none. */
static front_ranks *get_ranks(MPI_Comm comm)
{
    front_ranks *ranks = NULL;
    int is_known = 0;
    mpi.Comm_get_attr(comm, ranks_key, &ranks, &is_known);
    return is_known ? ranks : NULL;
}

/* MPI_Finalize begins with MPI_COMM_SELF. Communicators that the program has not freed are deleted
 * later, if at all, when no function of the MPI may be called. */
static int delete_ranks(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)keyval;
    (void)state;
    if (comm != MPI_COMM_SELF) {
        leave_ranks(value);
        return MPI_SUCCESS;
    }
    if (get_ranks(MPI_COMM_WORLD) != NULL)
        mpi.Comm_delete_attr(MPI_COMM_WORLD, ranks_key);
    is_finalised = true;
    return MPI_SUCCESS;
}

static void make_ranks_key(void)
{
    int *most_tag, is_known;
    mpi.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most_tag, &is_known);
    most_files = (is_known ? *most_tag : 32767) / TAGS;
    mpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_ranks, &ranks_key, NULL);
    mpi.Comm_set_attr(MPI_COMM_SELF, ranks_key, NULL);
}

/* ---- new ranks ---- */

/* Takes over the communicator, which may be none. NULL if memory is exhausted. */
static front_ranks *new_ranks(MPI_Comm comm, int rank, int size)
{
    front_ranks *ranks = calloc(1, sizeof *ranks);
    int rc = 0;
    if (ranks == NULL) {
        if (comm != MPI_COMM_NULL)
            mpi.Comm_free(&comm);
        return NULL;
    }
    *ranks = (front_ranks){.comm = comm, .rank = rank, .size = size, .users = 1};
    ranks->node = base_zeroed((size_t)size, sizeof *ranks->node, &rc);
    ranks->job_rank = base_zeroed((size_t)size, sizeof *ranks->job_rank, &rc);
    if (rank == 0)
        ranks->host = base_zeroed((size_t)size, FRONT_HOST, &rc);
    if (rc == 0)
        return ranks;
    free_ranks(ranks);
    return NULL;
}

/* MPI_Comm_dup would copy the program's attributes by its functions. */
static int create_comm(MPI_Comm comm, MPI_Comm *created)
{
    MPI_Group group;
    int rc = mpi.Comm_group(comm, &group);
    *created = MPI_COMM_NULL;
    if (rc != MPI_SUCCESS)
        return rc;
    rc = mpi.Comm_create(comm, group, created);
    mpi.Group_free(&group);
    return rc == MPI_SUCCESS ? mpi.Comm_set_errhandler(*created, MPI_ERRORS_RETURN) : rc;
}

/* Makes them an attribute. Returns the largest error class; *ranks may be NULL then. Collective. */
static int attach_ranks(MPI_Comm comm, front_ranks **ranks)
{
    MPI_Comm created;
    int rank, size;
    mpi.Comm_rank(comm, &rank);
    mpi.Comm_size(comm, &size);
    int rc = create_comm(comm, &created);
    *ranks = new_ranks(created, rank, size);
    if (rc == MPI_SUCCESS)
        rc = *ranks == NULL ? MPI_ERR_NO_MEM : mpi.Comm_set_attr(comm, ranks_key, *ranks);
    return front_group_largest(comm, front_error_class(rc));
}

/* Returns the largest error class. Collective. */
static int fill_ranks(front_ranks *ranks, MPI_Comm comm)
{
    int located = share_nodes(ranks), named = gather_hosts(ranks);
    int rc = translate(ranks->comm, MPI_COMM_WORLD, ranks->size, ranks->job_rank);
    const bool is_new = is_in_new_order(comm);
    coll_ranks_add(&ranks->names, is_new); /* which the record depends on */
    for (int i = 0; i < ranks->size; i++) {
        coll_ranks_add(&ranks->names, (uint64_t)ranks->job_rank[i]);
        ranks->job_rank[i] = is_new ? i : ranks->job_rank[i];
    }
    rc = located != MPI_SUCCESS ? located : named != MPI_SUCCESS ? named : rc;
    return front_group_largest(ranks->comm, front_error_class(rc));
}

static front_ranks *make_ranks(MPI_Comm comm)
{
    front_ranks *ranks;
    int rc = attach_ranks(comm, &ranks);
    if (rc == MPI_SUCCESS)
        rc = fill_ranks(ranks, comm);
    if (rc == MPI_SUCCESS)
        return ranks;
    if (get_ranks(comm) != NULL)
        mpi.Comm_delete_attr(comm, ranks_key);
    else if (ranks != NULL)
        free_ranks(ranks);
    return NULL;
}

/* The program's error handler does not hear of errors of what it has not called. */
static front_ranks *make_silently(MPI_Comm comm)
{
    MPI_Errhandler handler;
    mpi.Comm_get_errhandler(comm, &handler);
    mpi.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    front_ranks *ranks = make_ranks(comm);
    mpi.Comm_set_errhandler(comm, handler);
    mpi.Errhandler_free(&handler);
    return ranks;
}

front_ranks *front_ranks_of(MPI_Comm comm)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_ranks_key);
    front_ranks *ranks = get_ranks(comm);
    if (ranks == NULL)
        ranks = make_silently(comm);
    if (ranks != NULL)
        ranks->opened++;
    return ranks;
}

/* ---- all of it ---- */

static coll_runtime make_runtime(front_group *group, coll_process *process)
{
    return (coll_runtime){
        .context = group,
        .process = process,
        .rank = group->ranks->rank,
        .size = group->ranks->size,
        .near_message_size = MESSAGE_BYTES,
        .far_message_size = MESSAGE_BYTES,
        .is_local = is_local,
        .host = host_of,
        .locality = locality_of,
        .job_rank = job_rank_of,
        .isend = start_send,
        .irecv = start_receive,
        .test = test_message,
        .wait = wait_for_message,
        .probe = probe_messages,
        .discard = discard_message,
        .progress = make_progress,
        .reduce = reduce_values,
        .gather = gather_values,
        .abort = end_job,
        .error_class = front_error_class,
    };
}

int front_group_init(front_group *group, front_ranks *ranks, coll_process *process)
{
    int rc = 0;
    *group = (front_group){.ranks = ranks, .number = (int)(ranks->opened % most_files)};
    group->runtime = make_runtime(group, process);
    pthread_mutex_lock(&ranks_lock);
    for (const front_group *g = ranks->open; g != NULL; g = g->next)
        if (g->number == group->number)
            rc = MPI_ERR_OTHER;
    group->next = ranks->open;
    ranks->open = group;
    ranks->users++;
    pthread_mutex_unlock(&ranks_lock);
    return rc;
}

void front_group_release(front_group *group)
{
    front_ranks *ranks = group->ranks;
    if (ranks == NULL)
        return;
    pthread_mutex_lock(&ranks_lock);
    front_group **at = &ranks->open;
    while (*at != group)
        at = &(*at)->next;
    *at = group->next;
    pthread_mutex_unlock(&ranks_lock);
    leave_ranks(ranks);
    *group = (front_group){0};
}
