/* SPDX-License-Identifier: BSD-3-Clause */
/* From the nodes of processes, by nodes of ranks, to ranks of processes. */
#include <errno.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/memory.h"
#include "dla/mapper.h"
#include "reorder/reorder.h"
#include "topo/names.h"

/* ---- nodes ---- */

/* By their first process. Returns their number; 0 if memory is exhausted. */
static size_t number_nodes(const int64_t *key, size_t ranks, size_t *node)
{
    name_table nodes = {0};
    int rc = 0;
    for (size_t i = 0; i < ranks && rc == 0; i++)
        rc = name_table_add(&nodes, &key[i], sizeof *key, &node[i]);
    size_t count = rc == 0 ? nodes.count : 0;
    name_table_release(&nodes);
    return count;
}

/* ---- ranks ---- */

/* Gives each process a rank of its node: its own number if it can, else the lowest one that is
 * left, in the order of the processes. */
static int assign_ranks(const size_t *node, size_t ranks, size_t nodes, const size_t *node_of_rank,
                        int *rank)
{
    struct base_arena arena = {0};
    size_t *process = base_arena_alloc(&arena, ranks, sizeof *process); /* free ones by node */
    size_t *next = base_arena_alloc(&arena, nodes + 1, sizeof *next);
    int rc = arena.failed ? -ENOMEM : 0;
    for (size_t i = 0; rc == 0 && i < ranks; i++)
        next[node[i] + 1] += node_of_rank[i] != node[i];
    for (size_t n = 0; rc == 0 && n < nodes; n++)
        next[n + 1] += next[n];
    for (size_t i = ranks; rc == 0 && i-- > 0;)
        if (node_of_rank[i] != node[i])
            process[--next[node[i] + 1]] = i;
    for (size_t r = 0; rc == 0 && r < ranks; r++)
        rank[node_of_rank[r] == node[r] ? r : process[next[node_of_rank[r] + 1]++]] = (int)r;
    base_arena_release(&arena);
    return rc;
}

/* ---- by a record or a graph ---- */

/* The processes of the old communicator as a job: its nodes have as many slots as processes. A
 * record of a run that was reordered is by that job's ranks, and says which ranks these got. */
static int place_by_record(const reorder_task *task, const size_t *count, size_t nodes,
                           size_t *node_of_rank, char line[REORDER_LINE])
{
    _Static_assert(REORDER_LINE == DLA_REASON_SIZE, "a reason is a line");
    struct base_arena arena = {0};
    dla_spec spec = {.ndims = 0};
    dla_app app = {task->ranks, nodes, base_arena_alloc(&arena, nodes, sizeof *app.node)};
    dla_mapping m = {
        .job = {1, nodes, task->ranks, &app, base_arena_alloc(&arena, nodes, sizeof *m.job.node)},
        .by_slot = base_arena_alloc(&arena, task->ranks, sizeof *m.by_slot),
        .node_of_rank = base_arena_alloc(&arena, task->ranks, sizeof *m.node_of_rank),
        .order = base_arena_alloc(&arena, task->ranks, sizeof *m.order),
        .verbose = -1,
    };
    size_t full = 0;
    int rc = arena.failed ? -ENOMEM : dla_spec_set(&spec, DLA_FILE, task->record, line);
    for (size_t n = 0; rc == 0 && n < nodes; n++) {
        app.node[n] = n;
        m.job.node[n] = (dla_node){count[n], count[n]};
    }
    for (size_t r = 0; rc == 0 && r < task->ranks; r++)
        m.order[r] = r;
    if (rc == 0)
        rc = dla_mapping_place(&m, &spec, &full, line);
    for (size_t r = 0; rc == 0 && r < task->ranks; r++)
        node_of_rank[m.order[r]] = m.node_of_rank[r];
    if (rc == 0)
        snprintf(line, REORDER_LINE, "%zu ranks on %zu nodes are placed by %s", task->ranks, nodes,
                 task->record);
    matrix_release(&m.view);
    dla_spec_release(&spec);
    base_arena_release(&arena);
    return rc;
}

static int64_t weight_between(const matrix *graph, const size_t *node_of_rank)
{
    int64_t sum = 0;
    for (size_t r = 0; r < graph->rows; r++)
        for (size_t i = graph->row_start[r]; i < graph->row_start[r + 1]; i++)
            if (node_of_rank[r] != node_of_rank[graph->col[i]] &&
                __builtin_add_overflow(sum, graph->value[i], &sum))
                return INT64_MAX;
    return sum;
}

static int place_by_graph(const matrix *graph, const size_t *count, const size_t *node,
                          size_t nodes, size_t *node_of_rank, reorder_gain *gain)
{
    const setmatch_input input = {.view = graph, .slots = count, .nodes = nodes, .refine = true};
    int rc = setmatch_auto(&input, node_of_rank);
    gain->before = weight_between(graph, node);
    gain->after = rc == 0 ? weight_between(graph, node_of_rank) : gain->before;
    return rc;
}

