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
    coll_exchange_reset(slot->exchange);
    coll_plan_reset(&slot->plan);
    coll_observers_settle(observers, slot->observed, true);
    slot->ops = 0;
    forget_access(slot);
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
    if (!slot->is_reusable) {
        slot->first = access->lo;
        memset(slot->trial, 0, sizeof slot->trial);
    }
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
        if (!s->is_reusable || last->view != access->view || last->bytes != access->bytes ||
            last->lock_unit != access->lock_unit ||
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
