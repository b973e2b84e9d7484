/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of layouts of files: from bytes and texts as file systems give them, against models
 * that fill a file unit by unit, and from damaged ones. */
#include "storage/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { MOST_BYTES = 8192, MODEL_BYTES = 400, NOBODY = -1 };

/* ---- bytes of an attribute, and the target of each byte of a file ---- */

struct bytes {
    unsigned char at[MOST_BYTES];
    size_t length;
    bool big_endian;
};

static void put_at(struct bytes *b, size_t offset, uint64_t value, size_t size)
{
    for (size_t k = 0; k < size; k++) {
        size_t shift = b->big_endian ? size - 1 - k : k;
        b->at[offset + k] = (unsigned char)(value >> (8 * shift));
    }
}

static void put(struct bytes *b, uint64_t value, size_t size)
{
    put_at(b, b->length, value, size);
    b->length += size;
}

static void put_zeros(struct bytes *b, size_t size)
{
    for (size_t k = 0; k < size; k++)
        put(b, 0, 1);
}

/* Target number of each byte: what a test expects. */
typedef int64_t model[MODEL_BYTES];

/* Fills [start, end). Objects are filled a unit at a time in turn, counted from the beginning of
 * the file; when all `count` are full, the next ones follow. */
static void fill(model m, int64_t start, int64_t end, file_striping striping, const int64_t *target,
                 size_t objects)
{
    size_t first = 0, turn = 0;
    int64_t full[MODEL_BYTES] = {0}, left = striping.unit;
    for (int64_t at = 0; at < MODEL_BYTES; at++) {
        if (at >= start && at < end)
            m[at] = first + turn < objects ? target[first + turn] : NOBODY;
        full[turn]++;
        if (--left > 0)
            continue;
        left = striping.unit;
        turn = turn + 1 == striping.count ? 0 : turn + 1;
        if (turn == 0 && full[0] == striping.object) {
            first += striping.count;
            memset(full, 0, sizeof full);
        }
    }
}

static int64_t number_of(const storage_layout *layout, size_t target)
{
    return target == STORAGE_NONE ? NOBODY : (int64_t)storage_target_number(layout, target);
}

/* "": none is known. */
static const char *host_of(const storage_layout *layout, size_t target)
{
    const char *host = target == STORAGE_NONE ? NULL : storage_target_host(layout, target);
    return host != NULL ? host : "";
}

/* Each byte has the model's target, and so have all up to the next boundary, which is never at the
 * byte itself. */
static void check_model(const storage_layout *layout, const model m)
{
    int64_t same = INT64_MAX; /* the first byte behind this one with another target */
    for (int64_t at = MODEL_BYTES; at-- > 0;) {
        int64_t next = -1;
        int64_t number = number_of(layout, storage_find(layout, at, &next));
        if (at + 1 < MODEL_BYTES && m[at] != m[at + 1])
            same = at + 1;
        if (number != m[at] || next <= at || next > same)
            ck_abort_msg("byte %d: target %d, not %d, up to %lld, not %lld", (int)at, (int)number,
                         (int)m[at], (long long)next, (long long)same);
    }
}

/* Every range has as many bytes on each target as they are one by one. */
static void check_counts(const storage_layout *layout, uint64_t seed)
{
    int64_t bytes[64], next;
    size_t targets = storage_targets(layout);
    ck_assert_uint_lt(targets, 64);
    for (int k = 0; k < 4; k++) {
        int64_t start = pick(&seed, 0, MODEL_BYTES), end = pick(&seed, start, MODEL_BYTES);
        storage_count(layout, start, end, bytes);
        for (int64_t at = start; at < end; at++) {
            size_t target = storage_find(layout, at, &next);
            bytes[target == STORAGE_NONE ? targets : target]--;
        }
        for (size_t t = 0; t <= targets; t++)
            ck_assert_int_eq(bytes[t], 0);
    }
}

/* What is checked byte by byte has no other use: it is freed. */
static void check_bytes(storage_layout *layout, const model m, uint64_t seed)
{
    check_model(layout, m);
    check_counts(layout, seed);
    storage_free(layout);
}

/* As storage_record writes it. The layout is freed. */
static void check_record(storage_layout *layout, const char *expected)
{
    char *text = storage_record(layout);
    ck_assert_str_eq(text, expected);
    free(text);
    storage_free(layout);
}

/* Frees `again`. */
static void check_same(const storage_layout *layout, storage_layout *again)
{
    for (int64_t at = 0; at < MODEL_BYTES; at += 7) {
        int64_t next;
        size_t target = storage_find(layout, at, &next), same = storage_find(again, at, &next);
        if (number_of(again, same) != number_of(layout, target) ||
            strcmp(host_of(again, same), host_of(layout, target)) != 0)
            ck_abort_msg("byte %d differs", (int)at);
    }
    char *text = storage_record(layout);
    check_record(again, text);
    free(text);
}

/* A copy is the same, and so is what is read from a record. */
static void check_copies(const storage_layout *layout)
{
    storage_layout *copy, *read;
    matrix_error error = {0, ""};
    ck_assert_int_eq(storage_copy(layout, &copy), 0);
    check_same(layout, copy);
    char *text = storage_record(layout);
    int rc = storage_read_recorded(text, 1, &read, &error);
    if (storage_extents(layout) == 0) {
        ck_assert_int_eq(rc, -EBADMSG);
        ck_assert_str_eq(error.reason, "a layout without extents");
    } else {
        ck_assert_msg(rc == 0, "%s%zu: %s", text, error.line, error.reason);
        check_same(layout, read);
    }
    free(text);
}

/* What holds for every layout. */
static void check_layout(const storage_layout *layout)
{
    int64_t before = 0, next;
    check_copies(layout);
    for (size_t k = 0; k < storage_extents(layout); k++) {
        storage_extent e;
        storage_get_extent(layout, k, &e);
        ck_assert_int_ge(e.start, before);
        ck_assert_int_gt(e.end, e.start);
        ck_assert_int_gt(e.unit, 0);
        before = e.end;
        for (size_t i = 0; i < e.objects; i++)
            if (e.target[i] != STORAGE_NONE && e.target[i] >= storage_targets(layout))
                ck_abort_msg("object %zu of extent %zu", i, k);
        size_t target = storage_find(layout, e.start, &next);
        ck_assert(target == STORAGE_NONE || target < storage_targets(layout));
        ck_assert_int_gt(next, e.start);
        ck_assert_int_le(next, e.end);
        storage_find(layout, e.end - 1, &next);
        ck_assert_int_eq(next, e.end);
    }
    for (size_t t = 1; t < storage_targets(layout); t++)
        ck_assert_uint_lt(storage_target_number(layout, t - 1), storage_target_number(layout, t));
    ck_assert_uint_eq(storage_find(layout, INT64_MAX, &next), STORAGE_NONE);
    ck_assert_int_eq(next, INT64_MAX);
}

