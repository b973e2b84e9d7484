/* SPDX-License-Identifier: BSD-3-Clause */
/* The component: its MCA parameters. */
#include "fcoll_tatp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/neighbours.h"
#include "opal/util/component_help.h"

static int tatp_register(void);
static int tatp_open(void);
static int tatp_close(void);

mca_fcoll_tatp_component_t mca_fcoll_tatp_component = {
    .super =
        {
            .fcollm_version =
                {
                    MCA_FCOLL_BASE_VERSION_2_0_0,
                    .mca_component_name = "tatp",
                    MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                                          OMPI_RELEASE_VERSION),
                    .mca_register_component_params = tatp_register,
                    .mca_open_component = tatp_open,
                    .mca_close_component = tatp_close,
                },
            .fcollm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
            .fcollm_init_query = mca_fcoll_tatp_init_query,
            .fcollm_file_query = mca_fcoll_tatp_file_query,
            .fcollm_file_unquery = mca_fcoll_tatp_file_unquery,
        },
    /* Below every stock component that wants a file: tatp serves those who ask for it. */
    .priority = 10,
};

static void register_variable(const char *name, const char *help, mca_base_var_type_t type,
                              mca_base_var_info_lvl_t level, void *storage)
{
    (void)mca_base_component_var_register(&mca_fcoll_tatp_component.super.fcollm_version, name,
                                          help, type, NULL, 0, 0, level,
                                          MCA_BASE_VAR_SCOPE_READONLY, storage);
}

/* Lists of what a parameter may be: "a (what it is), b (what it is)" for help texts, "a, b" without
 * `notes`. The text is the caller's to free; NULL without memory. */
static char *add_choice(char *text, const char *name, const char *note)
{
    char *longer = NULL;
    int length = NULL != note ? asprintf(&longer, "%s%s%s (%s)", NULL != text ? text : "",
                                         NULL != text ? ", " : "", name, note)
                              : asprintf(&longer, "%s%s%s", NULL != text ? text : "",
                                         NULL != text ? ", " : "", name);
    free(text);
    return length < 0 ? NULL : longer;
}

static char *list_strategies(bool notes)
{
    char *text = NULL;
    for (const plan_strategy *s = plan_strategies; NULL != s->name; s++)
        text = add_choice(text, s->name, notes ? s->note : NULL);
    return text;
}

static char *list_solvers(bool notes)
{
    char *text = NULL;
    for (const lap_solver *s = lap_solvers; NULL != s->name; s++)
        text = add_choice(text, s->name, notes ? s->note : NULL);
    return text;
}

static char *list_objectives(bool notes)
{
    char *text = NULL;
    for (const plan_objective_name *o = plan_objectives; NULL != o->name; o++)
        text = add_choice(text, o->name, notes ? o->note : NULL);
    return text;
}

static char *list_domains(bool notes)
{
    char *text = NULL;
    for (const tatp_domains_name *d = tatp_domains_names; NULL != d->name; d++)
        text = add_choice(text, d->name, notes ? d->note : NULL);
    return text;
}

/* An enum tatp_domains, or -1. */
static int find_domains(const char *name)
{
    for (int d = 0; NULL != name && NULL != tatp_domains_names[d].name; d++)
        if (strcmp(tatp_domains_names[d].name, name) == 0)
            return d;
    return -1;
}

/* By access_weight. */
static const char *const record_weights[] = {"count", "bytes"};

/* An access_weight, or -1. */
static int find_record_weight(const char *name)
{
    for (int w = ACCESS_WEIGHT_COUNT; NULL != name && w <= ACCESS_WEIGHT_BYTES; w++)
        if (strcmp(record_weights[w], name) == 0)
            return w;
    return -1;
}

static void register_choice(const char *name, const char *what, char *choices, char **storage)
{
    char *help = NULL;
    if (asprintf(&help, "%s: %s", what, NULL != choices ? choices : "see the manual") >= 0)
        register_variable(name, help, MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_3, storage);
    free(help);
    free(choices);
}

