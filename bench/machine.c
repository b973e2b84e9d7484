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

/* The switches of a level follow those of the level below, the root is the last vertex. */
static void link_switches(topo_tree *tree, size_t nodes, size_t levels, const size_t *group_of_node)
{
    size_t *first = allocate(levels + 1, sizeof *first);
    first[0] = nodes;
    for (size_t i = 0; i < levels * nodes; i++) {
        size_t level = i / nodes, end = first[level] + group_of_node[i] + 1;
        first[level + 1] = end > first[level + 1] ? end : first[level + 1];
    }
    for (size_t n = 0; n < nodes; n++)
        for (size_t v = n, level = 0; level <= levels; level++) {
            size_t above = first[level] + (level < levels ? group_of_node[level * nodes + n] : 0);
            tree->parent[v] = above;
            v = above;
        }
    tree->parent[first[levels]] = first[levels];
    tree->vertices = first[levels] + 1;
    free(first);
}

/* Two for each level up to that of the switch above both nodes. Those of a leaf are a class. */
static void fill_hops(topo *t, size_t levels, const size_t *group_of_node)
{
    size_t nodes = t->nodes, *sample = allocate(nodes, sizeof *sample);
    t->place_of_node = allocate(nodes, sizeof *t->place_of_node);
    for (size_t n = 0; n < nodes; n++) {
        size_t place = t->place_of_node[n] = group_of_node[n];
        sample[place] = n;
        t->places = place >= t->places ? place + 1 : t->places;
    }
    t->between = allocate(t->places, t->places * sizeof *t->between);
    for (size_t i = 0; i < t->places * t->places; i++) {
        const size_t *p = &group_of_node[sample[i / t->places]];
        const size_t *q = &group_of_node[sample[i % t->places]];
        size_t k = 0;
        while (k < levels && p[k * nodes] != q[k * nodes])
            k++;
        t->between[i] = (uint16_t)(2 * (k + 1));
    }
    free(sample);
}

void switched_topology(topo *t, size_t nodes, size_t levels, const size_t *group_of_node)
{
    size_t most = nodes * (levels + 1) + 1;
    topo_flat(t, nodes);
    fill_hops(t, levels, group_of_node);
    t->tree.parent = allocate(most, sizeof *t->tree.parent);
    t->tree.width = allocate(most, sizeof *t->tree.width);
    link_switches(&t->tree, nodes, levels, group_of_node);
    for (size_t v = 0; v < t->tree.vertices; v++)
        t->tree.width[v] = 1;
}
