/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributes the units of each node to its aggregators, and units without bytes to all. */
#include "plan/deal.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/* The members of node n are member[first[n]] .. member[first[n + 1] - 1], ascending. */
struct groups {
    size_t *first, *member;
};

static int group_by_node(struct groups *g, const size_t *node, size_t count, size_t nodes)
{
    *g = (struct groups){calloc(nodes + 2, sizeof *g->first), calloc(count | 1, sizeof *g->member)};
    if (g->first == NULL || g->member == NULL)
        return -ENOMEM;
    /* Counting sort: counts two entries ahead, so that filling in leaves each start in place. */
    for (size_t i = 0; i < count; i++)
        if (node[i] != SIZE_MAX)
            g->first[node[i] + 2]++;
    for (size_t n = 0; n < nodes; n++)
        g->first[n + 2] += g->first[n + 1];
    for (size_t i = 0; i < count; i++)
        if (node[i] != SIZE_MAX)
            g->member[g->first[node[i] + 1]++] = i;
    return 0;
}

static void unit_groups_release(struct groups *g)
{
    free(g->first);
    free(g->member);
}

/* Whether a cut before unit[i] splits no run of adjacent units. */
static int cuts_between_runs(const size_t *unit, size_t count, size_t i)
{
    return i == 0 || i == count || unit[i] != unit[i - 1] + 1;
}

/* Units for the first of `aggregators` that share `count` units: `least` or one more. */
static size_t first_share(const size_t *unit, size_t count, size_t aggregators, size_t least)
{
    size_t extra = count - aggregators * least;
    if (extra == 0)
        return least;
    if (extra < aggregators && cuts_between_runs(unit, count, least) &&
        !cuts_between_runs(unit, count, least + 1))
        return least;
    return least + 1;
}

static void deal_node(const deal_input *in, const size_t *unit, size_t count,
                      const size_t *aggregator, size_t aggregators, size_t *aggregator_of_unit)
{
    for (size_t k = 0; k < aggregators; k++) {
        size_t share = first_share(unit, count, aggregators - k, in->least);
        for (size_t i = 0; i < share; i++)
            aggregator_of_unit[unit[i]] = aggregator[k];
        unit += share;
        count -= share;
    }
}

/* Units without bytes cost nothing but must not make a domain longer than an even one. load[j]:
 * units of aggregator j so far. */
static void deal_idle_units(const deal_input *in, size_t *load, size_t *aggregator_of_unit)
{
    size_t most = in->units / in->aggregators + (in->units % in->aggregators != 0), next = 0;
    for (size_t u = 0; u < in->units; u++)
        load[aggregator_of_unit[u]] += in->node_of_unit[u] != SIZE_MAX;
    for (size_t u = 0; u < in->units; u++) {
        if (in->node_of_unit[u] != SIZE_MAX)
            continue;
        size_t left = u > 0 ? aggregator_of_unit[u - 1] : 0;
        while (load[next] >= most && load[left] >= most)
            next++;
        aggregator_of_unit[u] = load[left] < most ? left : next;
        load[aggregator_of_unit[u]]++;
    }
}

int deal_units(const deal_input *in, size_t *aggregator_of_unit)
{
    struct groups units = {0}, aggregators = {0};
    size_t *load = calloc(in->aggregators, sizeof *load);
    int rc = load == NULL ? -ENOMEM : group_by_node(&units, in->node_of_unit, in->units, in->nodes);
    if (rc == 0)
        rc = group_by_node(&aggregators, in->node_of_aggregator, in->aggregators, in->nodes);
    if (rc == 0) {
        for (size_t u = 0; u < in->units; u++)
            aggregator_of_unit[u] = 0;
        for (size_t n = 0; n < in->nodes; n++) {
            deal_node(in, units.member + units.first[n], units.first[n + 1] - units.first[n],
                      aggregators.member + aggregators.first[n],
                      aggregators.first[n + 1] - aggregators.first[n], aggregator_of_unit);
        }
        deal_idle_units(in, load, aggregator_of_unit);
    }
    unit_groups_release(&aggregators);
    unit_groups_release(&units);
    free(load);
    return rc;
}
