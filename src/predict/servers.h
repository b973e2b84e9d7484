/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Storage servers of recorded files, on the nodes of a job or on others.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef PREDICT_SERVERS_H
#define PREDICT_SERVERS_H

#include "matrix/view_file.h"
#include "storage/storage.h"

typedef struct predict_layout {
    const char *file; /* name in the record; NULL: any file */
    const storage_layout *layout;
    const size_t *node_of_target; /* < nodes of the topology; STORAGE_NONE: not known */
} predict_layout;

typedef struct predict_servers {
    const predict_layout *layout;
    size_t layouts;
    int64_t weight; /* see plan_input.storage_weight */
} predict_servers;

/* The layout of a file, or NULL. servers: NULL is fine. */
const predict_layout *predict_find_layout(const predict_servers *servers, const char *file);

/* Bytes of each domain on the servers of each of `nodes` nodes, of `calls` calls of which each
 * accesses the same bytes, once; node_bytes (any rows, domains): what all of them access. -ENOMEM;
 * -ERANGE. Release with matrix_release. */
int predict_spread(const predict_layout *on, const file_domains *domains, const matrix *node_bytes,
                   int64_t calls, size_t nodes, matrix *stored);

/* Recorded bytes of each rank (row) on the servers of each of `nodes` nodes (column), over all
 * patterns whose layout is known. -ENOMEM; -ERANGE. Release with matrix_release. */
int predict_stored(const predict_servers *servers, const view_file *file, size_t nodes,
                   matrix *stored);

#endif
