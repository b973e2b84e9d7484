/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a user's buffer in the memory of a made-up device, against the same buffer in host
 * memory: the device's addresses are not accessible, and copies are done as late as they may be. */
#include "access/access.h"
#include "seeded.h"
#include "suite.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    MIB = 1 << 20,
    DEVICE_BYTES = 12 * MIB,
    MOST_PARTS = 12,
    MOST_PENDING = 1 << 18,
    ERROR = 77
};

typedef struct pending_copy {
    char *to;
    const char *from;
    size_t bytes;
} pending_copy;

/* Two allocations, one half each. */
static struct {
    char *device;            /* what the buffer's addresses are in; no byte is accessible */
    char *host;              /* the bytes of it */
    size_t copies, fails_at; /* 0: none */
    int64_t bytes;
    size_t pending;
    int error;
} card;
static pending_copy pending[MOST_PENDING];

static uint64_t state;

static int64_t below(int64_t n)
{
    return pick(&state, 0, n - 1);
}

static bool is_any(void)
{
    return true;
}

static bool is_on_card(const void *at)
{
    const char *address = at;
    return address >= card.device && address < card.device + DEVICE_BYTES;
}

static char *bytes_of(const char *address)
{
    return (is_on_card(address) ? card.host - card.device : 0) + (char *)(intptr_t)address;
}

static void *new_copier(const void *address, void *buffers, size_t bytes)
{
    ck_assert(is_on_card(address));
    memset(buffers, 1, bytes);
    return &card;
}

static void free_copier(void *copier, void *buffers)
{
    ck_assert_ptr_eq(copier, &card);
    (void)buffers;
}

static int start_copy(void *context, void *to, const void *from, size_t bytes)
{
    ck_assert_ptr_eq(context, &card);
    ck_assert_uint_lt(card.pending, MOST_PENDING);
    ck_assert(is_on_card(to) != is_on_card(from));
    card.error = ++card.copies == card.fails_at ? -1 : card.error;
    card.bytes += (int64_t)bytes;
    pending[card.pending++] = (pending_copy){to, from, bytes};
    return 0;
}

static int wait_copies(void *context)
{
    ck_assert_ptr_eq(context, &card);
    for (size_t i = 0; i < card.pending; i++)
        memcpy(bytes_of(pending[i].to), bytes_of(pending[i].from), pending[i].bytes);
    card.pending = 0;
    return card.error;
}

static const char *find_end(void *context, const char *address)
{
    ck_assert_ptr_eq(context, &card);
    ck_assert(is_on_card(address));
    return card.device + (address < card.device + DEVICE_BYTES / 2 ? 1 : 2) * (DEVICE_BYTES / 2);
}

static const access_device kind = {ERROR,       is_any,     is_on_card,  new_copier,
                                   free_copier, start_copy, wait_copies, find_end};

/* ---- a buffer, and where its stream goes ---- */

static struct {
    access_memory host, device;
    access_staging *staging;
    char *packed, *expected, *pattern;
} world;

static char *new_bytes(size_t bytes)
{
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    return memory;
}

