/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated annealing (Kirkpatrick, Gelatt, Vecchi, Science 220, 1983) for a smaller cut: ranks, or
 * groups of ranks, move to nodes of their neighbours, and what fits best there may take their
 * place. Single ranks may exceed the slots for a while, at a penalty. */
#include "base/processor.h"
#include "setmatch/annealing.h"

enum { STEPS_PER_TEMPERATURE = 64, MOST_SCANNED = 96 };

/* The first penalty for each rank beyond the slots, as a multiple of the first temperature. It
 * grows by one of PENALTY_PARTS parts as long as there are such ranks, and shrinks otherwise. */
enum { FIRST_PENALTY = 4, PENALTY_PARTS = 32, MOST_PENALTY = ANNEALING_NEVER / 8 };

/* Work in parts of a visit. A step takes longer the farther the edges are beyond the caches. */
enum { STEP = 14, EDGES_PER_PART = 8192, FIT = 12, LOOK_LANES = 2, CORRECT_ARC = 14 };

/* A vertex, the node that it is to move to, and what is to take its place; NO_VERTEX: nothing. */
struct move {
    vertex v, partner;
    size_t from, to;
    int32_t gain;  /* of weight */
    int64_t worth; /* the gain less penalties */
};

/* An end of a random edge between nodes, to the node of its other end. */
static inline struct move draw_move(annealing *a, uint64_t drawn)
{
    const vertex *end = a->end[a->listed[(drawn & UINT32_MAX) * a->cuts >> 32]];
    size_t which = drawn >> 63;
    a->work += STEP + a->edges / EDGES_PER_PART;
    return (struct move){
        .v = end[which], .from = a->node[end[which]], .to = a->node[end[1 - which]]};
}

/* ---- partners ---- */

/* The sizes of a group that may take the place of the moving one; 0: it may move alone. In a first
 * range of sizes both nodes keep about as many ranks as they have, in the mirrored range each has
 * about as many as the other had. */
struct fit {
    int32_t least, mirrored; /* the least size of each range */
    uint32_t width;          /* the greatest less the least */
};

static inline bool size_fits(const struct fit *f, int32_t size)
{
    return ((uint32_t)(size - f->least) <= f->width) | ((uint32_t)(size - f->mirrored) <= f->width);
}

/* Places of a node, a multiple of ANNEALING_LANES: what the move of the vertex there gains on the
 * other node, and loses, and its size. */
struct look {
    const int32_t *gained, *lost, *size;
    size_t first, count;
};

static inline int32_t greater(int32_t x, int32_t y)
{
    return x > y ? x : y;
}

static inline void fold_lanes(int32_t *lane, size_t half)
{
    for (size_t k = 0; k < half; k++)
        lane[k] = greater(lane[k], lane[k + half]);
}

static inline int32_t greatest_lane(int32_t *lane)
{
    _Static_assert(ANNEALING_LANES == 8, "two lanes are left");
    fold_lanes(lane, ANNEALING_LANES / 2);
    fold_lanes(lane, ANNEALING_LANES / 4);
    return greater(lane[0], lane[1]);
}

/* The greatest gain. */
FOR_EACH_PROCESSOR
static int32_t look_at_ranks(const int32_t *gained, const int32_t *lost, size_t count)
{
    int32_t lane[ANNEALING_LANES];
    for (size_t k = 0; k < ANNEALING_LANES; k++)
        lane[k] = -ANNEALING_NEVER;
    for (size_t at = 0; at < count; at += ANNEALING_LANES)
        for (size_t k = 0; k < ANNEALING_LANES; k++)
            lane[k] = greater(lane[k], gained[at + k] - lost[at + k]);
    return greatest_lane(lane);
}

