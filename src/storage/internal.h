/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How the readers of formats build a layout, and what readers and queries share. Private to this
 * folder.
 */
#ifndef STORAGE_INTERNAL_H
#define STORAGE_INTERNAL_H

#include "storage/query.h"

/* More than any file has: objects, blocks and lines of a file of targets. */
enum { STORAGE_MOST_OBJECTS = 1 << 20 };

/* Of a host, without the NUL. */
enum { STORAGE_LONGEST_HOST = 255 };

/* Number of an object's target that is not known. */
#define STORAGE_NO_NUMBER UINT64_MAX

/* ---- building: begin, then for each extent its objects, then finish ---- */

/* NULL: no memory. */
storage_layout *storage_begin(const char *file_system);

/* Appends an object on the target of that number to the next extent. -ENOMEM. */
int storage_add_object(storage_layout *layout, uint64_t number);

/* Adds the extent, with the objects since the last one; `target` and `objects` are not read.
 * -EBADMSG: empty, before the end of the last one, or a unit, count or object size that cannot be.
 * -ENOMEM. */
int storage_add_extent(storage_layout *layout, const storage_extent *extent, matrix_error *error);

/* Numbers the targets of all objects. -ENOMEM. */
int storage_finish(storage_layout *layout);

/* Passes the layout on if rc is 0; otherwise frees it. Returns rc. */
int storage_hand_over(storage_layout *built, int rc, storage_layout **layout);

/* At most STORAGE_LONGEST_HOST characters, printable ones of ASCII and no blanks. */
bool storage_is_host_name(const char *host);

/* Sets the host of a target; what is no name changes nothing. -ENOMEM. */
int storage_set_host(storage_layout *layout, size_t target, const char *host);

/* ---- CephFS ---- */

/* Of which bytes the targets are wanted. */
typedef struct storage_range {
    int64_t from, to;
} storage_range;

/* Reads the attribute ceph.file.layout. -EBADMSG. */
int ceph_read_striping(const char *attribute, file_striping *striping, matrix_error *error);

/* Objects *first to *end - 1 have the bytes of the range: whole rounds of `count`, at least one.
 * -EBADMSG: more than STORAGE_MOST_OBJECTS up to its end. */
int ceph_find_objects(const file_striping *striping, storage_range range, size_t *first,
                      size_t *end, matrix_error *error);

/* The offset in the file of the first byte of an object. */
int64_t ceph_object_offset(const file_striping *striping, size_t object);

/* Of the name of an object, with the NUL. */
enum { CEPH_OBJECT_BYTES = 34 };
void ceph_name_object(uint64_t inode, size_t object, char name[CEPH_OBJECT_BYTES]);

/* The longest name of a pool or a namespace. */
enum { CEPH_LONGEST_NAME = 255 };

/* The placement group, of `groups` in a pool, that an object of that namespace ("": none, at most
 * CEPH_LONGEST_NAME) is in: by Ceph's hash, rjenkins. */
int64_t ceph_find_group(const char *name_space, const char *object, int64_t groups);

/* ---- Lustre and BeeGFS ---- */

/* The host in the network identifier of a server, "10.1.1.5@o2ib1". "": there is none, or it is
 * this host. */
void lustre_host_of_nid(const char *nid, char host[STORAGE_LONGEST_HOST + 1]);

/* Sets the hosts of targets from the files FOLDER/FS-OSTxxxx-osc-MOUNT/ost_conn_uuid of the client,
 * where `device` is "FS-clilov-MOUNT". Targets without such a file stay without a host. -ENOMEM. */
int lustre_name_servers(storage_layout *layout, const char *folder, const char *device);

/* Bytes of what BeeGFS's ioctls return: pattern type, chunk size, number of targets; a target. */
enum { BEEGFS_PATTERN_BYTES = 12, BEEGFS_TARGET_BYTES = 536 };

/* ---- asking: `fd` is a file of that file system; errors as storage_query ---- */

int lustre_query(int fd, storage_range range, storage_layout **layout, matrix_error *error);
int beegfs_query(int fd, storage_range range, storage_layout **layout, matrix_error *error);
int ceph_query(int fd, storage_range range, storage_layout **layout, matrix_error *error);

/* As ceph_query, of a file behind FUSE. */
int ceph_query_fuse(int fd, storage_range range, storage_layout **layout, matrix_error *error);

/* Errors as storage_set_striping. */
int ceph_set_striping(int fd, const file_striping *striping, matrix_error *error);

/* Sets the error from errno, and returns its negative. */
int storage_fail(matrix_error *error, const char *what);

/* Of a file by its descriptor, which may be one of O_PATH. */
enum { STORAGE_FD_PATH = 40 };
void storage_path_of_fd(int fd, char path[STORAGE_FD_PATH]);

/* An extended attribute and a NUL; the caller frees it. -ENOMEM; errors of getxattr. */
int storage_get_attribute(int fd, const char *name, char **value, size_t *length,
                          matrix_error *error);

/* Replaces an address by the name that the system has for it, if any. */
void storage_name_address(char host[STORAGE_LONGEST_HOST + 1]);

/* Of a file of CephFS: the identity of its cluster, and what is in the names of its objects. No
 * text has characters that JSON would write in another way. */
typedef struct ceph_names {
    const char *fsid, *pool, *name_space;
    uint64_t inode;
} ceph_names;

/* The layout of a file by its attribute and the OSDs of objects first to end - 1, which it puts
 * into `osd`, -1: none; by librados. -ENOTSUP: not installed, no access, or another cluster;
 * -ENOMEM; errors as storage_from_ceph. */
int ceph_ask_monitors(const ceph_names *names, const char *attribute, int64_t *osd, size_t first,
                      size_t end, storage_layout **layout, matrix_error *error);

#endif
