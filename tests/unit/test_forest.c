/* SPDX-License-Identifier: BSD-3-Clause */
/* Placement of a forest: every choice is compared with all choices. */
#include <errno.h>
#include <string.h>

#include "edges.h"
#include "failing_malloc.h"
#include "seeded.h"
#include "setmatch/candidates.h"
#include "setmatch/choice.h"
#include "suite.h"

enum { MOST_RANKS = 13, MOST_NODES = 6, NOWHERE = 99 };

typedef struct instance {
    affinity ranks;
    site site;
    size_t slots[MOST_NODES], node[MOST_RANKS];
} instance;

static void begin_instance(instance *c, size_t ranks, int64_t (*edge)[3], size_t edges,
                           const size_t *slots, size_t nodes)
{
    graph_of_edges(&c->ranks, ranks, edge, edges);
    memcpy(c->slots, slots, nodes * sizeof *slots);
    ck_assert_int_eq(site_init(&c->site, c->slots, nodes), 0);
    for (size_t v = 0; v < MOST_RANKS; v++)
        c->node[v] = NOWHERE;
}

static void release_instance(instance *c)
{
    affinity_release(&c->ranks);
    site_release(&c->site);
}

/* Trees whose vertices have any numbers; slots that suffice, on some nodes none or to spare. */
static void draw_instance(instance *c, uint64_t *seed)
{
    int64_t edge[MOST_RANKS][3];
    size_t ranks = (size_t)pick(seed, 1, MOST_RANKS), edges = 0, number[MOST_RANKS];
    size_t slots[MOST_NODES] = {0}, nodes = (size_t)pick(seed, 1, MOST_NODES);
    for (size_t v = 0; v < ranks; v++) {
        size_t u = (size_t)pick(seed, 0, (int64_t)v);
        number[v] = v;
        number[v] = number[u];
        number[u] = v;
    }
    for (size_t v = 1; v < ranks; v++) {
        if (pick(seed, 0, 7) == 0)
            continue;
        int64_t *e = edge[edges++];
        e[0] = (int64_t)number[v];
        e[1] = (int64_t)number[pick(seed, 0, (int64_t)v - 1)];
        e[2] = pick(seed, 1, 4);
    }
    size_t all = ranks + (size_t)pick(seed, 0, 4);
    for (size_t k = 0; k < all; k++)
        slots[(size_t)pick(seed, 0, (int64_t)nodes - 1)]++;
    begin_instance(c, ranks, edge, edges, slots, nodes);
}

/* The weight of arcs from the ranks of one set to those of another, which are disjoint. */
static int64_t weight_between(const affinity *g, unsigned from, unsigned to)
{
    int64_t sum = 0;
    for (size_t v = 0; v < g->vertices; v++)
        for (size_t i = g->start[v]; i < g->start[v + 1]; i++)
            if ((from >> v & 1) != 0 && (to >> g->other[i] & 1) != 0)
                sum += g->weight[i];
    return sum;
}

/* Of all sets of that number of the ranks in the window, to all others that are left. */
static int64_t least_cut(const affinity *g, unsigned window, unsigned left, int count)
{
    int64_t least = INT64_MAX;
    for (unsigned set = window;; set = (set - 1) & window) {
        if (__builtin_popcount(set) == count) {
            int64_t cut = weight_between(g, set, left & ~set);
            least = cut < least ? cut : least;
        }
        if (set == 0)
            return least;
    }
}

static unsigned ranks_on(const instance *c, size_t n)
{
    unsigned set = 0;
    for (size_t v = 0; v < c->ranks.vertices; v++)
        set |= c->node[v] == n ? 1U << v : 0;
    return set;
}

/* The weight of the lightest edges, as many as there are nodes in use. */
static int64_t light_weight(const affinity *g, size_t nodes)
{
    int64_t weight = 0;
    for (;; weight++) {
        size_t arcs = 0;
        for (size_t i = 0; i < g->start[g->vertices]; i++)
            arcs += g->weight[i] <= weight;
        if (arcs == g->start[g->vertices] || arcs >= 2 * nodes)
            return weight;
    }
}

/* The number of `left` ranks that a node takes, if the next ones have so many slots: a free slot
 * costs 3/8 of the light weight. */
static int best_count(const affinity *g, unsigned left, size_t slots, size_t next, int64_t light)
{
    int best = -1;
    int64_t least = INT64_MAX;
    for (int count = __builtin_popcount(left); count >= 0; count--) {
        int after = __builtin_popcount(left) - count;
        int64_t cost = 8 * least_cut(g, left, left, count) - 3 * light * count;
        if ((size_t)count > slots || (size_t)after > next || cost >= least)
            continue;
        least = cost;
        best = count;
    }
    return best;
}

/* What is left, and where it goes. */
typedef struct leftover {
    const instance *c;
    int64_t light;
    size_t slots;            /* of the nodes that are left */
    unsigned ranks;          /* those that are left */
    bool filled[MOST_NODES]; /* by node */
} leftover;

