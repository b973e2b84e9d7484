/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of files without data: the candidates of patterns that are known, and the choice among
 * them against all assignments of small cases, byte by byte. */
#include "plan/layouts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "edges.h"
#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

enum { KiB = 1 << 10, MiB = 1 << 20 };

/* ---- candidates ---- */

static const file_striping_limits ceph = {64 * KiB, 4 * MiB, 64 * MiB, 4};

/* Nodes access so many MiB in turn, of a file of that length. */
static void list_turns(int64_t turn, size_t nodes, int64_t length,
                       const file_striping_limits *limits, file_striping **list, size_t *count)
{
    const pieces units = pieces_cut(0, length * MiB, 0, 256 * KiB);
    matrix_builder builder = {.rows = units.count, .cols = nodes};
    for (size_t u = 0; u < units.count; u++)
        add_entry(&builder, u, u / (size_t)(4 * turn) % nodes, units.unit);
    matrix bytes = finish_matrix(&builder);
    ck_assert_int_eq(layouts_list(&units, &bytes, limits, list, count), 0);
    matrix_release(&bytes);
}

static bool is_same(const file_striping *a, const file_striping *b)
{
    return a->unit == b->unit && a->object == b->object && a->count == b->count;
}

/* How often that striping is a candidate. */
static size_t count_listed(int64_t turn, size_t nodes, int64_t length,
                           const file_striping_limits *limits, file_striping striping)
{
    file_striping *list;
    size_t count, found = 0;
    list_turns(turn, nodes, length, limits, &list, &count);
    for (size_t k = 0; k < count; k++)
        found += is_same(&list[k], &striping);
    free(list);
    return found;
}

/* Each of four nodes has a quarter. */
START_TEST(quarters)
{
    file_striping *list;
    size_t count, at = 0;
    list_turns(32, 4, 128, &ceph, &list, &count);
    for (int64_t unit = 4 * MiB; unit <= 64 * MiB; unit *= 2) {
        ck_assert(at < count && is_same(&list[at], &(file_striping){unit, unit, 1}));
        at++;
        for (size_t turn = 2; turn <= 4; turn++)
            for (int64_t object = 64 * MiB; object > unit && object >= 32 * MiB; object /= 2, at++)
                ck_assert(at < count && is_same(&list[at], &(file_striping){unit, object, turn}));
    }
    ck_assert_uint_eq(count, at);
    free(list);
}
END_TEST

/* What a node has in one piece is longer than an object: it is cut evenly. */
START_TEST(long_stretches)
{
    const file_striping even = {50 * MiB, 50 * MiB, 1};
    ck_assert_uint_eq(count_listed(100, 2, 200, &ceph, even), 1);
}
END_TEST

/* As many objects as there are nodes, where these come in turn. */
START_TEST(many_in_turn)
{
    const file_striping_limits many = {64 * KiB, 4 * MiB, 64 * MiB, 16};
    for (size_t nodes = 2; nodes <= 20; nodes++) {
        const file_striping in_turn = {MiB, 64 * MiB, nodes};
        ck_assert_uint_eq(count_listed(1, nodes, 100, &many, in_turn), nodes <= 16);
    }
}
END_TEST

START_TEST(nobody_accesses_anything)
{
    const pieces units = pieces_cut(0, 10, 0, 1);
    matrix_builder nothing = {.rows = units.count, .cols = 3};
    matrix bytes = finish_matrix(&nothing);
    file_striping *list = &(file_striping){0};
    size_t count = 1;
    ck_assert_int_eq(layouts_list(&units, &bytes, &ceph, &list, &count), 0);
    ck_assert_ptr_null(list);
    ck_assert_uint_eq(count, 0);
    matrix_release(&bytes);
}
END_TEST

/* Every candidate is one that the file system takes, and none is there twice. */
START_TEST(candidates_are_possible)
{
    for_random_seeds (seed, 500) {
        uint64_t state = seed;
        const int64_t grain = pick(&state, 1, 5);
        const file_striping_limits limits = {
            grain, pick(&state, 1, 20), grain * pick(&state, 4, 40), (size_t)pick(&state, 1, 12)};
        const pieces units = pieces_cut(pick(&state, 0, 50), pick(&state, 51, 400), 0, 1);
        matrix_builder builder = {.rows = units.count, .cols = 5};
        file_striping *list;
        size_t count, node = 0;
        const int64_t most = pick(&state, 1, 30);
        for (size_t u = 0; u < units.count; u++) {
            node = pick(&state, 0, most) == 0 ? (size_t)pick(&state, 0, 4) : node;
            add_entry(&builder, u, node, pick(&state, 0, 2));
        }
        matrix bytes = finish_matrix(&builder);
        ck_assert_int_eq(layouts_list(&units, &bytes, &limits, &list, &count), 0);
        for (size_t k = 0; k < count; k++) {
            const file_striping *s = &list[k];
            ck_assert_msg(s->unit > 0 && s->unit % limits.grain == 0 && s->object % s->unit == 0 &&
                              s->object >= limits.least_object && s->object <= limits.most_object &&
                              s->count > 0 && s->count <= limits.targets,
                          "seed %llu", (unsigned long long)seed);
            for (size_t i = 0; i < k; i++)
                ck_assert_msg(!is_same(&list[i], s), "seed %llu", (unsigned long long)seed);
        }
        free(list);
        matrix_release(&bytes);
    }
}
END_TEST

