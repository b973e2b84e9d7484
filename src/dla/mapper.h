/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places the ranks of a job by a request: what the component of each launcher does between the
 * nodes that it is given and the map that it fills.
 */
#ifndef DLA_MAPPER_H
#define DLA_MAPPER_H

#include "dla/automatic.h"
#include "dla/place.h"
#include "dla/request.h"

typedef struct dla_mapping {
    const char *name; /* of the job, for the report */
    dla_job job;
    const char *const *node_name; /* of each of job.nodes */
    size_t *by_slot;              /* of job.ranks entries, which dla_mapping_place sets */
    size_t *node_of_rank;         /* the result */
    matrix *view; /* by which dla_arrange places inside nodes, a result that the caller
                     releases; empty: it does not */
    void (*show)(const char *line);
    bool verbose; /* shows what the placement is worth; else only that a stock mapping was kept */
    const dla_program *program; /* NULL: several programs, which have no record in the cache */
} dla_mapping;

/* Reads the files of the request, places the ranks on nodes, and reports what that is worth;
 * without a request (NULL) places them by slot. Returns 0; -EINVAL after a message; -ENOSPC: app
 * number *app does not fit; -ENOMEM; -ECANCELED: with file=auto there is no placement that gains
 * anything, and the stock mapping is that of a launcher without a request. Then the ranks are
 * placed by slot, and only `verbose` says why, unless a record is damaged. */
int dla_mapping_place(const dla_mapping *m, const dla_request *r, size_t *app);

#endif
