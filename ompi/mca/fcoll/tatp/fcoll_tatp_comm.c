/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicator of a file: its local ranks, collective operations, messages and errors. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/proc/proc.h"
#include "opal/runtime/opal_progress.h"

#include "base/memory.h"
#include "fcoll_tatp_comm_internal.h"

tatp_comm *tatp_comm_new(void)
{
    return calloc(1, sizeof(tatp_comm));
}

void tatp_comm_free(tatp_comm *comm)
{
    if (NULL == comm)
        return;
    free(comm->local);
    free(comm->leader);
    free(comm);
}

/* ---- ranks ---- */

/* Open MPI has an object for each process of this node: a rank without one is on another node. */
static bool is_on_this_node(const tatp_comm *comm, int rank)
{
    const ompi_proc_t *proc =
        ompi_group_get_proc_ptr(comm->communicator->c_local_group, rank, false);
    return rank == comm->rank || (NULL != proc && OPAL_PROC_ON_LOCAL_NODE(proc->super.proc_flags));
}

static int find_local_ranks(tatp_comm *comm)
{
    comm->local = base_alloc((size_t)comm->size, sizeof *comm->local);
    if (NULL == comm->local)
        return OMPI_ERR_OUT_OF_RESOURCE;
    comm->locals = 0;
    for (int r = 0; r < comm->size; r++)
        if (is_on_this_node(comm, r))
            comm->local[comm->locals++] = r;
    return OMPI_SUCCESS;
}

int tatp_comm_attach(tatp_comm *comm, struct ompi_communicator_t *communicator)
{
    comm->communicator = communicator;
    comm->has_lost = false;
    comm->rank = ompi_comm_rank(communicator);
    comm->size = ompi_comm_size(communicator);
    if (NULL == comm->leader)
        comm->leader = base_alloc((size_t)comm->size, sizeof *comm->leader);
    if (NULL == comm->leader)
        return OMPI_ERR_OUT_OF_RESOURCE;
    return NULL == comm->local ? find_local_ranks(comm) : OMPI_SUCCESS;
}

int tatp_comm_rank(const tatp_comm *comm)
{
    return comm->rank;
}

int tatp_comm_size(const tatp_comm *comm)
{
    return comm->size;
}

struct ompi_communicator_t *tatp_comm_communicator(const tatp_comm *comm)
{
    return comm->communicator;
}

const int *tatp_comm_local_ranks(const tatp_comm *comm, int *count)
{
    *count = comm->locals;
    return comm->local;
}

