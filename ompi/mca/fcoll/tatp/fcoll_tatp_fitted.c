/* SPDX-License-Identifier: BSD-3-Clause */
/* File domains that fit: the range is cut into units, and each unit goes to an aggregator on a node
 * that accesses much of it (src/plan/fitted.h).
 *
 * Each rank counts its bytes in each unit; the lowest rank of a node adds its node's up, and rank 0
 * hears from those alone. It decides, and all hear which unit is in which domain. */
#include "fcoll_tatp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access/units.h"
#include "plan/fitted.h"

/* Numbers of bytes, of one node in one unit, that rank 0 holds at most. */
#define MOST_ENTRIES ((size_t)1 << 23)

/* Units that cover the schedule's range, without what is in which domain. Where stripes are dealt
 * out a unit is a column of stripes: all those of one storage target, or with more aggregators than
 * targets a part of them that is as regular. */
static tatp_units columns_of_stripes(const tatp_settings *settings, size_t domains)
{
    size_t targets = (size_t)settings->targets;
    return (tatp_units){
        .columns = true, .unit = settings->stripe, .count = domains > targets ? domains : targets};
}

/* Where units are counted from: the borders of stripes stay borders; without stripes what the
 * program accesses is the best guess at where its blocks begin. */
static int64_t base_of(const tatp_settings *settings, const tatp_schedule *schedule)
{
    return settings->stripe > 0 ? 0 : schedule->lo;
}

/* The begin of the unit that holds the first byte. */
static int64_t first_border(const tatp_schedule *schedule, int64_t base, int64_t unit)
{
    return base + (schedule->lo - base) / unit * unit;
}

static tatp_units pieces(const tatp_schedule *schedule, int64_t base, int64_t unit)
{
    int64_t first = first_border(schedule, base, unit);
    return (tatp_units){
        .base = base, .unit = unit, .count = (size_t)units_to(first, schedule->hi, unit)};
}

/* The smallest units that are allowed. The same on all ranks. */
static tatp_units smallest_units(const tatp_module *module, const tatp_schedule *schedule)
{
    const tatp_settings *settings = &module->settings;
    int64_t base = base_of(settings, schedule);
    if (tatp_deals_stripes(settings))
        return columns_of_stripes(settings, schedule->domains.count);
    return pieces(schedule, base,
                  fitted_smallest_unit(settings->unit, settings->stripe, schedule->lo - base,
                                       schedule->hi - base));
}

/* What they have to save where nobody asks for them. */
static double least_saving(const tatp_module *module)
{
    return module->settings.domains == TATP_DOMAINS_AUTO ? FITTED_LEAST_SAVING : 0.0;
}

bool tatp_may_fit(const tatp_module *module, const tatp_schedule *schedule,
                  const tatp_decision *even)
{
    int64_t domains = module->settings.domains;
    if (schedule->fitted || (domains != TATP_DOMAINS_FITTED && domains != TATP_DOMAINS_AUTO))
        return false;
    if (smallest_units(module, schedule).count <= schedule->domains.count)
        return false;
    return fitted_may_serve(even->hop_bytes, even->crossing_bytes, least_saving(module));
}

/* ---- the bytes of each node on rank 0 ---- */

/* From the units of stripes to those of columns. */
static int fold(const tatp_units *units, int64_t first_stripe, unit_counts *counts)
{
    int64_t columns = (int64_t)units->count, *bytes = calloc(units->count, sizeof *bytes);
    if (NULL == bytes)
        return -ENOMEM;
    for (size_t i = 0; i < counts->count; i++) {
        const unit_step *step = &counts->step[i];
        for (int64_t u = 0; u < step->count; u++)
            bytes[(first_stripe + step->first + u) % columns] += step->bytes;
    }
    free(counts->step);
    *counts = (unit_counts){0};
    int rc = units_from_array(bytes, units->count, counts);
    free(bytes);
    return rc;
}

static int count_own(const tatp_pass *pass, const tatp_units *units, unit_counts *counts)
{
    int64_t first = first_border(pass->schedule, units->base, units->unit);
    int rc = units_count(pass->file, first, units->unit, counts);
    if (rc == 0 && units->columns)
        rc = fold(units, first / units->unit, counts);
    return tatp_from_errno(rc);
}

/* Entries of units x nodes, on rank 0. */
typedef struct entries {
    matrix_entry *entry;
    size_t count, capacity;
    bool too_many;
} entries;

static int reserve(entries *all, size_t more)
{
    size_t wanted = all->count + more;
    if (wanted <= all->capacity)
        return OMPI_SUCCESS;
    size_t capacity = wanted > 2 * all->capacity ? wanted : 2 * all->capacity;
    matrix_entry *grown = realloc(all->entry, capacity * sizeof *grown);
    if (NULL == grown)
        return OMPI_ERR_OUT_OF_RESOURCE;
    all->entry = grown;
    all->capacity = capacity;
    return OMPI_SUCCESS;
}

