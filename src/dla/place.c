/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places the ranks of a job on its nodes.
 */
#include "dla/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

typedef struct slot_filler {
    size_t left;          /* ranks of the present app */
    size_t *used;         /* number of ranks on each node */
    size_t *taken;        /* by the present app, of each node */
    size_t *order, nodes; /* in the order in which they are used first */
} slot_filler;

static void take_slots(slot_filler *f, size_t node, size_t count)
{
    if (count > 0 && f->used[node] == 0)
        f->order[f->nodes++] = node;
    f->used[node] += count;
    f->taken[node] += count;
    f->left -= count;
}

/* Nodes take ranks beyond their slots by turns. */
static int take_excess(const dla_job *job, const dla_app *app, slot_filler *f)
{
    for (bool progress = true; f->left > 0 && progress;) {
        progress = false;
        for (size_t i = 0; i < app->nodes && f->left > 0; i++) {
            size_t n = app->node[i];
            if (f->used[n] < job->node[n].most) {
                take_slots(f, n, 1);
                progress = true;
            }
        }
    }
    return f->left == 0 ? 0 : -ENOSPC;
}

static int take_app(const dla_job *job, const dla_app *app, slot_filler *f)
{
    f->left = app->ranks;
    for (size_t i = 0; i < app->nodes; i++) {
        size_t n = app->node[i], slots = job->node[n].slots;
        size_t room = slots > f->used[n] ? slots - f->used[n] : 0;
        take_slots(f, n, room < f->left ? room : f->left);
    }
    if (f->left == 0)
        return 0;
    return job->oversubscribe ? take_excess(job, app, f) : -ENOSPC;
}

int dla_place_by_slot(const dla_job *job, size_t *node_of_rank, size_t *app)
{
    struct base_arena arena = {0};
    slot_filler f = {
        .used = base_arena_alloc(&arena, job->nodes, sizeof *f.used),
        .taken = base_arena_alloc(&arena, job->nodes, sizeof *f.taken),
        .order = base_arena_alloc(&arena, job->nodes, sizeof *f.order),
    };
    int rc = arena.failed ? -ENOMEM : 0;
    for (size_t a = 0, rank = 0; rc == 0 && a < job->apps; a++) {
        *app = a;
        rc = take_app(job, &job->app[a], &f);
        for (size_t i = 0; rc == 0 && i < f.nodes; i++)
            for (size_t n = f.order[i]; f.taken[n] > 0; f.taken[n]--)
                node_of_rank[rank++] = n;
    }
    base_arena_release(&arena);
    return rc;
}

static bool same_nodes(const dla_app *a, const dla_app *b)
{
    return a->nodes == b->nodes && memcmp(a->node, b->node, a->nodes * sizeof *a->node) == 0;
}

/* The apps with one node list, and their common slots. */
typedef struct rank_group {
    size_t ranks;
    size_t *rank;  /* ascending */
    size_t *slots; /* of each node of the job */
    size_t *node;  /* result, of each entry of rank[] */
} rank_group;

/* App `first` and all later apps with its node list. */
static void group_fill(rank_group *g, const dla_job *job, size_t first, const size_t *by_slot)
{
    size_t rank = 0;
    g->ranks = 0;
    memset(g->slots, 0, job->nodes * sizeof *g->slots);
    for (size_t a = 0; a < job->apps; a++) {
        bool in = a >= first && same_nodes(&job->app[first], &job->app[a]);
        for (size_t end = rank + job->app[a].ranks; rank < end; rank++) {
            if (in) {
                g->rank[g->ranks++] = rank;
                g->slots[by_slot[rank]]++;
            }
        }
    }
}

/* A group of all ranks may use every free slot of its nodes; otherwise other groups need them. */
static void group_add_slots(rank_group *g, const dla_job *job, const dla_app *app)
{
    for (size_t i = 0; g->ranks == job->ranks && i < app->nodes; i++) {
        size_t n = app->node[i];
        if (g->slots[n] < job->node[n].slots)
            g->slots[n] = job->node[n].slots;
    }
}

