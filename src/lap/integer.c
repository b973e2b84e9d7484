/* SPDX-License-Identifier: BSD-3-Clause */
/* The solvers for integer costs. */
#define LAP_INTEGER
#include "lap/solve.c"
