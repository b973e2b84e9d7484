/* SPDX-License-Identifier: BSD-3-Clause */
/* state.c for integer costs. */
#define LAP_INTEGER
#include "lap/state.c"
