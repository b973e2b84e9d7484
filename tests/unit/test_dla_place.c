/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Ranks on nodes: the stock order, oversubscription, apps with different nodes, and
 * that placing by a view keeps to all of it.
 */
#include <check.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dla/place.h"

#include "seeded.h"
#include "suite.h"

#define MAX_NODES 6
#define MAX_APPS 4
#define MAX_RANKS 64
#define ANY SIZE_MAX

/* A job with its arrays inside, so that cases can be written as tables. */
typedef struct small_job {
    dla_job job;
    dla_node node[MAX_NODES];
    dla_app app[MAX_APPS];
    size_t list[MAX_APPS][MAX_NODES];
} small_job;

static void link_up(small_job *s)
{
    s->job.node = s->node;
    s->job.app = s->app;
    s->job.ranks = 0;
    for (size_t a = 0; a < s->job.apps; a++) {
        s->app[a].node = s->list[a];
        s->job.ranks += s->app[a].ranks;
    }
}

static small_job one_app(size_t ranks, size_t nodes, const dla_node *node, bool oversubscribe)
{
    small_job s = {.job = {.apps = 1, .nodes = nodes, .oversubscribe = oversubscribe}};

    memcpy(s.node, node, nodes * sizeof(*node));
    s.app[0].ranks = ranks;
    s.app[0].nodes = nodes;
    for (size_t n = 0; n < nodes; n++)
        s.list[0][n] = n;
    return s;
}

/* expected: node of each rank */
static const struct {
    size_t ranks, nodes;
    dla_node node[MAX_NODES];
    bool oversubscribe;
    int rc;
    size_t expected[9];
} by_slot_cases[] = {
    {4, 2, {{2, ANY}, {2, ANY}}, false, 0, {0, 0, 1, 1}},
    {3, 2, {{2, ANY}, {2, ANY}}, false, 0, {0, 0, 1}},
    {5, 2, {{2, ANY}, {2, ANY}}, false, -ENOSPC, {0}},
    {1, 3, {{0, ANY}, {0, ANY}, {1, ANY}}, false, 0, {2}},
    {1, 1, {{0, ANY}}, false, -ENOSPC, {0}},
    {0, 1, {{1, ANY}}, false, 0, {0}},
    /* slots are taken before any node gets more ranks, and nodes with slots are numbered first */
    {5, 2, {{2, ANY}, {2, ANY}}, true, 0, {0, 0, 0, 1, 1}},
    {6, 2, {{2, ANY}, {1, ANY}}, true, 0, {0, 0, 0, 0, 1, 1}},
    {9, 3, {{1, ANY}, {3, ANY}, {0, ANY}}, true, 0, {0, 0, 0, 1, 1, 1, 1, 1, 2}},
    {6, 3, {{0, ANY}, {2, ANY}, {1, ANY}}, true, 0, {1, 1, 1, 2, 2, 0}},
    {6, 2, {{2, 2}, {2, ANY}}, true, 0, {0, 0, 1, 1, 1, 1}},
    {6, 2, {{2, 3}, {2, 3}}, true, 0, {0, 0, 0, 1, 1, 1}},
    {7, 2, {{2, 3}, {2, 3}}, true, -ENOSPC, {0}},
};

START_TEST(fills_by_slot)
{
    small_job s = one_app(by_slot_cases[_i].ranks, by_slot_cases[_i].nodes, by_slot_cases[_i].node,
                          by_slot_cases[_i].oversubscribe);
    size_t node_of_rank[MAX_RANKS], app = ANY;

    link_up(&s);
    ck_assert_int_eq(dla_place_by_slot(&s.job, node_of_rank, &app), by_slot_cases[_i].rc);
    if (by_slot_cases[_i].rc != 0)
        ck_assert_uint_eq(app, 0);
    for (size_t r = 0; r < s.job.ranks && by_slot_cases[_i].rc == 0; r++)
        ck_assert_uint_eq(node_of_rank[r], by_slot_cases[_i].expected[r]);
}
END_TEST

START_TEST(names_the_app_that_does_not_fit)
{
    small_job s = {
        .job = {.apps = 3, .nodes = 2},
        .node = {{2, ANY}, {2, ANY}},
        .app = {{2, 2, NULL}, {1, 1, NULL}, {1, 2, NULL}},
        .list = {{0, 1}, {0}, {0, 1}},
    };
    size_t node_of_rank[MAX_RANKS], app = ANY;

    link_up(&s);
    ck_assert_int_eq(dla_place_by_slot(&s.job, node_of_rank, &app), -ENOSPC);
    ck_assert_uint_eq(app, 1);
}
END_TEST

/* Places by the view from where the ranks are by slot. */
static void place(const small_job *s, matrix *view, int method, const size_t *by_slot,
                  dla_placement *p)
{
    const dla_spec spec = {.choice = {[DLA_METHOD] = method}};
    const dla_room room = {s->job.nodes, NULL, &s->job, by_slot};
    const dla_data data = {.file = {.view = *view}};

    ck_assert_msg(dla_place(&data, &spec, &room, p) == 0, "%s", setmatch_methods[method].name);
    matrix_release(view);
}

/* Places the job by slot, and from there by the view of these entries, of which the first four are
 * pairs of ranks that must share a node. */
