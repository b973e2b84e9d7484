/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of links, and the loads of an assignment on it. */
#include "plan/links.h"
#include "plan/input.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int links_of_topo(const topo *t, struct links *links)
{
    const topo_tree *tree = &t->tree;
    if (tree->vertices > 0) {
        *links = (struct links){tree->vertices, tree->parent, tree->width, NULL};
        return 0;
    }
    size_t *parent = calloc(t->nodes + 1, sizeof *parent);
    for (size_t v = 0; parent != NULL && v <= t->nodes; v++)
        parent[v] = t->nodes;
    *links = (struct links){t->nodes + 1, parent, NULL, parent};
    return parent != NULL ? 0 : -ENOMEM;
}

void links_release(struct links *links)
{
    free(links->made);
}

/* Parents have higher numbers than their children: the end with the lower number climbs. */
static void load_route(const struct links *links, size_t from, size_t to, double bytes, double *up,
                       double *down)
{
    while (from != to) {
        if (from < to) {
            up[from] += bytes;
            from = links->parent[from];
        } else {
            down[to] += bytes;
            to = links->parent[to];
        }
    }
}

static void load_routes(const plan_input *in, const struct links *links,
                        const size_t *rank_of_domain, plan_loads *loads)
{
    const matrix *c = plan_bytes_on_nodes(in);
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
            size_t to = in->node_of_rank[rank_of_domain[c->col[k]]];
            load_route(links, plan_node_of_row(in, i), to, (double)c->value[k], loads->up,
                       loads->down);
        }
    }
}

static int load_links(const plan_input *in, const struct links *links, const size_t *rank_of_domain,
                      plan_loads *loads)
{
    plan_loads made = {
        .vertices = links->vertices,
        .up = calloc(links->vertices, sizeof *made.up),
        .down = calloc(links->vertices, sizeof *made.down),
    };
    if (made.up == NULL || made.down == NULL) {
        plan_release_loads(&made);
        return -ENOMEM;
    }
    load_routes(in, links, rank_of_domain, &made);
    *loads = made;
    return 0;
}

int links_most(const plan_input *in, const struct links *links, const size_t *rank_of_domain,
               double *most)
{
    plan_loads loads;
    int rc = load_links(in, links, rank_of_domain, &loads);
    if (rc != 0)
        return rc;
    *most = 0.0;
    for (size_t v = 0; v + 1 < links->vertices; v++)
        *most = fmax(*most, fmax(loads.up[v], loads.down[v]) / cables(links, v));
    plan_release_loads(&loads);
    return 0;
}

int plan_load_links(const plan_input *in, const size_t *rank_of_domain, plan_loads *loads)
{
    struct links links;
    int rc = plan_check_assignment(in, rank_of_domain);
    if (rc == 0)
        rc = links_of_topo(in->topology, &links);
    if (rc != 0)
        return rc;
    rc = load_links(in, &links, rank_of_domain, loads);
    links_release(&links);
    return rc;
}

void plan_release_loads(plan_loads *loads)
{
    free(loads->up);
    free(loads->down);
    *loads = (plan_loads){0};
}
