/* SPDX-License-Identifier: BSD-3-Clause */
/* The best of several candidate placements. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "setmatch/candidates.h"
#include "setmatch/mix.h"
#include "setmatch/setmatch.h"

/* Rounds of pairwise refinement; with very many ranks the later ones gain little. */
enum { ROUNDS = 6, ROUNDS_OF_MANY = 2, MANY_RANKS = 200000 };

/* Best placements that are refined; more than two only until refinement has visited each rank this
 * number of times on average. */
enum { FINALISTS = 5, WORK_PER_RANK = 60 };

/* With few ranks the search continues until refinement has done this work (visits of ranks), or the
 * least cut has been found again CERTAIN times (CERTAIN_AT_ONCE: by the candidates alone). A
 * quarter of the work if annealing follows. */
enum {
    FEW_RANKS = 256,
    ANNEALED_RANKS = 128,
    WORK_OF_FEW = 40000,
    MOST_WORK_OF_FEW = 64000, /* of ranks with few neighbours, where a visit is cheaper */
    VARIANTS = 1000,
    CERTAIN = 5,
    CERTAIN_AT_ONCE = 2,
    KICKED_PAIRS = 2
};

struct task {
    const affinity *ranks;
    const site *site;
    unsigned threshold;
    bool refine;
};

int refine_placement(const affinity *ranks, const site *s, size_t *node, size_t *work)
{
    return refine_pairs(ranks, s, ranks->vertices > MANY_RANKS ? ROUNDS_OF_MANY : ROUNDS, NULL,
                        node, work);
}

/* ---- candidates ---- */

/* The earlier one wins a tie. */
static const struct {
    place_fn place;
    size_t max_ranks;
} candidates[] = {
    {place_by_sets, SIZE_MAX},
    {place_by_slot, SIZE_MAX},
    {place_levelled, SIZE_MAX},
    {place_bisected, SETMATCH_BISECTION_RANKS},
    {place_agglomerative, SETMATCH_BISECTION_RANKS},
};

enum { CANDIDATES = sizeof candidates / sizeof candidates[0] };

/* The best placements so far, the least cut first, the earlier one on a tie. */
struct contest {
    const struct task *task;
    struct base_arena arena;
    size_t *node[FINALISTS + 1]; /* the last one is a trial */
    int64_t cut[FINALISTS + 1];
    size_t work;      /* of refinement so far */
    size_t confirmed; /* number of times that the least cut was found again */
    bool *touched;    /* by node: a kick has moved ranks there */
};

static int contest_init(struct contest *c, const struct task *task)
{
    *c = (struct contest){.task = task};
    c->touched = base_arena_alloc(&c->arena, task->site->listed, sizeof *c->touched);
    for (size_t k = 0; k <= FINALISTS; k++) {
        c->node[k] = base_arena_alloc(&c->arena, task->ranks->vertices, sizeof *c->node[k]);
        c->cut[k] = INT64_MAX;
    }
    return c->arena.failed ? -ENOMEM : 0;
}

/* Whether a placement of this cut is known, and taken to be the same. Counts how often the least
 * cut was found: one that several methods find is unlikely to be improved. */
static int is_known(struct contest *c, int64_t cut)
{
    int known = 0;
    for (size_t k = 0; k < FINALISTS; k++)
        known |= c->cut[k] == cut;
    if (cut < c->cut[0])
        c->confirmed = 0;
    c->confirmed += cut == c->cut[0];
    return known;
}

/* Moves the placement at `from` up to its rank by cut. */
static void rank_placement(struct contest *c, size_t from, int64_t cut)
{
    size_t *node = c->node[from], k = from;
    for (; k > 0 && cut < c->cut[k - 1]; k--) {
        c->cut[k] = c->cut[k - 1];
        c->node[k] = c->node[k - 1];
    }
    c->cut[k] = cut;
    c->node[k] = node;
}

static int try_candidates(struct contest *c)
{
    const affinity *ranks = c->task->ranks;
    size_t *node = c->node[FINALISTS];
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < CANDIDATES; k++, node = c->node[FINALISTS]) {
        if (ranks->vertices > candidates[k].max_ranks)
            continue;
        rc = candidates[k].place(ranks, c->task->site, c->task->threshold, 0, node);
        int64_t cut = rc == 0 ? affinity_cut(ranks, node) : 0;
        if (rc == 0 && !is_known(c, cut))
            rank_placement(c, FINALISTS, cut);
    }
    return rc;
}

/* Updates the rank of placement k after a change of its cut. */
static void rank_again(struct contest *c, size_t k)
{
    int64_t cut = affinity_cut(c->task->ranks, c->node[k]);
    if (cut != c->cut[k])
        is_known(c, cut);
    rank_placement(c, k, cut);
}

