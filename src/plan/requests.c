/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of C, from ranks to nodes to matrices, and the messages that they travel in. */
#include "plan/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- rows ---- */

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

/* Appends the row of a rank: bytes and contiguous blocks of each share. -ENOMEM. */
static int rows_append_shares(const domain_share *share, size_t shares, access_message *message)
{
    int rc = 0;
    for (size_t i = 0; i < shares && rc == 0; i++) {
        const row_share row = {(int64_t)share[i].domain, share[i].list.bytes - share[i].margin,
                               access_blocks(&share[i].list)};
        rc = access_message_append(message, &row.domain, ELEMENTS(row_share));
    }
    return rc;
}

/* ---- rows at the leader of a node ---- */

/* Domains that all nodes list together, and that each lists at least, for each that it may own. */
enum { ALL_LISTED = 1 << 15, FEWEST_LISTED = 32, MOST_LISTED = 128 };

size_t rows_most_domains(size_t nodes, size_t domains)
{
    size_t each = ALL_LISTED / nodes;
    each = each > MOST_LISTED ? MOST_LISTED : each < FEWEST_LISTED ? FEWEST_LISTED : each;
    return (domains + nodes - 1) / nodes * each;
}

/* What one rank accesses of one domain. */
struct rows_part {
    size_t domain;
    int rank;
    int64_t bytes, blocks;
    int64_t weight; /* what the strategy prefers ranks by */
    int nearness;   /* of the rank, as in rows_node */
};

static int nearness_of(const rows_node *node, int rank)
{
    size_t i = 0;
    if (node->nearness == NULL)
        return 0;
    while (i < node->ranks && node->rank[i] != rank)
        i++;
    return i < node->ranks ? node->nearness[i] : 0;
}

/* Unless the sum is beyond int64. */
static bool add_within(int64_t *sum, int64_t more)
{
    int64_t result;
    if (__builtin_add_overflow(*sum, more, &result))
        return false;
    *sum = result;
    return true;
}

