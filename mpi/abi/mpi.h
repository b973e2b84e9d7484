/* SPDX-License-Identifier: BSD-3-Clause */
/* libtatp-mpiio-abi.so is built with the standard ABI of MPI 5 in place of the MPI's own header. */
#include <mpi_abi.h>
