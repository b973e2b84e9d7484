/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit tests of the stripes of files: this program's fstatfs, fgetxattr and ioctl stand for those
 * of file systems that are not installed here, and answer with bytes as their clients return them.
 */
#include "storage/stripes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "suite.h"

enum { LUSTRE = 0x0BD00BD0, BEEGFS = 0x19830326, CEPH = 0x00C36400, FUSE = 0x65735546 };
enum { EXT4 = 0xEF53 };

/* What the file system under test says. */
static struct {
    long type; /* 0: nothing */
    const char *name;
    const void *attribute; /* also what the ioctl returns */
    size_t length;
} fake;

int fstatfs(int fd, struct statfs *system)
{
    (void)fd;
    memset(system, 0, sizeof *system);
    system->f_type = fake.type;
    return fake.type != 0 ? 0 : -1;
}

int statfs(const char *path, struct statfs *system)
{
    (void)path;
    return fstatfs(0, system);
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
    (void)fd;
    errno = fake.name == NULL || strcmp(name, fake.name) != 0 ? ENODATA
            : size < fake.length                              ? ERANGE
                                                              : 0;
    if (errno != 0)
        return -1;
    memcpy(value, fake.attribute, fake.length);
    return (ssize_t)fake.length;
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    char room[1 << 10];
    (void)path;
    return size > 0 ? fgetxattr(0, name, value, size) : fgetxattr(0, name, room, sizeof room);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    (void)fd;
    ck_assert_uint_eq(request, _IOR('f', 25, char[12]));
    if (fake.length != 12)
        return -1;
    va_start(arguments, request);
    memcpy(va_arg(arguments, void *), fake.attribute, fake.length);
    va_end(arguments);
    return 0;
}

static storage_stripes ask(long type, const char *name, const void *attribute, size_t length)
{
    fake.type = type;
    fake.name = name;
    fake.attribute = attribute;
    fake.length = length;
    return storage_get_stripes(7);
}

static void check_stripes(storage_stripes s, int64_t size, int64_t count, bool locked)
{
    ck_assert_int_eq(s.size, size);
    ck_assert_int_eq(s.count, count);
    ck_assert_int_eq(s.locked, locked);
}

/* ---- Lustre ---- */

/* 2 stripes of 1 MiB, of a plain layout. */
static const unsigned char plain[] = {
    0xd0, 0x0b, 0xd1, 0x0b, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x04, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x02, 0x00, 0x00, 0x00,
    0x63, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00, 0x00, 0x64, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2a, 0x00, 0x00, 0x00};

enum { V1 = 0x0BD10BD0, V3 = 0x0BD30BD0, SPECIFIC = 0x0BD50BD0, COMPOSITE = 0x0BD60BD0 };
enum { RAID0 = 1, MDT = 0x100, OVERSTRIPED = 0x200 };
enum { STALE = 0x01, INITIALISED = 0x10, PARITY = 0x80 };

struct bytes {
    unsigned char at[2048];
    size_t length;
};

static void put_at(struct bytes *b, size_t offset, uint64_t value, size_t bytes)
{
    for (size_t k = 0; k < bytes; k++)
        b->at[offset + k] = (unsigned char)(value >> 8 * k);
}

static storage_stripes ask_lustre(const struct bytes *b)
{
    return ask(LUSTRE, "lustre.lov", b->at, b->length);
}

struct component {
    uint32_t id, flags, magic, pattern, size;
    size_t count, objects;
    uint64_t start, end;
};

static void put_plain(struct bytes *b, const struct component *c)
{
    size_t at = b->length;
    put_at(b, at, c->magic, 4);
    put_at(b, at + 4, c->pattern, 4);
    put_at(b, at + 24, c->size, 4);
    put_at(b, at + 28, c->count, 2);
    b->length += (c->magic == V1 ? 32u : 48u) + 24 * c->objects;
}

static struct bytes make_composite(const struct component *c, size_t count)
{
    struct bytes b = {.length = 32 + 48 * count};
    put_at(&b, 0, COMPOSITE, 4);
    put_at(&b, 14, count, 2);
    for (size_t k = 0; k < count; k++) {
        size_t entry = 32 + 48 * k, offset = b.length;
        put_plain(&b, &c[k]);
        put_at(&b, entry, c[k].id, 4);
        put_at(&b, entry + 4, c[k].flags, 4);
        put_at(&b, entry + 8, c[k].start, 8);
        put_at(&b, entry + 16, c[k].end, 8);
        put_at(&b, entry + 24, offset, 4);
        put_at(&b, entry + 28, b.length - offset, 4);
    }
    return b;
}

