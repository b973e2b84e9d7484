/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mix.h"
#include "base/text.h"
#include "exchange/exchange.h"

/* A window has to fit into one message and one write. */
#define LARGEST_CYCLE_BUFFER ((int64_t)EXCHANGE_DEPTH << 30)
#define CYCLE_BUFFER (32 << 20)

/* ---- checks ---- */

static int refuse_value(coll_process *process, enum parameter i, const char *text, bool strict)
{
    char shown[128], valid[PARAMETER_VALID_BYTES], otherwise[64];
    const coll_refusal refusal = {i, strict, -EINVAL, otherwise};
    base_escape(shown, sizeof shown, text);
    parameter_list_valid(i, valid);
    snprintf(otherwise, sizeof otherwise, "The run continues with %s.", parameter_table[i].initial);
    return coll_refuse(process, &refusal, COLL_TEXT_BAD_VALUE, COLL_NAMED(process, i), shown,
                       valid);
}

int coll_settings_check(coll_process *process, parameter_texts text)
{
    int64_t value;
    int rc = 0;
    for (enum parameter i = 0; i < PARAMETERS; i++)
        if (text[i] != NULL && text[i][0] != '\0' && !parameter_parse(i, text[i], &value))
            rc = refuse_value(process, i, text[i], parameter_is_strict(text));
    return rc;
}

/* ---- digests ---- */

int64_t coll_settings_digest_text(const char *text)
{
    return (int64_t)(base_digest_text(0, text) >> 1);
}

int64_t coll_settings_digest(const int64_t of[COLL_SETTINGS])
{
    uint64_t digest = 0;
    for (int i = 0; i < COLL_OF_RANKS; i++)
        digest = base_digest(digest, (uint64_t)of[i]);
    return (int64_t)(digest >> 1);
}

/* ---- this rank's ---- */

coll_facts coll_facts_collect(parameter_texts text, const coll_hint_values *hints)
{
    coll_facts facts = {.parameters = text};
    for (enum parameter i = 0; i < PARAMETER_VALUES; i++)
        facts.of[i] = parameter_value(i, text[i]);
    for (enum parameter i = PARAMETER_VALUES; i < PARAMETER_OF_FILE; i++)
        facts.of[i] = coll_settings_digest_text(parameter_text(text, i));
    memcpy(facts.of + COLL_FIRST_HINT, hints->of, sizeof hints->of);
    return facts;
}

/* ---- for plans ---- */

static int64_t first_positive(int64_t a, int64_t b, int64_t c)
{
    if (a > 0)
        return a;
    return b > 0 ? b : c;
}

static int64_t wanted_aggregators(const int64_t *of, int ranks)
{
    int64_t wanted = first_positive(of[COLL_FIRST_HINT + COLL_HINT_CB_NODES],
                                    of[PARAMETER_NUM_AGGREGATORS], of[COLL_MPI_AGGREGATORS]);
    return wanted < ranks ? wanted : ranks;
}

static int64_t allowed_aggregators(int64_t wanted, int64_t targets)
{
    return wanted > 0 ? division_allowed_aggregators(wanted, targets) : 0;
}

/* collective_buffering counts where the hint for the direction is not given. */
static int64_t choose_aggregation(const int64_t *hint, enum coll_hint direction)
{
    int64_t value = hint[direction];
    if (value == 0)
        value = hint[COLL_HINT_COLLECTIVE_BUFFERING];
    switch (value) {
    case COLL_HINT_ON: return AGGREGATION_ALWAYS;
    case COLL_HINT_OFF: return AGGREGATION_NEVER;
    default: return AGGREGATION_AUTOMATIC;
    }
}

static int64_t choose_stripe(const int64_t *of)
{
    int64_t given =
        first_positive(of[COLL_FIRST_HINT + COLL_HINT_STRIPING_UNIT], of[PARAMETER_STRIPE_SIZE], 0);
    return first_positive(given, of[COLL_FS_STRIPE_SIZE], of[COLL_ROOT_STRIPE_SIZE]);
}

/* Without stripes an fs component reports one target. */
static int64_t choose_targets(const int64_t *of, int64_t stripe)
{
    int64_t fs_targets =
        of[COLL_FS_STRIPE_SIZE] > 0 ? of[COLL_FS_STRIPE_COUNT] : of[COLL_ROOT_STRIPE_COUNT];
    if (stripe == 0)
        return 0;
    return first_positive(of[COLL_FIRST_HINT + COLL_HINT_STRIPING_FACTOR],
                          of[PARAMETER_STRIPE_COUNT], fs_targets > 0 ? fs_targets : 0);
}

static int64_t choose_buffer(const int64_t *of)
{
    int64_t buffer = first_positive(of[COLL_FIRST_HINT + COLL_HINT_CB_BUFFER_SIZE],
                                    of[PARAMETER_CYCLE_BUFFER_SIZE], of[COLL_MPI_BUFFER]);
    if (buffer <= 0)
        return CYCLE_BUFFER;
    return buffer < LARGEST_CYCLE_BUFFER ? buffer : LARGEST_CYCLE_BUFFER;
}

