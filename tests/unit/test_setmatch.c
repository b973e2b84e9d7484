/* SPDX-License-Identifier: BSD-3-Clause */
/* src/setmatch: the paper's example, the documented ties, grids, and a dense model; what holds of
 * all methods for random views. */
#include "setmatch/profile.h"
#include "setmatch/setmatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "views.h"
#include "edges.h"
#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { MOST_RANKS = 64, MOST_NODES = 24, MOST_BINS = 40 };

/* The paper's example: its access order is 0 4 1 0 4 1 5 2 3 4 1 3 2 5 4 2 5 4 0 4 1. */
static matrix paper_view(void)
{
    static const int64_t steps[6][6] = {{0, 1, 0, 0, 4, 0}, {1, 0, 0, 1, 4, 1}, {0, 0, 0, 2, 1, 3},
                                        {0, 1, 2, 0, 1, 0}, {4, 4, 1, 1, 0, 2}, {0, 1, 3, 0, 2, 0}};
    return matrix_of_values(6, 6, &steps[0][0]);
}

static int place(const matrix *view, const size_t *slots, size_t nodes, size_t *node)
{
    return setmatch_paper(&(setmatch_input){.view = view, .slots = slots, .nodes = nodes}, node);
}

static void assert_placed(const char *name, const matrix *view, const size_t *slots, size_t nodes,
                          const size_t *expected)
{
    size_t node[MOST_RANKS];
    ck_assert_int_eq(place(view, slots, nodes, node), 0);
    for (size_t i = 0; i < view->rows; i++)
        ck_assert_msg(node[i] == expected[i], "%s: rank %zu is on node %zu, not %zu", name, i,
                      node[i], expected[i]);
}

/* --- the paper's example --- */

/* The largest value is 4, and only 4 counts. */
START_TEST(paper_placement)
{
    matrix view = paper_view();
    int64_t inside, total;
    assert_placed("by hand", &view, (size_t[]){3, 3}, 2, (size_t[]){0, 0, 1, 1, 0, 1});
    assert_placed("by hand", &view, (size_t[]){2, 4}, 2, (size_t[]){1, 1, 1, 0, 1, 0});
    /* The walk from 0 (one counted neighbour) is 0 4 1: split after 4. */
    assert_placed("by hand", &view, (size_t[]){2, 2, 2}, 3, (size_t[]){0, 1, 1, 2, 0, 2});
    ck_assert_int_eq(setmatch_weight(&view, (size_t[]){0, 0, 1, 1, 0, 1}, &inside, &total), 0);
    ck_assert_int_eq(inside, 14); /* 0-1 0-4 1-4, 2-3 2-5 */
    ck_assert_int_eq(total, 20);  /* one a step of the access order */
    matrix_release(&view);
}
END_TEST

START_TEST(largest_values_do_not_overflow)
{
    const int64_t max = INT64_MAX;
    matrix view =
        matrix_of_values(3, 3, (int64_t[]){0, max, max / 2, max, 0, max, max / 2, max - 1, 0});
    assert_placed("one set", &view, (size_t[]){1, 2}, 2, (size_t[]){1, 1, 0});
    int64_t inside = 5, total = 6;
    ck_assert_int_eq(setmatch_weight(&view, (size_t[]){0, 1, 2}, &inside, &total), -ERANGE);
    ck_assert(inside == 5 && total == 6);
    matrix_release(&view);
}
END_TEST

/* What all methods refuse: test_placement.c. */
START_TEST(refusals)
{
    matrix view = paper_view(), wide;
    size_t node[6] = {77};
    ck_assert_int_eq(matrix_from_entries(&wide, 2, 3, NULL, 0), 0);
    ck_assert_int_eq(place(&view, (size_t[]){2, 3}, 2, node), -ENOSPC);
    ck_assert_int_eq(place(&view, NULL, 0, node), -ENOSPC);
    ck_assert_int_eq(place(&wide, (size_t[]){2}, 1, node), -EINVAL);
    ck_assert_uint_eq(node[0], 77);
    assert_placed("slots beyond any sum", &view, (size_t[]){SIZE_MAX, SIZE_MAX}, 2,
                  (size_t[]){0, 0, 0, 0, 0, 0});
    matrix_release(&view);
    matrix_release(&wide);
}
END_TEST

