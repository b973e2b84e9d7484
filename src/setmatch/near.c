/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement near storage servers. */
#include "setmatch/near.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "lap/lap.h"
#include "setmatch/cost.h"
#include "setmatch/task.h"
#include "setmatch/transport.h"

/* Variants of annealing by initial temperature, and the part of the work of a search that each
 * takes; servers of a rank whose distances take as long as the rest of a step. */
enum { HOT = 4, HOT_PART = 16, COOL = 3, COOL_PART = 48, SERVERS_PER_STEP = 8 };

/* Between nodes and servers of ranks, to start ranks at their servers. */
enum { MOST_DISTANCES = 1 << 22 };

/* ---- the problem ---- */

typedef struct nearing {
    struct base_arena arena;
    placement_task task;
    setmatch_servers servers; /* with hops */
    size_t *trial;
} nearing;

static const uint16_t one_hop = 1;

/* Hosts in one class, which are a hop apart. */
static int assume_flat(nearing *a)
{
    size_t *place = base_arena_alloc(&a->arena, a->servers.bytes->cols, sizeof *place);
    a->servers.hops = (setmatch_hops){1, place, &one_hop};
    return place == NULL ? -ENOMEM : 0;
}

static bool is_flat(const nearing *a)
{
    return a->servers.hops.between == &one_hop;
}

/* Release with end_nearing, also after an error. */
static int begin_nearing(nearing *a, const setmatch_input *input, const setmatch_servers *servers)
{
    *a = (nearing){.servers = *servers};
    if (servers->bytes->rows != input->view->rows || servers->bytes->cols < input->nodes ||
        !matrix_is_nonnegative(servers->bytes))
        return -EINVAL;
    int rc = placement_task_init(&a->task, input, false);
    if (rc != 0)
        return rc;
    a->trial = base_arena_alloc(&a->arena, input->view->rows, sizeof *a->trial);
    rc = a->trial == NULL ? -ENOMEM : 0;
    if (rc == 0 && servers->hops.places == 0)
        rc = assume_flat(a);
    return rc;
}

static void end_nearing(nearing *a)
{
    if (a->task.input != NULL)
        placement_task_release(&a->task);
    base_arena_release(&a->arena);
}

static double total_cost(const nearing *a, const size_t *node)
{
    const affinity *ranks = &a->task.ranks;
    double sum = affinity_hops(ranks, &a->servers.hops, node);
    for (size_t v = 0; v < ranks->vertices; v++)
        sum += servers_cost(&a->servers, v, node[v]);
    return sum;
}

/* Replaces node[] by the trial if that costs less. */
static void enter_trial(const nearing *a, size_t *node)
{
    if (total_cost(a, a->trial) < total_cost(a, node))
        memcpy(node, a->trial, a->task.ranks.vertices * sizeof *node);
}

static void copy_to_trial(nearing *a, const size_t *node)
{
    memcpy(a->trial, node, a->task.ranks.vertices * sizeof *node);
}

static size_t steps_of(const nearing *a, const matrix *bytes, size_t part)
{
    size_t steps = STEPS_PER_VISIT * a->task.work / part;
    size_t per_row = bytes->rows > 0 ? matrix_entries(bytes) / bytes->rows : 0;
    return steps / (1 + per_row / SERVERS_PER_STEP);
}

/* ---- whole nodes ---- */

/* The ranks of each node as one vertex. */
typedef struct moving {
    affinity nodes;
    matrix bytes; /* by node */
    size_t *to;   /* by node: where its ranks go */
} moving;

static int begin_moving(moving *m, nearing *a)
{
    size_t listed = a->task.site.listed, ranks = a->task.ranks.vertices;
    struct base_arena arena = {0};
    vertex *of = base_arena_alloc(&arena, ranks, sizeof *of);
    m->to = base_arena_alloc(&a->arena, listed, sizeof *m->to);
    int rc = of == NULL || m->to == NULL ? -ENOMEM : 0;
    for (size_t v = 0; v < ranks && rc == 0; v++)
        of[v] = (vertex)a->trial[v];
    for (size_t n = 0; n < listed && rc == 0; n++)
        m->to[n] = n;
    if (rc == 0)
        rc = affinity_contract(&m->nodes, &a->task.ranks, of, listed);
    if (rc == 0)
        rc = matrix_sum_rows(&m->bytes, a->servers.bytes, a->trial, listed);
    base_arena_release(&arena);
    return rc;
}

static void end_moving(moving *m)
{
    affinity_release(&m->nodes);
    matrix_release(&m->bytes);
}

static void apply_moves(nearing *a, const moving *m)
{
    for (size_t v = 0; v < a->task.ranks.vertices; v++)
        a->trial[v] = m->to[a->trial[v]];
}

/* Nodes with ranks, and nodes that can have some. */
typedef struct pairing {
    size_t *from, *to, *row_of_col;
    size_t groups, places;
    double *cost; /* of each group in each place, group by group */
} pairing;

