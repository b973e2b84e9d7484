/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of src/exchange for what the simulation (tests/simulate) does not cover: what only
 * affects speed, the largest offsets, and memory for bundles. */
#include "exchange/exchange.h"
#include "exchange/bundle.h"

#include "failing_malloc.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { RANKS = 2, BYTES = 1024, CYCLE = 64, MESSAGE = 20, MOST_MESSAGES = 256 };

/* ---- a file whose first bytes are in memory, and its accesses ---- */

enum { NOTED = 5000 };

static char file[BYTES];

static struct {
    int64_t offset[NOTED], bytes[NOTED];
    size_t count, batches, locks;
    int64_t locked, locked_bytes; /* last */
    char data[NOTED];             /* the first byte that was written */
} noted;

static bool note_access(int64_t offset, int64_t bytes)
{
    if (noted.count < NOTED) {
        noted.offset[noted.count] = offset;
        noted.bytes[noted.count] = bytes;
    }
    noted.count++;
    return offset < BYTES && bytes <= BYTES - offset;
}

static int write_file(void *context, const access_extent *extent, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++) {
        if (noted.count < NOTED)
            noted.data[noted.count] = *extent[i].data;
        if (note_access(extent[i].offset, extent[i].bytes))
            memcpy(file + extent[i].offset, extent[i].data, (size_t)extent[i].bytes);
    }
    noted.batches++;
    return 0;
}

static int read_file(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    (void)context;
    if (note_access(offset, bytes))
        memcpy(data, file + offset, (size_t)bytes);
    else
        memset(data, 0, (size_t)bytes);
    *done = bytes;
    return 0;
}

static int lock_file(void *context, int64_t offset, int64_t bytes)
{
    (void)context;
    noted.locks++;
    noted.locked = offset;
    noted.locked_bytes = bytes;
    return 0;
}

static int unlock_file(void *context)
{
    (void)context;
    return 0;
}

enum { MOST_HOLE = 4096 };
static const exchange_store store = {NULL,      write_file,  read_file,
                                     lock_file, unlock_file, MOST_HOLE};

/* ---- messages, which carry nothing; complete at once, or when they are asked for again ---- */

typedef struct message {
    const char *data;
    size_t bytes;
    bool is_sent, is_complete;
} message;

static message messages[MOST_MESSAGES];
static size_t message_count;

static int note_message(const void *data, size_t bytes, bool is_sent, exchange_request *request)
{
    ck_assert_uint_lt(message_count, MOST_MESSAGES);
    messages[message_count] = (message){data, bytes, is_sent, message_count % 3 == 0};
    *request = &messages[message_count++];
    return 0;
}

static int send_to(void *context, int peer, unsigned tag, const void *data, size_t bytes,
                   bool synchronous, exchange_request *request)
{
    (void)context, (void)peer, (void)tag, (void)synchronous;
    return note_message(data, bytes, true, request);
}

static int receive_from(void *context, int peer, unsigned tag, void *data, size_t bytes,
                        exchange_request *request)
{
    (void)context, (void)peer, (void)tag;
    return note_message(data, bytes, false, request);
}

static int test_message(void *context, exchange_request *request, bool *complete, size_t *bytes)
{
    message *m = *request;
    (void)context;
    *complete = m->is_complete;
    *bytes = m->bytes;
    *request = m->is_complete ? NULL : m;
    m->is_complete = true;
    return 0;
}

static int do_nothing(void *context)
{
    (void)context;
    return 0;
}

static const exchange_transport transport = {NULL,         0,         send_to, receive_from,
                                             test_message, do_nothing};

/* ---- tasks: both ranks access both domains in turn ---- */

static struct {
    file_domains domains;
    access_list list[RANKS];
    access_memory memory[RANKS];
    domain_share *share[RANKS];
    exchange_target target[RANKS][RANKS];
    exchange_contributor contributor[RANKS][RANKS];
    exchange_task task[RANKS];
    char data[RANKS][BYTES / RANKS];
    exchange_flags flags[RANKS][EXCHANGE_DEPTH];
    char window_data[RANKS][EXCHANGE_DEPTH][CYCLE];
} world;

