/* SPDX-License-Identifier: BSD-3-Clause */
/* MCA parameters, and the hints that come before them. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fcoll_tatp.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "opal/util/output.h"

#include "access/neighbours.h"
#include "base/text.h"
#include "base/unknown.h"
#include "base/version.h"
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
/* Below every stock component that wants a file, because tatp is used where it is asked for; and,
 * where runs are recorded in the user's cache, above all (50). */
#define DEFAULT_PRIORITY "10"
#define AUTOMATIC_PRIORITY 60

/* ---- the parameters ---- */

typedef enum parameter_kind { TEXT, NUMBER, CHOICE, SWITCH } parameter_kind;

enum { MOST_NAMES = 8 };

typedef struct parameter {
    const char *name;
    parameter_kind kind;
    const char *initial;
    mca_base_var_info_lvl_t level;
    const char *help;
    const char *valid;                 /* of a number or switch, for people */
    int64_t least, most;               /* of a number, which may be 0, too */
    const char *names[MOST_NAMES + 1]; /* of a choice, for values from 0 on */
    char *text;                        /* the value */
} parameter;

/* Those before the first setting are in no tatp_settings. */
enum { RELEASE, TOPOLOGY, TARGETS, RECORD, STATS, PRIORITY, STRICT, FIRST_SETTING };
#define OF(setting) (FIRST_SETTING + (setting))
enum { LAYOUT_KEEP, LAYOUT_FIT };

/* Texts for Open MPI, which would take abc for the number 0, and print its own message about an
 * invalid name in each process of a job. */
