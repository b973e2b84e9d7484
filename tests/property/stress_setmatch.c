/* SPDX-License-Identifier: BSD-3-Clause */
/* Property test of the placement methods: random views and profiles on random nodes, placed by
 * every method. No node exceeds its slots, refinement and method auto never increase the cut, and
 * storage and numbering make no difference. */
#include "setmatch/profile.h"
#include "setmatch/setmatch.h"

#include "../unit/seeded.h"
#include "options.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 96, MOST_NODES = 24, MOST_BINS = 40, SMALL_RANKS = 8, SMALL_NODES = 3 };

struct instance {
    size_t n, nodes, bins;
    int64_t value[MOST_RANKS][MOST_RANKS]; /* upper triangle */
    size_t slots[MOST_NODES];
    size_t group[2 * MOST_NODES]; /* of two levels, once all nodes are there */
    matrix view, bytes;
    size_t placed[MOST_RANKS]; /* by method auto; set by check_methods */
};

/* ---- construction ---- */

static void set(struct instance *in, size_t a, size_t b, int64_t value)
{
    if (a < b)
        in->value[a][b] = value;
    else if (b < a)
        in->value[b][a] = value;
}

static void make_pairs(struct instance *in, uint64_t *state, int64_t least, int64_t most)
{
    int64_t pairs = pick(state, 0, (int64_t)(3 * in->n));
    for (int64_t k = 0; k < pairs; k++) {
        size_t a = next_random(state) % in->n, b = next_random(state) % in->n;
        set(in, a, b, pick(state, least, most));
    }
}

static void make_random(struct instance *in, uint64_t *state)
{
    make_pairs(in, state, 1, 100);
}

static void make_equal(struct instance *in, uint64_t *state)
{
    make_pairs(in, state, 7, 7);
}

static void make_grid(struct instance *in, uint64_t *state)
{
    size_t width = (size_t)pick(state, 2, 8);
    int64_t along = pick(state, 1, 50), across = pick(state, 1, 50);
    for (size_t a = 0; a < in->n; a++) {
        if ((a + 1) % width != 0 && a + 1 < in->n)
            set(in, a, a + 1, along);
        if (a + width < in->n)
            set(in, a, a + width, across);
    }
}

static void make_paths(struct instance *in, uint64_t *state)
{
    size_t stride = (size_t)pick(state, 1, 5);
    for (size_t a = 0; a + stride < in->n; a++)
        set(in, a, a + stride, next_random(state) % 6 == 0 ? 1 : 20);
}

static void make_clusters(struct instance *in, uint64_t *state)
{
    size_t sets = (size_t)pick(state, 2, 6);
    for (size_t a = 0; a < in->n; a++)
        for (size_t b = a + 1; b < in->n; b++)
            if (a % sets == b % sets || next_random(state) % 20 == 0)
                set(in, a, b, pick(state, 1, 30));
}

static void make_blocks(struct instance *in, uint64_t *state)
{
    size_t block = (size_t)pick(state, 2, 9);
    for (size_t a = 0; a < in->n; a++)
        for (size_t b = a + 1; b < in->n && b / block == a / block; b++)
            set(in, a, b, 5);
}

