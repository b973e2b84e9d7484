/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice between even and fitted domains, by a source that is a table. */
#include "plan/planner.h"

#include <errno.h>
#include <stdlib.h>

#include "edges.h"
#include "failing_malloc.h"
#include "suite.h"

enum { NODES = 2, RANKS = 16, ON_NODE = RANKS / NODES, UNITS = 32, UNIT = 64 << 10 };

/* The ranks of one node access an eighth of each unit. */
typedef struct scene {
    planner planner;
    topo topology;
    size_t node_of_rank[RANKS], ranks_on_node[NODES];
    size_t node_of_unit[UNITS];
    bool too_many; /* units */
    int error;     /* of domains of units */
    plan_draft plan, even;
} scene;

static int sum_domains(void *context, const plan_draft *draft, rows_matrices *c)
{
    const scene *s = context;
    matrix_entry entry[UNITS * ON_NODE];
    size_t near = 0;
    for (size_t u = 0; u < UNITS; u++) {
        domain_range at = domains_range_at(&draft->division.domains, (int64_t)u * UNIT, &near);
        for (size_t k = 0; k < ON_NODE; k++)
            entry[u * ON_NODE + k] =
                (matrix_entry){s->node_of_unit[u] * ON_NODE + k, at.domain, UNIT / ON_NODE};
    }
    int rc = draft->units.unit > 0 ? s->error : 0;
    return rc != 0 ? rc
                   : matrix_from_entries(&c->requests, RANKS, s->planner.domains, entry,
                                         UNITS * ON_NODE);
}

static int sum_units(void *context, const pieces *units, matrix *bytes)
{
    const scene *s = context;
    matrix_entry entry[UNITS];
    for (size_t u = 0; u < UNITS; u++)
        entry[u] = (matrix_entry){u, s->node_of_unit[u], UNIT};
    return s->too_many ? 0 : matrix_from_entries(bytes, units->count, NODES, entry, UNITS);
}

/* Nodes access stretches of so many units in turn. */
static void set_scene(scene *s, division_settings settings, size_t stretch)
{
    *s = (scene){.planner = {.hi = UNITS * UNIT,
                             .division = settings,
                             .strategy = plan_strategies,
                             .nodes = NODES,
                             .ranks_on_node = s->ranks_on_node,
                             .node_of_rank = s->node_of_rank,
                             .topology = &s->topology}};
    topo_flat(&s->topology, NODES);
    for (size_t r = 0; r < RANKS; r++)
        s->ranks_on_node[s->node_of_rank[r] = r / ON_NODE]++;
    for (size_t u = 0; u < UNITS; u++)
        s->node_of_unit[u] = u / stretch % NODES;
    planner_start(&s->planner);
}

static int make_plan(scene *s)
{
    const plan_source source = {sum_domains, sum_units, s};
    return planner_make(&s->planner, &source, &s->plan, &s->even);
}

static void release_plan(scene *s)
{
    plan_draft_release(&s->plan);
    plan_draft_release(&s->even);
}

/* Each unit is in a domain of its node. */
static void check_fitted(const scene *s)
{
    ck_assert_int_eq(s->plan.kind, DIVISION_FITTED);
    ck_assert(s->plan.unit == UNIT && s->plan.units.count == UNITS);
    for (size_t u = 0; u < UNITS; u++)
        ck_assert_uint_eq(s->node_of_rank[s->plan.rank_of_domain[s->plan.units.domain[u]]],
                          s->node_of_unit[u]);
    ck_assert_int_eq(s->plan.crossing_bytes, 0);
    ck_assert_int_eq(s->even.crossing_bytes, UNITS * UNIT / 2);
    ck_assert(s->plan.hop_bytes < s->even.hop_bytes);
}

START_TEST(units_go_to_their_nodes)
{
    for (size_t stretch = 1; stretch < UNITS / 2; stretch *= 2) {
        scene s;
        set_scene(&s, (division_settings){.kind = DIVISION_FITTED, .aggregators = 2}, stretch);
        ck_assert_int_eq(make_plan(&s), 0);
        check_fitted(&s);
        ck_assert_int_eq(s.even.kind, DIVISION_EVEN);
        release_plan(&s);
    }
}
END_TEST

