/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The layout of a file that has no data yet: of some stripings that follow the accesses, the one
 * whose bytes cost the least on their way from the ranks by aggregators to the storage servers.
 * doc/storage.md has the method.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success. Equal input gives
 * equal output.
 */
#ifndef PLAN_LAYOUTS_H
#define PLAN_LAYOUTS_H

#include <stdbool.h>

#include "access/domain.h"
#include "access/striping.h"
#include "lap/lap.h"
#include "plan/pieces.h"
#include "plan/plan.h"

/* Part of the hop-bytes that another layout must save: below it, the file stays as its owner, or
 * the administrator, wants files to be. */
#define LAYOUTS_LEAST_SAVING FITTED_LEAST_SAVING

/* ---- candidates ---- */

/* The stripings that may suit an access. bytes: of each node in each unit, units x nodes. A stripe
 * is as long as most of what one node has without a gap, or that length halved up to three times,
 * or doubled. Either objects have one stripe each, or several objects take stripes in turn: up to
 * eight, or as many as there are stripes until the same node comes again. These are as large as may
 * be, or half of that. All are different. The caller frees *list, which is NULL where nothing
 * suits. -ENOMEM. */
int layouts_list(const pieces *units, const matrix *bytes, const file_striping_limits *limits,
                 file_striping **list, size_t *count);

/* ---- choice ---- */

/* Where the bytes of an access are, with one striping. */
typedef struct layouts_stored {
    matrix bytes; /* of each domain on the servers of each node, nodes x domains */
    int64_t most; /* on the target that has most */
} layouts_stored;

/* Who knows which server has which object. striping: NULL, the present one. `bytes` of the result
 * is the caller's. -ENOENT: it is not known of all bytes of the domains; other errors end all. */
typedef struct layouts_servers {
    int (*find)(const void *context, const file_striping *striping, const file_domains *domains,
                const matrix *node_bytes, layouts_stored *stored);
    const void *context;
    size_t targets; /* number of storage targets */
} layouts_servers;

typedef struct layouts_input {
    const plan_input *problem; /* with node_bytes and a weight, without storage */
    const plan_strategy *strategy;
    const lap_solver *solver;
    const file_domains *domains; /* even ones */
    const layouts_servers *servers;
    /* For fitted domains, which a plan takes where they pay; smallest is NULL: never. */
    const pieces *smallest;
    const matrix *bytes; /* of each node in each of these units, units x nodes */
    const division_settings *settings;
} layouts_input;

/* Of a plan with one layout. */
typedef struct layouts_costs {
    double hop_bytes;       /* between ranks, and the weighted ones to servers */
    int64_t crossing_bytes; /* the same of bytes between nodes; INT64_MAX on overflow */
} layouts_costs;

typedef struct layouts_choice {
    bool changes;           /* another layout is better than the present one */
    file_striping striping; /* of the better one */
    layouts_costs present, better;
} layouts_choice;

/* Plans are made as for the access itself, by the same functions. No target gets more than with the
 * present layout, or than twice an even share if that is more: hop-bytes do not know that one
 * server is slower than many. Of candidates that cost the same the first one is chosen. -ENOENT:
 * nothing is known of the present layout; errors of strategies; -ENOMEM. */
int layouts_choose(const layouts_input *in, const file_striping *candidate, size_t count,
                   layouts_choice *choice);

#endif
