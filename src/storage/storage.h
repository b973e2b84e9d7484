/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Layouts of files on parallel file systems: which target (OST, chunk server, OSD) holds which
 * byte, and which host serves a target. doc/storage.md has the formats and their sources.
 *
 * Offsets and lengths are bytes. Targets have an index, from 0 in the order of the numbers by which
 * their file system knows them. Functions return 0 or a negative errno value and set outputs only
 * on success; on failure `error` has the reason, but for -ENOMEM.
 */
#ifndef STORAGE_STORAGE_H
#define STORAGE_STORAGE_H

#include "access/domain.h"
#include "access/striping.h"
#include "matrix/matrix.h"

/* No target: a hole, or bytes whose target is not known (yet). */
#define STORAGE_NONE SIZE_MAX

/* Extents, ascending, each with stripes of its own. */
typedef struct storage_layout storage_layout;

/* Unit u of an extent, bytes u * unit to (u + 1) * unit of the file, is in object u % count.
 * With an object size, objects that are full are followed by the next `count` ones. */
typedef struct storage_extent {
    int64_t start, end;   /* without the byte at `end`; INT64_MAX: without end */
    int64_t unit;         /* stripe unit */
    size_t count;         /* stripe count; 0: not decided yet */
    int64_t object;       /* largest size of an object; 0: any */
    const size_t *target; /* of each object; an index or STORAGE_NONE */
    size_t objects;       /* 0: no targets are known */
} storage_extent;

/* ---- what a layout says ---- */

/* For people; static. */
const char *storage_file_system(const storage_layout *layout);

size_t storage_extents(const storage_layout *layout);

/* The targets are valid as long as the layout. */
void storage_get_extent(const storage_layout *layout, size_t index, storage_extent *extent);

/* The index of the target of a byte, or STORAGE_NONE. *next: the first byte behind it that may have
 * another target; INT64_MAX: there is none. O(log extents). */
size_t storage_find(const storage_layout *layout, int64_t offset, int64_t *next);

/* The bytes of [start, end) on each target, and after these, in bytes[targets], on none. 0 <= start
 * <= end. O(objects of the extents in between). */
void storage_count(const storage_layout *layout, int64_t start, int64_t end, int64_t *bytes);

size_t storage_targets(const storage_layout *layout);
uint64_t storage_target_number(const storage_layout *layout, size_t target);

/* NULL: not known. A name, or where none is known for it, an address. */
const char *storage_target_host(const storage_layout *layout, size_t target);

/* A copy, which the caller frees. -ENOMEM. */
int storage_copy(const storage_layout *layout, storage_layout **copy);

void storage_free(storage_layout *layout); /* NULL is fine */

/* ---- layouts from what file systems say ----
 *
 * -EBADMSG: malformed or of an unknown kind; -ENOMEM. Hosts that no format contains are NULL. */

/* The extended attribute lustre.lov of a file. Components without objects (not initialised yet,
 * or on a metadata server) have no targets. Of mirrors, the first that is not stale counts. */
int storage_from_lustre(const void *attribute, size_t length, storage_layout **layout,
                        matrix_error *error);

/* What BeeGFS's ioctls for the stripe pattern of a file, and for each of its targets (one after
 * another), return. Of a mirrored target the primary one counts. */
int storage_from_beegfs(const void *pattern, size_t length, const void *targets,
                        size_t targets_length, storage_layout **layout, matrix_error *error);

/* The extended attribute ceph.file.layout, a string, and the number of the OSD of each of the
 * file's first objects; negative: not known. */
int storage_from_ceph(const char *attribute, const int64_t *osd, size_t objects,
                      storage_layout **layout, matrix_error *error);

/* A text file. Either each line has the number of a target and its host, and the layout is without
 * extents until storage_stripe; or each line has offset, length and host of a block of the file, in
 * ascending order. '#' begins a comment. Also -EIO. */
int storage_read_targets(FILE *stream, storage_layout **layout, matrix_error *error);

/* Makes the first `count` targets, in the order of their lines (0: all), take units of that size in
 * turn. For layouts of storage_read_targets without extents. -EBADMSG: fewer targets, or a unit
 * below 1. */
int storage_stripe(storage_layout *targets, int64_t unit, size_t count, matrix_error *error);

/* A layout as lines of text, for the record of a run: its first extents, objects and the hosts of
 * these. NULL: no memory. The caller frees it. */
char *storage_record(const storage_layout *layout);

/* From such lines, each with its newline; the first one has number `line` in errors. */
int storage_read_recorded(const char *text, size_t line, storage_layout **layout,
                          matrix_error *error);

/* ---- hosts ---- */

/* Gives each target the host that `hosts` has for its number. -ENXIO, and nothing is changed: for a
 * target without a host there is none. */
int storage_copy_hosts(storage_layout *layout, const storage_layout *hosts, matrix_error *error);

/* ---- other layouts of a file without data ---- */

/* Whether storage_set_striping can change such a layout, and which stripings its file system takes:
 * CephFS. */
bool storage_can_be_striped(const storage_layout *layout, file_striping_limits *limits);

/* The layout of the same file with another striping, without hosts; targets keep their indices.
 * -ENOENT: of `bytes` bytes, some are in objects whose targets `layout` does not know; -ENOMEM. */
int storage_with_striping(const storage_layout *layout, const file_striping *striping,
                          int64_t bytes, storage_layout **other);

/* ---- the bytes of file domains ---- */

/* Bytes of each domain on the servers of each node, nodes x domains. node_of_target: the node of
 * each target; STORAGE_NONE: not known, and its bytes are in no node. accessed[j]: bytes that ranks
 * access in domain j, each as often as it is accessed; they count once, as evenly spread over the
 * domain. Of very many stripes the first ones count. -ENOMEM. Release with matrix_release. */
int storage_spread(const storage_layout *layout, const file_domains *domains,
                   const size_t *node_of_target, size_t nodes, const int64_t *accessed,
                   matrix *bytes);

#endif
