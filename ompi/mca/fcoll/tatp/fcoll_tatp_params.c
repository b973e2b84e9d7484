/* SPDX-License-Identifier: BSD-3-Clause */
/* MCA parameters, and the hints that come before them. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fcoll_tatp.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "opal/util/output.h"

#include "base/text.h"
#include "base/unknown.h"
#include "exchange/exchange.h"
#include "plan/division.h"

/* A window has to fit into one message and one write. */
#define LARGEST_CYCLE_BUFFER ((int64_t)EXCHANGE_DEPTH << 30)
#define CYCLE_BUFFER (32 << 20)
/* Where runs are recorded in the user's cache it comes before the stock components (50); else after
 * those that want a file, because it is used where it is asked for. */
#define AUTOMATIC_PRIORITY 60

/* ---- the parameters ---- */

/* Texts for Open MPI, which would take abc for the number 0, and print its own message about an
 * invalid name in each process of a job. */
static char *text_of[PARAMETERS];

static void report_unknown(const char *name, const char *advice)
{
    opal_output(0, "fcoll:tatp: there is no MCA parameter fcoll_tatp_%s; %s", name, advice);
}

static void check_names(void)
{
    const char *known[PARAMETERS + 1] = {NULL}, *rank = getenv("PMIX_RANK");
    char *const *files = NULL;
    int index = mca_base_var_find("opal", "mca", "base", "param_files");
    if (NULL != rank && 0 != strcmp(rank, "0"))
        return;
    if (index >= 0)
        (void)mca_base_var_get_value(index, &files, NULL, NULL);
    for (int i = 0; i < PARAMETERS; i++)
        known[i] = parameter_table[i].name;
    base_check_settings(
        &(base_settings){"OMPI_MCA_", "fcoll_tatp_", known, report_unknown, parameter_removed},
        NULL != files ? *files : NULL);
}

int tatp_params_register(void)
{
    int index = 0;
    for (int i = 0; i < PARAMETERS && index >= 0; i++) {
        const parameter_description *p = &parameter_table[i];
        mca_base_var_flag_t flags = PARAMETER_VERSION == i ? MCA_BASE_VAR_FLAG_DEFAULT_ONLY : 0;
        text_of[i] = (char *)p->initial;
        index = mca_base_component_var_register(
            &mca_fcoll_tatp_component.fcollm_version, p->name, p->help, MCA_BASE_VAR_TYPE_STRING,
            NULL, 0, flags, OPAL_INFO_LVL_1 + (mca_base_var_info_lvl_t)(p->level - 1),
            MCA_BASE_VAR_SCOPE_READONLY, &text_of[i]);
    }
    check_names();
    return index < 0 ? index : OMPI_SUCCESS;
}

const char *tatp_params_text(enum parameter parameter)
{
    return NULL != text_of[parameter] ? text_of[parameter] : "";
}

static int64_t value_of(enum parameter parameter)
{
    return parameter_value(parameter, text_of[parameter]);
}

/* ---- checks ---- */

/* Once a process. */
static void report_value(enum parameter i)
{
    static atomic_flag reported[PARAMETERS];
    char name[64], shown[128], valid[PARAMETER_VALID_BYTES];
    if (atomic_flag_test_and_set(&reported[i]))
        return;
    snprintf(name, sizeof name, "fcoll_tatp_%s", parameter_table[i].name);
    base_escape(shown, sizeof shown, text_of[i]);
    parameter_list_valid(i, valid);
    tatp_show_help("bad-value", name, shown, valid, parameter_table[i].initial);
}

int tatp_params_check(void)
{
    int64_t value;
    int rc = OMPI_SUCCESS;
    for (enum parameter i = 0; i < PARAMETERS; i++) {
        if (NULL == text_of[i] || '\0' == text_of[i][0] || parameter_parse(i, text_of[i], &value))
            continue;
        report_value(i);
        rc = tatp_params_refuse(MPI_ERR_ARG);
    }
    return rc;
}

int tatp_params_refuse(int error)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    if (!value_of(PARAMETER_STRICT))
        return OMPI_SUCCESS;
    if (!atomic_flag_test_and_set(&reported))
        tatp_show_help("strict");
    return error;
}

int tatp_params_priority(bool automatic)
{
    int priority = (int)value_of(PARAMETER_PRIORITY);
    if (automatic && parameter_value(PARAMETER_PRIORITY, NULL) == priority)
        return AUTOMATIC_PRIORITY;
    return priority > 0 ? priority : 0; /* OMPIO takes none below 0 */
}

/* ---- settings of a file ---- */

static int64_t first_positive(int64_t a, int64_t b, int64_t c)
{
    if (a > 0)
        return a;
    return b > 0 ? b : c;
}

/* One rank reports, because all decide alike. */
static int64_t allow_aggregators(const ompio_file_t *fh, int64_t wanted, int64_t targets)
{
    if (wanted > fh->f_size)
        wanted = fh->f_size;
    if (wanted <= 0)
        return 0;
    int64_t allowed = division_allowed_aggregators(wanted, targets);
    if (allowed != wanted && 0 == fh->f_rank)
        opal_output_verbose(MCA_BASE_VERBOSE_WARN, ompi_fcoll_base_framework.framework_output,
                            "fcoll:tatp: %s: %lld aggregators in place of %lld, because %lld "
                            "storage targets cannot be shared out evenly among those",
                            fh->f_filename, (long long)allowed, (long long)wanted,
                            (long long)targets);
    return allowed;
}

