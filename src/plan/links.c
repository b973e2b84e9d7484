/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of links, and what an assignment loads on it. */
#include "plan/links.h"
#include "plan/input.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int links_of_topo(const topo *t, struct links *links)
{
    const topo_tree *tree = &t->tree;
    if (tree->vertices > 0) {
        *links = (struct links){ tree->vertices, tree->parent, tree->width, NULL };
        return 0;
    }
    size_t *parent = calloc(t->nodes + 1, sizeof *parent);
    for (size_t v = 0; parent != NULL && v <= t->nodes; v++) {
        parent[v] = t->nodes;
    }
    *links = (struct links){ t->nodes + 1, parent, NULL, parent };
    return parent != NULL ? 0 : -ENOMEM;
}

void links_release(struct links *links)
{
    free(links->made);
}

/* Parents have higher numbers than their children, so the lower of two ends climbs. */
static void load_way(const struct links *links, size_t from, size_t to, double bytes,
                     double *up, double *down)
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

static void load_all(const plan_input *in, const struct links *links, const size_t *rank_of_domain,
                     double *up, double *down)
{
    const matrix *c = plan_bytes_on_nodes(in);
    for (size_t i = 0; i < c->rows; i++) {
        for (size_t k = c->row_start[i]; k < c->row_start[i + 1]; k++) {
            size_t to = in->node_of_rank[rank_of_domain[c->col[k]]];
            load_way(links, plan_node_of_row(in, i), to, (double)c->value[k], up, down);
        }
    }
}

int links_most(const plan_input *in, const struct links *links, const size_t *rank_of_domain,
               double *most)
{
    double *up = calloc(links->vertices, sizeof *up), *down = calloc(links->vertices, sizeof *down);
    int rc = up == NULL || down == NULL ? -ENOMEM : 0;
    if (rc == 0) {
        load_all(in, links, rank_of_domain, up, down);
        *most = 0.0;
        for (size_t v = 0; v + 1 < links->vertices; v++) {
            *most = fmax(*most, fmax(up[v], down[v]) / cables(links, v));
        }
    }
    free(up);
    free(down);
    return rc;
}
