/* SPDX-License-Identifier: BSD-3-Clause */
/* How ranges are divided into domains, and domains into cycles. */
#include "plan/division.h"
#include "seeded.h"
#include "suite.h"

enum { CASES = 2000, MiB = 1 << 20, KiB = 1 << 10 };

static uint64_t state;

static int64_t below(int64_t n)
{
    return pick(&state, 0, n - 1);
}

static bool is_allowed(int64_t aggregators, int64_t targets)
{
    return targets == 0 || aggregators % targets == 0 || targets % aggregators == 0;
}

START_TEST(aggregators_share_targets_evenly)
{
    for (int64_t targets = 0; targets <= 40; targets++) {
        for (int64_t wanted = 1; wanted <= 130; wanted++) {
            int64_t largest = wanted;
            while (!is_allowed(largest, targets))
                largest--;
            ck_assert_int_eq(division_allowed_aggregators(wanted, targets), largest);
        }
    }
}
END_TEST

START_TEST(stripes_of_a_target_belong_together)
{
    const struct {
        division_kind kind;
        int64_t targets;
        bool striped;
    } expected[] = {{DIVISION_AUTO, 0, false},  {DIVISION_AUTO, 1, false},
                    {DIVISION_AUTO, 2, true},   {DIVISION_FITTED, 1, false},
                    {DIVISION_FITTED, 2, true}, {DIVISION_STRIPE, 0, false},
                    {DIVISION_STRIPE, 1, true}, {DIVISION_EVEN, 9, false}};
    for (size_t i = 0; i < LENGTH(expected); i++) {
        const division_settings settings = {
            .kind = expected[i].kind, .stripe = 100, .targets = expected[i].targets};
        ck_assert_int_eq(division_is_striped(&settings), expected[i].striped);
    }
}
END_TEST

static int64_t model_count(const division_settings *s, int64_t lo, int64_t hi)
{
    int64_t count = 0;
    for (int64_t c = s->nodes; c <= s->capacity && c <= (hi - lo) / MiB; c += s->nodes)
        count = c;
    for (int64_t c = 1; count < 1 || (count < s->nodes && count * 64 * KiB < hi - lo); c++)
        count = c;
    while (s->stripe > 0 && (lo / s->stripe + count - 1) * s->stripe >= hi)
        count--;
    while (!is_allowed(count, s->targets))
        count--;
    return count;
}

START_TEST(as_many_domains_as_are_worthwhile)
{
    for_random_seeds (seed, CASES) {
        state = seed;
        division_settings s = {.nodes = 1 + below(9)};
        s.capacity = s.nodes + below(5) * below(30);
        if (below(2) > 0) {
            s.stripe = 1 + below(2) * below(4 * MiB) + below(4) * MiB;
            s.targets = below(6);
        }
        int64_t lo = below(100 * MiB), unit = 64 * KiB << 4 * below(2);
        int64_t hi =
            lo + (below(2) > 0 ? 1 + below(40 * MiB) : (1 + below(40)) * unit + below(3) - 1);
        if (s.stripe > 0 && below(2) > 0)
            hi = (lo / s.stripe + 2 + below(9)) * s.stripe + below(3) - 1;
        ck_assert_msg(division_count(&s, lo, hi) == (size_t)model_count(&s, lo, hi), "seed %llu",
                      (unsigned long long)seed);
    }
    const division_settings largest = {.capacity = 16}, wanted = {.aggregators = 7, .capacity = 1};
    ck_assert_uint_eq(division_count(&largest, 0, INT64_MAX), 16);
    ck_assert_uint_eq(division_count(&wanted, 0, 1), 7);
}
END_TEST

START_TEST(as_many_domains_as_ranks_of_nodes_can_copy)
{
    for_random_seeds (seed, CASES) {
        size_t ranks_on_node[300], used = 0;
        int64_t expected = 0;
        state = seed;
        size_t nodes = (size_t)below(300 >> below(8)),
               most = 1 + (size_t)below(below(2) ? 9 : 1100);
        for (size_t n = 0; n < nodes; n++)
            used += (ranks_on_node[n] = (size_t)below((int64_t)most)) > 0;
        for (size_t n = 0; n < nodes; n++) {
            size_t ranks = ranks_on_node[n], own = ranks / 2;
            own = used > 0 && own > 256 / used ? 256 / used : own;
            expected += (int64_t)(ranks < 4 ? ranks : own > 4 ? own : 4);
        }
        ck_assert_int_eq(division_chosen_capacity(ranks_on_node, nodes), expected);
    }
}
END_TEST

START_TEST(aggregators_of_a_node_share_memory)
{
    ck_assert_int_eq(division_buffer(32 * MiB, 1, 4), 32 * MiB);
    ck_assert_int_eq(division_buffer(32 * MiB, 16, 4), 32 * MiB);
    ck_assert_int_eq(division_buffer(32 * MiB, 17, 4), 32 * MiB / 5 * 4);
    ck_assert_int_eq(division_buffer(32 * MiB, 64, 4), 8 * MiB);
    ck_assert_int_eq(division_buffer(32 * MiB, 256, 1), 512 * KiB);
    ck_assert_int_eq(division_buffer(INT64_MAX, 64, 4), INT64_MAX / 16 * 4);
}
END_TEST

/* Small ranges, so that bytes can be looked at one by one. */
static division_settings random_settings(void)
{
    division_settings settings = {
        .kind = (division_kind)below(4), .aggregators = 1 + below(9), .capacity = 1};
    if (below(3) > 0) {
        settings.stripe = 1 + below(30);
        settings.targets = below(6);
    }
    settings.aggregators = division_allowed_aggregators(settings.aggregators, settings.targets);
    return settings;
}

