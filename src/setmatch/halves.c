/* SPDX-License-Identifier: BSD-3-Clause */
/* Halves of nodes, for bisection. */
#include "setmatch/halves.h"

#include <errno.h>
#include <string.h>

#include "base/mix.h"

int halves_init(halves *h, struct base_arena *arena, const allocation *s)
{
    h->slots = s->slots;
    h->order = base_arena_alloc(arena, s->nodes, sizeof *h->order);
    h->moved = base_arena_alloc(arena, s->nodes, sizeof *h->moved);
    h->is_first = base_arena_alloc(arena, s->nodes, sizeof *h->is_first);
    if (arena->failed)
        return -ENOMEM;
    memcpy(h->order, s->by_size, s->nodes * sizeof *h->order);
    return 0;
}

uint64_t halves_slots(const halves *h, size_t first, size_t end)
{
    uint64_t slots = 0;
    for (size_t k = first; k < end; k++)
        if (__builtin_add_overflow(slots, h->slots[h->order[k]], &slots))
            return UINT64_MAX;
    return slots;
}

/* Moves the nodes of the first half to the front. */
static size_t move_half(halves *h, size_t first, size_t end)
{
    size_t kept = first, moved = first;
    for (size_t k = first; k < end; k++)
        if (h->is_first[k])
            h->order[kept++] = h->order[k];
        else
            h->moved[moved++] = h->order[k];
    memcpy(h->order + kept, h->moved + first, (moved - first) * sizeof *h->moved);
    return kept;
}

/* ---- by number or slots ---- */

/* The least prime factor of n > 1; or the greatest. */
static size_t prime_factor(size_t n, bool greatest)
{
    for (size_t factor = 2; factor * factor <= n; factor++) {
        if (n % factor != 0)
            continue;
        if (!greatest)
            return factor;
        for (; n % factor == 0 && n > factor; n /= factor)
            ;
    }
    return n;
}

/* Groups of equal numbers of nodes, as many as a prime factor of their number, stay whole: 27 nodes
 * are divided into 9 and 18. */
static size_t divide_by_factor(size_t first, size_t end, bool greatest)
{
    size_t factor = prime_factor(end - first, greatest);
    return first + (end - first) / factor * (factor / 2);
}

/* Nodes with half the slots, the largest first. */
static size_t divide_by_slots(const halves *h, size_t first, size_t end)
{
    uint64_t half = halves_slots(h, first, end) / 2, slots = h->slots[h->order[first]];
    size_t middle = first + 1;
    while (middle + 1 < end && slots + h->slots[h->order[middle]] / 2 < half)
        slots += h->slots[h->order[middle++]];
    return middle;
}

/* Half of the nodes at random. */
static size_t divide_at_random(halves *h, size_t first, size_t end, size_t seed)
{
    size_t wanted = (end - first) / 2;
    for (size_t k = first; k < end; k++) {
        h->is_first[k] = base_mix(seed ^ (uint64_t)k << 32) % (end - k) < wanted;
        wanted -= h->is_first[k];
    }
    return move_half(h, first, end);
}

size_t halves_divide(halves *h, size_t first, size_t end, variant v)
{
    bool even = h->slots[h->order[first]] == h->slots[h->order[end - 1]];
    if (v.halves == AT_MIDDLE)
        return first + (end - first) / 2;
    if (even)
        return divide_by_factor(first, end, v.halves == BY_GREATEST_FACTOR);
    return v.halves == BY_LEAST_FACTOR ? divide_by_slots(h, first, end)
                                       : divide_at_random(h, first, end, v.seed);
}