/* -EINVAL: not a row; -ERANGE; -ENOMEM. */
static int rows_node_add(rows_node *node, int rank, const int64_t *element, size_t count)
{
    const row_share *share = (const void *)element;
    size_t shares = count / ELEMENTS(row_share);
    int nearness = nearness_of(node, rank);
    if (count % ELEMENTS(row_share) != 0)
        return -EINVAL;
    int rc = base_reserve(&node->part, &node->capacity, node->parts + shares, sizeof *node->part);
    for (size_t i = 0; i < shares && rc == 0; i++, share++) {
        if ((uint64_t)share->domain >= node->domains || share->bytes < 0 || share->blocks < 0)
            return -EINVAL;
        if (!add_within(&node->bytes, share->bytes) || !add_within(&node->blocks, share->blocks))
            return -ERANGE;
        node->part[node->parts++] = (struct rows_part){
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

/* Sorts by domain; then the largest weight is first, and among equal ones the nearest to the
 * network, then the lowest rank. */
static int compare_parts(const void *a, const void *b)
{
    const struct rows_part *x = a, *y = b;
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
    const struct rows_part *part;
    size_t count;
    int64_t weight;
    size_t turn;
} domain_parts;

/* Sums up each domain, whose parts are sorted; returns their number. */
static size_t find_domains(const rows_node *node, domain_parts *of)
{
    size_t count = 0;
    for (size_t i = 0; i < node->parts; i++) {
        const struct rows_part *p = &node->part[i];
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
    for (const struct rows_part *p = of->part; p < of->part + of->count; p++) {
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
    const struct rows_part *part = of->part;
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

/* Appends the sums of the node: for each domain that it accesses, the total and the ranks that may
 * own it: the `most` with the largest weights (ties: the nearest to the network, then the lowest
 * rank) and those up to `low`. Of more than most_domains domains those with the largest weights;
 * the others are `unlisted`. Changes the parts. -ENOMEM. */
static int rows_append_sums(rows_node *node, access_message *message)
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
        node->unlisted = base_zeroed(2 * node->domains, sizeof *node->unlisted, &rc);
    }
    for (size_t i = 0; i < listed && rc == 0; i++)
        rc = append_sums(node, &of[i], message);
    for (size_t i = listed; i < count && rc == 0; i++)
        leave_unlisted(node, &of[i]);
    free(of);
    return rc;
}

/* ---- C at the process that plans ---- */

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
    if (listed->bytes < 0 || listed->blocks < 0)
        return -EINVAL;
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
    if (sum->bytes < 0 || sum->blocks < 0 || sum->ranks < 0)
        return -EINVAL;
    int rc = matrix_builder_add(&b->node_bytes, node, domain, sum->bytes);
    if (rc == 0 && b->node_blocks.rows > 0)
        rc = matrix_builder_add(&b->node_blocks, node, domain, sum->blocks);
    if (rc == 0)
        rc = matrix_builder_add(&b->accessing, 0, domain, sum->ranks);
    for (int64_t i = 0; i < sum->listed && rc == 0; i++)
        rc = add_listed_rank(b, domain, &listed[i]);
    return rc;
}

/* Adds the sums of a node. -EINVAL: not the sums of a node, or an index is out of range; -ERANGE;
 * -ENOMEM. */
static int rows_builder_add(rows_builder *b, size_t node, const int64_t *element, size_t count)
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

static int rows_builder_add_unlisted(rows_builder *b, const int64_t *element, size_t count)
{
    size_t domains = b->accessing.cols;
    int rc = count == 2 * domains ? 0 : -EINVAL;
    for (size_t j = 0; j < domains && rc == 0; j++) {
        if (element[j] < 0 || element[domains + j] < 0)
            return -EINVAL;
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

/* ---- a message ---- */

/* rc: of what was done before. The first element is there for the number of those behind it; then
 * come the units, which are released. An empty message gets no element, nor does one that failed.
 */
static int finish_message(access_message *m, int rc, unit_counts *units, int64_t **element,
                          size_t *count)
{
    int64_t rows = (int64_t)m->count - 1;
    if (rc == 0)
        rc = access_message_append(m, (const int64_t *)units->step,
                                   units->count * UNIT_STEP_ELEMENTS);
    free(units->step);
    if (rc == 0 && m->count > 1) {
        m->element[0] = rows;
    } else {
        free(m->element);
        *m = (access_message){0};
    }
    *element = m->element;
    *count = m->count;
    return rc;
}

/* The number of elements of C, which begin with the second one; the message keeps the memory of the
 * units, which are only read. */
static int view_message(const int64_t *element, size_t count, size_t *rows, unit_counts *units)
{
    if (count == 0 || element[0] < 0 || (uint64_t)element[0] >= count)
        return -EINVAL;
    size_t rest = count - 1 - (size_t)element[0];
    *rows = (size_t)element[0];
    units->step = (unit_step *)(uintptr_t)(element + 1 + *rows);
    units->count = rest / UNIT_STEP_ELEMENTS;
    return rest % UNIT_STEP_ELEMENTS == 0 ? 0 : -EINVAL;
}

int requests_describe(const domain_share *share, size_t shares, const pieces *units,
                      const access_list *accesses, int64_t **element, size_t *count)
{
    access_message message = {0};
    unit_counts counts = {0};
    int rc = access_message_append(&message, &(int64_t){0}, 1);
    if (rc == 0)
        rc = rows_append_shares(share, shares, &message);
    if (rc == 0 && units != NULL)
        rc = pieces_count(units, accesses, &counts);
    return finish_message(&message, rc, &counts, element, count);
}

/* ---- sums ---- */

/* The bytes of a unit are at most those of all steps. */
static int add_units(request_sums *sums, const unit_counts *units)
{
    for (size_t i = 0; i < units->count; i++)
        if (!add_within(&sums->most_bytes, units->step[i].bytes))
            return -ERANGE;
    if (sums->unit_bytes == NULL)
        sums->unit_bytes = calloc(sums->units, sizeof *sums->unit_bytes);
    if (sums->unit_bytes == NULL)
        return -ENOMEM;
    return units_add(units->step, units->count, sums->unit_bytes, sums->units);
}

int requests_add_rank(void *context, int rank, const int64_t *element, size_t count)
{
    request_sums *sums = context;
    unit_counts units;
    size_t rows;
    if (count == 0)
        return 0;
    int rc = view_message(element, count, &rows, &units);
    if (rc == 0)
        rc = rows_node_add(&sums->node, rank, element + 1, rows);
    return rc == 0 && units.count > 0 ? add_units(sums, &units) : rc;
}

/* A node that accesses too many says only that. */
static void limit_units(unit_counts *units, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < units->count; i++)
        count += (size_t)units->step[i].count;
    if (count > most) {
        units->step[0] = (unit_step){.count = -1};
        units->count = 1;
    }
}

int requests_sum_node(void *context, int64_t **element, size_t *count)
{
    request_sums *sums = context;
    access_message message = {0};
    unit_counts units = {0};
    int rc = access_message_append(&message, &(int64_t){0}, 1);
    if (rc == 0)
        rc = rows_append_sums(&sums->node, &message);
    if (rc == 0 && sums->unit_bytes != NULL)
        rc = units_from_array(sums->unit_bytes, sums->units, &units);
    limit_units(&units, sums->most_units);
    return finish_message(&message, rc, &units, element, count);
}

/* Steps, or one that says that the node accesses too many units. */
static int add_node_units(request_sums *sums, size_t node, const unit_counts *units)
{
    bool too_many = units->count == 1 && units->step[0].count == -1;
    if (!too_many && !units_lie_within(units->step, units->count, sums->units))
        return -EINVAL;
    return pieces_add_bytes(sums->all_units, node, units->step, units->count);
}

int requests_add_node(void *context, int leader, const int64_t *element, size_t count)
{
    request_sums *sums = context;
    unit_counts units;
    size_t rows;
    if (leader < 0)
        return rows_builder_add_unlisted(&sums->all, element, count);
    size_t node = sums->node_of_rank[leader];
    int rc = view_message(element, count, &rows, &units);
    if (rc == 0)
        rc = rows_builder_add(&sums->all, node, element + 1, rows);
    return rc == 0 && units.count > 0 ? add_node_units(sums, node, &units) : rc;
}

void requests_release(request_sums *sums)
{
    free(sums->unit_bytes);
    free(sums->node.part);
    free(sums->node.unlisted);
    for (size_t i = 0; i < ROWS_MATRICES; i++)
        matrix_builder_clear(&sums->all.builder[i]);
    free(sums->all.nearness);
}