static int tatp_register(void)
{
    mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    c->strategy_name = (char *)plan_strategies[0].name;
    c->solver_name = (char *)lap_solvers[0].name;
    register_variable("priority",
                      "Priority of the tatp component; above 50 it is taken before the stock "
                      "components, above 100 also with one or two ranks, below 0 never",
                      MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_3, &c->priority);
    register_choice("strategy", "Which rank serves which file domain", list_strategies(true),
                    &c->strategy_name);
    c->objective_name = (char *)plan_objectives[0].name;
    register_choice("objective", "What strategy tatp makes least", list_objectives(true),
                    &c->objective_name);
    register_choice("solver", "Solver of the linear assignment problem", list_solvers(true),
                    &c->solver_name);
    c->topology_name = (char *)"auto";
    register_variable(
        "topology",
        "How far nodes are apart: auto (from the job's environment, SLURM_TOPOLOGY_ADDR, "
        "where it tells; the default), none (two hops between any two), or a file with "
        "the hops (Matrix Market) or that describes the network (Slurm, ibnetdiscover, ...)",
        MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_3, &c->topology_name);
    register_variable(
        "ibnetdiscover",
        "Program that is run, once and without arguments, to describe the network where "
        "fcoll_tatp_topology is auto and the environment does not tell; empty: never",
        MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &c->ibnetdiscover);
    c->ibnetdiscover_timeout = 30;
    register_variable("ibnetdiscover_timeout", "Seconds after which that program is ended",
                      MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_5, &c->ibnetdiscover_timeout);
    register_variable("num_aggregators",
                      "Number of aggregators (the hint cb_nodes comes first); 0: chosen by nodes, "
                      "rates, stripes and size of the access",
                      MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_3, &c->num_aggregators);
    register_variable(
        "link_rate",
        "MB/s that a node's link carries; 0: not known. With fcoll_tatp_access_rate it "
        "says how many aggregators a node needs",
        MCA_BASE_VAR_TYPE_LONG, OPAL_INFO_LVL_5, &c->link_rate);
    register_variable("access_rate",
                      "MB/s that one process reads or writes of a file; 0: not known",
                      MCA_BASE_VAR_TYPE_LONG, OPAL_INFO_LVL_5, &c->access_rate);
    register_variable("cycle_buffer_size",
                      "Bytes of its file domain that an aggregator handles at a time (the hint "
                      "cb_buffer_size comes first); 0: io_ompio_bytes_per_agg",
                      MCA_BASE_VAR_TYPE_LONG, OPAL_INFO_LVL_3, &c->cycle_buffer_size);
    c->message_size = TATP_MESSAGE;
    register_variable(
        "message_size",
        "Bytes of a data message at most. Up to what Open MPI sends at once (the default) "
        "keeps slow links busy; 512 KiB spares copies where processors are the bound",
        MCA_BASE_VAR_TYPE_LONG, OPAL_INFO_LVL_5, &c->message_size);
    c->domains_name = (char *)tatp_domains_names[TATP_DOMAINS_AUTO].name;
    register_choice("domains", "How the accessed range is divided among aggregators",
                    list_domains(true), &c->domains_name);
    register_variable("unit_size",
                      "Bytes of a piece of fitted domains at least; 0: 64 KiB, or the stripe where "
                      "that is larger",
                      MCA_BASE_VAR_TYPE_LONG, OPAL_INFO_LVL_5, &c->unit_size);
    register_variable("stripe_size",
                      "Bytes of a stripe of the file system (the hint striping_unit comes first); "
                      "0: what the file system says",
                      MCA_BASE_VAR_TYPE_LONG, OPAL_INFO_LVL_3, &c->stripe_size);
    register_variable("stripe_count",
                      "Number of storage targets that take a file's stripes in turn (the hint "
                      "striping_factor comes first); 0: what the file system says",
                      MCA_BASE_VAR_TYPE_INT, OPAL_INFO_LVL_3, &c->stripe_count);
    c->shared_memory = true;
    register_variable("shared_memory",
                      "Whether the ranks of a node exchange data through shared memory (true, the "
                      "default) or through messages like all others",
                      MCA_BASE_VAR_TYPE_BOOL, OPAL_INFO_LVL_5, &c->shared_memory);
    register_variable("record",
                      "File to record the accesses of this run in, for --map-by dla:file=; "
                      "empty: do not record",
                      MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_3, &c->record_file);
    c->record_weight_name = (char *)record_weights[ACCESS_WEIGHT_COUNT];
    register_variable(
        "record_weight",
        "What two neighbouring regions count in the view matrix: count (1, the default) "
        "or bytes (those of the shorter one)",
        MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_5, &c->record_weight_name);
    register_variable("stats",
                      "File that gets a line of statistics (a JSON object) for each collective "
                      "call; '-' is standard error; empty: none",
                      MCA_BASE_VAR_TYPE_STRING, OPAL_INFO_LVL_3, &c->stats_file);
    return OMPI_SUCCESS;
}

