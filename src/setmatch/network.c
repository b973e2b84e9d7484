/* SPDX-License-Identifier: BSD-3-Clause */
/* The architecture matrix from measured bandwidths: levels of groups of nodes. */
#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/union.h"
#include "setmatch/input.h"

/* Between two nodes, a < b, or within one. */
struct link {
    size_t a, b;
    double bandwidth;
};

/* The measured bandwidths, the fastest first. */
struct measured {
    size_t nodes, count;
    struct link *link;
    struct base_arena arena;
};

static int fastest_first(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    if (x->bandwidth != y->bandwidth)
        return x->bandwidth > y->bandwidth ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

/* Adds each pair once: for its entry in the upper triangle, or in the lower if there is no other.
 */
static void add_link(struct measured *s, const matrix *m, size_t row, size_t i)
{
    size_t col = m->col[i];
    int64_t there = m->value[i], back = matrix_get(m, col, row);
    if (there == 0 || (row > col && back > 0))
        return;
    double mean = back > 0 ? ((double)there + (double)back) / 2 : (double)there;
    s->link[s->count++] = (struct link){row < col ? row : col, row < col ? col : row, mean};
}

static int measured_init(struct measured *s, const matrix *m)
{
    *s = (struct measured){.nodes = m->rows};
    s->link = base_arena_alloc(&s->arena, m->row_start[m->rows], sizeof *s->link);
    if (s->link == NULL)
        return -ENOMEM;
    for (size_t row = 0; row < m->rows; row++)
        for (size_t i = m->row_start[row]; i < m->row_start[row + 1]; i++)
            add_link(s, m, row, i);
    qsort(s->link, s->count, sizeof *s->link, fastest_first);
    return 0;
}

/* ---- levels ---- */

/* Union-find; roots are the lowest members. */
struct grouping {
    size_t *parent, groups;
    size_t capacity; /* of network->group_of_node */
};

static void unite_groups(struct grouping *g, size_t a, size_t b)
{
    size_t x = base_root(g->parent, a), y = base_root(g->parent, b);
    if (x == y)
        return;
    g->parent[x > y ? x : y] = x > y ? y : x;
    g->groups--;
}

static int append_switch_level(struct grouping *g, size_t nodes, setmatch_network *network)
{
    size_t used = network->levels * nodes;
    if (base_reserve(&network->group_of_node, &g->capacity, used + nodes,
                     sizeof *network->group_of_node) != 0)
        return -ENOMEM;
    for (size_t n = 0; n < nodes; n++)
        network->group_of_node[used + n] = base_root(g->parent, n);
    network->levels++;
    return 0;
}

/* On each level, links within a tenth of the fastest one between two groups count. */
static int find_network_levels(const struct measured *s, struct grouping *g,
                               setmatch_network *network)
{
    size_t i = 0;
    int rc = 0;
    while (rc == 0) {
        while (i < s->count &&
               base_root(g->parent, s->link[i].a) == base_root(g->parent, s->link[i].b))
            i++;
        if (i == s->count)
            return 0;
        double counted = s->link[i].bandwidth * 90 / 100;
        for (; i < s->count && s->link[i].bandwidth >= counted; i++)
            unite_groups(g, s->link[i].a, s->link[i].b);
        if (g->groups == 1)
            return 0;
        rc = append_switch_level(g, s->nodes, network);
    }
    return rc;
}

/* ---- the bandwidth of each level ---- */

size_t setmatch_network_distance(const setmatch_network *network, size_t nodes, size_t a, size_t b)
{
    size_t level = 0, levels = network == NULL ? 0 : network->levels;
    if (a == b)
        return 0;
    while (level < levels &&
           network->group_of_node[level * nodes + a] != network->group_of_node[level * nodes + b])
        level++;
    return 1 + level;
}

/* Levels without measurements get the bandwidth of the level before; nodes that of the fastest
 * link. */
static int find_bandwidths(struct measured *s, setmatch_network *network)
{
    size_t classes = network->levels + 2;
    size_t *count = base_arena_alloc(&s->arena, classes, sizeof *count);
    network->bandwidth = calloc(classes, sizeof *network->bandwidth);
    if (count == NULL || network->bandwidth == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < s->count; i++) {
        size_t k = setmatch_network_distance(network, s->nodes, s->link[i].a, s->link[i].b);
        network->bandwidth[k] += s->link[i].bandwidth;
        count[k]++;
    }
    for (size_t k = 0; k < classes; k++)
        if (count[k] > 0)
            network->bandwidth[k] /= (double)count[k];
        else
            network->bandwidth[k] = k > 0 ? network->bandwidth[k - 1] : s->link[0].bandwidth;
    return 0;
}

int setmatch_network_from_bandwidth(const matrix *bandwidth, setmatch_network *network)
{
    struct measured s;
    setmatch_network made = {0, NULL, NULL};
    int rc = measured_init(&s, bandwidth);
    if (rc == 0 && s.count == 0)
        rc = -EINVAL;
    struct grouping g = {base_arena_alloc(&s.arena, s.nodes, sizeof *g.parent), s.nodes, 0};
    for (size_t n = 0; g.parent != NULL && n < s.nodes; n++)
        g.parent[n] = n;
    if (g.parent == NULL)
        rc = -ENOMEM;
    if (rc == 0)
        rc = find_network_levels(&s, &g, &made);
    if (rc == 0)
        rc = find_bandwidths(&s, &made);
    if (rc == 0)
        *network = made;
    else
        setmatch_network_release(&made);
    base_arena_release(&s.arena);
    return rc;
}

void setmatch_network_release(setmatch_network *network)
{
    free(network->group_of_node);
    free(network->bandwidth);
    *network = (setmatch_network){0, NULL, NULL};
}
