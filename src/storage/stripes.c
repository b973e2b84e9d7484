/* SPDX-License-Identifier: BSD-3-Clause */
/* Stripes from Lustre's attribute lustre.lov, BeeGFS's ioctl and CephFS's attribute
 * ceph.file.layout. */
#define _GNU_SOURCE /* RUSAGE_THREAD, TEMP_FAILURE_RETRY, statx */
#include "storage/stripes.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* <linux/magic.h> lacks some of these, or did. */
enum { LUSTRE = 0x0BD00BD0, BEEGFS = 0x19830326, CEPH = 0x00C36400, GPFS = 0x47504653 };
enum { FUSE = 0x65735546, EXFAT = 0x2011BAB0, JFS = 0x3153464a, ZFS = 0x2fc12fc1 };

/* The type of the file system of an open file; 0: not known. */
static unsigned long get_type(int fd)
{
    struct statfs system;
    return fstatfs(fd, &system) == 0 ? (unsigned long)system.f_type & 0xffffffff : 0;
}

/* ---- Lustre: constants of lustre_user.h ---- */

/* Magic numbers of a plain layout, of one with a pool, of one with chosen targets (as with a pool),
 * of a composite one. */
enum { PLAIN = 0x0BD10BD0, WITH_POOL = 0x0BD30BD0, CHOSEN = 0x0BD50BD0, COMPOSITE = 0x0BD60BD0 };

/* Plain layout: magic, pattern, object id (16), stripe size, stripe count (2), generation (2), then
 * the pool's name, then each object. */
enum { PATTERN_AT = 4, SIZE_AT = 24, COUNT_AT = 28, PLAIN_BYTES = 32, POOL_BYTES = 16 };
enum { OBJECT_BYTES = 24 };

/* Stripes in turn; on the metadata server; targets may repeat. */
enum { STRIPED = 0x001, ON_METADATA = 0x100, OVERSTRIPED = 0x200, COMPRESSED = 0x800 };
#define PATTERN_FLAGS UINT32_C(0xffff0000)

/* Composite layout: magic, size, generation, flags (2), number of components (2), ...; then each
 * component: id, flags, extent (8, 8), offset and size of its plain layout, ... */
enum { ENTRIES_AT = 14, HEADER_BYTES = 32, ENTRY_BYTES = 48 };
enum { FLAGS_AT = 4, START_AT = 8, END_AT = 16, OFFSET_AT = 24, BLOB_SIZE_AT = 28 };

/* Flags of a component: its mirror is out of date; has the parity of others. The mirror is the
 * upper half of the id. */
enum { STALE = 0x01, PARITY = 0x80, MIRROR_SHIFT = 16 };

typedef struct attribute {
    const unsigned char *at;
    size_t length;
} attribute;

/* The little-endian number of that many bytes at the offset; 0 beyond the end. */
static uint64_t get_number(attribute a, size_t offset, size_t bytes)
{
    uint64_t number = 0;
    if (offset > a.length || bytes > a.length - offset)
        return 0;
    while (bytes-- > 0)
        number = number << 8 | a.at[offset + bytes];
    return number;
}

static uint32_t get_word(attribute a, size_t offset)
{
    return (uint32_t)get_number(a, offset, 4);
}

/* A layout without all its objects (not initialised yet, archived, or on the metadata server) has
 * no count. */
static storage_stripes read_plain(attribute a)
{
    uint32_t magic = get_word(a, 0), kind = get_word(a, PATTERN_AT) & ~PATTERN_FLAGS;
    size_t count = (size_t)get_number(a, COUNT_AT, 2);
    size_t objects_at = magic == PLAIN ? PLAIN_BYTES : PLAIN_BYTES + POOL_BYTES;
    if ((magic != PLAIN && magic != WITH_POOL && magic != CHOSEN) ||
        (kind != ON_METADATA && (kind & ~(uint32_t)(OVERSTRIPED | COMPRESSED)) != STRIPED))
        return (storage_stripes){0};
    bool is_whole = a.length >= objects_at + count * OBJECT_BYTES;
    return (storage_stripes){get_word(a, SIZE_AT), is_whole ? (int64_t)count : 0, true};
}

static attribute get_entry(attribute a, size_t index)
{
    return (attribute){a.at + HEADER_BYTES + index * ENTRY_BYTES, ENTRY_BYTES};
}

static uint32_t mirror_of(attribute entry)
{
    return get_word(entry, 0) >> MIRROR_SHIFT;
}