/* --- a dense model: a direct implementation of the documented rules --- */

struct model {
    size_t n, nodes;
    int64_t value[MOST_RANKS][MOST_RANKS]; /* as given */
    int linked[MOST_RANKS][MOST_RANKS];
    size_t label[MOST_RANKS]; /* the lowest rank of the rank's set */
    size_t slots[MOST_NODES];
    bool is_even; /* slots are equal */
    size_t walk[MOST_RANKS], walked;
    int passed[MOST_RANKS];
    size_t node[MOST_RANKS];
};

static void model_links(struct model *m)
{
    int64_t max = 0;
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++)
            if (i != j && m->value[i][j] + m->value[j][i] > max)
                max = m->value[i][j] + m->value[j][i];
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++) {
            int64_t v = m->value[i][j] + m->value[j][i];
            m->linked[i][j] = i != j && v > 0 && 10 * v >= 9 * max;
        }
}

static void model_labels(struct model *m)
{
    int changed = 1;
    for (size_t i = 0; i < m->n; i++)
        m->label[i] = i;
    while (changed) {
        changed = 0;
        for (size_t i = 0; i < m->n; i++)
            for (size_t j = 0; j < m->n; j++)
                if (m->linked[i][j] && m->label[j] < m->label[i]) {
                    m->label[i] = m->label[j];
                    changed = 1;
                }
    }
}

static size_t model_degree(const struct model *m, size_t i)
{
    size_t degree = 0;
    for (size_t j = 0; j < m->n; j++)
        degree += m->linked[i][j] != 0;
    return degree;
}

static void model_walk(struct model *m, size_t i)
{
    m->passed[i] = 1;
    m->walk[m->walked++] = i;
    for (size_t j = 0; j < m->n; j++)
        if (m->linked[i][j] && !m->passed[j])
            model_walk(m, j);
}

static size_t model_size(const struct model *m, size_t label)
{
    size_t size = 0;
    for (size_t i = 0; i < m->n; i++)
        size += m->label[i] == label;
    return size;
}

static void model_put_set(struct model *m, size_t label)
{
    size_t begin = label, at = 0, left = model_size(m, label);
    for (size_t i = 0; i < m->n; i++)
        if (m->label[i] == label && model_degree(m, i) < model_degree(m, begin))
            begin = i;
    m->walked = 0;
    model_walk(m, begin);
    ck_assert_uint_eq(m->walked, left);
    while (left > 0) {
        size_t fit = m->nodes, most = 0;
        for (size_t k = 0; k < m->nodes; k++) {
            if (m->slots[k] > m->slots[most])
                most = k;
            if (m->slots[k] >= left && (fit == m->nodes || m->slots[k] < m->slots[fit]))
                fit = k;
        }
        size_t node = fit < m->nodes ? fit : most;
        for (; left > 0 && m->slots[node] > 0; left--, m->slots[node]--)
            m->node[m->walk[at++]] = node;
    }
}

static void model_place(struct model *m)
{
    model_links(m);
    model_labels(m);
    memset(m->passed, 0, sizeof m->passed);
    for (size_t size = m->n; size > 0; size--)
        for (size_t label = 0; label < m->n; label++)
            if (m->label[label] == label && model_size(m, label) == size)
                model_put_set(m, label);
}

enum graph { ANY, GRID, PATHS, CLUSTERS, BLOCKS, GRAPHS };

static bool are_linked(enum graph graph, size_t i, size_t j, size_t width, uint64_t *seed)
{
    switch (graph) {
    case GRID: return (j == i + 1 && j % width != 0) || j == i + width;
    case PATHS: return j == i + width;
    case CLUSTERS: return i % width == j % width || pick(seed, 0, 19) == 0;
    case BLOCKS: return i / width == j / width;
    default: return next_random(seed) % MOST_RANKS < width;
    }
}

