/* SPDX-License-Identifier: BSD-3-Clause */
/* The loads of an assignment on the links. */
#include "plan/links.h"
#include "base/memory.h"
#include "plan/input.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Parents have higher numbers than their children: the end with the lower number climbs. */
static void load_route(const topo *t, size_t from, size_t to, double bytes, plan_loads *loads)
{
    while (from != to) {
        if (from < to) {
            loads->up[from] += bytes;
            from = parent_of(t, from);
        } else {
            loads->down[to] += bytes;
            to = parent_of(t, to);
        }
    }
}

int plan_load_links(const plan_input *in, const size_t *rank_of_domain, plan_loads *loads)
{
    const matrix *c = plan_bytes_on_nodes(in);
    plan_loads made = {.vertices = count_vertices(in->topology)};
    int rc = plan_check_assignment(in, rank_of_domain);
    if (rc != 0)
        return rc;
    made.up = base_zeroed(made.vertices, sizeof *made.up, &rc);
    made.down = base_zeroed(made.vertices, sizeof *made.down, &rc);
    if (rc != 0) {
        plan_release_loads(&made);
        return rc;
    }
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
            size_t to = in->node_of_rank[rank_of_domain[c->col[k]]];
            load_route(in->topology, plan_node_of_row(in, i), to, (double)c->value[k], &made);
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
    plan_report made = {.max_link_bytes = 0.0};
    int rc = plan_hop_bytes(in, rank_of_domain, &made.hop_bytes);
    if (rc == 0)
        rc = plan_load_links(in, rank_of_domain, &loads);
    if (rc != 0)
        return rc;
    made.crossing_bytes = plan_crossing_bytes(in, rank_of_domain);
    for (size_t v = 0; v + 1 < loads.vertices; v++)
        made.max_link_bytes =
            fmax(made.max_link_bytes, fmax(loads.up[v], loads.down[v]) / cables(in->topology, v));
    plan_release_loads(&loads);
    *report = made;
    return 0;
}
