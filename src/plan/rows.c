/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of C: from ranks to nodes to matrices. */
#include "plan/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "topo/local.h"

/* A row: these for each share. */
enum { SHARE_DOMAIN, SHARE_BYTES, SHARE_BLOCKS, SHARE_ELEMENTS };
/* Sums: these for each domain, then RANK_ELEMENTS for each of SUM_LISTED ranks. */
enum { SUM_DOMAIN, SUM_BYTES, SUM_BLOCKS, SUM_RANKS, SUM_LISTED, SUM_ELEMENTS };
enum { RANK_NUMBER, RANK_BYTES, RANK_BLOCKS, RANK_SAVED, RANK_ELEMENTS };
/* The number of a rank comes with how near it is to the network. */
#define NEARNESS_FACTOR (INT64_C(1) << 32)

int rows_from_shares(const domain_share *share, size_t shares, int64_t **element, size_t *count)
{
    int64_t *row = base_alloc(shares, SHARE_ELEMENTS * sizeof *row);
    if (row == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < shares; i++) {
        int64_t *entry = row + i * SHARE_ELEMENTS;
        entry[SHARE_DOMAIN] = (int64_t)share[i].domain;
        entry[SHARE_BYTES] = share[i].list.bytes;
        entry[SHARE_BLOCKS] = access_blocks(&share[i].list);
    }
    *element = row;
    *count = shares * SHARE_ELEMENTS;
    return 0;
}

/* ---- at the leader of a node ---- */

int rows_node_add(rows_node *node, int rank, const int64_t *element, size_t count)
{
    size_t shares = count / SHARE_ELEMENTS;
    if (count % SHARE_ELEMENTS != 0)
        return -EINVAL;
    int rc = base_reserve(&node->part, &node->capacity, node->parts + shares, sizeof *node->part);
    for (size_t i = 0; i < shares && rc == 0; i++) {
        const int64_t *entry = element + i * SHARE_ELEMENTS;
        node->part[node->parts++] = (rows_part){
            .domain = (size_t)entry[SHARE_DOMAIN],
            .rank = rank,
            .bytes = entry[SHARE_BYTES],
            .blocks = entry[SHARE_BLOCKS],
            .weight = entry[node->by_blocks ? SHARE_BLOCKS : SHARE_BYTES],
        };
    }
    return rc;
}

/* By domain; then the largest weight first, and among equal ones the nearest to the network, then
 * the lowest rank. */
