/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Places the ranks of a job on its nodes.
 */
#include "rmaps_dla_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The ranks [first, first + count), which are not yet placed. */
typedef struct rank_range {
    size_t first, count;
} rank_range;

static void place_rank(rank_range *left, size_t *node_of_rank, size_t node, size_t *used)
{
    node_of_rank[left->first++] = node;
    left->count--;
    used[node]++;
}

static void fill_free_slots(const dla_job *job, const dla_app *app, rank_range *left, size_t *used,
                            size_t *node_of_rank)
{
    for (size_t i = 0; i < app->nodes; i++) {
        size_t n = app->node[i];

        while (left->count > 0 && used[n] < job->node[n].slots)
            place_rank(left, node_of_rank, n, used);
    }
}

/* Number of ranks beyond its slots that each node of the app gets, by turns. */
static int distribute_excess(const dla_job *job, const dla_app *app, size_t over,
                             const size_t *used, size_t *extra)
{
    for (bool progress = true; over > 0 && progress;) {
        progress = false;
        for (size_t i = 0; i < app->nodes && over > 0; i++) {
            size_t n = app->node[i];

            if (used[n] + extra[i] < job->node[n].most) {
                extra[i]++;
                over--;
                progress = true;
            }
        }
    }
    return 0 == over ? 0 : -ENOSPC;
}

static int oversubscribe_nodes(const dla_job *job, const dla_app *app, rank_range *left,
                               size_t *used, size_t *node_of_rank)
{
    size_t *extra = calloc(app->nodes, sizeof(*extra));
    int rc;

    if (NULL == extra)
        return -ENOMEM;
    rc = distribute_excess(job, app, left->count, used, extra);
    for (size_t i = 0; 0 == rc && i < app->nodes; i++)
        for (; extra[i] > 0; extra[i]--)
            place_rank(left, node_of_rank, app->node[i], used);
    free(extra);
    return rc;
}

static int place_app(const dla_job *job, const dla_app *app, rank_range ranks, size_t *used,
                     size_t *node_of_rank)
{
    fill_free_slots(job, app, &ranks, used, node_of_rank);
    if (0 == ranks.count)
        return 0;
    if (!job->oversubscribe)
        return -ENOSPC;
    return oversubscribe_nodes(job, app, &ranks, used, node_of_rank);
}

int dla_place_by_slot(const dla_job *job, size_t *node_of_rank, size_t *app)
{
    size_t *used = calloc(job->nodes + 1, sizeof(*used));
    rank_range ranks = {0, 0};
    int rc = 0;

    if (NULL == used)
        return -ENOMEM;
    for (size_t a = 0; 0 == rc && a < job->apps; a++) {
        ranks.count = job->app[a].ranks;
        rc = place_app(job, &job->app[a], ranks, used, node_of_rank);
        ranks.first += ranks.count;
        *app = a;
    }
    free(used);
    return rc;
}

static bool same_nodes(const dla_app *a, const dla_app *b)
{
    return a->nodes == b->nodes && 0 == memcmp(a->node, b->node, a->nodes * sizeof(*a->node));
}

/* The apps with one node list, and their common slots. */
typedef struct rank_group {
    size_t ranks;
    size_t *rank;     /* ascending */
    size_t *slots;    /* of each node of the job */
    size_t *position; /* index in rank[] of each rank of the job; SIZE_MAX: not in the group */
    size_t *node;     /* result, of each entry of rank[] */
} rank_group;

static void group_release(rank_group *g)
{
    free(g->rank);
    free(g->slots);
    free(g->position);
    free(g->node);
}

static int group_init(rank_group *g, const dla_job *job)
{
    *g = (rank_group){
        .rank = calloc(job->ranks, sizeof(*g->rank)),
        .slots = calloc(job->nodes, sizeof(*g->slots)),
        .position = calloc(job->ranks, sizeof(*g->position)),
        .node = calloc(job->ranks, sizeof(*g->node)),
    };
    if (NULL == g->rank || NULL == g->slots || NULL == g->position || NULL == g->node) {
        group_release(g);
        return -ENOMEM;
    }
    return 0;
}

