/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances between the nodes of a job. */
#include "topo/distances.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "topo/names.h"

void topo_flat(topo *t, size_t nodes)
{
    *t = (topo){.nodes = nodes, .source = "nothing but which ranks share a node"};
}

void topo_release(topo *t)
{
    free(t->place_of_node);
    free(t->between);
    free(t->tree.parent);
    free(t->tree.width);
    topo_flat(t, 0);
}

double topo_hops(const topo *t, size_t n, size_t m, int same_rank)
{
    if (n == m)
        return same_rank ? 0.0 : TOPO_SAME_NODE;
    if (t->places == 0)
        return TOPO_OTHER_NODE;
    return t->between[t->place_of_node[n] * t->places + t->place_of_node[m]];
}

/* ---- from hops ---- */

/* Hops from and to each node, alternately. The node's own entries are the hops to its nearest node:
 * then the nodes of a class, and only these, have equal keys. */
static void hops_make_key(const uint16_t *hops, size_t nodes, size_t n, uint16_t *key)
{
    uint16_t nearest = TOPO_UNREACHED;
    for (size_t m = 0; m < nodes; m++) {
        if (m == n)
            continue;
        key[2 * m] = hops[n * nodes + m];
        key[2 * m + 1] = hops[m * nodes + n];
        nearest = key[2 * m] < nearest ? key[2 * m] : nearest;
    }
    key[2 * n] = key[2 * n + 1] = nearest;
}

/* sample[p] is the first node of class p. */
static int find_twins(topo *t, const uint16_t *hops, name_table *keys, size_t *sample)
{
    uint16_t *key = base_alloc(t->nodes, 2 * sizeof *key);
    int rc = key == NULL ? -ENOMEM : 0;
    for (size_t n = 0; rc == 0 && n < t->nodes; n++) {
        hops_make_key(hops, t->nodes, n, key);
        rc = name_table_add(keys, key, t->nodes * 2 * sizeof *key, &t->place_of_node[n]);
        if (rc == 0 && t->place_of_node[n] == t->places)
            sample[t->places++] = n;
    }
    free(key);
    return rc;
}

static int fill_hops_of_classes(topo *t, const name_table *keys, const size_t *sample)
{
    t->between = base_alloc(t->places, t->places * sizeof *t->between);
    if (t->between == NULL)
        return -ENOMEM;
    for (size_t p = 0; p < t->places; p++)
        for (size_t q = 0; q < t->places; q++)
            memcpy(&t->between[p * t->places + q],
                   name_table_get(keys, p) + sample[q] * 2 * sizeof(uint16_t), sizeof(uint16_t));
    return 0;
}

int topo_from_hops(topo *t, size_t nodes, const uint16_t *hops)
{
    name_table keys = {0};
    topo made = {.nodes = nodes, .source = "hops"};
    size_t *sample = calloc(nodes | 1, sizeof *sample);
    made.place_of_node = calloc(nodes | 1, sizeof *made.place_of_node);
    int rc = made.place_of_node == NULL || sample == NULL ? -ENOMEM
                                                          : find_twins(&made, hops, &keys, sample);
    if (rc == 0)
        rc = fill_hops_of_classes(&made, &keys, sample);
    name_table_release(&keys);
    free(sample);
    if (rc == 0)
        *t = made;
    else
        topo_release(&made);
    return rc;
}