static void list_pairs(pairing *p, const nearing *a, const moving *m)
{
    for (size_t n = 0; n < a->task.site.listed; n++) {
        if (m->nodes.size[n] > 0)
            p->from[p->groups++] = n;
        if (a->task.site.slots[n] > 0)
            p->to[p->places++] = n;
    }
}

static void fill_costs(pairing *p, const nearing *a, const moving *m)
{
    const setmatch_servers of_nodes = {&m->bytes, a->servers.hops, a->servers.weight};
    for (size_t g = 0; g < p->groups; g++)
        for (size_t k = 0; k < p->places; k++)
            p->cost[g * p->places + k] = m->nodes.size[p->from[g]] > a->task.site.slots[p->to[k]]
                                             ? HUGE_VAL
                                             : servers_cost(&of_nodes, p->from[g], p->to[k]);
}

static int solve_pairs(pairing *p, moving *m)
{
    lap_solution solution = {.row_of_col = p->row_of_col};
    int rc =
        lap_auto(&(lap_problem){.rows = p->places, .cols = p->groups, .cost = p->cost}, &solution);
    for (size_t g = 0; g < p->groups && rc == 0; g++)
        m->to[p->from[g]] = p->to[p->row_of_col[g]];
    return rc;
}

/* The least bytes times hops to servers, whatever it does to hops between nodes. 1: too many. */
static int assign_nodes(nearing *a, moving *m)
{
    struct base_arena arena = {0};
    size_t nodes = a->task.site.listed;
    pairing p = {.from = base_arena_alloc(&arena, nodes, sizeof *p.from),
                 .to = base_arena_alloc(&arena, nodes, sizeof *p.to),
                 .row_of_col = base_arena_alloc(&arena, nodes, sizeof *p.row_of_col)};
    int rc = arena.failed ? -ENOMEM : 0;
    if (rc == 0)
        list_pairs(&p, a, m);
    if (rc == 0 && p.groups > SETMATCH_NEAR_EXACT / p.places)
        rc = 1;
    if (rc == 0) {
        p.cost = base_arena_alloc(&arena, p.groups * p.places, sizeof *p.cost);
        rc = p.cost == NULL ? -ENOMEM : 0;
    }
    if (rc == 0) {
        fill_costs(&p, a, m);
        rc = solve_pairs(&p, m);
    }
    base_arena_release(&arena);
    return rc;
}

static int anneal_nodes(nearing *a, moving *m)
{
    const setmatch_servers of_nodes = {&m->bytes, a->servers.hops, a->servers.weight};
    const annealing_rules rules = {steps_of(a, &m->bytes, HOT_PART), HOT, &a->servers.hops,
                                   a->task.site.slots, &of_nodes};
    size_t nodes = a->task.site.listed, *one = base_alloc(nodes, sizeof *one);
    site single;
    if (one == NULL)
        return -ENOMEM;
    for (size_t n = 0; n < nodes; n++)
        one[n] = 1;
    int rc = site_init(&single, one, nodes);
    if (rc == 0) {
        rc = anneal_hops(&m->nodes, &single, &rules, m->to);
        site_release(&single);
    }
    free(one);
    return rc;
}

/* Moves the nodes of node[] in one way or the other. */
static int try_moves(nearing *a, int (*move)(nearing *, moving *), size_t *node)
{
    moving m = {.to = NULL};
    copy_to_trial(a, node);
    int rc = begin_moving(&m, a);
    if (rc == 0)
        rc = move(a, &m);
    if (rc == 0) {
        apply_moves(a, &m);
        enter_trial(a, node);
    }
    end_moving(&m);
    return rc;
}

/* Where all nodes are equally far apart the first step is the best one. */
static int move_nodes(nearing *a, size_t *node)
{
    int rc = try_moves(a, assign_nodes, node);
    return rc == 1 || (rc == 0 && !is_flat(a)) ? try_moves(a, anneal_nodes, node) : rc;
}

/* ---- ranks ---- */

static int anneal_ranks(nearing *a, const site *limited, size_t variant, size_t *node)
{
    const annealing_rules rules = {steps_of(a, a->servers.bytes, COOL_PART), variant,
                                   &a->servers.hops, NULL, &a->servers};
    copy_to_trial(a, node);
    int rc = anneal_hops(&a->task.ranks, limited, &rules, a->trial);
    if (rc == 0)
        enter_trial(a, node);
    return rc;
}

/* First far from the placement, then near the best one so far. */
static int move_ranks(nearing *a, size_t *node)
{
    site limited;
    size_t *slots = base_alloc(a->task.site.listed, sizeof *slots);
    if (slots == NULL)
        return -ENOMEM;
    limit_slots(&a->task, node, a->task.ranks.vertices, slots);
    int rc = site_init(&limited, slots, a->task.site.listed);
    if (rc == 0) {
        rc = anneal_ranks(a, &limited, HOT, node);
        if (rc == 0)
            rc = anneal_ranks(a, &limited, COOL, node);
        site_release(&limited);
    }
    free(slots);
    return rc;
}