/* A reader says what is wrong, and in which line, and makes no layout. row: of a table. */
static void check_refusal(size_t row, int rc, const storage_layout *layout,
                          const matrix_error *error, size_t line, const char *reason)
{
    ck_assert_msg(error->line == line && strcmp(error->reason, reason) == 0,
                  "row %zu: line %zu, '%s', not line %zu, '%s'", row, error->line, error->reason,
                  line, reason);
    ck_assert_msg(rc == -EBADMSG && layout == NULL, "row %zu: %d", row, rc);
}

/* ---- Lustre ---- */

enum { V1 = 0x0BD10BD0, V3 = 0x0BD30BD0, SPECIFIC = 0x0BD50BD0, COMP_V1 = 0x0BD60BD0 };
enum { RAID0 = 1, MDT = 0x100, OVERSTRIPED = 0x200 };

static void put_plain(struct bytes *b, uint32_t magic, uint32_t pattern, uint32_t unit,
                      const int64_t *target, size_t count, size_t objects)
{
    put(b, magic, 4);
    put(b, pattern, 4);
    put_zeros(b, 16);
    put(b, unit, 4);
    put(b, count, 2);
    put(b, 0, 2);
    if (magic != V1)
        put_zeros(b, 16);
    for (size_t k = 0; k < objects; k++) {
        put_zeros(b, 20);
        put(b, (uint64_t)target[k], 4);
    }
}

struct component {
    uint32_t id, flags, magic, pattern, unit;
    uint64_t start, end;
    size_t count, objects;
    int64_t target[8];
};

static void put_composite(struct bytes *b, const struct component *c, size_t count)
{
    put(b, COMP_V1, 4);
    put_zeros(b, 10); /* size, generation, flags */
    put(b, count, 2);
    put_zeros(b, 16 + count * 48);
    for (size_t k = 0; k < count; k++) {
        size_t entry = 32 + 48 * k, offset = b->length;
        put_plain(b, c[k].magic, c[k].pattern, c[k].unit, c[k].target, c[k].count, c[k].objects);
        put_at(b, entry, c[k].id, 4);
        put_at(b, entry + 4, c[k].flags, 4);
        put_at(b, entry + 8, c[k].start, 8);
        put_at(b, entry + 16, c[k].end, 8);
        put_at(b, entry + 24, offset, 4);
        put_at(b, entry + 28, b->length - offset, 4);
    }
}

/* One that ends where the other one begins. */
static const struct component two_components[] = {
    {1, 0x10, V1, RAID0, 20, 0, 130, 1, 1, {9}},
    {2, 0x10, V3, RAID0, 30, 130, 300, 3, 3, {2, 9, 4}}};

static storage_layout *read_lustre(const struct bytes *b)
{
    storage_layout *layout = NULL;
    matrix_error error = {0, ""};
    int rc = storage_from_lustre(b->at, b->length, &layout, &error);
    ck_assert_msg(rc == 0, "%d: %s", rc, error.reason);
    check_layout(layout);
    return layout;
}

/* As a client with little-endian words returns it: 2 stripes of 1 MiB. */
START_TEST(lustre_attribute)
{
    static const unsigned char recorded[] = {
        0xd0, 0x0b, 0xd1, 0x0b, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x01, 0x04, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00,
        0x02, 0x00, 0x00, 0x00, 0x63, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00,
        0x64, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2a, 0x00, 0x00, 0x00};
    struct bytes b = {.length = sizeof recorded};
    memcpy(b.at, recorded, sizeof recorded);
    storage_layout *layout = read_lustre(&b);
    ck_assert_str_eq(storage_file_system(layout), "Lustre");
    check_record(layout, "targets 5 42\nextent 0 - 1048576 2 0\n");
}
END_TEST

/* Targets may repeat; a file may have no objects: moved to an archive, or on a metadata server. */
static const struct {
    uint32_t magic, pattern;
    size_t objects;
    const char *record;
} plain_layouts[] = {
    {V1, RAID0 | OVERSTRIPED, 4, "targets 7 3 7 0\nextent 0 - 10 4 0\n"},
    {V3, RAID0 | OVERSTRIPED, 4, "targets 7 3 7 0\nextent 0 - 10 4 0\n"},
    {SPECIFIC, RAID0 | OVERSTRIPED, 4, "targets 7 3 7 0\nextent 0 - 10 4 0\n"},
    {V1, RAID0 | 0x80000000, 0, "extent 0 - 10 4 0\n"},
    {V1, MDT, 0, "extent 0 - 10 4 0\n"},
};

/* In both orders of bytes, also with bytes behind the layout. */
START_TEST(lustre_plain_layouts)
{
    static const int64_t target[] = {7, 3, 7, 0};
    for (size_t k = 0; k < 2 * sizeof plain_layouts / sizeof *plain_layouts; k++) {
        struct bytes b = {.big_endian = k % 2 == 1};
        put_plain(&b, plain_layouts[k / 2].magic, plain_layouts[k / 2].pattern, 10, target, 4,
                  plain_layouts[k / 2].objects);
        put_zeros(&b, plain_layouts[k / 2].objects > 0 ? k : 0);
        check_record(read_lustre(&b), plain_layouts[k / 2].record);
    }
}
END_TEST

static const struct {
    struct component component[6];
    size_t count;
    const char *record;
} composite_layouts[] = {
    /* The usual layout that grows with the file, with its first bytes on a metadata server. */
    {{{1, 0x10, V1, MDT, 50, 0, 50, 0, 0, {0}},
      {2, 0x10, V3, RAID0, 20, 50, 130, 1, 1, {9}},
      {3, 0x10, V3, RAID0, 30, 130, 300, 4, 4, {2, 9, 4, 1}},
      {4, 0, V3, RAID0, 40, 300, UINT64_MAX, 0xffff, 0, {0}}},
     4,
     "extent 0 50 50 0 0\ntargets 9\nextent 50 130 20 1 0\n"
     "targets 2 9 4 1\nextent 130 300 30 4 0\nextent 300 - 40 0 0\n"},
    /* Of mirrors the first without an outdated component; parity, and space to grow, have no
     * data. */
    {{{0x10001, 0x10, V1, RAID0, 10, 0, 100, 1, 1, {1}},
      {0x10002, 0x11, V1, RAID0, 10, 100, UINT64_MAX, 1, 1, {2}},
      {0x30003, 0x90, V1, RAID0, 10, 0, UINT64_MAX, 1, 1, {7}},
      {0x20004, 0x10, V1, RAID0, 10, 0, 200, 2, 2, {3, 4}},
      {0x20005, 0x50, V1, RAID0, 10, 200, 300, 1, 1, {5}},
      {0x20006, 0x90, V1, RAID0, 10, 0, 300, 1, 1, {6}}},
     6,
     "targets 3 4\nextent 0 200 10 2 0\nextent 200 300 10 1 0\n"},
};