static int add_steps(entries *all, const unit_step *step, size_t steps, size_t node)
{
    size_t more = 0;
    for (size_t i = 0; i < steps; i++)
        more += (size_t)step[i].count;
    all->too_many |= more > MOST_ENTRIES || all->count + more > MOST_ENTRIES;
    if (all->too_many)
        return OMPI_SUCCESS;
    int rc = reserve(all, more);
    for (size_t i = 0; i < steps && OMPI_SUCCESS == rc; i++) {
        for (int64_t u = 0; u < step[i].count; u++)
            all->entry[all->count++] =
                (matrix_entry){(size_t)(step[i].first + u), node, step[i].bytes};
    }
    return rc;
}

/* The units of one node, and on rank 0 those of all. */
typedef struct unit_sums {
    const tatp_nodes *where;
    size_t units;
    int64_t *bytes; /* of the node in each */
    entries *all;
} unit_sums;

static int add_rank(void *sum, const tatp_words *words)
{
    unit_sums *sums = sum;
    if (NULL == sums->bytes)
        sums->bytes = calloc(sums->units, sizeof *sums->bytes);
    if (NULL == sums->bytes)
        return OMPI_ERR_OUT_OF_RESOURCE;
    return tatp_from_errno(units_add((const unit_step *)words->word, words->count / UNIT_STEP_WORDS,
                                     sums->bytes, sums->units));
}

static int sum_up(void *sum, tatp_words *words)
{
    const unit_sums *sums = sum;
    unit_counts counts = {0};
    int rc = tatp_from_errno(units_from_array(sums->bytes, sums->units, &counts));
    words->word = (int64_t *)counts.step;
    words->count = counts.count * UNIT_STEP_WORDS;
    return rc;
}

static int add_node(void *sum, const tatp_words *words)
{
    const unit_sums *sums = sum;
    return add_steps(sums->all, (const unit_step *)words->word, words->count / UNIT_STEP_WORDS,
                     sums->where->node_of_rank[words->from]);
}

/* An error is local, or rank 0's. */
static int gather_units(tatp_pass *pass, const tatp_units *units, entries *all)
{
    static const tatp_by_node way = {TATP_TAG_UNITS, TATP_TAG_NODE_UNITS, add_rank, sum_up,
                                     add_node};
    unit_sums sums = {.where = &pass->module->where, .units = units->count, .all = all};
    unit_counts counts = {0};
    int rc = count_own(pass, units, &counts);
    tatp_words own = {pass->fh->f_rank, (int64_t *)counts.step, counts.count * UNIT_STEP_WORDS};
    rc = tatp_gather_by_node(pass, &way, &sums, &own, rc);
    free(counts.step);
    free(sums.bytes);
    return rc;
}

/* ---- the decision ---- */

/* The domain of each unit, and whether fitted domains are worth it. */
static int fit(const tatp_pass *pass, const matrix *bytes, size_t *of, bool *fits)
{
    const tatp_nodes *where = &pass->module->where;
    const tatp_schedule *schedule = pass->schedule;
    size_t count = schedule->domains.count;
    size_t *node_of_aggregator = calloc(count, sizeof *node_of_aggregator);
    if (NULL == node_of_aggregator)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (size_t j = 0; j < count; j++)
        node_of_aggregator[j] = where->node_of_rank[schedule->decision.aggregator[j]];
    fitted_input in = {bytes, &where->topology, node_of_aggregator, count};
    fitted_report report;
    int rc = fitted_assign(&in, NULL, of, &report);
    *fits =
        rc == 0 && fitted_serves(&report, schedule->decision.hop_bytes, least_saving(pass->module));
    free(node_of_aggregator);
    return tatp_from_errno(rc);
}

/* From the smallest units to those whose size serves best; `bytes` has them then. */
static int choose_unit(const tatp_pass *pass, tatp_units *units, matrix *bytes)
{
    const tatp_schedule *schedule = pass->schedule;
    fitted_unit_options options = {
        .first = (uint64_t)((schedule->lo - units->base) / units->unit),
        .aggregators = schedule->domains.count,
    };
    fitted_unit_choice choice;
    int rc = fitted_choose_unit(bytes, &options, &choice);
    if (rc == 0) {
        *units = pieces(schedule, units->base, units->unit << choice.doublings);
        matrix_release(bytes);
        *bytes = choice.bytes;
    }
    return tatp_from_errno(rc);
}

/* On rank 0: where fitted domains are worth it, the units and who has them; else units->of stays
 * NULL. */