START_TEST(lustre_recorded)
{
    check_stripes(ask(LUSTRE, "lustre.lov", plain, sizeof plain), 1 << 20, 2, true);
    check_stripes(ask(LUSTRE, NULL, NULL, 0), 0, 0, false);
}
END_TEST

/* Without objects: moved to an archive, or on a metadata server. */
static const struct {
    struct component layout;
    int64_t size, count;
} plain_layouts[] = {
    {{0, 0, V1, RAID0 | OVERSTRIPED, 10, 4, 4, 0, 0}, 10, 4},
    {{0, 0, V3, RAID0, 10, 4, 4, 0, 0}, 10, 4},
    {{0, 0, SPECIFIC, RAID0, 10, 4, 4, 0, 0}, 10, 4},
    {{0, 0, V1, RAID0 | 0x80000000, 10, 4, 0, 0, 0}, 10, 0},
    {{0, 0, V1, MDT, 10, 0, 0, 0, 0}, 10, 0},
    {{0, 0, V1, 2, 10, 4, 4, 0, 0}, 0, 0},
    {{0, 0, V1, 0x400, 10, 4, 4, 0, 0}, 0, 0},
    {{0, 0, 0x0BD20BD0, RAID0, 10, 4, 4, 0, 0}, 0, 0},
    {{0, 0, V1, RAID0, 0, 4, 4, 0, 0}, 0, 0},
};

START_TEST(lustre_plain)
{
    struct bytes b = {.length = 0};
    put_plain(&b, &plain_layouts[_i].layout);
    check_stripes(ask_lustre(&b), plain_layouts[_i].size, plain_layouts[_i].count,
                  plain_layouts[_i].size > 0);
}
END_TEST

#define UP UINT64_MAX
static const struct {
    struct component component[6];
    size_t count;
    int64_t size, stripes;
} composite_layouts[] = {
    /* clang-format off */
    /* One component is all of the file, or not. */
    {{{1, INITIALISED, V1, RAID0, 10, 3, 3, 0, UP}}, 1, 10, 3},
    {{{1, 0, V3, RAID0, 10, 0xffff, 0, 0, UP}}, 1, 10, 0},
    {{{1, INITIALISED, V1, RAID0, 10, 3, 3, 0, 100}}, 1, 10, 0},
    /* A layout that grows with the file, whose last part has no objects yet. */
    {{{1, INITIALISED, V3, RAID0, 10, 1, 1, 0, 100}, {2, 0, V3, RAID0, 10, 8, 0, 100, UP}},
     2, 10, 0},
    {{{1, INITIALISED, V3, RAID0, 10, 1, 1, 0, 100}, {2, 0, V3, RAID0, 20, 8, 0, 100, UP}},
     2, 0, 0},
    {{{1, INITIALISED, V3, RAID0, 10, 1, 1, 0, 105}, {2, 0, V3, RAID0, 10, 8, 0, 105, UP}},
     2, 0, 0},
    /* Of mirrors the first without an outdated component; parity has no data. */
    {{{0x10001, INITIALISED, V1, RAID0, 7, 1, 1, 0, 100},
      {0x10002, INITIALISED | STALE, V1, RAID0, 7, 1, 1, 100, UP},
      {0x30003, INITIALISED | PARITY, V1, RAID0, 9, 1, 1, 0, UP},
      {0x20004, INITIALISED, V1, RAID0, 10, 2, 2, 0, UP},
      {0x20005, INITIALISED | PARITY, V1, RAID0, 9, 1, 1, 0, UP},
      {0x30006, INITIALISED, V1, RAID0, 8, 1, 1, 0, UP}}, 6, 10, 2},
    {{{1, STALE, V1, RAID0, 10, 3, 3, 0, UP}}, 1, 0, 0},
    {{{1, INITIALISED, COMPOSITE, RAID0, 10, 3, 3, 0, UP}}, 1, 0, 0},
    {{{0}}, 0, 0, 0},
    /* clang-format on */
};

START_TEST(lustre_composite)
{
    struct bytes b = make_composite(composite_layouts[_i].component, composite_layouts[_i].count);
    check_stripes(ask_lustre(&b), composite_layouts[_i].size, composite_layouts[_i].stripes,
                  composite_layouts[_i].size > 0);
}
END_TEST

