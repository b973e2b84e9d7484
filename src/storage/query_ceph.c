/* SPDX-License-Identifier: BSD-3-Clause */
/* CephFS: the kernel's client tells the OSD of an object and its address; behind FUSE, the monitors
 * do. */
#include "storage/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>

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
    int64_t *osd; /* of `end` objects; -1 of those below `first`, which no caller asks for */
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

/* ---- behind FUSE ---- */

/* Inodes of files begin at the first number; from the second one on, the upper bits are those of a
 * snapshot. ceph-fuse may be configured to make up smaller ones. */
#define LEAST_INODE (UINT64_C(1) << 40)
#define END_OF_INODES (UINT64_C(1) << 48)

/* Attributes of a file. */
enum { FSID, POOL, NAME_SPACE, TEXTS };

static bool is_plain(const char *text, size_t length)
{
    for (size_t k = 0; k < length; k++)
        if ((unsigned char)text[k] < ' ' || text[k] == '"' || text[k] == '\\')
            return false;
    return length <= CEPH_LONGEST_NAME;
}

/* The caller frees text[], also after an error. */
static int read_names(int fd, char *text[TEXTS], uint64_t *inode, matrix_error *error)
{
    static const char *const attribute[TEXTS] = {"ceph.cluster_fsid", "ceph.file.layout.pool",
                                                 "ceph.file.layout.pool_namespace"};
    struct stat status;
    size_t length;
    int rc = 0;
    for (int k = 0; rc == 0 && k < TEXTS; k++) {
        rc = storage_get_attribute(fd, attribute[k], &text[k], &length, error);
        if (rc == 0 && !is_plain(text[k], length))
            rc = matrix_refuse(error, 0, "%s is not plain text", attribute[k]);
    }
    if (rc != 0)
        return rc;
    if (fstat(fd, &status) != 0)
        return storage_fail(error, "fstat");
    *inode = status.st_ino;
    if (*inode < LEAST_INODE || *inode >= END_OF_INODES)
        return matrix_refuse(error, 0, "inode %" PRIu64 " is not one of CephFS", *inode);
    return 0;
}

int ceph_query_fuse(int fd, storage_range range, storage_layout **layout, matrix_error *error)
{
    ceph_file file;
    char *text[TEXTS] = {NULL};
    uint64_t inode = 0;
    int rc = open_question(fd, range, &file, error);
    if (rc == 0)
        rc = read_names(fd, text, &inode, error);
    if (rc == -ENODATA || rc == -EOPNOTSUPP || rc == -ENOSYS) {
        matrix_refuse(error, 0, "a file system of FUSE that does not say where data are");
        rc = -ENOTSUP;
    }
    if (rc == 0) {
        const ceph_names names = {text[FSID], text[POOL], text[NAME_SPACE], inode};
        rc = ceph_ask_monitors(&names, file.attribute, file.osd, file.first, file.end, layout,
                               error);
    }
    for (int k = 0; k < TEXTS; k++)
        free(text[k]);
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
