/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of C, gathered by node, against tables of all ranks and domains. */
#include "plan/requests.h"

#include <errno.h>
#include <string.h>

#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { CASES = 1000, RANKS = 14, NODES = 5, DOMAINS = 9 };

static uint64_t state;

static int64_t below(int64_t n)
{
    return pick(&state, 0, n - 1);
}

/* The whole of C. */
typedef struct model {
    size_t ranks, nodes, domains;
    size_t node_of_rank[RANKS];
    int64_t bytes[RANKS][DOMAINS], blocks[RANKS][DOMAINS];
    size_t most_domains, first; /* that a node lists; of equal ones this one first */
    bool has_nearness;          /* ranks of a node are at different distances from the network */
    unsigned char nearness[RANKS];
} model;

/* Few different numbers, so that there are ties. Some ranks and nodes access nothing. */
static void random_model(model *m)
{
    *m = (model){.ranks = (size_t)(1 + below(RANKS)), .domains = (size_t)(1 + below(DOMAINS))};
    for (size_t r = 0; r < m->ranks; r++)
        if (m->nodes == 0 || (m->nodes < NODES && below(2) == 0))
            m->node_of_rank[r] = m->nodes++;
        else
            m->node_of_rank[r] = (size_t)below((int64_t)m->nodes);
    size_t idle = (size_t)below(NODES);
    for (size_t r = 0; r < m->ranks; r++) {
        for (size_t j = 0; j < m->domains && m->node_of_rank[r] != idle; j++) {
            m->blocks[r][j] = below(2) * (1 + below(3));
            m->bytes[r][j] = m->blocks[r][j] * (1 + below(3));
        }
    }
    m->most_domains = (size_t)(1 + below(DOMAINS));
    m->first = (size_t)below((int64_t)m->domains);
    m->has_nearness = below(2) == 0;
    for (size_t r = 0; r < m->ranks; r++)
        m->nearness[r] = (unsigned char)(m->has_nearness ? below(3) : 0);
}

/* A rank's row, by way of its shares. */
static access_message make_row(const model *m, size_t rank)
{
    domain_share share[DOMAINS] = {{0}};
    access_message row = {0};
    size_t shares = 0;
    for (size_t j = 0; j < m->domains; j++) {
        domain_share *s = &share[shares];
        int64_t blocks = m->blocks[rank][j];
        for (int64_t b = 0; b < blocks; b++)
            ck_assert_int_eq(
                access_append(&s->list, 100 * b, m->bytes[rank][j] / blocks, s->list.bytes), 0);
        s->domain = j;
        shares += blocks > 0;
    }
    ck_assert_int_eq(requests_describe(share, shares, NULL, NULL, &row.element, &row.count), 0);
    ck_assert_uint_ne(row.count, 1);
    for (size_t i = 0; i < shares; i++)
        access_release(&share[i].list);
    return row;
}

/* Borrows its ranks until the next. */
static rows_node start_node(const model *m, size_t node, size_t most, bool by_blocks)
{
    static int rank[RANKS];
    static unsigned char nearness[RANKS];
    rows_node sums = {.by_blocks = by_blocks,
                      .most = most,
                      .low = -1,
                      .rank = rank,
                      .domains = m->domains,
                      .most_domains = m->most_domains,
                      .first = m->first};
    for (size_t r = 0; r < m->ranks; r++) {
        if (m->node_of_rank[r] != node)
            continue;
        if (sums.ranks < most)
            sums.low = (int)r;
        nearness[sums.ranks] = m->nearness[r];
        rank[sums.ranks++] = (int)r;
    }
    sums.nearness = m->has_nearness ? nearness : NULL;
    return sums;
}

