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
    const coll_refusal refusal = {i, text, strict, -EINVAL, otherwise};
    base_escape(shown, sizeof shown, text);
    parameter_list_valid(i, valid);
    snprintf(otherwise, sizeof otherwise, "The run continues with %s.", parameter_table[i].initial);
    return coll_refuse(process, &refusal, COLL_TEXT_BAD_VALUE, COLL_NAMED(process, i), shown,
                       valid);
}

int coll_settings_check(coll_process *process, coll_parameters text)
{
    int64_t value;
    int rc = 0;
    for (enum parameter i = 0; i < PARAMETERS; i++)
        if (text[i] != NULL && text[i][0] != '\0' && !parameter_parse(i, text[i], &value))
            rc = refuse_value(process, i, text[i], coll_settings_are_strict(text));
    return rc;
}

bool coll_settings_are_strict(coll_parameters text)
{
    return parameter_value(PARAMETER_STRICT, text[PARAMETER_STRICT]) != 0;
}

/* ---- digests ---- */

int64_t coll_settings_digest_text(const char *text)
{
    return (int64_t)(base_digest_text(0, text) >> 1);
}

int64_t coll_settings_digest(const coll_settings *settings)
{
    uint64_t digest = 0;
    for (int i = 0; i < COLL_SETTINGS; i++)
        digest = base_digest(digest, (uint64_t)settings->of[i]);
    return (int64_t)(digest >> 1);
}

/* ---- hints ---- */

coll_hint_values coll_settings_get_hints(const coll_settings *settings)
{
    coll_hint_values hints;
    memcpy(hints.of, settings->of + COLL_FIRST_HINT, sizeof hints.of);
    return hints;
}

void coll_settings_set_hints(coll_settings *settings, const coll_hint_values *hints)
{
    memcpy(settings->of + COLL_FIRST_HINT, hints->of, sizeof hints->of);
}

/* ---- this rank's ---- */

coll_settings coll_settings_collect(coll_parameters text, const coll_mpi_values *mpi,
                                    const coll_hint_values *hints)
{
    coll_settings settings = {{0}};
    for (enum parameter i = 0; i < PARAMETER_VALUES; i++)
        settings.of[i] = parameter_value(i, text[i]);
    for (enum parameter i = PARAMETER_VALUES; i < PARAMETER_OF_FILE; i++)
        settings.of[i] = coll_settings_digest_text(text[i] != NULL ? text[i] : "");
    memcpy(settings.of + COLL_MPI_BUFFER, mpi->of, sizeof mpi->of);
    coll_settings_set_hints(&settings, hints);
    return settings;
}

/* ---- for plans ---- */

static int64_t first_positive(int64_t a, int64_t b, int64_t c)
{
    if (a > 0)
        return a;
    return b > 0 ? b : c;
}

static int64_t wanted_aggregators(const coll_settings *settings, int ranks)
{
    const int64_t *of = settings->of;
    int64_t wanted = first_positive(of[COLL_FIRST_HINT + COLL_HINT_CB_NODES],
                                    of[PARAMETER_NUM_AGGREGATORS], of[COLL_MPI_AGGREGATORS]);
    return wanted < ranks ? wanted : ranks;
}

static int64_t allowed_aggregators(int64_t wanted, int64_t targets)
{
    return wanted > 0 ? division_allowed_aggregators(wanted, targets) : 0;
}

/* collective_buffering counts where the hint for the direction is not given. */
static int64_t choose_aggregation(const coll_hint_values *hints, enum coll_hint direction)
{
    int64_t value = hints->of[direction];
    if (value == 0)
        value = hints->of[COLL_HINT_COLLECTIVE_BUFFERING];
    switch (value) {
    case COLL_HINT_ON: return AGGREGATION_ALWAYS;
    case COLL_HINT_OFF: return AGGREGATION_NEVER;
    default: return AGGREGATION_AUTOMATIC;
    }
}

/* Without stripes an fs component reports one target. */
static int64_t choose_targets(const coll_settings *settings, int64_t stripe)
{
    const int64_t *of = settings->of;
    int64_t fs_targets = of[COLL_FS_STRIPE_SIZE] > 0 ? of[COLL_FS_STRIPE_COUNT] : 0;
    if (stripe == 0)
        return 0;
    return first_positive(of[COLL_FIRST_HINT + COLL_HINT_STRIPING_FACTOR],
                          of[PARAMETER_STRIPE_COUNT], fs_targets > 0 ? fs_targets : 0);
}