static bool has_flag(attribute entry, uint32_t flag)
{
    return (get_word(entry, FLAGS_AT) & flag) != 0;
}

static bool is_stale(attribute a, size_t entries, uint32_t mirror)
{
    for (size_t k = 0; k < entries; k++)
        if (mirror_of(get_entry(a, k)) == mirror && has_flag(get_entry(a, k), STALE))
            return true;
    return false;
}

/* The first entry with data whose mirror is up to date; entries: there is none. */
static size_t find_current(attribute a, size_t entries)
{
    size_t k = 0;
    while (k < entries &&
           (has_flag(get_entry(a, k), PARITY) || is_stale(a, entries, mirror_of(get_entry(a, k)))))
        k++;
    return k;
}

/* Zeroed: of another size than the components before it, or it begins inside a stripe. */
static storage_stripes add_component(attribute a, attribute entry, const storage_stripes *before)
{
    size_t offset = get_word(entry, OFFSET_AT), size = get_word(entry, BLOB_SIZE_AT);
    uint64_t start = get_number(entry, START_AT, 8), end = get_number(entry, END_AT, 8);
    if (offset > a.length || size > a.length - offset)
        return (storage_stripes){0};
    storage_stripes s = read_plain((attribute){a.at + offset, size});
    if (start > 0 || end != UINT64_MAX)
        s.count = 0;
    bool fits =
        s.size > 0 && start % (uint64_t)s.size == 0 && (before == NULL || before->size == s.size);
    return fits ? s : (storage_stripes){0};
}

static storage_stripes read_composite(attribute a)
{
    size_t entries = (size_t)get_number(a, ENTRIES_AT, 2);
    storage_stripes s = {0};
    if (a.length < HEADER_BYTES + entries * ENTRY_BYTES)
        return s;
    size_t first = find_current(a, entries);
    for (size_t k = first; k < entries && (k == first || s.size > 0); k++) {
        attribute entry = get_entry(a, k);
        if (mirror_of(entry) == mirror_of(get_entry(a, first)) && !has_flag(entry, PARITY))
            s = add_component(a, entry, k == first ? NULL : &s);
    }
    return s;
}

static storage_stripes ask_lustre(int fd)
{
    unsigned char bytes[1 << 16]; /* XATTR_SIZE_MAX */
    ssize_t length = fgetxattr(fd, "lustre.lov", bytes, sizeof bytes);
    attribute a = {bytes, length > 0 ? (size_t)length : 0};
    return get_word(a, 0) == COMPOSITE ? read_composite(a) : read_plain(a);
}

/* ---- BeeGFS: beegfs_ioctl.h ---- */

/* The kind (1 to 3) matters for mirrors only. */
static storage_stripes ask_beegfs(int fd)
{
    struct {
        uint32_t kind, size;
        uint16_t count;
    } pattern = {0};
    if (ioctl(fd, _IOR('f', 25, pattern), &pattern) != 0 || pattern.kind < 1 || pattern.kind > 3)
        return (storage_stripes){0};
    return (storage_stripes){pattern.size, pattern.count, true};
}

/* ---- CephFS ---- */

/* It locks the whole file, not stripes. */
static storage_stripes ask_ceph(int fd)
{
    char text[256];
    long long size = 0, count = 0;
    ssize_t length = fgetxattr(fd, "ceph.file.layout", text, sizeof text - 1);
    if (length < 0)
        return (storage_stripes){0};
    text[length] = '\0';
    if (sscanf(text, "stripe_unit=%10lld stripe_count=%5lld ", &size, &count) != 2 || count < 0)
        return (storage_stripes){0};
    return (storage_stripes){size, count, false};
}

/* ---- the file system ---- */

storage_stripes storage_get_stripes(int fd)
{
    storage_stripes s = {0};
    switch (get_type(fd)) {
    case LUSTRE: s = ask_lustre(fd); break;
    case BEEGFS: s = ask_beegfs(fd); break;
    case CEPH: /* and maybe behind FUSE */
    case FUSE: s = ask_ceph(fd); break;
    default: break;
    }
    return s.size > 0 ? s : (storage_stripes){0};
}

/* ---- stripes of new files ---- */

bool storage_takes_stripes(const char *folder)
{
    struct statfs system;
    return statfs(folder, &system) == 0 && system.f_type == LUSTRE &&
           getxattr(folder, "lustre.lov", NULL, 0) <= 0;
}

