/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places the ranks of a job by a request: what the component of each launcher does between the
 * nodes that it is given and the map that it fills.
 */
#ifndef DLA_MAPPER_H
#define DLA_MAPPER_H

#include "dla/automatic.h"
#include "dla/place.h"
#include "dla/spec.h"

typedef struct dla_mapping {
    const char *name; /* of the job, for the report */
    dla_job job;
    const char **node_name; /* of each of job.nodes */
    size_t *by_slot;        /* of job.ranks entries, which dla_mapping_place sets */
    size_t *node_of_rank;   /* the result */
    matrix view;     /* by which dla_arrange places inside nodes, a result that the caller releases;
                        empty: it does not */
    bool is_decided; /* a result: the view decides the nodes, also if a stock mapping is kept */
    void (*show)(const char *line);
    int verbose;    /* 0 shows a line of each placement by a request, 1 its details */
    bool may_leave; /* jobs without a record may be left to the stock mappers */
    /* NULL if there are several programs, which have no record in the cache. */
    const dla_program *program;
} dla_mapping;

/* Reads the files of the request, places the ranks on nodes, and reports what that is worth;
 * without a request (NULL) places them by slot. Returns 0; -EINVAL, with a reason; -ENOSPC: app
 * number *app does not fit; -ENOMEM; -ECANCELED: with file=auto nothing is gained, or an error
 * prevents it: the job is for the stock mappers; where it may not be, it is placed by slot. */
int dla_mapping_place(dla_mapping *m, const dla_spec *spec, size_t *app,
                      char reason[DLA_REASON_SIZE]);

#endif
