/* SPDX-License-Identifier: BSD-3-Clause */
/* Jonker and Volgenant's shortest augmenting paths, rectangular, with group capacities.
 *
 * The paper's phases over lists of each person's best pairs. See doc/jv.md. */
#include "lap/auction.h"
#include "lap/candidates.h"
#include "lap/least.h"
#include "lap/monge.h"
#include "lap/reduction.h"
#include "lap/rows.h"
#include "lap/square.h"

#include <errno.h>

/* The paper's number of passes; a bound on the steps, since persons may compete by tiny amounts. */
enum { REDUCTION_PASSES = 2, REDUCTION_STEPS_PER_PERSON = 4 };

/* Measured on uniform, geometric and low-rank costs. Rows of so few pairs are read in less time
 * than lists are made; twice as many where so large a part of the objects stays free, or fillers
 * have them. */
enum { LIST_WIDTH = 16, SHORT_ROW = 224, FREE_PART = 8 };

/* Exchanges suffice if they leave at most one of so many persons. */
enum { EXCHANGE_LEAVES = 128 };

/* What it costs per person to look for an order, in rows, and to begin where there nearly is one,
 * in blocks besides. Then lists have a pair for every so many blocks, where that is more. Rows of
 * up to so many blocks then have no lists: reading them takes less time than renewing these. */
enum { ORDER_ROWS = 6, NEAR_BLOCKS = 300, NEAR_BLOCKS_PER_PAIR = 2, NEAR_SHORT_ROW = 96 };

struct jv {
    struct state *s;
    struct paths paths;
    struct rows rows;   /* of a dense problem */
    size_t *unassigned; /* `waiting` persons */
    size_t waiting;
    bool lists_later;                  /* costs are read without making lists */
    bool order_sought, nearly_ordered; /* see monge.h */
};

/* ---- reduction transfer and augmenting row reduction ---- */

/* Assigns the person its cheapest object and lowers that object's dual as far as the second best
 * one allows. Returns the person that held the object, NONE, or the person itself when it stays
 * unassigned: a person is displaced only where the dual falls, otherwise two could alternate for
 * ever. */
static size_t reduce_row(struct jv *jv, size_t person)
{
    struct state *s = jv->s;
    struct two_least found = TYPED(find_two_least)(&jv->paths, person);
    size_t object = found.object;
    if (object == NONE || s->price[object] < PRICE_FLOOR)
        return person;
    cost_t dual = s->dual[object];
    if (found.second < COST_MAX)
        dual -= found.second - found.least;
    bool falls = dual < s->dual[object];
    if (!falls && !is_open(s, object) && found.second_object != NONE &&
        found.second <= found.least) {
        object = found.second_object;
        dual = s->dual[object];
    }
    if (!is_open(s, object) && (is_free(s, object) || !falls))
        return person;
    size_t previous = s->person_of[object];
    if (previous != NONE) {
        s->object_of[previous] = NONE;
        assign(s, person, object);
    } else {
        assign_open(s, person, object);
    }
    set_dual(s, object, dual);
    return TYPED(displaced)(s, previous, object, 0);
}

static void list_unassigned(struct jv *jv)
{
    jv->waiting = 0;
    for (size_t j = 0; j < jv->s->persons; j++)
        if (jv->s->object_of[j] == NONE)
            jv->unassigned[jv->waiting++] = j;
}

/* Lowers the dual of an assigned object until its person is indifferent to another. */
static void reduction_transfer(struct jv *jv)
{
    struct state *s = jv->s;
    for (size_t j = 0; j < s->persons; j++) {
        size_t object = s->object_of[j];
        if (object == NONE)
            continue;
        struct two_least found = TYPED(find_two_least)(&jv->paths, j);
        cost_t other = found.object == object ? found.second : found.least;
        if (other < COST_MAX)
            set_dual(s, object, s->dual[object] - other);
    }
}

