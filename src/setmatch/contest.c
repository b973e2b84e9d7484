/* SPDX-License-Identifier: BSD-3-Clause */
/* Candidates for a placement, and the choice among them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "setmatch/candidates.h"
#include "setmatch/mix.h"
#include "setmatch/setmatch.h"
#include "setmatch/sets.h"

/* Rounds of pairwise refinement; among very many ranks the later ones gain little. */
enum { ROUNDS = 6, ROUNDS_OF_MANY = 2, MANY_RANKS = 200000 };

/* More than two placements of many ranks are refined only as long as refinement has looked at each
 * rank less often than this. */
enum { FINALISTS = 5, WORK_A_RANK = 60 };

/* Few ranks are searched on for, until refinement has looked at so many in all, or the least cut
 * has been found again so often (at once: by the candidates alone). A quarter of that where
 * annealing follows. */
enum {
    FEW_RANKS = 256,
    ANNEALED_RANKS = 128,
    WORK_OF_FEW = 40000,
    MOST_WORK_OF_FEW = 64000, /* of those that have few bonds, which is less to look at */
    TURNS = 1000,
    CERTAIN = 5,
    CERTAIN_AT_ONCE = 2,
    KICKS = 2 /* pairs that are swapped */
};

/* What is placed where. */
struct task {
    const affinity *ranks;
    const site *site;
    unsigned threshold;
    bool refine;
};

typedef int (*candidate_fn)(const struct task *task, size_t turn, size_t *node);

int place_by_sets(const affinity *ranks, const site *s, unsigned threshold, size_t *node)
{
    setmatch_graph graph;
    int rc = setmatch_graph_from_affinity(&graph, ranks, threshold);
    if (rc != 0)
        return rc;
    rc = match_graph(&graph, s->slots, s->listed, node);
    setmatch_graph_release(&graph);
    return rc;
}

int refine_placement(const affinity *ranks, const site *s, size_t *node, size_t *work)
{
    return refine_pairs(ranks, s, ranks->vertices > MANY_RANKS ? ROUNDS_OF_MANY : ROUNDS, NULL,
                        node, work);
}

/* ---- candidates ---- */

static int candidate_paper(const struct task *t, size_t turn, size_t *node)
{
    (void)turn;
    return place_by_sets(t->ranks, t->site, t->threshold, node);
}

static int candidate_by_slot(const struct task *t, size_t turn, size_t *node)
{
    (void)turn;
    return place_by_slot(t->ranks, t->site, node);
}

static int candidate_levelled(const struct task *t, size_t turn, size_t *node)
{
    (void)turn;
    return place_levelled(t->ranks, t->site, t->threshold, node);
}

static int candidate_agglomerative(const struct task *t, size_t turn, size_t *node)
{
    return place_agglomerative(t->ranks, t->site, turn, node);
}

static int candidate_bisected(const struct task *t, size_t turn, size_t *node)
{
    return place_bisected(t->ranks, t->site, turn, node);
}

/* In the order that counts on a tie; the later ones take part up to so many ranks. */
static const struct {
    candidate_fn place;
    size_t most_ranks;
} candidates[] = {
    {candidate_paper, SIZE_MAX},
    {candidate_by_slot, SIZE_MAX},
    {candidate_levelled, SIZE_MAX},
    {candidate_bisected, SETMATCH_BISECTION_RANKS},
    {candidate_agglomerative, SETMATCH_BISECTION_RANKS},
};

enum { CANDIDATES = sizeof candidates / sizeof candidates[0] };

/* The best placements so far, the least cut first, the earlier one on a tie. */
struct contest {
    const struct task *task;
    size_t *node[FINALISTS + 1]; /* one more than are kept, to try in */
    int64_t cut[FINALISTS + 1];
    size_t work;      /* of refinement so far */
    size_t confirmed; /* how often the least cut was found again */
    bool *touched;    /* by node: a kick has moved ranks there */
};

static int contest_init(struct contest *c, const struct task *task)
{
    int rc = 0;
    *c = (struct contest){.task = task,
                          .touched = calloc(task->site->listed + 1, sizeof *c->touched)};
    if (c->touched == NULL)
        rc = -ENOMEM;
    for (size_t k = 0; k <= FINALISTS; k++) {
        c->node[k] = calloc(task->ranks->vertices + 1, sizeof *c->node[k]);
        c->cut[k] = INT64_MAX;
        rc = c->node[k] == NULL ? -ENOMEM : rc;
    }
    return rc;
}

static void contest_release(struct contest *c)
{
    for (size_t k = 0; k <= FINALISTS; k++)
        free(c->node[k]);
    free(c->touched);
}

/* Whether a cut was there before. That is as good as the same placement; and the least cut found in
 * several ways is hardly to be improved. */
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

/* Lets the placement at `from` rise to where its cut belongs. */
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

static int let_compete(struct contest *c, candidate_fn place, size_t turn)
{
    int rc = place(c->task, turn, c->node[FINALISTS]);
    int64_t cut = rc == 0 ? affinity_cut(c->task->ranks, c->node[FINALISTS]) : 0;
    if (rc == 0 && !is_known(c, cut))
        rank_placement(c, FINALISTS, cut);
    return rc;
}

