/* SPDX-License-Identifier: BSD-3-Clause */
/* Halves of nodes. */
#include <stdint.h>
#include <string.h>

#include "seeded.h"
#include "setmatch/halves.h"
#include "suite.h"

enum { MOST_NODES = 9 };

typedef struct instance {
    struct base_arena arena;
    size_t slots[MOST_NODES], nodes;
    site site;
    halves h;
} instance;

static void begin_instance(instance *c, size_t nodes)
{
    c->nodes = nodes;
    c->arena = (struct base_arena){0};
    ck_assert_int_eq(site_init(&c->site, c->slots, nodes), 0);
    ck_assert_int_eq(halves_init(&c->h, &c->arena, &c->site), 0);
}

static void draw_instance(instance *c, size_t least, uint64_t *seed)
{
    size_t nodes = (size_t)pick(seed, 2, MOST_NODES);
    for (size_t n = 0; n < nodes; n++)
        c->slots[n] = (size_t)pick(seed, (int64_t)least, 12);
    begin_instance(c, nodes);
}

static void release_instance(instance *c)
{
    base_arena_release(&c->arena);
    site_release(&c->site);
}

/* Both halves have nodes, the largest first, and all nodes are there. */
static void check_halves(const instance *c, size_t middle)
{
    unsigned found = 0;
    ck_assert(middle > 0 && middle < c->nodes);
    for (size_t k = 0; k < c->nodes; k++) {
        found |= 1U << c->h.order[k];
        if (k > 0 && k != middle)
            ck_assert_uint_le(c->slots[c->h.order[k]], c->slots[c->h.order[k - 1]]);
    }
    ck_assert_uint_eq(found, (1U << c->nodes) - 1);
}

START_TEST(each_variant_divides_all_nodes)
{
    uint64_t seed = first_seed();
    instance c;
    for (size_t k = 0; k < random_cases(600); k++) {
        draw_instance(&c, k % 2 != 0 ? 1 : 12, &seed);
        check_halves(&c, halves_divide(&c.h, 0, c.nodes, k));
        release_instance(&c);
    }
}
END_TEST

/* 27 nodes would be 9 and 18; 9 are 3 and 6. */
START_TEST(by_factors)
{
    instance c;
    for (size_t n = 0; n < 9; n++)
        c.slots[n] = 4;
    begin_instance(&c, 9);
    ck_assert_uint_eq(halves_divide(&c.h, 0, 9, 0), 4);
    ck_assert_uint_eq(halves_divide(&c.h, 0, 9, 1), 3);
    ck_assert_uint_eq(halves_divide(&c.h, 0, 9, 2), 3);
    ck_assert_uint_eq(halves_slots(&c.h, 0, 3), 12);
    release_instance(&c);
}
END_TEST

/* By how much the first half misses the ranks, where free slots are shared. */
static int64_t error_of(int64_t slots, const uint64_t ranks[2], int64_t all)
{
    int64_t free = all - (int64_t)(ranks[0] + ranks[1]);
    int64_t error = 2 * (slots - (int64_t)ranks[0]) - free;
    return error < 0 ? -error : error;
}

/* The least of all halves. */
static int64_t least_error(const instance *c, const uint64_t ranks[2], int64_t all)
{
    int64_t least = INT64_MAX;
    for (unsigned half = 1; half + 1 < 1U << c->nodes; half++) {
        int64_t slots = 0;
        for (size_t n = 0; n < c->nodes; n++)
            slots += (half >> n & 1) != 0 ? (int64_t)c->slots[n] : 0;
        int64_t error = error_of(slots, ranks, all);
        least = error < least ? error : least;
    }
    return least;
}

/* Draws are few, but come near: within a slot of the least error in the mean. */
START_TEST(halves_for_ranks)
{
    enum { CASES = 1000 };
    uint64_t seed = first_seed();
    int64_t beyond = 0;
    instance c;
    for (size_t k = 0; k < random_cases(CASES); k++) {
        draw_instance(&c, 1, &seed);
        int64_t all = (int64_t)halves_slots(&c.h, 0, c.nodes);
        int64_t total = pick(&seed, (int64_t)c.slots[c.site.by_size[0]], all);
        uint64_t first = (uint64_t)pick(&seed, total / 5, total - total / 5);
        const uint64_t ranks[2] = {first, (uint64_t)total - first};
        size_t middle = halves_divide_for(&c.h, 0, c.nodes, ranks, k);
        check_halves(&c, middle);
        int64_t error = error_of((int64_t)halves_slots(&c.h, 0, middle), ranks, all);
        beyond += error - least_error(&c, ranks, all);
        release_instance(&c);
    }
    ck_assert_int_le(beyond, 2 * (int64_t)random_cases(CASES));
}
END_TEST

/* Of a node with any number of slots no more count than there are ranks. */
START_TEST(slots_beyond_any_sum)
{
    instance c = {.slots = {SIZE_MAX, SIZE_MAX, 3, SIZE_MAX, 2}};
    const uint64_t ranks[2] = {5, 4};
    begin_instance(&c, 5);
    ck_assert_uint_eq(halves_slots(&c.h, 0, 5), UINT64_MAX);
    check_halves(&c, halves_divide_for(&c.h, 0, 5, ranks, 3));
    release_instance(&c);
}
END_TEST

int main(void)
{
    return run_tests("halves", each_variant_divides_all_nodes, by_factors, halves_for_ranks,
                     slots_beyond_any_sum);
}