static parameter parameters[] = {
    [RELEASE] = {"version", TEXT, TATP_VERSION_TEXT, OPAL_INFO_LVL_1,
                 "Version of the component; not to be set"},
    [TOPOLOGY] = {"topology", TEXT, "auto", OPAL_INFO_LVL_3,
                  "Source of the hops between nodes: auto (SLURM_TOPOLOGY_ADDR of the job's "
                  "environment, where it is set), none (two hops between any two nodes), or a file "
                  "with the hops (Matrix Market) or the network (Slurm, ibnetdiscover, ...)"},
    [TARGETS] = {"targets", TEXT, NULL, OPAL_INFO_LVL_3,
                 "File with the host of each storage target, or of each block of the file; empty: "
                 "what the file system says"},
    [RECORD] = {"record", TEXT, NULL, OPAL_INFO_LVL_3,
                "File to record the accesses of this run in, for --map-by dla:file=; auto: one of "
                "the user's cache, unless the program is recorded there, with higher priority of "
                "the component; empty: do not record"},
    [STATS] = {"stats", TEXT, NULL, OPAL_INFO_LVL_3,
               "File that gets a line of statistics (a JSON object) for each collective access; "
               "'-' is standard error; empty: none"},
    [PRIORITY] = {"priority", NUMBER, DEFAULT_PRIORITY, OPAL_INFO_LVL_3,
                  "Priority of the component: above 50 it comes before the stock components, above "
                  "100 also with one or two ranks; below 0 is 0",
                  "a number", INT_MIN, INT_MAX},
    [STRICT] = {"strict", SWITCH, "false", OPAL_INFO_LVL_5,
                "Whether collective I/O fails where a parameter, or a file that it names, cannot "
                "be used; otherwise the run continues without it"},
    [OF(TATP_STRATEGY)] = {"strategy", CHOICE, "tatp", OPAL_INFO_LVL_3,
                           "Strategy of aggregator selection: tatp (least hop-bytes), latp_volume "
                           "and latp_count (most bytes or blocks on the aggregator's node), otp "
                           "(lowest ranks)"},
    [OF(TATP_OBJECTIVE)] = {"objective", CHOICE, "hopbytes", OPAL_INFO_LVL_3,
                            "Objective that strategy tatp minimises: hopbytes, congestion"},
    [OF(TATP_SOLVER)] = {"solver", CHOICE, "auto", OPAL_INFO_LVL_3,
                         "Solver of the linear assignment problem: auto, jv, hungarian, apc, aps"},
    [OF(TATP_DOMAINS)] =
        {"domains", CHOICE, "auto", OPAL_INFO_LVL_3,
         "Division of the accessed range into file domains: even, stripe (the stripes of a "
         "storage target have one aggregator), fitted (pieces of the file go to a node that "
         "accesses them), auto (fitted where that saves more than 5 % of the hop-bytes, else "
         "stripe where stripes and several targets are known, else even)",
         .names = {[DIVISION_AUTO] = "auto",
                   [DIVISION_EVEN] = "even",
                   [DIVISION_STRIPE] = "stripe",
                   [DIVISION_FITTED] = "fitted"}},
    [OF(TATP_LAYOUT)] =
        {"layout", CHOICE, "keep", OPAL_INFO_LVL_3,
         "Layout of a file without data on CephFS: keep, or fit (its stripes are near to what the "
         "ranks access in the first collective write; hint striping_unit takes precedence)",
         .names = {[LAYOUT_KEEP] = "keep", [LAYOUT_FIT] = "fit"}},
    [OF(TATP_RECORD_WEIGHT)] =
        {"record_weight", CHOICE, "count", OPAL_INFO_LVL_5,
         "Weight of two neighbouring regions in the view matrix: count (1) or bytes (of the "
         "smaller region)",
         .names = {[ACCESS_WEIGHT_COUNT] = "count", [ACCESS_WEIGHT_BYTES] = "bytes"}},
    [OF(TATP_STORAGE_WEIGHT)] = {"storage_weight", NUMBER, "1", OPAL_INFO_LVL_3,
                                 "Weight of a hop between an aggregator and a storage server, "
                                 "against one between ranks; 0: servers are not asked for",
                                 "a number of hops up to 1000, or 0", 0, LARGEST_STORAGE_WEIGHT},
    [OF(TATP_NUM_AGGREGATORS)] =
        {"num_aggregators", NUMBER, "0", OPAL_INFO_LVL_3,
         "Number of aggregators (hint cb_nodes takes precedence); 0: chosen by nodes, stripes and "
         "size of the access",
         "a number of ranks, or 0 for a number by the size of a call", 0, INT_MAX},
    [OF(TATP_CYCLE_BUFFER_SIZE)] =
        {"cycle_buffer_size", NUMBER, "0", OPAL_INFO_LVL_3,
         "Bytes of an aggregator's cycle buffers (hint cb_buffer_size takes precedence); 0: "
         "io_ompio_bytes_per_agg",
         "a number of bytes, or 0 for io_ompio_bytes_per_agg", 0, LONG_MAX},
    [OF(TATP_MESSAGE_SIZE)] = {"message_size", NUMBER, "0", OPAL_INFO_LVL_5,
                               "Bytes of a data message at most; 0: chosen by the transport",
                               "a number of bytes from 1024 to 1073741824, or 0", LEAST_MESSAGE,
                               LARGEST_MESSAGE},
    [OF(TATP_UNIT_SIZE)] =
        {"unit_size", NUMBER, "0", OPAL_INFO_LVL_5,
         "Bytes of a unit of fitted domains at least; 0: 64 KiB, or the stripe where that is "
         "larger",
         "a number of bytes up to 4294967296, or 0", 0, DIVISION_LARGEST_STRIPE},
    [OF(TATP_STRIPE_SIZE)] =
        {"stripe_size", NUMBER, "0", OPAL_INFO_LVL_3,
         "Bytes of a stripe of the file system (hint striping_unit takes precedence); 0: what the "
         "file system reports",
         "a number of bytes up to 4294967296, or 0 for what the file system reports", 0,
         DIVISION_LARGEST_STRIPE},
    [OF(TATP_STRIPE_COUNT)] =
        {"stripe_count", NUMBER, "0", OPAL_INFO_LVL_3,
         "Number of storage targets that take the stripes of a file in turn (hint striping_factor "
         "takes precedence); 0: what the file system reports",
         "a number of storage targets, or 0 for what the file system reports", 0, INT_MAX},
    [OF(TATP_SHARED_MEMORY)] = {"shared_memory", SWITCH, "true", OPAL_INFO_LVL_5,
                                "Whether the ranks of a node exchange data through shared memory, "
                                "or through messages like all others"},
};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

static void name_values(void)
{
    for (int i = 0; i < MOST_NAMES && NULL != plan_strategies[i].name; i++)
        parameters[OF(TATP_STRATEGY)].names[i] = plan_strategies[i].name;
    for (int i = 0; i < MOST_NAMES && NULL != plan_objectives[i].name; i++)
        parameters[OF(TATP_OBJECTIVE)].names[i] = plan_objectives[i].name;
    for (int i = 0; i < MOST_NAMES && NULL != lap_solvers[i].name; i++)
        parameters[OF(TATP_SOLVER)].names[i] = lap_solvers[i].name;
}

static void report_unknown(const char *name, const char *nearest)
{
    opal_output(0,
                "fcoll:tatp: there is no MCA parameter fcoll_tatp_%s; did you mean fcoll_tatp_%s?",
                name, nearest);
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
        known[i] = parameters[i].name;
    base_check_settings(&(base_settings){"OMPI_MCA_", "fcoll_tatp_", known, report_unknown},
                        NULL != files ? *files : NULL);
}