START_TEST(lustre_composites)
{
    for (size_t k = 0; k < 2 * sizeof composite_layouts / sizeof *composite_layouts; k++) {
        struct bytes b = {.big_endian = k % 2 == 1};
        put_composite(&b, composite_layouts[k / 2].component, composite_layouts[k / 2].count);
        check_record(read_lustre(&b), composite_layouts[k / 2].record);
    }
}
END_TEST

static struct component random_component(uint64_t *state, uint64_t start)
{
    static const uint32_t magic[] = {V1, V3, SPECIFIC};
    struct component c = {.magic = magic[pick(state, 0, 2)], .pattern = RAID0, .start = start};
    c.end = start + (uint64_t)pick(state, 1, 150);
    c.unit = (uint32_t)pick(state, 1, 40);
    c.count = (size_t)pick(state, 1, 8);
    c.flags = pick(state, 0, 3) > 0 ? 0x10 : 0;
    c.objects = c.flags != 0 ? c.count : 0;
    for (size_t k = 0; k < c.count; k++)
        c.target[k] = pick(state, 0, 9);
    return c;
}

START_TEST(random_components)
{
    for_random_seeds (seed, 2000) {
        uint64_t state = seed, start = 0;
        struct component c[6];
        size_t count = (size_t)pick(&state, 1, 6);
        struct bytes b = {.big_endian = pick(&state, 0, 1) == 1};
        model m;
        fill(m, 0, MODEL_BYTES, (file_striping){1, 0, 1}, NULL, 0);
        for (size_t k = 0; k < count; k++) {
            c[k] = random_component(&state, start + (uint64_t)pick(&state, 0, 1) * 5);
            start = c[k].end;
            const file_striping striping = {c[k].unit, 0, c[k].count};
            fill(m, (int64_t)c[k].start, (int64_t)c[k].end, striping, c[k].target, c[k].objects);
        }
        put_composite(&b, c, count);
        check_bytes(read_lustre(&b), m, seed);
    }
}
END_TEST

/* No part of an attribute is one; a changed bit is refused or gives some layout. */
START_TEST(lustre_damaged)
{
    struct bytes b = {.length = 0};
    storage_layout *layout = NULL;
    matrix_error error;
    put_composite(&b, two_components, 2);
    for (size_t length = 0; length < b.length; length++)
        ck_assert_int_eq(storage_from_lustre(b.at, length, &layout, &error), -EBADMSG);
    for (size_t k = 0; k < b.length * 8; k++) {
        b.at[k / 8] ^= (unsigned char)(1 << k % 8);
        int rc = storage_from_lustre(b.at, b.length, &layout, &error);
        b.at[k / 8] ^= (unsigned char)(1 << k % 8);
        ck_assert(rc == 0 || rc == -EBADMSG);
        if (rc == 0) {
            check_layout(layout);
            storage_free(layout);
        }
    }
}
END_TEST

/* In two_components, what a word of 4 bytes, or a half of one, is set to. */
static const struct {
    size_t offset, size;
    uint64_t value;
    const char *reason;
} lustre_faults[] = {
    {0, 4, 0x0BD70BD0, "a layout of unknown kind, 0x0bd70bd0"},
    {0, 4, 0x12345678, "a layout of unknown kind, 0x78563412"},
    {14, 2, 0xffff, "the layout is truncated, at 304 bytes"},
    {14, 2, 0, "a composite layout of 0 components, none up to date"},
    {36, 4, 0x11, "a composite layout of 2 components, none up to date"},
    {40, 8, 130, "extent 0, from 130 to 130, is none"},
    {48, 8, 131, "extent 1 begins at 130, where the one before it goes on to 131"},
    {88, 8, 129, "extent 1 begins at 129, where the one before it goes on to 130"},
    {88, 8, UINT64_MAX - 1, "component 1 is beyond the largest offset"},
    {96, 8, INT64_MAX + UINT64_C(1), "component 1 is beyond the largest offset"},
    {56, 4, 257, "component 0 is at bytes 257 to 313 of a layout of 304"},
    {56, 4, 0xffffffff, "component 0 is at bytes 4294967295 to 4294967351 of a layout of 304"},
    {60, 4, 0xffffffff, "component 0 is at bytes 128 to 4294967423 of a layout of 304"},
    {56, 4, 0, "a layout of unknown kind, 0x0bd60bd0"},
    {60, 4, 31, "the layout is truncated, at 31 bytes"},
    {60, 4, 55, "1 stripes, but objects of only 0"},
    {108, 4, 47, "the layout is truncated, at 47 bytes"},
    {128, 4, 0x0BD20BD0, "a layout of unknown kind, 0x0bd20bd0"},
    {132, 4, 2, "a layout of unknown pattern, 0x2"},
    {132, 4, 0x400, "a layout of unknown pattern, 0x400"},
    {152, 4, 0, "a stripe unit of 0 bytes"},
    {156, 2, 0xffff, "65535 stripes, but objects of only 1"},
    {212, 2, 4, "4 stripes, but objects of only 3"},
};

START_TEST(lustre_faults_are_named)
{
    for (size_t k = 0; k < sizeof lustre_faults / sizeof *lustre_faults; k++) {
        struct bytes b = {.length = 0};
        storage_layout *layout = NULL;
        matrix_error error = {7, ""};
        put_composite(&b, two_components, 2);
        ck_assert_uint_eq(b.length, 304);
        put_at(&b, lustre_faults[k].offset, lustre_faults[k].value, lustre_faults[k].size);
        int rc = storage_from_lustre(b.at, b.length, &layout, &error);
        check_refusal(k, rc, layout, &error, 0, lustre_faults[k].reason);
    }
}
END_TEST

/* A name of a host with a character more than it may have. */
#define LONG_NAME                                                                                  \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"             \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"             \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"             \
    "aaaaaaaaaaaaaaaa"

START_TEST(lustre_servers)
{
    static const struct {
        const char *nid, *host;
    } nids[] = {{"10.1.1.5@o2ib1\n", "10.1.1.5"},
                {"oss3.site@tcp", "oss3.site"},
                {"fe80::1@tcp", "fe80::1"},
                {"0@lo", ""},
                {"<unknown>", ""},
                {"", ""},
                {&(LONG_NAME "@tcp")[1], &(LONG_NAME)[1]},
                {LONG_NAME "@tcp", ""}};
    char host[STORAGE_LONGEST_HOST + 1];
    for (size_t k = 0; k < sizeof nids / sizeof *nids; k++) {
        lustre_host_of_nid(nids[k].nid, host);
        ck_assert_str_eq(host, nids[k].host);
    }
}
END_TEST

