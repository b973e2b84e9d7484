/* SPDX-License-Identifier: BSD-3-Clause */
/* MCA parameters, and the hints that come before them. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fcoll_tatp.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "opal/mca/base/mca_base_var_enum.h"
#include "opal/util/info.h"
#include "opal/util/output.h"

#include "access/neighbours.h"
#include "exchange/exchange.h"
#include "plan/division.h"

/* Smaller messages would be more requests than data, and a length is an int. */
#define LEAST_MESSAGE (1 << 10)
#define LARGEST_MESSAGE (1 << 30)
/* A window has to fit into one message and one write. */
#define LARGEST_CYCLE_BUFFER ((int64_t)EXCHANGE_DEPTH << 30)
#define CYCLE_BUFFER (32 << 20)
/* Hop-bytes stay exact. */
#define LARGEST_STORAGE_WEIGHT 1000

/* ---- choices: parameters whose value is a name ---- */

enum { MOST_VALUES = 8 };

typedef struct choice_parameter {
    const char *name, *help;
    mca_base_var_info_lvl_t level;
    int *value;
    mca_base_var_enum_value_t values[MOST_VALUES + 1]; /* the last has no name */
    const mca_base_var_enum_t *enumerator;             /* MCA's list of choices */
    char *invalid;                                     /* the text of value -1, or NULL */
} choice_parameter;

enum { STRATEGY, OBJECTIVE, SOLVER, DOMAINS, LAYOUT, RECORD_WEIGHT, CHOICES };
enum { LAYOUT_KEEP, LAYOUT_FIT };

static choice_parameter choices[CHOICES] = {
    [STRATEGY] = {"strategy",
                  "Strategy of aggregator selection: tatp (least hop-bytes), latp_volume and "
                  "latp_count (most bytes or blocks on the aggregator's node), otp (lowest ranks)",
                  OPAL_INFO_LVL_3, &mca_fcoll_tatp_component.strategy},
    [OBJECTIVE] = {"objective", "Objective that strategy tatp minimises", OPAL_INFO_LVL_3,
                   &mca_fcoll_tatp_component.objective},
    [SOLVER] = {"solver", "Solver of the linear assignment problem", OPAL_INFO_LVL_3,
                &mca_fcoll_tatp_component.solver},
    [DOMAINS] =
        {"domains",
         "Division of the accessed range into file domains: even, stripe (the stripes of a "
         "storage target have one aggregator), fitted (pieces of the file go to a node that "
         "accesses them), auto (fitted where that saves more than 5 % of the hop-bytes, else "
         "stripe where stripes and several targets are known, else even)",
         OPAL_INFO_LVL_3,
         &mca_fcoll_tatp_component.domains,
         {{DIVISION_AUTO, "auto"},
          {DIVISION_EVEN, "even"},
          {DIVISION_STRIPE, "stripe"},
          {DIVISION_FITTED, "fitted"}}},
    [LAYOUT] = {"layout",
                "Layout of a file without data on CephFS: keep, or fit (its stripes are near to "
                "what the ranks access in the first collective write; hint striping_unit takes "
                "precedence)",
                OPAL_INFO_LVL_3,
                &mca_fcoll_tatp_component.layout,
                {{LAYOUT_KEEP, "keep"}, {LAYOUT_FIT, "fit"}}},
    [RECORD_WEIGHT] = {"record_weight",
                       "Weight of two neighbouring regions in the view matrix: count (1) or bytes "
                       "(of the smaller region)",
                       OPAL_INFO_LVL_5,
                       &mca_fcoll_tatp_component.record_weight,
                       {{ACCESS_WEIGHT_COUNT, "count"}, {ACCESS_WEIGHT_BYTES, "bytes"}}},
};

static choice_parameter *choice_of(const mca_base_var_enum_t *enumerator)
{
    choice_parameter *choice = choices;
    while (choice->enumerator != enumerator)
        choice++;
    return choice;
}

/* Takes any text, so that the module reports a wrong one when a file is opened and fails, where
 * Open MPI's own function would print a message and continue with the default. */
static int choice_value(mca_base_var_enum_t *self, const char *text, int *value)
{
    choice_parameter *choice = choice_of(self);
    for (*value = 0; NULL != choice->values[*value].string; ++*value)
        if (0 == strcmp(choice->values[*value].string, text))
            return OPAL_SUCCESS;
    free(choice->invalid);
    choice->invalid = strdup(text);
    *value = -1;
    return OPAL_SUCCESS;
}

