/* SPDX-License-Identifier: BSD-3-Clause */
/* Topology-aware two-phase collective I/O: the component, its modules, and a file's collective
 * calls.
 *
 * A call (fcoll_tatp_call.c) runs in src/collective, which gets what it needs of Open MPI from the
 * other modules of this folder; each has a prefix and a header. */
#ifndef MCA_FCOLL_TATP_H
#define MCA_FCOLL_TATP_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/compat/compat.h"
#include "ompi/mca/common/ompio/common_ompio.h"
#include "ompi/mca/fcoll/base/base.h"
#include "ompi/mca/fcoll/fcoll.h"
#include "opal/mca/mca.h"

OMPI_DECLSPEC extern mca_fcoll_base_component_t mca_fcoll_tatp_component;

/* A module: one for each open file. */
typedef struct tatp_file tatp_file;

/* ---- fcoll_tatp_module.c ---- */
int mca_fcoll_tatp_init_query(bool enable_progress_threads, bool enable_mpi_threads);
mca_fcoll_base_module_t *mca_fcoll_tatp_file_query(struct ompio_file_t *fh, int *priority);
int mca_fcoll_tatp_file_unquery(struct ompio_file_t *fh);
/* Frees all modules, also those of files that were never closed through this component. */
void tatp_modules_free(void);

/* ---- fcoll_tatp_call.c: collective calls, for both directions ---- */

/* Memory for the next non-blocking call of a file, before it can be used, and when it is freed.
 * False: no memory. */
bool tatp_calls_reserve(tatp_file *file);
void tatp_calls_unreserve(tatp_file *file);
/* Frees the request of a split call that has ended with an error, if there is one. */
void tatp_split_release(ompio_file_t *fh);

int tatp_collective(ompio_file_t *fh, bool write, const void *buf, size_t count,
                    struct ompi_datatype_t *datatype, ompi_status_public_t *status);
/* Does not wait: the error of the call is the request's. */
int tatp_collective_start(ompio_file_t *fh, bool write, const void *buf, size_t count,
                          struct ompi_datatype_t *datatype, ompi_request_t **request);

#endif
