/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/group.h"

#include <errno.h>
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

int front_error_class(int error)
{
    int class = MPI_ERR_OTHER;
    switch (error) {
    case 0: return MPI_SUCCESS;
    case -ENOMEM: return MPI_ERR_NO_MEM;
    case -EOVERFLOW: return MPI_ERR_COUNT;
    case -ENOTSUP: return MPI_ERR_UNSUPPORTED_OPERATION;
    case -ENOSPC: return MPI_ERR_NO_SPACE;
    case -EDQUOT: return MPI_ERR_QUOTA;
    case -EROFS: return MPI_ERR_READ_ONLY;
    case -EPERM:
    case -EACCES: return MPI_ERR_ACCESS;
    default: break;
    }
    if (error < 0)
        return MPI_ERR_IO;
    mpi.Error_class(error, &class);
    return class;
}

/* ---- messages ---- */

/* MPIs number their tags from 0 on. */
static int tag_of(unsigned tag)
{
    return (int)tag + 1;
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
    int rc = (synchronous ? mpi.Issend : mpi.Isend)(data, (int)bytes, MPI_BYTE, peer, tag_of(tag),
                                                    group->comm, &started);
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
    int rc = mpi.Irecv(data, (int)bytes, MPI_BYTE, peer, tag_of(tag), group->comm, &started);
    if (rc == MPI_SUCCESS)
        *request = keep_request(started);
    return rc;
}

/* Of a received message; a send has no count. */
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
    int rc = mpi.Iprobe(MPI_ANY_SOURCE, tag_of(tag), group->comm, &flag, &status);
    *is_found = rc == MPI_SUCCESS && flag;
    if (*is_found)
        *found = (coll_found){status.MPI_SOURCE, bytes_of(&status)};
    return rc;
}

/* An MPI makes progress while its functions are called; no message has this tag. */
static int make_progress(void *context)
{
    const front_group *group = context;
    int flag;
    (void)front_request_pause(&group->queue);
    return mpi.Iprobe(MPI_ANY_SOURCE, 0, group->comm, &flag, MPI_STATUS_IGNORE);
}

/* ---- collective operations: the non-blocking ones of the MPI, as other ranks may be in calls on
 * other files ---- */

static int reduce_values(void *context, int64_t *value, size_t count, enum coll_operation operation)
{
    front_group *group = context;
    MPI_Request request;
    int rc = mpi.Iallreduce(MPI_IN_PLACE, value, (int)count, MPI_INT64_T,
                            operation == COLL_MAX ? MPI_MAX : MPI_SUM, group->comm, &request);
    return front_group_wait(group, rc, &request, MPI_STATUS_IGNORE);
}

static int gather_values(void *context, const int64_t *own, size_t count, int64_t *all)
{
    front_group *group = context;
    MPI_Request request;
    int rc = mpi.Igather(own, (int)count, MPI_INT64_T, all, (int)count, MPI_INT64_T, 0, group->comm,
                         &request);
    return front_group_wait(group, rc, &request, MPI_STATUS_IGNORE);
}

/* ---- ranks ---- */

static bool is_local(void *context, int rank)
{
    const front_group *group = context;
    return group->is_local[rank];
}

static char *host_of(void *context, int rank)
{
    const front_group *group = context;
    return strdup(group->host + (size_t)rank * FRONT_HOST);
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
    return (size_t)group->job_rank[rank];
}

/* The rank in `to` of each rank of `from`; MPI_UNDEFINED: none. */
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

/* Not by MPI_Comm_split_type: where a host file names a host several times, as for a placement,
 * MPICH takes it for several nodes. node: room for a number per rank. Collective. */
static int find_local(front_group *group, int64_t *node, int ranks)
{
    int64_t own = front_process_node();
    int rc = mpi.Allgather(&own, 1, MPI_INT64_T, node, 1, MPI_INT64_T, group->comm);
    for (int i = 0; i < ranks && rc == MPI_SUCCESS; i++)
        group->is_local[i] = node[i] == own;
    return rc;
}

/* Collective. */
static int gather_hosts(front_group *group)
{
    return mpi.Gather(front_process_host(), FRONT_HOST, MPI_CHAR, group->host, FRONT_HOST, MPI_CHAR,
                      0, group->comm);
}

/* ---- all of it ---- */

static int allocate(front_group *group, int rank, int ranks, int64_t **node)
{
    int rc = 0;
    *node = base_zeroed((size_t)ranks, sizeof **node, &rc);
    group->is_local = base_zeroed((size_t)ranks, sizeof *group->is_local, &rc);
    group->job_rank = base_zeroed((size_t)ranks, sizeof *group->job_rank, &rc);
    if (rank == 0)
        group->host = base_zeroed((size_t)ranks, FRONT_HOST, &rc);
    return rc;
}

static coll_runtime make_runtime(front_group *group, int rank, int ranks, coll_process *process)
{
    return (coll_runtime){
        .context = group,
        .process = process,
        .rank = rank,
        .size = ranks,
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
        .progress = make_progress,
        .reduce = reduce_values,
        .gather = gather_values,
        .error_class = front_error_class,
    };
}

/* Collective. */
static int fill_group(front_group *group, int64_t *node, int ranks)
{
    int located = find_local(group, node, ranks);
    int named = gather_hosts(group);
    int translated = translate(group->comm, MPI_COMM_WORLD, ranks, group->job_rank);
    for (int i = 0; i < ranks && is_in_new_order(group->comm); i++)
        group->job_rank[i] = i;
    int rc = located != MPI_SUCCESS ? located : named;
    return rc != MPI_SUCCESS ? rc : translated;
}

int front_group_init(front_group *group, MPI_Comm comm, coll_process *process)
{
    int64_t *node;
    int rank, ranks;
    *group = (front_group){0};
    int rc = mpi.Comm_dup(comm, &group->comm);
    if (rc != MPI_SUCCESS)
        return rc;
    mpi.Comm_set_errhandler(group->comm, MPI_ERRORS_RETURN);
    mpi.Comm_rank(group->comm, &rank);
    mpi.Comm_size(group->comm, &ranks);
    group->runtime = make_runtime(group, rank, ranks, process);
    rc = front_error_class(allocate(group, rank, ranks, &node));
    rc = front_group_largest(group->comm, rc);
    if (rc == 0)
        rc = front_group_largest(group->comm, front_error_class(fill_group(group, node, ranks)));
    free(node);
    return rc;
}

void front_group_release(front_group *group)
{
    if (group->runtime.context != NULL)
        mpi.Comm_free(&group->comm);
    free(group->is_local);
    free(group->job_rank);
    free(group->host);
    *group = (front_group){0};
}