/* App `first` and all later apps with its node list. */
static void group_fill(rank_group *g, const dla_job *job, size_t first, const size_t *by_slot)
{
    size_t rank = 0;

    g->ranks = 0;
    memset(g->slots, 0, job->nodes * sizeof(*g->slots));
    for (size_t a = 0; a < job->apps; a++) {
        bool in = a >= first && same_nodes(&job->app[first], &job->app[a]);

        for (size_t end = rank + job->app[a].ranks; rank < end; rank++) {
            g->position[rank] = in ? g->ranks : SIZE_MAX;
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

static size_t group_view_entries(const matrix *view, const rank_group *g, matrix_entry *entries)
{
    size_t count = 0;

    for (size_t i = 0; i < g->ranks; i++) {
        size_t row = g->rank[i];

        for (size_t k = view->row_start[row]; k < view->row_start[row + 1]; k++) {
            size_t column = g->position[view->col[k]];

            if (SIZE_MAX != column)
                entries[count++] = (matrix_entry){i, column, view->value[k]};
        }
    }
    return count;
}

/* The rows and columns of the group's ranks. */
static int group_view(const matrix *view, const rank_group *g, matrix *part)
{
    size_t nnz = view->row_start[view->rows];
    matrix_entry *entries = calloc(nnz + 1, sizeof(*entries));
    int rc;

    if (NULL == entries)
        return -ENOMEM;
    rc = matrix_from_entries(part, g->ranks, g->ranks, entries,
                             group_view_entries(view, g, entries));
    free(entries);
    return rc;
}

/* The rows of the group's ranks in a call of the profile. */
static int group_call(const matrix *bytes, const rank_group *g, matrix *part)
{
    size_t nnz = 0;

    for (size_t i = 0; i < g->ranks; i++)
        nnz += bytes->row_start[g->rank[i] + 1] - bytes->row_start[g->rank[i]];
    if (0 != matrix_allocate(part, g->ranks, bytes->cols, nnz))
        return -ENOMEM;
    for (size_t i = 0; i < g->ranks; i++) {
        size_t from = bytes->row_start[g->rank[i]];
        size_t count = bytes->row_start[g->rank[i] + 1] - from;

        memcpy(part->col + part->row_start[i], bytes->col + from, count * sizeof(*part->col));
        memcpy(part->value + part->row_start[i], bytes->value + from, count * sizeof(*part->value));
        part->row_start[i + 1] = part->row_start[i] + count;
    }
    return 0;
}

static void release_profile_calls(matrix *bytes, size_t calls)
{
    for (size_t c = 0; NULL != bytes && c < calls; c++)
        matrix_release(&bytes[c]);
    free(bytes);
}

static int group_profile(const setmatch_profile *profile, const rank_group *g, matrix **bytes)
{
    matrix *cut = calloc(profile->calls + 1, sizeof(*cut));
    int rc = NULL == cut ? -ENOMEM : 0;

    for (size_t c = 0; 0 == rc && c < profile->calls; c++)
        rc = group_call(&profile->bytes[c], g, &cut[c]);
    if (0 != rc) {
        release_profile_calls(cut, profile->calls);
        return rc;
    }
    *bytes = cut;
    return 0;
}

/* Replaces the input's view and profile by those of the group. */
static int place_partial_group(const dla_method *method, rank_group *g, setmatch_input *input)
{
    const setmatch_profile *whole = input->profile;
    setmatch_profile profile;
    matrix *bytes = NULL;
    matrix view;
    int rc = group_view(input->view, g, &view);

    if (0 != rc)
        return rc;
    input->view = &view;
    if (NULL != whole) {
        rc = group_profile(whole, g, &bytes);
        profile = (setmatch_profile){whole->calls, bytes};
        input->profile = &profile;
    }
    if (0 == rc)
        rc = method->place(input, g->node);
    if (NULL != bytes)
        release_profile_calls(bytes, whole->calls);
    matrix_release(&view);
    return rc;
}

static int place_group(const dla_job *job, const dla_method *method, rank_group *g)
{
    setmatch_input input = method->input;

    input.slots = g->slots;
    input.nodes = job->nodes;
    return g->ranks == job->ranks ? method->place(&input, g->node)
                                  : place_partial_group(method, g, &input);
}

static bool is_first_of_group(const dla_job *job, size_t app)
{
    for (size_t a = 0; a < app; a++)
        if (same_nodes(&job->app[a], &job->app[app]))
            return false;
    return true;
}

int dla_place_by_method(const dla_job *job, const dla_method *method, const size_t *by_slot,
                        size_t *node_of_rank)
{
    rank_group g;
    int rc = group_init(&g, job);

    if (0 != rc)
        return rc;
    for (size_t a = 0; 0 == rc && a < job->apps; a++) {
        if (!is_first_of_group(job, a))
            continue;
        group_fill(&g, job, a, by_slot);
        group_add_slots(&g, job, &job->app[a]);
        rc = place_group(job, method, &g);
        for (size_t i = 0; 0 == rc && i < g.ranks; i++)
            node_of_rank[g.rank[i]] = g.node[i];
    }
    group_release(&g);
    return rc;
}
