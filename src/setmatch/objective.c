/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement by the view, or by the bytes that cross between nodes. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "setmatch/profile.h"
#include "setmatch/quality.h"
#include "setmatch/task.h"

/* Alternations of the assignment of domains and the placement of ranks; another one follows if one
 * hundredth more bytes are local. Where all nodes are equally far, a placement that keeps a
 * twentieth fewer bytes on their nodes than another is not worth a prediction. */
enum { MAX_ALTERNATIONS = 8, PART_TO_GAIN = 100, PART_TO_LOSE = 20, BISECTIONS = 2 };

/* Search for the placement that keeps most bytes on their nodes. */
struct profile_search {
    const placement_task *task;
    const setmatch_profile *profile;
    size_t *capacity;        /* slots by node; 0 for nodes that are not needed */
    size_t *selected, count; /* the others, ascending */
    size_t *owner;           /* as profile.h has owners */
    size_t *best, *trial;
    double load;         /* of the best */
    int64_t local_bytes; /* the most of a trial */
};

/* The trial becomes the best placement if it loads less: bytes that are not local, where the caller
 * has no other measure. */
static int profile_enter(struct profile_search *s, int64_t local_bytes)
{
    const setmatch_input *in = s->task->input;
    double load = -(double)local_bytes;
    bool is_flat = in->network == NULL || in->network->levels == 0;
    if (is_flat && local_bytes < s->local_bytes - s->local_bytes / PART_TO_LOSE)
        return 0;
    if (local_bytes > s->local_bytes)
        s->local_bytes = local_bytes;
    int rc = in->load != NULL ? in->load(in->load_context, s->trial, &load) : 0;
    if (rc == 0 && !isfinite(load))
        return -ERANGE;
    if (rc == 0 && load < s->load) {
        s->load = load;
        memcpy(s->best, s->trial, s->task->ranks.vertices * sizeof *s->best);
    }
    return rc;
}

/* Places ranks on the nodes that own most of their bytes. */
static int follow_owners(struct profile_search *s)
{
    return owners_follow(s->profile, s->task->input->nodes, s->capacity, s->owner, s->trial);
}

/* Assigns domains by ranks and places ranks by domains, from trial[] on. */
static int alternate(struct profile_search *s)
{
    int64_t local_bytes = -1, before;
    bool gains = true;
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < MAX_ALTERNATIONS && gains; k++) {
        before = local_bytes;
        rc = owners_find(s->profile, s->task->input->nodes, s->trial, s->owner, &local_bytes);
        if (rc == 0 && local_bytes > before)
            rc = profile_enter(s, local_bytes);
        gains = local_bytes - before > before / PART_TO_GAIN;
        if (rc == 0 && gains)
            rc = follow_owners(s);
    }
    return rc;
}

/* Selects the largest nodes, as many as suffice for all ranks. */
static void select_nodes(struct profile_search *s)
{
    const allocation *all = &s->task->allocation;
    size_t left = s->task->ranks.vertices;
    for (size_t k = 0; k < all->nodes && left > 0; k++) {
        size_t slots = all->slots[all->by_size[k]];
        s->capacity[all->by_size[k]] = slots;
        left -= slots < left ? slots : left;
    }
    for (size_t n = 0; n < s->task->input->nodes; n++)
        if (s->capacity[n] > 0)
            s->selected[s->count++] = n;
}

/* Even domains on the nodes in order. With one call and equal nodes, nodes are interchangeable, so
 * that the best ranks for these owners are the best ones. */
static int try_order(struct profile_search *s)
{
    owners_in_order(s->profile, s->selected, s->count, s->owner);
    int rc = follow_owners(s);
    return rc == 0 ? alternate(s) : rc;
}

/* The least cut of a graph of ranks, and bisections other than its first one, which may cut more
 * and load less. */
static int try_graph(struct profile_search *s, const affinity *ranks)
{
    const placement_task *task = s->task;
    size_t work = 0;
    int rc = place_by_affinity(task, ranks, s->trial);
    if (rc == 0)
        rc = alternate(s);
    for (size_t k = 1; rc == 0 && k <= BISECTIONS; k++) {
        rc = bisect_ranks(ranks, &task->allocation, variant_of(k), s->trial, &work);
        if (rc == 0 && task->input->refine)
            rc = refine_multilevel(ranks, &task->allocation, k, s->trial, &work);
        if (rc == 0)
            rc = alternate(s);
    }
    return rc;
}

static int try_coaccess(struct profile_search *s)
{
    matrix coaccess;
    affinity ranks;
    int rc = setmatch_coaccess(s->profile, &coaccess);
    if (rc != 0)
        return rc;
    rc = affinity_from_view(&ranks, &coaccess);
    matrix_release(&coaccess);
    if (rc != 0)
        return rc;
    rc = try_graph(s, &ranks);
    affinity_release(&ranks);
    return rc;
}

static int run_profile_search(struct profile_search *s)
{
    int rc = try_graph(s, &s->task->ranks);
    if (rc == 0)
        rc = try_coaccess(s);
    if (rc == 0)
        rc = try_order(s);
    return rc;
}

static int place_by_profile(const placement_task *task, size_t *node)
{
    struct base_arena arena = {0};
    const setmatch_profile *profile = task->input->profile;
    struct profile_search s = {
        .task = task,
        .profile = profile,
        .capacity = base_arena_alloc(&arena, task->input->nodes, sizeof *s.capacity),
        .selected = base_arena_alloc(&arena, task->input->nodes, sizeof *s.selected),
        .owner = base_arena_alloc(&arena, owners_count_bins(profile), sizeof *s.owner),
        .best = node,
        .trial = base_arena_alloc(&arena, task->ranks.vertices, sizeof *s.trial),
        .load = (double)INFINITY};
    int rc = arena.failed ? -ENOMEM : 0;
    if (rc == 0) {
        select_nodes(&s);
        rc = run_profile_search(&s);
    }
    base_arena_release(&arena);
    return rc;
}

int place_by_objective(const placement_task *task, size_t *node)
{
    const setmatch_profile *profile = task->input->profile;
    assert(profile != NULL || task->input->objective != SETMATCH_OBJECTIVE_PROFILE);
    if (task->input->objective == SETMATCH_OBJECTIVE_NEIGHBOURS || profile == NULL)
        return place_by_affinity(task, &task->ranks, node);
    assert(profile->calls > 0 && profile->bytes[0].rows == task->ranks.vertices);
    return task->ranks.vertices > 0 ? place_by_profile(task, node) : 0;
}

const char *const setmatch_objective_names[] = {"auto", "neighbours", "profile", NULL};
