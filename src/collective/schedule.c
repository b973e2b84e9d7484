/* SPDX-License-Identifier: BSD-3-Clause */
/* Reuse of plans, which most calls of a program allow: each rank accesses what it did in an earlier
 * call, all of them moved by one distance (the next time step, most often). Then one reduction is
 * all that precedes the data.
 *
 * Programs and libraries set a view before each call, or none at all, and write several variables
 * in turn. So an access is compared by what it accesses relative to its first byte, and the last
 * few plans are kept. */
#include "collective/schedule.h"

#include <stdlib.h>
#include <string.h>

/* Bytes that plans and exchanges of a rank keep at most, before one more is made. */
#define MAX_KEPT ((int64_t)64 << 20)

typedef struct schedule_slot {
    bool is_reusable;
    int64_t id, period;
    int64_t first;      /* offset of the first byte that this rank accesses by the plan unmoved */
    uint64_t last_use;  /* the schedule's clock */
    coll_access access; /* that it was last used for */
    trial trial[2];     /* of reading, of writing */
} schedule_slot;

struct coll_schedule {
    uint64_t clock; /* counts uses */
    schedule_slot slot[COLL_SLOTS];
    trial *timed; /* of the last call, whose seconds are not agreed on; or NULL */
    bool timed_independent;
    int64_t nanoseconds;
};

coll_schedule *coll_schedule_new(void)
{
    return calloc(1, sizeof(coll_schedule));
}

void coll_schedule_free(coll_schedule *schedule)
{
    free(schedule);
}

/* ---- the slots ---- */

void coll_schedule_remember(coll_schedule *schedule, size_t slot, const coll_access *access,
                            int64_t id, int64_t period)
{
    schedule_slot *s = &schedule->slot[slot];
    if (!s->is_reusable || s->id != id) {
        s->first = access->lo;
        memset(s->trial, 0, sizeof s->trial);
    }
    s->is_reusable = !access->atomic;
    s->id = id;
    s->period = period;
    s->access = *access;
    s->last_use = ++schedule->clock;
}

void coll_schedule_forget(coll_schedule *schedule, size_t slot)
{
    schedule->slot[slot] = (schedule_slot){0};
}

void coll_schedule_forget_all(coll_schedule *schedule)
{
    for (size_t slot = 0; slot < COLL_SLOTS; slot++)
        coll_schedule_forget(schedule, slot);
}

size_t coll_schedule_oldest(const coll_schedule *schedule)
{
    size_t oldest = 0;
    for (size_t slot = 1; slot < COLL_SLOTS; slot++)
        if (schedule->slot[slot].last_use < schedule->slot[oldest].last_use)
            oldest = slot;
    return oldest;
}

/* ---- trials ---- */

const trial *coll_schedule_trial(const coll_schedule *schedule, size_t slot, bool write)
{
    return &schedule->slot[slot].trial[write];
}

void coll_schedule_time(coll_schedule *schedule, size_t slot, bool write, bool independent,
                        double seconds)
{
    schedule->timed = &schedule->slot[slot].trial[write];
    schedule->timed_independent = independent;
    schedule->nanoseconds = 1 + (int64_t)(1e9 * seconds);
}

/* The last call, with the seconds of the slowest rank. */
static void add_timed_call(coll_schedule *schedule, int64_t nanoseconds)
{
    if (schedule->timed != NULL)
        trial_add(schedule->timed, schedule->timed_independent, nanoseconds);
}

/* ---- what a rank accesses ---- */

bool coll_schedule_recall(const coll_schedule *schedule, coll_access *access)
{
    for (size_t slot = 0; slot < COLL_SLOTS; slot++) {
        const coll_access *last = &schedule->slot[slot].access;
        if (!schedule->slot[slot].is_reusable || last->view != access->view ||
            last->bytes != access->bytes || last->lock_unit != access->lock_unit ||
            (access->bytes > 0 && last->used != access->used))
            continue;
        int64_t distance = access->bytes > 0 ? access->offset - last->offset : 0;
        access->lo = last->lo + distance;
        access->hi = last->hi + distance;
        access->fingerprint = last->fingerprint;
        access->aggregation = aggregation_move(&last->aggregation, distance);
        access->layers = 1;
        access->is_described = true;
        return true;
    }
    return false;
}

void coll_access_describe(coll_access *access, const access_list *layer, size_t layers)
{
    static const access_list nothing;
    const access_list *first = layers > 0 ? layer : &nothing;
    access->lo = first->count > 0 ? access_lower(first) : 0;
    access->hi = access_upper(first);
    access->fingerprint = access_get_fingerprint(first);
    access->aggregation = aggregation_describe(first, access->lock_unit);
    access->layers = (int64_t)layers;
    access->is_described = true;
}

/* Further layers are not part of the fingerprint. */
bool coll_schedule_matches(const coll_schedule *schedule, size_t slot, const coll_access *access)
{
    const schedule_slot *s = &schedule->slot[slot];
    return s->is_reusable && !access->atomic && access->layers <= 1 &&
           s->access.bytes == access->bytes &&
           access_same_fingerprint(s->access.fingerprint, access->fingerprint);
}

