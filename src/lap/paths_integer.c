/* SPDX-License-Identifier: BSD-3-Clause */
/* paths.c for integer costs. */
#define LAP_INTEGER
#include "lap/paths.c"