static bool is_best_choice(const leftover *r, size_t n)
{
    const affinity *g = &r->c->ranks;
    unsigned set = ranks_on(r->c, n);
    int count = __builtin_popcount(set);
    size_t slots = r->c->slots[n];
    return (set & ~r->ranks) == 0 &&
           count == best_count(g, r->ranks, slots, r->slots - slots, r->light) &&
           weight_between(g, set, r->ranks & ~set) == least_cut(g, r->ranks, r->ranks, count);
}

/* Whether each node, in some order, takes the best number of ranks, and no set of as many has a
 * smaller cut to those that were left. smallest_first: only that order counts. */
static bool has_best_choices(const leftover *r, size_t nodes, bool smallest_first)
{
    for (size_t k = nodes; r->ranks != 0 && k-- > 0;) {
        size_t n = r->c->site.by_size[k];
        if (r->filled[n])
            continue;
        if (is_best_choice(r, n)) {
            leftover after = *r;
            after.slots -= r->c->slots[n];
            after.ranks &= ~ranks_on(r->c, n);
            after.filled[n] = true;
            if (has_best_choices(&after, nodes, smallest_first))
                return true;
        }
        if (smallest_first)
            return false;
    }
    return r->ranks == 0;
}

static void check_choices(const instance *c, size_t variant)
{
    size_t nodes = site_to_use(&c->site, c->ranks.vertices, variant);
    leftover all = {
        .c = c, .light = light_weight(&c->ranks, nodes), .ranks = (1U << c->ranks.vertices) - 1};
    for (size_t k = 0; k < nodes; k++)
        all.slots += c->slots[c->site.by_size[k]];
    ck_assert(has_best_choices(&all, nodes, variant == 0));
}

START_TEST(each_node_takes_the_least_cut)
{
    for_random_seeds (seed, 600) {
        uint64_t state = seed;
        instance c;
        size_t work = 0;
        draw_instance(&c, &state);
        ck_assert_int_eq(place_forest(&c.ranks, &c.site, seed % 7, SIZE_MAX, c.node, &work), 0);
        check_choices(&c, seed % 7);
        release_instance(&c);
    }
}
END_TEST

static unsigned window_of(const choice *c)
{
    unsigned set = 0;
    for (size_t k = 0; k < c->count; k++)
        set |= 1U << c->window[k];
    return set;
}

/* Places any numbers of ranks until none is left, and fills the window now and then. */
static void place_by_windows(instance *in, choice *c, uint64_t *state)
{
    const affinity *g = &in->ranks;
    unsigned left = (1U << g->vertices) - 1;
    for (size_t n = 0; left != 0; n++) {
        if (pick(state, 0, 2) != 0 || c->count == 0)
            choice_fill_window(c);
        const int64_t *cut = choice_cuts(c);
        unsigned window = window_of(c);
        ck_assert_uint_eq(window & ~left, 0);
        size_t most = c->count < c->most ? c->count : c->most;
        for (size_t count = 0; count <= most; count++)
            ck_assert_int_eq(cut[count], least_cut(g, window, left, (int)count));
        size_t number = (size_t)pick(state, 0, (int64_t)most);
        int64_t least = cut[number];
        choice_place(c, number, n, in->node);
        unsigned placed = ranks_on(in, n);
        ck_assert_uint_eq(placed & ~window, 0);
        ck_assert_uint_eq((size_t)__builtin_popcount(placed), number);
        ck_assert_int_eq(weight_between(g, placed, left & ~placed), least);
        left &= ~placed;
    }
}

START_TEST(windows_have_the_least_cuts)
{
    for_random_seeds (seed, 600) {
        uint64_t state = seed;
        instance c;
        choice window;
        draw_instance(&c, &state);
        size_t ranks = c.ranks.vertices, places = (size_t)pick(&state, 1, (int64_t)ranks);
        size_t most = (size_t)pick(&state, 1, (int64_t)places);
        ck_assert_int_eq(choice_init(&window, &c.ranks, seed % 3, places, most), 0);
        place_by_windows(&c, &window, &state);
        choice_release(&window);
        release_instance(&c);
    }
}
END_TEST

/* Chains of 1 .. 9 ranks that hang from each other, on nodes of at most a third of the window. */
START_TEST(many_ranks_fill_their_slots)
{
    enum { RANKS = 700, NODES = RANKS };
    static int64_t edge[RANKS][3];
    static size_t slots[NODES], node[RANKS];
    for_random_seeds (seed, 60) {
        uint64_t state = seed;
        size_t ranks = (size_t)pick(&state, 100, RANKS), nodes = 0, work = 0;
        size_t window = (size_t)pick(&state, 4, 99);
        affinity g;
        site s;
        for (size_t v = 1; v < ranks; v++) {
            int64_t to = (int64_t)v - 1 - (v % 9 == 0 ? pick(&state, 0, (int64_t)v - 1) : 0);
            memcpy(edge[v - 1], (int64_t[]){to, (int64_t)v, pick(&state, 1, 5)}, sizeof edge[v]);
        }
        for (size_t all = 0; all < ranks; all += slots[nodes++])
            slots[nodes] = (size_t)pick(&state, 1, (int64_t)window / NODES_PER_WINDOW);
        graph_of_edges(&g, ranks, edge, ranks - 1);
        ck_assert_int_eq(site_init(&s, slots, nodes), 0);
        ck_assert_int_eq(place_forest(&g, &s, seed % 5, window, node, &work), 0);
        for (size_t v = 0; v < ranks; v++)
            ck_assert_uint_gt(slots[node[v]]--, 0);
        affinity_release(&g);
        site_release(&s);
    }
}
END_TEST