static void random_values(struct model *m, uint64_t *seed)
{
    enum graph graph = (enum graph)pick(seed, 0, GRAPHS - 1);
    size_t width = (size_t)pick(seed, 1, 8);
    int64_t most = pick(seed, 1, 30);
    int64_t least = most * pick(seed, 0, 9) / 10; /* so that some, many or all of them count */
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = i; j < m->n; j++) {
            int64_t both = are_linked(graph, i, j, width, seed) ? pick(seed, least, most) : 0;
            m->value[j][i] = pick(seed, 0, both);
            m->value[i][j] = both - m->value[j][i];
        }
}

static void random_model(struct model *m, uint64_t *seed)
{
    memset(m, 0, sizeof *m);
    m->n = (size_t)pick(seed, 1, pick(seed, 0, 2) ? MOST_RANKS : 8);
    m->nodes = (size_t)pick(seed, 1, MOST_NODES);
    m->is_even = pick(seed, 0, 1);
    random_values(m, seed);
    size_t total = 0;
    for (size_t k = 0; k < m->nodes; k++)
        total += m->slots[k] = m->is_even ? m->n / m->nodes + 1 : (size_t)pick(seed, 0, 8);
    while (total < m->n) {
        m->slots[next_random(seed) % m->nodes]++;
        total++;
    }
}

/* The model's values as a matrix: as given (0), all in the upper triangle (1), all in the lower
 * (2), or V + transpose(V) in both (3). */
static matrix model_matrix(const struct model *m, int form, uint64_t *seed)
{
    static matrix_entry entries[2 * MOST_RANKS * MOST_RANKS];
    matrix view;
    size_t count = 0;
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++) {
            size_t row = form == 1 && j < i ? j : form == 2 && j > i ? j : i;
            size_t col = row == i ? j : i;
            if (m->value[i][j] != 0)
                entries[count++] = (matrix_entry){row, col, m->value[i][j]};
            if (m->value[i][j] != 0 && form == 3)
                entries[count++] = (matrix_entry){col, row, m->value[i][j]};
        }
    for (size_t k = count; k > 1; k--) {
        size_t other = next_random(seed) % k;
        matrix_entry held = entries[k - 1];
        entries[k - 1] = entries[other];
        entries[other] = held;
    }
    ck_assert_int_eq(matrix_from_entries(&view, m->n, m->n, entries, count), 0);
    return view;
}

/* No node has more ranks than slots. */
static void check_slots(const setmatch_input *input, const size_t *node)
{
    size_t used[MOST_NODES + 1] = {0};
    for (size_t i = 0; i < input->view->rows; i++)
        ck_assert_uint_le(++used[node[i]], input->slots[node[i]]);
}

/* Each weight once, wherever it is. */
static void check_weight(const struct model *m, const matrix *view)
{
    int64_t expected[2] = {0}, inside, total;
    setmatch_input input = {.view = view, .nodes = m->nodes};
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++) {
            expected[0] += i != j && m->node[i] == m->node[j] ? m->value[i][j] : 0;
            expected[1] += i != j ? m->value[i][j] : 0;
        }
    ck_assert_int_eq(setmatch_weight(view, m->node, &inside, &total), 0);
    ck_assert(inside == expected[0] && total == expected[1]);
    double cost = setmatch_cost(&input, m->node);
    ck_assert_double_eq_tol(cost, (double)inside / 3500. + (double)(total - inside) / 2100., 1e-9);
}

