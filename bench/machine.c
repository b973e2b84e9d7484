/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of machines. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "machine.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../tests/unit/seeded.h"
#include "must.h"

#define GBIT (1e9 / 8)
#define MBIT (1e6 / 8)

/* doc/evaluation.md describes them. */
static const machine machines[] = {
    {"inspur", 4, 20, 12, 40 * GBIT, 20 * GBIT, false},
    {"bluelight", 34, 256, 16, 40 * GBIT, 256 * 40 * GBIT, true},
    {"crill", 1, 16, 48, 2.1e9, 0, false},
};

bool machine_parse(const char *text, machine *m)
{
    for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
        if (strcmp(machines[k].name, text) == 0) {
            *m = machines[k];
            return true;
        }
    size_t nodes, leaf, cores;
    double link = 1000, uplink = 1000;
    int used = 0;
    if (sscanf(text, "%zu,%zu,%zu%n,%lf,%lf%n", &nodes, &leaf, &cores, &used, &link, &uplink,
               &used) < 3 ||
        text[used] != '\0' || nodes == 0 || leaf == 0 || cores == 0 || nodes > 100000 ||
        !(link > 0) || !(uplink > 0))
        return false;
    *m = (machine){.name = text,
                   .leaves = (nodes + leaf - 1) / leaf,
                   .leaf = leaf,
                   .cores = cores,
                   .link_rate = link * MBIT,
                   .uplink_rate = uplink * MBIT};
    return true;
}

/* ---- networks ---- */

/* The leaf switches of some nodes: the first of the machine, or a choice that is the same every
 * time. */
static void choose_leaves(const machine *m, size_t nodes, size_t *leaf_of_node)
{
    size_t all = m->leaves * m->leaf, last = 0, leaf = 0, node = 0;
    uint64_t state = 8704;
    for (size_t n = 0; node < nodes; n++) {
        if (m->scattered && (size_t)pick(&state, 0, (int64_t)(all - n - 1)) >= nodes - node)
            continue;
        leaf += node > 0 && n / m->leaf != last;
        last = n / m->leaf;
        leaf_of_node[node++] = leaf;
    }
}

void machine_topology(const machine *m, size_t nodes, topo *t)
{
    size_t *leaf = allocate(nodes, sizeof *leaf);
    choose_leaves(m, nodes, leaf);
    switched_topology(t, nodes, 1, leaf);
    free(leaf);
}

/* The vertex of the switch, or the root, above node n at level k, whose vertices begin at `first`.
 */
static size_t switch_above(size_t nodes, size_t levels, const size_t *group_of_node, size_t k,
                           size_t n, size_t first)
{
    return first + (k < levels ? group_of_node[k * nodes + n] : 0);
}

static void link_switches(topo_tree *tree, size_t nodes, size_t levels, const size_t *group_of_node)
{
    size_t below = 0, first = nodes, last = nodes;
    for (size_t k = 0; k <= levels; k++) {
        for (size_t n = 0; n < nodes; n++) {
            size_t above = switch_above(nodes, levels, group_of_node, k, n, first);
            size_t v = k == 0 ? n : switch_above(nodes, levels, group_of_node, k - 1, n, below);
            tree->parent[v] = above;
            last = above > last ? above : last;
        }
        below = first;
        first = last + 1;
    }
    tree->parent[last] = last;
    tree->vertices = first;
}

void switched_topology(topo *t, size_t nodes, size_t levels, const size_t *group_of_node)
{
    size_t most = nodes * (levels + 1) + 1;
    must(topo_from_levels(t, nodes, levels, group_of_node), "the topology");
    t->tree.parent = allocate(most, sizeof *t->tree.parent);
    t->tree.width = allocate(most, sizeof *t->tree.width);
    link_switches(&t->tree, nodes, levels, group_of_node);
    for (size_t v = 0; v < t->tree.vertices; v++)
        t->tree.width[v] = 1;
}
