/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a decision needs, as messages from the ranks to the leaders of their nodes and from those to
 * the process that plans, the root: C, the bytes of each domain that each rank accesses, and where
 * domains may be fitted the bytes of each node in each unit. Only ranks that may own a domain are
 * listed one by one, and of a node that accesses very many domains only those that it has most of,
 * so that what arrives grows with the number of nodes.
 *
 * A message is an array of int64 elements, never exactly one: the number of elements of C, those,
 * and the steps of units. One without elements says nothing. Functions return 0 or a negative errno
 * value; a message that is made is the caller's to free.
 */
#ifndef PLAN_REQUESTS_H
#define PLAN_REQUESTS_H

#include "access/cut.h"
#include "access/encoding.h"
#include "plan/pieces.h"

/* ---- C ---- */

/* C, as far as a plan needs it (see plan.h). */
enum { ROWS_MATRICES = 6 };
typedef struct rows_matrices {
    union {
        matrix matrix[ROWS_MATRICES];
        struct {
            matrix requests;    /* ranks x domains: bytes, of ranks that may own the domain */
            matrix blocks;      /* the same in contiguous blocks; empty unless by_blocks */
            matrix node_bytes;  /* nodes x domains, of all ranks of the node */
            matrix node_blocks; /* empty unless by_blocks */
            matrix accessing;   /* 1 x domains: number of ranks that access it */
            matrix unlisted;    /* 1 x domains: bytes that node_bytes lacks */
        };
    };
    unsigned char *nearness; /* by rank, of those that are listed, as in rows_node; NULL: 0 */
} rows_matrices;

void rows_release(rows_matrices *r);

typedef struct rows_builder {
    union {
        matrix_builder builder[ROWS_MATRICES]; /* of each matrix of rows; no rows: not needed */
        struct {
            matrix_builder requests, blocks, node_bytes, node_blocks, accessing, unlisted;
        };
    };
    unsigned char *nearness;
} rows_builder;

rows_builder rows_builder_new(size_t ranks, size_t nodes, size_t domains, bool by_blocks);
/* -ERANGE, -ENOMEM. */
int rows_builder_finish(rows_builder *builder, rows_matrices *r);

/* ---- what a process adds up ---- */

/* Domains that each of the nodes (>= 1) lists at most: a plan has some tens of candidates for each
 * domain, whatever the number of nodes. A node with more has little of any of them. */
size_t rows_most_domains(size_t nodes, size_t domains);

/* The rows of the ranks of a node. `parts` is empty at first. */
typedef struct rows_node {
    bool by_blocks;               /* the strategy assigns by blocks, else by bytes */
    size_t most;                  /* a node owns no more domains than this */
    int low;                      /* the last of the `most` lowest ranks of the node */
    size_t domains, most_domains; /* of the job; that are listed at most */
    size_t first; /* among domains of equal weight those from this one on, cyclically, go first */
    const int *rank; /* of the node, ascending */
    size_t ranks;
    const unsigned char *nearness; /* of rank[i]: how near it is to the network, more is nearer;
                                      NULL if all are alike */
    struct rows_part *part;
    size_t parts, capacity;
    int64_t bytes, blocks; /* of all parts */
    /* NULL, or of all domains the number of ranks, then the bytes, where they are not listed. */
    int64_t *unlisted;
} rows_node;

/* Set the members; zeroed is the beginning of what is not stated. */
typedef struct request_sums {
    size_t units, most_units;   /* their number, 0: they are not counted; of a node at most */
    rows_node node;             /* at a leader ... */
    int64_t *unit_bytes;        /* ... and the bytes of the node in each unit, ... */
    int64_t most_bytes;         /* ... of which none exceeds this */
    rows_builder all;           /* at the root: of rows_builder_new ... */
    pieces_bytes *all_units;    /* ... and the bytes of all nodes; the caller's */
    const size_t *node_of_rank; /* borrowed */
} request_sums;

/* Describes a rank's shares, and what it accesses in each unit (units may be NULL). -ENOMEM. */
int requests_describe(const domain_share *share, size_t shares, const pieces *units,
                      const access_list *accesses, int64_t **element, size_t *count);

/* A leader adds the message of a rank of its node, and makes that of the node. sums: a
 * request_sums. -EINVAL: malformed, or a negative number; -ERANGE: sums beyond int64; -ENOMEM. */
int requests_add_rank(void *sums, int rank, const int64_t *element, size_t count);
int requests_sum_node(void *sums, int64_t **element, size_t *count);

/* The root adds the message of a node, by the rank of its leader, or sums of what nodes have
 * unlisted, of rank -1. Errors are as above. */
int requests_add_node(void *sums, int leader, const int64_t *element, size_t count);

/* Releases the memory, but not all_units. */
void requests_release(request_sums *sums);

#endif
