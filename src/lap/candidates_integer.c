/* SPDX-License-Identifier: BSD-3-Clause */
/* candidates.c for integer costs. */
#define LAP_INTEGER
#include "lap/candidates.c"
