/* SPDX-License-Identifier: BSD-3-Clause */
/* Performance variables of MPI's tools interface: totals of this process over all files. */
#ifndef MCA_FCOLL_TATP_PVARS_H
#define MCA_FCOLL_TATP_PVARS_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stdint.h>

#include "opal/mca/mca.h"

/* Returns an OPAL error code. */
int tatp_pvars_register(const mca_base_component_t *component);

/* An access that was carried out. What only rank 0 of a file knows is 0 on the others. */
typedef struct tatp_pvars_access {
    bool write;
    bool by_plan, makes_plan;
    int64_t bytes; /* of this rank */
    double hop_bytes;
    int64_t crossing_bytes;
    double seconds[5]; /* of the stages, on this rank */
} tatp_pvars_access;

/* By any thread. */
void tatp_pvars_add(const tatp_pvars_access *access);

#endif
