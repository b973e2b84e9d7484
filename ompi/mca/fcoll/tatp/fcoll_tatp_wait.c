/* SPDX-License-Identifier: BSD-3-Clause */
/* Every place where a collective call waits for others.
 *
 * The same code serves calls that block and calls that do not. The first wait inside Open MPI's
 * progress; the second run on a stack of their own (fcoll_tatp_operation.c) and give way until what
 * they wait for has come. Blocking collective operations are for the first only. */
#include "fcoll_tatp.h"

#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "opal/runtime/opal_progress.h"

/* The call that runs on a stack of its own now, or NULL. While a file gets its module, OMPIO's
 * handle may still have none, or another component's. */
static tatp_operation *operation_of(const ompio_file_t *fh)
{
    const mca_fcoll_base_module_t *super = fh->f_fcoll;
    if (NULL == super || super->fcoll_file_write_all != mca_fcoll_tatp_file_write_all)
        return NULL;
    return ((const tatp_module *)super)->running;
}

int tatp_wait(ompio_file_t *fh, ompi_request_t **request, ompi_status_public_t *status)
{
    tatp_operation *operation = operation_of(fh);
    while (NULL != operation && !REQUEST_COMPLETE(*request))
        tatp_operation_pause(operation, *request);
    int rc = ompi_request_wait(request, status);
    if (OMPI_SUCCESS != rc && *request != MPI_REQUEST_NULL)
        (void)ompi_request_free(request);
    return rc;
}

void tatp_give_way(ompio_file_t *fh)
{
    tatp_operation *operation = operation_of(fh);
    if (NULL != operation)
        tatp_operation_pause(operation, NULL);
    else
        opal_progress();
}

static int finish(ompio_file_t *fh, int rc, ompi_request_t **request)
{
    return OMPI_SUCCESS == rc ? tatp_wait(fh, request, MPI_STATUS_IGNORE) : rc;
}

int tatp_allreduce(ompio_file_t *fh, void *value, int count, struct ompi_datatype_t *type,
                   struct ompi_op_t *op)
{
    ompi_communicator_t *comm = fh->f_comm;
    const mca_coll_base_comm_coll_t *coll = comm->c_coll;
    ompi_request_t *request;
    if (NULL == operation_of(fh))
        return coll->coll_allreduce(MPI_IN_PLACE, value, count, type, op, comm,
                                    coll->coll_allreduce_module);
    return finish(fh,
                  coll->coll_iallreduce(MPI_IN_PLACE, value, count, type, op, comm, &request,
                                        coll->coll_iallreduce_module),
                  &request);
}

int tatp_bcast(ompio_file_t *fh, int64_t *value, int count)
{
    ompi_communicator_t *comm = fh->f_comm;
    const mca_coll_base_comm_coll_t *coll = comm->c_coll;
    ompi_request_t *request;
    if (NULL == operation_of(fh))
        return coll->coll_bcast(value, count, MPI_INT64_T, 0, comm, coll->coll_bcast_module);
    return finish(
        fh,
        coll->coll_ibcast(value, count, MPI_INT64_T, 0, comm, &request, coll->coll_ibcast_module),
        &request);
}

int tatp_gather_equal(ompio_file_t *fh, const void *own, int count, struct ompi_datatype_t *type,
                      void *all)
{
    ompi_communicator_t *comm = fh->f_comm;
    const mca_coll_base_comm_coll_t *coll = comm->c_coll;
    ompi_request_t *request;
    if (NULL == operation_of(fh))
        return coll->coll_gather(own, count, type, all, count, type, 0, comm,
                                 coll->coll_gather_module);
    return finish(fh,
                  coll->coll_igather(own, count, type, all, count, type, 0, comm, &request,
                                     coll->coll_igather_module),
                  &request);
}

int tatp_gather_words(ompio_file_t *fh, const int64_t *own, int words, int64_t *all,
                      const int *count, const int *start)
{
    ompi_communicator_t *comm = fh->f_comm;
    const mca_coll_base_comm_coll_t *coll = comm->c_coll;
    ompi_request_t *request;
    if (NULL == operation_of(fh))
        return coll->coll_gatherv(own, words, MPI_INT64_T, all, count, start, MPI_INT64_T, 0, comm,
                                  coll->coll_gatherv_module);
    return finish(fh,
                  coll->coll_igatherv(own, words, MPI_INT64_T, all, count, start, MPI_INT64_T, 0,
                                      comm, &request, coll->coll_igatherv_module),
                  &request);
}

int tatp_send(ompio_file_t *fh, const void *data, size_t bytes, int peer, enum tatp_tag tag)
{
    ompi_request_t *request;
    return finish(fh,
                  MCA_PML_CALL(isend(data, bytes, MPI_BYTE, peer, tag, MCA_PML_BASE_SEND_STANDARD,
                                     fh->f_comm, &request)),
                  &request);
}

int tatp_receive(ompio_file_t *fh, void *data, size_t bytes, int peer, enum tatp_tag tag)
{
    ompi_request_t *request;
    return finish(fh, MCA_PML_CALL(irecv(data, bytes, MPI_BYTE, peer, tag, fh->f_comm, &request)),
                  &request);
}
