/* SPDX-License-Identifier: BSD-3-Clause */
/* Hop-bytes of every pair (W), and of one assignment; its loads on the links. */
#include "plan/plan.h"
#include "base/memory.h"
#include "plan/costs.h"

#include <errno.h>
#include <math.h>

/* ---- W ---- */

/* A rank's own bytes were counted like those of any rank of its node. */
static void subtract_own_bytes(const plan_input *in, double same, double *workload)
{
    const matrix *c = in->requests;
    for (size_t i = 0; i < c->rows; i++)
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++)
            workload[c->col[k] * c->rows + i] -= same * (double)c->value[k];
}

int plan_workload(const plan_input *in, double *workload)
{
    struct costs costs;
    struct held held = held_bytes(in);
    size_t ranks = in->requests->rows;
    int rc = costs_init(&costs, in, &held);
    double *at_node = base_arena_alloc(&costs.arena, in->topology->nodes, sizeof *at_node);
    if (rc == 0 && at_node == NULL)
        rc = -ENOMEM;
    costs.own = 0.0;
    for (size_t j = 0; j < in->requests->cols && rc == 0; j++) {
        costs_on_nodes(&costs, j, at_node);
        for (size_t i = 0; i < ranks; i++)
            workload[j * ranks + i] = at_node[in->node_of_rank[i]];
    }
    if (rc == 0)
        subtract_own_bytes(in, costs.classes.same, workload);
    costs_release(&costs);
    return rc;
}

/* ---- one assignment ---- */

/* Bytes of domains by rank or, if these are incomplete, by node; and the node of a row of them. */
static const matrix *bytes_on_nodes(const plan_input *in)
{
    return in->node_bytes != NULL ? in->node_bytes : in->requests;
}

static size_t node_of_row(const plan_input *in, size_t row)
{
    return in->node_bytes != NULL ? row : in->node_of_rank[row];
}

/* Bytes that aggregators access of their own domains. */
static double own_bytes(const plan_input *in, const size_t *rank_of_domain)
{
    double sum = 0.0;
    for (size_t j = 0; j < in->requests->cols; j++)
        sum += (double)matrix_get(in->requests, rank_of_domain[j], j);
    return sum;
}

/* Sums over all bytes on nodes, as if aggregators had none of their own. */
static double sum_hop_bytes(const plan_input *in, const size_t *rank_of_domain)
{
    const matrix *c = bytes_on_nodes(in);
    double sum = 0.0;
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
            size_t to = in->node_of_rank[rank_of_domain[c->col[k]]];
            sum += (double)c->value[k] * topo_hops(in->topology, to, node_of_row(in, i), 0);
        }
    }
    return sum;
}

double plan_hop_bytes(const plan_input *in, const size_t *rank_of_domain)
{
    return sum_hop_bytes(in, rank_of_domain) - TOPO_SAME_NODE * own_bytes(in, rank_of_domain);
}

int64_t plan_crossing_bytes(const plan_input *in, const size_t *rank_of_domain)
{
    const matrix *c = bytes_on_nodes(in);
    int64_t sum = 0;
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
            size_t aggregator = rank_of_domain[c->col[k]];
            if (in->node_of_rank[aggregator] != node_of_row(in, i) &&
                __builtin_add_overflow(sum, c->value[k], &sum))
                return INT64_MAX;
        }
    }
    return sum;
}

/* ---- links ---- */

/* Parents have higher numbers than their children: the end with the lower number climbs. */
static void load_route(const topo *t, size_t from, size_t to, double bytes, plan_loads *loads)
{
    while (from != to) {
        if (from < to) {
            loads->up[from] += bytes;
            from = topo_parent(t, from);
        } else {
            loads->down[to] += bytes;
            to = topo_parent(t, to);
        }
    }
}

int plan_load_links(const plan_input *in, const size_t *rank_of_domain, plan_loads *loads)
{
    const matrix *c = bytes_on_nodes(in);
    plan_loads made = {.vertices = topo_vertices(in->topology)};
    int rc = 0;
    made.up = base_zeroed(made.vertices, sizeof *made.up, &rc);
    made.down = base_zeroed(made.vertices, sizeof *made.down, &rc);
    if (rc != 0) {
        plan_release_loads(&made);
        return rc;
    }
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
            size_t to = in->node_of_rank[rank_of_domain[c->col[k]]];
            load_route(in->topology, node_of_row(in, i), to, (double)c->value[k], &made);
        }
    }
    *loads = made;
    return 0;
}

void plan_release_loads(plan_loads *loads)
{
    free(loads->up);
    free(loads->down);
    *loads = (plan_loads){0};
}

int plan_assess(const plan_input *in, const size_t *rank_of_domain, plan_report *report)
{
    plan_loads loads;
    plan_report made = {.hop_bytes = plan_hop_bytes(in, rank_of_domain),
                        .crossing_bytes = plan_crossing_bytes(in, rank_of_domain)};
    int rc = plan_load_links(in, rank_of_domain, &loads);
    if (rc != 0)
        return rc;
    for (size_t v = 0; v + 1 < loads.vertices; v++)
        made.max_link_bytes = fmax(made.max_link_bytes,
                                   fmax(loads.up[v], loads.down[v]) / topo_cables(in->topology, v));
    plan_release_loads(&loads);
    *report = made;
    return 0;
}