START_TEST(random_views_equal_the_model)
{
    uint64_t seed = first_seed() + (uint64_t)_i;
    static struct model m;
    size_t slots[MOST_NODES], node[MOST_RANKS];
    random_model(&m, &seed);
    memcpy(slots, m.slots, sizeof slots);
    model_place(&m);
    for (int form = 0; form < 4; form++) {
        matrix view = model_matrix(&m, form, &seed);
        memset(node, 0xff, sizeof node);
        ck_assert_int_eq(place(&view, slots, m.nodes, node), 0);
        for (size_t i = 0; i < m.n; i++)
            ck_assert_msg(node[i] == m.node[i], "case %d form %d: rank %zu on node %zu, not %zu",
                          _i, form, i, node[i], m.node[i]);
        if (form == 3 || !matrix_is_symmetric(&view))
            check_weight(&m, &view);
        check_slots(&(setmatch_input){.view = &view, .slots = slots}, node);
        matrix_release(&view);
    }
}
END_TEST

/* --- all methods --- */

static int64_t cut_by(setmatch_method_fn method, const setmatch_input *input, size_t *node)
{
    int64_t inside, total;
    ck_assert_int_eq(method(input, node), 0);
    check_slots(input, node);
    ck_assert_int_eq(setmatch_weight(input->view, node, &inside, &total), 0);
    return total - inside;
}

/* Refinement never increases the cut. How the view is stored makes no difference. */
static void check_method(const struct model *m, setmatch_method_fn method, uint64_t *seed)
{
    size_t plain[MOST_RANKS], refined[MOST_RANKS], first[MOST_RANKS];
    for (int form = 1; form < 4; form++) {
        matrix view = model_matrix(m, form, seed);
        setmatch_input input = {.view = &view, .slots = m->slots, .nodes = m->nodes};
        int64_t cut = cut_by(method, &input, plain);
        input.refine = true;
        ck_assert_int_le(cut_by(method, &input, refined), cut);
        if (form == 1)
            memcpy(first, refined, sizeof first);
        ck_assert_mem_eq(first, refined, m->n * sizeof *first);
        matrix_release(&view);
    }
}

/* A node without slots before equal ones leaves the same sets of ranks. */
static void check_node_names(const struct model *m, setmatch_input input)
{
    size_t slots[MOST_NODES + 1] = {0}, node[MOST_RANKS], other[MOST_RANKS];
    cut_by(setmatch_auto, &input, node);
    memcpy(slots + 1, m->slots, sizeof m->slots);
    input.slots = slots;
    input.nodes++;
    cut_by(setmatch_auto, &input, other);
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < i; j++)
            ck_assert((node[i] == node[j]) == (other[i] == other[j]));
}

/* With the profile no more crosses than without; ranks also follow any owners of bins. */
static void check_profile(setmatch_input input, uint64_t *seed)
{
    size_t bins = (size_t)pick(seed, 1, MOST_BINS), node[MOST_RANKS], owner[MOST_BINS];
    matrix_builder b = {.rows = input.view->rows, .cols = bins};
    int64_t local_bytes[2], total, entries = pick(seed, 0, (int64_t)(2 * (b.rows + bins)));
    for (int64_t k = 0; k < entries; k++)
        add_entry(&b, next_random(seed) % b.rows, next_random(seed) % bins, pick(seed, 1, 5000));
    matrix bytes = finish_matrix(&b);
    const setmatch_profile profile = {1, &bytes};
    input.profile = &profile;
    input.objective = SETMATCH_OBJECTIVE_NEIGHBOURS;
    for (int k = 0; k < 2; k++, input.objective = SETMATCH_OBJECTIVE_AUTO) {
        cut_by(setmatch_auto, &input, node);
        ck_assert_int_eq(owners_find(&profile, input.nodes, node, owner, &local_bytes[k]), 0);
    }
    ck_assert_int_eq(matrix_sum(&bytes, &total), 0);
    ck_assert(0 <= local_bytes[0] && local_bytes[0] <= local_bytes[1] && local_bytes[1] <= total);
    for (size_t k = 0; k < bins; k++)
        owner[k] = next_random(seed) % input.nodes;
    ck_assert_int_eq(owners_follow(&profile, input.nodes, input.slots, owner, node), 0);
    check_slots(&input, node);
    matrix_release(&bytes);
}