static void make_rank(int rank)
{
    size_t shares;
    access_run run = {rank * CYCLE, CYCLE, RANKS * CYCLE, BYTES / RANKS / CYCLE, 0};
    ck_assert_int_eq(access_append_run(&world.list[rank], &run), 0);
    ck_assert_int_eq(
        access_append_memory(&world.memory[rank].list, world.data[rank], BYTES / RANKS), 0);
    ck_assert_int_eq(domains_cut(&world.domains, &world.list[rank], &world.share[rank], &shares),
                     0);
    ck_assert_uint_eq(shares, RANKS);
    for (int a = 0; a < RANKS; a++) {
        world.target[rank][a] =
            (exchange_target){.aggregator = a, .list = &world.share[rank][a].list};
        world.contributor[a][rank] =
            (exchange_contributor){.rank = rank, .list = world.share[rank][a].list};
    }
    world.task[rank] = (exchange_task){.rank = rank,
                                       .layout.cycle_size = CYCLE,
                                       .layout.num_cycles = BYTES / RANKS / CYCLE,
                                       .layout.message_size = MESSAGE,
                                       .short_error = 1,
                                       .targets = RANKS,
                                       .contributors = RANKS,
                                       .target = world.target[rank],
                                       .layout.domains = &world.domains,
                                       .layout.domain = (size_t)rank,
                                       .contributor = world.contributor[rank]};
}

static void make_world(void)
{
    memset(&world, 0, sizeof world);
    memset(file, 0, sizeof file);
    ck_assert_int_eq(domains_even(&world.domains, 0, BYTES, RANKS, 1), 0);
    for (int rank = 0; rank < RANKS; rank++)
        make_rank(rank);
}

static void free_world(void)
{
    for (int rank = 0; rank < RANKS; rank++) {
        access_release(&world.list[rank]);
        access_release(&world.memory[rank].list);
        domains_free_shares(world.share[rank], RANKS);
    }
    domains_release(&world.domains);
}

static exchange *new_exchange(const exchange_task *task, exchange_buffers **buffers)
{
    exchange *ex = exchange_new(task);
    *buffers = exchange_buffers_new();
    ck_assert_int_eq(exchange_reserve(ex, *buffers), 0);
    return ex;
}

static exchange_run run_of(const access_memory *memory, bool write)
{
    return (exchange_run){
        .write = write, .memory = memory, .transport = &transport, .store = &store};
}

/* ---- tests ---- */

static int make_and_free(const void *task)
{
    exchange *ex = exchange_new(task);
    exchange_free(ex);
    return ex != NULL ? 0 : -ENOMEM;
}

/* The rank carries nothing of its own. */
START_TEST(out_of_memory_for_a_bundle)
{
    static exchange_flags flags[EXCHANGE_DEPTH];
    static char data[CYCLE];
    const exchange_windows windows[2] = {{flags, data, 0}, {flags, data, 0}};
    make_world();
    const access_list part[2] = {{0}, *world.target[0][1].list};
    const exchange_bundle bundle = {2, 0, part, windows};
    world.target[0][1].bundle = &bundle;
    atomic_store(&flags[0].granted, 1);
    fail_each_allocation(make_and_free, &world.task[0]);
    ck_assert_int_eq(atomic_load(&flags[0].granted), 0);
    free_world();
}
END_TEST

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

static bool is_within(const char *data, const void *begin, size_t bytes)
{
    return data >= (const char *)begin && data < (const char *)begin + bytes;
}

/* Messages go from the user's buffer to the window, and back. */
START_TEST(contiguous_chunks_are_not_packed)
{
    int rank = _i / 2;
    bool write = _i % 2;
    exchange_buffers *buffers;
    exchange_result result;
    make_world();
    exchange_run run = run_of(&world.memory[rank], write);
    world.task[rank].windows =
        (exchange_windows){world.flags[rank], world.window_data[rank][0], CYCLE};
    exchange *ex = new_exchange(&world.task[rank], &buffers);
    noted.count = 0;
    ck_assert_int_eq(exchange_execute(ex, &run, &result), 0);
    ck_assert_int_eq(result.moved, BYTES / RANKS);
    ck_assert_uint_eq(noted.count, BYTES / CYCLE / RANKS);
    ck_assert_uint_gt(message_count, 0);
    for (size_t i = 0; i < message_count; i++)
        if (messages[i].is_sent == write)
            ck_assert(is_within(messages[i].data, world.data, sizeof world.data));
        else
            ck_assert(is_within(messages[i].data, world.window_data, sizeof world.window_data));
    exchange_free(ex);
    exchange_buffers_free(buffers);
    free_world();
}
END_TEST

/* Of one contributor nothing is merged, of both all is. */
START_TEST(pieces_are_counted)
{
    int64_t pieces, merged;
    make_world();
    exchange_task task = world.task[0];
    for (task.contributors = 0; task.contributors <= RANKS; task.contributors++) {
        exchange *ex = exchange_new(&task);
        exchange_count_pieces(ex, access_blocks, &pieces, &merged);
        ck_assert_int_eq(pieces, (int64_t)task.contributors * BYTES / RANKS / RANKS / CYCLE);
        ck_assert_int_eq(merged, task.contributors == RANKS ? 1 : pieces);
        exchange_free(ex);
    }
    free_world();
}
END_TEST