int reorder_read_graph(const int *index, const int *edge, size_t ranks, matrix *graph)
{
    size_t count = ranks > 0 ? (size_t)index[ranks - 1] : 0;
    matrix_entry *entry = base_alloc(count, sizeof *entry);
    if (entry == NULL)
        return -ENOMEM;
    for (size_t i = 0, r = 0; i < count; i++) {
        while ((size_t)index[r] <= i)
            r++;
        entry[i] = (matrix_entry){r, (size_t)edge[i], 1};
    }
    int rc = matrix_from_entries(graph, ranks, ranks, entry, count);
    free(entry);
    return rc;
}

static int read_lists(const reorder_task *task, matrix *graph)
{
    const size_t length = 1 + 2 * task->most;
    size_t count = 0;
    matrix_entry *entry = base_alloc(task->ranks * task->most, sizeof *entry);
    if (entry == NULL)
        return -ENOMEM;
    for (size_t r = 0; r < task->ranks; r++) {
        const int *list = task->lists + r * length, *neighbor = list + 1;
        for (size_t i = 0; i < (size_t)*list; i++)
            entry[count++] = (matrix_entry){r, (size_t)neighbor[i], neighbor[task->most + i]};
    }
    int rc = matrix_from_entries(graph, task->ranks, task->ranks, entry, count);
    free(entry);
    return rc;
}

/* ---- the task ---- */

static void describe_gain(const reorder_task *task, const reorder_gain *gain, size_t nodes,
                          char line[REORDER_LINE])
{
    snprintf(line, REORDER_LINE, "%s of %zu ranks on %zu nodes: %lld %s between nodes -> %lld",
             task->graph != NULL ? "graph" : "grid", task->ranks, nodes, (long long)gain->before,
             task->graph != NULL ? "of weight" : "pairs of neighbours", (long long)gain->after);
}

/* Returns -ECANCELED if nothing is gained. */
static int place_ranks(const reorder_task *task, const size_t *count, const size_t *node,
                       size_t nodes, size_t *node_of_rank, char line[REORDER_LINE])
{
    reorder_gain gain = {0, 0};
    if (task->record != NULL && *task->record != '\0')
        return place_by_record(task, count, nodes, node_of_rank, line);
    int rc = task->graph != NULL
                 ? place_by_graph(task->graph, count, node, nodes, node_of_rank, &gain)
                 : reorder_grid_place(task->grid, node, nodes, node_of_rank, &gain);
    if (rc == 0 && gain.after >= gain.before)
        rc = -ECANCELED;
    if (rc == 0)
        describe_gain(task, &gain, nodes, line);
    return rc;
}

static int place_on_nodes(const reorder_task *task, const int64_t *key, struct base_arena *arena,
                          int *rank, char line[REORDER_LINE])
{
    size_t *node = base_arena_alloc(arena, task->ranks, sizeof *node);
    size_t *count = base_arena_alloc(arena, task->ranks, sizeof *count);
    size_t *node_of_rank = base_arena_alloc(arena, task->ranks, sizeof *node_of_rank);
    size_t nodes = arena->failed ? 0 : number_nodes(key, task->ranks, node);
    if (nodes == 0)
        return -ENOMEM;
    if (nodes == 1)
        return -ECANCELED;
    for (size_t i = 0; i < task->ranks; i++)
        count[node[i]]++;
    int rc = place_ranks(task, count, node, nodes, node_of_rank, line);
    return rc == 0 ? assign_ranks(node, task->ranks, nodes, node_of_rank, rank) : rc;
}

int reorder_place(const reorder_task *given, const int64_t *key, size_t processes, int *rank,
                  char line[REORDER_LINE])
{
    struct base_arena arena = {0};
    matrix graph = {0};
    reorder_task task = *given;
    *line = '\0';
    if (task.lists != NULL) {
        (void)read_lists(&task, &graph);
        task.graph = &graph;
    }
    for (size_t i = task.ranks; i < processes; i++)
        rank[i] = (int)i;
    const bool is_read = task.ranks > 0 && (task.graph == NULL || task.graph->rows == task.ranks);
    int rc = is_read ? place_on_nodes(&task, key, &arena, rank, line) : -ECANCELED;
    matrix_release(&graph);
    base_arena_release(&arena);
    return rc;
}

void reorder_place_all(const reorder_task *task, const int64_t *key, size_t processes, int *number,
                       void (*report)(bool is_error, const char *line))
{
    char line[REORDER_LINE];
    int rc = reorder_place(task, key, processes, number, line);
    if (*line != '\0')
        report(rc == -EINVAL, line);
    for (size_t i = 0; rc != 0 && i < processes; i++)
        number[i] = REORDER_KEEPS;
}