/* All of it, as the ranks, leaders and rank 0 do it. Returns the first error. */
static int gather(const model *m, size_t most, bool by_blocks, rows_matrices *result)
{
    request_sums root = {.units = 1,
                         .all = rows_builder_new(m->ranks, m->nodes, m->domains, by_blocks),
                         .node_of_rank = m->node_of_rank};
    int rc = 0;
    for (size_t node = 0; node < m->nodes && rc == 0; node++) {
        request_sums sums = {.node = start_node(m, node, most, by_blocks)};
        access_message all = {0};
        for (size_t r = m->ranks; r-- > 0 && rc == 0;) {
            if (m->node_of_rank[r] == node) {
                access_message row = make_row(m, r);
                rc = requests_add_rank(&sums, (int)r, row.element, row.count);
                free(row.element);
            }
        }
        if (rc == 0 && (rc = requests_sum_node(&sums, &all.element, &all.count)) == 0) {
            ck_assert_uint_ne(all.count, 1);
            ck_assert((all.element == NULL) == (all.count == 0));
            if (all.count > 0)
                rc = requests_add_node(&root, sums.node.rank[0], all.element, all.count);
        }
        if (rc == 0 && sums.node.unlisted != NULL)
            rc = requests_add_node(&root, -1, sums.node.unlisted, 2 * m->domains);
        free(all.element);
        requests_release(&sums);
    }
    if (rc == 0)
        rc = rows_builder_finish(&root.all, result);
    requests_release(&root);
    return rc;
}

/* Whether one rank goes before another of the same weight. */
static bool is_preferred(const model *m, size_t rank, size_t other)
{
    if (m->nearness[rank] != m->nearness[other])
        return m->nearness[rank] > m->nearness[other];
    return rank < other;
}

/* Whether the rank is among the `most` of its node with the largest weight, or the lowest. */
static bool is_listed(const model *m, size_t rank, size_t domain, size_t most, bool by_blocks)
{
    int64_t weight[RANKS];
    size_t better = 0, lower = 0;
    for (size_t r = 0; r < m->ranks; r++)
        weight[r] = by_blocks ? m->blocks[r][domain] : m->bytes[r][domain];
    for (size_t r = 0; r < m->ranks; r++) {
        if (m->node_of_rank[r] != m->node_of_rank[rank])
            continue;
        lower += r < rank;
        better +=
            weight[r] > weight[rank] || (weight[r] == weight[rank] && is_preferred(m, r, rank));
    }
    return better < most || lower < most;
}

/* What a node has of a domain, in bytes or blocks. */
static int64_t weight_of_node(const model *m, size_t node, size_t domain, bool by_blocks)
{
    int64_t sum = 0;
    for (size_t r = 0; r < m->ranks; r++)
        if (m->node_of_rank[r] == node)
            sum += by_blocks ? m->blocks[r][domain] : m->bytes[r][domain];
    return sum;
}

/* Whether the domain is among those that the node has most of. */
static bool node_lists(const model *m, size_t node, size_t domain, bool by_blocks)
{
    int64_t own = weight_of_node(m, node, domain, by_blocks);
    size_t turn = (domain + m->domains - m->first) % m->domains, better = 0;
    for (size_t j = 0; j < m->domains; j++) {
        int64_t weight = weight_of_node(m, node, j, by_blocks);
        better +=
            weight > own || (weight == own && (j + m->domains - m->first) % m->domains < turn);
    }
    return better < m->most_domains;
}

static void check_rows(const model *m, const rows_matrices *c, size_t most, bool by_blocks)
{
    for (size_t j = 0; j < m->domains; j++) {
        int64_t bytes[NODES] = {0}, blocks[NODES] = {0}, ranks = 0, unlisted = 0;
        for (size_t r = 0; r < m->ranks; r++) {
            bool of_node = node_lists(m, m->node_of_rank[r], j, by_blocks);
            bool listed = of_node && is_listed(m, r, j, most, by_blocks);
            bytes[m->node_of_rank[r]] += of_node ? m->bytes[r][j] : 0;
            blocks[m->node_of_rank[r]] += of_node ? m->blocks[r][j] : 0;
            unlisted += of_node ? 0 : m->bytes[r][j];
            ranks += m->bytes[r][j] > 0;
            ck_assert_int_eq(matrix_get(&c->requests, r, j), listed ? m->bytes[r][j] : 0);
            if (matrix_get(&c->requests, r, j) > 0)
                ck_assert_int_eq(c->nearness != NULL ? c->nearness[r] : 0, m->nearness[r]);
            if (by_blocks)
                ck_assert_int_eq(matrix_get(&c->blocks, r, j), listed ? m->blocks[r][j] : 0);
        }
        for (size_t n = 0; n < m->nodes; n++) {
            ck_assert_int_eq(matrix_get(&c->node_bytes, n, j), bytes[n]);
            if (by_blocks)
                ck_assert_int_eq(matrix_get(&c->node_blocks, n, j), blocks[n]);
        }
        ck_assert_int_eq(matrix_get(&c->accessing, 0, j), ranks);
        ck_assert_int_eq(matrix_get(&c->unlisted, 0, j), unlisted);
    }
    ck_assert_int_eq(c->blocks.row_start != NULL, by_blocks);
    ck_assert_int_eq(c->node_blocks.row_start != NULL, by_blocks);
    ck_assert_uint_eq(c->requests.rows, m->ranks);
    ck_assert_uint_eq(c->node_bytes.rows, m->nodes);
}