START_TEST(random_views_by_all_methods)
{
    uint64_t seed = first_seed() + (uint64_t)_i;
    static struct model m;
    size_t group[2 * MOST_NODES], node[MOST_RANKS];
    const setmatch_network network = {2, group, NULL};
    random_model(&m, &seed);
    for (const setmatch_method *method = setmatch_methods; method->name != NULL; method++)
        check_method(&m, method->place, &seed);
    matrix view = model_matrix(&m, 3, &seed);
    setmatch_input input = {.view = &view, .slots = m.slots, .nodes = m.nodes, .refine = true};
    if (m.is_even)
        check_node_names(&m, input);
    check_profile(input, &seed);
    for (size_t k = 0; k < m.nodes; k++)
        group[m.nodes + k] = (group[k] = next_random(&seed) % 3) / 2;
    input.network = &network;
    cut_by(setmatch_auto, &input, node);
    matrix_release(&view);
}
END_TEST

/* --- grids --- */

/* As recorded of an array in C order that is split evenly in blocks over the grid. */
static matrix grid_view(const size_t *dims)
{
    char name[80];
    matrix view;
    snprintf(name, sizeof name, "array:%zux%zux%zu:8x8x1", dims[0], dims[1], dims[2]);
    pattern_view(name, &view);
    return view;
}

/* The best known placements of these grids are chunks of file order. */
static const struct grid {
    size_t dims[3], nodes, slots;
    bool is_simplified; /* this view, too: lines are no longer than a node */
} grids[] = {
    {{2, 2, 4}, 4, 4, true}, {{1, 4, 4}, 4, 4, true},  {{4, 4, 4}, 4, 16, true},
    {{4, 2, 8}, 8, 8, true}, {{2, 2, 8}, 8, 4, false},
};

START_TEST(grids_are_placed_in_chunks_of_file_order)
{
    const struct grid *g = &grids[_i];
    size_t slots[MOST_NODES], expected[MOST_RANKS];
    for (size_t k = 0; k < g->nodes; k++)
        slots[k] = g->slots;
    for (size_t i = 0; i < MOST_RANKS; i++)
        expected[i] = i / g->slots;
    matrix recorded = grid_view(g->dims), simplified;
    ck_assert_int_eq(setmatch_cartesian(g->dims, 3, SETMATCH_ORDER_C, &simplified), 0);
    assert_placed("recorded", &recorded, slots, g->nodes, expected);
    if (g->is_simplified)
        assert_placed("simplified", &simplified, slots, g->nodes, expected);
    matrix_release(&recorded);
    matrix_release(&simplified);
}
END_TEST

/* --- the simplified matrix --- */

static void assert_ascending_columns(const matrix *m)
{
    for (size_t row = 0; row < m->rows; row++)
        for (size_t k = m->row_start[row] + 1; k < m->row_start[row + 1]; k++)
            ck_assert_uint_lt(m->col[k - 1], m->col[k]);
}

/* Neighbours differ by one in one coordinate. */
static int64_t model_cartesian(const size_t *dims, size_t ndims, bool is_c, size_t i, size_t j)
{
    size_t distance = 0, along = 0, outer = is_c ? 0 : ndims - 1, inner = outer;
    for (size_t k = 0; k < ndims; k++)
        inner = dims[is_c ? k : ndims - 1 - k] > 1 ? is_c ? k : ndims - 1 - k : inner;
    for (size_t d = ndims; d-- > 0; i /= dims[d], j /= dims[d]) {
        size_t a = i % dims[d], b = j % dims[d];
        distance += a > b ? a - b : b - a;
        along = a != b ? d : along;
    }
    return distance != 1    ? 0
           : along == outer ? SETMATCH_CARTESIAN_OUTERMOST
           : along == inner ? SETMATCH_CARTESIAN_INNERMOST
                            : SETMATCH_CARTESIAN_BETWEEN;
}

