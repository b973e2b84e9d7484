/* SPDX-License-Identifier: BSD-3-Clause */
/* fs/striped: a component of OMPIO's fs framework for tests. It opens files like any other and says
 * of them what the one for Lustre says: how large stripes are, and how many targets take them. */
#include "ompi_config.h"

#include <errno.h>
#include <fcntl.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/common/ompio/common_ompio.h"
#include "ompi/mca/fs/base/base.h"
#include "ompi/mca/fs/fs.h"

static int stripe_size, stripe_count;

/* Rank 0 creates the file, before the others look for it. */
static int open_file(struct ompi_communicator_t *comm, const char *name, int amode,
                     struct opal_info_t *info, ompio_file_t *fh)
{
    int mode = mca_fs_base_get_file_amode(fh->f_rank, amode), rc = OMPI_SUCCESS;
    (void)info;
    if (fh->f_rank == 0)
        fh->fd = open(name, mode, mca_fs_base_get_file_perm(fh));
    if (fh->f_rank == 0 && fh->fd < 0)
        rc = mca_fs_base_get_mpi_err(errno);
    comm->c_coll->coll_bcast(&rc, 1, MPI_INT, 0, comm, comm->c_coll->coll_bcast_module);
    if (fh->f_rank != 0 && rc == OMPI_SUCCESS) {
        fh->fd = open(name, mode, mca_fs_base_get_file_perm(fh));
        rc = fh->fd < 0 ? mca_fs_base_get_mpi_err(errno) : OMPI_SUCCESS;
    }
    fh->f_stripe_size = (size_t)stripe_size;
    fh->f_stripe_count = stripe_count;
    fh->f_flags |= OMPIO_LOCK_NEVER;
    return rc;
}

static int nothing(ompio_file_t *fh)
{
    (void)fh;
    return OMPI_SUCCESS;
}

static mca_fs_base_module_t module = {
    nothing,
    nothing,
    open_file,
    mca_fs_base_file_close,
    mca_fs_base_file_delete,
    mca_fs_base_file_set_size,
    mca_fs_base_file_get_size,
    mca_fs_base_file_sync,
};

static int init_query(bool progress_threads, bool mpi_threads)
{
    (void)progress_threads, (void)mpi_threads;
    return OMPI_SUCCESS;
}

static mca_fs_base_module_t *file_query(ompio_file_t *fh, int *priority)
{
    (void)fh;
    *priority = 100;
    return &module;
}

static int register_parameters(void);

OMPI_DECLSPEC mca_fs_base_component_2_0_0_t mca_fs_striped_component = {
    .fsm_version =
        {
            OMPI_MCA_BASE_VERSION_2_1_0("fs", 2, 0, 0),
            .mca_component_name = "striped",
            .mca_register_component_params = register_parameters,
        },
    .fsm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .fsm_init_query = init_query,
    .fsm_file_query = file_query,
    .fsm_file_unquery = nothing,
};

static int register_parameters(void)
{
    (void)mca_base_component_var_register(
        &mca_fs_striped_component.fsm_version, "size", "Bytes of a stripe", MCA_BASE_VAR_TYPE_INT,
        NULL, 0, 0, OPAL_INFO_LVL_3, MCA_BASE_VAR_SCOPE_READONLY, &stripe_size);
    (void)mca_base_component_var_register(
        &mca_fs_striped_component.fsm_version, "count", "Number of targets", MCA_BASE_VAR_TYPE_INT,
        NULL, 0, 0, OPAL_INFO_LVL_3, MCA_BASE_VAR_SCOPE_READONLY, &stripe_count);
    return OMPI_SUCCESS;
}