static const struct kind {
    const char *name;
    void (*make)(struct instance *in, uint64_t *state);
    bool small;  /* few ranks and nodes */
    bool uneven; /* slots */
    bool loose;  /* more slots than ranks */
} kinds[] = {
    {"random", make_random, false, false, false},
    {"random, uneven slots", make_random, false, true, true},
    {"equal values", make_equal, false, false, true},
    {"grids", make_grid, false, false, false},
    {"grids, uneven slots", make_grid, false, true, false},
    {"paths", make_paths, false, true, false},
    {"clusters", make_clusters, false, false, false},
    {"clusters, more nodes", make_clusters, false, true, true},
    {"blocks", make_blocks, false, false, false},
    {"small, random", make_random, true, true, false},
    {"small, equal", make_equal, true, false, false},
    {"small, clusters", make_clusters, true, true, true},
    {"small, grids", make_grid, true, false, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* In steps, so that the numbers of ranks and nodes are consistent. */
static void make_nodes(struct instance *in, const struct kind *kind, uint64_t *state)
{
    size_t wanted = in->n + (kind->loose ? (size_t)pick(state, 0, 20) : 0), total = 0;
    size_t most = kind->small ? SMALL_NODES : MOST_NODES;
    size_t each = wanted / (size_t)pick(state, 1, (int64_t)most) + 1;
    for (in->nodes = 0; total < wanted && in->nodes < most; in->nodes++) {
        size_t slots = kind->uneven ? (size_t)pick(state, 0, 2 * (int64_t)each) : each;
        in->slots[in->nodes] = slots;
        in->group[in->nodes] = next_random(state) % 3;
        total += slots;
    }
    if (total < in->n)
        in->slots[in->nodes - 1] += in->n - total;
    for (size_t k = 0; k < in->nodes; k++)
        in->group[in->nodes + k] = in->group[k] / 2;
}

static matrix finish(matrix_builder *b)
{
    matrix m;
    if (matrix_builder_finish(b, &m) != 0)
        abort();
    matrix_builder_clear(b);
    return m;
}

/* Form 0: upper triangle; 1: lower; 2: half in each. Entries are in any order. */
static matrix make_view(const struct instance *in, int form, uint64_t *state)
{
    matrix_builder b = {.rows = in->n, .cols = in->n};
    size_t turn = next_random(state) % in->n;
    for (size_t k = 0; k < in->n; k++) {
        size_t i = (k + turn) % in->n;
        for (size_t j = i + 1; j < in->n; j++) {
            int64_t value = in->value[i][j];
            if (value == 0)
                continue;
            if (form != 1)
                matrix_builder_add(&b, i, j, form == 2 ? value : 2 * value);
            if (form != 0)
                matrix_builder_add(&b, j, i, form == 2 ? value : 2 * value);
        }
    }
    return finish(&b);
}

static matrix make_bytes(const struct instance *in, uint64_t *state)
{
    matrix_builder b = {.rows = in->n, .cols = in->bins};
    int64_t entries = pick(state, 0, (int64_t)(2 * (in->n + in->bins)));
    for (int64_t k = 0; k < entries; k++)
        matrix_builder_add(&b, next_random(state) % in->n, next_random(state) % in->bins,
                           pick(state, 1, 5000));
    return finish(&b);
}

static void make_instance(struct instance *in, const struct kind *kind, uint64_t seed)
{
    uint64_t state = seed;
    memset(in, 0, sizeof *in);
    in->n = (size_t)pick(&state, 1, kind->small ? SMALL_RANKS : MOST_RANKS);
    in->bins = (size_t)pick(&state, 1, MOST_BINS);
    kind->make(in, &state);
    make_nodes(in, kind, &state);
    in->view = make_view(in, 2, &state);
    in->bytes = make_bytes(in, &state);
}

/* ---- models ---- */

static int64_t cut_of(const struct instance *in, const size_t *node)
{
    int64_t cut = 0;
    for (size_t i = 0; i < in->n; i++)
        for (size_t j = i + 1; j < in->n; j++)
            cut += node[i] != node[j] ? in->value[i][j] : 0;
    return cut;
}

static bool obeys_slots(const struct instance *in, const size_t *node)
{
    size_t used[MOST_NODES] = {0};
    for (size_t i = 0; i < in->n; i++)
        if (node[i] >= in->nodes || ++used[node[i]] > in->slots[node[i]])
            return false;
    return true;
}

/* The same sets of ranks, whatever the numbers of their nodes. */
static bool same_sets(size_t n, const size_t *a, const size_t *b)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if ((a[i] == a[j]) != (b[i] == b[j]))
                return false;
    return true;
}

/* ---- properties: what is wrong, or NULL ---- */

static setmatch_input input_of(const struct instance *in, bool refine)
{
    return (setmatch_input){
        .view = &in->view, .slots = in->slots, .nodes = in->nodes, .refine = refine};
}

static const char *check_methods(struct instance *in)
{
    static char reason[80];
    size_t node[MOST_RANKS], refined[MOST_RANKS], again[MOST_RANKS];
    setmatch_input plain = input_of(in, false), with = input_of(in, true);
    for (const setmatch_method *m = setmatch_methods; m->name != NULL; m++) {
        snprintf(reason, sizeof reason, "%s", m->name);
        if (m->place(&plain, node) != 0 || m->place(&with, refined) != 0 ||
            m->place(&with, again) != 0)
            return reason;
        if (!obeys_slots(in, node) || !obeys_slots(in, refined))
            return strcat(reason, ": slots");
        if (cut_of(in, refined) > cut_of(in, node))
            return strcat(reason, ": refinement made it worse");
        if (memcmp(refined, again, in->n * sizeof *again) != 0)
            return strcat(reason, ": another answer the second time");
        if (m == setmatch_methods)
            memcpy(in->placed, refined, in->n * sizeof *refined);
    }
    return NULL;
}

static const char *check_storage(const struct instance *in, uint64_t *state)
{
    size_t first[MOST_RANKS], other[MOST_RANKS];
    for (const setmatch_method *m = setmatch_methods; m->name != NULL; m++) {
        setmatch_input input = input_of(in, true);
        if (m->place(&input, first) != 0)
            return m->name;
        for (int form = 0; form < 2; form++) {
            matrix view = make_view(in, form, state);
            input.view = &view;
            int rc = m->place(&input, other);
            matrix_release(&view);
            if (rc != 0 || memcmp(first, other, in->n * sizeof *first) != 0)
                return "how the view is stored makes a difference";
        }
    }
    return NULL;
}

/* Nodes of equal slots in another order, with one of no slots among them. */
static const char *check_node_names(const struct instance *in)
{
    size_t slots[MOST_NODES + 1], other[MOST_RANKS];
    setmatch_input input = input_of(in, true);
    slots[0] = 0;
    for (size_t k = 0; k < in->nodes; k++)
        slots[in->nodes - k] = in->slots[k];
    input.slots = slots;
    input.nodes++;
    if (setmatch_auto(&input, other) != 0 || !same_sets(in->n, in->placed, other))
        return "the order of equal nodes makes a difference";
    return NULL;
}

static const char *check_groups(const struct instance *in)
{
    size_t grouped[MOST_RANKS];
    setmatch_input input = input_of(in, true);
    const setmatch_network network = {2, (size_t *)in->group, NULL};
    input.network = &network;
    return setmatch_auto(&input, grouped) == 0 && obeys_slots(in, grouped) ? NULL
                                                                           : "auto among groups";
}

static const char *check_profile(const struct instance *in)
{
    const setmatch_profile profile = {1, &in->bytes};
    size_t node[MOST_RANKS], owner[MOST_BINS];
    int64_t local_bytes[2], total;
    for (int k = 0; k < 2; k++) {
        setmatch_input input = input_of(in, true);
        input.profile = &profile;
        input.objective = k == 0 ? SETMATCH_OBJECTIVE_NEIGHBOURS : SETMATCH_OBJECTIVE_AUTO;
        if (setmatch_auto(&input, node) != 0 || !obeys_slots(in, node))
            return "auto with a profile";
        if (owners_find(&profile, in->nodes, node, owner, &local_bytes[k]) != 0)
            return "owners";
    }
    if (matrix_sum(&in->bytes, &total) != 0 || local_bytes[1] < local_bytes[0] ||
        local_bytes[0] < 0 || local_bytes[1] > total)
        return "more crosses with the profile than without";
    return NULL;
}

/* Ranks to nodes by the bytes in bins. */
static const char *check_transport(const struct instance *in, uint64_t *state)
{
    size_t node[MOST_RANKS], owner[3 * MOST_RANKS];
    matrix_builder b = {.rows = in->n, .cols = 3 * in->n};
    for (size_t i = 0; i < 3 * in->n; i++) {
        owner[i] = next_random(state) % in->nodes;
        matrix_builder_add(&b, i / 3, i, pick(state, 0, 400));
    }
    matrix bytes = finish(&b);
    const setmatch_profile profile = {1, &bytes};
    int rc = owners_follow(&profile, in->nodes, in->slots, owner, node);
    matrix_release(&bytes);
    return rc == 0 && obeys_slots(in, node) ? NULL : "transport failed";
}

static const char *name_of(int kind)
{
    return kinds[kind].name;
}

static const char *find_fault(struct instance *in, const struct kind *kind, uint64_t seed)
{
    uint64_t state = seed + 99;
    const char *reason = check_methods(in);
    if (reason == NULL)
        reason = check_storage(in, &state);
    if (reason == NULL && !kind->uneven)
        reason = check_node_names(in);
    if (reason == NULL)
        reason = check_groups(in);
    if (reason == NULL)
        reason = check_profile(in);
    if (reason == NULL)
        reason = check_transport(in, &state);
    return reason;
}

static const char *check_instance(int kind, uint64_t seed)
{
    static struct instance in;
    make_instance(&in, &kinds[kind], seed);
    const char *fault = find_fault(&in, &kinds[kind], seed);
    matrix_release(&in.view);
    matrix_release(&in.bytes);
    return fault;
}

int main(int argc, char **argv)
{
    static const struct property property = {
        "Places random ranks on random nodes by every method, and checks the placements.", 39,
        KINDS, name_of, check_instance};
    return check_property(argc, argv, &property);
}
