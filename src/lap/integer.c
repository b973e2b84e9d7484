/* SPDX-License-Identifier: BSD-3-Clause */
/* The solvers for integer costs. */
#define LAP_INTEGER
#include "lap/apc.c"
#include "lap/aps.c"
#include "lap/auction.c"
#include "lap/candidates.c"
#include "lap/hungarian.c"
#include "lap/jv.c"
#include "lap/least.c"
#include "lap/monge.c"
#include "lap/orient.c"
#include "lap/paths.c"
#include "lap/reduction.c"
#include "lap/rows.c"
#include "lap/search.c"
#include "lap/square.c"
#include "lap/state.c"
