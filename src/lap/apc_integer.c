/* SPDX-License-Identifier: BSD-3-Clause */
/* apc.c for integer costs. */
#define LAP_INTEGER
#include "lap/apc.c"
