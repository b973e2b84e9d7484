/* SPDX-License-Identifier: BSD-3-Clause */
/* The first agreement of a call. */
#include "collective/schedule.h"

/* Bytes that plans and exchanges of a rank keep at most, before one more is made. */
#define MAX_KEPT ((int64_t)64 << 20)

/* What the ranks agree on, by maxima: errors; for each slot the distances by which the plan would
 * be moved, equal on all ranks or it is not reused; whether all ranks have the same plans; the
 * accessed range (a rank without data does not lower it to 0); what decides on aggregation; the
 * number of layers; kept bytes; the time of the last call; settings, and their negative; whether
 * data are still to be transferred; atomic mode. */
enum {
    ERROR,
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
    VALUES
};

/* Numbers of plans never repeat, and change with the slot. Those of plans that cannot be reused
 * count, too, because the next plan goes to the slot that was used least recently. */
static int64_t digest_slots(const coll_slots *slots)
{
    uint64_t digest = 0;
    for (size_t slot = 0; slot < COLL_SLOTS; slot++)
        digest = digest * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)slots->slot[slot].plan.layout.id;
    return (int64_t)(digest >> 1);
}

static void put_access(const coll_slots *slots, const coll_access *access, int64_t *value)
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
        int64_t distance = access->lo - slots->slot[slot].first;
        if (!coll_slot_matches(&slots->slot[slot], access))
            continue;
        value[FARTHEST + slot] = access->hi > 0 ? distance : -INT64_MAX;
        value[NEAREST + slot] = access->hi > 0 ? -distance : -INT64_MAX;
    }
}

static bool allows_reuse(const coll_slots *slots, size_t slot, const int64_t *value)
{
    int64_t distance = value[FARTHEST + slot];
    return slots->slot[slot].is_reusable && distance == -value[NEAREST + slot] &&
           distance % slots->slot[slot].plan.layout.period == 0;
}

static coll_agreement read_agreement(const coll_slots *slots, const int64_t *value)
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
        agreement.reuse = allows_reuse(slots, slot, value);
        agreement.slot = slot;
        agreement.shift = agreement.reuse ? value[FARTHEST + slot] : 0;
    }
    return agreement;
}

int coll_schedule_agree(coll_slots *slots, coll_group *group, const coll_access *access, int rc,
                        coll_agreement *agreement)
{
    int64_t digest = digest_slots(slots);
    int64_t value[VALUES] = {
        [NEWEST] = digest,
        [OLDEST] = -digest,
        [LOW] = -ACCESS_END,
        [MEAN] = -ACCESS_END,
        [UNALIGNED] = -1,
        [KEPT] = slots->bytes,
        [NANOSECONDS] = slots->timed.trial != NULL ? 1 + (int64_t)(1e9 * slots->timed.seconds) : 0,
        [SETTINGS] = access->settings,
        [OTHER_SETTINGS] = -access->settings,
        [WAITS] = !access->is_done,
        [ATOMIC] = access->atomic,
    };
    for (size_t slot = 0; slot < COLL_SLOTS; slot++)
        value[FARTHEST + slot] = value[NEAREST + slot] = INT64_MAX;
    if (rc == 0)
        put_access(slots, access, value);
    rc = coll_agree_max(group, value, VALUES, rc);
    if (rc == 0 && slots->timed.trial != NULL)
        trial_add(slots->timed.trial, slots->timed.independent, value[NANOSECONDS]);
    slots->timed.trial = NULL;
    *agreement = rc == 0 ? read_agreement(slots, value) : (coll_agreement){0};
    return rc;
}