/* ---- the agreement ---- */

/* What the ranks agree on, by maxima: for each slot the distances by which the plan would be moved,
 * equal on all ranks or it is not reused; whether all ranks have the same plans; the accessed range
 * (a rank without data does not lower it to 0); what decides on aggregation; the number of layers;
 * kept bytes; the time of the last call; settings, and their negative; whether data are still to be
 * transferred; atomic mode; errors. */
enum {
    FARTHEST,
    NEAREST = FARTHEST + COLL_SLOTS,
    NEWEST = NEAREST + COLL_SLOTS,
    OLDEST,
    LOW,
    HIGH,
    PIECES,
    MEAN,
    UNALIGNED,
    LOCK_UNIT,
    LAYERS,
    KEPT,
    NANOSECONDS,
    SETTINGS,
    OTHER_SETTINGS,
    WAITS,
    ATOMIC,
    ERROR,
    VALUES
};

/* Numbers of plans never repeat, and change with the slot. Those of plans that cannot be reused
 * count, too, because the next plan goes to the slot that was used least recently. */
static int64_t digest_slots(const coll_schedule *schedule)
{
    uint64_t digest = 0;
    for (size_t slot = 0; slot < COLL_SLOTS; slot++)
        digest = digest * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)schedule->slot[slot].id;
    return (int64_t)(digest >> 1);
}

static void put_access(const coll_schedule *schedule, const coll_access *access, int64_t *value)
{
    value[LAYERS] = access->layers;
    if (access->hi > 0)
        value[LOW] = -access->lo;
    value[HIGH] = access->hi;
    value[PIECES] = access->aggregation.pieces;
    value[MEAN] = -access->aggregation.mean;
    value[UNALIGNED] = access->aggregation.unaligned;
    value[LOCK_UNIT] = access->lock_unit;
    for (size_t slot = 0; slot < COLL_SLOTS; slot++) {
        int64_t distance = access->lo - schedule->slot[slot].first;
        if (!coll_schedule_matches(schedule, slot, access))
            continue;
        value[FARTHEST + slot] = access->hi > 0 ? distance : -INT64_MAX;
        value[NEAREST + slot] = access->hi > 0 ? -distance : -INT64_MAX;
    }
}

static bool allows_reuse(const coll_schedule *schedule, size_t slot, const int64_t *value)
{
    const schedule_slot *s = &schedule->slot[slot];
    int64_t distance = value[FARTHEST + slot];
    return s->is_reusable && distance == -value[NEAREST + slot] && distance % s->period == 0;
}

static coll_agreement read_agreement(const coll_schedule *schedule, const int64_t *value)
{
    bool same_plans = value[NEWEST] == -value[OLDEST];
    coll_agreement agreement = {
        .lo = -value[LOW],
        .hi = value[HIGH],
        .layers = value[LAYERS],
        .flush = !same_plans || value[KEPT] > MAX_KEPT,
        .settings_differ = value[SETTINGS] != -value[OTHER_SETTINGS],
        .atomic = value[ATOMIC],
        .is_done = !value[WAITS],
        .aggregation = {-value[LOW], value[PIECES], -value[MEAN], value[UNALIGNED],
                        value[LOCK_UNIT]},
    };
    for (size_t slot = 0; slot < COLL_SLOTS && same_plans && !agreement.reuse; slot++) {
        agreement.reuse = allows_reuse(schedule, slot, value);
        agreement.slot = slot;
        agreement.shift = agreement.reuse ? value[FARTHEST + slot] : 0;
    }
    return agreement;
}

int coll_schedule_agree(coll_schedule *schedule, coll_group *group, const coll_access *access,
                        int64_t kept, int rc, coll_agreement *agreement)
{
    int64_t digest = digest_slots(schedule);
    int64_t value[VALUES] = {
        [NEWEST] = digest,
        [OLDEST] = -digest,
        [LOW] = -ACCESS_END,
        [MEAN] = -ACCESS_END,
        [UNALIGNED] = -1,
        [KEPT] = kept,
        [NANOSECONDS] = schedule->timed != NULL ? schedule->nanoseconds : 0,
        [SETTINGS] = access->settings,
        [OTHER_SETTINGS] = -access->settings,
        [WAITS] = !access->is_done,
        [ATOMIC] = access->atomic,
        [ERROR] = group->runtime->error_class(rc),
    };
    for (size_t slot = 0; slot < COLL_SLOTS; slot++)
        value[FARTHEST + slot] = value[NEAREST + slot] = INT64_MAX;
    if (rc == 0)
        put_access(schedule, access, value);
    rc = coll_agree_max(group, value, VALUES);
    if (rc == 0)
        rc = (int)value[ERROR];
    if (rc == 0)
        add_timed_call(schedule, value[NANOSECONDS]);
    schedule->timed = NULL;
    *agreement = rc == 0 ? read_agreement(schedule, value) : (coll_agreement){0};
    return rc;
}