static void check_pairs(small_job *s, matrix_entry *entries, size_t count)
{
    size_t by_slot[MAX_RANKS], app;
    matrix_entry pairs[4];
    dla_placement p;
    matrix view;

    memcpy(pairs, entries, sizeof(pairs)); /* matrix_from_entries sorts them */
    link_up(s);
    ck_assert_int_eq(matrix_from_entries(&view, 8, 8, entries, count), 0);
    ck_assert_int_eq(dla_place_by_slot(&s->job, by_slot, &app), 0);
    place(s, &view, 0, by_slot, &p);
    for (size_t k = 0; k < 4; k++)
        ck_assert_uint_eq(p.node_of_rank[pairs[k].row], p.node_of_rank[pairs[k].col]);
    dla_placement_release(&p);
}

START_TEST(keeps_pairs_together)
{
    const dla_node node[] = {{2, ANY}, {4, ANY}, {2, ANY}};
    small_job s = one_app(8, 3, node, false);
    matrix_entry entries[] = {{0, 4, 9}, {1, 5, 9}, {2, 6, 9}, {3, 7, 9}};

    check_pairs(&s, entries, 4);
}
END_TEST

/* Apps 0 and 2 share nodes 0 and 1, with app 1 on nodes 2 and 3 numbered between them: the
 * pairs across the apps of one group are kept together all the same. */
START_TEST(places_apps_with_the_same_nodes_together)
{
    small_job s = {
        .job = {.apps = 3, .nodes = 4},
        .node = {{2, ANY}, {2, ANY}, {2, ANY}, {2, ANY}},
        .app = {{2, 2, NULL}, {4, 2, NULL}, {2, 2, NULL}},
        .list = {{0, 1}, {2, 3}, {0, 1}},
    };
    matrix_entry entries[] = {{0, 6, 9}, {1, 7, 9}, {2, 4, 9}, {3, 5, 9}, {1, 2, 100}};

    check_pairs(&s, entries, 5);
}
END_TEST

static uint64_t state;

/* 0..n - 1 */
static size_t any_of(size_t n)
{
    return (size_t)pick(&state, 0, (int64_t)n - 1);
}

static void random_job(small_job *s)
{
    *s = (small_job){.job = {.apps = 1 + any_of(MAX_APPS),
                             .nodes = 1 + any_of(MAX_NODES),
                             .oversubscribe = any_of(2) == 0}};
    for (size_t n = 0; n < s->job.nodes; n++) {
        s->node[n].slots = any_of(6);
        s->node[n].most = any_of(2) == 0 ? ANY : s->node[n].slots + any_of(4);
    }
    for (size_t a = 0; a < s->job.apps; a++) {
        s->app[a].ranks = any_of(7);
        for (size_t n = 0; n < s->job.nodes; n++)
            if (any_of(3) != 0 || (n + 1 == s->job.nodes && s->app[a].nodes == 0))
                s->list[a][s->app[a].nodes++] = n;
    }
    link_up(s);
}

static void random_view(size_t ranks, matrix *view)
{
    matrix_entry entries[4 * MAX_RANKS];
    size_t count = ranks == 0 ? 0 : any_of(4 * ranks);

    for (size_t i = 0; i < count; i++)
        entries[i] = (matrix_entry){any_of(ranks), any_of(ranks), (int64_t)any_of(100)};
    ck_assert_int_eq(matrix_from_entries(view, ranks, ranks, entries, count), 0);
}

static bool may_stand(const dla_app *app, size_t node)
{
    for (size_t i = 0; i < app->nodes; i++)
        if (app->node[i] == node)
            return true;
    return false;
}

/* Every rank is on a node of its app, and no node exceeds its capacity. */
static void check_placement(const small_job *s, const size_t *node_of_rank)
{
    size_t count[MAX_NODES] = {0}, rank = 0, slots = 0;

    for (size_t a = 0; a < s->job.apps; a++) {
        for (size_t end = rank + s->app[a].ranks; rank < end; rank++) {
            ck_assert(may_stand(&s->app[a], node_of_rank[rank]));
            count[node_of_rank[rank]]++;
        }
    }
    for (size_t n = 0; n < s->job.nodes; n++) {
        slots += s->node[n].slots;
        ck_assert_uint_le(count[n], s->job.oversubscribe ? s->node[n].most : s->node[n].slots);
    }
    if (s->job.apps == 1 && s->app[0].nodes == s->job.nodes && s->job.ranks <= slots)
        for (size_t n = 0; n < s->job.nodes; n++)
            ck_assert_uint_le(count[n], s->node[n].slots);
}

START_TEST(keeps_to_the_rules)
{
    size_t by_slot[MAX_RANKS], app;
    dla_placement p;
    matrix view;
    small_job s;

    state = first_seed() + (uint64_t)_i;
    random_job(&s);
    if (dla_place_by_slot(&s.job, by_slot, &app) != 0) {
        ck_assert_uint_lt(app, s.job.apps);
        return;
    }
    check_placement(&s, by_slot);
    for (int m = 0; setmatch_methods[m].name != NULL; m++) {
        random_view(s.job.ranks, &view);
        place(&s, &view, m, by_slot, &p);
        check_placement(&s, p.node_of_rank);
        dla_placement_release(&p);
    }
}
END_TEST

int main(void)
{
    return run_tests("dla_place", TIMES(fills_by_slot, LENGTH(by_slot_cases)),
                     ONCE(names_the_app_that_does_not_fit), ONCE(keeps_pairs_together),
                     ONCE(places_apps_with_the_same_nodes_together),
                     TIMES(keeps_to_the_rules, random_cases(300)));
}
