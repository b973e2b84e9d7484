/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots of a file: plans, and the accesses that they can be reused for. */
#include "collective/slot.h"

#include <string.h>

static void forget_access(coll_slot *slot)
{
    slot->is_reusable = false;
    slot->last_use = 0;
}

void coll_slot_reset(coll_slot *slot, const coll_observers *observers)
{
    coll_observers_settle(observers, slot->observed, true);
    forget_access(slot);
    slot->ops = 0;
    coll_exchange_reset(slot->exchange);
    coll_plan_reset(&slot->plan);
}

void coll_slots_reset(coll_slots *slots, const coll_observers *observers)
{
    for (coll_slot *s = slots->slot; s < slots->slot + COLL_SLOTS; s++)
        coll_slot_reset(s, observers);
}

void coll_slots_count_bytes(coll_slots *slots)
{
    slots->bytes = 0;
    for (const coll_slot *s = slots->slot; s < slots->slot + COLL_SLOTS; s++)
        slots->bytes += coll_plan_bytes(&s->plan) + coll_exchange_bytes(s->exchange);
}

coll_slot *coll_slots_oldest(coll_slots *slots)
{
    coll_slot *oldest = slots->slot;
    for (coll_slot *s = slots->slot + 1; s < slots->slot + COLL_SLOTS; s++)
        if (s->last_use < oldest->last_use)
            oldest = s;
    return oldest;
}

/* ---- accesses ---- */

void coll_slots_remember(coll_slots *slots, coll_slot *slot, const coll_access *access)
{
    if (!slot->is_reusable)
        slot->first = access->lo;
    slot->is_reusable = !access->atomic;
    slot->access = *access;
    slot->last_use = ++slots->uses;
}

void coll_slots_forget(coll_slots *slots)
{
    for (size_t i = 0; i < COLL_SLOTS; i++)
        forget_access(&slots->slot[i]);
}

bool coll_slots_recall(const coll_slots *slots, coll_access *access)
{
    for (const coll_slot *s = slots->slot; s < slots->slot + COLL_SLOTS; s++) {
        const coll_access *last = &s->access;
        if (!s->is_reusable || memcmp(&last->view, &access->view, sizeof last->view) != 0 ||
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

void coll_access_describe(coll_access *access, const coll_layers *layers)
{
    const access_list *first = coll_layers_at(layers, 0);
    access->lo = first->count > 0 ? access_lower(first) : 0;
    access->hi = access_upper(first);
    access->fingerprint = access_get_fingerprint(first);
    access->aggregation = aggregation_describe(first, access->lock_unit);
    access->layers = (int64_t)layers->count;
    access->is_described = true;
}

/* Further layers are not part of the fingerprint. */
bool coll_slot_matches(const coll_slot *slot, const coll_access *access)
{
    return slot->is_reusable && !access->atomic && access->layers <= 1 &&
           slot->access.bytes == access->bytes &&
           access_same_fingerprint(slot->access.fingerprint, access->fingerprint);
}

/* ---- the first agreement of a call ---- */

/* Bytes that plans and exchanges of a rank keep at most, before one more is made. */
#define MAX_KEPT ((int64_t)64 << 20)

/* What the ranks agree on, by maxima: errors; for each slot the distances by which the plan would
 * be moved, equal on all ranks or it is not reused; whether all ranks have the same plans; the
 * accessed range (a rank without data does not lower it to 0); what decides on aggregation; the
 * number of layers; kept bytes; settings, and their negative; whether data are still to be
 * transferred; atomic mode. */
enum {
    ERROR,
    FARTHEST,
    NEAREST = FARTHEST + COLL_SLOTS,
    NEWEST = NEAREST + COLL_SLOTS,
    OLDEST,
    LOW,
    HIGH,
    PIECES,
    BYTES,
    UNALIGNED,
    LOCK_UNIT,
    LAYERS,
    KEPT,
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
    value[BYTES] = access->aggregation.bytes;
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

static bool is_moved(const coll_slots *slots, size_t slot, const int64_t *value)
{
    return slots->slot[slot].is_reusable && value[FARTHEST + slot] == -value[NEAREST + slot];
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
        .aggregation = {-value[LOW], value[PIECES], value[BYTES], value[UNALIGNED],
                        value[LOCK_UNIT]},
    };
    for (size_t i = 0; i < COLL_SLOTS && same_plans && !agreement.reuse; i++) {
        const coll_plan *plan = &slots->slot[i].plan;
        if (!is_moved(slots, i, value))
            continue;
        agreement.slot = i;
        agreement.shift = value[FARTHEST + i];
        agreement.reuse = agreement.shift % plan->layout.period == 0;
        const plan_draft *draft = &plan->draft;
        agreement.widens = !agreement.reuse &&
                           (draft->division.domains.stripe > 0 || draft->kind == DIVISION_EVEN);
    }
    return agreement;
}

int coll_slots_agree(coll_slots *slots, coll_group *group, const coll_access *access, int rc,
                     coll_agreement *agreement)
{
    int64_t digest = digest_slots(slots);
    int64_t value[VALUES] = {
        [NEWEST] = digest,
        [OLDEST] = -digest,
        [LOW] = -ACCESS_END,
        [UNALIGNED] = -1,
        [KEPT] = slots->bytes,
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
    *agreement = rc == 0 ? read_agreement(slots, value) : (coll_agreement){0};
    return rc;
}
