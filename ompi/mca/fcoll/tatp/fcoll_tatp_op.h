/* SPDX-License-Identifier: BSD-3-Clause */
/* One operation of a call: plan, exchange and file access, last agreement. It moves one ordered
 * access list of each rank. */
#ifndef MCA_FCOLL_TATP_OP_H
#define MCA_FCOLL_TATP_OP_H

#include "ompi/mca/fcoll/tatp/fcoll_tatp_file.h"

#include "plan/aggregation.h"

typedef struct tatp_op {
    tatp_file *file;
    bool write;
    size_t slot;                 /* of its plan */
    bool makes_plan;             /* and does not reuse it */
    bool independent;            /* without an exchange; the same on all ranks */
    bool may_be_independent;     /* if that is faster; the same on all ranks */
    const trial *trial;          /* that has chosen `independent`; NULL: a rule has */
    bool atomic;                 /* the same on all ranks */
    bool is_done;                /* all ranks have transferred their data, without an error */
    const access_memory *memory; /* bytes of the stream <-> addresses */
    const access_list *accesses; /* bytes of the stream <-> the file, ordered */
    int64_t lo, hi;              /* accessed range of the plan, over all ranks */
    int64_t piece;               /* bytes of a piece in the mean, the least of any rank */
    int64_t shift;               /* byte o of the plan is byte o + shift of the file */
    tatp_times time;
    double end; /* of the last agreement */
    exchange_result result;
    int64_t moved; /* bytes of this rank's buffer that were written or read, by all operations */
} tatp_op;

/* With a new plan or, if it is independent, without one. rc: this rank's status so far. The error
 * is that of all ranks. Collective. */
int tatp_op_run(tatp_op *op, int rc);
/* By the plan in the slot, or independent. rc: as above; an error is passed here for an independent
 * operation only. Collective. */
int tatp_op_transfer(tatp_op *op, int rc);
/* Transfers this rank's data, without an agreement. Local. */
int tatp_op_transfer_early(tatp_op *op);

/* Whether aggregators are left to aggregation_pays. */
bool tatp_op_chooses_way(const tatp_plan_settings *settings, bool write);
/* Whether each rank accesses the file itself: as hints demand, or because aggregators do not pay.
 * In atomic mode the order of ranks decides, which only an aggregator can keep. */
bool tatp_op_is_independent(const tatp_file *file, bool write, bool atomic,
                            const aggregation_access *access);

/* Where a plan is reused, its trial chooses the way; not of a non-blocking call, whose time is that
 * of the program as well. */
void tatp_op_choose_by_trial(tatp_op *op, bool blocking);
/* Later calls may reuse the plan of the operation for this access. */
void tatp_op_remember_plan(const tatp_op *op, const coll_access *access);

/* The accessed range of a further layer over all ranks; hi is 0 if no rank has data. Collective. */
int tatp_op_agree_range(tatp_op *op);

/* Releases the plans and exchanges of all slots. */
void tatp_op_reset_slots(tatp_file *file);

#endif