static int refine_finalist(struct contest *c, size_t k)
{
    int rc =
        c->task->refine ? refine_placement(c->task->ranks, c->task->site, c->node[k], &c->work) : 0;
    if (rc == 0)
        rank_again(c, k);
    return rc;
}

/* Refines the best, and as many others as the work allows: none if three methods found the best, or
 * with many ranks. */
static int refine_finalists(struct contest *c)
{
    size_t ranks = c->task->ranks->vertices;
    size_t least = ranks > SETMATCH_BISECTION_RANKS || c->confirmed >= CERTAIN_AT_ONCE ? 1 : 2;
    size_t most = least == 1 ? 1 : FINALISTS;
    size_t work = ranks <= FEW_RANKS ? WORK_OF_FEW / 2 : WORK_PER_RANK * ranks;
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < most; k++) {
        if (c->cut[k] == INT64_MAX || c->cut[0] == 0 || (k >= least && c->work > work))
            break;
        rc = refine_finalist(c, k);
    }
    return rc;
}

/* Iterated local search: swaps some random ranks of the best placement and refines it around these.
 */
static int kick_best(struct contest *c, size_t variant)
{
    const affinity *g = c->task->ranks;
    size_t ranks = g->vertices, *node = c->node[FINALISTS];
    memcpy(node, c->node[0], ranks * sizeof *node);
    memset(c->touched, 0, c->task->site->listed * sizeof *c->touched);
    for (size_t k = 0; k < KICKED_PAIRS; k++) {
        size_t a = mixed(variant * ranks + 2 * k) % ranks;
        size_t b = mixed(variant * ranks + 2 * k + 1) % ranks;
        size_t node_of_a = node[a];
        c->touched[node[a]] = c->touched[node[b]] = true;
        node[a] = node[b];
        node[b] = node_of_a;
    }
    int rc = refine_pairs(g, c->task->site, ROUNDS, c->touched, node, &c->work);
    if (rc == 0)
        rank_again(c, FINALISTS);
    return rc;
}

static int try_variant(struct contest *c, size_t variant)
{
    size_t confirmed = c->confirmed;
    int64_t least = c->cut[0];
    c->cut[FINALISTS] = INT64_MAX;
    if (variant % 2 == 1) {
        int rc = place_agglomerative(c->task->ranks, c->task->site, 0, variant, c->node[FINALISTS]);
        return rc == 0 ? refine_finalist(c, FINALISTS) : rc;
    }
    int rc = kick_best(c, variant);
    /* A kick that leads back confirms nothing. */
    if (c->cut[0] == least)
        c->confirmed = confirmed;
    return rc;
}

static size_t work_of_few(const affinity *ranks)
{
    size_t least = ranks->vertices <= ANNEALED_RANKS ? WORK_OF_FEW / 4 : WORK_OF_FEW;
    size_t degree = ranks->start[ranks->vertices] / (ranks->vertices + 1),
           work = 5 * WORK_OF_FEW / (1 + degree);
    work = work > MOST_WORK_OF_FEW ? MOST_WORK_OF_FEW : work;
    return work < least ? least : work;
}

static int anneal_best(struct contest *c)
{
    const struct task *t = c->task;
    if (t->ranks->vertices > ANNEALED_RANKS || c->cut[0] == 0 || c->confirmed >= CERTAIN)
        return 0;
    memcpy(c->node[FINALISTS], c->node[0], t->ranks->vertices * sizeof *c->node[0]);
    c->cut[FINALISTS] = INT64_MAX;
    int rc = anneal_placement(t->ranks, t->site, c->node[FINALISTS]);
    return rc == 0 ? refine_finalist(c, FINALISTS) : rc;
}

/* With few ranks there is time for some milliseconds of further search. */
static int search_further(struct contest *c)
{
    size_t ranks = c->task->ranks->vertices;
    int rc = 0;
    if (!c->task->refine || ranks > FEW_RANKS || c->confirmed >= CERTAIN_AT_ONCE)
        return 0;
    for (size_t variant = 1; rc == 0 && variant <= VARIANTS; variant++) {
        if (c->work > work_of_few(c->task->ranks) || c->cut[0] == 0 || c->confirmed >= CERTAIN)
            break;
        rc = try_variant(c, variant);
    }
    return rc == 0 ? anneal_best(c) : rc;
}

int place_best(const affinity *ranks, const site *s, unsigned threshold, bool refine, size_t *node)
{
    const struct task task = {ranks, s, threshold, refine};
    struct contest c;
    int rc = contest_init(&c, &task);
    if (rc == 0)
        rc = try_candidates(&c);
    if (rc == 0)
        rc = refine_finalists(&c);
    if (rc == 0)
        rc = search_further(&c);
    if (rc == 0)
        memcpy(node, c.node[0], ranks->vertices * sizeof *node);
    base_arena_release(&c.arena);
    return rc;
}