START_TEST(sums_are_those_of_all_ranks)
{
    for (uint64_t k = 0, seed = first_seed(); k < random_cases(CASES); k++, seed++) {
        model m;
        state = seed;
        random_model(&m);
        size_t most = (size_t)(1 + below(RANKS));
        for (int by_blocks = 0; by_blocks < 2; by_blocks++) {
            rows_matrices c;
            ck_assert_int_eq(gather(&m, most, by_blocks, &c), 0);
            check_rows(&m, &c, most, by_blocks);
            rows_release(&c);
        }
    }
}
END_TEST

START_TEST(bad_elements_are_refused)
{
    static const size_t node_of_rank[] = {0, 1};
    request_sums sums = {.node = {.most = 1, .domains = 3, .most_domains = 3},
                         .all = rows_builder_new(2, 1, 3, false),
                         .node_of_rank = node_of_rank};
    const int64_t beyond[] = {3, 3, 8, 1}, negative[] = {3, -1, 8, 1}, few[5] = {0};
    const int64_t row[] = {4, 0, 8, 1, 2}, short_row[] = {1, 0}, too_long[] = {5, 0};
    int64_t node[] = {8, 0, 8, 1, 1, 1, 0, 8, 1};
    ck_assert_int_eq(requests_add_rank(&sums, 0, row, 5), -EINVAL);
    ck_assert_int_eq(requests_add_rank(&sums, 0, short_row, 2), -EINVAL);
    ck_assert_int_eq(requests_add_rank(&sums, 0, too_long, 2), -EINVAL);
    ck_assert_int_eq(requests_add_rank(&sums, 0, row, 0), 0);
    ck_assert_int_eq(requests_add_rank(&sums, 0, beyond, 4), -EINVAL);
    ck_assert_int_eq(requests_add_rank(&sums, 0, negative, 4), -EINVAL);
    ck_assert_int_eq(requests_add_node(&sums, -1, few, 5), -EINVAL);
    ck_assert_int_eq(requests_add_node(&sums, 0, node, 9), 0);
    ck_assert_int_eq(requests_add_node(&sums, 1, node, 9), -EINVAL);
    node[0] = 4;
    ck_assert_int_eq(requests_add_node(&sums, 0, node, 5), -EINVAL);
    node[0] = 7;
    ck_assert_int_eq(requests_add_node(&sums, 0, node, 8), -EINVAL);
    node[0] = 8;
    node[5] = INT64_MAX;
    ck_assert_int_eq(requests_add_node(&sums, 0, node, 9), -EINVAL);
    node[5] = -1;
    ck_assert_int_eq(requests_add_node(&sums, 0, node, 9), -EINVAL);
    node[5] = 1;
    node[1] = 3;
    ck_assert_int_eq(requests_add_node(&sums, 0, node, 9), -EINVAL);
    requests_release(&sums);
}
END_TEST

