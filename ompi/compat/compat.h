/* SPDX-License-Identifier: BSD-3-Clause */
/* What differs between the releases of Open MPI that the components are built for: 4.1, 5.0 and
 * 6.0. It includes those of Open MPI's headers whose place differs. */
#ifndef TATP_COMPAT_H
#define TATP_COMPAT_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "ompi/proc/proc.h"
#include "opal/mca/hwloc/base/base.h"
#include "opal/util/info.h"

#if OMPI_MAJOR_VERSION >= 6

/* Elements of a buffer. */
typedef size_t compat_count;
/* The view of an ompio_file_t, and the file pointer in it. */
#define COMPAT_VIEW(fh) (&(fh)->f_fview)
#define COMPAT_FCOLL_VERSION MCA_FCOLL_BASE_VERSION_3_0_0
/* The table of functions of an ompi_file_t. */
#define COMPAT_IO_MODULE(file) (&(file)->f_io_selected_module.v3_0_0)
typedef struct mca_io_base_module_3_0_0_t compat_io_module;
#define COMPAT_IO_COMPONENT(file) (&(file)->f_io_selected_component.v3_0_0)
/* Whether the info object of a file has OMPIO's defaults. */
#define COMPAT_DEFAULTS_ARE_HINTS true

#else

typedef int compat_count;
#define COMPAT_VIEW(fh) (fh)
#define COMPAT_FCOLL_VERSION MCA_FCOLL_BASE_VERSION_2_0_0
#define COMPAT_IO_MODULE(file) (&(file)->f_io_selected_module.v2_0_0)
typedef struct mca_io_base_module_2_0_0_t compat_io_module;
#define COMPAT_IO_COMPONENT(file) (&(file)->f_io_selected_component.v2_0_0)
#define COMPAT_DEFAULTS_ARE_HINTS false

#endif

#if OMPI_MAJOR_VERSION >= 5

#include "ompi/runtime/ompi_rte.h"
#include "opal/mca/pmix/pmix-internal.h"
#include "opal/mca/threads/mutex.h"

#define COMPAT_ROMIO "romio341" /* 5.0 only */
/* The member of a topo component that makes a module, and its parameters. */
#define COMPAT_TOPO_QUERY topoc_query
#define COMPAT_TOPO_PARAMETERS                                                                     \
    const ompi_communicator_t *comm, __attribute__((unused)) const ompi_group_t *group,            \
        int *priority, uint32_t type
#define COMPAT_PMIX_HOSTNAME PMIX_HOSTNAME
#define COMPAT_PMIX_LOCALITY PMIX_LOCALITY_STRING

/* A string of a process that the launcher gave this node; the caller frees it. NULL if there is
 * none. */
static inline char *compat_modex_string(const ompi_proc_t *proc, const char *key)
{
    int rc;
    char *value = NULL;
    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, key, &proc->super.proc_name, (void **)&value, PMIX_STRING);
    return OPAL_SUCCESS == rc ? value : NULL;
}

/* Returns what Open MPI knows without PMIx, or NULL. */
static inline const char *compat_proc_hostname(const ompi_proc_t *proc)
{
    return proc == ompi_proc_local_proc ? ompi_process_info.nodename : NULL;
}

#else

#include "ompi/mca/rte/rte.h"
#include "opal/dss/dss_types.h"
#include "opal/mca/pmix/pmix.h"
#include "opal/threads/mutex.h"

/* Data that 5.0 lacks: weak, so that it can open the component, which then refuses to run there. */
#pragma weak opal_pmix
#pragma weak opal_value_t_class
#pragma weak orte_process_info

#define COMPAT_ROMIO "romio321"
#define COMPAT_TOPO_QUERY topoc_comm_query
#define COMPAT_TOPO_PARAMETERS const ompi_communicator_t *comm, int *priority, uint32_t type
#define COMPAT_PMIX_HOSTNAME OPAL_PMIX_HOSTNAME
#define COMPAT_PMIX_LOCALITY OPAL_PMIX_LOCALITY_STRING

/* OPAL_MODEX_RECV_VALUE_OPTIONAL does not check its allocations. */
static inline char *compat_modex_string(const ompi_proc_t *proc, const char *key)
{
    char *value = NULL;
    opal_list_t options;
    opal_value_t optional, *found = NULL;
    OBJ_CONSTRUCT(&options, opal_list_t);
    OBJ_CONSTRUCT(&optional, opal_value_t);
    optional.key = strdup(OPAL_PMIX_OPTIONAL);
    optional.type = OPAL_BOOL;
    optional.data.flag = true;
    opal_list_append(&options, &optional.super);
    bool has_value = NULL != optional.key &&
                     OPAL_SUCCESS == opal_pmix.get(&proc->super.proc_name, key, &options, &found) &&
                     NULL != found &&
                     OPAL_SUCCESS == opal_value_unload(found, (void **)&value, OPAL_STRING);
    if (NULL != found)
        OBJ_RELEASE(found);
    (void)opal_list_remove_first(&options);
    OBJ_DESTRUCT(&optional);
    OBJ_DESTRUCT(&options);
    return has_value ? value : NULL;
}

static inline const char *compat_proc_hostname(const ompi_proc_t *proc)
{
    return proc->super.proc_hostname;
}

#endif

/* hwloc's description of this machine, with its devices, as Open MPI keeps it. NULL if it has
 * none, or is built with an hwloc of its own, whose functions have other names outside its tree. */
static inline struct hwloc_topology *compat_machine(void)
{
#if defined(hwloc_topology_init) && !defined(TATP_IN_TREE)
    return NULL;
#else
    return OPAL_SUCCESS == opal_hwloc_base_get_topology() ? opal_hwloc_topology : NULL;
#endif
}

#endif
