/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Arranges the ranks of a node: by levels of the machine from the outermost inwards, and as the
 * launcher does; both are improved by swaps of two ranks.
 */
#include "dla/arrange.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "setmatch/setmatch.h"
#include "topo/distances.h"
#include "topo/local.h"

/* Swaps end earlier, when none gains anything; but sums of huge weights are not exact. */
enum { MOST_SWEEPS = 100 };

/* Square arrays have count * count entries; their diagonal is 0. */
typedef struct arranging {
    struct base_arena arena;
    size_t count;
    matrix view;          /* of the ranks of the node */
    unsigned char *saved; /* by two places: steps of 1 / TOPO_STEPS hop */
    double *weight;       /* by two ranks */
    double *gain;         /* by rank and place: what the rank saves there while all others stay */
    size_t *place, *trial;
    double most, bound; /* what place[] saves, and what the launcher's arrangement does */
    double total;       /* the weight of all pairs */
} arranging;

/* ---- weights and distances ---- */

static void fill_weights(arranging *a)
{
    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = a->view.row_start[i]; k < a->view.row_start[i + 1]; k++) {
            double value = a->view.col[k] != i ? (double)a->view.value[k] : 0.0;
            a->weight[i * a->count + a->view.col[k]] += value;
            a->weight[a->view.col[k] * a->count + i] += value;
            a->total += value;
        }
    }
}

static void fill_saved(arranging *a, char *const *locality)
{
    for (size_t p = 0; p < a->count; p++)
        for (size_t q = 0; q < p; q++)
            a->saved[p * a->count + q] = a->saved[q * a->count + p] =
                (unsigned char)topo_level_saves(topo_locality_level(locality[p], locality[q]));
}

/* ---- swaps ---- */

static void fill_gains(arranging *a, const size_t *place)
{
    memset(a->gain, 0, a->count * a->count * sizeof(*a->gain));
    for (size_t i = 0; i < a->count; i++) {
        for (size_t k = 0; k < a->count; k++) {
            const unsigned char *saved = a->saved + place[k] * a->count;
            double weight = a->weight[i * a->count + k];
            for (size_t p = 0; weight > 0.0 && p < a->count; p++)
                a->gain[i * a->count + p] += weight * saved[p];
        }
    }
}

/* Returns what all pairs save together. */
static double sum_saved(const arranging *a, const size_t *place)
{
    double sum = 0.0;
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < i; k++)
            sum += a->weight[i * a->count + k] * a->saved[place[i] * a->count + place[k]];
    return sum;
}

static double gain_of_swap(const arranging *a, const size_t *place, size_t i, size_t k)
{
    size_t n = a->count, p = place[i], q = place[k];
    return a->gain[i * n + q] - a->gain[i * n + p] + a->gain[k * n + p] - a->gain[k * n + q] +
           2.0 * a->weight[i * n + k] * a->saved[p * n + q];
}

static void swap_ranks(arranging *a, size_t *place, size_t i, size_t k)
{
    size_t n = a->count, p = place[i], q = place[k];
    for (size_t r = 0; r < n; r++) {
        double moved = a->weight[r * n + i] - a->weight[r * n + k];
        for (size_t x = 0; moved != 0.0 && x < n; x++)
            a->gain[r * n + x] += moved * (a->saved[q * n + x] - a->saved[p * n + x]);
    }
    place[i] = q;
    place[k] = p;
}

static void swap_while_gaining(arranging *a, size_t *place)
{
    bool gained = true;
    fill_gains(a, place);
    for (int sweep = 0; gained && sweep < MOST_SWEEPS; sweep++) {
        gained = false;
        for (size_t i = 0; i < a->count; i++) {
            for (size_t k = 0; k < i; k++) {
                if (gain_of_swap(a, place, i, k) > 0.0) {
                    swap_ranks(a, place, i, k);
                    gained = true;
                }
            }
        }
    }
}