/* ---- BeeGFS ---- */

/* As the ioctls return them. */
struct beegfs_pattern {
    uint32_t kind, chunk;
    uint16_t count, unused;
};
struct beegfs_target {
    uint32_t unused, number, primary, zeros[3];
    char name[BEEGFS_TARGET_BYTES - 24];
};

static int read_beegfs(struct beegfs_pattern pattern, const struct beegfs_target *target,
                       size_t targets, storage_layout **layout)
{
    matrix_error error;
    return storage_from_beegfs(&pattern, sizeof pattern, target, targets * sizeof *target, layout,
                               &error);
}

START_TEST(beegfs_layouts)
{
    static const struct beegfs_target target[] = {
        {.number = 203, .name = "storage02"},
        {.number = 101},
        {.number = 1, .primary = 302, .name = "storage03"}};
    for (uint32_t kind = 1; kind <= 3; kind++) {
        storage_layout *layout;
        ck_assert_int_eq(read_beegfs((struct beegfs_pattern){kind, 64, 3, 0}, target, 3, &layout),
                         0);
        check_layout(layout);
        ck_assert_str_eq(storage_file_system(layout), "BeeGFS");
        check_record(layout, "targets 203 101 302\nextent 0 - 64 3 0\n"
                             "host 203 storage02\nhost 302 storage03\n");
    }
}
END_TEST

START_TEST(beegfs_faults_are_named)
{
    static const struct {
        struct beegfs_pattern pattern;
        size_t length;
        const char *reason;
    } faults[] = {
        {{0, 64, 1, 0}, 12, "a stripe pattern of unknown kind, 0"},
        {{4, 64, 1, 0}, 12, "a stripe pattern of unknown kind, 4"},
        {{1, 0, 1, 0}, 12, "a stripe unit of 0 bytes"},
        {{1, 64, 2, 0}, 12, "2 targets, but only 1 are described"},
        {{1, 64, 65535, 0}, 12, "65535 targets, but only 1 are described"},
        {{1, 64, 0, 0}, 12, "0 targets, but only 1 are described"},
        {{1, 64, 1, 0}, 11, "a stripe pattern of 11 bytes"},
    };
    static const struct beegfs_target target = {.number = 1, .name = "a"};
    for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
        storage_layout *layout = NULL;
        matrix_error error = {7, ""};
        int rc = storage_from_beegfs(&faults[k].pattern, faults[k].length, &target, sizeof target,
                                     &layout, &error);
        check_refusal(k, rc, layout, &error, 0, faults[k].reason);
    }
}
END_TEST

/* A name without an end, or of other characters, is no host. */
START_TEST(beegfs_names)
{
    struct beegfs_target target[] = {
        {.name = "b"}, {.name = "\n"}, {.name = " "}, {.name = "\200"}, {.name = ""}};
    memset(target[4].name, 'a', 256);
    for (size_t k = 0; k < sizeof target / sizeof *target; k++) {
        storage_layout *layout;
        ck_assert_int_eq(read_beegfs((struct beegfs_pattern){1, 64, 1, 0}, &target[k], 1, &layout),
                         0);
        ck_assert_str_eq(host_of(layout, 0), k == 0 ? "b" : "");
        storage_free(layout);
    }
}
END_TEST

/* ---- CephFS ---- */

static storage_layout *read_ceph(file_striping striping, const int64_t *osd, size_t objects)
{
    storage_layout *layout = NULL;
    char attribute[120];
    matrix_error error = {0, ""};
    snprintf(attribute, sizeof attribute,
             "stripe_unit=%" PRId64 " stripe_count=%zu object_size=%" PRId64 " pool=cephfs data",
             striping.unit, striping.count, striping.object);
    int rc = storage_from_ceph(attribute, osd, objects, &layout, &error);
    ck_assert_msg(rc == 0, "%d: %s", rc, error.reason);
    check_layout(layout);
    return layout;
}

enum { MOST_OBJECTS = 60 };

/* Returns how many. */
static size_t pick_objects(uint64_t *state, int64_t osd[MOST_OBJECTS])
{
    size_t objects = (size_t)pick(state, 0, MOST_OBJECTS);
    for (size_t k = 0; k < objects; k++)
        osd[k] = pick(state, -1, 8);
    return objects;
}

static file_striping pick_striping(uint64_t *state)
{
    int64_t unit = pick(state, 1, 20), object = unit * pick(state, 1, 6);
    return (file_striping){unit, object, (size_t)pick(state, 1, 7)};
}

START_TEST(random_objects)
{
    for_random_seeds (seed, 2000) {
        uint64_t state = seed;
        int64_t osd[MOST_OBJECTS];
        size_t objects = pick_objects(&state, osd);
        file_striping striping = pick_striping(&state);
        model m;
        fill(m, 0, MODEL_BYTES, striping, osd, objects);
        check_bytes(read_ceph(striping, osd, objects), m, seed);
    }
}
END_TEST

/* As libceph-common computes them. */
static const struct {
    const char *name_space, *object;
    int64_t group; /* of 2^32 */
} placed[] = {
    {"", "", 0xbd49d10d},
    {"", "1", 0x437e2a40},
    {"", "1000000.00000001", 0x07ae1241},
    {"", "10000000000.00000000", 0xf0b56f30},
    {"", "10000000000.0000000a", 0x450a66a4},
    {"", "20000000abc.000003ff", 0x65f3021d},
    {"ns", "10000000000.00000000", 0xc843742a},
};

/* Of 12 groups, the lower ones also have what 16 would leave for those that are missing. */
START_TEST(placement_groups)
{
    for (size_t k = 0; k < sizeof placed / sizeof *placed; k++) {
        const char *name_space = placed[k].name_space, *object = placed[k].object;
        int64_t group = placed[k].group, of_16 = group % 16, of_12 = of_16 < 12 ? of_16 : of_16 - 8;
        ck_assert_int_eq(ceph_find_group(name_space, object, INT64_C(1) << 32), group);
        ck_assert_int_eq(ceph_find_group(name_space, object, 64), group % 64);
        ck_assert_int_eq(ceph_find_group(name_space, object, 12), of_12);
        ck_assert_int_eq(ceph_find_group(name_space, object, 1), 0);
    }
}
END_TEST

START_TEST(names_of_objects)
{
    char name[CEPH_OBJECT_BYTES];
    ceph_name_object(UINT64_C(0x10000000000), 10, name);
    ck_assert_str_eq(name, "10000000000.0000000a");
    ceph_name_object(UINT64_MAX, SIZE_MAX, name);
    ck_assert_str_eq(name, "ffffffffffffffff.ffffffffffffffff");
}
END_TEST

