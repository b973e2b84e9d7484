/* SPDX-License-Identifier: BSD-3-Clause */
/* aps.c for integer costs. */
#define LAP_INTEGER
#include "lap/aps.c"
