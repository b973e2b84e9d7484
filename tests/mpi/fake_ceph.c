/* SPDX-License-Identifier: BSD-3-Clause */
/* fake_ceph: a library to be preloaded. To the program, files whose names end with ".ceph" are on
 * CephFS by the kernel's client. Object k is on OSD number k of the list in FAKE_CEPH_OSDS, from
 * the beginning again after its end. A layout that is set is in the file of that name and
 * ".layout"; FAKE_CEPH_ERROR is the errno by which that fails instead. */
#define _GNU_SOURCE /* off64_t, statfs64, syscall */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define GET_LOCATION _IOWR(0x97, 3, char[248])

static const char first_layout[] =
    "stripe_unit=4194304 stripe_count=1 object_size=4194304 pool=data";

/* The file of the layout of an open file, /proc/self/fd/N; false: the file is of another file
 * system. */
static int find_layout_of_link(const char *link, char path[PATH_MAX + 8])
{
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length < 5 || memcmp(path + length - 5, ".ceph", 5) != 0)
        return 0;
    strcpy(path + length, ".layout");
    return 1;
}

static int find_layout(int fd, char path[PATH_MAX + 8])
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    return find_layout_of_link(link, path);
}

static void read_layout(const char *path, char layout[200])
{
    FILE *file = fopen(path, "r");
    strcpy(layout, first_layout);
    if (file == NULL)
        return;
    if (fgets(layout, 200, file) == NULL)
        strcpy(layout, first_layout);
    fclose(file);
}

int fstatfs(int fd, struct statfs *system)
{
    char path[PATH_MAX + 8];
    int rc = (int)syscall(SYS_fstatfs, fd, system);
    if (rc == 0 && find_layout(fd, path))
        system->f_type = 0x00C36400;
    return rc;
}

int fstatfs64(int fd, struct statfs64 *system)
{
    return fstatfs(fd, (struct statfs *)system);
}

ssize_t getxattr(const char *link, const char *name, void *value, size_t size)
{
    char path[PATH_MAX + 8], layout[200];
    if (!find_layout_of_link(link, path) || strcmp(name, "ceph.file.layout") != 0)
        return syscall(SYS_getxattr, link, name, value, size);
    read_layout(path, layout);
    if (strlen(layout) > size) {
        errno = ERANGE;
        return -1;
    }
    memcpy(value, layout, strlen(layout));
    return (ssize_t)strlen(layout);
}

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    char path[PATH_MAX + 8];
    const char *error = getenv("FAKE_CEPH_ERROR");
    if (!find_layout(fd, path) || strcmp(name, "ceph.file.layout") != 0)
        return (int)syscall(SYS_fsetxattr, fd, name, value, size, flags);
    errno = error != NULL ? atoi(error) : 0;
    FILE *file = errno == 0 ? fopen(path, "w") : NULL;
    if (file == NULL)
        return -1;
    fwrite(value, 1, size, file);
    return fclose(file);
}

/* The OSD of an object. */
static int64_t osd_of(uint64_t object)
{
    const char *list = getenv("FAKE_CEPH_OSDS");
    long osd[64];
    uint64_t count = 0;
    char *end;
    for (const char *at = list; at != NULL && *at != '\0' && count < 64; at = end) {
        osd[count] = strtol(at, &end, 10);
        if (end == at)
            break;
        count++;
    }
    return count > 0 ? osd[object % count] : 0;
}

/* The first two numbers of the question are the offset, which is asked for, and what is not. */
static int answer_location(const char *path, unsigned char *answer)
{
    unsigned long long unit, count, size;
    uint64_t offset;
    char layout[200];
    read_layout(path, layout);
    if (sscanf(layout, "stripe_unit=%llu stripe_count=%llu object_size=%llu", &unit, &count,
               &size) != 3)
        return -1;
    memcpy(&offset, answer, sizeof offset);
    uint64_t stripe = offset / unit;
    int64_t osd = osd_of(stripe / (size / unit * count) * count + stripe % count);
    memcpy(answer + 112, &osd, sizeof osd);
    return 0;
}

int ioctl(int fd, unsigned long request, ...)
{
    char path[PATH_MAX + 8];
    va_list arguments;
    va_start(arguments, request);
    void *answer = va_arg(arguments, void *);
    va_end(arguments);
    if (request == GET_LOCATION && find_layout(fd, path))
        return answer_location(path, answer);
    return (int)syscall(SYS_ioctl, fd, request, answer);
}
