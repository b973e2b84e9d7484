/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparator MPIPP: a random placement, then the best swap until none reduces the cut. */
#include "mpipp.h"

#include <errno.h>
#include <string.h>

#include "base/mix.h"
#include "setmatch/task.h"
#include "swapping.h"

enum { SWAPS_PER_RANK = 20, SEED = 1 };

struct swap {
    size_t a, b;
    int64_t gain;
};

static struct swap find_best_swap(const swapping *s)
{
    struct swap best = {0, 0, 0};
    for (size_t a = 0; a < s->ranks->vertices; a++) {
        for (size_t b = a + 1; b < s->places; b++) {
            if (s->node[a] == s->node[b])
                continue;
            int64_t gain = swapping_most_gain(s, a, b);
            if (gain > best.gain)
                gain = swapping_gain(s, a, b);
            if (gain > best.gain)
                best = (struct swap){a, b, gain};
        }
    }
    return best;
}

static void place_at_random(swapping *s, const placement_task *task, uint64_t seed)
{
    const setmatch_input *in = task->input;
    size_t place = 0;
    for (size_t n = 0; n < in->nodes; n++)
        for (size_t slot = 0; slot < in->slots[n] && slot < s->ranks->vertices; slot++)
            s->node[place++] = n;
    for (size_t k = s->places; k > 1; k--) {
        size_t other = base_mix(seed + k) % k, node = s->node[k - 1];
        s->node[k - 1] = s->node[other];
        s->node[other] = node;
    }
    swapping_weigh(s);
}

/* Slots beyond the number of ranks do not count. */
static size_t count_swap_places(const setmatch_input *in)
{
    size_t places = 0;
    for (size_t n = 0; n < in->nodes; n++)
        places += in->slots[n] < in->view->rows ? in->slots[n] : in->view->rows;
    return places;
}

static int swap_places(const placement_task *task, uint64_t seed, size_t swaps, size_t *node)
{
    swapping s;
    struct base_arena arena = {0};
    int rc =
        swapping_init(&s, &arena, &task->ranks, task->input->nodes, count_swap_places(task->input));
    if (rc == 0)
        place_at_random(&s, task, seed);
    for (size_t k = 0; rc == 0 && k < swaps; k++) {
        struct swap best = find_best_swap(&s);
        if (best.gain == 0)
            break;
        swapping_apply(&s, best.a, best.b);
    }
    if (rc == 0)
        memcpy(node, s.node, task->ranks.vertices * sizeof *node);
    base_arena_release(&arena);
    return rc;
}

int mpipp_place(const setmatch_input *input, size_t *node_of_rank)
{
    placement_task task;
    int rc = placement_task_init(&task, input, false);
    if (rc != 0)
        return rc;
    rc = swap_places(&task, SEED, SWAPS_PER_RANK * input->view->rows, node_of_rank);
    placement_task_release(&task);
    return rc;
}