/* Nodes of equal slots take a path in pieces, also by a window. */
START_TEST(path_by_windows)
{
    enum { RANKS = 1200, SLOTS = 12 };
    static int64_t edge[RANKS][3];
    static size_t slots[RANKS / SLOTS], node[RANKS];
    size_t work = 0;
    affinity g;
    site s;
    for (int64_t v = 0; v + 1 < RANKS; v++)
        memcpy(edge[v], (int64_t[]){v * 7 % RANKS, (v + 1) * 7 % RANKS, 3}, sizeof edge[v]);
    for (size_t n = 0; n < RANKS / SLOTS; n++)
        slots[n] = SLOTS;
    graph_of_edges(&g, RANKS, edge, RANKS - 1);
    ck_assert_int_eq(site_init(&s, slots, RANKS / SLOTS), 0);
    ck_assert_int_eq(place_forest(&g, &s, 0, NODES_PER_WINDOW * SLOTS - 1, node, &work), 1);
    ck_assert_int_eq(place_forest(&g, &s, 0, NODES_PER_WINDOW * SLOTS, node, &work), 0);
    ck_assert_int_eq(affinity_cut(&g, node), 3 * (RANKS / SLOTS - 1));
    affinity_release(&g);
    site_release(&s);
}
END_TEST

/* Of three nodes with 5, 3 and 4 slots, 5 and 4 suffice. A path is cut once. */
START_TEST(fewest_nodes)
{
    int64_t edge[8][3];
    const size_t slots[] = {5, 3, 4};
    instance c;
    size_t work = 0;
    for (int64_t v = 0; v < 8; v++)
        memcpy(edge[v], (int64_t[]){v, v + 1, 7}, sizeof edge[v]);
    begin_instance(&c, 9, edge, 8, slots, 3);
    ck_assert_int_eq(place_forest(&c.ranks, &c.site, 0, SIZE_MAX, c.node, &work), 0);
    ck_assert_uint_eq(ranks_on(&c, 1), 0);
    ck_assert_int_eq(affinity_cut(&c.ranks, c.node), 7);
    release_instance(&c);
}
END_TEST

START_TEST(cycles_and_empty_graphs)
{
    int64_t cycle[][3] = {{0, 1, 1}, {1, 2, 1}, {2, 0, 1}};
    const size_t slots[] = {4, 4};
    instance c;
    size_t work = 0;
    begin_instance(&c, 3, cycle, 3, slots, 2);
    ck_assert_int_eq(place_forest(&c.ranks, &c.site, 0, SIZE_MAX, c.node, &work), 1);
    release_instance(&c);
    begin_instance(&c, 6, cycle, 3, slots, 2);
    ck_assert_int_eq(place_forest(&c.ranks, &c.site, 0, SIZE_MAX, c.node, &work), 1);
    for (size_t v = 0; v < 6; v++)
        ck_assert_uint_eq(c.node[v], NOWHERE);
    release_instance(&c);
    begin_instance(&c, 0, cycle, 0, slots, 2);
    ck_assert_int_eq(place_forest(&c.ranks, &c.site, 0, SIZE_MAX, c.node, &work), 1);
    release_instance(&c);
    begin_instance(&c, 7, cycle, 0, slots, 2);
    ck_assert_int_eq(place_forest(&c.ranks, &c.site, 0, SIZE_MAX, c.node, &work), 0);
    check_choices(&c, 0);
    release_instance(&c);
}
END_TEST

START_TEST(memory_runs_out)
{
    uint64_t state = first_seed();
    instance c;
    long nth = 0;
    size_t work = 0;
    draw_instance(&c, &state);
    for (int rc = -ENOMEM; rc != 0; nth++) {
        fail_allocation(nth);
        rc = place_forest(&c.ranks, &c.site, 0, SIZE_MAX, c.node, &work);
        check_failing(rc);
    }
    ck_assert_int_gt(nth, 6);
    release_instance(&c);
}
END_TEST

int main(void)
{
    return run_tests("forest", each_node_takes_the_least_cut, windows_have_the_least_cuts,
                     many_ranks_fill_their_slots, path_by_windows, fewest_nodes,
                     cycles_and_empty_graphs, memory_runs_out);
}
