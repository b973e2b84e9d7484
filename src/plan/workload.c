/* SPDX-License-Identifier: BSD-3-Clause */
/* Hop-bytes: of every choice (W), and of one assignment. */
#include "plan/input.h"
#include "plan/plan.h"

#include <errno.h>
#include <stdlib.h>

/* Both are nodes x domains, a domain's nodes contiguous. */
struct node_sums {
    size_t nodes, domains;
    double *bytes;    /* of the domain, accessed by the node's ranks */
    double *workload; /* hop-bytes of a rank on the node that accesses none of the domain itself */
    size_t *present;  /* scratch: the nodes that access one domain */
};

static int allocate(struct node_sums *sums, const plan_input *in)
{
    size_t count;
    *sums = (struct node_sums){ .nodes = in->topology->nodes, .domains = in->requests->cols };
    if (__builtin_mul_overflow(sums->nodes, sums->domains, &count)) {
        return -ENOMEM;
    }
    sums->bytes = calloc(count | 1, sizeof *sums->bytes);
    sums->workload = calloc(count | 1, sizeof *sums->workload);
    sums->present = calloc(sums->nodes | 1, sizeof *sums->present);
    return sums->bytes == NULL || sums->workload == NULL || sums->present == NULL ? -ENOMEM : 0;
}

static void release(struct node_sums *sums)
{
    free(sums->bytes);
    free(sums->workload);
    free(sums->present);
}

static void sum_bytes(const plan_input *in, struct node_sums *sums)
{
    const matrix *c = in->requests;
    for (size_t rank = 0; rank < c->rows; rank++) {
        for (size_t k = c->row_start[rank]; k < c->row_start[rank + 1]; k++) {
            sums->bytes[c->col[k] * sums->nodes + in->node_of_rank[rank]] += (double)c->value[k];
        }
    }
}

/* All other nodes are equally far, so the domain's total tells all. */
static void flat_workload(const topo *t, const double *bytes, double *workload)
{
    double total = 0.0;
    for (size_t n = 0; n < t->nodes; n++) {
        total += bytes[n];
    }
    for (size_t n = 0; n < t->nodes; n++) {
        workload[n] = TOPO_OTHER_NODE * (total - bytes[n]) + TOPO_SAME_NODE * bytes[n];
    }
}

static void routed_workload(const topo *t, const double *bytes, size_t *present, double *workload)
{
    size_t count = 0;
    for (size_t m = 0; m < t->nodes; m++) {
        present[count] = m;
        count += bytes[m] != 0.0;
    }
    for (size_t n = 0; n < t->nodes; n++) {
        double sum = 0.0;
        for (size_t k = 0; k < count; k++) {
            sum += topo_hops(t, n, present[k], 0) * bytes[present[k]];
        }
        workload[n] = sum;
    }
}

static void weigh_nodes(const plan_input *in, struct node_sums *sums)
{
    const topo *t = in->topology;
    for (size_t j = 0; j < sums->domains; j++) {
        double *bytes = sums->bytes + j * sums->nodes;
        double *workload = sums->workload + j * sums->nodes;
        if (t->places == 0) {
            flat_workload(t, bytes, workload);
        } else {
            routed_workload(t, bytes, sums->present, workload);
        }
    }
}

static void spread_to_ranks(const plan_input *in, const struct node_sums *sums, double *workload)
{
    const matrix *c = in->requests;
    for (size_t j = 0; j < c->cols; j++) {
        for (size_t i = 0; i < c->rows; i++) {
            workload[j * c->rows + i] = sums->workload[j * sums->nodes + in->node_of_rank[i]];
        }
    }
    /* A rank's own bytes were counted as a neighbour's. */
    for (size_t i = 0; i < c->rows; i++) {
        size_t n = in->node_of_rank[i];
        double excess = topo_hops(in->topology, n, n, 0) - topo_hops(in->topology, n, n, 1);
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
            workload[c->col[k] * c->rows + i] -= excess * (double)c->value[k];
        }
    }
}

int plan_workload(const plan_input *in, double *workload)
{
    struct node_sums sums;
    int rc = plan_check_nodes(in);
    if (rc != 0) {
        return rc;
    }
    rc = allocate(&sums, in);
    if (rc == 0) {
        sum_bytes(in, &sums);
        weigh_nodes(in, &sums);
        spread_to_ranks(in, &sums, workload);
    }
    release(&sums);
    return rc;
}

static int check_assignment(const plan_input *in, const size_t *rank_of_domain)
{
    for (size_t j = 0; j < in->requests->cols; j++) {
        if (rank_of_domain[j] >= in->requests->rows) {
            return -EINVAL;
        }
    }
    return plan_check_nodes(in);
}

int plan_hop_bytes(const plan_input *in, const size_t *rank_of_domain, double *hop_bytes)
{
    const matrix *c = in->requests;
    double sum = 0.0;
    int rc = check_assignment(in, rank_of_domain);
    if (rc != 0) {
        return rc;
    }
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
            size_t aggregator = rank_of_domain[c->col[k]];
            sum += (double)c->value[k] * topo_hops(in->topology, in->node_of_rank[aggregator],
                                                   in->node_of_rank[i], aggregator == i);
        }
    }
    *hop_bytes = sum;
    return 0;
}

int64_t plan_crossing_bytes(const plan_input *in, const size_t *rank_of_domain)
{
    const matrix *c = in->requests;
    int64_t sum = 0;
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
            size_t aggregator = rank_of_domain[c->col[k]];
            if (in->node_of_rank[aggregator] != in->node_of_rank[i]
                && __builtin_add_overflow(sum, c->value[k], &sum)) {
                return INT64_MAX;
            }
        }
    }
    return sum;
}