/* collective_buffering counts where the hint for the direction is not given. */
static int64_t choose_aggregation(const tatp_hint_values *hints, enum tatp_hint direction)
{
    int64_t value = hints->of[direction];
    if (0 == value)
        value = hints->of[TATP_HINT_COLLECTIVE_BUFFERING];
    switch (value) {
    case TATP_HINT_ON: return AGGREGATION_ALWAYS;
    case TATP_HINT_OFF: return AGGREGATION_NEVER;
    default: return AGGREGATION_AUTOMATIC;
    }
}

tatp_settings tatp_params_collect(ompio_file_t *fh, const tatp_hint_values *hints)
{
    tatp_settings settings = {{
        [TATP_OMPIO_BUFFER] = OMPIO_MCA_GET(fh, bytes_per_agg),
        [TATP_OMPIO_AGGREGATORS] = OMPIO_MCA_GET(fh, num_aggregators),
        [TATP_FS_STRIPE_SIZE] =
            fh->f_stripe_size <= DIVISION_LARGEST_STRIPE ? (int64_t)fh->f_stripe_size : 0,
        [TATP_FS_STRIPE_COUNT] = fh->f_stripe_count,
    }};
    for (enum parameter i = 0; i < PARAMETER_VALUES; i++)
        settings.of[i] = value_of(i);
    for (enum parameter i = PARAMETER_VALUES; i < PARAMETER_OF_FILE; i++)
        settings.of[i] = tatp_settings_digest_text(tatp_params_text(i));
    tatp_settings_set_hints(&settings, hints);
    return settings;
}

/* Without stripes an fs component reports one target. */
static int64_t choose_targets(const tatp_settings *settings, int64_t stripe)
{
    const int64_t *of = settings->of;
    int64_t fs_targets = of[TATP_FS_STRIPE_SIZE] > 0 ? of[TATP_FS_STRIPE_COUNT] : 0;
    if (0 == stripe)
        return 0;
    return first_positive(of[TATP_FIRST_HINT + TATP_HINT_STRIPING_FACTOR],
                          of[PARAMETER_STRIPE_COUNT], fs_targets > 0 ? fs_targets : 0);
}

tatp_plan_settings tatp_params_plan(const ompio_file_t *fh, const tatp_settings *settings)
{
    const int64_t *of = settings->of;
    const tatp_hint_values hints = tatp_settings_get_hints(settings);
    int64_t buffer = first_positive(hints.of[TATP_HINT_CB_BUFFER_SIZE],
                                    of[PARAMETER_CYCLE_BUFFER_SIZE], of[TATP_OMPIO_BUFFER]);
    int64_t aggregators = first_positive(hints.of[TATP_HINT_CB_NODES],
                                         of[PARAMETER_NUM_AGGREGATORS], of[TATP_OMPIO_AGGREGATORS]);
    int64_t stripe = first_positive(hints.of[TATP_HINT_STRIPING_UNIT], of[PARAMETER_STRIPE_SIZE],
                                    of[TATP_FS_STRIPE_SIZE]);
    int64_t targets = choose_targets(settings, stripe);
    if (buffer <= 0)
        buffer = CYCLE_BUFFER;
    return (tatp_plan_settings){
        .division =
            {
                .kind = of[PARAMETER_DOMAINS],
                .aggregators = allow_aggregators(fh, aggregators, targets),
                .stripe = stripe,
                .targets = targets,
            },
        .cycles =
            {
                .buffer = buffer < LARGEST_CYCLE_BUFFER ? buffer : LARGEST_CYCLE_BUFFER,
                .in_flight = EXCHANGE_DEPTH,
                .stripe = stripe,
                .wanted = of[TATP_FS_CYCLE],
            },
        .strategy = &plan_strategies[of[PARAMETER_STRATEGY]],
        .write_aggregation = choose_aggregation(&hints, TATP_HINT_CB_WRITE),
        .read_aggregation = choose_aggregation(&hints, TATP_HINT_CB_READ),
    };
}

static int64_t hint_of_aggregation(int64_t aggregation)
{
    switch (aggregation) {
    case AGGREGATION_ALWAYS: return TATP_HINT_ON;
    case AGGREGATION_NEVER: return TATP_HINT_OFF;
    default: return TATP_HINT_AUTOMATIC;
    }
}

/* Not collective_buffering = true: a program may open the next file with the hints of this one, and
 * Open MPI 4.1 takes true for false there. */
tatp_hint_values tatp_params_hints(const tatp_plan_settings *settings,
                                   const tatp_hint_values *given, int64_t aggregators)
{
    int64_t buffering = given->of[TATP_HINT_COLLECTIVE_BUFFERING];
    return (tatp_hint_values){{
        [TATP_HINT_CB_NODES] =
            settings->division.aggregators > 0 ? settings->division.aggregators : aggregators,
        [TATP_HINT_CB_BUFFER_SIZE] = settings->cycles.buffer,
        [TATP_HINT_STRIPING_UNIT] = settings->division.stripe,
        [TATP_HINT_STRIPING_FACTOR] = settings->division.targets,
        [TATP_HINT_CB_WRITE] = hint_of_aggregation(settings->write_aggregation),
        [TATP_HINT_CB_READ] = hint_of_aggregation(settings->read_aggregation),
        [TATP_HINT_COLLECTIVE_BUFFERING] = TATP_HINT_OFF == buffering ? TATP_HINT_OFF : 0,
    }};
}
