/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes that have free slots, ordered by their number. */
#include "setmatch/free_nodes.h"

#include <errno.h>

#include "base/mix.h"

/* A hash of the index: the expected depth of the treap is logarithmic, and equal input builds equal
 * trees. */
static uint64_t priority(size_t node)
{
    return base_mix(node);
}

/* Whether node a precedes (slots, index). */
static int is_before(const free_nodes *f, size_t a, size_t slots, size_t index)
{
    return f->node[a].free < slots || (f->node[a].free == slots && a < index);
}

/* Splits the tree into the nodes before (slots, index) and the others. */
static void split_nodes(free_nodes *f, size_t tree, size_t slots, size_t index, size_t *before,
                        size_t *others)
{
    while (tree != FREE_NODES_NONE) {
        if (is_before(f, tree, slots, index)) {
            *before = tree;
            before = &f->node[tree].right;
            tree = *before;
        } else {
            *others = tree;
            others = &f->node[tree].left;
            tree = *others;
        }
    }
    *before = FREE_NODES_NONE;
    *others = FREE_NODES_NONE;
}

/* Joins two trees; all nodes of `low` precede those of `high`. */
static size_t join_nodes(free_nodes *f, size_t low, size_t high)
{
    size_t root, *link = &root;
    while (low != FREE_NODES_NONE && high != FREE_NODES_NONE) {
        if (priority(low) > priority(high)) {
            *link = low;
            link = &f->node[low].right;
            low = *link;
        } else {
            *link = high;
            link = &f->node[high].left;
            high = *link;
        }
    }
    *link = low != FREE_NODES_NONE ? low : high;
    return root;
}

static void insert_node(free_nodes *f, size_t node)
{
    size_t low, high;
    split_nodes(f, f->root, f->node[node].free, node, &low, &high);
    f->node[node].left = f->node[node].right = FREE_NODES_NONE;
    f->root = join_nodes(f, join_nodes(f, low, node), high);
}

static void remove_node(free_nodes *f, size_t node)
{
    size_t *link = &f->root;
    while (*link != node)
        link = is_before(f, *link, f->node[node].free, node) ? &f->node[*link].right
                                                             : &f->node[*link].left;
    *link = join_nodes(f, f->node[node].left, f->node[node].right);
}

int free_nodes_init(free_nodes *f, struct base_arena *arena, const size_t *slots, size_t nodes)
{
    *f = (free_nodes){base_arena_alloc(arena, nodes, sizeof *f->node), nodes, FREE_NODES_NONE};
    if (f->node == NULL)
        return -ENOMEM;
    for (size_t n = 0; n < nodes; n++) {
        f->node[n].free = slots[n];
        if (slots[n] > 0)
            insert_node(f, n);
    }
    return 0;
}

size_t free_nodes_fewest(const free_nodes *f, size_t count)
{
    size_t found = FREE_NODES_NONE;
    for (size_t n = f->root; n != FREE_NODES_NONE;) {
        if (is_before(f, n, count, 0)) {
            n = f->node[n].right;
        } else {
            found = n;
            n = f->node[n].left;
        }
    }
    return found;
}

size_t free_nodes_most(const free_nodes *f)
{
    size_t most = f->root;
    if (most == FREE_NODES_NONE)
        return FREE_NODES_NONE;
    while (f->node[most].right != FREE_NODES_NONE)
        most = f->node[most].right;
    return free_nodes_fewest(f, f->node[most].free);
}

void free_nodes_occupy(free_nodes *f, size_t node, size_t count)
{
    remove_node(f, node);
    f->node[node].free -= count;
    if (f->node[node].free > 0)
        insert_node(f, node);
}