int tatp_params_register(void)
{
    int index = 0;
    name_values();
    for (int i = 0; i < PARAMETERS && index >= 0; i++) {
        parameter *p = &parameters[i];
        mca_base_var_flag_t flags = RELEASE == i ? MCA_BASE_VAR_FLAG_DEFAULT_ONLY : 0;
        p->text = (char *)p->initial;
        index =
            mca_base_component_var_register(&mca_fcoll_tatp_component.super.fcollm_version, p->name,
                                            p->help, MCA_BASE_VAR_TYPE_STRING, NULL, 0, flags,
                                            p->level, MCA_BASE_VAR_SCOPE_READONLY, &p->text);
    }
    check_names();
    return index < 0 ? index : OMPI_SUCCESS;
}

/* ---- their values ---- */

/* With the suffixes of Open MPI's own numbers. */
static bool parse_number(const parameter *p, const char *text, int64_t *value)
{
    static const char suffixes[] = "kmgt";
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 0);
    const char *suffix = '\0' != *end ? strchr(suffixes, *end | 0x20) : NULL;
    bool is_number = 0 == errno && end != text && (NULL == suffix ? '\0' == *end : '\0' == end[1]);
    int shift = NULL != suffix ? 10 * (int)(suffix - suffixes + 1) : 0;
    if (!is_number || __builtin_mul_overflow((int64_t)number, INT64_C(1) << shift, value))
        return false;
    return 0 == *value || (*value >= p->least && *value <= p->most);
}

static bool parse_name(const char *const *names, const char *text, int64_t *value)
{
    for (*value = 0; NULL != names[*value]; ++*value)
        if (0 == strcmp(names[*value], text))
            return true;
    return false;
}

static bool parse_switch(const char *text, int64_t *value)
{
    static const char *const names[] = {"false", "true",     "no",      "yes", "n", "y", "f",
                                        "t",     "disabled", "enabled", "0",   "1", NULL};
    bool is_name = parse_name(names, text, value);
    *value %= 2;
    return is_name;
}

static bool parse(const parameter *p, const char *text, int64_t *value)
{
    switch (p->kind) {
    case NUMBER: return parse_number(p, text, value);
    case CHOICE: return parse_name(p->names, text, value);
    case SWITCH: return parse_switch(text, value);
    default: return true;
    }
}

static bool is_given(const parameter *p)
{
    return NULL != p->text && '\0' != p->text[0];
}

/* What cannot be used is as if it were not given. */
static int64_t value_of(int i)
{
    const parameter *p = &parameters[i];
    int64_t value = 0;
    if (!is_given(p) || !parse(p, p->text, &value))
        (void)parse(p, p->initial, &value);
    return value;
}

/* ---- checks ---- */

static void list_names(const parameter *p, char *list, size_t capacity)
{
    size_t used = 0;
    for (int i = 0; NULL != p->names[i] && used < capacity; i++)
        used +=
            (size_t)snprintf(list + used, capacity - used, "%s%s", i > 0 ? ", " : "", p->names[i]);
}

/* Once a process. */
static void report_value(int i)
{
    static atomic_flag reported[PARAMETERS];
    const parameter *p = &parameters[i];
    char name[64], shown[128], valid[128] = "true, false";
    if (atomic_flag_test_and_set(&reported[i]))
        return;
    snprintf(name, sizeof name, "fcoll_tatp_%s", p->name);
    base_escape(shown, sizeof shown, p->text);
    if (NUMBER == p->kind)
        snprintf(valid, sizeof valid, "%s", p->valid);
    else if (CHOICE == p->kind)
        list_names(p, valid, sizeof valid);
    tatp_show_help("bad-value", name, shown, valid, p->initial);
}

int tatp_params_check(void)
{
    int64_t value;
    int rc = OMPI_SUCCESS;
    for (int i = 0; i < PARAMETERS; i++) {
        if (!is_given(&parameters[i]) || parse(&parameters[i], parameters[i].text, &value))
            continue;
        report_value(i);
        rc = tatp_params_refuse(MPI_ERR_ARG);
    }
    return rc;
}

int tatp_params_refuse(int error)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    if (!value_of(STRICT))
        return OMPI_SUCCESS;
    if (!atomic_flag_test_and_set(&reported))
        tatp_show_help("strict");
    return error;
}

int tatp_params_priority(bool automatic)
{
    int priority = (int)value_of(PRIORITY);
    int64_t initial;
    (void)parse(&parameters[PRIORITY], parameters[PRIORITY].initial, &initial);
    if (automatic && initial == priority)
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
    const tatp_params texts = tatp_params_get();
    tatp_settings settings = {{
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
    for (int i = FIRST_SETTING; i < PARAMETERS; i++)
        settings.of[i - FIRST_SETTING] = value_of(i);
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
        .strategy = &plan_strategies[of[TATP_STRATEGY]],
        .objective = &plan_objectives[of[TATP_OBJECTIVE]],
        .solver = &lap_solvers[of[TATP_SOLVER]],
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
    return (tatp_params){parameters[TOPOLOGY].text, parameters[TARGETS].text,
                         parameters[RECORD].text, parameters[STATS].text};
}
