/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparator MPIPP: ranks at random, then the best swap until none helps. */
#include <errno.h>
#include <stdlib.h>

#include "setmatch/methods.h"
#include "setmatch/mix.h"

enum { SWAPS_A_RANK = 20 };

/* A free slot is a rank without bonds: `places` are ranks and free slots. */
struct swapping {
    const affinity *g;
    size_t nodes, places;
    size_t *node;   /* by place */
    int64_t *bound; /* bound[v * nodes + n]: what binds rank v to node n */
};

struct swap {
    size_t a, b;
    int64_t gain;
};

static int64_t weight_between(const affinity *g, size_t a, size_t b)
{
    for (size_t i = g->start[a]; i < g->start[a + 1]; i++)
        if (g->other[i] == b)
            return g->weight[i];
    return 0;
}

static int64_t gain_of_leaving(const struct swapping *s, size_t a, size_t to)
{
    const int64_t *bound = s->bound + a * s->nodes;
    return a < s->g->vertices ? bound[to] - bound[s->node[a]] : 0;
}

static int64_t gain_of(const struct swapping *s, size_t a, size_t b)
{
    int64_t gain = gain_of_leaving(s, a, s->node[b]) + gain_of_leaving(s, b, s->node[a]);
    if (gain > 0 && a < s->g->vertices && b < s->g->vertices)
        gain -= 2 * weight_between(s->g, a, b);
    return gain;
}

static struct swap best_swap(const struct swapping *s)
{
    struct swap best = {0, 0, 0};
    for (size_t a = 0; a < s->g->vertices; a++) {
        for (size_t b = a + 1; b < s->places; b++) {
            if (s->node[a] == s->node[b])
                continue;
            int64_t gain = gain_of(s, a, b);
            if (gain > best.gain)
                best = (struct swap){a, b, gain};
        }
    }
    return best;
}

static void put(struct swapping *s, size_t place, size_t node)
{
    size_t from = s->node[place];
    s->node[place] = node;
    if (place >= s->g->vertices)
        return;
    for (size_t i = s->g->start[place]; i < s->g->start[place + 1]; i++) {
        s->bound[s->g->other[i] * s->nodes + from] -= s->g->weight[i];
        s->bound[s->g->other[i] * s->nodes + node] += s->g->weight[i];
    }
}

static void place_at_random(struct swapping *s, const placement_task *task, uint64_t seed)
{
    const setmatch_input *in = task->input;
    size_t place = 0;
    for (size_t n = 0; n < in->nodes; n++)
        for (size_t slot = 0; slot < in->slots[n] && slot < s->g->vertices; slot++)
            s->node[place++] = n;
    for (size_t k = s->places; k > 1; k--) {
        size_t other = mixed(seed + k) % k, kept = s->node[k - 1];
        s->node[k - 1] = s->node[other];
        s->node[other] = kept;
    }
    for (size_t v = 0; v < s->g->vertices; v++)
        for (size_t i = s->g->start[v]; i < s->g->start[v + 1]; i++)
            s->bound[v * s->nodes + s->node[s->g->other[i]]] += s->g->weight[i];
}

/* No node is of use with more slots than there are ranks. */
static size_t count_places(const setmatch_input *in)
{
    size_t places = 0;
    for (size_t n = 0; n < in->nodes; n++)
        places += in->slots[n] < in->view->rows ? in->slots[n] : in->view->rows;
    return places;
}

static int swap_places(const placement_task *task, uint64_t seed, size_t swaps, size_t *node)
{
    size_t size;
    struct swapping s = {&task->ranks, task->input->nodes, count_places(task->input), NULL, NULL};
    if (__builtin_mul_overflow(task->ranks.vertices + 1, s.nodes + 1, &size))
        return -ENOMEM;
    s.node = calloc(s.places + 1, sizeof *s.node);
    s.bound = calloc(size, sizeof *s.bound);
    if (s.node == NULL || s.bound == NULL) {
        free(s.node);
        free(s.bound);
        return -ENOMEM;
    }
    place_at_random(&s, task, seed);
    for (size_t k = 0; k < swaps; k++) {
        struct swap best = best_swap(&s);
        if (best.gain == 0)
            break;
        size_t from = s.node[best.a];
        put(&s, best.a, s.node[best.b]);
        put(&s, best.b, from);
    }
    for (size_t v = 0; v < task->ranks.vertices; v++)
        node[v] = s.node[v];
    free(s.node);
    free(s.bound);
    return 0;
}

int setmatch_mpipp_from(const setmatch_input *input, uint64_t seed, size_t swaps,
                        size_t *node_of_rank)
{
    placement_task task;
    int rc = placement_task_init(&task, input);
    if (rc != 0)
        return rc;
    rc = swap_places(&task, seed, swaps, node_of_rank);
    placement_task_release(&task);
    return rc;
}

int setmatch_mpipp(const setmatch_input *input, size_t *node_of_rank)
{
    return setmatch_mpipp_from(input, 1, SWAPS_A_RANK * input->view->rows, node_of_rank);
}
