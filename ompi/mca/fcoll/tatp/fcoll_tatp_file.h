/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file: its settings, and what is kept for its next calls. */
#ifndef MCA_FCOLL_TATP_FILE_H
#define MCA_FCOLL_TATP_FILE_H

#include "fcoll_tatp.h"

#include <limits.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_device.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_hints.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_io.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_nodes.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_settings.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_stats.h"

#include "collective/exchange.h"
#include "collective/independent.h"
#include "collective/schedule.h"

struct tatp_file {
    tatp_settings agreed;        /* the same on all ranks ... */
    tatp_plan_settings settings; /* ... as is what follows from them */
    /* Rank 0's values of parameters; empty: off. */
    char record_path[PATH_MAX + 1], stats_path[PATH_MAX + 1];
    tatp_settings own; /* with this rank's hints, which may have changed */
    int64_t digest;    /* of `own` */
    tatp_hints *hints;
    int64_t aggregators; /* of the last call by a plan; 0: none yet */
    bool is_open;        /* all ranks have agreed on `error` */
    int error;           /* of the opening */
    tatp_io io;
    tatp_comm *comm;
    coll_group *group; /* its */
    tatp_view *view;
    tatp_nodes *nodes;
    bool records; /* the same on all ranks: accesses are recorded */
    coll_schedule *schedule;
    tatp_plans *plans;
    /* Of the plan in each slot: the exchange that was prepared for it, and the operations by it. */
    coll_exchange_memory *memory;
    coll_exchange *exchange[COLL_SLOTS];
    int64_t plan_ops[COLL_SLOTS];
    int64_t kept_bytes;              /* of all slots, as tatp_plans_bytes and coll_exchange_bytes */
    bool merges_nothing[COLL_SLOTS]; /* no aggregator does; the same on all ranks */
    bool was_independent[2];         /* the last call that read, or wrote; true: there was none */
    bool misjudged;                  /* this rank transferred data early, without use */
    coll_independent *independent;
    tatp_device *device; /* NULL: no buffer was in device memory yet */
    tatp_record *record;
    tatp_stats *stats;
    struct tatp_call
        *spare; /* for the next non-blocking call: others wait for it even without memory */
};

/* What this rank's program has set since the last call. Local. */
void tatp_file_take_hints(tatp_file *file);
/* After an agreement in which all ranks had the same settings or not. *reuse, where true, is the
 * same on all ranks before and after. Collective where ranks differ. */
int tatp_file_renew_settings(tatp_file *file, bool differ, bool *reuse);
/* The settings of all ranks, for MPI_File_get_info. Local. */
void tatp_file_publish_hints(tatp_file *file);

#endif