static void check_domains(const division_settings *settings, const division *d)
{
    const file_domains *domains = &d->domains;
    int64_t covered = 0, first = 0, unit = settings->stripe;
    size_t near = 0;
    unit = unit > 0 ? unit : 1; /* small domains */
    ck_assert_uint_eq(domains->count, division_count(settings, domains->lo, domains->hi));
    for (int64_t at = domains->lo; at < domains->hi;) {
        domain_range range = domains_range_at(domains, at, &near);
        ck_assert_int_eq(range.lo, at);
        ck_assert_uint_lt(range.domain, domains->count);
        ck_assert(settings->stripe == 0 || at == domains->lo || at % settings->stripe == 0);
        if (division_is_striped(settings))
            ck_assert_uint_eq(range.domain, (size_t)(at / settings->stripe) % domains->count);
        else
            ck_assert(range.hi == domains->hi ||
                      domains_range_at(domains, range.hi, &near).domain == range.domain + 1);
        covered += range.hi - range.lo;
        at = range.hi;
        int64_t own = (at - 1) / unit - range.lo / unit + 1;
        ck_assert(division_is_striped(settings) || own == first || own == first - 1 ||
                  range.lo == domains->lo);
        first = range.lo == domains->lo ? own : first;
    }
    ck_assert_int_eq(covered, domains->hi - domains->lo);
}

/* Moved by the period, the same rules give the same domains again, striped ones in turn. Small
 * domains are not aligned to pages. */
START_TEST(domains_keep_stripes_whole_and_repeat)
{
    for_random_seeds (seed, CASES) {
        state = seed;
        const division_settings settings = random_settings();
        int64_t lo = below(500), hi = lo + 1 + below(500);
        division first, later;
        ck_assert_int_eq(division_make(&settings, lo, hi, &first), 0);
        check_domains(&settings, &first);
        int64_t shift = first.period * below(5);
        size_t near_first = 0, near_later = 0, count = first.domains.count;
        size_t turn = division_is_striped(&settings) ? (size_t)(shift / settings.stripe) : 0;
        bool same = true;
        ck_assert_int_eq(division_make(&settings, lo + shift, hi + shift, &later), 0);
        for (int64_t at = lo; at < hi; at++) {
            domain_range a = domains_range_at(&first.domains, at, &near_first);
            domain_range b = domains_range_at(&later.domains, at + shift, &near_later);
            same &= (a.domain + turn) % count == b.domain && a.lo + shift == b.lo &&
                    a.position == b.position;
        }
        ck_assert_msg(same, "seed %llu", (unsigned long long)seed);
        division_release(&first);
        division_release(&later);
        ck_assert_int_eq(later.period, 0);
    }
}
END_TEST

/* ---- cycles ---- */

static int64_t cycle_size(int64_t largest, division_cycles cycles)
{
    int64_t size[] = {largest / 2, largest, 0};
    const file_domains domains = {.count = 3, .size = size};
    int64_t result = division_cycle_size(&domains, &cycles);
    int64_t count = division_num_cycles(&domains, result);
    ck_assert_int_ge(result, 1);
    ck_assert(count * result >= largest && (count == 1 || (count - 1) * result < largest));
    return result;
}

/* The largest cycle that is allowed. */
static int64_t model_most(const division_cycles *c)
{
    int64_t parts = c->parts < 16 ? c->parts : 16, part = c->buffer / c->in_flight;
    int64_t most = c->wanted > 0 ? c->wanted : parts * c->message;
    most = most > 256 * KiB ? most : 256 * KiB;
    most = most > c->stripe ? most : c->stripe;
    most = most < part ? most : part;
    return most > 0 ? most : 1;
}

START_TEST(cycles_keep_the_buffer_and_whole_stripes)
{
    for_random_seeds (seed, CASES) {
        state = seed;
        const division_cycles cycles = {
            .buffer = 1 + below(4) * below(4 * MiB),
            .in_flight = 1 + below(4),
            .stripe = below(2) * (1 + below(2 * MiB)),
            .wanted = below(2) * below(6 * MiB),
            .message = 63 * KiB,
            .parts = 1 + below(30),
        };
        int64_t largest = 1 + below(2) * below(20 * MiB) + below(600 * KiB);
        int64_t size = cycle_size(largest, cycles), most = model_most(&cycles);
        bool is_whole = cycles.stripe > 0 && cycles.stripe <= most;
        int64_t unit = is_whole ? cycles.stripe : 4096,
                usable = is_whole ? most - most % unit : most;
        int64_t fewest = (largest - 1) / usable + 1;
        ck_assert_int_le(size, most);
        ck_assert_int_le((largest - 1) / size + 1, fewest);
        ck_assert_int_lt(size, (largest - 1) / fewest + 1 + unit);
        ck_assert(!is_whole || size % unit == 0 || (size == largest && size < unit));
    }
    const division_cycles most = {
        .buffer = INT64_MAX, .in_flight = 1, .message = INT64_C(1) << 58, .parts = INT64_MAX};
    ck_assert_int_eq(cycle_size(INT64_C(1) << 62, most), INT64_C(1) << 62);
}
END_TEST

int main(void)
{
    return run_tests(
        "division", ONCE(aggregators_share_targets_evenly),
        ONCE(stripes_of_a_target_belong_together), ONCE(as_many_domains_as_are_worthwhile),
        ONCE(as_many_domains_as_ranks_of_nodes_can_copy), ONCE(aggregators_of_a_node_share_memory),
        ONCE(domains_keep_stripes_whole_and_repeat),
        ONCE(cycles_keep_the_buffer_and_whole_stripes));
}
