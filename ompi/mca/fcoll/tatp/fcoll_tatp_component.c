/* SPDX-License-Identifier: BSD-3-Clause */
/* The component. */
#include "fcoll_tatp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_pvars.h"
#include "opal/util/component_help.h"
#include "opal/util/output.h"

static int tatp_component_register(void);
static int tatp_component_open(void);
static int tatp_component_close(void);

mca_fcoll_tatp_component_t mca_fcoll_tatp_component = {
    .super =
        {
            .fcollm_version =
                {
                    COMPAT_FCOLL_VERSION,
                    .mca_component_name = "tatp",
                    MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                                          OMPI_RELEASE_VERSION),
                    .mca_register_component_params = tatp_component_register,
                    .mca_open_component = tatp_component_open,
                    .mca_close_component = tatp_component_close,
                },
            .fcollm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
            .fcollm_init_query = mca_fcoll_tatp_init_query,
            .fcollm_file_query = mca_fcoll_tatp_file_query,
            .fcollm_file_unquery = mca_fcoll_tatp_file_unquery,
        },
    .priority = TATP_DEFAULT_PRIORITY,
};

/* Other releases of Open MPI open this component too, but their structs differ. This function uses
 * only what all of them have. */
static bool is_this_release(const char *library)
{
    int major = 0, minor = 0;
    (void)sscanf(library, "Open MPI v%d.%d", &major, &minor);
    return OMPI_MAJOR_VERSION == major && OMPI_MINOR_VERSION == minor;
}

static int register_variables(void)
{
    int rc = tatp_params_register();
    return OMPI_SUCCESS == rc ? tatp_pvars_register(&mca_fcoll_tatp_component.super.fcollm_version)
                              : rc;
}

static int tatp_component_register(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    const char *rank = getenv("PMIX_RANK");
    int length = 0;
    (void)PMPI_Get_library_version(library, &length);
    if (is_this_release(library))
        return register_variables();
    if (NULL == rank || 0 == strcmp(rank, "0"))
        opal_output(0,
                    "fcoll:tatp: built for Open MPI %d.%d, but this is %.*s: not used; build it "
                    "for this one",
                    OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, (int)strcspn(library, ","), library);
    return OMPI_ERR_NOT_AVAILABLE;
}

static int tatp_component_open(void)
{
    mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    OBJ_CONSTRUCT(&c->lock, opal_mutex_t);
    c->modules = c->idle_modules = NULL;
    (void)component_help_add_dir(TATP_HELP_FILE, c, TATP_HELP_DIR);
    return OMPI_SUCCESS;
}

static int tatp_component_close(void)
{
    tatp_modules_free();
    tatp_calls_release();
    tatp_params_release();
    OBJ_DESTRUCT(&mca_fcoll_tatp_component.lock);
    return OMPI_SUCCESS;
}
