/* SPDX-License-Identifier: BSD-3-Clause */
/* How the accesses are made: whether plans are reused, who accesses which stripe, and what is
 * recorded. All of it is read off the bytes; how the component divides a file is not known here. */
#include "life.h"

#include <string.h>

#include "collective/slot.h"
#include "matrix/view_file.h"

enum { MOST_TARGETS = 128 };

static bool is_access(const sim_step *s)
{
    return s->kind == STEP_WRITE || s->kind == STEP_READ;
}

/* ---- what a rank does ---- */

/* Aggregators there are where they are demanded, and only where they are not forbidden. */
static void check_way(life *l, const coll_observed *access, bool atomic)
{
    const coll_plan_settings *settings = access->settings;
    int64_t choice = access->write ? settings->write_aggregation : settings->read_aggregation;
    bool are_asked_for = settings->division.aggregators > 0 && choice == AGGREGATION_AUTOMATIC;
    if ((atomic || choice == AGGREGATION_ALWAYS || are_asked_for) && access->plan == NULL)
        sim_fail(l, "there are no aggregators though they are demanded");
    if (!atomic && choice == AGGREGATION_NEVER && access->plan != NULL)
        sim_fail(l, "there are aggregators though there must be none");
}

/* Since the last access. */
static bool has_new_hints(const life *l, int step)
{
    for (step--; step > 0 && l->step[step].kind != STEP_REOPEN && !is_access(&l->step[step]);
         step--)
        if (l->step[step].kind == STEP_HINT)
            return true;
    return false;
}

/* Whether all of an access is made by rules for stripes: no two ranks share one. What begins before
 * the ranks have agreed on new hints goes by the old ones. */
static bool is_striped(const life *l, int step, const coll_observed *access)
{
    const coll_plan_settings *settings = access->settings;
    bool are_demanded = l->step[step].atomic || settings->division.aggregators > 0;
    if (settings->division.stripe == 0 || has_new_hints(l, step))
        return false;
    if (access->plan != NULL)
        return are_demanded || (access->write && access->makes_plan);
    return access->write && settings->write_aggregation == AGGREGATION_AUTOMATIC;
}

/* Each rank takes one lock for each cycle, or for all that it accesses itself. */
static void check_locks(sim_rank *r, const coll_observed *access)
{
    int64_t most = access->plan != NULL ? access->plan->layout.num_cycles + 1 : 2;
    if (r->locks > most)
        sim_fail(r->life, "rank %d: step %d takes %d locks for %lld cycles", r->rank, r->step,
                 r->locks, (long long)most - 1);
    r->locks = 0;
}

/* With shared memory a node sends one message to each aggregator in each cycle, if that can hold
 * it; else 0, as where parts of stripes move from cycle to cycle. */
static int64_t count_messages(const sim_rank *r, const coll_observed *access)
{
    const char *shared = r->parameter[PARAMETER_SHARED_MEMORY];
    if (access->plan == NULL || shared == NULL || strcmp(shared, "true") != 0)
        return 0;
    const domain_layout *layout = &access->plan->layout;
    bool is_enough = layout->message_size >= layout->cycle_size &&
                     (layout->margin == 0 || layout->cycle_size % layout->margin == 0);
    return is_enough ? r->life->nodes * (int64_t)layout->domains->count * layout->num_cycles : 0;
}

void sim_observe(void *context, const coll_observed *access, void **state)
{
    sim_rank *r = context;
    life *l = r->life;
    sim_step *s = &l->step[r->step];
    const coll_plan_settings *settings = access->settings;
    (void)state;
    if (l->net.lost >= 0)
        return;
    check_way(l, access, s->atomic);
    check_locks(r, access);
    s->messages += access->messages;
    if (l->locks_file && settings->cycles.wanted == 0)
        sim_fail(l, "cycles of a file that is locked are as short as those of others");
    if (r->rank > 0)
        return;
    s->operations++;
    s->makes_plan |= access->makes_plan;
    s->has_plan = access->plan != NULL;
    s->period = s->has_plan ? access->plan->layout.period : 0;
    s->margin = s->has_plan ? access->plan->layout.margin : 0;
    s->division = settings->division;
    s->has_long_cycles =
        settings->cycles.buffer / settings->cycles.in_flight >= settings->division.stripe;
    s->is_striped = is_striped(l, r->step, access);
    s->most_messages = count_messages(r, access);
}

/* ---- plans ---- */

/* Whether each rank accesses in both steps the same, moved by one distance, which is set. */
static bool is_moved(const life *l, int from, int to, int64_t *distance)
{
    const sim_step *a = &l->step[from], *b = &l->step[to];
    const sim_step *one = &l->step[sim_step_of_view(l, from)],
                   *other = &l->step[sim_step_of_view(l, to)];
    bool same_view = one->seed == other->seed && one->deal == other->deal &&
                     one->overlaps_self == other->overlaps_self;
    *distance = 0;
    if (!same_view || a->seed != b->seed)
        return false;
    for (int i = 0; i < l->ranks; i++) {
        const sim_access before = sim_access_of(l, from, i), now = sim_access_of(l, to, i);
        if (before.bytes != now.bytes)
            return false;
        if (now.view.size > 0)
            *distance = (b->copies - a->copies) * now.view.extent;
    }
    return true;
}

