/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RMAPS_DLA_BIND_H
#define RMAPS_DLA_BIND_H

#include "orte_config.h"

#include "orte/runtime/orte_globals.h"

/* Binds the mapped ranks of all nodes as the stock mappers do. Returns an ORTE error code. */
int dla_bind(orte_job_t *jdata);

#endif
