/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of GPUs, by the library of their vendor where the process has loaded it. Local. */
#ifndef MPI_DEVICE_H
#define MPI_DEVICE_H

#include "access/memory.h"

extern const access_device front_device;

#endif