static int read_count(const char *path)
{
    int count = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    if (fscanf(file, "%9d", &count) != 1 || count < 0)
        count = 0;
    fclose(file);
    return count;
}

/* The client has the number in /sys, older ones have it in /proc. */
int storage_count_targets(const char *root)
{
    static const char *const places[] = {"sys", "proc"};
    int fewest = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places && fewest == 0; i++) {
        char pattern[PATH_MAX];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/%s/fs/lustre/lov/*/numobd", root, places[i]);
        if (glob(pattern, 0, NULL, &found) != 0)
            continue;
        for (size_t k = 0; k < found.gl_pathc; k++) {
            int count = read_count(found.gl_pathv[k]);
            if (fewest == 0 || (count > 0 && count < fewest))
                fewest = count;
        }
        globfree(&found);
    }
    return fewest;
}

int storage_choose_count(int nodes, int targets)
{
    const bool has_few = targets > 0 && targets < STORAGE_MOST_STRIPES;
    const int most = has_few ? targets : STORAGE_MOST_STRIPES;
    if (nodes <= most)
        return nodes;
    for (int count = most; 2 * count >= most; count--)
        if (nodes % count == 0)
            return count;
    return most;
}

/* ---- caches of nodes ---- */

/* File systems of one machine, some of which state blocks as large as those of distributed ones;
 * overlayfs writes to such a one. */
static bool type_is_local(unsigned long type)
{
    switch (type) {
    case BTRFS_SUPER_MAGIC:
    case 0xca451a4e: /* bcachefs */
    case EXFAT:
    case EXT4_SUPER_MAGIC: /* of ext2 and ext3, too */
    case F2FS_SUPER_MAGIC:
    case HUGETLBFS_MAGIC:
    case JFS:
    case MSDOS_SUPER_MAGIC:
    case NILFS_SUPER_MAGIC:
    case OVERLAYFS_SUPER_MAGIC:
    case RAMFS_MAGIC:
    case REISERFS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case XFS_SUPER_MAGIC:
    case ZFS: return true;
    default: return false;
    }
}

/* FUSE may have anything behind it. NFS, 9p and SMB promise no more than that who opens a file sees
 * what was written before another closed it. */
bool storage_is_coherent(int fd)
{
    unsigned long type = get_type(fd);
    return type == LUSTRE || type == GPFS || type == CEPH || type_is_local(type);
}

bool storage_is_nfs(int fd)
{
    return get_type(fd) == NFS_SUPER_MAGIC;
}

/* Devices and pipes have nothing to flush. */
int storage_flush(int fd)
{
    return TEMP_FAILURE_RETRY(fsync(fd)) == 0 || errno == EINVAL ? 0 : -errno;
}

/* The size is asked for, too: nothing is read beyond it. */
void storage_refresh(int fd)
{
    struct statx status;
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    (void)!statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &status);
}

/* ---- locks ---- */

/* A file system with servers locks no less than a block. */
int64_t storage_get_lock_unit(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || type_is_local(get_type(fd)))
        return 0;
    return (int64_t)status.st_blksize;
}

bool storage_is_slow(int fd)
{
    struct rusage before, after;
    char byte;
    getrusage(RUSAGE_THREAD, &before);
    (void)!pread(fd, &byte, 1, 0);
    getrusage(RUSAGE_THREAD, &after);
    return after.ru_nvcsw > before.ru_nvcsw; /* it slept, and was not just interrupted */
}

static int set_lock(int fd, short type, int64_t offset, int64_t bytes)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = offset, .l_len = bytes};
    if (TEMP_FAILURE_RETRY(fcntl(fd, F_SETLKW, &lock)) == 0)
        return 0;
    bool has_locks = errno != ENOSYS && errno != EOPNOTSUPP && (errno != EINVAL || offset < 0);
    return has_locks ? -errno : 0;
}

int storage_lock(int fd, bool exclusive, int64_t offset, int64_t bytes)
{
    int rc = set_lock(fd, exclusive ? F_WRLCK : F_RDLCK, offset, bytes);
    return rc == -EBADF && !exclusive ? set_lock(fd, F_WRLCK, offset, bytes) : rc;
}

/* The system may have no memory to split a lock, but needs none to give up all. Others would wait
 * for one that stays while this rank waits for them. */
int storage_unlock(int fd, int64_t offset, int64_t bytes)
{
    int rc = set_lock(fd, F_UNLCK, offset, bytes);
    return rc == 0 ? rc : set_lock(fd, F_UNLCK, 0, 0);
}
