/* SPDX-License-Identifier: BSD-3-Clause */
/* One operation of a call: plan, exchange and file access, last agreement. It moves one ordered
 * access list of each rank. */
#ifndef COLLECTIVE_OP_H
#define COLLECTIVE_OP_H

#include "collective/aggregation.h"
#include "collective/file.h"

/* How the data of an operation move; the same on all ranks. */
typedef enum coll_way {
    COLL_PLANNED,     /* by the aggregators of a plan */
    COLL_MERGING,     /* the same, if they merge pieces; else independently. A write of one layer */
    COLL_INDEPENDENT, /* each rank transfers its own data, without an exchange */
    COLL_DONE         /* all ranks have done so before the first agreement, without an error */
} coll_way;

typedef struct coll_op {
    const coll_call *call; /* whose data these are */
    coll_way way;
    bool atomic;                 /* on any rank */
    bool makes_plan;             /* and does not reuse it */
    coll_slot *slot;             /* of its plan */
    const access_list *accesses; /* bytes of the stream <-> the file, ordered */
    int64_t lo, hi;              /* accessed range of the plan, over all ranks */
    int64_t piece;               /* as of aggregation_piece */
    bool widens;                 /* a new plan has a margin */
    int64_t shift;               /* byte o of the plan is byte o + shift of the file */
    coll_times time;
    double since; /* when the last stage ended */
    exchange_result result;
    int64_t moved; /* bytes of this rank's buffer that were written or read, by all operations */
} coll_op;

/* Runs the operation with a new plan, or without one. rc: this rank's status so far. The error is
 * that of all ranks. Collective. */
int coll_op_run(coll_op *op, int rc);
/* Uses the plan in the slot, or none. rc: as above; an error is passed here for an operation
 * without a plan only. Collective. */
int coll_op_transfer(coll_op *op, int rc);
/* As coll_exchange_move. The error is that of all ranks. Collective. */
int coll_op_move(coll_op *op, int64_t distance);
/* Transfers this rank's data, without an agreement. Local. */
int coll_op_run_independent(coll_op *op);

/* The rule of caches. Where those of nodes are not coherent, another node than the one that has
 * written a byte may access it only when it is in storage, and no older one in that node's cache.
 * So all ranks flush before the first agreement of a call, for what they have accessed alone, and
 * before the agreement after data were moved; and refresh after both. By whom a byte is accessed
 * next is then free: by a new plan, or by the program itself. rc: this rank's status so far.
 * Local. */
int coll_op_flush(const coll_file *file, int rc);
void coll_op_refresh(const coll_file *file);

/* Adds the time since the last stage ended. Local. */
void coll_op_end_stage(coll_op *op, double *stage);

/* Whether aggregators are left to aggregation_pays. */
bool coll_op_chooses_way(const coll_plan_settings *settings, bool write);
/* Whether each rank accesses the file itself: as hints demand, or because aggregators do not pay.
 * In atomic mode the order of ranks decides, which only an aggregator can keep. */
bool coll_op_is_independent(const coll_file *file, bool write, bool atomic,
                            const aggregation_access *access);

/* The exchange of the plan in the slot is prepared: whether an operation goes by it. */
void coll_op_settle_way(coll_op *op);
static inline bool coll_op_is_planned(const coll_op *op)
{
    return op->way == COLL_PLANNED || op->way == COLL_MERGING;
}

/* The accessed range of a further layer over all ranks; hi is 0 if no rank has data. Collective. */
int coll_op_agree_range(coll_op *op);

#endif