/* Of one domain and, of a rank, one unit: sums that are beyond int64, or whose step counts are. */
START_TEST(sums_beyond_int64_are_refused)
{
    static const size_t node_of_rank[] = {0};
    static const struct {
        int64_t element[7];
        int rc, again;
    } ranks[] = {
        {{3, 0, INT64_MAX, 1, 0, 1, 1}, 0, -ERANGE}, {{3, 0, 1, INT64_MAX, 0, 1, 1}, 0, -ERANGE},
        {{3, 0, 1, 1, 0, 1, INT64_MAX}, 0, -ERANGE}, {{3, 0, -1, 1, 0, 1, 1}, -EINVAL, 0},
        {{3, 0, 1, -1, 0, 1, 1}, -EINVAL, 0},        {{3, 0, 1, 1, 0, 1, -1}, -EINVAL, 0},
        {{3, 0, 1, 1, -1, 1, 1}, -EINVAL, 0},        {{3, 0, 1, 1, 0, 0, 1}, -EINVAL, 0},
        {{3, 0, 1, 1, 0, -1, 1}, -EINVAL, 0},        {{3, 0, 1, 1, 0, 2, 1}, -EINVAL, 0},
    };
    for (size_t i = 0; i < LENGTH(ranks); i++) {
        request_sums sums = {.units = 1, .node = {.most = 1, .domains = 1, .most_domains = 1}};
        int rc = requests_add_rank(&sums, 0, ranks[i].element, 7);
        ck_assert_msg(rc == ranks[i].rc, "%zu: %d", i, rc);
        if (rc == 0)
            ck_assert_int_eq(requests_add_rank(&sums, 1, ranks[i].element, 7), ranks[i].again);
        requests_release(&sums);
    }
    pieces_bytes units = {0};
    request_sums root = {
        .all = rows_builder_new(1, 1, 1, false), .all_units = &units, .node_of_rank = node_of_rank};
    const int64_t wraps[] = {0, 0, INT64_MAX, 1, 0, INT64_MAX, 1, 0, 3, 1};
    const int64_t negative[] = {0, 0, 1, -1}, none[] = {0, 0, 0, 1};
    const int64_t rows[][6] = {{5, 0, -1, 1, 1, 0}, {5, 0, 1, -1, 1, 0}, {5, 0, 1, 1, -1, 0}};
    ck_assert_int_eq(requests_add_node(&root, 0, negative, 4), -EINVAL);
    ck_assert_int_eq(requests_add_node(&root, 0, none, 4), -EINVAL);
    for (size_t i = 0; i < LENGTH(rows); i++)
        ck_assert_int_eq(requests_add_node(&root, 0, rows[i], 6), -EINVAL);
    ck_assert_int_eq(requests_add_node(&root, -1, (int64_t[]){1, -1}, 2), -EINVAL);
    ck_assert_int_eq(requests_add_node(&root, 0, wraps, LENGTH(wraps)), -EINVAL);
    ck_assert(!units.too_many);
    ck_assert_int_eq(requests_add_node(&root, 0, (int64_t[]){0, 0, -1, 0}, 4), 0);
    ck_assert(units.too_many);
    ck_assert_uint_eq(units.count, 0);
    free(units.entry);
    requests_release(&root);
}
END_TEST

START_TEST(no_memory)
{
    const int64_t row[] = {6, 0, 8, 1, 2, 8, 2};
    int rc = -ENOMEM;
    for (long nth = 0; rc != 0; nth++) {
        static const int rank[] = {0};
        static const size_t node_of_rank[] = {0};
        static const unsigned char nearness[] = {1};
        request_sums sums = {.node = {.most = 1,
                                      .rank = rank,
                                      .ranks = 1,
                                      .nearness = nearness,
                                      .domains = 3,
                                      .most_domains = 1},
                             .all = rows_builder_new(1, 1, 3, true),
                             .node_of_rank = node_of_rank};
        access_message all = {0};
        rows_matrices c = {0};
        fail_allocation(nth);
        rc = requests_add_rank(&sums, 0, row, sizeof row / sizeof *row);
        if (rc == 0)
            rc = requests_sum_node(&sums, &all.element, &all.count);
        if (rc == 0)
            rc = requests_add_node(&sums, 0, all.element, all.count);
        if (rc == 0)
            rc = requests_add_node(&sums, -1, sums.node.unlisted, 2 * sums.node.domains);
        if (rc == 0)
            rc = rows_builder_finish(&sums.all, &c);
        free(all.element);
        requests_release(&sums);
        rows_release(&c);
        check_failing(rc);
    }
}
END_TEST

int main(void)
{
    return run_tests("rows", ONCE(sums_are_those_of_all_ranks), ONCE(bad_elements_are_refused),
                     ONCE(sums_beyond_int64_are_refused), ONCE(no_memory));
}
