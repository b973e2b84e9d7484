/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of C: from ranks to nodes to matrices. */
#include "plan/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* What messages contain. A row: one of these for each domain that the rank accesses. */
typedef struct row_share {
    int64_t domain, bytes, blocks;
} row_share;

/* Sums: one of these for each domain that the node accesses, each before its listed ranks. */
typedef struct domain_sum {
    int64_t domain, bytes, blocks, ranks, listed;
} domain_sum;

typedef struct listed_rank {
    int32_t rank, nearness;
    int64_t bytes, blocks;
} listed_rank;

#define ELEMENTS(type) (sizeof(type) / sizeof(int64_t))

int rows_append_shares(const domain_share *share, size_t shares, access_message *message)
{
    int rc = 0;
    for (size_t i = 0; i < shares && rc == 0; i++) {
        const row_share row = {(int64_t)share[i].domain, share[i].list.bytes,
                               access_blocks(&share[i].list)};
        rc = access_message_append(message, &row.domain, ELEMENTS(row_share));
    }
    return rc;
}

/* ---- at the leader of a node ---- */

/* Domains that all nodes list together, and that each lists at least, for each that it may own. */
enum { ALL_LISTED = 1 << 15, FEWEST_LISTED = 32, MOST_LISTED = 128 };

size_t rows_most_domains(size_t nodes, size_t domains)
{
    size_t each = ALL_LISTED / nodes;
    each = each > MOST_LISTED ? MOST_LISTED : each < FEWEST_LISTED ? FEWEST_LISTED : each;
    return (domains + nodes - 1) / nodes * each;
}

static int nearness_of(const rows_node *node, int rank)
{
    size_t i = 0;
    if (node->nearness == NULL)
        return 0;
    while (i < node->ranks && node->rank[i] != rank)
        i++;
    return i < node->ranks ? node->nearness[i] : 0;
}