coll_plan_settings coll_settings_plan(const coll_settings *settings, int ranks)
{
    const int64_t *of = settings->of;
    const coll_hint_values hints = coll_settings_get_hints(settings);
    int64_t buffer = first_positive(hints.of[COLL_HINT_CB_BUFFER_SIZE],
                                    of[PARAMETER_CYCLE_BUFFER_SIZE], of[COLL_MPI_BUFFER]);
    int64_t stripe = first_positive(hints.of[COLL_HINT_STRIPING_UNIT], of[PARAMETER_STRIPE_SIZE],
                                    of[COLL_FS_STRIPE_SIZE]);
    int64_t targets = choose_targets(settings, stripe);
    if (buffer <= 0)
        buffer = CYCLE_BUFFER;
    return (coll_plan_settings){
        .division =
            {
                .kind = of[PARAMETER_DOMAINS],
                .aggregators = allowed_aggregators(wanted_aggregators(settings, ranks), targets),
                .stripe = stripe,
                .targets = targets,
            },
        .cycles =
            {
                .buffer = buffer < LARGEST_CYCLE_BUFFER ? buffer : LARGEST_CYCLE_BUFFER,
                .in_flight = EXCHANGE_DEPTH,
                .stripe = stripe,
                .wanted = of[COLL_FS_CYCLE],
            },
        .strategy = &plan_strategies[of[PARAMETER_STRATEGY]],
        .write_aggregation = choose_aggregation(&hints, COLL_HINT_CB_WRITE),
        .read_aggregation = choose_aggregation(&hints, COLL_HINT_CB_READ),
    };
}

void coll_settings_tell(const coll_settings *settings, const coll_plan_settings *plan,
                        const coll_group *group, const char *file)
{
    int64_t wanted = wanted_aggregators(settings, group->size),
            allowed = plan->division.aggregators;
    if (wanted > 0 && allowed != wanted)
        coll_log(group->runtime->process, 20,
                 "%s: %lld aggregators instead of %lld, because %lld storage targets cannot be "
                 "shared out evenly among those",
                 file, (long long)allowed, (long long)wanted, (long long)plan->division.targets);
}

static int64_t hint_of_aggregation(int64_t aggregation)
{
    switch (aggregation) {
    case AGGREGATION_ALWAYS: return COLL_HINT_ON;
    case AGGREGATION_NEVER: return COLL_HINT_OFF;
    default: return COLL_HINT_AUTOMATIC;
    }
}

/* Not collective_buffering = true: a program may open the next file with the hints of this one, and
 * Open MPI 4.1 takes true for false there. */
coll_hint_values coll_settings_hints(const coll_plan_settings *settings,
                                     const coll_hint_values *given, int64_t aggregators)
{
    int64_t buffering = given->of[COLL_HINT_COLLECTIVE_BUFFERING];
    return (coll_hint_values){{
        [COLL_HINT_CB_NODES] =
            settings->division.aggregators > 0 ? settings->division.aggregators : aggregators,
        [COLL_HINT_CB_BUFFER_SIZE] = settings->cycles.buffer,
        [COLL_HINT_STRIPING_UNIT] = settings->division.stripe,
        [COLL_HINT_STRIPING_FACTOR] = settings->division.targets,
        [COLL_HINT_CB_WRITE] = hint_of_aggregation(settings->write_aggregation),
        [COLL_HINT_CB_READ] = hint_of_aggregation(settings->read_aggregation),
        [COLL_HINT_COLLECTIVE_BUFFERING] = buffering == COLL_HINT_OFF ? COLL_HINT_OFF : 0,
    }};
}

/* ---- differences ---- */

static const char *const others[] = {
    "stripe size of the file system",
    "stripe count of the file system",
    "length of a cycle that the file system needs",
};

/* For each setting, by maxima over all ranks: the last rank that has another value than rank 0, and
 * the first one, negative. */
enum { LAST, FIRST = LAST + COLL_SETTINGS, ERROR = FIRST + COLL_SETTINGS, VALUES };

/* Ranks in between may have rank 0's. */
static void report_difference(coll_process *process, int setting, const char *file,
                              const int64_t *value)
{
    char what[COLL_NAME_BYTES], ranks[80];
    int64_t first = -value[FIRST + setting], last = value[LAST + setting];
    if (setting >= COLL_FIRST_HINT)
        snprintf(what, sizeof what, "hint %s", coll_hint_name(setting - COLL_FIRST_HINT));
    else if (setting >= COLL_FS_STRIPE_SIZE)
        snprintf(what, sizeof what, "%s", others[setting - COLL_FS_STRIPE_SIZE]);
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
static int agree_on_differences(const coll_settings *own, const coll_settings *root,
                                coll_group *group, const char *file, int rc)
{
    int64_t value[VALUES];
    int rank = group->rank;
    for (int i = 0; i < COLL_SETTINGS; i++) {
        bool differs = own->of[i] != root->of[i];
        value[LAST + i] = differs ? rank : -1;
        value[FIRST + i] = differs ? -rank : -INT64_MAX;
    }
    value[ERROR] = group->runtime->error_class(rc);
    rc = coll_agree_max(group, value, VALUES);
    for (int i = 0; i < COLL_SETTINGS && rank == 0 && rc == 0; i++)
        if (value[LAST + i] >= 0)
            report_difference(group->runtime->process, i, file, value);
    return rc == 0 ? (int)value[ERROR] : rc;
}

int coll_settings_agree(coll_settings *settings, coll_group *group, const char *file)
{
    const coll_settings own = *settings;
    int count = COLL_SETTINGS;
    int rc = coll_bcast(group, settings->of, &count);
    return agree_on_differences(&own, settings, group, file, rc);
}