/* The objects that are asked for are those of the range, and each begins where it is said. */
START_TEST(objects_to_ask_for)
{
    static const file_striping striping = {.unit = 4, .object = 12, .count = 3};
    static const int64_t object[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    size_t first, end;
    matrix_error error;
    model m;
    fill(m, 0, MODEL_BYTES, striping, object, 12);
    for (size_t k = 0; k < 12; k++) {
        int64_t offset = ceph_object_offset(&striping, k);
        ck_assert_int_eq(m[offset], object[k]);
        for (int64_t before = 0; before < offset; before++)
            ck_assert_int_ne(m[before], object[k]);
    }
    for (int64_t bytes = 0; bytes <= 72; bytes++) {
        const storage_range to = {0, bytes}, from = {bytes, 72};
        ck_assert_int_eq(ceph_find_objects(&striping, to, &first, &end, &error), 0);
        ck_assert_uint_eq(first, 0);
        ck_assert_uint_eq(end, bytes <= 36 ? 3 : 6);
        ck_assert_int_eq(ceph_find_objects(&striping, from, &first, &end, &error), 0);
        ck_assert_uint_eq(first, bytes < 36 ? 0 : bytes < 72 ? 3 : 6);
        ck_assert_uint_eq(end, bytes < 72 ? 6 : 9);
    }
    const storage_range all = {0, INT64_MAX};
    ck_assert_int_eq(ceph_find_objects(&striping, all, &first, &end, &error), -EBADMSG);
    ck_assert_str_eq(error.reason, "more than 1048576 objects");
}
END_TEST

/* With another striping each byte is where it would be if the file had been made with it. */
START_TEST(other_stripings)
{
    for_random_seeds (seed, 1000) {
        uint64_t state = seed;
        int64_t osd[MOST_OBJECTS];
        size_t objects = pick_objects(&state, osd), first, needed;
        const file_striping striping = pick_striping(&state);
        const storage_range all = {0, pick(&state, 0, MODEL_BYTES)};
        storage_layout *other = NULL;
        matrix_error error;
        model m;
        storage_layout *layout = read_ceph((file_striping){8, 16, 3}, osd, objects);
        int rc = storage_with_striping(layout, &striping, all.to, &other);
        ck_assert_int_eq(ceph_find_objects(&striping, all, &first, &needed, &error), 0);
        ck_assert_int_eq(rc, needed > objects ? -ENOENT : 0);
        if (rc == 0) {
            ck_assert_uint_eq(storage_targets(other), storage_targets(layout));
            fill(m, 0, MODEL_BYTES, striping, osd, objects);
            check_bytes(other, m, seed);
        }
        storage_free(layout);
    }
}
END_TEST

static const char *const ceph_faults[] = {
    "",
    "   ",
    "stripe_count=1 object_size=8",
    "stripe_unit=8 object_size=8 pool=stripe_count=1",
    "stripe_unit=8 stripe_count=1",
    "stripe_unit= stripe_count=1 object_size=8",
    "stripe_unit=-8 stripe_count=1 object_size=8",
    "stripe_unit=8x stripe_count=1 object_size=8",
    "stripe_unit=0 stripe_count=1 object_size=8",
    "stripe_unit=8 stripe_count=0 object_size=8",
    "stripe_unit=8 stripe_count=1 object_size=0",
    "stripe_unit=8 stripe_count=1 object_size=12",
    "stripe_unit=16 stripe_count=1 object_size=8",
    "stripe_unit=4294967296 stripe_count=1 object_size=4294967296",
    "stripe_unit=8 stripe_count=1048577 object_size=8",
    "stripe_unit=99999999999999999999999999 stripe_count=1 object_size=8",
};

START_TEST(ceph_faults_are_refused)
{
    for (size_t k = 0; k < sizeof ceph_faults / sizeof *ceph_faults; k++) {
        storage_layout *layout = NULL;
        matrix_error error = {0, ""};
        int rc = storage_from_ceph(ceph_faults[k], NULL, 0, &layout, &error);
        ck_assert_msg(rc == -EBADMSG && layout == NULL, "'%s': %d", ceph_faults[k], rc);
        ck_assert_str_ne(error.reason, "");
    }
}
END_TEST

/* The largest numbers of 32 bits: no product overflows. */
START_TEST(ceph_largest)
{
    static const int64_t osd[] = {4, 5};
    int64_t next;
    storage_layout *layout = read_ceph((file_striping){UINT32_MAX, UINT32_MAX, 1 << 20}, osd, 2);
    ck_assert_int_eq(number_of(layout, storage_find(layout, UINT32_MAX, &next)), 5);
    ck_assert_int_eq(next, 2 * (int64_t)UINT32_MAX);
    ck_assert_uint_eq(storage_find(layout, INT64_MAX - 1, &next), STORAGE_NONE);
    storage_free(layout);
    layout = read_ceph((file_striping){1, 1, 1}, osd, 2);
    ck_assert_uint_eq(storage_find(layout, INT64_MAX - 1, &next), STORAGE_NONE);
    storage_free(layout);
}
END_TEST

/* ---- files of targets ---- */

static int read_text(const char *text, storage_layout **layout, matrix_error *error)
{
    FILE *stream = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    if (stream == NULL)
        return -errno;
    int rc = storage_read_targets(stream, layout, error);
    fclose(stream);
    return rc;
}

static storage_layout *read_targets(const char *text)
{
    storage_layout *layout = NULL;
    matrix_error error = {0, ""};
    int rc = read_text(text, &layout, &error);
    ck_assert_msg(rc == 0, "%d: line %zu: %s", rc, error.line, error.reason);
    check_layout(layout);
    return layout;
}

/* ---- records ---- */

/* ---- records ---- */

struct text_fault {
    const char *text;
    size_t line;
    const char *reason;
};

static void check_text_faults(const struct text_fault *fault, size_t faults,
                              int (*read)(const char *, storage_layout **, matrix_error *))
{
    for (size_t k = 0; k < faults; k++) {
        storage_layout *layout = NULL;
        matrix_error error = {99, ""};
        int rc = read(fault[k].text, &layout, &error);
        check_refusal(k, rc, layout, &error, fault[k].line, fault[k].reason);
    }
}

static const struct text_fault record_faults[] = {
    {"", 7, "a layout without extents"},
    {"host 3 a\n", 7, "the host of target 3, which is none"},
    {"targets 1\n", 7, "a layout without extents"},
    {"targets 1\n\nextent 0 - 8 1 0\n", 8,
     "'' in a layout where 'targets', 'extent' or 'host' is expected"},
    {"targets 1 x\n", 7, "'x' in a layout where a number is expected"},
    {"targets 1 18446744073709551615\n", 7,
     "'18446744073709551615' in a layout where a number is expected"},
    {"targets 1\nextent 0 - 8 1\n", 8, "'' in a layout where a number is expected"},
    {"targets 1\nextent - 8 8 1 0\n", 8, "'-' in a layout where a number is expected"},
    {"targets 1\nextent 0 - -8 1 0\n", 8, "'-8' in a layout where a number is expected"},
    {"targets 1\nextent 0 - 0 1 0\n", 8, "a stripe unit of 0 bytes"},
    {"targets 1\nextent 8 8 8 1 0\n", 8, "extent 0, from 8 to 8, is none"},
    {"targets 1 2\nextent 0 - 8 1 0\n", 8, "2 objects of a stripe count of 1"},
    {"targets 1\nextent 0 - 8 1 4294967296\n", 8,
     "'4294967296' in a layout where a number is expected"},
    {"targets 1\nextent 0 - 8 9999999 0\n", 8, "a stripe count of 9999999"},
    {"targets 1\nextent 0 - 8 1 0\nhost 1\n", 9, "target 1 has no name of a host"},
    {"targets 1\nextent 0 - 8 1 0\nhost 1 \033[m\n", 9, "target 1 has no name of a host"},
    {"targets 1\nextent 0 - 8 1 0\nhost 1 a\nhost 1 a\n", 10,
     "the host of target 1, which is none"},
    {"targets 1\nextent 0 - 8 1 0\nhost 1 a\ntargets 1\n", 10,
     "'targets' in a layout where a host is expected"},
};

static int read_from_line_7(const char *text, storage_layout **layout, matrix_error *error)
{
    return storage_read_recorded(text, 7, layout, error);
}

START_TEST(record_faults_are_named)
{
    check_text_faults(record_faults, sizeof record_faults / sizeof *record_faults,
                      read_from_line_7);
}
END_TEST

/* Of a file of many objects the first ones, in lines that a view file can have. */
START_TEST(long_records_are_cut)
{
    enum { OBJECTS = 20000, KEPT = 16384 };
    static int64_t osd[OBJECTS];
    storage_layout *layout, *read;
    matrix_error error;
    int64_t next;
    for (size_t k = 0; k < OBJECTS; k++)
        osd[k] = (int64_t)(k % 999);
    int rc = storage_from_ceph("stripe_unit=8 stripe_count=1 object_size=8", osd, OBJECTS, &layout,
                               &error);
    ck_assert_int_eq(rc, 0);
    char *text = storage_record(layout);
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1)
        ck_assert_int_lt(strchr(line, '\n') - line, 32768);
    ck_assert_int_eq(storage_read_recorded(text, 1, &read, &error), 0);
    ck_assert_int_eq(number_of(read, storage_find(read, 8 * (KEPT - 1), &next)), (KEPT - 1) % 999);
    ck_assert_int_eq(number_of(read, storage_find(read, 8 * KEPT, &next)), NOBODY);
    free(text);
    storage_free(read);
    storage_free(layout);
}
END_TEST

