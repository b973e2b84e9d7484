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

static void find_members(simulation *sim, sim_load *load, int node)
{
    load->rank = calloc((size_t)sim->ranks, sizeof *load->rank);
    for (int i = 0; i < sim->ranks; i++)
        if (is_member(&sim->rank[i], node, load->domain) && sim_chance(sim, 7, 8))
            load->rank[load->ranks++] = i;
    if (load->ranks == 1)
        load->ranks = 0;
}

static void make_windows(simulation *sim, sim_load *load)
{
    load->window = calloc(load->ranks * EXCHANGE_DEPTH, sizeof *load->window);
    load->data = malloc(load->ranks * EXCHANGE_DEPTH * (size_t)sim->cycle_size);
    for (size_t i = 0; i < load->ranks * EXCHANGE_DEPTH; i++)
        load->window[i] = (exchange_window){&load->flags[i % EXCHANGE_DEPTH],
                                            load->data + i * (size_t)sim->cycle_size};
}

static void unite_lists(simulation *sim, sim_load *load)
{
    const access_list **list = calloc(load->ranks, sizeof *list);
    load->part = calloc(load->ranks, sizeof *load->part);
    for (size_t i = 0; i < load->ranks; i++)
        list[i] = sim_target(&sim->rank[load->rank[i]], load->domain)->list;
    if (access_union_parts(list, load->ranks, &load->whole, load->part) != 0)
        sim_fail(sim, "no memory");
    free(list);
}

static void assign_targets(simulation *sim, sim_load *load)
{
    load->member = calloc(load->ranks, sizeof *load->member);
    load->load = (exchange_load){&load->part[load->carrier], load->member, 0};
    for (size_t i = 0; i < load->ranks; i++) {
        exchange_target *target = sim_target(&sim->rank[load->rank[i]], load->domain);
        const exchange_window *window = &load->window[i * EXCHANGE_DEPTH];
        if (i == load->carrier) {
            target->list = &load->whole;
            target->load = &load->load;
        } else {
            target->window = window;
            target->is_carried = true;
            load->member[load->load.members++] = (exchange_member){&load->part[i], window};
        }
    }
}

static void draw_load(simulation *sim, sim_load *load, int node)
{
    find_members(sim, load, node);
    if (load->ranks == 0)
        return;
    load->carrier = (size_t)pick(&sim->state, 0, (int64_t)load->ranks - 1);
    make_windows(sim, load);
    unite_lists(sim, load);
    assign_targets(sim, load);
}

void sim_draw_loads(simulation *sim)
{
    if (sim->overlap == OVERLAP_ORDERED || sim_chance(sim, 1, 2))
        return;
    sim->load = calloc(sim->domains.count * (size_t)sim->nodes, sizeof *sim->load);
    for (size_t i = 0; i < sim->domains.count * (size_t)sim->nodes; i++) {
        sim->load[i].domain = i / (size_t)sim->nodes;
        if (sim_chance(sim, 7, 8))
            draw_load(sim, &sim->load[i], (int)(i % (size_t)sim->nodes));
    }
}

void sim_release_loads(simulation *sim)
{
    for (size_t i = 0; sim->load != NULL && i < sim->domains.count * (size_t)sim->nodes; i++) {
        sim_load *load = &sim->load[i];
        for (size_t k = 0; k < load->ranks; k++)
            access_release(&load->part[k]);
        access_release(&load->whole);
        free(load->part);
        free(load->member);
        free(load->window);
        free(load->data);
        free(load->rank);
    }
    free(sim->load);
}