static int compare_parts(const void *a, const void *b)
{
    const rows_part *x = a, *y = b;
    if (x->domain != y->domain)
        return x->domain < y->domain ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->nearness != y->nearness)
        return x->nearness > y->nearness ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static int compare_domains(const void *a, const void *b)
{
    const rows_part *x = a, *y = b;
    if (x->domain != y->domain)
        return x->domain < y->domain ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* The number of parts from `first` on that are of its domain. */
static size_t count_of_domain(const rows_node *node, size_t first)
{
    size_t end = first + 1;
    while (end < node->parts && node->part[end].domain == node->part[first].domain)
        end++;
    return end - first;
}

/* *sum += bytes * steps. */
static int add_saved(int64_t *sum, int64_t bytes, int64_t steps)
{
    int64_t saved;
    return __builtin_mul_overflow(bytes, steps, &saved) || __builtin_add_overflow(*sum, saved, sum)
               ? -ERANGE
               : 0;
}

/* Sets what a domain, whose `parts` are ascending by rank, saves on rank i of the node. */
static int save_on_rank(const rows_steps *near, size_t i, const rows_part *part, size_t parts,
                        rows_part *own)
{
    int rc = 0;
    for (size_t p = 0, k = 0; p < parts && rc == 0; p++) {
        while (near->rank[k] != part[p].rank)
            k++;
        if (k != i)
            rc = add_saved(&own->saved, part[p].bytes, near->steps[i * near->ranks + k]);
    }
    return rc;
}

/* By all that the rank saves, its own bytes included. */
static int weigh_by_savings(rows_part *own)
{
    own->weight = own->saved;
    return add_saved(&own->weight, own->bytes, TOPO_STEPS);
}

/* Gives each rank of the node a part of each domain that the node accesses. */
static int spread_parts(rows_node *node)
{
    const rows_steps *near = &node->near;
    rows_part *spread = NULL;
    size_t used = 0, capacity = 0;
    int rc = 0;
    qsort(node->part, node->parts, sizeof *node->part, compare_domains);
    for (size_t first = 0, parts; first < node->parts && rc == 0; first += parts) {
        const rows_part *part = &node->part[first];
        size_t next = 0;
        parts = count_of_domain(node, first);
        rc = base_reserve(&spread, &capacity, used + near->ranks, sizeof *spread);
        for (size_t i = 0; i < near->ranks && rc == 0; i++) {
            bool has_bytes = next < parts && part[next].rank == near->rank[i];
            rows_part *own = &spread[used++];
            *own = has_bytes ? part[next++]
                             : (rows_part){.domain = part->domain, .rank = near->rank[i]};
            rc = save_on_rank(near, i, part, parts, own);
            if (rc == 0 && !node->by_blocks)
                rc = weigh_by_savings(own);
        }
    }
    free(node->part);
    node->part = spread;
    node->parts = used;
    node->capacity = capacity;
    return rc;
}

/* Puts the sums of one domain, whose parts are sorted. A node owns at most `most` domains, so that
 * a plan needs no ranks but the domain's `most` best: where it had another, one of those would be
 * free, and as good (see plan.h). The lowest ranks are those that two-phase I/O takes without
 * knowing the network. Returns the number of elements. */
static size_t put_sums(const rows_node *node, const rows_part *part, size_t ranks, int64_t *sum)
{
    size_t listed = 0;
    int64_t bytes = 0, blocks = 0, accessing = 0;
    for (size_t i = 0; i < ranks; i++) {
        bytes += part[i].bytes;
        blocks += part[i].blocks;
        accessing += part[i].blocks > 0;
        if (i < node->most || part[i].rank <= node->low) {
            int64_t *rank = sum + SUM_ELEMENTS + listed++ * RANK_ELEMENTS;
            rank[RANK_NUMBER] = part[i].rank + part[i].nearness * NEARNESS_FACTOR;
            rank[RANK_BYTES] = part[i].bytes;
            rank[RANK_BLOCKS] = part[i].blocks;
            rank[RANK_SAVED] = part[i].saved;
        }
    }
    sum[SUM_DOMAIN] = (int64_t)part->domain;
    sum[SUM_BYTES] = bytes;
    sum[SUM_BLOCKS] = blocks;
    sum[SUM_RANKS] = accessing;
    sum[SUM_LISTED] = (int64_t)listed;
    return SUM_ELEMENTS + listed * RANK_ELEMENTS;
}

static int compare_numbers(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int nearness_of(const rows_steps *near, int rank)
{
    const int *found = NULL;
    if (near->nearness != NULL)
        found = bsearch(&rank, near->rank, near->ranks, sizeof rank, compare_numbers);
    return found != NULL ? near->nearness[found - near->rank] : 0;
}

int rows_node_sum(rows_node *node, int64_t **element, size_t *count)
{
    size_t used = 0;
    *element = NULL;
    *count = 0;
    if (node->parts == 0)
        return 0;
    int rc = node->near.steps != NULL ? spread_parts(node) : 0;
    if (rc != 0)
        return rc;
    int64_t *sum = base_alloc(node->parts, (SUM_ELEMENTS + RANK_ELEMENTS) * sizeof *sum);
    if (sum == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < node->parts; i++)
        node->part[i].nearness = nearness_of(&node->near, node->part[i].rank);
    qsort(node->part, node->parts, sizeof *node->part, compare_parts);
    for (size_t first = 0, parts; first < node->parts; first += parts) {
        parts = count_of_domain(node, first);
        used += put_sums(node, &node->part[first], parts, sum + used);
    }
    *element = sum;
    *count = used;
    return 0;
}

void rows_node_release(rows_node *node)
{
    free(node->part);
    node->part = NULL;
    node->parts = node->capacity = 0;
}

/* ---- at the process that plans ---- */

void rows_release(rows *r)
{
    matrix_release(&r->requests);
    matrix_release(&r->blocks);
    matrix_release(&r->savings);
    matrix_release(&r->node_bytes);
    matrix_release(&r->node_blocks);
    matrix_release(&r->accessing);
    free(r->nearness);
    r->nearness = NULL;
}

rows_builder rows_builder_new(size_t ranks, size_t nodes, size_t domains, bool by_blocks)
{
    const matrix_builder by_rank = {.rows = ranks, .cols = domains};
    const matrix_builder by_node = {.rows = nodes, .cols = domains};
    return (rows_builder){.by_blocks = by_blocks,
                          .requests = by_rank,
                          .blocks = by_rank,
                          .savings = by_rank,
                          .node_bytes = by_node,
                          .node_blocks = by_node,
                          .accessing = {.rows = 1, .cols = domains}};
}

static int note_nearness(rows_builder *b, size_t rank, int64_t nearness)
{
    if (nearness == 0)
        return 0;
    if (b->nearness == NULL)
        b->nearness = calloc(b->requests.rows + 1, 1);
    if (b->nearness == NULL)
        return -ENOMEM;
    b->nearness[rank] = (unsigned char)nearness;
    return 0;
}

static int add_listed_rank(rows_builder *b, size_t domain, const int64_t *element)
{
    size_t rank = (size_t)(element[RANK_NUMBER] % NEARNESS_FACTOR);
    int rc = matrix_builder_add(&b->requests, rank, domain, element[RANK_BYTES]);
    if (rc == 0)
        rc = note_nearness(b, rank, element[RANK_NUMBER] / NEARNESS_FACTOR);
    if (rc == 0 && element[RANK_SAVED] != 0)
        rc = matrix_builder_add(&b->savings, rank, domain, element[RANK_SAVED]);
    if (rc == 0 && b->by_blocks)
        rc = matrix_builder_add(&b->blocks, rank, domain, element[RANK_BLOCKS]);
    return rc;
}

static int add_sums(rows_builder *b, size_t node, const int64_t *sum, size_t listed)
{
    size_t domain = (size_t)sum[SUM_DOMAIN];
    int rc = matrix_builder_add(&b->node_bytes, node, domain, sum[SUM_BYTES]);
    if (rc == 0 && b->by_blocks)
        rc = matrix_builder_add(&b->node_blocks, node, domain, sum[SUM_BLOCKS]);
    if (rc == 0)
        rc = matrix_builder_add(&b->accessing, 0, domain, sum[SUM_RANKS]);
    for (size_t i = 0; i < listed && rc == 0; i++)
        rc = add_listed_rank(b, domain, sum + SUM_ELEMENTS + i * RANK_ELEMENTS);
    return rc;
}

int rows_builder_add(rows_builder *b, size_t node, const int64_t *element, size_t count)
{
    int rc = 0;
    for (size_t at = 0, listed; at < count && rc == 0;
         at += SUM_ELEMENTS + listed * RANK_ELEMENTS) {
        size_t left = count - at;
        if (left < SUM_ELEMENTS)
            return -EINVAL;
        listed = (size_t)element[at + SUM_LISTED];
        if (listed > (left - SUM_ELEMENTS) / RANK_ELEMENTS)
            return -EINVAL;
        rc = add_sums(b, node, element + at, listed);
    }
    return rc;
}

int rows_builder_finish(rows_builder *b, rows *result)
{
    rows made = {0};
    int rc = matrix_builder_finish(&b->requests, &made.requests);
    if (rc == 0 && b->savings.used > 0) {
        rc = matrix_builder_add_matrix(&b->savings, &made.requests, TOPO_STEPS);
        if (rc == 0)
            rc = matrix_builder_finish(&b->savings, &made.savings);
    }
    if (rc == 0)
        rc = matrix_builder_finish(&b->node_bytes, &made.node_bytes);
    if (rc == 0 && b->by_blocks)
        rc = matrix_builder_finish(&b->blocks, &made.blocks);
    if (rc == 0 && b->by_blocks)
        rc = matrix_builder_finish(&b->node_blocks, &made.node_blocks);
    if (rc == 0)
        rc = matrix_builder_finish(&b->accessing, &made.accessing);
    if (rc != 0) {
        rows_release(&made);
        return rc;
    }
    made.nearness = b->nearness;
    b->nearness = NULL;
    *result = made;
    return 0;
}

void rows_builder_release(rows_builder *b)
{
    matrix_builder_clear(&b->requests);
    matrix_builder_clear(&b->blocks);
    matrix_builder_clear(&b->savings);
    matrix_builder_clear(&b->node_bytes);
    matrix_builder_clear(&b->node_blocks);
    matrix_builder_clear(&b->accessing);
    free(b->nearness);
    b->nearness = NULL;
}