static const char some_targets[] = "# target host\n7 oss2 # the second\r\n\n 3\toss1.site\n5 oss2";

/* The copies that get stripes; what they are copies of has none. */
START_TEST(targets_with_hosts)
{
    static const char three[] = "targets 7 3 5\nextent 0 - 10 3 0\n"
                                "host 3 oss1.site\nhost 5 oss2\nhost 7 oss2\n";
    static const char *const records[] = {
        three, "targets 7\nextent 0 - 10 1 0\nhost 7 oss2\n",
        "targets 7 3\nextent 0 - 10 2 0\nhost 3 oss1.site\nhost 7 oss2\n", three};
    storage_layout *layout = read_targets(some_targets), *copy;
    file_striping_limits limits;
    matrix_error error;
    ck_assert(!storage_can_be_striped(layout, &limits));
    for (size_t count = 0; count <= 3; count++) {
        ck_assert_int_eq(storage_copy(layout, &copy), 0);
        ck_assert_int_eq(storage_stripe(copy, 10, count, &error), 0);
        check_layout(copy);
        ck_assert_uint_eq(storage_targets(copy), 3);
        check_record(copy, records[count]);
        ck_assert_uint_eq(storage_extents(layout), 0);
    }
    storage_free(layout);
}
END_TEST

START_TEST(stripes_that_cannot_be)
{
    storage_layout *layout = read_targets(some_targets);
    matrix_error error;
    ck_assert_int_eq(storage_stripe(layout, 10, 4, &error), -EBADMSG);
    ck_assert_str_eq(error.reason, "3 targets are fewer than the stripe count, 4");
    ck_assert_int_eq(storage_stripe(layout, 0, 3, &error), -EBADMSG);
    ck_assert_str_eq(error.reason, "a stripe unit of 0 bytes");
    ck_assert_int_eq(storage_stripe(layout, -1, 3, &error), -EBADMSG);
    ck_assert_int_eq(storage_stripe(layout, INT64_MAX, 3, &error), 0);
    check_layout(layout);
    storage_free(layout);
}
END_TEST

/* Blocks in ascending order, with holes, at hosts that repeat. */
START_TEST(random_blocks)
{
    static const char *const hosts[] = {"n3", "n0", "N1", "n2", ""};
    for_random_seeds (seed, 1000) {
        uint64_t state = seed;
        char text[2000] = "", line[60];
        int64_t at = 0, next;
        size_t host[MODEL_BYTES];
        model m;
        for (size_t k = 0; k < MODEL_BYTES; k++)
            host[k] = 4;
        while (at < MODEL_BYTES - 60) {
            int64_t start = at + pick(&state, 0, 1) * pick(&state, 0, 20);
            size_t turn = (size_t)pick(&state, 0, 3);
            at = start + pick(&state, 1, 40);
            for (int64_t k = start; k < at; k++)
                host[k] = turn;
            snprintf(line, sizeof line, "%d %d %s\n", (int)start, (int)(at - start), hosts[turn]);
            strcat(text, line);
        }
        storage_layout *layout = read_targets(text);
        for (int64_t k = 0; k < MODEL_BYTES; k++) {
            size_t target = storage_find(layout, k, &next);
            if (strcmp(host_of(layout, target), hosts[host[k]]) != 0)
                ck_abort_msg("seed %llu, byte %d", (unsigned long long)seed, (int)k);
            m[k] = number_of(layout, target);
        }
        check_bytes(layout, m, seed);
    }
}
END_TEST

