/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names by number, numbers by name, and when two names stand for one host. Private to this folder.
 */
#ifndef TOPO_NAMES_H
#define TOPO_NAMES_H

#include "matrix/matrix.h"

#define NO_INDEX SIZE_MAX

/* Byte strings, numbered from 0 as they are first added. A zeroed table is empty. */
typedef struct name_table {
    char *text; /* each is followed by a NUL */
    size_t used, room;
    size_t *start; /* of each in text; start[count] = used */
    size_t count, capacity;
    size_t *slot; /* hash table of number + 1; 0: free */
    size_t slots; /* a power of two, or 0 */
} name_table;

/* The number of those bytes, which are added where they are new. -ENOMEM. */
int name_table_add(name_table *names, const void *bytes, size_t length, size_t *index);

/* NO_INDEX where they are not there. */
size_t name_table_find(const name_table *names, const void *bytes, size_t length);

const char *name_table_get(const name_table *names, size_t index);

void name_table_release(name_table *names);

/* The hosts of a table, sorted so that names that may stand for one host are neighbours. */
typedef struct host_index {
    const name_table *names;
    size_t *order;
    size_t count;
} host_index;

/* -ENOMEM. */
int host_index_build(host_index *index, const name_table *names);

void host_index_release(host_index *index);

/* -EBADMSG: two names stand for one host. */
int host_index_check(const host_index *index, matrix_error *error);

/* -ENXIO: not there; -EBADMSG: may be one or another. */
int host_index_find(const host_index *index, const char *host, size_t *found, matrix_error *error);

/* -EBADMSG: a name is given twice (without case); -ENOMEM. */
int check_hosts_differ(const char *const *hosts, size_t nodes, matrix_error *error);

#endif
