/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Where the files of a record are stored: storage servers on the nodes of a job, or on other hosts.
 */
#ifndef DLA_SERVERS_H
#define DLA_SERVERS_H

#include "predict/servers.h"
#include "setmatch/setmatch.h"
#include "topo/topo.h"

/* Zeroed: not known. */
typedef struct dla_servers {
    predict_servers known;  /* layouts is 0: not known */
    topo topology;          /* the nodes, then other hosts of servers */
    struct dla_layout *own; /* what `known` points to */
} dla_servers;

typedef struct dla_servers_input {
    const view_file *file;
    FILE *targets; /* file of targets or blocks; NULL: hosts as recorded */
    const char *const *node;
    size_t nodes;
    const topo_fabric *fabric;       /* NULL: not known */
    const setmatch_network *network; /* instead, with levels: measured */
    int64_t weight;
} dla_servers_input;

/* The layout of each recorded file: a table of blocks; else what is recorded, with the hosts of a
 * file of targets; else its targets in turn, where the size of stripes is recorded. A server on a
 * host whose distance is not known is as far from all nodes, but for hosts of a file of targets
 * with a topology that lacks them. -EBADMSG, -ENXIO, -EIO: `error` explains, and *in_record says
 * whether it is about the view file or the targets; -ENODATA: no layout is known; -ENOMEM.
 * Release with dla_servers_release. */
int dla_servers_find(const dla_servers_input *in, dla_servers *servers, bool *in_record,
                     matrix_error *error);
void dla_servers_release(dla_servers *servers);

#endif