static int choice_text(mca_base_var_enum_t *self, const int value, char **text)
{
    const choice_parameter *choice = choice_of(self);
    const char *found = NULL == choice->invalid ? "(invalid)" : choice->invalid;
    if (value >= self->enum_value_count || value < -1)
        return OPAL_ERR_VALUE_OUT_OF_BOUNDS;
    if (value >= 0)
        found = choice->values[value].string;
    if (NULL == text)
        return OPAL_SUCCESS;
    *text = strdup(found);
    return NULL == *text ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_SUCCESS;
}

static void name_values(void)
{
    for (int i = 0; i < MOST_VALUES && NULL != plan_strategies[i].name; i++)
        choices[STRATEGY].values[i] = (mca_base_var_enum_value_t){i, plan_strategies[i].name};
    for (int i = 0; i < MOST_VALUES && NULL != plan_objectives[i].name; i++)
        choices[OBJECTIVE].values[i] = (mca_base_var_enum_value_t){i, plan_objectives[i].name};
    for (int i = 0; i < MOST_VALUES && NULL != lap_solvers[i].name; i++)
        choices[SOLVER].values[i] = (mca_base_var_enum_value_t){i, lap_solvers[i].name};
}

/* ---- registration ---- */

static int register_parameter(const char *name, const char *help, mca_base_var_type_t type,
                              mca_base_var_enum_t *enumerator, mca_base_var_info_lvl_t level,
                              void *storage)
{
    int index = mca_base_component_var_register(&mca_fcoll_tatp_component.super.fcollm_version,
                                                name, help, type, enumerator, 0, 0, level,
                                                MCA_BASE_VAR_SCOPE_READONLY, storage);
    return index < 0 ? index : OMPI_SUCCESS;
}

static int register_enum(choice_parameter *choice)
{
    mca_base_var_enum_t *enumerator;
    int rc = mca_base_var_enum_create(choice->name, choice->values, &enumerator);
    if (OPAL_SUCCESS != rc)
        return rc;
    enumerator->value_from_string = choice_value;
    enumerator->string_from_value = choice_text;
    choice->enumerator = enumerator;
    *choice->value = 0;
    rc = register_parameter(choice->name, choice->help, MCA_BASE_VAR_TYPE_INT, enumerator,
                            choice->level, choice->value);
    OBJ_RELEASE(enumerator);
    return rc;
}

int tatp_params_register(void)
{
    mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    const struct {
        const char *name, *help;
        mca_base_var_type_t type;
        mca_base_var_info_lvl_t level;
        void *storage;
    } parameters[] = {
        {"priority",
         "Priority of the component: above 50 it comes before the stock components, above 100 also "
         "with one or two ranks; below 0 is 0",
         MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_3, &c->priority},
        {"topology",
         "Source of the hops between nodes: auto (SLURM_TOPOLOGY_ADDR of the job's environment, "
         "where it is set), none (two hops between any two nodes), or a file with the hops "
         "(Matrix Market) or the network (Slurm, ibnetdiscover, ...)",
         MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_3, &c->topology},
        {"targets",
         "File with the host of each storage target, or of each block of the file; empty: what the "
         "file system says",
         MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_3, &c->targets_file},
        {"storage_weight",
         "Weight of a hop between an aggregator and a storage server, against one between ranks; "
         "0: servers are not asked for",
         MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_3, &c->storage_weight},
        {"num_aggregators",
         "Number of aggregators (hint cb_nodes takes precedence); 0: chosen by nodes, stripes and "
         "size of the access",
         MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_3, &c->num_aggregators},
        {"cycle_buffer_size",
         "Bytes of an aggregator's cycle buffers (hint cb_buffer_size takes precedence); 0: "
         "io_ompio_bytes_per_agg",
         MCA_BASE_VAR_TYPE_LONG, OPAL_INFO_LVL_3, &c->cycle_buffer_size},
        {"message_size", "Bytes of a data message at most; 0: chosen by the transport",
         MCA_BASE_VAR_TYPE_LONG, OPAL_INFO_LVL_5, &c->message_size},
        {"unit_size",
         "Bytes of a unit of fitted domains at least; 0: 64 KiB, or the stripe where that is "
         "larger",
         MCA_BASE_VAR_TYPE_LONG, OPAL_INFO_LVL_5, &c->unit_size},
        {"stripe_size",
         "Bytes of a stripe of the file system (hint striping_unit takes precedence); 0: what the "
         "file system reports",
         MCA_BASE_VAR_TYPE_LONG, OPAL_INFO_LVL_3, &c->stripe_size},
        {"stripe_count",
         "Number of storage targets that take the stripes of a file in turn (hint striping_factor "
         "takes precedence); 0: what the file system reports",
         MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_3, &c->stripe_count},
        {"shared_memory",
         "Whether the ranks of a node exchange data through shared memory, or through messages "
         "like all others",
         MCA_BASE_VAR_TYPE_BOOL, OPAL_INFO_LVL_5, &c->shared_memory},
        {"record",
         "File to record the accesses of this run in, for --map-by dla:file=; auto: one of the "
         "user's cache, unless the program is recorded there, with higher priority of the "
         "component; empty: do not record",
         MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_3, &c->record_file},
        {"stats",
         "File that gets a line of statistics (a JSON object) for each collective access; '-' is "
         "standard error; empty: none",
         MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_3, &c->stats_file},
    };
    int rc = OMPI_SUCCESS;
    c->topology = (char *)"auto";
    c->shared_memory = true;
    c->storage_weight = 1;
    name_values();
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters && OMPI_SUCCESS == rc; i++)
        rc = register_parameter(parameters[i].name, parameters[i].help, parameters[i].type, NULL,
                                parameters[i].level, parameters[i].storage);
    for (int i = 0; i < CHOICES && OMPI_SUCCESS == rc; i++)
        rc = register_enum(&choices[i]);
    return rc;
}

