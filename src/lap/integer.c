/* SPDX-License-Identifier: BSD-3-Clause */
/* The solvers for integer costs. */
#define LAP_INTEGER
#include "lap/apc.c"
#include "lap/hungarian.c"
#include "lap/jv.c"
#include "lap/reduction.c"
#include "lap/search.c"
#include "lap/state.c"
#include "lap/tree.c"
