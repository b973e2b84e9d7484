/* SPDX-License-Identifier: BSD-3-Clause */
#include "scotch.h"

#ifdef HAVE_SCOTCH

#include <stdio.h>
#include <stdlib.h>

#include <scotch.h>

const char *const peer_name = "scotch";

/* Both triangles of the view as Scotch's arrays. */
struct scotch_graph {
    SCOTCH_Num *start, *other, *weight;
};

/* Scotch may sum in 32 bits: the weights are shifted right until their sum fits. */
static int weight_shift(const matrix *view)
{
    double sum = 0;
    int shift = 0;
    for (size_t i = 0; i < view->row_start[view->rows]; i++)
        sum += (double)view->value[i];
    for (; sum >= INT32_MAX / 2; sum /= 2)
        shift++;
    return shift;
}

static int fill_scotch_graph(struct scotch_graph *g, const matrix *view)
{
    size_t entries = view->row_start[view->rows], arcs = 0;
    *g = (struct scotch_graph){calloc(view->rows + 1, sizeof *g->start),
                               calloc(entries + 1, sizeof *g->other),
                               calloc(entries + 1, sizeof *g->weight)};
    if (g->start == NULL || g->other == NULL || g->weight == NULL || entries > INT32_MAX)
        return -1;
    const int shift = weight_shift(view);
    for (size_t row = 0; row < view->rows; row++) {
        for (size_t i = view->row_start[row]; i < view->row_start[row + 1]; i++) {
            if (view->col[i] == row || view->value[i] == 0)
                continue;
            g->other[arcs] = (SCOTCH_Num)view->col[i];
            g->weight[arcs] = (SCOTCH_Num)(view->value[i] >> shift);
            g->weight[arcs] += g->weight[arcs] == 0;
            arcs++;
        }
        g->start[row + 1] = (SCOTCH_Num)arcs;
    }
    return 0;
}

static int map_scotch_graph(const struct scotch_graph *g, size_t ranks, size_t nodes,
                            SCOTCH_Num *part)
{
    SCOTCH_Graph graph;
    SCOTCH_Arch arch;
    SCOTCH_Strat strategy;
    int rc = SCOTCH_graphInit(&graph) | SCOTCH_archInit(&arch) | SCOTCH_stratInit(&strategy);
    rc |= SCOTCH_graphBuild(&graph, 0, (SCOTCH_Num)ranks, g->start, g->start + 1, NULL, NULL,
                            g->start[ranks], g->other, g->weight);
    rc |= SCOTCH_archCmplt(&arch, (SCOTCH_Num)nodes);
    rc |= SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATBALANCE | SCOTCH_STRATQUALITY,
                                    (SCOTCH_Num)nodes, 0.001);
    if (rc == 0)
        rc = SCOTCH_graphMap(&graph, &arch, &strategy, part);
    SCOTCH_stratExit(&strategy);
    SCOTCH_archExit(&arch);
    SCOTCH_graphExit(&graph);
    return rc == 0 ? 0 : -1;
}

int peer_place(const matrix *view, size_t nodes, size_t *node)
{
    struct scotch_graph g;
    SCOTCH_Num *part = calloc(view->rows + 1, sizeof *part);
    int rc = part == NULL ? -1 : 0;
    if (rc == 0) {
        rc = fill_scotch_graph(&g, view);
        if (rc == 0)
            rc = map_scotch_graph(&g, view->rows, nodes, part);
        free(g.start);
        free(g.other);
        free(g.weight);
    }
    for (size_t rank = 0; rc == 0 && rank < view->rows; rank++)
        node[rank] = (size_t)part[rank];
    free(part);
    return rc;
}

#else

const char *const peer_name = NULL;

int peer_place(const matrix *view, size_t nodes, size_t *node)
{
    (void)view;
    (void)nodes;
    (void)node;
    return -1;
}

#endif
