/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file: its settings, and what is kept for its next calls. */
#ifndef COLLECTIVE_FILE_H
#define COLLECTIVE_FILE_H

#include <limits.h>

#include "collective/collective.h"
#include "collective/independent.h"
#include "collective/nodes.h"
#include "collective/record.h"
#include "collective/schedule.h"

struct coll_file {
    coll_settings agreed;        /* the same on all ranks ... */
    coll_plan_settings settings; /* ... as is what follows from them */
    /* Rank 0's values of parameters; empty: off. */
    char record_path[PATH_MAX + 1], stats_path[PATH_MAX + 1];
    coll_settings own;   /* with this rank's hints, which may have changed */
    int64_t digest;      /* of `own` */
    int64_t aggregators; /* of the last call by a plan; 0: none yet */
    bool has_started;    /* all ranks have agreed on `error` */
    int error;           /* of the opening */
    coll_handle handle;
    coll_facts facts;
    coll_group group;
    coll_nodes *nodes;
    bool records;       /* the same on all ranks: accesses are recorded */
    int64_t *broadcast; /* of plans */
    coll_exchange_memory *memory;
    coll_slots slots;
    bool was_independent[2]; /* the last call that read, or wrote; true: there was none */
    bool misjudged;          /* this rank transferred data early, without use */
    coll_independent *independent;
    coll_observers observers;
    coll_record *record;
    coll_stats *stats;
};

/* What this rank's program has set since the last call. Local. */
void coll_file_take_hints(coll_file *file);
/* After an agreement in which all ranks had the same settings or not. *reuse, where true, is the
 * same on all ranks before and after. Collective where ranks differ. */
int coll_file_renew_settings(coll_file *file, bool differ, bool *reuse);
/* The settings of all ranks, for MPI_File_get_info. Local. */
void coll_file_publish_hints(coll_file *file);

#endif