/* The same of groups that fit. */
FOR_EACH_PROCESSOR
static int32_t look_at_groups(const int32_t *gained, const int32_t *lost, const int32_t *size,
                              size_t count, struct fit fit)
{
    int32_t lane[ANNEALING_LANES];
    for (size_t k = 0; k < ANNEALING_LANES; k++)
        lane[k] = -ANNEALING_NEVER;
    for (size_t at = 0; at < count; at += ANNEALING_LANES) {
        for (size_t k = 0; k < ANNEALING_LANES; k++) {
            int32_t gain = gained[at + k] - lost[at + k];
            lane[k] = greater(lane[k], size_fits(&fit, size[at + k]) ? gain : -ANNEALING_NEVER);
        }
    }
    return greatest_lane(lane);
}

static inline int32_t look_at(annealing *a, const struct look *l, const struct fit *fit)
{
    a->work += LOOK_LANES * l->count / ANNEALING_LANES;
    return a->grouped ? look_at_groups(l->gained, l->lost, l->size, l->count, *fit)
                      : look_at_ranks(l->gained, l->lost, l->count);
}

/* The places of node m->to, or some of them. */
static inline struct look begin_look(annealing *a, const struct move *m)
{
    size_t first = a->first[m->to], count = a->first[m->to + 1] - first;
    if (count > MOST_SCANNED) {
        size_t begins = (count - MOST_SCANNED) / ANNEALING_LANES + 1;
        first += ANNEALING_LANES * chance_below(begins, chance_draw(&a->chance), 0);
        count = MOST_SCANNED;
    }
    return (struct look){.gained = annealing_weight(a, m->from, first),
                         .lost = annealing_weight(a, m->to, first),
                         .size = a->size + first,
                         .first = first,
                         .count = count};
}

/* A vertex of this gain; begins at a random place. */
static vertex find_vertex(const annealing *a, const struct look *l, const struct fit *fit,
                          int32_t gain, uint64_t drawn)
{
    size_t at = chance_below(l->count, drawn, 0);
    while (l->gained[at] - l->lost[at] != gain || (a->grouped && !size_fits(fit, l->size[at])))
        at = at + 1 < l->count ? at + 1 : 0;
    return a->member[l->first + at];
}

/* The edges between v and vertices on node m->to stay cut by a swap: twice their weight is added
 * where the gain of these is read. */
static void correct_neighbours(const annealing *a, const struct move *m, int32_t sign)
{
    const affinity *g = a->ranks;
    int32_t *weight = annealing_weight(a, m->from, 0);
    for (size_t i = g->start[m->v]; i < g->start[m->v + 1]; i++)
        if (a->node[g->other[i]] == m->to)
            weight[a->place[g->other[i]]] += sign * 2 * a->value[i];
}

/* Adds the partner that gains most to the move, if that is worth more than `least`. A first look
 * ignores edges between v and its partner. */
static bool find_partner(annealing *a, struct move *m, const struct fit *fit, int32_t gain,
                         int64_t least)
{
    const struct look l = begin_look(a, m);
    if ((int64_t)gain + look_at(a, &l, fit) <= least)
        return false;
    correct_neighbours(a, m, -1);
    a->work += CORRECT_ARC * (a->ranks->start[m->v + 1] - a->ranks->start[m->v]);
    int32_t best = look_at(a, &l, fit);
    bool found = (int64_t)gain + best > least;
    if (found) {
        m->partner = find_vertex(a, &l, fit, best, chance_draw(&a->chance));
        m->gain = gain + best;
        m->worth = m->gain;
    }
    correct_neighbours(a, m, 1);
    return found;
}

static struct fit find_fit(annealing *a, const struct move *m)
{
    int32_t from = a->count[m->from], to = a->count[m->to];
    int32_t size = a->size[a->place[m->v]];
    int32_t given = annealing_most_given(a, from, to), taken = annealing_most_given(a, to, from);
    a->work += FIT;
    return (struct fit){.least = size - given,
                        .mirrored = size - taken - (from - to),
                        .width = (uint32_t)(given + taken)};
}

