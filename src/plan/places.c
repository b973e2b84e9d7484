/* SPDX-License-Identifier: BSD-3-Clause */
/* Places and their nodes. */
#include "plan/places.h"

#include <errno.h>
#include <stdlib.h>

static int allocate(size_t nodes, size_t count, struct places *places)
{
    *places = (struct places){.nodes = nodes, .count = count};
    places->of_node = calloc(nodes | 1, sizeof *places->of_node);
    places->member = calloc(nodes | 1, sizeof *places->member);
    places->start = calloc(count + 2, sizeof *places->start);
    places->within = calloc(count | 1, sizeof *places->within);
    if (places->of_node == NULL || places->member == NULL || places->start == NULL ||
        places->within == NULL) {
        places_release(places);
        return -ENOMEM;
    }
    return 0;
}

/* start[p + 1] is where the next node of place p goes, and at last where place p ends. */
static void list_members(struct places *places)
{
    for (size_t n = 0; n < places->nodes; n++)
        places->start[places->of_node[n] + 2]++;
    for (size_t p = 1; p <= places->count; p++)
        places->start[p + 1] += places->start[p];
    for (size_t n = 0; n < places->nodes; n++)
        places->member[places->start[places->of_node[n] + 1]++] = n;
}

static void measure(const topo *t, struct places *places)
{
    for (size_t p = 0; p < places->count; p++) {
        const size_t *member = places->member + places->start[p];
        size_t size = places->start[p + 1] - places->start[p];
        places->within[p] = size > 1 ? topo_hops(t, member[0], member[1], 0) : places->same;
    }
}

int places_from_topo(const topo *t, struct places *places)
{
    int rc = allocate(t->nodes, t->places > 0 ? t->places : 1, places);
    if (rc != 0)
        return rc;
    places->same = TOPO_SAME_NODE;
    places->between = t->places > 0 ? t->between : NULL;
    for (size_t n = 0; n < t->nodes && t->places > 0; n++)
        places->of_node[n] = t->place_of_node[n];
    list_members(places);
    measure(t, places);
    return 0;
}

int places_apart(size_t nodes, struct places *places)
{
    int rc = allocate(nodes, 1, places);
    if (rc == 0) {
        list_members(places);
        places->within[0] = 1.0;
    }
    return rc;
}

void places_release(struct places *places)
{
    free(places->of_node);
    free(places->start);
    free(places->member);
    free(places->within);
    *places = (struct places){0};
}
