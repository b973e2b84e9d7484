/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of src/exchange for what the simulation (tests/simulate) does not cover: where bundles
 * pay, and the largest offsets. */
#include "exchange/exchange.h"
#include "exchange/bundle.h"

#include "suite.h"

START_TEST(bundles_that_pay)
{
    const int64_t largest = 63 * 1024, many = 1000000, whole = INT64_MAX;
    ck_assert(!exchange_bundle_pays(0, 0, whole, many, largest));
    ck_assert(!exchange_bundle_pays(1, 64, whole, many, largest));
    ck_assert(exchange_bundle_pays(2, 2, whole, many, largest));
    ck_assert(exchange_bundle_pays(2, 2 * 15 * 1024, whole, many, largest));
    ck_assert(!exchange_bundle_pays(2, 2 * 17 * 1024, whole, many, largest));
    ck_assert(exchange_bundle_pays(32, 32 * 4096, whole, many, largest));
    ck_assert(!exchange_bundle_pays(32, 32 * 17 * 1024, whole, many, 1 << 20));
    ck_assert(!exchange_bundle_pays(2, 2 * 300, whole, many, 1024));
    ck_assert(!exchange_bundle_pays(1, 64, whole, 1, largest));
    ck_assert(!exchange_bundle_pays(2, 2, whole, 0, largest));
    ck_assert(exchange_bundle_pays(4, 4 * 256 * 1024, whole, 1, largest));
    ck_assert(!exchange_bundle_pays(4, 4 * 257 * 1024, whole, 1, largest));
    ck_assert(exchange_bundle_pays(4, 4 * 64 * 1024, whole, 4, largest));
    ck_assert(!exchange_bundle_pays(4, 4 * 64 * 1024, whole, 5, largest));
    ck_assert(!exchange_bundle_pays(2, 2 * 1024, 16, many, largest));
    ck_assert(exchange_bundle_pays(2, 2 * 928, 16, many, largest));
    ck_assert(exchange_bundle_pays(2, 2 * 15 * 1024, 4096, many, largest));
}
END_TEST

static int note_offsets(void *context, const access_extent *extent, size_t count)
{
    int64_t **next = context;
    for (size_t i = 0; i < count; i++)
        *(*next)++ = extent[i].offset;
    return 0;
}

/* Of one rank, which sends no message. The end of the last cycle is beyond int64; with cycles of
 * one byte, the numbers of the cycles of three runs are. */
START_TEST(last_byte_of_the_largest_domain)
{
    static const int64_t offset[] = {0, INT64_MAX - 1}, cycle_size[] = {63, 1};
    static const exchange_transport transport = {0};
    int64_t written[2], *next;
    char data[2] = "";
    file_domains domains;
    access_list list = {0};
    access_memory memory = {0};
    exchange_result result;
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(access_append(&list, offset[i], 1, i), 0);
    ck_assert_int_eq(domains_even(&domains, 0, INT64_MAX, 1, 1), 0);
    ck_assert_int_eq(access_append_memory(&memory.list, data, sizeof data), 0);
    const exchange_store store = {.context = &next, .write = note_offsets};
    const exchange_target target = {.list = &list};
    const exchange_contributor contributor = {.list = list};
    const exchange_task task = {.layout.cycle_size = cycle_size[_i],
                                .layout.num_cycles = (INT64_MAX - 1) / cycle_size[_i] + 1,
                                .layout.message_size = 20,
                                .layout.domains = &domains,
                                .targets = 1,
                                .contributors = 1,
                                .target = &target,
                                .contributor = &contributor};
    const exchange_run run = {
        .write = true, .memory = &memory, .transport = &transport, .store = &store};
    exchange *ex = exchange_new(&task);
    exchange_buffers *buffers = exchange_buffers_new();
    ck_assert_int_eq(exchange_reserve(ex, buffers), 0);
    for (int i = 0; i < 3; i++) {
        next = written;
        ck_assert_int_eq(exchange_execute(ex, &run, &result), 0);
        ck_assert(next == written + 2 && result.moved == 2);
        ck_assert_mem_eq(written, offset, sizeof offset);
    }
    exchange_free(ex);
    exchange_buffers_free(buffers);
    access_release(&list);
    access_release(&memory.list);
    domains_release(&domains);
}
END_TEST

int main(void)
{
    return run_tests("exchange", ONCE(bundles_that_pay), TIMES(last_byte_of_the_largest_domain, 2));
}