/* Replaces the input's view and profile by those of the group. */
static int place_partial_group(setmatch_method_fn method, const rank_group *g,
                               setmatch_input *input)
{
    const setmatch_profile *whole = input->profile;
    size_t calls = whole == NULL ? 0 : whole->calls;
    matrix *bytes = calloc(calls + 1, sizeof *bytes);
    const setmatch_profile profile = {calls, bytes};
    matrix view = {0};
    int rc = bytes == NULL ? -ENOMEM : matrix_cut(&view, input->view, g->rank, g->ranks, true);
    for (size_t c = 0; rc == 0 && c < calls; c++)
        rc = matrix_cut(&bytes[c], &whole->bytes[c], g->rank, g->ranks, false);
    if (rc == 0) {
        input->view = &view;
        input->profile = whole == NULL ? NULL : &profile;
        input->load = NULL;
        rc = method(input, g->node);
    }
    for (size_t c = 0; bytes != NULL && c < calls; c++)
        matrix_release(&bytes[c]);
    free(bytes);
    matrix_release(&view);
    return rc;
}

static int place_group(const dla_job *job, setmatch_method_fn method, const rank_group *g,
                       const dla_placement *p)
{
    setmatch_input input = p->input;
    input.slots = g->slots;
    return g->ranks == job->ranks ? method(&input, g->node)
                                  : place_partial_group(method, g, &input);
}

static bool is_first_of_group(const dla_job *job, size_t app)
{
    for (size_t a = 0; a < app; a++)
        if (same_nodes(&job->app[a], &job->app[app]))
            return false;
    return true;
}

static int place_apps(const dla_job *job, setmatch_method_fn method, const dla_placement *p,
                      size_t *node_of_rank)
{
    struct base_arena arena = {0};
    rank_group g = {
        .rank = base_arena_alloc(&arena, job->ranks, sizeof *g.rank),
        .slots = base_arena_alloc(&arena, job->nodes, sizeof *g.slots),
        .node = base_arena_alloc(&arena, job->ranks, sizeof *g.node),
    };
    int rc = arena.failed ? -ENOMEM : 0;
    for (size_t a = 0; rc == 0 && a < job->apps; a++) {
        if (!is_first_of_group(job, a))
            continue;
        group_fill(&g, job, a, p->by_slot);
        group_add_slots(&g, job, &job->app[a]);
        rc = place_group(job, method, &g, p);
        for (size_t i = 0; rc == 0 && i < g.ranks; i++)
            node_of_rank[g.rank[i]] = g.node[i];
    }
    base_arena_release(&arena);
    return rc;
}

/* ---- by data ---- */

static int place_by_method(const dla_room *room, setmatch_method_fn method, const dla_placement *p,
                           size_t *node_of_rank)
{
    if (method == setmatch_byslot && room->by_slot != NULL) {
        memcpy(node_of_rank, room->by_slot, p->data->file.view.rows * sizeof *node_of_rank);
        return 0;
    }
    return room->job == NULL ? method(&p->input, node_of_rank)
                             : place_apps(room->job, method, p, node_of_rank);
}

static int place_with_stock(const dla_spec *spec, const dla_room *room, dla_placement *p)
{
    setmatch_method_fn method = dla_spec_method(spec)->place;
    bool may_keep = room->nodes > 1 && method == setmatch_auto &&
                    p->input.objective != SETMATCH_OBJECTIVE_NEIGHBOURS;
    int rc = place_by_method(room, setmatch_byslot, p, p->by_slot);
    if (rc == 0)
        rc = place_by_method(room, setmatch_bynode, p, p->by_node);
    if (rc == 0)
        rc = place_by_method(room, method, p, p->node_of_rank);
    return rc == 0 ? dla_compare(p, may_keep) : rc;
}

int dla_place(const dla_data *data, const dla_spec *spec, const dla_room *room, dla_placement *p)
{
    size_t ranks = data->file.view.rows, *node = calloc(ranks + 1, DLA_STOCKS * sizeof *node);
    if (node == NULL)
        return -ENOMEM;
    *p = (dla_placement){
        .data = data,
        .profile = {data->file.patterns, data->file.bytes},
        .input = {.view = &data->file.view,
                  .slots = room->slots,
                  .nodes = room->nodes,
                  .network = &data->network,
                  .refine = true,
                  .profile = data->file.patterns > 0 ? &p->profile : NULL,
                  .objective = (setmatch_objective)spec->choice[DLA_OBJECTIVE],
                  .load = dla_load,
                  .load_context = p},
        .by_slot = node,
        .by_node = node + ranks,
        .node_of_rank = node + 2 * ranks,
    };
    int rc = place_with_stock(spec, room, p);
    if (rc != 0)
        dla_placement_release(p);
    return rc;
}

void dla_placement_release(dla_placement *p)
{
    free(p->by_slot);
    p->by_slot = NULL;
}
