/* SPDX-License-Identifier: BSD-3-Clause
 *
 * C, the bytes of each domain that each rank accesses, on its way to the process that plans: from
 * the rows of the ranks of a node to the sums of the node, and from those to matrices. Only ranks
 * that may own a domain are listed one by one, and of a node that accesses very many domains only
 * those that it has most of, so that what arrives grows with the number of nodes.
 *
 * Rows and sums are arrays of int64 elements, to be sent as messages; they never have exactly one
 * element. Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef PLAN_ROWS_H
#define PLAN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/cut.h"
#include "access/encoding.h"
#include "matrix/matrix.h"

/* ---- at each rank ---- */

/* Appends the row of a rank: bytes and contiguous blocks of each share. -ENOMEM. */
int rows_append_shares(const domain_share *share, size_t shares, access_message *message);

/* ---- at the leader of a node ---- */

/* What one rank accesses of one domain. */
typedef struct rows_part {
    size_t domain;
    int rank;
    int64_t bytes, blocks;
    int64_t weight; /* what the strategy prefers ranks by */
    int nearness;   /* of the rank, as in rows_node */
} rows_part;

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
    rows_part *part;
    size_t parts, capacity;
    int64_t *unlisted; /* NULL, or ROWS_UNLISTED of all `domains` */
} rows_node;

/* Of each domain the number of ranks, then of each the bytes that they access. */
enum { ROWS_UNLISTED = 2 };

/* Domains that each of the nodes lists at most: a plan has some tens of candidates for each domain,
 * whatever the number of nodes. A node with more has little of any of them. */
size_t rows_most_domains(size_t nodes, size_t domains);

/* -EINVAL: not a row; -ENOMEM. */
int rows_node_add(rows_node *node, int rank, const int64_t *element, size_t count);

/* Appends the sums of the node: for each domain that it accesses, the total and the ranks that may
 * own it: the `most` with the largest weights (ties: the nearest to the network, then the lowest
 * rank) and those up to `low`. Of more than most_domains domains those with the largest weights;
 * the others are `unlisted`. Changes the parts. -ENOMEM. */
int rows_append_sums(rows_node *node, access_message *message);

void rows_node_release(rows_node *node);

/* ---- at the process that plans ---- */

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

/* Adds the sums of a node. -EINVAL: not the sums of a node, or an index is out of range; -ERANGE;
 * -ENOMEM. */
int rows_builder_add(rows_builder *builder, size_t node, const int64_t *element, size_t count);
/* Adds what nodes have unlisted, summed up. Same errors. */
int rows_builder_add_unlisted(rows_builder *builder, const int64_t *element, size_t count);
/* -ERANGE, -ENOMEM. */
int rows_builder_finish(rows_builder *builder, rows_matrices *r);
void rows_builder_release(rows_builder *builder);

#endif