void tatp_params_release(void)
{
    for (int i = 0; i < CHOICES; i++) {
        free(choices[i].invalid);
        choices[i].invalid = NULL;
    }
}

/* ---- checks ---- */

static int refuse_value(const char *parameter, const char *value, const char *valid)
{
    char name[64];
    snprintf(name, sizeof name, "fcoll_tatp_%s", parameter);
    tatp_show_help("bad-value", name, value, valid);
    return MPI_ERR_ARG;
}

static int refuse_choice(const choice_parameter *choice)
{
    char valid[256] = "";
    size_t used = 0;
    for (int i = 0; NULL != choice->values[i].string && used < sizeof valid; i++)
        used += (size_t)snprintf(valid + used, sizeof valid - used, "%s%s", i > 0 ? ", " : "",
                                 choice->values[i].string);
    return refuse_value(choice->name, NULL != choice->invalid ? choice->invalid : "(a number)",
                        valid);
}

/* A run must not continue with anything but what was asked for. */
int tatp_params_check(void)
{
    const mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    const struct {
        const char *name;
        int64_t value, least, most;
        const char *valid;
    } limits[] = {
        {"storage_weight", c->storage_weight, 0, LARGEST_STORAGE_WEIGHT,
         "a number of hops up to 1000, or 0"},
        {"num_aggregators", c->num_aggregators, 0, INT_MAX,
         "a number of ranks, or 0 for a number by the size of a call"},
        {"cycle_buffer_size", c->cycle_buffer_size, 0, LONG_MAX,
         "a number of bytes, or 0 for io_ompio_bytes_per_agg"},
        {"message_size", 0 == c->message_size ? LEAST_MESSAGE : c->message_size, LEAST_MESSAGE,
         LARGEST_MESSAGE, "a number of bytes from 1024 to 1073741824, or 0"},
        {"unit_size", c->unit_size, 0, DIVISION_LARGEST_STRIPE,
         "a number of bytes up to 4294967296, or 0"},
        {"stripe_size", c->stripe_size, 0, DIVISION_LARGEST_STRIPE,
         "a number of bytes up to 4294967296, or 0 for what the file system reports"},
        {"stripe_count", c->stripe_count, 0, INT_MAX,
         "a number of storage targets, or 0 for what the file system reports"},
    };
    for (int i = 0; i < CHOICES; i++)
        if (*choices[i].value < 0)
            return refuse_choice(&choices[i]);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].value >= limits[i].least && limits[i].value <= limits[i].most)
            continue;
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)limits[i].value);
        return refuse_value(limits[i].name, number, limits[i].valid);
    }
    return OMPI_SUCCESS;
}

/* ---- values ---- */

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
    const mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    const tatp_params texts = tatp_params_get();
    tatp_settings settings = {{
        [TATP_STRATEGY] = c->strategy,
        [TATP_OBJECTIVE] = c->objective,
        [TATP_SOLVER] = c->solver,
        [TATP_DOMAINS] = c->domains,
        [TATP_RECORD_WEIGHT] = c->record_weight,
        [TATP_NUM_AGGREGATORS] = c->num_aggregators,
        [TATP_CYCLE_BUFFER_SIZE] = c->cycle_buffer_size,
        [TATP_MESSAGE_SIZE] = c->message_size,
        [TATP_UNIT_SIZE] = c->unit_size,
        [TATP_STRIPE_SIZE] = c->stripe_size,
        [TATP_STRIPE_COUNT] = c->stripe_count,
        [TATP_SHARED_MEMORY] = c->shared_memory,
        [TATP_STORAGE_WEIGHT] = c->storage_weight,
        [TATP_LAYOUT] = c->layout,
        [TATP_TOPOLOGY] = tatp_settings_digest_text(texts.topology),
        [TATP_TARGETS] = tatp_settings_digest_text(texts.targets_file),
        [TATP_RECORD] = tatp_settings_digest_text(texts.record_file),
        [TATP_STATS] = tatp_settings_digest_text(texts.stats_file),
        [TATP_OMPIO_BUFFER] = OMPIO_MCA_GET(fh, bytes_per_agg),
        [TATP_OMPIO_AGGREGATORS] = OMPIO_MCA_GET(fh, num_aggregators),
        [TATP_FS_STRIPE_SIZE] =
            fh->f_stripe_size <= DIVISION_LARGEST_STRIPE ? (int64_t)fh->f_stripe_size : 0,
        [TATP_FS_STRIPE_COUNT] = fh->f_stripe_count,
    }};
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
    return first_positive(of[TATP_FIRST_HINT + TATP_HINT_STRIPING_FACTOR], of[TATP_STRIPE_COUNT],
                          fs_targets > 0 ? fs_targets : 0);
}