/* Without a partner; false: there is no place. */
static bool find_room(const annealing *a, struct move *m, const struct fit *fit, int32_t gain)
{
    int32_t excess =
        a->grouped ? !size_fits(fit, 0) : annealing_excess(a, a->count[m->from], a->count[m->to]);
    if (a->frees[m->to] == 0 || (a->strict && excess > 0))
        return false;
    m->partner = NO_VERTEX;
    m->gain = gain;
    m->worth = gain - (int64_t)excess * a->penalty;
    return true;
}

/* Chooses the better way to make the move; false: neither is worth more than `least`. */
static bool accept_move(annealing *a, struct move *m, int64_t least)
{
    int32_t gain = annealing_gain(a, a->place[m->v], m->from, m->to);
    const struct fit fit = a->grouped ? find_fit(a, m) : (struct fit){0};
    bool moves = find_room(a, m, &fit, gain) && m->worth > least;
    return find_partner(a, m, &fit, gain, moves ? m->worth : least) || moves;
}

/* ---- annealing ---- */

/* By how much the swap of random vertices increases the cut. */
static double mean_swap_cost(annealing *a)
{
    double sum = 0;
    for (size_t k = 0; k < CHANCE_SAMPLE; k++) {
        uint64_t drawn = chance_draw(&a->chance);
        size_t v = chance_below(a->ranks->vertices, drawn, 0);
        size_t w = chance_below(a->ranks->vertices, drawn, 1);
        int64_t gain = (int64_t)annealing_gain(a, a->place[v], a->node[v], a->node[w]) +
                       annealing_gain(a, a->place[w], a->node[w], a->node[v]);
        sum += gain < 0 ? -(double)gain : 0;
    }
    return sum / CHANCE_SAMPLE;
}

/* The penalty never becomes so small that it could not grow again. */
static void adapt_penalty(annealing *a)
{
    int64_t change = a->penalty / PENALTY_PARTS;
    a->penalty += a->excess > 0 ? change : -change;
    a->penalty = a->penalty < MOST_PENALTY ? a->penalty : MOST_PENALTY;
    a->penalty = a->penalty > PENALTY_PARTS ? a->penalty : PENALTY_PARTS;
}

/* Sets node[] if the placement gained more than the one that was kept. */
static void keep_placement(annealing *a, int64_t gained, int64_t *kept, size_t *node)
{
    if (gained <= *kept || a->excess > 0)
        return;
    annealing_copy(a, node);
    *kept = gained;
}

/* Replaces node[] by the best placement of a run that starts from it. The temperature falls to zero
 * as the work is done. */
static void run_annealing(annealing *a, double initial, size_t most_work, size_t *node)
{
    double temperature = 0;
    int64_t gained = 0, kept = 0;
    a->penalty = (int64_t)(FIRST_PENALTY * initial);
    for (size_t k = 0; a->work < most_work && a->cuts > 0; k++) {
        if (k % STEPS_PER_TEMPERATURE == 0) {
            temperature = initial * (1 - (double)a->work / (double)most_work);
            adapt_penalty(a);
        }
        uint64_t drawn = chance_draw(&a->chance);
        struct move m = draw_move(a, drawn);
        if (!accept_move(a, &m, -(int64_t)chance_loss(&a->chance, drawn, temperature)))
            continue;
        if (m.gain < 0 || m.worth < m.gain)
            keep_placement(a, gained, &kept, node);
        annealing_swap(a, m.v, m.to, m.partner);
        gained += m.gain;
    }
    keep_placement(a, gained, &kept, node);
}

int anneal_placement(const affinity *ranks, const site *s, const annealing_run *run, size_t *node,
                     size_t *work)
{
    annealing a;
    int rc = annealing_init(&a, ranks, s, run, node);
    if (rc == 0) {
        run_annealing(&a, chance_initial_share(run->variant) * mean_swap_cost(&a),
                      ANNEALING_PARTS * run->most_work, node);
        *work += a.work / ANNEALING_PARTS;
    }
    annealing_release(&a);
    return rc;
}