/* ---- extents: one rank, one domain ---- */

/* Accesses single bytes of a domain [0, end) in three runs, and notes what each accesses in the
 * file. */
static void access_bytes(const int64_t *offset, size_t count, int64_t end, int64_t cycle_size,
                         bool write)
{
    char data[NOTED];
    file_domains domains;
    access_list list = {0};
    access_memory memory = {0};
    exchange_result result;
    for (size_t i = 0; i < count; i++) {
        data[i] = (char)i;
        ck_assert_int_eq(access_append(&list, offset[i], 1, (int64_t)i), 0);
    }
    ck_assert_int_eq(domains_even(&domains, 0, end, 1, 1), 0);
    ck_assert_int_eq(access_append_memory(&memory.list, data, count), 0);
    exchange_target target = {.list = &list};
    exchange_contributor contributor = {.rank = 0, .list = list};
    exchange_task task = {.layout.cycle_size = cycle_size,
                          .layout.num_cycles = (end - 1) / cycle_size + 1,
                          .layout.message_size = MESSAGE,
                          .targets = 1,
                          .contributors = 1,
                          .target = &target,
                          .layout.domains = &domains,
                          .contributor = &contributor};
    exchange_run run = run_of(&memory, write);
    exchange_buffers *buffers;
    exchange *ex = new_exchange(&task, &buffers);
    for (int i = 0; i < 3; i++) {
        noted.count = noted.batches = noted.locks = 0;
        ck_assert_int_eq(exchange_execute(ex, &run, &result), 0);
        ck_assert_int_eq(result.moved, (int64_t)count);
        ck_assert_int_eq(result.messages, 0);
    }
    exchange_free(ex);
    exchange_buffers_free(buffers);
    access_release(&list);
    access_release(&memory.list);
    domains_release(&domains);
}

/* The end of the last cycle is beyond int64; with cycles of one byte, the numbers of the cycles of
 * three runs are. */
START_TEST(last_byte_of_the_largest_domain)
{
    static const int64_t offset[] = {0, INT64_MAX - 1}, cycle_size[] = {63, 1};
    access_bytes(offset, 2, INT64_MAX, cycle_size[_i], true);
    ck_assert_uint_eq(noted.count, 2);
    ck_assert_mem_eq(noted.offset, offset, sizeof offset);
}
END_TEST

/* A read includes the holes up to the store's limit, a write none. */
START_TEST(holes)
{
    enum { GAP = MOST_HOLE };
    static const int64_t offset[] = {0, 1, GAP + 2, 2 * GAP + 4};
    access_bytes(offset, 4, 3 * GAP, 3 * GAP, true);
    ck_assert_uint_eq(noted.count, 3);
    ck_assert_int_eq(noted.bytes[0], 2);
    access_bytes(offset, 4, 3 * GAP, 3 * GAP, false);
    ck_assert_uint_eq(noted.count, 2);
    ck_assert_int_eq(noted.bytes[0], GAP + 3);
    ck_assert_int_eq(noted.offset[1], 2 * GAP + 4);
}
END_TEST

/* A cycle of more extents than a batch holds, under one lock. */
START_TEST(batches)
{
    int64_t offset[NOTED];
    for (int i = 0; i < NOTED; i++)
        offset[i] = 2 * i;
    access_bytes(offset, NOTED, 2 * NOTED, 2 * NOTED, true);
    ck_assert_uint_eq(noted.batches, 3);
    ck_assert_uint_eq(noted.locks, 1);
    ck_assert_int_eq(noted.locked, 0);
    ck_assert_int_eq(noted.locked_bytes, 2 * NOTED);
    ck_assert_uint_eq(noted.count, NOTED);
    ck_assert_mem_eq(noted.offset, offset, sizeof offset);
    for (int i = 0; i < NOTED; i++)
        ck_assert_int_eq(noted.data[i], (char)i);
}
END_TEST

int main(void)
{
    return run_tests("exchange", ONCE(out_of_memory_for_a_bundle), ONCE(bundles_that_pay),
                     TIMES(contiguous_chunks_are_not_packed, 2 * RANKS), ONCE(pieces_are_counted),
                     TIMES(last_byte_of_the_largest_domain, 2), ONCE(holes), ONCE(batches));
}