/* Bits to be dropped so that no sum of benefits is beyond 2^60. */
static unsigned excess_bits(const matrix *bytes)
{
    double sum = 0, most = 2.0 * UINT16_MAX;
    unsigned bits = 0;
    for (size_t k = 0; k < matrix_entries(bytes); k++)
        sum += (double)bytes->value[k];
    for (double limit = ldexp(1, 60); sum * most > limit; limit *= 2)
        bits++;
    return bits;
}

static int add_flat_benefits(const nearing *a, size_t v, unsigned bits, matrix_builder *benefit)
{
    const matrix *bytes = a->servers.bytes;
    int rc = 0;
    for (size_t i = bytes->row_start[v]; i < bytes->row_start[v + 1] && rc == 0; i++)
        if (bytes->col[i] < a->task.site.listed && a->task.site.slots[bytes->col[i]] > 0)
            rc = matrix_builder_add(benefit, v, bytes->col[i], bytes->value[i] >> bits);
    return rc;
}

/* Benefits of a rank: hops that its bytes save on each node, against the worst node. */
static int add_benefits(const nearing *a, size_t v, unsigned bits, double *cost,
                        matrix_builder *benefit)
{
    const setmatch_servers unweighted = {a->servers.bytes, a->servers.hops, 1};
    size_t nodes = a->task.site.listed;
    double worst = 0;
    int rc = 0;
    for (size_t n = 0; n < nodes; n++) {
        cost[n] = a->task.site.slots[n] > 0 ? servers_cost(&unweighted, v, n) : HUGE_VAL;
        worst = cost[n] < HUGE_VAL ? fmax(worst, cost[n]) : worst;
    }
    for (size_t n = 0; n < nodes && rc == 0; n++)
        if (cost[n] < worst)
            rc = matrix_builder_add(benefit, v, n, (int64_t)ldexp(worst - cost[n], -(int)bits));
    return rc;
}

/* Ranks on the nodes of their servers, as far as there is room; 1: too many. */
static int start_at_servers(nearing *a)
{
    size_t ranks = a->task.ranks.vertices, nodes = a->task.site.listed;
    matrix_builder builder = {.rows = ranks, .cols = nodes};
    matrix benefit = {0};
    unsigned bits = excess_bits(a->servers.bytes);
    int rc = 0;
    if (!is_flat(a) && matrix_entries(a->servers.bytes) > MOST_DISTANCES / nodes)
        return 1;
    double *cost = base_zeroed(nodes, sizeof *cost, &rc);
    for (size_t v = 0; v < ranks && rc == 0; v++)
        rc = is_flat(a) ? add_flat_benefits(a, v, bits, &builder)
                        : add_benefits(a, v, bits, cost, &builder);
    if (rc == 0)
        rc = matrix_builder_finish(&builder, &benefit);
    if (rc == 0)
        rc = transport(&benefit, a->task.site.slots, transport_increment(&benefit), a->trial);
    matrix_builder_clear(&builder);
    matrix_release(&benefit);
    free(cost);
    return rc;
}

/* ---- all steps ---- */

static int place_in_way(nearing *a, setmatch_near way, size_t *node)
{
    int rc = 0;
    if (way == SETMATCH_NEAR_SERVERS) {
        rc = start_at_servers(a);
        if (rc == 0)
            memcpy(node, a->trial, a->task.ranks.vertices * sizeof *node);
    } else {
        rc = move_nodes(a, node);
    }
    return rc == 0 && way != SETMATCH_NEAR_NODES ? move_ranks(a, node) : rc;
}

int setmatch_place_near(const setmatch_input *input, const setmatch_servers *servers,
                        setmatch_near way, size_t *node_of_rank)
{
    nearing a;
    size_t ranks = input->view->rows;
    int rc = begin_nearing(&a, input, servers);
    size_t *node = base_alloc(ranks, sizeof *node);
    if (node == NULL)
        rc = -ENOMEM;
    if (rc == 0 && ranks > 0) {
        memcpy(node, node_of_rank, ranks * sizeof *node);
        rc = place_in_way(&a, way, node);
    }
    if (rc == 0 && ranks > 0)
        memcpy(node_of_rank, node, ranks * sizeof *node);
    free(node);
    end_nearing(&a);
    return rc;
}

int setmatch_near_cost(const setmatch_input *input, const setmatch_servers *servers,
                       const size_t *node_of_rank, double *cost)
{
    nearing a;
    int rc = begin_nearing(&a, input, servers);
    if (rc == 0)
        *cost = total_cost(&a, node_of_rank);
    end_nearing(&a);
    return rc;
}
