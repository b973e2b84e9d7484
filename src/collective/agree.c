/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement: the largest values over all ranks; and broadcast.
 *
 * The ranks of a node agree first, so that only one of them talks to other nodes: to the leader by
 * a tree, among the leaders by dissemination, and back down the tree. Maxima do not depend on the
 * order, nor on how often a value is taken. A broadcast takes the same ways, so that it needs no
 * connection that an agreement has not made. An error on the way back would not reach the ranks
 * that are done: it ends the job. After the loss of a rank messages continue, because others wait
 * for them. */
#include <string.h>

#include "collective/group.h"

/* Few steps matter more than few messages of a rank, and so more on a node, where a message takes
 * less. */
#define NODE_RADIX 16
#define LEADER_RADIX 4
/* Messages that a rank sends at once at most: to its children in a tree of 31 binary digits, four
 * to a level. */
#define MOST_SENDS ((NODE_RADIX - 1) * 8)

typedef struct agreement {
    coll_group *group;
    int64_t *value;
    int count; /* of values; at most, before a broadcast is received */
    int rc;    /* a rank is lost */
} agreement;

static void keep_error(agreement *a, int rc)
{
    if (rc != 0)
        coll_end_job(a->group->runtime, rc);
    if (a->rc == 0)
        a->rc = rc;
}

static size_t value_bytes(const agreement *a)
{
    return (size_t)a->count * sizeof *a->value;
}

static void receive_and_merge(agreement *a, int peer)
{
    int64_t other[COLL_MOST_VALUES];
    int rc = coll_receive(a->group, other, value_bytes(a), peer, COLL_TAG_AGREE);
    keep_error(a, rc);
    for (int i = 0; i < a->count && rc == 0; i++)
        if (other[i] > a->value[i])
            a->value[i] = other[i];
}

static void replace_values(agreement *a, int peer)
{
    size_t bytes = value_bytes(a);
    int rc = coll_receive_some(a->group, a->value, &bytes, peer, COLL_TAG_AGREE);
    keep_error(a, rc);
    if (rc == 0)
        a->count = (int)(bytes / sizeof *a->value);
}

/* These messages are in flight. */
typedef struct sends {
    exchange_request request[MOST_SENDS];
    int count;
} sends;

static void start_sending(agreement *a, const int64_t *value, int peer, sends *out)
{
    int rc = coll_isend(a->group->runtime, peer, COLL_TAG_AGREE, value, value_bytes(a), false,
                        &out->request[out->count]);
    keep_error(a, rc);
    out->count += rc == 0;
}

static void complete_sends(agreement *a, sends *out)
{
    const coll_runtime *runtime = a->group->runtime;
    for (int i = 0; i < out->count; i++)
        keep_error(a, runtime->wait(runtime->context, &out->request[i], NULL));
}

/* ---- trees ---- */

/* In a tree of indices, the parent of one has 0 instead of the lowest digit that is not 0. */
typedef struct rank_tree {
    const int *rank;  /* by index */
    int count, index; /* this rank's */
    int radix;
} rank_tree;

static rank_tree tree_of_node(const coll_group *group)
{
    int index = coll_local_index(group, group->rank);
    return (rank_tree){group->local, group->locals, index, NODE_RADIX};
}

static rank_tree tree_of_leaders(const coll_group *group)
{
    return (rank_tree){group->leader, group->leaders, group->leader_index, LEADER_RADIX};
}

/* The radix to the power of the number of levels below this rank. */
static int span_of_children(const rank_tree *tree)
{
    int span = 1;
    while (span < tree->count && tree->index / span % tree->radix == 0)
        span *= tree->radix;
    return span;
}

static int find_parent(const rank_tree *tree, int span)
{
    return tree->rank[tree->index - tree->index / span % tree->radix * span];
}

static void collect_values(agreement *a, const rank_tree *tree)
{
    int span = span_of_children(tree);
    for (int step = 1; step < span; step *= tree->radix)
        for (int d = 1; d < tree->radix && tree->index + d * step < tree->count; d++)
            receive_and_merge(a, tree->rank[tree->index + d * step]);
    if (tree->index > 0)
        keep_error(a, coll_send(a->group, a->value, value_bytes(a), find_parent(tree, span),
                                COLL_TAG_AGREE));
}

/* Sends to all children at once: in shared memory a send is complete only after the peer has run,
 * and where ranks share processors each wait for that takes a turn of all of them. */
static void spread_values(agreement *a, const rank_tree *tree)
{
    sends out = {.count = 0};
    int span = span_of_children(tree);
    if (tree->index > 0)
        replace_values(a, find_parent(tree, span));
    for (int step = span / tree->radix; step > 0; step /= tree->radix)
        for (int d = 1; d < tree->radix && tree->index + d * step < tree->count; d++)
            start_sending(a, a->value, tree->rank[tree->index + d * step], &out);
    complete_sends(a, &out);
}

/* ---- among nodes ---- */

/* Before a step each leader has the values of the `step` leaders up to itself, then of LEADER_RADIX
 * times as many. The peers of an agreement differ, so that messages match in the order of
 * agreements. */
static void agree_among_leaders(agreement *a)
{
    const coll_group *group = a->group;
    int leaders = group->leaders, me = group->leader_index;
    for (int64_t step = 1; step < leaders; step *= LEADER_RADIX) {
        int64_t before[COLL_MOST_VALUES];
        sends out = {.count = 0};
        memcpy(before, a->value, value_bytes(a));
        for (int64_t d = step; d < LEADER_RADIX * step && d < leaders; d += step)
            start_sending(a, before, group->leader[(me + d) % leaders], &out);
        for (int64_t d = step; d < LEADER_RADIX * step && d < leaders; d += step)
            receive_and_merge(a, group->leader[(me + leaders - d) % leaders]);
        complete_sends(a, &out);
    }
}

static int agree(coll_group *group, int64_t *value, int count, bool among_nodes)
{
    agreement a = {group, value, count, 0};
    const rank_tree node = tree_of_node(group);
    collect_values(&a, &node);
    if (among_nodes && node.index == 0)
        agree_among_leaders(&a);
    spread_values(&a, &node);
    return a.rc;
}

int coll_agree_max(coll_group *group, int64_t *value, int count, int rc)
{
    value[0] = group->runtime->error_class(rc);
    rc = agree(group, value, count, true);
    return rc != 0 ? rc : (int)value[0];
}

int coll_node_max(coll_group *group, int64_t *value, int count)
{
    return agree(group, value, count, false);
}

static int broadcast(coll_group *group, int64_t *value, int *count, bool among_nodes)
{
    agreement a = {group, value, *count, 0};
    const rank_tree node = tree_of_node(group), leaders = tree_of_leaders(group);
    if (among_nodes && node.index == 0)
        spread_values(&a, &leaders);
    spread_values(&a, &node);
    *count = a.count;
    return a.rc;
}

int coll_bcast(coll_group *group, int64_t *value, int *count)
{
    return broadcast(group, value, count, true);
}

int coll_node_bcast(coll_group *group, int64_t *value, int count)
{
    return broadcast(group, value, &count, false);
}

int coll_agree_error(coll_group *group, int rc)
{
    int64_t worst;
    return coll_agree_max(group, &worst, 1, rc);
}