tatp_plan_settings tatp_params_plan(const ompio_file_t *fh, const tatp_settings *settings)
{
    const int64_t *of = settings->of;
    const tatp_hint_values hints = tatp_settings_get_hints(settings);
    int64_t buffer = first_positive(hints.of[TATP_HINT_CB_BUFFER_SIZE], of[TATP_CYCLE_BUFFER_SIZE],
                                    of[TATP_OMPIO_BUFFER]);
    int64_t aggregators = first_positive(hints.of[TATP_HINT_CB_NODES], of[TATP_NUM_AGGREGATORS],
                                         of[TATP_OMPIO_AGGREGATORS]);
    int64_t unit = hints.of[TATP_HINT_STRIPING_UNIT];
    int64_t stripe = first_positive(TATP_STRIPING_AUTO != unit ? unit : 0, of[TATP_STRIPE_SIZE],
                                    of[TATP_FS_STRIPE_SIZE]);
    int64_t targets = choose_targets(settings, stripe);
    if (buffer <= 0)
        buffer = CYCLE_BUFFER;
    return (tatp_plan_settings){
        .division =
            {
                .kind = of[TATP_DOMAINS],
                .aggregators = allow_aggregators(fh, aggregators, targets),
                .stripe = stripe,
                .targets = targets,
                .unit = of[TATP_UNIT_SIZE],
            },
        .cycles =
            {
                .buffer = buffer < LARGEST_CYCLE_BUFFER ? buffer : LARGEST_CYCLE_BUFFER,
                .in_flight = EXCHANGE_DEPTH,
                .message = of[TATP_MESSAGE_SIZE],
                .stripe = stripe,
            },
        .strategy = of[TATP_STRATEGY] >= 0 ? &plan_strategies[of[TATP_STRATEGY]] : NULL,
        .objective = of[TATP_OBJECTIVE] >= 0 ? &plan_objectives[of[TATP_OBJECTIVE]] : NULL,
        .solver = of[TATP_SOLVER] >= 0 ? &lap_solvers[of[TATP_SOLVER]] : NULL,
        .write_aggregation = choose_aggregation(&hints, TATP_HINT_CB_WRITE),
        .read_aggregation = choose_aggregation(&hints, TATP_HINT_CB_READ),
    };
}

bool tatp_params_fit_layout(const tatp_settings *settings)
{
    int64_t unit = settings->of[TATP_FIRST_HINT + TATP_HINT_STRIPING_UNIT];
    return unit > 0 ? TATP_STRIPING_AUTO == unit : LAYOUT_FIT == settings->of[TATP_LAYOUT];
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
    bool is_auto = TATP_STRIPING_AUTO == given->of[TATP_HINT_STRIPING_UNIT];
    return (tatp_hint_values){{
        [TATP_HINT_CB_NODES] =
            settings->division.aggregators > 0 ? settings->division.aggregators : aggregators,
        [TATP_HINT_CB_BUFFER_SIZE] = settings->cycles.buffer,
        [TATP_HINT_STRIPING_UNIT] = is_auto ? TATP_STRIPING_AUTO : settings->division.stripe,
        [TATP_HINT_STRIPING_FACTOR] = settings->division.targets,
        [TATP_HINT_CB_WRITE] = hint_of_aggregation(settings->write_aggregation),
        [TATP_HINT_CB_READ] = hint_of_aggregation(settings->read_aggregation),
        [TATP_HINT_COLLECTIVE_BUFFERING] = TATP_HINT_OFF == buffering ? TATP_HINT_OFF : 0,
    }};
}

tatp_params tatp_params_get(void)
{
    const mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    return (tatp_params){c->topology, c->targets_file, c->record_file, c->stats_file};
}
