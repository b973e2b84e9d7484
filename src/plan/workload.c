/* SPDX-License-Identifier: BSD-3-Clause */
/* Hop-bytes of every pair (W), and of one assignment. */
#include "plan/costs.h"
#include "plan/links.h"

#include <errno.h>
#include <stdlib.h>

/* ---- W ---- */

static void fill_column(const plan_input *in, const struct costs *costs, size_t j, double *at_node,
                        double *column)
{
    const struct sums *sums = costs->sums;
    const double *at_class = costs_at_classes(costs, j);
    for (size_t n = 0; n < sums->nodes; n++)
        at_node[n] = at_class[costs->classes->of_node[n]];
    for (size_t e = sums->start[j]; e < sums->start[j + 1]; e++)
        at_node[sums->node[e]] = cost_of_entry(costs, at_class, e);
    for (size_t i = 0; i < in->requests->rows; i++)
        column[i] = at_node[in->node_of_rank[i]];
}

/* A rank's own bytes were counted like those of another rank of its node. */
static void subtract_own(const plan_input *in, double same, double *workload)
{
    const matrix *c = in->requests;
    for (size_t i = 0; i < c->rows; i++)
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++)
            workload[c->col[k] * c->rows + i] -= same * (double)c->value[k];
}

static int fill_workload(const plan_input *in, const struct classes *classes,
                         const struct sums *sums, double *workload)
{
    struct costs costs;
    int rc = costs_init(&costs, classes, sums, 0.0);
    if (rc != 0)
        return rc;
    double *at_node = calloc(classes->nodes | 1, sizeof *at_node);
    rc = at_node == NULL ? -ENOMEM : 0;
    for (size_t j = 0; j < sums->domains && rc == 0; j++)
        fill_column(in, &costs, j, at_node, workload + j * in->requests->rows);
    if (rc == 0)
        subtract_own(in, classes->same, workload);
    free(at_node);
    costs_release(&costs);
    return rc;
}

int plan_workload(const plan_input *in, double *workload)
{
    struct ranks ranks = {0};
    struct classes classes = {0};
    struct sums sums = {0};
    struct held held = held_bytes(in);
    int rc = plan_list_ranks(in, &ranks);
    if (rc == 0)
        rc = classes_from_topo(in->topology, &classes);
    if (rc == 0)
        rc = sums_of_ranks(&held, &ranks, &sums);
    if (rc == 0)
        rc = fill_workload(in, &classes, &sums, workload);
    sums_release(&sums);
    classes_release(&classes);
    plan_release_ranks(&ranks);
    return rc;
}

/* ---- one assignment ---- */

/* Bytes that aggregators access of their own domains. */
static double own_bytes(const plan_input *in, const size_t *rank_of_domain)
{
    double sum = 0.0;
    for (size_t j = 0; j < in->requests->cols; j++)
        sum += (double)matrix_get(in->requests, rank_of_domain[j], j);
    return sum;
}

int plan_hop_bytes(const plan_input *in, const size_t *rank_of_domain, double *hop_bytes)
{
    const matrix *c = plan_bytes_on_nodes(in);
    double sum = 0.0;
    int rc = plan_check_assignment(in, rank_of_domain);
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
            size_t to = in->node_of_rank[rank_of_domain[c->col[k]]];
            sum += (double)c->value[k] * topo_hops(in->topology, to, plan_node_of_row(in, i), 0);
        }
    }
    *hop_bytes = sum - TOPO_SAME_NODE * own_bytes(in, rank_of_domain);
    return 0;
}

int64_t plan_crossing_bytes(const plan_input *in, const size_t *rank_of_domain)
{
    const matrix *c = plan_bytes_on_nodes(in);
    int64_t sum = 0;
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
            size_t aggregator = rank_of_domain[c->col[k]];
            if (in->node_of_rank[aggregator] != plan_node_of_row(in, i) &&
                __builtin_add_overflow(sum, c->value[k], &sum))
                return INT64_MAX;
        }
    }
    return sum;
}

int plan_assess(const plan_input *in, const size_t *rank_of_domain, plan_report *report)
{
    struct links links;
    plan_report made;
    int rc = plan_hop_bytes(in, rank_of_domain, &made.hop_bytes);
    if (rc == 0)
        rc = links_of_topo(in->topology, &links);
    if (rc != 0)
        return rc;
    made.crossing_bytes = plan_crossing_bytes(in, rank_of_domain);
    rc = links_most(in, &links, rank_of_domain, &made.max_link_bytes);
    links_release(&links);
    if (rc == 0)
        *report = made;
    return rc;
}
