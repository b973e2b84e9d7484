/* SPDX-License-Identifier: BSD-3-Clause */
/* Node classes and their nodes. */
#include "plan/classes.h"
#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

static int classes_allocate(size_t nodes, size_t count, struct classes *classes)
{
    int rc = 0;
    *classes = (struct classes){.nodes = nodes, .count = count};
    classes->of_node = base_zeroed(nodes, sizeof *classes->of_node, &rc);
    classes->member = base_zeroed(nodes, sizeof *classes->member, &rc);
    classes->start = base_zeroed(count + 2, sizeof *classes->start, &rc);
    classes->within = base_zeroed(count, sizeof *classes->within, &rc);
    if (rc != 0)
        classes_release(classes);
    return rc;
}

/* Counting sort: start[p + 1] is the position of the next node of class p, finally the end of p. */
static void list_class_members(struct classes *classes)
{
    for (size_t n = 0; n < classes->nodes; n++)
        classes->start[classes->of_node[n] + 2]++;
    for (size_t p = 1; p <= classes->count; p++)
        classes->start[p + 1] += classes->start[p];
    for (size_t n = 0; n < classes->nodes; n++)
        classes->member[classes->start[classes->of_node[n] + 1]++] = n;
}

static void measure_classes(const topo *t, struct classes *classes)
{
    for (size_t p = 0; p < classes->count; p++) {
        const size_t *member = classes->member + classes->start[p];
        size_t size = classes->start[p + 1] - classes->start[p];
        classes->within[p] = size > 1 ? topo_hops(t, member[0], member[1], 0) : classes->same;
    }
}

int classes_from_topo(const topo *t, struct classes *classes)
{
    int rc = classes_allocate(t->nodes, t->places > 0 ? t->places : 1, classes);
    if (rc != 0)
        return rc;
    classes->same = TOPO_SAME_NODE;
    classes->between = t->places > 0 ? t->between : NULL;
    for (size_t n = 0; n < t->nodes && t->places > 0; n++)
        classes->of_node[n] = t->place_of_node[n];
    list_class_members(classes);
    measure_classes(t, classes);
    return 0;
}

int classes_apart(size_t nodes, struct classes *classes)
{
    int rc = classes_allocate(nodes, 1, classes);
    if (rc == 0) {
        list_class_members(classes);
        classes->within[0] = 1.0;
    }
    return rc;
}

void classes_release(struct classes *classes)
{
    free(classes->of_node);
    free(classes->start);
    free(classes->member);
    free(classes->within);
    *classes = (struct classes){0};
}
