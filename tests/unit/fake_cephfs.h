/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library in the place of libcephfs, tests/unit/.libs/libcephfs.so.2, and what the test that has
 * it loaded says of the file system. Object k of the file is on OSD k % 3, and OSD n on host
 * "osd<n>".
 */
#ifndef TESTS_UNIT_FAKE_CEPHFS_H
#define TESTS_UNIT_FAKE_CEPHFS_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Environment variable: the address of the fake_cephfs, as %p prints it. */
#define FAKE_CEPHFS "FAKE_CEPHFS"

/* Exit status of a process that ends while a thread is in the library, or a mount is left. */
enum { FAKE_CEPHFS_IN_USE = 70 };

enum { FAKE_CEPHFS_OBJECT = 8192 };

typedef struct fake_cephfs {
    _Atomic uint64_t inode;                 /* of the file at any path */
    atomic_int mount_error;                 /* negative errno, or 0 */
    sem_t *_Atomic mount, *_Atomic unmount; /* posted when that may go on; NULL: it does */
    atomic_int mounts, unmounts;            /* that have begun */
    atomic_int mounted;                     /* mounts that have not ended */
    atomic_int inside;                      /* threads in a mount or unmount */
    atomic_bool may_stay_in_use;            /* at the end of the process */
} fake_cephfs;

#endif