static int tatp_open(void)
{
    mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    OBJ_CONSTRUCT(&c->lock, opal_mutex_t);
    c->modules = NULL;
    c->idle_buffers = NULL;
    c->idle_segments = NULL;
    c->discovered = false;
    c->fabric = NULL;
    (void)component_help_add_dir(TATP_HELP_FILE, c, TATP_HELP_DIR);
    return OMPI_SUCCESS;
}

void tatp_find_choices(void)
{
    mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    c->strategy = plan_find_strategy(c->strategy_name);
    c->objective = plan_find_objective(c->objective_name);
    c->solver = lap_find_solver(c->solver_name);
    c->domains = find_domains(c->domains_name);
    c->record_weight = find_record_weight(c->record_weight_name);
}

static int refuse_choice(const char *parameter, const char *value, char *choices)
{
    tatp_show_help("bad-value", parameter, value, NULL != choices ? choices : "another");
    free(choices);
    return MPI_ERR_ARG;
}

static int refuse_number(const char *parameter, long value, const char *wanted)
{
    char number[24];
    snprintf(number, sizeof number, "%ld", value);
    tatp_show_help("bad-value", parameter, number, wanted);
    return MPI_ERR_ARG;
}

/* A run must not go on with something else than what was asked for. */
int tatp_check_parameters(void)
{
    const mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    if (NULL == c->strategy)
        return refuse_choice("fcoll_tatp_strategy", c->strategy_name, list_strategies(false));
    if (NULL == c->objective)
        return refuse_choice("fcoll_tatp_objective", c->objective_name, list_objectives(false));
    if (NULL == c->solver)
        return refuse_choice("fcoll_tatp_solver", c->solver_name, list_solvers(false));
    if (c->link_rate < 0)
        return refuse_number("fcoll_tatp_link_rate", c->link_rate,
                             "a number of MB/s, or 0 where it is not known");
    if (c->access_rate < 0)
        return refuse_number("fcoll_tatp_access_rate", c->access_rate,
                             "a number of MB/s, or 0 where it is not known");
    if (c->ibnetdiscover_timeout <= 0)
        return refuse_number("fcoll_tatp_ibnetdiscover_timeout", c->ibnetdiscover_timeout,
                             "a number of seconds above 0");
    if (c->num_aggregators < 0)
        return refuse_number("fcoll_tatp_num_aggregators", c->num_aggregators,
                             "a number of ranks, or 0 for up to four on each node");
    if (c->cycle_buffer_size < 0)
        return refuse_number("fcoll_tatp_cycle_buffer_size", c->cycle_buffer_size,
                             "a number of bytes, or 0 for io_ompio_bytes_per_agg");
    if (c->message_size < TATP_LEAST_MESSAGE || c->message_size > TATP_LARGEST_MESSAGE)
        return refuse_number("fcoll_tatp_message_size", c->message_size,
                             "a number of bytes from 1024 to 1073741824");
    if (c->domains < 0)
        return refuse_choice("fcoll_tatp_domains", c->domains_name, list_domains(false));
    if (c->unit_size < 0 || c->unit_size > TATP_LARGEST_STRIPE)
        return refuse_number("fcoll_tatp_unit_size", c->unit_size,
                             "a number of bytes up to 4294967296, or 0");
    if (c->record_weight < 0)
        return refuse_choice("fcoll_tatp_record_weight", c->record_weight_name,
                             strdup("count, bytes"));
    if (c->stripe_size < 0 || c->stripe_size > TATP_LARGEST_STRIPE)
        return refuse_number("fcoll_tatp_stripe_size", c->stripe_size,
                             "a number of bytes up to 4294967296, or 0 for what the file system "
                             "says");
    if (c->stripe_count < 0)
        return refuse_number("fcoll_tatp_stripe_count", c->stripe_count,
                             "a number of storage targets, or 0 for what the file system says");
    return OMPI_SUCCESS;
}

static int tatp_close(void)
{
    tatp_operations_release();
    tatp_modules_release();
    tatp_buffers_release();
    tatp_segments_release();
    tatp_discover_release();
    OBJ_DESTRUCT(&mca_fcoll_tatp_component.lock);
    return OMPI_SUCCESS;
}
