/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file: what src/collective has of it, and what it needs of Open MPI. */
#ifndef MCA_FCOLL_TATP_FILE_H
#define MCA_FCOLL_TATP_FILE_H

#include "fcoll_tatp.h"

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_hints.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_io.h"

#include "collective/collective.h"

struct tatp_file {
    mca_fcoll_base_module_t super; /* f_fcoll points at it */
    struct tatp_file *next;
    coll_file *file; /* NULL if memory is exhausted */
    tatp_io io;
    tatp_comm comm;
    tatp_hints hints;
    tatp_view view;
    struct tatp_call
        *spare; /* for the next non-blocking call: others wait for it even without memory */
};

#endif
