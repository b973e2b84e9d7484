/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Names by number, numbers by name, and the matching of host names.
 */
#ifndef TOPO_NAMES_H
#define TOPO_NAMES_H

#include "matrix/matrix.h"

#define NO_INDEX SIZE_MAX

/* Byte strings, numbered from 0 as they are first added. A zeroed table is empty. */
typedef struct name_table {
    char *text; /* each is followed by a NUL */
    size_t used, text_capacity;
    size_t *start; /* of each in text; start[count] = used */
    size_t count, capacity;
    size_t *slot; /* hash table of number + 1; 0: free */
    size_t slots; /* a power of two, or 0 */
} name_table;

/* The number of those bytes, added if they are new. -ENOMEM. */
int name_table_add(name_table *names, const void *bytes, size_t length, size_t *index);

const char *name_table_get(const name_table *names, size_t index); /* that was returned */

void name_table_release(name_table *names);

/* Refuses a host, by a format and its arguments. Returns -ENXIO. */
#define REFUSE_HOST(error, ...) ((void)matrix_refuse(error, 0, __VA_ARGS__), -ENXIO)

/* The number of each host in the table. -EBADMSG: a host matches two names, or two hosts one;
 * -ENXIO: a host is missing, or with `optional` found[n] = NO_INDEX; -ENOMEM. */
int find_hosts(const name_table *names, const char *const *hosts, size_t nodes, int optional,
               size_t *found, matrix_error *error);

#endif
