/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches above one another: circles, and trees that have no common top. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo/read.h"
#include "topo/text.h"

struct forest {
    size_t vertices;
    size_t *above; /* of each vertex: how many it is directly under */
    size_t *part;  /* union-find: vertices of one part have one end */
    size_t *ready; /* vertices all of whose tops have been passed */
    size_t *first; /* first[v] .. first[v + 1] - 1 in below: what is under v */
    size_t *below;
};

static size_t end_of(const struct forest *t, size_t v)
{
    while (t->part[v] != v) {
        t->part[v] = t->part[t->part[v]];
        v = t->part[v];
    }
    return v;
}

static int plant(struct forest *t, const topo_fabric *f)
{
    size_t n = f->keys.count;
    *t = (struct forest){n,
                         calloc(n | 1, sizeof(size_t)),
                         calloc(n | 1, sizeof(size_t)),
                         calloc(n | 1, sizeof(size_t)),
                         calloc(n + 2, sizeof(size_t)),
                         calloc(f->arcs | 1, sizeof(size_t))};
    if (t->above == NULL || t->part == NULL || t->ready == NULL || t->first == NULL ||
        t->below == NULL)
        return -ENOMEM;
    for (size_t v = 0; v < n; v++)
        t->part[v] = v;
    for (size_t i = 0; i < f->arcs; i++) {
        t->above[f->arc[i].to]++;
        t->part[end_of(t, f->arc[i].from)] = end_of(t, f->arc[i].to);
        t->first[f->arc[i].from + 2]++;
    }
    for (size_t v = 0; v < n; v++)
        t->first[v + 2] += t->first[v + 1];
    for (size_t i = 0; i < f->arcs; i++)
        t->below[t->first[f->arc[i].from + 1]++] = f->arc[i].to;
    return 0;
}

static void fell(struct forest *t)
{
    free(t->above);
    free(t->part);
    free(t->ready);
    free(t->first);
    free(t->below);
}

/* Passes every vertex after those above it; what is left then goes round. The tops are the first of
 * `ready`. */
static int check_circles(struct forest *t, const topo_fabric *f, size_t *tops, matrix_error *error)
{
    size_t count = 0;
    for (size_t v = 0; v < t->vertices; v++)
        if (t->above[v] == 0)
            t->ready[count++] = v;
    *tops = count;
    for (size_t k = 0; k < count; k++)
        for (size_t i = t->first[t->ready[k]]; i < t->first[t->ready[k] + 1]; i++)
            if (--t->above[t->below[i]] == 0)
                t->ready[count++] = t->below[i];
    for (size_t v = 0; count < t->vertices && v < t->vertices; v++)
        if (t->above[v] > 0 && f->vertex[v].kind == KIND_SWITCH)
            return refuse(error, f->vertex[v].first_line,
                          "%.80s is above and below itself, or under one "
                          "that is",
                          fabric_key(f, v));
    return 0;
}

static int put_above(topo_fabric *f, const struct forest *t, size_t tops)
{
    static const char key[] = "the top of all";
    size_t v;
    int rc = fabric_vertex(f, key, sizeof key - 1, 0, &v);
    if (rc != 0)
        return rc;
    f->vertex[v].kind = KIND_SWITCH;
    f->joined = 1;
    for (size_t k = 0; k < tops; k++) {
        arc a = {.from = v, .to = t->ready[k]};
        rc = fabric_add_arc(f, &a);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int join_trees(topo_fabric *f, matrix_error *error)
{
    struct forest t;
    size_t tops = 0, parts = 0;
    int rc = plant(&t, f);
    if (rc == 0)
        rc = check_circles(&t, f, &tops, error);
    for (size_t v = 0; rc == 0 && v < t.vertices; v++)
        parts += t.part[v] == v;
    if (rc == 0 && parts > 1)
        rc = put_above(f, &t, tops);
    fell(&t);
    return rc;
}
