/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A library in the place of librados, tests/unit/.libs/librados.so.2, and what the test that has it
 * loaded says of the cluster. Placement group g is on OSD (g + epoch) % 3, and OSD n on host
 * "osd<n>".
 */
#ifndef TESTS_UNIT_FAKE_RADOS_H
#define TESTS_UNIT_FAKE_RADOS_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Environment variable: the address of the fake_rados, as %p prints it. */
#define FAKE_RADOS "FAKE_RADOS"

#define FAKE_RADOS_FSID "07f7ea5a-2044-4351-bf84-eb2a91f0cdb4"

/* Exit status of a process that ends while a thread is in the library, or connected. */
enum { FAKE_RADOS_IN_USE = 70 };

typedef struct fake_rados {
    int64_t (*find_group)(const char *name_space, const char *object, int64_t groups);
    atomic_int epoch, groups;                  /* of the map */
    const char *_Atomic reply;                 /* to commands that begin with ...; NULL: as above */
    const char *_Atomic replied_command;       /* ... this prefix */
    char id[40];                               /* of the user; "": the default */
    atomic_int connect_error;                  /* negative errno, or 0 */
    sem_t *_Atomic connect, *_Atomic shutdown; /* posted when that may go on; NULL: it does */
    atomic_int connects, shutdowns, commands;  /* that have begun */
    atomic_int connected;                      /* connections that have not ended */
    atomic_int inside;                         /* threads that connect or shut down */
    atomic_bool may_stay_in_use, may_stay_connected; /* at the end of the process */
} fake_rados;

#endif