static const struct text_fault text_faults[] = {
    {" ", 0, "neither targets nor blocks in it"},
    {"# 1 a\n\n", 0, "neither targets nor blocks in it"},
    {"1 a\n2\n", 2, "neither 'TARGET HOST' nor 'OFFSET LENGTH HOST' of a block"},
    {"1 2 a b\n", 1, "neither 'TARGET HOST' nor 'OFFSET LENGTH HOST' of a block"},
    {"1 2 a b c d e f\n", 1, "neither 'TARGET HOST' nor 'OFFSET LENGTH HOST' of a block"},
    {"1 a\n\n0 8 b\n", 3, "a target and a block, of line 1, in one file"},
    {"0 8 b\n1 a\n", 2, "a target and a block, of line 1, in one file"},
    {"x a\n", 1, "'x' is not the number of a target"},
    {"-1 a\n", 1, "'-1' is not the number of a target"},
    {"+1 a\n", 1, "'+1' is not the number of a target"},
    {"1.5 a\n", 1, "'1.5' is not the number of a target"},
    {"9223372036854775808 a\n", 1, "'9223372036854775808' is not the number of a target"},
    {"99999999999999999999999 a\n", 1, "'99999999999999999999999' is not the number of a target"},
    {"1 a\n2 b\n1 c\n", 3, "target 1 is that of line 1"},
    {"1 a\033[31m\n", 1, "'a\\x1b[31m' is not the name of a host"},
    {"1 \303\274\n", 1, "'\303\274' is not the name of a host"},
    {"1 " LONG_NAME "\n", 1,
     "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' is not the name of a host"},
    {"x 8 a\n", 1, "'x' is not an offset"},
    {"0 x a\n", 1, "'x' is not a length"},
    {"0 0 a\n", 1, "no file has a block of 0 bytes at 0"},
    {"9223372036854775807 1 a\n", 1, "no file has a block of 1 bytes at 9223372036854775807"},
    {"0 8 a\n7 8 a\n", 2, "a block at 7, within or before that of line 1"},
    {"8 8 a\n\n0 8 a\n", 3, "a block at 0, within or before that of line 1"},
};

START_TEST(text_faults_are_named)
{
    check_text_faults(text_faults, sizeof text_faults / sizeof *text_faults, read_text);
}
END_TEST

static int read_output(const char *command, storage_layout **layout, matrix_error *error)
{
    FILE *stream = popen(command, "r");
    ck_assert_ptr_nonnull(stream);
    int rc = storage_read_targets(stream, layout, error);
    pclose(stream);
    return rc;
}

START_TEST(text_that_is_none)
{
    static const struct text_fault outputs[] = {
        {"printf '1 a\\n2\\000b\\n'", 2, "a NUL character: this is no text"},
        {"yes | tr -d '\\n'", 1, "a line of more than 1000 characters"},
        {"seq -f '%.0f h' 0 1048576", 1048577, "more than 1048576 targets or blocks"},
    };
    storage_layout *layout;
    matrix_error error;
    check_text_faults(outputs, sizeof outputs / sizeof *outputs, read_output);
    FILE *folder = fopen(".", "r");
    ck_assert_int_eq(storage_read_targets(folder, &layout, &error), -EIO);
    ck_assert_str_eq(error.reason, "cannot be read: Is a directory");
    fclose(folder);
}
END_TEST

/* ---- hosts ---- */

START_TEST(hosts_of_targets)
{
    static const int64_t osd[] = {3, 7, -1, 3};
    storage_layout *layout = read_ceph((file_striping){8, 8, 4}, osd, 4);
    storage_layout *hosts = read_targets(some_targets), *fewer = read_targets("7 x\n9 y\n");
    file_striping_limits limits;
    matrix_error error;
    ck_assert(storage_can_be_striped(layout, &limits));
    ck_assert_uint_eq(limits.targets, 2);
    ck_assert_int_eq(limits.grain, 65536);
    ck_assert_int_eq(storage_copy_hosts(layout, fewer, &error), -ENXIO);
    ck_assert_str_eq(error.reason, "target 3 has no host");
    ck_assert_ptr_null(storage_target_host(layout, 1));
    ck_assert_int_eq(storage_copy_hosts(layout, hosts, &error), 0);
    ck_assert_str_eq(host_of(layout, 0), "oss1.site");
    ck_assert_str_eq(host_of(layout, 1), "oss2");
    ck_assert_int_eq(storage_copy_hosts(layout, fewer, &error), 0);
    ck_assert_str_eq(host_of(layout, 0), "oss1.site");
    ck_assert_str_eq(host_of(layout, 1), "x");
    storage_free(layout);
    storage_free(hosts);
    storage_free(fewer);
    storage_free(NULL);
}
END_TEST

/* ---- file domains ---- */

enum { MOST_DOMAINS = 6, MOST_TARGETS = 8, MOST_SERVERS = 3 };

static int make_domains(uint64_t *seed, int64_t start, int64_t end, file_domains *domains)
{
    size_t of[MODEL_BYTES], count = (size_t)pick(seed, 1, MOST_DOMAINS);
    int64_t unit = pick(seed, 1, 60);
    for (size_t k = 0; k < MODEL_BYTES; k++)
        of[k] = (size_t)pick(seed, 0, (int64_t)count - 1);
    switch (pick(seed, 0, 2)) {
    case 0: return domains_even(domains, start, end, count, unit);
    case 1: return domains_striped(domains, start, end, unit, NULL, 0, count);
    default: return domains_from_units(domains, start, end, start - start % unit, unit, of, count);
    }
}

/* Targets in turn; of some layouts for half of the file only. */
static storage_layout *make_stripes(uint64_t *seed)
{
    storage_layout *layout = storage_begin("test");
    size_t count = (size_t)pick(seed, 1, MOST_TARGETS);
    matrix_error error;
    storage_extent e = {.end = pick(seed, 0, 1) ? INT64_MAX : MODEL_BYTES / 2,
                        .unit = pick(seed, 1, 3) * pick(seed, 1, 15),
                        .count = count};
    for (size_t k = 0; k < count; k++)
        ck_assert_int_eq(storage_add_object(layout, (uint64_t)pick(seed, 0, MOST_TARGETS - 1)), 0);
    ck_assert_int_eq(storage_add_extent(layout, &e, &error), 0);
    ck_assert_int_eq(storage_finish(layout), 0);
    return layout;
}

struct spread_model {
    storage_layout *layout;
    file_domains domains;
    size_t node_of_target[MOST_TARGETS];
    int64_t on_node[MOST_SERVERS][MOST_DOMAINS], inside[MOST_DOMAINS];
};

