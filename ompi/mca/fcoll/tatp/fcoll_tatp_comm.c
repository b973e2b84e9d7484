/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicator of a file: its ranks, messages, collective operations and errors. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"

#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/compat/compat_asked.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_process.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/proc/proc.h"
#include "opal/runtime/opal_progress.h"

/* ---- the size of messages ---- */

/* Bytes. PML ob1 over TCP sends up to 64 KiB at once. It announces larger messages and waits for
 * the receiver, which may be busy, while the link is idle. */
#define SMALL_MESSAGE ((int64_t)63 << 10)
/* Some libraries do better with few large messages (bench/results/message-size.csv). */
#define LARGE_MESSAGE ((int64_t)504 << 10)

/* The messages are between nodes. Open MPI refuses to connect processes of different PMLs, so that
 * all ranks know the same. */
static int64_t far_message_size(void)
{
    const char *pml = mca_pml_base_selected_component.pmlm_version.mca_component_name;
    bool is_large = 0 == strcmp(pml, "ucx") || 0 == strcmp(pml, "cm");
    return is_large ? LARGE_MESSAGE : SMALL_MESSAGE;
}

/* ---- lost ranks ---- */

/* What the other ranks wait for may never come, because this one stops: their waiting ends, too.
 * Open MPI's non-blocking collective operations say only that they failed. */
static int note_loss(tatp_comm *comm, int rc)
{
    if (OMPI_SUCCESS == rc ||
        !(compat_is_loss(rc) || compat_has_lost(comm->communicator, &comm->lost_before)))
        return tatp_from_ompi(rc);
    comm->has_lost = true;
    compat_revoke(comm->communicator);
    return COMPAT_LOSS;
}

static bool has_lost(void *context)
{
    const tatp_comm *comm = context;
    return comm->has_lost;
}

/* ---- waiting ---- */

/* Frees the request after an error, too. */
static int wait_for_request(tatp_comm *comm, ompi_request_t *request, size_t *bytes)
{
    ompi_status_public_t status;
    while (fiber_is_running(&comm->queue) && !compat_is_complete(request))
        tatp_comm_pause(comm, request);
    while (compat_survives_losses() && !compat_is_complete(request)) {
        opal_progress();
        tatp_comm_check_loss(comm);
    }
    int rc = ompi_request_wait(&request, &status);
    if (OMPI_SUCCESS != rc && MPI_REQUEST_NULL != request)
        (void)ompi_request_free(&request);
    if (NULL != bytes)
        *bytes = OMPI_SUCCESS == rc ? status._ucount : 0;
    return note_loss(comm, rc);
}

static int comm_wait_for_message(void *context, exchange_request *request, size_t *bytes)
{
    ompi_request_t *message = *request;
    *request = NULL;
    return wait_for_request(context, message, bytes);
}

static int comm_test_message(void *context, exchange_request *request, bool *complete,
                             size_t *bytes)
{
    *complete = compat_is_complete((ompi_request_t *)*request);
    return *complete ? comm_wait_for_message(context, request, bytes) : OMPI_SUCCESS;
}

static int comm_make_progress(void *context)
{
    tatp_comm *comm = context;
    if (fiber_is_running(&comm->queue))
        tatp_comm_pause(comm, NULL);
    else
        opal_progress();
    bool is_lost = compat_has_lost(comm->communicator, &comm->lost_before);
    return note_loss(comm, is_lost ? COMPAT_LOSS : OMPI_SUCCESS);
}

/* ---- messages ---- */

/* Tags on a file's own communicator. */
#define TAG(tag) (7001 + (int)(tag))

static int keep_started(tatp_comm *comm, int rc, ompi_request_t *started, exchange_request *request)
{
    *request = OMPI_SUCCESS == rc ? started : NULL;
    return note_loss(comm, rc);
}

static int comm_start_send(void *context, int peer, unsigned tag, const void *data, size_t bytes,
                           bool synchronous, exchange_request *request)
{
    tatp_comm *comm = context;
    ompi_request_t *started = NULL;
    int rc =
        MCA_PML_CALL(isend(data, bytes, MPI_BYTE, peer, TAG(tag),
                           synchronous ? MCA_PML_BASE_SEND_SYNCHRONOUS : MCA_PML_BASE_SEND_STANDARD,
                           comm->communicator, &started));
    return keep_started(comm, rc, started, request);
}

static int comm_start_receive(void *context, int peer, unsigned tag, void *data, size_t bytes,
                              exchange_request *request)
{
    tatp_comm *comm = context;
    ompi_request_t *started = NULL;
    int rc =
        MCA_PML_CALL(irecv(data, bytes, MPI_BYTE, peer, TAG(tag), comm->communicator, &started));
    return keep_started(comm, rc, started, request);
}

static int comm_probe_messages(void *context, enum coll_tag tag, bool *is_found, coll_found *found)
{
    tatp_comm *comm = context;
    ompi_status_public_t status;
    int flag = 0;
    int rc = MCA_PML_CALL(iprobe(MPI_ANY_SOURCE, TAG(tag), comm->communicator, &flag, &status));
    *is_found = OMPI_SUCCESS == rc && flag;
    if (*is_found)
        *found = (coll_found){status.MPI_SOURCE, status._ucount};
    return tatp_from_ompi(rc);
}