static void augmenting_row_reduction(struct jv *jv)
{
    size_t steps = 0;
    for (int pass = 0; pass < REDUCTION_PASSES; pass++) {
        size_t count = jv->waiting;
        jv->waiting = 0;
        for (size_t k = 0; k < count; k++) {
            size_t person = jv->unassigned[k];
            size_t previous = NONE;
            while (person != NONE && person != previous &&
                   steps / REDUCTION_STEPS_PER_PERSON < jv->s->persons) {
                previous = person;
                person = reduce_row(jv, person);
                steps++;
            }
            if (person != NONE)
                jv->unassigned[jv->waiting++] = person;
        }
    }
}

/* Where many costs are equal, exchanges spare searches. */
static int exchange_waiting(struct jv *jv)
{
    size_t count = jv->waiting;
    int rc = TYPED(exchange)(jv->s, &jv->paths, NONE);
    jv->waiting = 0;
    for (size_t k = 0; k < count; k++)
        if (jv->s->object_of[jv->unassigned[k]] == NONE)
            jv->unassigned[jv->waiting++] = jv->unassigned[k];
    return rc;
}

/* Whether exchanges alone, which need no lists, leave few persons. If not, they have no effect. */
static int try_exchange(struct jv *jv, bool *suffices)
{
    struct state *s = jv->s;
    size_t most_left = s->persons / EXCHANGE_LEAVES;
    int rc = TYPED(exchange)(s, NULL, most_left);
    list_unassigned(jv);
    *suffices = jv->waiting <= most_left;
    if (rc != 0 || *suffices)
        return rc;
    TYPED(unassign_all)(s);
    TYPED(column_reduction)(s);
    return 0;
}

static int jv_augment(struct jv *jv, size_t person)
{
    if (jv->s->start != NULL || !jv->paths.by_rows)
        return TYPED(augment)(&jv->paths, person);
    size_t before = jv->rows.scanned;
    int rc = TYPED(augment_by_rows)(&jv->rows, person);
    jv->paths.scanned += jv->rows.scanned - before;
    return rc;
}

static bool has_short_rows(const struct state *s)
{
    size_t left = s->objects - first_filler(s);
    return s->start == NULL && s->objects <= (left < s->objects / FREE_PART ? 1 : 2) * SHORT_ROW;
}

static size_t width_of_lists(const struct state *s)
{
    return has_short_rows(s) ? 0 : LIST_WIDTH;
}

static int jv_init(struct jv *jv, struct state *s, size_t width)
{
    jv->s = s;
    jv->unassigned = base_arena_alloc(&s->arena, s->persons, sizeof *jv->unassigned);
    int rc = TYPED(paths_init)(&jv->paths, s, width);
    if (rc == 0 && s->start == NULL)
        rc = TYPED(rows_init)(&jv->rows, s);
    return rc;
}

static int begin_with_auctions(struct jv *jv)
{
    int rc = TYPED(hold_auctions)(&jv->paths);
    if (rc < 0)
        return rc;
    list_unassigned(jv);
    augmenting_row_reduction(jv);
    TYPED(record_filler_price)(jv->s);
    return 0;
}

static int restart_from_auctions(struct jv *jv)
{
    bool has_all = all_assigned(jv->s);
    int rc = has_all ? 0 : TYPED(add_fillers)(jv->s);
    if (rc == 0 && !has_all)
        rc = jv_init(jv, jv->s, width_of_lists(jv->s));
    if (rc == 0)
        rc = begin_with_auctions(jv);
    return rc;
}

/* The searches that follow are judged by those before. */
static int drop_objects(struct jv *jv)
{
    struct paths before = jv->paths;
    int rc = TYPED(drop_objects)(jv->s);
    if (rc == 0)
        rc = TYPED(paths_init)(&jv->paths, jv->s, width_of_lists(jv->s));
    if (rc == 0)
        rc = TYPED(rows_init)(&jv->rows, jv->s);
    jv->paths.settled = before.settled;
    jv->paths.scanned = before.scanned;
    jv->paths.recent = before.recent;
    jv->paths.by_rows = before.by_rows || jv->paths.by_rows;
    return rc;
}

