/* SPDX-License-Identifier: BSD-3-Clause */
#include "fcoll_tatp.h"

#include "ompi/compat/compat_fit.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_process.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_pvars.h"

static int tatp_component_register(void);
static int tatp_component_close(void);

mca_fcoll_base_component_t mca_fcoll_tatp_component = {
    .fcollm_version =
        {
            COMPAT_FCOLL_VERSION,
            .mca_component_name = "tatp",
            MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                                  OMPI_RELEASE_VERSION),
            .mca_register_component_params = tatp_component_register,
            .mca_close_component = tatp_component_close,
        },
    .fcollm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .fcollm_init_query = mca_fcoll_tatp_init_query,
    .fcollm_file_query = mca_fcoll_tatp_file_query,
    .fcollm_file_unquery = mca_fcoll_tatp_file_unquery,
};

static int tatp_component_register(void)
{
    if (!compat_fits_library("fcoll:tatp"))
        return OMPI_ERR_NOT_AVAILABLE;
    int rc = tatp_params_register();
    return OMPI_SUCCESS == rc ? tatp_pvars_register(&mca_fcoll_tatp_component.fcollm_version) : rc;
}

static int tatp_component_close(void)
{
    tatp_modules_free();
    tatp_requests_release();
    tatp_process_release();
    return OMPI_SUCCESS;
}