/* Of a part of an attribute, or with a changed bit, nothing is read beyond its end. */
START_TEST(lustre_damaged)
{
    struct bytes b = make_composite(composite_layouts[3].component, composite_layouts[3].count);
    for (size_t length = 0; length < b.length; length++) {
        unsigned char *part = malloc(length | 1); /* for a sanitizer */
        ck_assert_ptr_nonnull(part);
        memcpy(part, b.at, length);
        ck_assert_int_eq(ask(LUSTRE, "lustre.lov", part, length).count, 0);
        free(part);
    }
    for (size_t k = 0; k < b.length * 8; k++) {
        b.at[k / 8] ^= (unsigned char)(1 << k % 8);
        storage_stripes s = ask_lustre(&b);
        b.at[k / 8] ^= (unsigned char)(1 << k % 8);
        ck_assert(s.size >= 0 && s.size <= UINT32_MAX && s.count >= 0 && s.count <= UINT16_MAX);
    }
}
END_TEST

/* ---- BeeGFS and CephFS ---- */

START_TEST(beegfs_patterns)
{
    static const unsigned char recorded[] = {1, 0, 0, 0, 0, 0, 8, 0, 4, 0, 0, 0};
    unsigned char other[sizeof recorded];
    memcpy(other, recorded, sizeof other);
    check_stripes(ask(BEEGFS, NULL, recorded, sizeof recorded), 512 << 10, 4, true);
    other[0] = 3;
    check_stripes(ask(BEEGFS, NULL, other, sizeof other), 512 << 10, 4, true);
    other[0] = 4;
    check_stripes(ask(BEEGFS, NULL, other, sizeof other), 0, 0, false);
    check_stripes(ask(BEEGFS, NULL, NULL, 0), 0, 0, false);
}
END_TEST

static const struct {
    const char *attribute;
    int64_t size, count;
} ceph_layouts[] = {
    {"stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=data", 4 << 20, 1},
    {"stripe_unit=1048576 stripe_count=4 object_size=67108864 pool=a b", 1 << 20, 4},
    {"stripe_unit=0 stripe_count=4 object_size=1 pool=data", 0, 0},
    {"stripe_unit=-8 stripe_count=4 object_size=1 pool=data", 0, 0},
    {"stripe_unit=8 stripe_count=-4 object_size=1 pool=data", 0, 0},
    {"stripe_unit=99999999999 stripe_count=4 object_size=1 pool=data", 0, 0},
    {"stripe_count=4", 0, 0},
    {"", 0, 0},
};

START_TEST(ceph_attributes)
{
    const char *attribute = ceph_layouts[_i].attribute;
    const long type[] = {CEPH, FUSE};
    for (int k = 0; k < 2; k++)
        check_stripes(ask(type[k], "ceph.file.layout", attribute, strlen(attribute)),
                      ceph_layouts[_i].size, ceph_layouts[_i].count, false);
}
END_TEST

/* Another file system, by FUSE or not, and a descriptor that is none. */
START_TEST(no_stripes)
{
    check_stripes(ask(FUSE, NULL, NULL, 0), 0, 0, false);
    check_stripes(ask(EXT4, "lustre.lov", plain, sizeof plain), 0, 0, false);
    check_stripes(ask(0, "lustre.lov", plain, sizeof plain), 0, 0, false);
}
END_TEST

/* One for each node, as far as there are targets; with fewer a number that divides the nodes,
 * unless it is below half of that. */
START_TEST(stripes_of_new_files)
{
    for (int targets = 0; targets <= 40; targets++) {
        for (int nodes = 1; nodes <= 600; nodes++) {
            int most =
                targets == 0 || targets > STORAGE_MOST_STRIPES ? STORAGE_MOST_STRIPES : targets;
            int count = nodes < most ? nodes : most;
            for (int c = 1; c <= most && nodes > most; c++)
                count = nodes % c == 0 && 2 * c >= most ? c : count;
            ck_assert_int_eq(storage_choose_count(nodes, targets), count);
        }
    }
}
END_TEST

/* As of a folder: with a layout of its own, or without. */
START_TEST(folders_with_a_layout)
{
    fake.type = LUSTRE;
    fake.name = NULL;
    ck_assert(storage_takes_stripes("."));
    fake.name = "lustre.lov";
    fake.attribute = plain;
    fake.length = sizeof plain;
    ck_assert(!storage_takes_stripes("."));
    fake.type = EXT4;
    fake.name = NULL;
    ck_assert(!storage_takes_stripes("."));
}
END_TEST