/* ---- choice ---- */

enum { RANKS = 4, NODES = 3, OBJECTS = 12, BYTES = 40, MOST_DOMAINS = 3, CANDIDATES = 30 };

/* A file whose every byte one rank accesses, or none. */
struct scene {
    int64_t lo, hi;
    size_t rank_of_byte[BYTES]; /* RANKS: none */
    size_t node_of_rank[RANKS], domains;
    size_t node_of_object[OBJECTS]; /* of later ones none is known */
    double hops[NODES][NODES];
    file_striping present, candidate[CANDIDATES];
    topo topology;
    file_domains division;
    matrix requests, node_bytes;
    plan_input problem;
    layouts_servers servers;
    layouts_input in;
};

static file_striping random_striping(uint64_t *state)
{
    int64_t unit = pick(state, 1, 8);
    return (file_striping){unit, unit * pick(state, 1, 4), (size_t)pick(state, 1, 3)};
}

static void build_matrices(struct scene *s)
{
    matrix_builder builder = {.rows = RANKS, .cols = s->domains};
    size_t near = 0;
    for (int64_t at = s->lo; at < s->hi; at++)
        if (s->rank_of_byte[at] < RANKS)
            add_entry(&builder, s->rank_of_byte[at],
                      domains_range_at(&s->division, at, &near).domain, 1);
    s->requests = finish_matrix(&builder);
    ck_assert_int_eq(matrix_sum_rows(&s->node_bytes, &s->requests, s->node_of_rank, NODES), 0);
}

/* OBJECTS or more: not known. */
static size_t object_of(const file_striping *s, int64_t at)
{
    int64_t unit = at / s->unit, count = (int64_t)s->count;
    return (size_t)(unit / (s->object / s->unit * count) * count + unit % count);
}

/* -1: not known of all bytes. */
static int64_t most_on_node(const struct scene *s, const file_striping *striping)
{
    int64_t on_node[NODES] = {0}, most = 0;
    for (int64_t at = s->lo; at < s->hi; at++) {
        size_t object = object_of(striping, at);
        if (object >= OBJECTS)
            return -1;
        on_node[s->node_of_object[object]]++;
    }
    for (size_t n = 0; n < NODES; n++)
        most = on_node[n] > most ? on_node[n] : most;
    return most;
}

static int find_stored(const void *context, const file_striping *striping,
                       const file_domains *domains, const matrix *node_bytes,
                       layouts_stored *stored)
{
    const struct scene *s = context;
    const file_striping *asked = striping != NULL ? striping : &s->present;
    matrix_builder builder = {.rows = node_bytes->rows, .cols = domains->count};
    size_t near = 0;
    int rc = 0;
    stored->most = most_on_node(s, asked);
    if (stored->most < 0)
        return -ENOENT;
    for (int64_t at = domains->lo; at < domains->hi && rc == 0; at++)
        rc = matrix_builder_add(&builder, s->node_of_object[object_of(asked, at)],
                                domains_range_at(domains, at, &near).domain, 1);
    if (rc == 0)
        rc = matrix_builder_finish(&builder, &stored->bytes);
    matrix_builder_clear(&builder);
    return rc;
}