int tatp_comm_local_index(const tatp_comm *comm, int rank)
{
    int low = 0, high = comm->locals;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (comm->local[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < comm->locals && comm->local[low] == rank ? low : -1;
}

bool tatp_comm_is_local(const tatp_comm *comm, int rank)
{
    return tatp_comm_local_index(comm, rank) >= 0;
}

bool tatp_comm_is_leader(const tatp_comm *comm)
{
    return comm->local[0] == comm->rank;
}

/* ---- the size of messages ---- */

/* Bytes. PML ob1 over TCP sends up to 64 KiB at once. It announces larger messages and waits for
 * the receiver, which may be busy, while the link is idle. */
#define SMALL_MESSAGE ((int64_t)63 << 10)
/* Of libraries that do better with few large messages (doc/benchmarks.md). */
#define LARGE_MESSAGE ((int64_t)504 << 10)

/* Open MPI refuses to connect processes of different PMLs, so that all ranks know the same. */
int64_t tatp_comm_message_size(const tatp_comm *comm)
{
    const char *pml = mca_pml_base_selected_component.pmlm_version.mca_component_name;
    bool is_large = 0 == strcmp(pml, "ucx") || 0 == strcmp(pml, "cm");
    return is_large && comm->locals < comm->size ? LARGE_MESSAGE : SMALL_MESSAGE;
}

/* ---- lost ranks ---- */

/* What the other ranks wait for may never come, because this one stops: their waiting ends, too.
 * Open MPI's non-blocking collective operations say only that they failed. */
static int note_loss(tatp_comm *comm, int rc)
{
    if (OMPI_SUCCESS == rc ||
        !(compat_is_loss(rc) || compat_has_lost(comm->communicator, &comm->lost_before)))
        return rc;
    comm->has_lost = true;
    compat_revoke(comm->communicator);
    return COMPAT_LOSS;
}

bool tatp_comm_has_lost(const tatp_comm *comm)
{
    return comm->has_lost;
}

/* ---- waiting ---- */

int tatp_wait(tatp_comm *comm, ompi_request_t **request, ompi_status_public_t *status)
{
    while (tatp_queue_is_running(&comm->queue) && !compat_is_complete(*request))
        tatp_queue_pause(&comm->queue, *request);
    while (compat_survives_losses() && !compat_is_complete(*request)) {
        opal_progress();
        tatp_comm_check_loss(comm);
    }
    int rc = ompi_request_wait(request, status);
    if (OMPI_SUCCESS != rc && MPI_REQUEST_NULL != *request)
        (void)ompi_request_free(request);
    return note_loss(comm, rc);
}

int tatp_progress(tatp_comm *comm)
{
    if (tatp_queue_is_running(&comm->queue))
        tatp_queue_pause(&comm->queue, NULL);
    else
        opal_progress();
    bool has_lost = compat_has_lost(comm->communicator, &comm->lost_before);
    return note_loss(comm, has_lost ? COMPAT_LOSS : OMPI_SUCCESS);
}

static int wait_if_started(tatp_comm *comm, int rc, ompi_request_t **request)
{
    return OMPI_SUCCESS == rc ? tatp_wait(comm, request, MPI_STATUS_IGNORE) : note_loss(comm, rc);
}

/* ---- collective operations; the blocking ones for blocking calls only ---- */

int tatp_allreduce_max(struct ompi_communicator_t *communicator, int64_t *value, int count)
{
    const mca_coll_base_comm_coll_t *coll = communicator->c_coll;
    return coll->coll_allreduce(MPI_IN_PLACE, value, (compat_count)count, MPI_INT64_T, MPI_MAX,
                                communicator, coll->coll_allreduce_module);
}

int tatp_allreduce(tatp_comm *comm, void *value, compat_count count, struct ompi_datatype_t *type,
                   struct ompi_op_t *op)
{
    ompi_communicator_t *c = comm->communicator;
    const mca_coll_base_comm_coll_t *coll = c->c_coll;
    ompi_request_t *request;
    if (!tatp_queue_is_running(&comm->queue))
        return note_loss(comm, coll->coll_allreduce(MPI_IN_PLACE, value, count, type, op, c,
                                                    coll->coll_allreduce_module));
    int rc = coll->coll_iallreduce(MPI_IN_PLACE, value, count, type, op, c, &request,
                                   coll->coll_iallreduce_module);
    return wait_if_started(comm, rc, &request);
}

int tatp_allgather(tatp_comm *comm, int own, int *all)
{
    ompi_communicator_t *c = comm->communicator;
    const mca_coll_base_comm_coll_t *coll = c->c_coll;
    return note_loss(comm, coll->coll_allgather(&own, 1, MPI_INT, all, 1, MPI_INT, c,
                                                coll->coll_allgather_module));
}

int tatp_gather(tatp_comm *comm, const int64_t *own, compat_count count, int64_t *all)
{
    ompi_communicator_t *c = comm->communicator;
    const mca_coll_base_comm_coll_t *coll = c->c_coll;
    ompi_request_t *request;
    int rc = coll->coll_igather(own, count, MPI_INT64_T, all, count, MPI_INT64_T, 0, c, &request,
                                coll->coll_igather_module);
    return wait_if_started(comm, rc, &request);
}

/* ---- messages ---- */

int tatp_isend(tatp_comm *comm, const void *data, size_t bytes, int peer, enum tatp_tag tag,
               ompi_request_t **request)
{
    return note_loss(comm,
                     MCA_PML_CALL(isend(data, bytes, MPI_BYTE, peer, tag,
                                        MCA_PML_BASE_SEND_STANDARD, comm->communicator, request)));
}

int tatp_send(tatp_comm *comm, const void *data, size_t bytes, int peer, enum tatp_tag tag)
{
    ompi_request_t *request;
    int rc = tatp_isend(comm, data, bytes, peer, tag, &request);
    return wait_if_started(comm, rc, &request);
}

int tatp_receive(tatp_comm *comm, void *data, size_t bytes, int peer, enum tatp_tag tag)
{
    return tatp_receive_some(comm, data, &bytes, peer, tag);
}

int tatp_receive_some(tatp_comm *comm, void *data, size_t *bytes, int peer, enum tatp_tag tag)
{
    ompi_request_t *request;
    ompi_status_public_t status;
    int rc = MCA_PML_CALL(irecv(data, *bytes, MPI_BYTE, peer, tag, comm->communicator, &request));
    if (OMPI_SUCCESS == rc)
        rc = tatp_wait(comm, &request, &status);
    if (OMPI_SUCCESS == rc)
        *bytes = status._ucount;
    return note_loss(comm, rc);
}
