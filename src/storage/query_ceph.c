/* SPDX-License-Identifier: BSD-3-Clause */
/* CephFS: the kernel's client tells the OSD of an object and its address; behind FUSE, libcephfs
 * knows them. */
#include "storage/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/memory.h"

/* Where the byte at an offset is: all but the offset is an answer. */
typedef struct location {
    uint64_t offset, offset_in_object, object, object_size;
    char name[64];
    uint64_t block_offset, block_size;
    int64_t osd;
    struct sockaddr_storage address;
} location;

#define GET_LOCATION _IOWR(0x97, 3, location)

/* A file of CephFS while it is asked about. */
typedef struct ceph_file {
    int fd;
    char *attribute;
    file_striping striping;
    int64_t *osd; /* of `end` objects; -1 of those below `first`, about which nobody asks */
    size_t first, end;
} ceph_file;

/* Release with close_question. */
static int open_question(int fd, storage_range range, ceph_file *file, matrix_error *error)
{
    size_t length;
    *file = (ceph_file){.fd = fd};
    int rc = storage_get_attribute(fd, "ceph.file.layout", &file->attribute, &length, error);
    if (rc == 0)
        rc = ceph_read_striping(file->attribute, &file->striping, error);
    if (rc == 0)
        rc = ceph_find_objects(&file->striping, range, &file->first, &file->end, error);
    if (rc == 0 && (file->osd = base_alloc(file->end, sizeof *file->osd)) == NULL)
        rc = -ENOMEM;
    for (size_t k = 0; rc == 0 && k < file->first; k++)
        file->osd[k] = -1;
    return rc;
}

static void close_question(ceph_file *file)
{
    free(file->attribute);
    free(file->osd);
}

static int find_location(const ceph_file *file, size_t object, location *where)
{
    *where = (location){.offset = (uint64_t)ceph_object_offset(&file->striping, object)};
    return ioctl(file->fd, GET_LOCATION, where);
}

/* "": of another family. */
static void print_address(const struct sockaddr_storage *address,
                          char host[STORAGE_LONGEST_HOST + 1])
{
    const void *bytes = address->ss_family == AF_INET6
                            ? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
                            : (const void *)&((const struct sockaddr_in *)address)->sin_addr;
    if (inet_ntop(address->ss_family, bytes, host, STORAGE_LONGEST_HOST + 1) == NULL)
        host[0] = '\0';
}

/* One object of each target is enough. */
static int name_osds(const ceph_file *file, storage_layout *layout)
{
    storage_extent e;
    location where;
    char host[STORAGE_LONGEST_HOST + 1];
    int rc = 0;
    storage_get_extent(layout, 0, &e);
    bool *asked = calloc(storage_targets(layout) | 1, sizeof *asked);
    if (asked == NULL)
        return -ENOMEM;
    for (size_t k = 0; rc == 0 && k < e.objects; k++) {
        if (e.target[k] == STORAGE_NONE || asked[e.target[k]] ||
            find_location(file, k, &where) != 0)
            continue;
        asked[e.target[k]] = true;
        print_address(&where.address, host);
        storage_name_address(host);
        rc = storage_set_host(layout, e.target[k], host);
    }
    free(asked);
    return rc;
}

int ceph_query(int fd, storage_range range, storage_layout **layout, matrix_error *error)
{
    ceph_file file;
    location where;
    storage_layout *built = NULL;
    int rc = open_question(fd, range, &file, error);
    for (size_t k = file.first; rc == 0 && k < file.end; k++)
        if (find_location(&file, k, &where) == 0)
            file.osd[k] = where.osd;
        else
            rc = storage_fail(error, "the location of an object of CephFS");
    if (rc == 0)
        rc = storage_from_ceph(file.attribute, file.osd, file.end, &built, error);
    if (rc == 0)
        rc = name_osds(&file, built);
    close_question(&file);
    return storage_hand_over(built, rc, layout);
}

/* The end of the path that begins at the root of its mount. Folders of the path above it are of
 * other file systems. */
static const char *path_in_mount(char *path, dev_t device)
{
    struct stat status;
    char *inside = strrchr(path, '/');
    for (char *at = inside; at > path; at--) {
        if (*at != '/')
            continue;
        *at = '\0';
        int rc = stat(path, &status);
        *at = '/';
        if (rc != 0 || status.st_dev != device)
            break;
        inside = at;
    }
    return inside;
}

static int ask_at_path(const ceph_file *file, const ceph_path *where, storage_layout **layout,
                       matrix_error *error)
{
    storage_layout *built = NULL, *hosts = NULL;
    int rc =
        ceph_ask_library(where, &file->striping, file->osd, file->first, file->end, &hosts, error);
    if (rc == 0)
        rc = storage_from_ceph(file->attribute, file->osd, file->end, &built, error);
    if (rc == 0)
        rc = storage_copy_hosts(built, hosts, error);
    storage_free(hosts);
    return storage_hand_over(built, rc, layout);
}

static int ask_about_open_file(const ceph_file *file, storage_layout **layout, matrix_error *error)
{
    char link[STORAGE_FD_PATH], path[PATH_MAX];
    struct stat status;
    storage_path_of_fd(file->fd, link);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0 || fstat(file->fd, &status) != 0)
        return storage_fail(error, "the path of the file");
    path[length] = '\0';
    if (path[0] != '/') {
        errno = ENOENT;
        return storage_fail(error, "the path of the file");
    }
    const ceph_path where = {path_in_mount(path, status.st_dev), status.st_ino};
    return ask_at_path(file, &where, layout, error);
}

int ceph_query_fuse(int fd, storage_range range, storage_layout **layout, matrix_error *error)
{
    ceph_file file;
    int rc = open_question(fd, range, &file, error);
    if (rc == -ENODATA || rc == -EOPNOTSUPP || rc == -ENOSYS) {
        matrix_refuse(error, 0, "a file system of FUSE that does not say where data are");
        rc = -ENOTSUP;
    }
    if (rc == 0)
        rc = ask_about_open_file(&file, layout, error);
    close_question(&file);
    return rc;
}

/* CephFS itself refuses it for a file that has, or had, data. */
int ceph_set_striping(int fd, const file_striping *striping, matrix_error *error)
{
    char value[120];
    int length = snprintf(value, sizeof value, "stripe_unit=%lld stripe_count=%zu object_size=%lld",
                          (long long)striping->unit, striping->count, (long long)striping->object);
    if (fsetxattr(fd, "ceph.file.layout", value, (size_t)length, 0) != 0)
        return storage_fail(error, value);
    return 0;
}
