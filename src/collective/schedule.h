/* SPDX-License-Identifier: BSD-3-Clause */
/* The first agreement of a call: whether it reuses a plan, and what decides on the way of its data.
 *
 * Each rank describes its access, and all agree on it in one reduction. The plans of earlier calls
 * are known by their slot, number and access only. */
#ifndef COLLECTIVE_SCHEDULE_H
#define COLLECTIVE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/fingerprint.h"
#include "collective/group.h"
#include "plan/aggregation.h"
#include "plan/trial.h"

/* Slots of plans. */
#define COLL_SLOTS 8

/* What a rank accesses in one call. */
typedef struct coll_access {
    uint64_t view;        /* number of the view */
    int64_t offset, used; /* where in the view it begins: byte `used` of the copy at `offset` */
    int64_t bytes;
    int64_t lock_unit; /* see aggregation_access */
    int64_t settings;  /* a number >= 0 that differs where this rank's settings do */
    bool atomic;
    bool is_done;      /* this rank has no data, or has transferred them already */
    bool is_described; /* the following is known */
    int64_t lo, hi;    /* accessed range; hi is 0: no data */
    access_fingerprint fingerprint;
    aggregation_access aggregation;
    int64_t layers; /* ordered lists */
} coll_access;

/* The state of one file: for which access the plan in each slot can be reused. */
typedef struct coll_schedule coll_schedule;

coll_schedule *coll_schedule_new(void); /* NULL: no memory */
void coll_schedule_free(coll_schedule *schedule);

/* Later calls may reuse the plan in a slot for this access; id and period: see tatp_plan_view.
 * Local, as all that follow but agree. */
void coll_schedule_remember(coll_schedule *schedule, size_t slot, const coll_access *access,
                            int64_t id, int64_t period);
/* No call reuses the plan in a slot; or in any. */
void coll_schedule_forget(coll_schedule *schedule, size_t slot);
void coll_schedule_forget_all(coll_schedule *schedule);
/* The slot that was used least recently, for the next plan. */
size_t coll_schedule_oldest(const coll_schedule *schedule);

/* Trials of the writing, or reading, calls that reuse the plan in a slot. */
const trial *coll_schedule_trial(const coll_schedule *schedule, size_t slot, bool write);
/* Such a call, to which its trial applies, was carried out; see trial_add. The seconds are this
 * rank's: the next agreement finds the largest, which all ranks add to the trial. */
void coll_schedule_time(coll_schedule *schedule, size_t slot, bool write, bool independent,
                        double seconds);

/* Describes an access that begins in a view as that of a plan did, so that its list is not needed;
 * false: there is none. */
bool coll_schedule_recall(const coll_schedule *schedule, coll_access *access);
/* Describes an access by its ordered lists. */
void coll_access_describe(coll_access *access, const access_list *layer, size_t layers);
/* Whether this rank's access is that of the plan in a slot, moved by a distance. */
bool coll_schedule_matches(const coll_schedule *schedule, size_t slot, const coll_access *access);

typedef struct coll_agreement {
    bool reuse; /* the plan in `slot` is reused, moved by `shift` bytes in the file */
    size_t slot;
    int64_t shift;
    int64_t lo, hi;       /* range of the first layers over all ranks; hi is 0: no rank has data */
    int64_t layers;       /* of the rank that has most */
    bool flush;           /* without reuse: the plans of all slots have to be released */
    bool settings_differ; /* between ranks */
    bool atomic;          /* on any rank */
    bool is_done;         /* on all ranks */
    aggregation_access aggregation; /* of all ranks */
} coll_agreement;

/* `access` is described unless rc is an error. kept: bytes that this rank keeps for all plans. rc:
 * this rank's status so far. Returns the largest error class over all ranks. Collective. */
int coll_schedule_agree(coll_schedule *schedule, coll_group *group, const coll_access *access,
                        int64_t kept, int rc, coll_agreement *agreement);

#endif