/* They cross as the others do, or by two hops. */
START_TEST(unlisted_bytes_cross)
{
    int64_t crossing[2];
    double hop_bytes[2];
    scene s;
    set_scene(&s, (division_settings){.kind = DIVISION_FITTED, .aggregators = 2}, 2);
    ck_assert_int_eq(make_plan(&s), 0);
    s.plan.c.unlisted = s.even.c.unlisted = matrix_of_values(1, 2, (int64_t[]){500, 500});
    const plan_draft *drafts[] = {&s.plan, &s.even};
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(
            plan_draft_assess(drafts[i], drafts[i]->rank_of_domain, &hop_bytes[i], &crossing[i]),
            0);
    ck_assert(crossing[0] == 1000 && hop_bytes[0] == s.plan.hop_bytes + 1000 * TOPO_OTHER_NODE);
    ck_assert_int_eq(crossing[1], UNITS * UNIT / 2 + 1000);
    ck_assert_double_eq_tol(hop_bytes[1] / s.even.hop_bytes, 1 + 1000 / (UNITS * UNIT / 2.), 1e-12);
    s.plan.c.unlisted.value[0] = INT64_MAX;
    ck_assert_int_eq(plan_draft_assess(&s.plan, s.plan.rank_of_domain, hop_bytes, crossing),
                     -ERANGE);
    s.even.c.unlisted = (matrix){0};
    release_plan(&s);
}
END_TEST

START_TEST(columns_stay_columns)
{
    scene s;
    set_scene(&s, (division_settings){.aggregators = 2, .stripe = UNIT, .targets = UNITS}, 2);
    ck_assert_int_eq(make_plan(&s), 0);
    check_fitted(&s);
    ck_assert(s.plan.units.columns);
    ck_assert_int_eq(s.even.kind, DIVISION_STRIPE);
    release_plan(&s);
}
END_TEST

/* With this number of units in each half that the node of the other half accesses, even domains
 * cost 28 + 2.25 * swapped hops a unit, and fitted ones at most 32. */
START_TEST(fitted_domains_have_to_pay)
{
    static const struct {
        division_kind kind;
        size_t swapped;
        bool too_many, pays;
    } expected[] = {
        {DIVISION_FITTED, 1, false, false}, {DIVISION_FITTED, 2, false, true},
        {DIVISION_AUTO, 2, false, false},   {DIVISION_AUTO, 3, false, true},
        {DIVISION_AUTO, 0, false, false},   {DIVISION_FITTED, 8, true, false},
        {DIVISION_EVEN, 8, false, false},   {DIVISION_STRIPE, 8, false, false},
    };
    for (size_t i = 0; i < LENGTH(expected); i++) {
        scene s;
        set_scene(&s, (division_settings){.kind = expected[i].kind, .aggregators = 2}, UNITS / 2);
        for (size_t u = 0; u < expected[i].swapped; u++) {
            s.node_of_unit[2 * u] = 1;
            s.node_of_unit[UNITS - 1 - 2 * u] = 0;
        }
        s.too_many = expected[i].too_many;
        ck_assert_int_eq(make_plan(&s), 0);
        ck_assert_int_eq(s.plan.kind, expected[i].pays ? DIVISION_FITTED : DIVISION_EVEN);
        ck_assert_int_eq(s.plan.units.domain != NULL, expected[i].pays);
        ck_assert_int_eq(s.even.rank_of_domain != NULL, expected[i].pays);
        const plan_draft *even = expected[i].pays ? &s.even : &s.plan;
        ck_assert(even->hop_bytes == UNIT * (28 + 2.25 * (double)expected[i].swapped));
        release_plan(&s);
    }
}
END_TEST

START_TEST(some_domains_cannot_be_fitted)
{
    const division_settings settings = {.aggregators = 2};
    scene s;
    set_scene(&s, settings, 1);
    ck_assert(s.planner.may_fit);
    s.planner.hi = 2 * UNIT;
    planner_start(&s.planner);
    ck_assert(!s.planner.may_fit); /* as many units as domains */
    set_scene(&s, settings, 1);
    s.ranks_on_node[0] = RANKS;
    s.ranks_on_node[1] = 0;
    planner_start(&s.planner);
    ck_assert(!s.planner.may_fit); /* one node */
}
END_TEST

static int make_and_release(void)
{
    scene s;
    set_scene(&s, (division_settings){.aggregators = 2}, 2);
    int rc = make_plan(&s);
    release_plan(&s);
    return rc;
}

START_TEST(errors_end_a_plan)
{
    fail_each_allocation(make_and_release());
    scene s;
    set_scene(&s, (division_settings){.aggregators = 2}, 2);
    s.error = 77;
    ck_assert_int_eq(make_plan(&s), 77);
    ck_assert(s.plan.rank_of_domain == NULL && s.even.rank_of_domain == NULL);
}
END_TEST

int main(void)
{
    return run_tests("planner", ONCE(units_go_to_their_nodes), ONCE(unlisted_bytes_cross),
                     ONCE(columns_stay_columns), ONCE(fitted_domains_have_to_pay),
                     ONCE(some_domains_cannot_be_fitted), ONCE(errors_end_a_plan));
}
