/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of an exchange share. */
#ifndef COLLECTIVE_EXCHANGE_INTERNAL_H
#define COLLECTIVE_EXCHANGE_INTERNAL_H

#include "collective/exchange.h"

/* Memory that the ranks of a node share. */
typedef struct coll_segment coll_segment;

/* Where a rank copies its data of a domain, or those that it owns: the windows of an aggregator of
 * this node, or those for its chunks in a bundle, which the carrier sends to another node. */
typedef struct coll_row {
    size_t domain;
    int rank, owner;        /* whose data are there; who grants the windows: aggregator, carrier */
    size_t ranks, index;    /* of a bundle, whose rows are adjacent; 0: an aggregator's windows */
    size_t place;           /* of the first window's flags */
    int64_t offset, stride; /* bytes to the first of its windows, and to the next */
} coll_row;

/* What the ranks of a node share for an exchange. */
typedef struct coll_table {
    const coll_row *row; /* ascending by domain and rank */
    size_t rows;
    size_t places; /* of flags */
    size_t bytes;  /* of windows; 0: nothing is shared */
} coll_table;

/* A wide list, and the part of it that the domain has at the present distance. */
typedef struct coll_wide {
    size_t domain;
    access_list list, *part;
} coll_wide;

/* What this rank carries for a domain. */
typedef struct coll_carried {
    size_t share;        /* of the layout */
    const coll_row *row; /* the bundle's first */
    access_list *list;   /* of each rank: until they are united, unless shares are wide */
    int64_t pieces;      /* of these */
    access_list whole;   /* their union */
    access_list *part;   /* of each rank, in bytes of the carried stream */
    exchange_windows *windows;
    exchange_bundle bundle;
} coll_carried;

struct coll_exchange {
    coll_exchange_memory *memory;
    size_t index;
    coll_segment *segment; /* NULL if nothing is shared */
    coll_table table;      /* in the segment, until a run: the same on all ranks of the node */
    coll_carried *carried; /* ascending by domain */
    size_t carries;
    exchange_contributor *contributor; /* ascending by rank */
    size_t contributors;
    exchange_target *target;
    coll_wide *wide; /* where shares are wide, all lists of ranks */
    size_t wides, wide_capacity;
    int64_t distance;   /* for which the parts are */
    exchange_task task; /* of the engine */
    exchange *engine;
};

struct coll_exchange_memory {
    coll_process *process;
    exchange_buffers *buffers; /* of the next run */
    coll_segment *segment;     /* the last one that was shared, or NULL */
    size_t refused_bytes;      /* the leader's: so much could not be shared; SIZE_MAX: any can */
    coll_exchange exchange[COLL_SLOTS];
};

/* ---- windows.c ---- */

/* Whether the ranks of this node look for bundles: the same on all of them. */
bool coll_windows_bundled(const coll_group *group, const domain_layout *layout);
/* Makes the table and shares it and its windows, or nothing. bundled: the above. All ranks of the
 * node call it. Returns this rank's error, which has to be agreed on. */
int coll_windows_share(coll_exchange *ex, coll_group *group, const domain_layout *layout,
                       bool bundled);
/* The row for a rank's data of a domain; NULL if they are its own messages. */
const coll_row *coll_windows_find(const coll_exchange *ex, size_t domain, int rank);

/* ---- shm.c ---- */

/* Shares a segment for a table, which is the leader's, and its windows: *segment; NULL if any rank
 * of the node cannot have it. The table becomes that in the segment. All ranks of the node call it.
 * Returns this rank's error, which has to be agreed on. */
int coll_segment_share(coll_exchange_memory *memory, coll_group *group, coll_table *table,
                       coll_segment **segment);
/* The windows of a row, for the exchange of that index. */
exchange_windows coll_segment_windows(const coll_segment *segment, size_t index,
                                      const coll_row *row);
/* The last user frees it; NULL is allowed. */
void coll_segment_release(coll_segment *segment);

/* ---- requests.c ---- */

/* These requests are in flight. */
typedef struct coll_requests {
    exchange_request *request;
    int64_t **element;
    size_t count;
} coll_requests;

/* Starts to send this rank's requests to the aggregators, or to the carriers, which send them on.
 * Collective on the node where there are bundles. */
int coll_requests_start(coll_exchange *ex, coll_group *group, const domain_layout *layout,
                        coll_requests *out);
/* Completes them, and receives those for this rank's domain. rc: this rank's status so far. Returns
 * its error, which has to be agreed on. Collective. */
int coll_requests_complete(coll_exchange *ex, coll_group *group, const domain_layout *layout,
                           coll_requests *out, int rc);
/* Unites the lists of the ranks of a bundle; an error leaves the union empty. */
int coll_carried_unite(coll_carried *c);
void coll_requests_release(coll_exchange *ex);

#endif