static void make_world(void)
{
    if (card.device == NULL) {
        card.device = mmap(NULL, DEVICE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ck_assert_ptr_ne(card.device, MAP_FAILED);
        card.host = new_bytes(DEVICE_BYTES);
        world.packed = new_bytes(DEVICE_BYTES);
        world.expected = new_bytes(DEVICE_BYTES);
        world.pattern = new_bytes(DEVICE_BYTES);
        for (int64_t i = 0; i < DEVICE_BYTES; i++)
            world.pattern[i] = (char)(i * 7 + i / 251 + (i >> 16));
    }
    card.copies = card.fails_at = card.pending = 0;
    card.bytes = card.error = 0;
    world.device = (access_memory){.staging = NULL};
    world.host = (access_memory){.staging = NULL};
}

static void release_world(void)
{
    access_release(&world.host.list);
    access_release(&world.device.list);
}

static void add_block(int64_t at, int64_t length)
{
    ck_assert_int_eq(access_append_memory(&world.device.list, card.device + at, (size_t)length), 0);
    ck_assert_int_eq(access_append_memory(&world.host.list, card.host + at, (size_t)length), 0);
    if (world.device.staging == NULL)
        ck_assert_int_eq(access_memory_stage(&world.device, &kind, &world.staging), 0);
}

/* Contiguous, or blocks of any size, which ascend with gaps of any size or come in any order. */
static void draw_blocks(int64_t bytes)
{
    static const int64_t lengths[] = {16, 512, 8192, 300000, 3 * MIB},
                         gaps[] = {1, 64, 4096, 200000};
    int64_t length = lengths[below(5)], gap = gaps[below(4)], at = below(1000), step, first;
    if (below(4) == 0) {
        add_block(at, bytes);
        return;
    }
    bool descending = below(4) == 0;
    while (bytes > 0 && at < DEVICE_BYTES) {
        step = 1 + below(length);
        step = step < bytes ? step : bytes;
        step = step < DEVICE_BYTES - at ? step : DEVICE_BYTES - at;
        first = descending ? DEVICE_BYTES - at - step : at;
        add_block(first, step);
        bytes -= step;
        at += step + below(gap);
    }
}

static void fill(char *data, int64_t bytes)
{
    memcpy(data, world.pattern, (size_t)bytes);
}

/* ---- tests ---- */

/* As an aggregator after the other takes its part of the stream, little by little. */
static void copy_in_turn(const access_memory *memory, char *packed, uint64_t seed, bool out)
{
    int64_t parts, next[MOST_PARTS], end[MOST_PARTS], total = memory->list.bytes, left;
    state = seed;
    parts = 1 + below(MOST_PARTS);
    int64_t chunk = (int64_t)1 << (10 + below(12));
    for (int64_t i = 0; i < parts; i++) {
        next[i] = total * i / parts;
        end[i] = total * (i + 1) / parts;
    }
    do {
        left = 0;
        for (int64_t i = 0; i < parts; i++) {
            int64_t length = 1 + below(chunk);
            length = length < end[i] - next[i] ? length : end[i] - next[i];
            if (out)
                access_from_memory(memory, next[i], length, packed + next[i]);
            else
                access_to_memory(memory, next[i], length, packed + next[i]);
            next[i] += length;
            left += end[i] - next[i];
        }
    } while (left > 0);
}

START_TEST(parts_of_the_stream)
{
    for_random_seeds (seed, 8) {
        state = seed;
        make_world();
        draw_blocks(1 + below(5 * MIB));
        int64_t bytes = world.host.list.bytes;
        fill(card.host, DEVICE_BYTES);
        copy_in_turn(&world.host, world.expected, seed, true);
        copy_in_turn(&world.device, world.packed, seed, true);
        ck_assert_int_eq(access_memory_complete(&world.device, true), 0);
        ck_assert_mem_eq(world.packed, world.expected, (size_t)bytes);
        ck_assert_ptr_null(access_memory_at(&world.device, 0, 1));

        /* Bytes between the blocks stay as they are. */
        fill(world.packed, bytes);
        copy_in_turn(&world.host, world.packed, seed, false);
        memcpy(world.expected, card.host, DEVICE_BYTES);
        fill(card.host, DEVICE_BYTES);
        copy_in_turn(&world.device, world.packed, seed, false);
        ck_assert_int_eq(access_memory_complete(&world.device, false), 0);
        ck_assert_mem_eq(card.host, world.expected, DEVICE_BYTES);
        release_world();
    }
}
END_TEST

/* Records of a file with records of other ranks between them. */
START_TEST(windows)
{
    for_random_seeds (seed, 6) {
        access_list file = {0};
        access_cursor host, device;
        state = seed;
        make_world();
        draw_blocks(1 + below(3 * MIB));
        int64_t bytes = world.host.list.bytes, record = 1 + below(100000), at = 0;
        for (int64_t done = 0, part; done < bytes; done += part, at += 3 * part) {
            part = record < bytes - done ? record : bytes - done;
            ck_assert_int_eq(access_append(&file, at, part, done), 0);
        }
        fill(card.host, DEVICE_BYTES);
        access_cursor_init(&host, &file);
        access_cursor_init(&device, &file);
        for (int64_t lo = 0, hi; lo < at; lo = hi) {
            hi = lo + MIB;
            fill(world.expected, MIB);
            fill(world.packed, MIB);
            int64_t moved = access_memory_to_window(&world.host, &host, hi, world.expected, lo);
            ck_assert_int_eq(access_memory_to_window(&world.device, &device, hi, world.packed, lo),
                             moved);
            ck_assert_mem_eq(world.packed, world.expected, MIB);
        }
        ck_assert_int_eq(access_memory_complete(&world.device, true), 0);
        fill(world.packed, MIB);
        for (int pass = 0; pass < 2; pass++) {
            const access_memory *memory = pass == 0 ? &world.host : &world.device;
            fill(card.host, DEVICE_BYTES);
            access_cursor_init(&device, &file);
            for (int64_t lo = 0; lo < at; lo += MIB)
                access_window_to_memory(memory, &device, lo + MIB, world.packed, lo);
            ck_assert_int_eq(access_memory_complete(memory, false), 0);
            if (pass == 0)
                memcpy(world.expected, card.host, DEVICE_BYTES);
        }
        ck_assert_mem_eq(card.host, world.expected, DEVICE_BYTES);
        access_release(&file);
        release_world();
    }
}
END_TEST

/* Many positions in the stream, more than there are stages, or one; contiguous memory. */
START_TEST(copies_are_large_and_few)
{
    for (int out = 0; out < 2; out++) {
        make_world();
        add_block(0, 8 * MIB);
        for (int64_t at = 0; at < 8 * MIB; at += 65536)
            if (out)
                access_from_memory(&world.device, at, 65536, world.packed + at);
            else
                access_to_memory(&world.device, at, 65536, world.packed + at);
        ck_assert_int_eq(access_memory_complete(&world.device, out), 0);
        ck_assert_int_eq(card.bytes, 8 * MIB);
        ck_assert_uint_le(card.copies, 16);
        release_world();
    }
    for (int64_t parts = 4; parts <= 64; parts *= 16) {
        make_world();
        add_block(0, 8 * MIB);
        int64_t step = 8 * MIB / parts, chunk = 16384;
        for (int64_t done = 0; done < step; done += chunk)
            for (int64_t i = 0; i < parts; i++)
                access_from_memory(&world.device, i * step + done, chunk, world.packed);
        ck_assert_int_eq(access_memory_complete(&world.device, true), 0);
        ck_assert_int_le(card.bytes, 2 * 8 * MIB);
        release_world();
    }
}
END_TEST

/* Out of memory blocks with gaps come with them; into it, each is a copy. */
START_TEST(blocks_with_gaps)
{
    make_world();
    for (int64_t at = 0; at < 4 * MIB; at += 128)
        add_block(at, 64);
    access_from_memory(&world.device, 0, 2 * MIB, world.packed);
    ck_assert_int_eq(access_memory_complete(&world.device, true), 0);
    ck_assert_uint_le(card.copies, 3 * 2);
    ck_assert_int_le(card.bytes, 4 * MIB);
    card.copies = 0;
    access_to_memory(&world.device, 0, 2 * MIB, world.packed);
    ck_assert_int_eq(access_memory_complete(&world.device, false), 0);
    ck_assert_uint_eq(card.copies, 2 * MIB / 64);
    release_world();
}
END_TEST

START_TEST(a_failing_copy_is_reported)
{
    for (int64_t at = 1; at <= 8; at++)
        for (int out = 0; out < 2; out++) {
            make_world();
            add_block(0, 8 * MIB);
            card.fails_at = (size_t)at;
            for (int64_t done = 0; done < 8 * MIB; done += MIB / 2)
                if (out)
                    access_from_memory(&world.device, done, MIB / 2, world.packed);
                else
                    access_to_memory(&world.device, done, MIB / 2, world.packed);
            ck_assert_int_eq(access_memory_complete(&world.device, out), ERROR);
            release_world();
        }
}
END_TEST

int main(void)
{
    int rc = run_tests("staging", ONCE(parts_of_the_stream), ONCE(windows),
                       ONCE(copies_are_large_and_few), ONCE(blocks_with_gaps),
                       ONCE(a_failing_copy_is_reported));
    access_staging_free(world.staging);
    return rc;
}
