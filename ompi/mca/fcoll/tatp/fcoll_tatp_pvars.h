/* SPDX-License-Identifier: BSD-3-Clause */
/* Performance variables of MPI's tools interface: totals of this process over all files. */
#ifndef MCA_FCOLL_TATP_PVARS_H
#define MCA_FCOLL_TATP_PVARS_H

#include "ompi_config.h"

#include "collective/stats.h"
#include "opal/mca/mca.h"

/* Returns an OPAL error code. */
int tatp_pvars_register(const mca_base_component_t *component);

/* Adds an access that was carried out, by any thread. */
void tatp_pvars_add(const coll_observed *access);

#endif