coll_plan_settings coll_settings_plan(const int64_t of[COLL_SETTINGS], int ranks)
{
    const int64_t *hint = of + COLL_FIRST_HINT;
    int64_t stripe = choose_stripe(of), targets = choose_targets(of, stripe);
    return (coll_plan_settings){
        .division =
            {
                .kind = of[PARAMETER_DOMAINS],
                .aggregators = allowed_aggregators(wanted_aggregators(of, ranks), targets),
                .stripe = stripe,
                .targets = targets,
            },
        .cycles =
            {
                .buffer = choose_buffer(of),
                .in_flight = EXCHANGE_DEPTH,
                .stripe = stripe,
                .wanted = of[COLL_ROOT_CYCLE],
            },
        .strategy = &plan_strategies[of[PARAMETER_STRATEGY]],
        .write_aggregation = choose_aggregation(hint, COLL_HINT_CB_WRITE),
        .read_aggregation = choose_aggregation(hint, COLL_HINT_CB_READ),
    };
}

void coll_settings_tell(const coll_settings *settings, const coll_group *group, const char *file)
{
    const division_settings *chosen = &settings->plan.division;
    int64_t wanted = wanted_aggregators(settings->of, group->size);
    if (wanted > 0 && chosen->aggregators != wanted)
        coll_log(group->runtime->process, 20,
                 "%s: %lld aggregators instead of %lld, because %lld storage targets cannot be "
                 "shared out evenly among those",
                 file, (long long)chosen->aggregators, (long long)wanted,
                 (long long)chosen->targets);
}

static int64_t hint_of_aggregation(int64_t aggregation)
{
    switch (aggregation) {
    case AGGREGATION_ALWAYS: return COLL_HINT_ON;
    case AGGREGATION_NEVER: return COLL_HINT_OFF;
    default: return COLL_HINT_AUTOMATIC;
    }
}

/* They never have collective_buffering = true: a program may open the next file with them, and Open
 * MPI 4.1 takes true for false there. */
coll_hint_values coll_settings_hints(const int64_t of[COLL_SETTINGS], int ranks,
                                     int64_t aggregators)
{
    const coll_plan_settings plan = coll_settings_plan(of, ranks);
    int64_t buffering = of[COLL_FIRST_HINT + COLL_HINT_COLLECTIVE_BUFFERING];
    return (coll_hint_values){{
        [COLL_HINT_CB_NODES] =
            plan.division.aggregators > 0 ? plan.division.aggregators : aggregators,
        [COLL_HINT_CB_BUFFER_SIZE] = plan.cycles.buffer,
        [COLL_HINT_STRIPING_UNIT] = plan.division.stripe,
        [COLL_HINT_STRIPING_FACTOR] = plan.division.targets,
        [COLL_HINT_CB_WRITE] = hint_of_aggregation(plan.write_aggregation),
        [COLL_HINT_CB_READ] = hint_of_aggregation(plan.read_aggregation),
        [COLL_HINT_COLLECTIVE_BUFFERING] = buffering == COLL_HINT_OFF ? COLL_HINT_OFF : 0,
    }};
}

/* ---- differences ---- */

static const char *const stripes[] = {
    "stripe size of the file system",
    "stripe count of the file system",
};

/* Errors, and for each setting, by maxima over all ranks: the last rank that has another value than
 * rank 0, and the first one, negative. */
enum { ERROR, LAST, FIRST = LAST + COLL_OF_RANKS, VALUES = FIRST + COLL_OF_RANKS };

/* Ranks in between may have rank 0's. */
static void report_difference(coll_process *process, int setting, const char *file,
                              const int64_t *value)
{
    char what[COLL_NAME_BYTES], ranks[80];
    int64_t first = -value[FIRST + setting], last = value[LAST + setting];
    if (setting >= COLL_FIRST_HINT)
        snprintf(what, sizeof what, "hint %s", coll_hint_name(setting - COLL_FIRST_HINT));
    else if (setting >= COLL_FS_STRIPE_SIZE)
        snprintf(what, sizeof what, "%s", stripes[setting - COLL_FS_STRIPE_SIZE]);
    else if (setting >= COLL_MPI_BUFFER)
        snprintf(what, sizeof what, "%s", process->mpi_setting[setting - COLL_MPI_BUFFER]);
    else
        (void)coll_name_parameter(process, (enum parameter)setting, what);
    if (first == last)
        snprintf(ranks, sizeof ranks, "on rank %lld", (long long)first);
    else
        snprintf(ranks, sizeof ranks, "on some of the ranks %lld to %lld", (long long)first,
                 (long long)last);
    if (coll_is_first(process, "different", what))
        coll_show(process, COLL_TEXT_DIFFERENT, what, file, ranks);
}

/* rc: this rank's status so far. */
static int agree_on_differences(const int64_t *own, const int64_t *root, coll_group *group,
                                const char *file, int rc)
{
    int64_t value[VALUES];
    int rank = group->rank;
    for (int i = 0; i < COLL_OF_RANKS; i++) {
        bool differs = own[i] != root[i];
        value[LAST + i] = differs ? rank : -1;
        value[FIRST + i] = differs ? -rank : -INT64_MAX;
    }
    rc = coll_agree_max(group, value, VALUES, rc);
    for (int i = 0; i < COLL_OF_RANKS && rank == 0 && rc == 0; i++)
        if (value[LAST + i] >= 0)
            report_difference(group->runtime->process, i, file, value);
    return rc;
}

int coll_settings_agree(int64_t of[COLL_SETTINGS], coll_group *group, const char *file)
{
    int64_t root[COLL_OF_RANKS];
    int count = COLL_OF_RANKS;
    memcpy(root, of, sizeof root);
    int rc = coll_bcast(group, root, &count);
    rc = agree_on_differences(of, root, group, file, rc);
    if (rc == 0)
        memcpy(of, root, sizeof root);
    return rc;
}