/* Replaces place[] by trial[], improved, if that saves more. */
static void enter_trial(arranging *a)
{
    swap_while_gaining(a, a->trial);
    double saved = sum_saved(a, a->trial);
    if (saved > a->most) {
        memcpy(a->place, a->trial, a->count * sizeof(*a->place));
        a->most = saved;
    }
}

/* ---- by levels ---- */

/* Each place is a node with one slot, and the machine the network between them. */
static int place_by_levels(arranging *a)
{
    size_t n = a->count;
    uint16_t *between = base_arena_alloc(&a->arena, n * n, sizeof(*between));
    size_t *number = base_arena_alloc(&a->arena, n, sizeof(*number));
    size_t *one = base_arena_alloc(&a->arena, n, sizeof(*one));
    const topo machine = {.nodes = n, .places = n, .place_of_node = number, .between = between};
    setmatch_network network = {0};
    const setmatch_input input = {.view = &a->view, .slots = one, .nodes = n, .network = &network};
    if (a->arena.failed)
        return -ENOMEM;
    for (size_t p = 0; p < n; p++) {
        number[p] = p;
        one[p] = 1;
        for (size_t q = 0; q < n; q++)
            between[p * n + q] = (uint16_t)(TOPO_STEPS - a->saved[p * n + q]);
    }
    int rc = topo_levels(&machine, &network.levels, &network.group_of_node);
    if (rc == 0)
        rc = setmatch_auto(&input, a->trial);
    setmatch_network_release(&network);
    return rc;
}

/* ---- a node ---- */

static int arrange_places(arranging *a)
{
    for (size_t i = 0; i < a->count; i++)
        a->place[i] = a->trial[i] = i;
    a->bound = a->most = sum_saved(a, a->place);
    enter_trial(a);
    int rc = place_by_levels(a);
    if (rc != 0)
        return rc;
    enter_trial(a);
    return 0;
}

static int init_arranging(arranging *a, const matrix *view, const dla_bound_ranks *node)
{
    size_t n = node->count;
    *a = (arranging){.count = n};
    a->saved = base_arena_alloc(&a->arena, n * n, sizeof(*a->saved));
    a->weight = base_arena_alloc(&a->arena, n * n, sizeof(*a->weight));
    a->gain = base_arena_alloc(&a->arena, n * n, sizeof(*a->gain));
    a->place = base_arena_alloc(&a->arena, n, sizeof(*a->place));
    a->trial = base_arena_alloc(&a->arena, n, sizeof(*a->trial));
    return a->arena.failed ? -ENOMEM : matrix_cut(&a->view, view, node->rank, n, true);
}

int dla_arrange(const matrix *view, const dla_bound_ranks *node, size_t *place, dla_inside *sum)
{
    arranging a;
    for (size_t i = 0; i < node->count; i++)
        place[i] = i;
    if (node->count < 2 || node->count > DLA_MOST_ARRANGED)
        return 0;
    int rc = init_arranging(&a, view, node);
    if (rc == 0) {
        fill_weights(&a);
        fill_saved(&a, node->locality);
        rc = arrange_places(&a);
    }
    if (rc == 0) {
        memcpy(place, a.place, a.count * sizeof(*place));
        sum->weight += a.total;
        sum->bound += a.total * TOPO_SAME_NODE - a.bound / TOPO_STEPS;
        sum->arranged += a.total * TOPO_SAME_NODE - a.most / TOPO_STEPS;
    }
    matrix_release(&a.view);
    base_arena_release(&a.arena);
    return rc;
}

void dla_inside_format(const dla_inside *sum, char text[DLA_INSIDE_SIZE])
{
    double weight = sum->weight > 0.0 ? sum->weight : 1.0;
    snprintf(text, DLA_INSIDE_SIZE,
             "mean hops between neighbours of a node: %.3f as the launcher binds, %.3f arranged",
             sum->bound / weight, sum->arranged / weight);
}