/* name: of a file system of Lustre */
static void mount_lustre(const char *root, const char *name, const char *targets)
{
    char path[256];
    snprintf(path, sizeof path,
             "mkdir -p %s/sys/fs/lustre/lov/%s && echo '%s' >%s/sys/fs/lustre/lov/%s/numobd", root,
             name, targets, root, name);
    ck_assert_int_eq(system(path), 0);
}

START_TEST(targets_of_mounts)
{
    char root[] = "/tmp/test_stripes.XXXXXX", remove[64];
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_int_eq(storage_count_targets(root), 0);
    mount_lustre(root, "damaged-clilov-0", "-3");
    ck_assert_int_eq(storage_count_targets(root), 0);
    mount_lustre(root, "home-clilov-1", "12");
    ck_assert_int_eq(storage_count_targets(root), 12);
    mount_lustre(root, "work-clilov-2", "96");
    ck_assert_int_eq(storage_count_targets(root), 12);
    snprintf(remove, sizeof remove, "rm -r %s", root);
    ck_assert_int_eq(system(remove), 0);
}
END_TEST

/* ---- caches and locks ---- */

enum {
    TMPFS = 0x01021994,
    OVERLAY = 0x794c7630,
    GPFS = 0x47504653,
    NFS = 0x6969,
    V9FS = 0x01021997
};

/* What no table has is neither local nor coherent. */
static const struct {
    long type;
    bool is_coherent, is_local;
} systems[] = {
    {EXT4, true, true},    {TMPFS, true, true}, {OVERLAY, true, true},  {0x9123683E, true, true},
    {LUSTRE, true, false}, {GPFS, true, false}, {CEPH, true, false},    {FUSE, false, false},
    {V9FS, false, false},  {NFS, false, false}, {BEEGFS, false, false}, {0x12345678, false, false},
    {0, false, false},
};

START_TEST(caches_and_locks)
{
    char path[] = "/tmp/test_stripes.XXXXXX";
    int fd = mkstemp(path);
    fake.type = systems[_i].type;
    ck_assert_int_eq(storage_is_coherent(fd), systems[_i].is_coherent);
    ck_assert_int_eq(storage_get_lock_unit(fd) == 0, systems[_i].is_local);
    close(fd);
    unlink(path);
}
END_TEST

/* A file, then what cannot be flushed, then nothing. */
START_TEST(flushes)
{
    char path[] = "/tmp/test_stripes.XXXXXX";
    int fd = mkstemp(path), ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(storage_flush(fd), 0);
    ck_assert_int_eq(storage_flush(ends[1]), 0);
    ck_assert_int_eq(storage_flush(-1), -EBADF);
    storage_refresh(fd);
    close(fd);
    close(ends[0]);
    close(ends[1]);
    unlink(path);
}
END_TEST

/* Also one that cannot be read, which has no shared locks. */
START_TEST(locks_of_each_descriptor)
{
    const int modes[] = {O_RDONLY, O_WRONLY, O_RDWR};
    char path[] = "/tmp/test_stripes.XXXXXX";
    close(mkstemp(path));
    for (int i = 0; i < 3; i++) {
        int fd = open(path, modes[i]);
        ck_assert_int_eq(storage_lock(fd, false, 10, 20), 0);
        ck_assert_int_eq(storage_unlock(fd, 10, 20), 0);
        ck_assert_int_eq(storage_lock(fd, true, -10, 5), -EINVAL);
        close(fd);
    }
    ck_assert_int_eq(storage_lock(-1, false, 10, 20), -EBADF);
    unlink(path);
}
END_TEST

int main(void)
{
    return run_tests("stripes", ONCE(lustre_recorded), ONCE(lustre_damaged), ONCE(beegfs_patterns),
                     ONCE(no_stripes), ONCE(folders_with_a_layout), ONCE(flushes),
                     TIMES(caches_and_locks, LENGTH(systems)), ONCE(locks_of_each_descriptor),
                     ONCE(targets_of_mounts), ONCE(stripes_of_new_files),
                     TIMES(lustre_plain, LENGTH(plain_layouts)),
                     TIMES(lustre_composite, LENGTH(composite_layouts)),
                     TIMES(ceph_attributes, LENGTH(ceph_layouts)));
}
