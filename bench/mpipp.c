/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparator MPIPP: a random placement, then the best swap until none reduces the cut. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "study.h"

#include "base/mix.h"
#include "must.h"

enum { SWAPS_PER_RANK = 20, SEED = 1 };

/* Places: the ranks, then the free slots, which are ranks without neighbours. */
typedef struct swapping {
    const setmatch_input *in;
    size_t places;
    size_t *node;     /* by place */
    int64_t *between; /* between[a * places + b]: the weight of two places, in both directions */
    int64_t *weight;  /* weight[a * nodes + n]: of place a and all on node n */
} swapping;

/* Slots beyond the number of ranks do not count. */
static size_t usable_slots(const setmatch_input *in, size_t node)
{
    return in->slots[node] < in->view->rows ? in->slots[node] : in->view->rows;
}

static void place_at_random(swapping *s)
{
    const matrix *view = s->in->view;
    size_t place = 0;
    for (size_t n = 0; n < s->in->nodes; n++)
        for (size_t slot = 0; slot < usable_slots(s->in, n); slot++)
            s->node[place++] = n;
    for (size_t k = s->places; k > 1; k--) {
        size_t other = base_mix(SEED + k) % k, node = s->node[k - 1];
        s->node[k - 1] = s->node[other];
        s->node[other] = node;
    }
    for (size_t a = 0; a < view->rows; a++)
        for (size_t i = view->row_start[a]; i < view->row_start[a + 1]; i++) {
            size_t b = view->col[i];
            s->between[a * s->places + b] += a == b ? 0 : view->value[i];
            s->between[b * s->places + a] += a == b ? 0 : view->value[i];
        }
}

static void weigh_nodes(swapping *s)
{
    memset(s->weight, 0, s->places * s->in->nodes * sizeof *s->weight);
    for (size_t a = 0; a < s->places; a++)
        for (size_t b = 0; b < s->places; b++)
            s->weight[a * s->in->nodes + s->node[b]] += s->between[a * s->places + b];
}

/* By how much swapping two places on different nodes reduces the cut; an edge between the two stays
 * cut. */
static int64_t swap_gain(const swapping *s, size_t a, size_t b)
{
    const int64_t *of_a = s->weight + a * s->in->nodes, *of_b = s->weight + b * s->in->nodes;
    size_t from = s->node[a], to = s->node[b];
    return of_a[to] - of_a[from] + of_b[from] - of_b[to] - 2 * s->between[a * s->places + b];
}

/* False: no swap reduces the cut. */
static bool swap_best(swapping *s)
{
    int64_t most = 0;
    size_t best_a = 0, best_b = 0;
    for (size_t a = 0; a < s->in->view->rows; a++)
        for (size_t b = a + 1; b < s->places; b++) {
            int64_t gain = s->node[a] == s->node[b] ? 0 : swap_gain(s, a, b);
            if (gain > most) {
                most = gain;
                best_a = a;
                best_b = b;
            }
        }
    size_t node = s->node[best_a];
    s->node[best_a] = s->node[best_b];
    s->node[best_b] = node;
    return most > 0;
}

int mpipp_place(const setmatch_input *input, size_t *node_of_rank)
{
    swapping s = {.in = input};
    size_t ranks = input->view->rows;
    for (size_t n = 0; n < input->nodes; n++)
        s.places += usable_slots(input, n);
    if (s.places < ranks)
        return -ENOSPC;
    s.node = allocate(s.places, sizeof *s.node);
    s.between = allocate(s.places * s.places, sizeof *s.between);
    s.weight = allocate(s.places * input->nodes, sizeof *s.weight);
    place_at_random(&s);
    for (size_t swaps = SWAPS_PER_RANK * ranks; swaps > 0; swaps--) {
        weigh_nodes(&s);
        if (!swap_best(&s))
            break;
    }
    memcpy(node_of_rank, s.node, ranks * sizeof *node_of_rank);
    free(s.node);
    free(s.between);
    free(s.weight);
    return 0;
}