static void set_scene(struct scene *s, uint64_t seed)
{
    uint64_t state = seed;
    double hops[NODES * NODES];
    memset(s, 0, sizeof *s);
    s->lo = pick(&state, 0, 5);
    s->hi = pick(&state, 12, BYTES);
    s->domains = (size_t)pick(&state, 1, MOST_DOMAINS);
    for (size_t k = 0; k < RANKS; k++)
        s->node_of_rank[k] = (size_t)pick(&state, 0, NODES - 1);
    const int64_t stretch = pick(&state, 1, 9);
    for (size_t at = 0; at < BYTES; at++)
        s->rank_of_byte[at] =
            at % (size_t)stretch > 0 ? s->rank_of_byte[at - 1] : (size_t)pick(&state, 0, RANKS);
    for (size_t k = 0; k < OBJECTS; k++)
        s->node_of_object[k] = (size_t)pick(&state, 0, NODES - 1);
    for (size_t n = 0; n < NODES; n++)
        for (size_t m = 0; m <= n; m++)
            s->hops[n][m] = s->hops[m][n] = n == m ? 1.0 : (double)pick(&state, 1, 6);
    for (size_t k = 0; k < CANDIDATES; k++)
        s->candidate[k] = random_striping(&state);
    s->present = (file_striping){4, 4, 1};
    memcpy(hops, s->hops, sizeof hops);
    ck_assert_int_eq(topo_from_hops(&s->topology, NODES, hops), 0);
    ck_assert_int_eq(domains_even(&s->division, s->lo, s->hi, s->domains, 1), 0);
    build_matrices(s);
    s->problem = (plan_input){.requests = &s->requests,
                              .node_bytes = &s->node_bytes,
                              .node_of_rank = s->node_of_rank,
                              .topology = &s->topology,
                              .storage_weight = pick(&state, 1, 3)};
    s->servers = (layouts_servers){find_stored, s, NODES};
    s->in = (layouts_input){.problem = &s->problem,
                            .strategy = plan_find_strategy("tatp"),
                            .solver = &lap_solvers[0],
                            .domains = &s->division,
                            .servers = &s->servers};
}

static void release_scene(struct scene *s)
{
    topo_release(&s->topology);
    domains_release(&s->division);
    matrix_release(&s->requests);
    matrix_release(&s->node_bytes);
}

/* ---- the model ---- */

/* Of an assignment of domains to ranks with a striping, byte by byte. */
static double model_cost(const struct scene *s, const file_striping *striping, const size_t *owner)
{
    double sum = 0.0;
    size_t near = 0;
    for (int64_t at = s->lo; at < s->hi; at++) {
        size_t to = owner[domains_range_at(&s->division, at, &near).domain];
        size_t from = s->rank_of_byte[at], node = s->node_of_rank[to];
        if (from < RANKS && from != to)
            sum += s->hops[s->node_of_rank[from]][node];
        sum += (double)s->problem.storage_weight *
               s->hops[s->node_of_object[object_of(striping, at)]][node];
    }
    return sum;
}

static double model_least(const struct scene *s, const file_striping *striping)
{
    double least = INFINITY;
    for (size_t code = 0; code < RANKS * RANKS * RANKS; code++) {
        const size_t owner[] = {code % RANKS, code / RANKS % RANKS, code / RANKS / RANKS};
        bool distinct = true;
        for (size_t j = 0; j < s->domains; j++)
            for (size_t i = 0; i < j; i++)
                distinct = distinct && owner[i] != owner[j];
        if (distinct)
            least = fmin(least, model_cost(s, striping, owner));
    }
    return least;
}

/* The candidate that is to be chosen; CANDIDATES: none. */
static size_t model_choice(const struct scene *s, double present)
{
    int64_t limit = most_on_node(s, &s->present), share = 2 * ((s->hi - s->lo) / NODES + 1);
    size_t best = CANDIDATES;
    double least = present * (1.0 - LAYOUTS_LEAST_SAVING);
    limit = limit > share ? limit : share;
    for (size_t k = 0; k < CANDIDATES; k++) {
        int64_t most = most_on_node(s, &s->candidate[k]);
        if (most < 0 || most > limit || model_least(s, &s->candidate[k]) >= least)
            continue;
        best = k;
        least = model_least(s, &s->candidate[k]);
    }
    return best;
}

START_TEST(choice_is_the_least)
{
    size_t changes = 0, cases = 0;
    for_random_seeds (seed, 500) {
        struct scene s;
        layouts_choice choice;
        set_scene(&s, seed);
        double present = model_least(&s, &s.present);
        size_t expected = model_choice(&s, present);
        ck_assert_int_eq(layouts_choose(&s.in, s.candidate, CANDIDATES, &choice), 0);
        ck_assert_msg(choice.present.hop_bytes == present, "seed %llu: %g, not %g",
                      (unsigned long long)seed, choice.present.hop_bytes, present);
        ck_assert_msg(choice.changes == (expected < CANDIDATES), "seed %llu",
                      (unsigned long long)seed);
        if (choice.changes) {
            ck_assert_msg(is_same(&choice.striping, &s.candidate[expected]), "seed %llu",
                          (unsigned long long)seed);
            ck_assert(choice.better.hop_bytes == model_least(&s, &choice.striping));
            changes++;
        }
        cases++;
        release_scene(&s);
    }
    ck_assert(changes > 0 && (changes < cases || cases < 100));
}
END_TEST