/* The step whose plan the access must reuse; -1: there is none. */
static int reusable_step(const life *l, int step, int64_t *distance)
{
    const sim_step *s = &l->step[step];
    int plans = 0;
    for (int i = step - 1; i > 0 && plans < COLL_SLOTS; i--) {
        const sim_step *earlier = &l->step[i];
        if (earlier->kind == STEP_HINT || earlier->kind == STEP_REOPEN)
            return -1;
        if (!is_access(earlier))
            continue;
        plans++;
        if (earlier->has_plan && earlier->operations == 1 && !earlier->atomic && !s->atomic &&
            is_moved(l, i, step, distance) && *distance % earlier->period == 0)
            return i;
    }
    return -1;
}

void sim_check_plan(life *l, int step)
{
    sim_step *s = &l->step[step];
    if (l->faults > 0 || s->operations != 1)
        return;
    int64_t distance;
    int earlier = reusable_step(l, step, &distance);
    if (earlier >= 0 && s->makes_plan)
        sim_fail(l, "step %d makes a plan though that of step %d fits", step, earlier);
    s->reuses_plan = earlier >= 0 && s->has_plan;
    s->fits_plan = s->reuses_plan && s->margin > 0 && distance % s->margin != 0;
    /* The choice for the same access is the same, where it does not depend on stripes, which lie
     * otherwise after a distance, nor on hints that were not agreed on. */
    if (earlier >= 0 && !s->has_plan && l->step[earlier].kind == s->kind &&
        !has_new_hints(l, earlier) && (s->kind == STEP_READ || s->division.stripe == 0))
        sim_fail(l, "step %d has no plan, as step %d had for this access", step, earlier);
}

/* ---- stripes ---- */

/* The accesses of a step by stripes: `rank` from 1 on has stripe `first` + k, if any. */
typedef struct stripes {
    const division_settings *division;
    int64_t first, count;
    unsigned char rank[SPACE + 2];
    int ranks;
} stripes;

/* Without aggregators pieces begin at a stripe's beginning, and ranks whose pieces overlap access
 * the same stripes. */
static void find_owners(life *l, int step, stripes *s)
{
    bool met[MOST_RANKS + 1] = {false};
    s->first = l->base / s->division->stripe;
    s->count = (l->base + SPACE) / s->division->stripe - s->first + 1;
    s->ranks = 0;
    memset(s->rank, 0, sizeof s->rank);
    for (int64_t at = 0; at < SPACE; at++) {
        int rank = sim_accessed[step][at];
        int64_t begin = at - (l->base + at) % s->division->stripe;
        unsigned char *owner = &s->rank[(l->base + at) / s->division->stripe - s->first];
        bool overlaps = sim_is_shared(step, at) || (begin >= 0 && sim_is_shared(step, begin));
        if (rank == 0 || (!l->step[step].has_plan && overlaps))
            continue;
        if (rank == SEVERAL || (*owner != 0 && *owner != rank)) {
            sim_fail(l, "step %d: ranks access one stripe, at %lld", step, (long long)at);
            return;
        }
        *owner = (unsigned char)rank;
        s->ranks += !met[rank];
        met[rank] = true;
    }
}

/* A cycle that can hold a stripe holds whole ones. */
static void check_cuts(life *l, int step, int64_t stripe)
{
    for (int64_t at = 1; at < SPACE; at++)
        if (sim_cut[step][at] && (l->base + at) % stripe != 0 && sim_wanted[step][at - 1] &&
            sim_wanted[step][at])
            sim_fail(l, "step %d: an access begins or ends within a stripe, at %lld", step,
                     (long long)at);
}

static void check_contiguous(life *l, int step, const stripes *s)
{
    bool met[MOST_RANKS + 1] = {false};
    int last = 0;
    for (int64_t k = 0; k < s->count; k++) {
        if (s->rank[k] == 0 || s->rank[k] == last)
            continue;
        last = s->rank[k];
        if (met[last])
            sim_fail(l, "step %d: rank %d has stripes apart from its others", step, last - 1);
        met[last] = true;
    }
}

/* Each target has as few ranks, and each rank as few targets, as their numbers permit. */
static void check_targets(life *l, int step, const stripes *s, int most)
{
    static bool met[MOST_TARGETS][MOST_RANKS + 1];
    int ranks[MOST_TARGETS] = {0}, owned[MOST_RANKS + 1] = {0};
    int targets = (int)s->division->targets;
    memset(met, 0, sizeof met);
    for (int64_t k = 0; k < s->count && targets <= MOST_TARGETS; k++) {
        int target = (int)((s->first + k) % targets), rank = s->rank[k];
        if (rank == 0 || met[target][rank])
            continue;
        met[target][rank] = true;
        if (++ranks[target] > (most > targets ? most / targets : 1) ||
            ++owned[rank] > (targets > most ? targets / most : 1))
            sim_fail(l, "step %d: %d ranks share targets otherwise than they can", step, most);
    }
}