static struct spread_model model_spread(uint64_t *seed)
{
    struct spread_model m = {.layout = make_stripes(seed)};
    int64_t start = pick(seed, 0, MODEL_BYTES - 1), end = pick(seed, start + 1, MODEL_BYTES), next;
    size_t near = 0;
    ck_assert_int_eq(make_domains(seed, start, end, &m.domains), 0);
    for (size_t t = 0; t < MOST_TARGETS; t++)
        m.node_of_target[t] =
            pick(seed, 0, 3) ? (size_t)pick(seed, 0, MOST_SERVERS - 1) : STORAGE_NONE;
    for (int64_t at = start; at < end; at++) {
        size_t j = domains_range_at(&m.domains, at, &near).domain;
        size_t target = storage_find(m.layout, at, &next);
        size_t node = target != STORAGE_NONE ? m.node_of_target[target] : STORAGE_NONE;
        m.inside[j]++;
        if (node != STORAGE_NONE)
            m.on_node[node][j]++;
    }
    return m;
}

/* Half of each domain is accessed, or all of it once or more often. */
START_TEST(bytes_of_domains)
{
    for_random_seeds (seed, 2000) {
        uint64_t state = seed;
        struct spread_model m = model_spread(&state);
        int64_t accessed[MOST_DOMAINS], times = pick(&state, 0, 3);
        matrix bytes;
        for (size_t j = 0; j < m.domains.count; j++)
            accessed[j] = times > 0 ? times * m.inside[j] : m.inside[j] / 2;
        int rc =
            storage_spread(m.layout, &m.domains, m.node_of_target, MOST_SERVERS, accessed, &bytes);
        ck_assert_int_eq(rc, 0);
        for (size_t j = 0; j < m.domains.count; j++) {
            int64_t part = times > 0 ? m.inside[j] : accessed[j], all = m.inside[j] | !m.inside[j];
            for (size_t n = 0; n < MOST_SERVERS; n++)
                ck_assert_msg(matrix_get(&bytes, n, j) == m.on_node[n][j] * part / all,
                              "seed %llu: node %zu, domain %zu", (unsigned long long)seed, n, j);
        }
        matrix_release(&bytes);
        domains_release(&m.domains);
        storage_free(m.layout);
    }
}
END_TEST

/* A file of more ranges than are looked at: those stand for all. */
START_TEST(bytes_of_many_stripes)
{
    const int64_t stripe = 65536, half = stripe << 21, accessed[] = {half, half};
    const size_t node_of_target[] = {0, 1, 1, 0};
    storage_layout *layout = read_targets("0 a\n1 b\n2 c\n3 d\n");
    matrix_error error;
    file_domains domains;
    matrix bytes;
    ck_assert_int_eq(storage_stripe(layout, stripe, 4, &error), 0);
    ck_assert_int_eq(domains_striped(&domains, 0, 2 * half, stripe, NULL, 0, 2), 0);
    ck_assert_int_eq(storage_spread(layout, &domains, node_of_target, 2, accessed, &bytes), 0);
    for (size_t n = 0; n < 2; n++)
        for (size_t j = 0; j < 2; j++)
            ck_assert_int_eq(matrix_get(&bytes, n, j), half / 2);
    matrix_release(&bytes);
    domains_release(&domains);
    storage_free(layout);
}
END_TEST

static int spread_bytes(const void *context)
{
    const struct spread_model *m = context;
    matrix bytes = {0};
    int rc =
        storage_spread(m->layout, &m->domains, m->node_of_target, MOST_SERVERS, m->inside, &bytes);
    matrix_release(&bytes);
    return rc;
}

START_TEST(domains_without_memory)
{
    uint64_t state = first_seed();
    struct spread_model m = model_spread(&state);
    fail_each_allocation(spread_bytes, &m);
    domains_release(&m.domains);
    storage_free(m.layout);
}
END_TEST

/* ---- without memory ---- */

static int build_lustre(storage_layout **layout)
{
    struct bytes b = {.length = 0};
    matrix_error error;
    put_composite(&b, two_components, 2);
    return storage_from_lustre(b.at, b.length, layout, &error);
}

static int build_beegfs(storage_layout **layout)
{
    static const struct beegfs_target target = {.number = 5, .name = "storage01"};
    return read_beegfs((struct beegfs_pattern){1, 64, 1, 0}, &target, 1, layout);
}

static int build_ceph(storage_layout **layout)
{
    static const int64_t osd[] = {3, 7, -1, 3};
    matrix_error error;
    return storage_from_ceph("stripe_unit=8 stripe_count=4 object_size=8", osd, 4, layout, &error);
}

static int build_striped(storage_layout **layout)
{
    static const file_striping striping = {8, 8, 1};
    storage_layout *first;
    int rc = build_ceph(&first);
    if (rc != 0)
        return rc;
    rc = storage_with_striping(first, &striping, 8, layout);
    storage_free(first);
    return rc;
}

static int build_copy(const char *text, storage_layout **copy)
{
    storage_layout *layout;
    matrix_error error;
    int rc = read_text(text, &layout, &error);
    if (rc != 0)
        return rc;
    rc = storage_copy(layout, copy);
    storage_free(layout);
    return rc;
}

static int build_targets(storage_layout **layout)
{
    return build_copy("7 a\n3 b\n", layout);
}

static int build_blocks(storage_layout **layout)
{
    return build_copy("0 4 a\n4 4 b\n", layout);
}

static int build_recorded(storage_layout **layout)
{
    matrix_error error;
    return storage_read_recorded("targets 1 -\nextent 0 - 8 2 0\nhost 1 a\n", 1, layout, &error);
}

static int build_and_free(const void *context)
{
    int (*const *build)(storage_layout **) = context;
    storage_layout *layout;
    int rc = (*build)(&layout);
    if (rc == 0)
        storage_free(layout);
    return rc;
}

START_TEST(layouts_without_memory)
{
    static int (*const builds[])(storage_layout **) = {build_lustre,  build_beegfs,  build_ceph,
                                                       build_striped, build_targets, build_blocks,
                                                       build_recorded};
    for (size_t k = 0; k < sizeof builds / sizeof *builds; k++)
        fail_each_allocation(build_and_free, &builds[k]);
}
END_TEST

int main(void)
{
    return run_tests(
        "storage", lustre_attribute, lustre_plain_layouts, lustre_composites, random_components,
        lustre_damaged, lustre_faults_are_named, lustre_servers, beegfs_layouts,
        beegfs_faults_are_named, beegfs_names, random_objects, placement_groups, names_of_objects,
        objects_to_ask_for, other_stripings, ceph_faults_are_refused, ceph_largest,
        targets_with_hosts, stripes_that_cannot_be, random_blocks, text_faults_are_named,
        text_that_is_none, record_faults_are_named, long_records_are_cut, hosts_of_targets,
        bytes_of_domains, bytes_of_many_stripes, domains_without_memory, layouts_without_memory);
}