/* All bytes cross between two nodes, on both ways, or none do. */
START_TEST(crossing_bytes)
{
    struct scene s;
    layouts_choice choice;
    set_scene(&s, 1);
    s.servers.targets = 0;
    for (size_t k = 0; k < RANKS; k++)
        s.node_of_rank[k] = 0;
    matrix_release(&s.node_bytes);
    ck_assert_int_eq(matrix_sum_rows(&s.node_bytes, &s.requests, s.node_of_rank, NODES), 0);
    s.problem.storage_weight = 1;
    for (size_t k = 0; k < OBJECTS; k++)
        s.node_of_object[k] = k > 0;
    s.present = (file_striping){1, BYTES, 2};
    s.candidate[0] = (file_striping){BYTES, BYTES, 1};
    ck_assert_int_eq(layouts_choose(&s.in, s.candidate, 1, &choice), 0);
    ck_assert(!choice.changes);
    ck_assert_int_eq(choice.present.crossing_bytes, s.hi / 2 - s.lo / 2);
    s.present = (file_striping){BYTES, BYTES, 1};
    ck_assert_int_eq(layouts_choose(&s.in, NULL, 0, &choice), 0);
    ck_assert_int_eq(choice.present.crossing_bytes, 0);
    release_scene(&s);
}
END_TEST

/* Nodes access bytes in turn, and objects are on nodes in turn: fitted domains leave all bytes
 * where they are if stripes have one byte; with even domains most bytes move in any case. */
START_TEST(fitted_domains)
{
    enum { TURNS = 8 };
    const division_settings settings = {.kind = DIVISION_FITTED};
    struct scene s;
    layouts_choice choice;
    set_scene(&s, 1);
    release_scene(&s);
    s.lo = 0;
    s.hi = NODES * TURNS;
    s.domains = NODES;
    for (size_t k = 0; k < OBJECTS; k++)
        s.node_of_object[k] = k % NODES;
    for (size_t k = 0; k < RANKS; k++)
        s.node_of_rank[k] = k % NODES;
    for (size_t at = 0; at < BYTES; at++)
        s.rank_of_byte[at] = at % NODES;
    topo_flat(&s.topology, NODES);
    ck_assert_int_eq(domains_even(&s.division, s.lo, s.hi, s.domains, 1), 0);
    build_matrices(&s);
    s.problem.storage_weight = 1;
    s.candidate[0] = (file_striping){8, 8, 1};
    s.candidate[1] = (file_striping){1, BYTES, NODES};
    const pieces units = pieces_cut(s.lo, s.hi, 0, 1);
    matrix_builder builder = {.rows = units.count, .cols = NODES};
    for (size_t u = 0; u < units.count; u++)
        add_entry(&builder, u, s.rank_of_byte[u], 1);
    matrix bytes = finish_matrix(&builder);
    ck_assert_int_eq(layouts_choose(&s.in, s.candidate, 2, &choice), 0);
    ck_assert(choice.changes && choice.striping.unit == 8);
    s.in.smallest = &units;
    s.in.bytes = &bytes;
    s.in.settings = &settings;
    ck_assert_int_eq(layouts_choose(&s.in, s.candidate, 2, &choice), 0);
    ck_assert(choice.changes && choice.striping.unit == 1);
    ck_assert(choice.better.hop_bytes == 2.0 * (double)s.hi);
    ck_assert_int_eq(choice.better.crossing_bytes, 0);
    matrix_release(&bytes);
    release_scene(&s);
}
END_TEST

START_TEST(present_layout_is_not_known)
{
    struct scene s;
    layouts_choice choice;
    set_scene(&s, 3);
    s.present = (file_striping){1, 1, 1};
    ck_assert_int_eq(layouts_choose(&s.in, s.candidate, CANDIDATES, &choice), -ENOENT);
    release_scene(&s);
}
END_TEST

/* ---- no memory ---- */

static int list_candidates(const void *context)
{
    const pieces units = pieces_cut(0, 128 * MiB, 0, 32 * MiB);
    file_striping *list = NULL;
    size_t count;
    int rc = layouts_list(&units, context, &ceph, &list, &count);
    free(list);
    return rc;
}

START_TEST(no_memory_to_list)
{
    matrix_entry entry[] = {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {3, 0, 1}};
    matrix bytes;
    ck_assert_int_eq(matrix_from_entries(&bytes, 4, 3, entry, 4), 0);
    fail_each_allocation(list_candidates, &bytes);
    matrix_release(&bytes);
}
END_TEST

static int choose_of_two(const void *context)
{
    const struct scene *s = context;
    layouts_choice choice;
    return layouts_choose(&s->in, s->candidate, 2, &choice);
}

START_TEST(no_memory_to_choose)
{
    struct scene s;
    set_scene(&s, 5);
    fail_each_allocation(choose_of_two, &s);
    release_scene(&s);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layouts");
    TCase *cases = tcase_create("layouts");
    tcase_set_timeout(cases, 300);
    add_tests(cases, quarters, long_stretches, many_in_turn, nobody_accesses_anything,
              candidates_are_possible, no_memory_to_list, choice_is_the_least, crossing_bytes,
              fitted_domains, present_layout_is_not_known, no_memory_to_choose);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