/* Truncation is no error. */
static int comm_discard_message(void *context, int from, enum coll_tag tag)
{
    exchange_request request;
    int rc = comm_start_receive(context, from, tag, NULL, 0, &request);
    if (0 == rc)
        (void)comm_wait_for_message(context, &request, NULL);
    return rc;
}

/* ---- collective operations; the blocking ones for blocking calls only ---- */

static int wait_if_started(tatp_comm *comm, int rc, ompi_request_t *request)
{
    return OMPI_SUCCESS == rc ? wait_for_request(comm, request, NULL) : note_loss(comm, rc);
}

static int reduce_now(ompi_communicator_t *c, int64_t *value, size_t count, struct ompi_op_t *op)
{
    const mca_coll_base_comm_coll_t *coll = c->c_coll;
    return coll->coll_allreduce(MPI_IN_PLACE, value, (compat_count)count, MPI_INT64_T, op, c,
                                coll->coll_allreduce_module);
}

int tatp_reduce_max(struct ompi_communicator_t *communicator, int64_t *value, size_t count)
{
    return reduce_now(communicator, value, count, MPI_MAX);
}

static int comm_reduce_values(void *context, int64_t *value, size_t count,
                              enum coll_operation operation)
{
    tatp_comm *comm = context;
    ompi_communicator_t *c = comm->communicator;
    const mca_coll_base_comm_coll_t *coll = c->c_coll;
    struct ompi_op_t *op = COLL_MAX == operation ? MPI_MAX : MPI_SUM;
    ompi_request_t *request;
    if (!fiber_is_running(&comm->queue))
        return note_loss(comm, reduce_now(c, value, count, op));
    int rc = coll->coll_iallreduce(MPI_IN_PLACE, value, (compat_count)count, MPI_INT64_T, op, c,
                                   &request, coll->coll_iallreduce_module);
    return wait_if_started(comm, rc, request);
}

static int comm_gather_values(void *context, const int64_t *own, size_t count, int64_t *all)
{
    tatp_comm *comm = context;
    ompi_communicator_t *c = comm->communicator;
    const mca_coll_base_comm_coll_t *coll = c->c_coll;
    ompi_request_t *request;
    int rc = coll->coll_igather(own, (compat_count)count, MPI_INT64_T, all, (compat_count)count,
                                MPI_INT64_T, 0, c, &request, coll->coll_igather_module);
    return wait_if_started(comm, rc, request);
}

static void comm_end_job(void *context, int class)
{
    const tatp_comm *comm = context;
    (void)PMPI_Abort(comm->communicator, class);
}

/* ---- all of it ---- */

/* Open MPI has an object for each process of this node: a rank without one is on another node. */
static bool comm_is_local(void *context, int rank)
{
    const tatp_comm *comm = context;
    const ompi_proc_t *proc =
        ompi_group_get_proc_ptr(comm->communicator->c_local_group, rank, false);
    return NULL != proc && OPAL_PROC_ON_LOCAL_NODE(proc->super.proc_flags);
}

static const ompi_proc_t *comm_process_of(void *context, int rank)
{
    const tatp_comm *comm = context;
    return ompi_comm_peer_lookup(comm->communicator, rank);
}

static char *comm_host_of(void *context, int rank)
{
    const ompi_proc_t *proc = comm_process_of(context, rank);
    char *name = compat_modex_string(proc, COMPAT_PMIX_HOSTNAME);
    if (NULL != name)
        return name;
    const char *known = compat_proc_hostname(proc);
    return strdup(NULL != known ? known : "(unknown)");
}

static char *comm_locality_of(void *context, int rank)
{
    return compat_modex_string(comm_process_of(context, rank), COMPAT_PMIX_LOCALITY);
}

static size_t comm_job_rank(void *context, int rank)
{
    const tatp_comm *comm = context;
    if (compat_is_reordered(comm->communicator))
        return (size_t)rank;
    const opal_process_name_t root = comm_process_of(context, 0)->super.proc_name,
                              name = comm_process_of(context, rank)->super.proc_name;
    return name.jobid == root.jobid ? name.vpid : SIZE_MAX;
}

void tatp_comm_attach(tatp_comm *comm, struct ompi_communicator_t *communicator)
{
    comm->communicator = communicator;
    comm->has_lost = false;
    comm->runtime = (coll_runtime){
        .context = comm,
        .process = tatp_process(),
        .rank = ompi_comm_rank(communicator),
        .size = ompi_comm_size(communicator),
        .near_message_size = SMALL_MESSAGE,
        .far_message_size = far_message_size(),
        .is_local = comm_is_local,
        .host = comm_host_of,
        .locality = comm_locality_of,
        .job_rank = comm_job_rank,
        .isend = comm_start_send,
        .irecv = comm_start_receive,
        .test = comm_test_message,
        .wait = comm_wait_for_message,
        .probe = comm_probe_messages,
        .discard = comm_discard_message,
        .progress = comm_make_progress,
        .has_lost = has_lost,
        .reduce = comm_reduce_values,
        .gather = comm_gather_values,
        .abort = comm_end_job,
        .error_class = tatp_error_class,
    };
}
