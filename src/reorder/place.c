/* SPDX-License-Identifier: BSD-3-Clause */
/* The nodes of processes give the nodes of ranks, and these the ranks of processes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "dla/place.h"
#include "reorder/reorder.h"
#include "topo/names.h"

/* ---- by a record or a graph ---- */

/* An index that does not ascend leaves neighbours out, which are not read. */
static int read_graph(const reorder_task *task, matrix *graph)
{
    const int *edge = task->edge, *index = task->index, most = task->most;
    matrix_builder sum = {.rows = (size_t)task->ranks, .cols = (size_t)task->ranks};
    int rc = 0;
    for (int r = 0, i = 0; r < task->ranks; r++) {
        if (most > 0)
            i = r * (1 + 2 * most) + 1;
        const int end = most > 0 ? i + edge[i - 1] : index[r];
        for (; rc == 0 && i < end && (most > 0 || i < index[task->ranks - 1]); i++)
            rc =
                matrix_builder_add(&sum, (size_t)r, (size_t)edge[i], most > 0 ? edge[i + most] : 1);
    }
    if (rc == 0)
        rc = matrix_builder_finish(&sum, graph);
    matrix_builder_clear(&sum);
    return rc;
}

static int read_data(const reorder_task *task, const reorder_nodes *nodes, dla_spec *spec,
                     dla_data *data, char line[DLA_REASON_SIZE])
{
    const dla_nodes unnamed = {NULL, nodes->count};
    const dla_streams none = {NULL, NULL};
    if (task->record == NULL)
        return read_graph(task, &data->file.view);
    int rc = dla_spec_set(spec, DLA_FILE, task->record, line);
    return rc == 0 ? dla_data_read(data, spec, none, nodes->ranks, &unnamed, line) : rc;
}

/* cut: as of reorder_grid_place, of bytes or of weight. A record of a run that was reordered is by
 * the ranks of that job, and says which ones these got. */
static int place_by_data(const reorder_task *task, const reorder_nodes *nodes,
                         struct base_arena *arena, double cut[2], char line[DLA_REASON_SIZE])
{
    size_t *stock = base_arena_alloc(arena, nodes->ranks, sizeof *stock);
    const dla_room room = {nodes->count, nodes->processes, NULL, stock};
    dla_spec spec = {.ndims = 0};
    dla_data data = {.network = {.levels = 0}};
    dla_placement p = {.by_slot = NULL};
    int rc = arena->failed ? -ENOMEM : read_data(task, nodes, &spec, &data, line);
    const size_t *order = data.file.order;
    for (size_t r = 0; rc == 0 && r < nodes->ranks; r++)
        stock[r] = nodes->of_process[order != NULL ? order[r] : r];
    if (rc == 0)
        rc = dla_place(&data, &spec, &room, &p);
    for (size_t r = 0; rc == 0 && r < nodes->ranks; r++)
        nodes->of_rank[order != NULL ? order[r] : r] = p.node_of_rank[r];
    cut[0] = p.benefit.by_slot;
    cut[1] = p.benefit.placed;
    dla_placement_release(&p);
    dla_data_release(&data);
    dla_spec_release(&spec);
    return rc;
}

/* ---- the task ---- */

static int place_ranks(const reorder_task *task, const reorder_nodes *nodes,
                       struct base_arena *arena, char line[DLA_REASON_SIZE])
{
    const bool is_recorded = task->record != NULL, is_grid = task->grid != NULL;
    double cut[2] = {0.0, 0.0};
    if (nodes->count < 2)
        return -ECANCELED;
    int rc = is_grid && !is_recorded ? reorder_grid_place(task->grid, nodes, arena, cut)
                                     : place_by_data(task, nodes, arena, cut, line);
    if (rc == 0 && cut[1] >= cut[0])
        rc = -ECANCELED;
    else if (rc == 0 && is_recorded)
        snprintf(line, DLA_REASON_SIZE, "%zu ranks on %zu nodes are placed by %s", nodes->ranks,
                 nodes->count, task->record);
    else if (rc == 0)
        snprintf(line, DLA_REASON_SIZE,
                 "%s of %zu ranks on %zu nodes: %.0f %s between nodes -> %.0f",
                 is_grid ? "grid" : "graph", nodes->ranks, nodes->count, cut[0],
                 is_grid ? "pairs of neighbours" : "of weight", cut[1]);
    else if (is_recorded && *line == '\0')
        rc = dla_reject(line, "%.800s: %s", task->record, strerror(-rc));
    return rc;
}

/* Numbers the nodes by their first process. -ENOMEM. */
static int number_nodes(const int64_t *key, reorder_nodes *nodes)
{
    name_table names = {0};
    int rc = 0;
    for (size_t i = 0; i < nodes->ranks && rc == 0; i++) {
        rc = name_table_add(&names, &key[i], sizeof *key, &nodes->of_process[i]);
        nodes->processes[nodes->of_process[i]]++;
    }
    nodes->count = names.count;
    name_table_release(&names);
    return rc;
}

/* The processes of a node get its ranks in their order. */
static int assign_ranks(const reorder_nodes *nodes, struct base_arena *arena, int *number)
{
    int *first = base_arena_alloc(arena, nodes->count, sizeof *first); /* that is left of a node */
    int *next = base_arena_alloc(arena, nodes->ranks, sizeof *next);
    for (int r = (int)nodes->ranks; !arena->failed && r-- > 0;) {
        next[r] = first[nodes->of_rank[r]];
        first[nodes->of_rank[r]] = r;
    }
    for (size_t i = 0; !arena->failed && i < nodes->ranks; i++) {
        number[i] = first[nodes->of_process[i]];
        first[nodes->of_process[i]] = next[number[i]];
    }
    return arena->failed ? -ENOMEM : 0;
}

/* Returns 0 if they do not fit, or an extent is below 1. */
static int count_ranks(const reorder_task *task, int processes)
{
    const reorder_grid *grid = task->grid;
    int ranks = grid != NULL ? 1 : task->ranks;
    for (int d = 0; grid != NULL && d < grid->dims; d++)
        if (grid->extent[d] < 1 || __builtin_mul_overflow(ranks, grid->extent[d], &ranks))
            return 0;
    return ranks > 0 && ranks <= processes ? ranks : 0;
}

int reorder_place(const reorder_task *task, const int64_t *key, int processes, int *number,
                  reorder_report *report)
{
    struct base_arena arena = {0};
    char line[DLA_REASON_SIZE] = "";
    reorder_nodes nodes = {.ranks = (size_t)count_ranks(task, processes)};
    nodes.processes = base_arena_alloc(&arena, nodes.ranks, sizeof *nodes.processes);
    nodes.of_process = base_arena_alloc(&arena, nodes.ranks, sizeof *nodes.of_process);
    nodes.of_rank = base_arena_alloc(&arena, nodes.ranks, sizeof *nodes.of_rank);
    int rc = arena.failed ? -ENOMEM : number_nodes(key, &nodes);
    if (rc == 0)
        rc = place_ranks(task, &nodes, &arena, line);
    if (rc == 0)
        rc = assign_ranks(&nodes, &arena, number);
    for (int i = rc == 0 ? (int)nodes.ranks : 0; i < processes; i++)
        number[i] = rc == 0 ? i : REORDER_KEEPS;
    if (*line != '\0')
        report(rc == -EINVAL, line);
    base_arena_release(&arena);
    return rc;
}