START_TEST(cartesian_values)
{
    for_random_seeds (seed, 300) {
        uint64_t state = seed;
        size_t dims[4], ndims = (size_t)pick(&state, 1, 4), ranks = 1, neighbours = 0;
        bool is_c = pick(&state, 0, 1) == 1;
        matrix view;
        for (size_t d = 0; d < ndims; d++)
            ranks *= dims[d] = (size_t)pick(&state, 1, 3);
        ck_assert_int_eq(setmatch_cartesian(
                             dims, ndims, is_c ? SETMATCH_ORDER_C : SETMATCH_ORDER_FORTRAN, &view),
                         0);
        for (size_t i = 0; i < ranks; i++)
            for (size_t j = 0; j < ranks; j++) {
                int64_t expected = model_cartesian(dims, ndims, is_c, i, j);
                ck_assert(matrix_get(&view, i, j) == expected);
                neighbours += expected > 0;
            }
        ck_assert(view.rows == ranks && view.row_start[ranks] == neighbours);
        assert_ascending_columns(&view);
        matrix_release(&view);
    }
}
END_TEST

/* --- scale and memory --- */

/* CK_FORK=no is set under valgrind and debuggers, where far fewer ranks suffice. */
static int is_slow_run(void)
{
    const char *fork_mode = getenv("CK_FORK");
    return fork_mode != NULL && strcmp(fork_mode, "no") == 0;
}

/* Up to 2^20 ranks in one set, with 8 neighbours each or on one path, which is cut in order. */
static const struct {
    size_t dims[4], ndims, small; /* the extents where few ranks suffice */
    size_t slots;
    bool in_order;
} large_grids[] = {{{32, 32, 32, 32}, 4, 8, 64, false}, {{1 << 20}, 1, 1 << 14, 16, true}};

/* The walk must not recurse. */
START_TEST(a_million_ranks)
{
    matrix view;
    size_t dims[4], each = large_grids[_i].slots, wrong = 0;
    for (size_t d = 0; d < large_grids[_i].ndims; d++)
        dims[d] = is_slow_run() ? large_grids[_i].small : large_grids[_i].dims[d];
    ck_assert_int_eq(setmatch_cartesian(dims, large_grids[_i].ndims, SETMATCH_ORDER_C, &view), 0);
    for (size_t i = 0; i < view.row_start[view.rows]; i++)
        view.value[i] = 1;
    size_t nodes = view.rows / each, *slots = calloc(nodes, sizeof *slots);
    size_t *node = calloc(view.rows, sizeof *node);
    ck_assert(slots != NULL && node != NULL);
    for (size_t k = 0; k < nodes; k++)
        slots[k] = each;
    ck_assert_int_eq(place(&view, slots, nodes, node), 0);
    for (size_t i = 0; i < view.rows; i++)
        wrong += large_grids[_i].in_order && node[i] != i / each;
    ck_assert_uint_eq(wrong, 0);
    free(slots);
    free(node);
    matrix_release(&view);
}
END_TEST

static int place_paper(const matrix *view)
{
    size_t node[6];
    return place(view, (size_t[]){2, 2, 2}, 3, node);
}

static int build_grid(const matrix *view)
{
    matrix grid;
    int rc = setmatch_cartesian((size_t[]){view->rows, 2, 2}, 3, SETMATCH_ORDER_C, &grid);
    if (rc == 0)
        matrix_release(&grid);
    return rc;
}

START_TEST(memory_runs_out)
{
    matrix view = paper_view();
    fail_each_allocation(place_paper(&view));
    fail_each_allocation(build_grid(&view));
    matrix_release(&view);
}
END_TEST

int main(void)
{
    return run_tests("setmatch", ONCE(paper_placement), ONCE(largest_values_do_not_overflow),
                     ONCE(refusals), TIMES(random_views_equal_the_model, random_cases(400)),
                     TIMES(random_views_by_all_methods, random_cases(60)),
                     TIMES(grids_are_placed_in_chunks_of_file_order, LENGTH(grids)),
                     ONCE(cartesian_values), TIMES(a_million_ranks, LENGTH(large_grids)),
                     TIMES(memory_runs_out, 2));
}