int rows_node_add(rows_node *node, int rank, const int64_t *element, size_t count)
{
    const row_share *share = (const void *)element;
    size_t shares = count / ELEMENTS(row_share);
    int nearness = nearness_of(node, rank);
    if (count % ELEMENTS(row_share) != 0)
        return -EINVAL;
    int rc = base_reserve(&node->part, &node->capacity, node->parts + shares, sizeof *node->part);
    for (size_t i = 0; i < shares && rc == 0; i++, share++) {
        if ((uint64_t)share->domain >= node->domains)
            return -EINVAL;
        node->part[node->parts++] = (rows_part){
            .domain = (size_t)share->domain,
            .rank = rank,
            .bytes = share->bytes,
            .blocks = share->blocks,
            .weight = node->by_blocks ? share->blocks : share->bytes,
            .nearness = nearness,
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

/* What the node accesses of one domain. */
typedef struct domain_parts {
    const rows_part *part;
    size_t count;
    int64_t weight;
    size_t turn;
} domain_parts;

/* Of all domains, whose parts are sorted; returns their number. */
static size_t find_domains(const rows_node *node, domain_parts *of)
{
    size_t count = 0;
    for (const rows_part *p = node->part; p < node->part + node->parts; p++) {
        if (count == 0 || p->domain != of[count - 1].part->domain)
            of[count++] = (domain_parts){
                .part = p, .turn = (p->domain + node->domains - node->first) % node->domains};
        of[count - 1].weight += p->weight;
        of[count - 1].count++;
    }
    return count;
}

static int compare_weights(const void *a, const void *b)
{
    const domain_parts *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->turn > y->turn) - (x->turn < y->turn);
}

static void leave_unlisted(rows_node *node, const domain_parts *of)
{
    int64_t *ranks = node->unlisted, *bytes = node->unlisted + node->domains;
    for (const rows_part *p = of->part; p < of->part + of->count; p++) {
        ranks[p->domain] += p->blocks > 0;
        bytes[p->domain] += p->bytes;
    }
}

/* Appends the sums of one domain, whose parts are sorted. A node owns at most `most` domains, so
 * that a plan needs no ranks but the domain's `most` best: where it had another, one of those would
 * be free, and as good (see plan.h). The lowest ranks are those that two-phase I/O takes without
 * knowing the network. */
static int append_sums(const rows_node *node, const domain_parts *of, access_message *message)
{
    const rows_part *part = of->part;
    domain_sum sum = {.domain = (int64_t)part->domain};
    size_t at = message->count;
    int rc = access_message_append(message, &sum.domain, ELEMENTS(domain_sum));
    for (size_t i = 0; i < of->count && rc == 0; i++, part++) {
        const listed_rank listed = {part->rank, part->nearness, part->bytes, part->blocks};
        sum.bytes += part->bytes;
        sum.blocks += part->blocks;
        sum.ranks += part->blocks > 0;
        if (i >= node->most && part->rank > node->low)
            continue;
        sum.listed++;
        rc = access_message_append(message, (const void *)&listed, ELEMENTS(listed_rank));
    }
    if (rc == 0)
        memcpy(message->element + at, &sum, sizeof sum);
    return rc;
}

int rows_append_sums(rows_node *node, access_message *message)
{
    int rc = 0;
    domain_parts *of = base_zeroed(node->parts, sizeof *of, &rc);
    if (rc != 0)
        return rc;
    if (node->parts > 0)
        qsort(node->part, node->parts, sizeof *node->part, compare_parts);
    size_t count = find_domains(node, of), listed = count;
    if (count > node->most_domains) {
        listed = node->most_domains;
        qsort(of, count, sizeof *of, compare_weights);
        node->unlisted = base_zeroed(node->domains, ROWS_UNLISTED * sizeof *node->unlisted, &rc);
    }
    for (size_t i = 0; i < listed && rc == 0; i++)
        rc = append_sums(node, &of[i], message);
    for (size_t i = listed; i < count && rc == 0; i++)
        leave_unlisted(node, &of[i]);
    free(of);
    return rc;
}

void rows_node_release(rows_node *node)
{
    free(node->part);
    free(node->unlisted);
    node->part = NULL;
    node->unlisted = NULL;
    node->parts = node->capacity = 0;
}

/* ---- at the process that plans ---- */

void rows_release(rows_matrices *r)
{
    for (size_t i = 0; i < ROWS_MATRICES; i++)
        matrix_release(&r->matrix[i]);
    free(r->nearness);
    r->nearness = NULL;
}

rows_builder rows_builder_new(size_t ranks, size_t nodes, size_t domains, bool by_blocks)
{
    const matrix_builder none = {0};
    const matrix_builder by_rank = {.rows = ranks, .cols = domains};
    const matrix_builder by_node = {.rows = nodes, .cols = domains};
    const matrix_builder by_domain = {.rows = 1, .cols = domains};
    return (rows_builder){.requests = by_rank,
                          .blocks = by_blocks ? by_rank : none,
                          .node_bytes = by_node,
                          .node_blocks = by_blocks ? by_node : none,
                          .accessing = by_domain,
                          .unlisted = by_domain};
}

static int note_nearness(rows_builder *b, size_t rank, int32_t nearness)
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

static int add_listed_rank(rows_builder *b, size_t domain, const listed_rank *listed)
{
    size_t rank = (size_t)listed->rank;
    int rc = matrix_builder_add(&b->requests, rank, domain, listed->bytes);
    if (rc == 0)
        rc = note_nearness(b, rank, listed->nearness);
    if (rc == 0 && b->blocks.rows > 0)
        rc = matrix_builder_add(&b->blocks, rank, domain, listed->blocks);
    return rc;
}

static int add_sum(rows_builder *b, size_t node, const domain_sum *sum)
{
    const listed_rank *listed = (const void *)(sum + 1);
    size_t domain = (size_t)sum->domain;
    int rc = matrix_builder_add(&b->node_bytes, node, domain, sum->bytes);
    if (rc == 0 && b->node_blocks.rows > 0)
        rc = matrix_builder_add(&b->node_blocks, node, domain, sum->blocks);
    if (rc == 0)
        rc = matrix_builder_add(&b->accessing, 0, domain, sum->ranks);
    for (int64_t i = 0; i < sum->listed && rc == 0; i++)
        rc = add_listed_rank(b, domain, &listed[i]);
    return rc;
}

int rows_builder_add(rows_builder *b, size_t node, const int64_t *element, size_t count)
{
    int rc = 0;
    for (size_t left = count, used; left > 0 && rc == 0; left -= used) {
        const domain_sum *sum = (const void *)(element + count - left);
        if (left < ELEMENTS(domain_sum))
            return -EINVAL;
        size_t room = (left - ELEMENTS(domain_sum)) / ELEMENTS(listed_rank);
        if (sum->listed < 0 || (uint64_t)sum->listed > room)
            return -EINVAL;
        used = ELEMENTS(domain_sum) + (size_t)sum->listed * ELEMENTS(listed_rank);
        rc = add_sum(b, node, sum);
    }
    return rc;
}

int rows_builder_add_unlisted(rows_builder *b, const int64_t *element, size_t count)
{
    size_t domains = b->accessing.cols;
    int rc = count == ROWS_UNLISTED * domains ? 0 : -EINVAL;
    for (size_t j = 0; j < domains && rc == 0; j++) {
        rc = matrix_builder_add(&b->accessing, 0, j, element[j]);
        if (rc == 0)
            rc = matrix_builder_add(&b->unlisted, 0, j, element[domains + j]);
    }
    return rc;
}

int rows_builder_finish(rows_builder *b, rows_matrices *result)
{
    rows_matrices made = {.nearness = NULL};
    int rc = 0;
    for (size_t i = 0; i < ROWS_MATRICES && rc == 0; i++)
        if (b->builder[i].rows > 0)
            rc = matrix_builder_finish(&b->builder[i], &made.matrix[i]);
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
    for (size_t i = 0; i < ROWS_MATRICES; i++)
        matrix_builder_clear(&b->builder[i]);
    free(b->nearness);
    b->nearness = NULL;
}
