/* SPDX-License-Identifier: BSD-3-Clause */
/* reduction.c for integer costs. */
#define LAP_INTEGER
#include "lap/reduction.c"
