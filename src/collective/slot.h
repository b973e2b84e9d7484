/* SPDX-License-Identifier: BSD-3-Clause */
/* What a file keeps for repeated calls: in each slot a plan, what was prepared for it, and for
 * which access it can be reused. Most calls of a program do what an earlier one did, moved by one
 * distance for all ranks (the next time step, most often). Programs and libraries set a view before
 * each call, or none at all, and write several variables in turn. So an access is compared by what
 * it accesses relative to its first byte, and the last few plans are kept.
 *
 * All ranks have the same plans in the same slots. All functions but the last are local. */
#ifndef COLLECTIVE_SLOT_H
#define COLLECTIVE_SLOT_H

#include "access/list.h"
#include "collective/aggregation.h"
#include "collective/exchange.h"
#include "collective/observer.h"
#include "collective/plan.h"
#include "collective/view.h"

/* What a rank accesses in one call. */
typedef struct coll_access {
    coll_view_id view;
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

void coll_access_describe(coll_access *access, const coll_layers *layers);

typedef struct coll_slot {
    coll_plan plan;
    coll_exchange *exchange;        /* prepared for the plan */
    int64_t ops;                    /* operations by the plan */
    bool merges_nothing;            /* no aggregator does; the same on all ranks */
    void *observed[COLL_OBSERVERS]; /* by the observers of the file */
    /* The rest says for which accesses the plan can be reused. */
    bool is_reusable;
    int64_t first;      /* offset of the first byte that this rank accesses by the plan unmoved */
    uint64_t last_use;  /* 0: none */
    coll_access access; /* that it was last used for */
} coll_slot;

/* The slots of a file. */
typedef struct coll_slots {
    coll_slot slot[COLL_SLOTS];
    uint64_t uses;
    int64_t bytes; /* that plans and exchanges keep, as far as they grow with the number of runs */
} coll_slots;

/* Releases the plan, what was prepared for it, and what is known of it. */
void coll_slot_reset(coll_slot *slot, const coll_observers *observers);
void coll_slots_reset(coll_slots *slots, const coll_observers *observers);
void coll_slots_count_bytes(coll_slots *slots);
/* The slot that was used least recently, for the next plan. */
coll_slot *coll_slots_oldest(coll_slots *slots);

/* Later calls may reuse the plan for this access. */
void coll_slots_remember(coll_slots *slots, coll_slot *slot, const coll_access *access);
/* No call reuses any of the plans. */
void coll_slots_forget(coll_slots *slots);
/* Describes an access that begins in a view as that of a plan did, so that its list is not needed;
 * false: there is none. */
bool coll_slots_recall(const coll_slots *slots, coll_access *access);
/* Whether this rank's access is that of the plan, moved by a distance. */
bool coll_slot_matches(const coll_slot *slot, const coll_access *access);

/* ---- the first agreement of a call: whether it reuses a plan, and the way of its data ---- */

typedef struct coll_agreement {
    bool reuse;  /* the plan in `slot` is reused, moved by `shift` bytes in the file */
    bool widens; /* a plan with a margin replaces the one in `slot`, which suits but for stripes, as
                    far as division_may_widen */
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

/* `access` is described unless rc is an error. rc: this rank's status so far. Returns the largest
 * error class over all ranks. Collective. */
int coll_slots_agree(coll_slots *slots, coll_group *group, const coll_access *access, int rc,
                     coll_agreement *agreement);

#endif