static int decide(const tatp_pass *pass, const tatp_units *smallest, entries *all,
                  tatp_units *units)
{
    tatp_units chosen = *smallest;
    matrix bytes;
    bool fits = false;
    if (all->too_many)
        return OMPI_SUCCESS;
    int rc = tatp_from_errno(matrix_from_entries(&bytes, smallest->count, pass->module->where.nodes,
                                                 all->entry, all->count));
    if (OMPI_SUCCESS != rc)
        return rc;
    if (!chosen.columns)
        rc = choose_unit(pass, &chosen, &bytes);
    if (OMPI_SUCCESS == rc) {
        chosen.of = calloc(chosen.count, sizeof *chosen.of);
        rc = NULL == chosen.of ? OMPI_ERR_OUT_OF_RESOURCE : fit(pass, &bytes, chosen.of, &fits);
    }
    if (OMPI_SUCCESS == rc && fits)
        *units = chosen;
    else
        free(chosen.of);
    matrix_release(&bytes);
    return rc;
}

/* ---- the answer ---- */

/* What rank 0 tells first; then, where units are fitted, pairs of a domain and a number of
 * neighbouring units that are in it. */
enum { ANSWER_ERROR, ANSWER_UNIT, ANSWER_WORDS };
enum { PAIR_DOMAIN, PAIR_UNITS, PAIR_WORDS };

/* The next pairs, as many as there is room for; zeroes behind the last. *at is the first unit that
 * they do not tell. */
static void put_pairs(const tatp_units *units, size_t *at, int64_t *word, size_t words)
{
    memset(word, 0, words * sizeof *word);
    for (size_t i = 0; i + PAIR_WORDS <= words && *at < units->count; i += PAIR_WORDS) {
        size_t domain = units->of[*at], from = *at;
        while (*at < units->count && units->of[*at] == domain)
            ++*at;
        word[i + PAIR_DOMAIN] = (int64_t)domain;
        word[i + PAIR_UNITS] = (int64_t)(*at - from);
    }
}

static void take_pairs(tatp_units *units, size_t *at, const int64_t *word, size_t words)
{
    for (size_t i = 0; i + PAIR_WORDS <= words; i += PAIR_WORDS) {
        for (int64_t n = 0; n < word[i + PAIR_UNITS]; n++, ++*at)
            if (NULL != units->of)
                units->of[*at] = (size_t)word[i + PAIR_DOMAIN];
    }
}

/* By pieces of one size, so that a rank without memory can hear them too. Collective; rc is local.
 */
static int tell_units(tatp_pass *pass, tatp_units *units)
{
    int64_t *word = pass->module->where.answer;
    int rc = OMPI_SUCCESS;
    for (size_t at = 0; at < units->count && OMPI_SUCCESS == rc;) {
        size_t next = at;
        if (pass->fh->f_rank == 0)
            put_pairs(units, &next, word, TATP_ANSWER_PIECE);
        rc = tatp_bcast(pass->fh, word, TATP_ANSWER_PIECE);
        if (OMPI_SUCCESS == rc)
            take_pairs(units, &at, word, TATP_ANSWER_PIECE);
    }
    return rc;
}

/* Collective. An error is everyone's, but for *local. */
static int hear(tatp_pass *pass, int rc, const tatp_units *smallest, tatp_units *units, int *local)
{
    int64_t answer[ANSWER_WORDS] = {tatp_error_class(rc), NULL != units->of ? units->unit : 0};
    rc = tatp_bcast(pass->fh, answer, ANSWER_WORDS);
    if (OMPI_SUCCESS == rc)
        rc = (int)answer[ANSWER_ERROR];
    if (OMPI_SUCCESS != rc || answer[ANSWER_UNIT] == 0)
        return rc;
    if (pass->fh->f_rank != 0) {
        *units = smallest->columns ? *smallest
                                   : pieces(pass->schedule, smallest->base, answer[ANSWER_UNIT]);
        units->of = calloc(units->count, sizeof *units->of);
        if (NULL == units->of)
            *local = OMPI_ERR_OUT_OF_RESOURCE;
    }
    return tell_units(pass, units);
}

int tatp_fit(tatp_pass *pass, tatp_units *units, int *local)
{
    tatp_units smallest = smallest_units(pass->module, pass->schedule);
    entries all = {0};
    *units = (tatp_units){0};
    int rc = gather_units(pass, &smallest, &all);
    if (OMPI_SUCCESS == rc && pass->fh->f_rank == 0)
        rc = decide(pass, &smallest, &all, units);
    free(all.entry);
    rc = hear(pass, rc, &smallest, units, local);
    if (OMPI_SUCCESS != rc) {
        free(units->of);
        *units = (tatp_units){0};
    }
    return rc;
}
