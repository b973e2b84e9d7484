/* SPDX-License-Identifier: BSD-3-Clause */
/* Improves a placement by the hops between nodes: whole nodes change places first, then ranks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "setmatch/cost.h"
#include "setmatch/task.h"

/* Variants of annealing by initial temperature, and the part of the work of a search that each
 * takes.
 */
enum { HOT = 4, HOT_PART = 16, COOL = 3, COOL_PART = 48, SPARE_SLOTS = 4 };

struct exchange {
    struct base_arena arena;
    affinity nodes; /* a vertex for each node, with its ranks */
    site site;      /* where each has one slot */
    size_t *place;  /* by vertex: its node */
};

/* Release with exchange_release, also after an error. */
static int exchange_init(struct exchange *e, const affinity *ranks, const site *s,
                         const size_t *node)
{
    *e = (struct exchange){.place = NULL};
    vertex *to = base_arena_alloc(&e->arena, ranks->vertices, sizeof *to);
    size_t *one = base_arena_alloc(&e->arena, s->listed, sizeof *one);
    e->place = base_arena_alloc(&e->arena, s->listed, sizeof *e->place);
    if (e->arena.failed)
        return -ENOMEM;
    for (size_t v = 0; v < ranks->vertices; v++)
        to[v] = (vertex)node[v];
    for (size_t n = 0; n < s->listed; n++) {
        one[n] = 1;
        e->place[n] = n;
    }
    int rc = site_init(&e->site, one, s->listed);
    return rc == 0 ? affinity_contract(&e->nodes, ranks, to, s->listed) : rc;
}

static void exchange_release(struct exchange *e)
{
    affinity_release(&e->nodes);
    site_release(&e->site);
    base_arena_release(&e->arena);
}

static int exchange_nodes(const placement_task *task, const affinity *ranks, size_t *node)
{
    struct exchange e;
    const annealing_rules rules = {STEPS_PER_VISIT * task->work / HOT_PART, HOT, &task->input->hops,
                                   task->input->slots, NULL};
    int rc = exchange_init(&e, ranks, &task->site, node);
    if (rc == 0)
        rc = anneal_hops(&e.nodes, &e.site, &rules, e.place);
    for (size_t v = 0; rc == 0 && v < ranks->vertices; v++)
        node[v] = e.place[node[v]];
    exchange_release(&e);
    return rc;
}

void limit_slots(const placement_task *task, const size_t *node, size_t ranks, size_t *slots)
{
    size_t most = SPARE_SLOTS * ranks + task->site.listed, total = 0;
    for (size_t n = 0; n < task->site.listed && total <= most; n++) {
        slots[n] = task->site.slots[n] < ranks ? task->site.slots[n] : ranks;
        total += slots[n];
    }
    if (total <= most)
        return;
    memset(slots, 0, task->site.listed * sizeof *slots);
    for (size_t v = 0; v < ranks; v++)
        slots[node[v]]++;
}

static int exchange_ranks(const placement_task *task, const affinity *ranks, size_t *node)
{
    const annealing_rules rules = {STEPS_PER_VISIT * task->work / COOL_PART, COOL,
                                   &task->input->hops, NULL, NULL};
    site limited;
    size_t *slots = calloc(task->site.listed + 1, sizeof *slots);
    if (slots == NULL)
        return -ENOMEM;
    limit_slots(task, node, ranks->vertices, slots);
    int rc = site_init(&limited, slots, task->site.listed);
    if (rc == 0) {
        rc = anneal_hops(ranks, &limited, &rules, node);
        site_release(&limited);
    }
    free(slots);
    return rc;
}

int improve_by_hops(const placement_task *task, const affinity *ranks, size_t *node)
{
    const setmatch_hops *hops = &task->input->hops;
    struct base_arena arena = {0};
    size_t *trial = base_arena_alloc(&arena, ranks->vertices, sizeof *trial);
    int rc = -ENOMEM;
    if (trial != NULL) {
        memcpy(trial, node, ranks->vertices * sizeof *trial);
        rc = exchange_nodes(task, ranks, trial);
    }
    if (rc == 0)
        rc = exchange_ranks(task, ranks, trial);
    if (rc == 0 && affinity_hops(ranks, hops, trial) < affinity_hops(ranks, hops, node))
        memcpy(node, trial, ranks->vertices * sizeof *node);
    base_arena_release(&arena);
    return rc;
}