/* Whether all bytes from the first to the last are wanted, of so many stripes that each aggregator
 * gets some. */
static bool wants_all(int step, int64_t stripe)
{
    int64_t low = SPACE, high = 0, count = 0;
    for (int64_t at = 0; at < SPACE; at++)
        if (sim_wanted[step][at]) {
            low = at < low ? at : low;
            high = at + 1;
            count++;
        }
    return count > 0 && count == high - low && count / stripe > MOST_RANKS;
}

void sim_check_messages(life *l, int step)
{
    const sim_step *s = &l->step[step];
    if (l->faults == 0 && s->operations == 1 && !s->atomic && s->most_messages > 0 &&
        s->messages > s->most_messages)
        sim_fail(l, "step %d takes %lld messages, not %lld", step, (long long)s->messages,
                 (long long)s->most_messages);
}

void sim_check_stripes(life *l, int step)
{
    static stripes s;
    const sim_step *of = &l->step[step];
    const division_settings *told = s.division = &of->division;
    bool is_auto = told->kind == DIVISION_AUTO;
    if (!of->is_striped || of->result != 0 || of->operations != 1 || l->fired > 0 ||
        l->net.lost >= 0)
        return;
    find_owners(l, step, &s);
    if (l->net.failure != NULL || !of->has_plan)
        return;
    if (of->has_long_cycles)
        check_cuts(l, step, told->stripe);
    int chosen = (int)told->aggregators, most = chosen > 0 ? chosen : s.ranks;
    bool all = wants_all(step, told->stripe);
    if (s.ranks > most || (all && chosen > 0 && s.ranks < most))
        sim_fail(l, "step %d: %d ranks access the file, not %d", step, s.ranks, most);
    if (chosen > 0 && told->targets > 0 && chosen % told->targets != 0 &&
        told->targets % chosen != 0)
        sim_fail(l, "%d aggregators for %lld targets", chosen, (long long)told->targets);
    if (told->kind == DIVISION_FITTED || (is_auto && l->nodes > 1))
        return;
    if (told->kind == DIVISION_EVEN || told->targets <= (is_auto ? 1 : 0))
        check_contiguous(l, step, &s);
    else if (chosen > 0 || all)
        check_targets(l, step, &s, most);
}

/* ---- the record ---- */

/* Each pair of neighbours of a call counts 1. */
static void count_neighbours(const life *l, int step, int count[MOST_RANKS][MOST_RANKS],
                             int64_t bytes[MOST_RANKS])
{
    static unsigned char byte[SPACE];
    int last = 0;
    memset(byte, 0, sizeof byte);
    sim_mark(l, step, byte);
    for (int64_t at = 0; at < SPACE; at++) {
        int rank = byte[at];
        if (rank == 0)
            continue;
        bytes[rank - 1]++;
        if (last != 0 && last != rank)
            count[last - 1][rank - 1]++, count[rank - 1][last - 1]++;
        last = rank;
    }
}

static int64_t recorded_bytes(const view_file *f, size_t rank)
{
    int64_t bytes = 0;
    for (size_t p = 0; p < f->patterns; p++)
        for (size_t k = f->bytes[p].row_start[rank]; k < f->bytes[p].row_start[rank + 1]; k++)
            bytes += f->bytes[p].value[k];
    return bytes;
}

static void compare_record(life *l, const view_file *f, int count[MOST_RANKS][MOST_RANKS],
                           const int64_t bytes[MOST_RANKS])
{
    for (int i = 0; i < l->ranks && l->net.failure == NULL; i++) {
        size_t row = sim_job_rank(&l->rank[0], i);
        if (f->view.rows != (size_t)l->ranks || recorded_bytes(f, row) != bytes[i])
            sim_fail(l, "the record has other bytes of rank %d than it accessed", i);
        for (int k = 0; k < l->ranks && l->net.failure == NULL; k++)
            if (i != k && matrix_get(&f->view, row, sim_job_rank(&l->rank[0], k)) != count[i][k])
                sim_fail(l, "ranks %d and %d are not %d times neighbours in the record", i, k,
                         count[i][k]);
    }
}

void sim_check_record(life *l)
{
    static int count[MOST_RANKS][MOST_RANKS];
    int64_t bytes[MOST_RANKS] = {0};
    view_file f = {.patterns = 0};
    matrix_error error;
    bool is_any = false;
    memset(count, 0, sizeof count);
    for (int i = 0; i < l->steps; i++) {
        if (!l->step[i].has_plan)
            continue;
        is_any = true;
        count_neighbours(l, i, count, bytes);
    }
    FILE *in = fopen(l->record, "r");
    if (in == NULL || view_file_read(in, &f, &error) != 0) {
        if (is_any)
            sim_fail(l, "there is no record");
    } else {
        l->has_record = is_any;
        if (is_any)
            compare_record(l, &f, count, bytes);
    }
    if (in != NULL)
        fclose(in);
    view_file_release(&f);
}