/* Whether the remaining searches cost more than this, in blocks of a row per person, of a problem
 * that may have an order. */
static bool order_pays(const struct jv *jv, size_t done, double blocks)
{
    const struct state *s = jv->s;
    return s->start == NULL && s->group == NULL && s->fillers == 0 &&
           searches_cost_more(&jv->paths, done, jv->waiting, blocks * (double)s->persons);
}

static int try_order(struct jv *jv)
{
    bool solved;
    int rc = TYPED(solve_in_order)(jv->s, &solved, &jv->nearly_ordered);
    jv->order_sought = true;
    if (solved)
        jv->waiting = 0;
    return rc;
}

/* The prices are as good as those of auctions. Lists of long rows, where they served, are made
 * again, longer, as many pairs cost about as much. */
static int restart_in_order(struct jv *jv)
{
    size_t blocks = blocks_of(jv->s), width = blocks / NEAR_BLOCKS_PER_PAIR;
    if (width < LIST_WIDTH)
        width = LIST_WIDTH;
    if (blocks <= NEAR_SHORT_ROW || jv->paths.by_rows)
        width = 0;
    int rc = TYPED(start_in_order)(jv->s, TYPED(jv));
    if (rc == 0)
        rc = jv_init(jv, jv->s, width);
    if (rc == 0)
        list_unassigned(jv);
    jv->nearly_ordered = false;
    jv->paths.auctioned = true;
    return rc;
}

static int jv_augment_all(struct jv *jv)
{
    double row = (double)blocks_of(jv->s);
    int rc = 0;
    for (size_t k = 0; k < jv->waiting && rc == 0; k++) {
        rc = jv_augment(jv, jv->unassigned[k]);
        if (rc == 0 && !jv->order_sought && order_pays(jv, k + 1, ORDER_ROWS * row))
            rc = try_order(jv);
        if (rc == 0 && jv->nearly_ordered &&
            order_pays(jv, k + 1, NEAR_BLOCKS + ORDER_ROWS * row)) {
            rc = restart_in_order(jv);
            k = NONE;
            continue;
        }
        if (rc == 0 && dropping_pays(&jv->paths, k + 1, jv->waiting))
            rc = drop_objects(jv);
        if (rc == 0 && auctions_pay(&jv->paths, k + 1, jv->waiting)) {
            rc = restart_from_auctions(jv);
            k = NONE;
        }
    }
    return rc;
}

static int reduce(struct jv *jv)
{
    /* Column reduction is enough for searches without lists. In a sparse problem the transfer takes
     * as long as what it saves; in the sparse part of a dense one it makes prices better. It would
     * make the lists of all persons, of which few may be needed where lists are made later. */
    bool is_reduced = has_short_rows(jv->s) && all_assigned(jv->s);
    if (!is_reduced && jv->s->problem->start == NULL && !jv->lists_later)
        reduction_transfer(jv);
    list_unassigned(jv);
    if (!is_reduced)
        augmenting_row_reduction(jv);
    return exchange_waiting(jv);
}

int TYPED(jv)(struct state *s)
{
    size_t width = width_of_lists(s);
    struct jv jv = {.lists_later = width > 0 && TYPED(reduction_may_do)(s)};
    int rc = jv_init(&jv, s, jv.lists_later ? 0 : width);
    if (rc == 0)
        rc = TYPED(read_costs)(s, &jv.paths);
    if (rc != 0)
        return rc;
    TYPED(column_reduction)(s);
    bool suffices = false;
    if ((s->group == NULL && s->start != NULL) || jv.lists_later)
        rc = try_exchange(&jv, &suffices);
    if (rc == 0 && !suffices && jv.lists_later)
        rc = jv_init(&jv, s, width);
    if (rc == 0 && !suffices)
        rc = reduce(&jv);
    if (rc == 0)
        rc = jv_augment_all(&jv);
    if (rc == 0)
        TYPED(remove_fillers)(s);
    return rc;
}
