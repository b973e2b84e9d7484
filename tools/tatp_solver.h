/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOLS_TATP_SOLVER_H
#define TOOLS_TATP_SOLVER_H

#include <argp.h>

/* A child of a command's argp for --solver, with the table of solvers at the end of --help; its
 * input is a const lap_solver **. */
extern const struct argp tatp_solver_argp;

#endif
