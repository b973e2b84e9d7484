/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks carry for others of their node: before the aggregators know their contributors. */
#include "simulation.h"

#include <stdlib.h>

#include "access/merge.h"

exchange_target *sim_target(sim_rank *r, size_t domain)
{
    for (size_t i = 0; i < r->shares; i++)
        if (r->share[i].domain == domain)
            return &r->target[i];
    return NULL;
}

static bool is_member(sim_rank *r, int node, size_t domain)
{
    const exchange_target *target = sim_target(r, domain);
    return r->node == node && target != NULL && target->aggregator != r->rank &&
           target->window == NULL;
}

static void find_members(simulation *sim, sim_bundle *bundle, int node)
{
    bundle->rank = calloc((size_t)sim->ranks, sizeof *bundle->rank);
    for (int i = 0; i < sim->ranks; i++)
        if (is_member(&sim->rank[i], node, bundle->domain) && sim_chance(sim, 7, 8))
            bundle->rank[bundle->ranks++] = i;
    if (bundle->ranks == 1)
        bundle->ranks = 0;
}

static void make_windows(simulation *sim, sim_bundle *bundle)
{
    bundle->window = calloc(bundle->ranks * EXCHANGE_DEPTH, sizeof *bundle->window);
    bundle->data = malloc(bundle->ranks * EXCHANGE_DEPTH * (size_t)sim->cycle_size);
    for (size_t i = 0; i < bundle->ranks * EXCHANGE_DEPTH; i++)
        bundle->window[i] = (exchange_window){&bundle->flags[i % EXCHANGE_DEPTH],
                                              bundle->data + i * (size_t)sim->cycle_size};
}

static void unite_lists(simulation *sim, sim_bundle *bundle)
{
    const access_list **list = calloc(bundle->ranks, sizeof *list);
    bundle->part = calloc(bundle->ranks, sizeof *bundle->part);
    for (size_t i = 0; i < bundle->ranks; i++)
        list[i] = sim_target(&sim->rank[bundle->rank[i]], bundle->domain)->list;
    if (access_union_parts(list, bundle->ranks, &bundle->whole, bundle->part) != 0)
        sim_fail(sim, "no memory");
    free(list);
}

static void assign_targets(simulation *sim, sim_bundle *bundle)
{
    bundle->bundle =
        (exchange_bundle){bundle->ranks, bundle->carrier, bundle->part, bundle->window};
    for (size_t i = 0; i < bundle->ranks; i++) {
        exchange_target *target = sim_target(&sim->rank[bundle->rank[i]], bundle->domain);
        if (i == bundle->carrier) {
            target->list = &bundle->whole;
            target->bundle = &bundle->bundle;
        } else {
            target->window = &bundle->window[i * EXCHANGE_DEPTH];
            target->is_carried = true;
        }
    }
}

static void draw_bundle(simulation *sim, sim_bundle *bundle, int node)
{
    find_members(sim, bundle, node);
    if (bundle->ranks == 0)
        return;
    bundle->carrier = (size_t)pick(&sim->state, 0, (int64_t)bundle->ranks - 1);
    make_windows(sim, bundle);
    unite_lists(sim, bundle);
    assign_targets(sim, bundle);
}

void sim_draw_bundles(simulation *sim)
{
    if (sim->overlap == OVERLAP_ORDERED || sim_chance(sim, 1, 2))
        return;
    sim->bundle = calloc(sim->domains.count * (size_t)sim->nodes, sizeof *sim->bundle);
    for (size_t i = 0; i < sim->domains.count * (size_t)sim->nodes; i++) {
        sim->bundle[i].domain = i / (size_t)sim->nodes;
        if (sim_chance(sim, 7, 8))
            draw_bundle(sim, &sim->bundle[i], (int)(i % (size_t)sim->nodes));
    }
}

void sim_release_bundles(simulation *sim)
{
    for (size_t i = 0; sim->bundle != NULL && i < sim->domains.count * (size_t)sim->nodes; i++) {
        sim_bundle *bundle = &sim->bundle[i];
        for (size_t k = 0; k < bundle->ranks; k++)
            access_release(&bundle->part[k]);
        access_release(&bundle->whole);
        free(bundle->part);
        free(bundle->window);
        free(bundle->data);
        free(bundle->rank);
    }
    free(sim->bundle);
}
