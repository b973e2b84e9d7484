/* SPDX-License-Identifier: BSD-3-Clause */
/* Stand-in for a header that Open MPI's timer.h includes and no release installs. */
#ifndef TATP_COMPAT_TIMER_LINUX_H
#define TATP_COMPAT_TIMER_LINUX_H

#include "opal/sys/timer.h"

#endif
