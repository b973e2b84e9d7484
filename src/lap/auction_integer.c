/* SPDX-License-Identifier: BSD-3-Clause */
/* auction.c for integer costs. */
#define LAP_INTEGER
#include "lap/auction.c"