static int let_all_compete(struct contest *c)
{
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < CANDIDATES; k++)
        if (c->task->ranks->vertices <= candidates[k].most_ranks)
            rc = let_compete(c, candidates[k].place, 0);
    return rc;
}

/* The place of placement k changes with its cut. */
static void rank_again(struct contest *c, size_t k)
{
    int64_t cut = affinity_cut(c->task->ranks, c->node[k]);
    if (cut != c->cut[k])
        is_known(c, cut);
    rank_placement(c, k, cut);
}

static int refine_one(struct contest *c, size_t k)
{
    int rc =
        c->task->refine ? refine_placement(c->task->ranks, c->task->site, c->node[k], &c->work) : 0;
    if (rc == 0)
        rank_again(c, k);
    return rc;
}

/* At least the best, and as many others as the work allows: none when the best was found in three
 * ways, or when the ranks are many. */
static int refine_finalists(struct contest *c)
{
    size_t ranks = c->task->ranks->vertices;
    size_t least = ranks > SETMATCH_BISECTION_RANKS || c->confirmed >= CERTAIN_AT_ONCE ? 1 : 2;
    size_t most = least == 1 ? 1 : FINALISTS;
    size_t work = ranks <= FEW_RANKS ? WORK_OF_FEW / 2 : WORK_A_RANK * ranks;
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < most; k++) {
        if (c->cut[k] == INT64_MAX || c->cut[0] == 0 || (k >= least && c->work > work))
            break;
        rc = refine_one(c, k);
    }
    return rc;
}

/* The best placement with some ranks swapped at random: refined around these, it may end somewhere
 * else. */
static int kick(struct contest *c, size_t turn)
{
    const affinity *g = c->task->ranks;
    size_t ranks = g->vertices, *node = c->node[FINALISTS];
    memcpy(node, c->node[0], ranks * sizeof *node);
    memset(c->touched, 0, c->task->site->listed * sizeof *c->touched);
    for (size_t k = 0; k < KICKS; k++) {
        size_t a = mixed(turn * ranks + 2 * k) % ranks, b = mixed(turn * ranks + 2 * k + 1) % ranks;
        size_t kept = node[a];
        c->touched[node[a]] = c->touched[node[b]] = true;
        node[a] = node[b];
        node[b] = kept;
    }
    int rc = refine_pairs(g, c->task->site, ROUNDS, c->touched, node, &c->work);
    if (rc == 0)
        rank_again(c, FINALISTS);
    return rc;
}

static int try_once_more(struct contest *c, size_t turn)
{
    size_t confirmed = c->confirmed;
    int64_t least = c->cut[0];
    int rc = 0;
    c->cut[FINALISTS] = INT64_MAX;
    if (turn % 2 == 0)
        rc = kick(c, turn);
    else
        rc = candidate_agglomerative(c->task, turn, c->node[FINALISTS]);
    if (rc == 0 && turn % 2 == 1)
        rc = refine_one(c, FINALISTS);
    /* That a kick led back says nothing. */
    if (turn % 2 == 0 && c->cut[0] == least)
        c->confirmed = confirmed;
    return rc;
}

static size_t work_of_few(const affinity *ranks)
{
    size_t least = ranks->vertices <= ANNEALED_RANKS ? WORK_OF_FEW / 4 : WORK_OF_FEW;
    size_t bonds = ranks->start[ranks->vertices] / (ranks->vertices + 1),
           work = 5 * WORK_OF_FEW / (1 + bonds);
    work = work > MOST_WORK_OF_FEW ? MOST_WORK_OF_FEW : work;
    return work < least ? least : work;
}

static int anneal(struct contest *c)
{
    const struct task *t = c->task;
    if (t->ranks->vertices > ANNEALED_RANKS || c->cut[0] == 0 || c->confirmed >= CERTAIN)
        return 0;
    memcpy(c->node[FINALISTS], c->node[0], t->ranks->vertices * sizeof *c->node[0]);
    c->cut[FINALISTS] = INT64_MAX;
    int rc = anneal_placement(t->ranks, t->site, c->node[FINALISTS]);
    return rc == 0 ? refine_one(c, FINALISTS) : rc;
}

/* Few ranks leave time to search on, up to some milliseconds. */
static int search_on(struct contest *c)
{
    size_t ranks = c->task->ranks->vertices;
    int rc = 0;
    if (!c->task->refine || ranks > FEW_RANKS || c->confirmed >= CERTAIN_AT_ONCE)
        return 0;
    for (size_t turn = 1; rc == 0 && turn <= TURNS; turn++) {
        if (c->work > work_of_few(c->task->ranks) || c->cut[0] == 0 || c->confirmed >= CERTAIN)
            break;
        rc = try_once_more(c, turn);
    }
    return rc == 0 ? anneal(c) : rc;
}

int place_best(const affinity *ranks, const site *s, unsigned threshold, bool refine, size_t *node)
{
    const struct task task = {ranks, s, threshold, refine};
    struct contest c;
    int rc = contest_init(&c, &task);
    if (rc == 0)
        rc = let_all_compete(&c);
    if (rc == 0)
        rc = refine_finalists(&c);
    if (rc == 0)
        rc = search_on(&c);
    if (rc == 0)
        memcpy(node, c.node[0], ranks->vertices * sizeof *node);
    contest_release(&c);
    return rc;
}
