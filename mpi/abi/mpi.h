/* SPDX-License-Identifier: BSD-3-Clause */
/* In place of the MPI's own, where libtatp-mpiio-abi.so is built: the standard ABI of MPI 5. */
#include <mpi_abi.h>
