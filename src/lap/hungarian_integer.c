/* SPDX-License-Identifier: BSD-3-Clause */
/* hungarian.c for integer costs. */
#define LAP_INTEGER
#include "lap/hungarian.c"
