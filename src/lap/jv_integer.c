/* SPDX-License-Identifier: BSD-3-Clause */
/* jv.c for integer costs. */
#define LAP_INTEGER
#include "lap/jv.c"
