/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of devices, as a GPU: Open MPI's copies. Local. */
#ifndef MCA_FCOLL_TATP_DEVICE_H
#define MCA_FCOLL_TATP_DEVICE_H

#include "access/memory.h"

extern const access_device tatp_device;

/* Says which component of Open MPI copies, if there is one, where verbosity asks for it. */
void tatp_device_tell(void);

#endif
