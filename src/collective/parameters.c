/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/parameters.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "plan/division.h"

const parameter_description parameter_table[PARAMETERS] = {
    [PARAMETER_VERSION] = {"version", PARAMETER_TEXT, TATP_VERSION_TEXT, 1,
                           "Version of the component; not to be set"},
    [PARAMETER_TOPOLOGY] =
        {"topology", PARAMETER_TEXT, "auto", 3,
         "Source of the hops between nodes: auto (SLURM_TOPOLOGY_ADDR of the job's "
         "environment, where it is set), none (two hops between any two nodes), or a file "
         "with the hops (Matrix Market) or the network (Slurm, ibnetdiscover, ...)"},
    [PARAMETER_RECORD] =
        {"record", PARAMETER_TEXT, NULL, 3,
         "File to record the accesses of this run in, for --map-by dla:file=; auto: one of "
         "the user's cache, unless the program is recorded there, with higher priority of "
         "the component; empty: do not record"},
    [PARAMETER_STATS] =
        {"stats", PARAMETER_TEXT, NULL, 3,
         "File that gets lines of statistics (JSON objects); in its name %u is the user, %j the "
         "job, %s its step, %x the program and %% is %; '-' is standard error; empty: none"},
    [PARAMETER_STATS_LEVEL] =
        {"stats_level", PARAMETER_CHOICE, "calls", 3,
         "Lines of statistics: one for each collective access (calls), or for each file one of all "
         "writes and one of all reads when it is closed (files)",
         .names = {[PARAMETER_STATS_CALLS] = "calls", [PARAMETER_STATS_FILES] = "files"}},
    [PARAMETER_PRIORITY] =
        {"priority", PARAMETER_NUMBER, "10", 3,
         "Priority of the component: above 50 it comes before the stock components, above "
         "100 also with one or two ranks; below 0 is 0",
         "a number", INT_MIN, INT_MAX},
    [PARAMETER_STRICT] =
        {"strict", PARAMETER_SWITCH, "false", 5,
         "Whether collective I/O fails where a parameter, or a file that it names, cannot "
         "be used; otherwise the run continues without it"},
    [PARAMETER_ROMIO_RANKS] =
        {"romio_ranks", PARAMETER_NUMBER, "7072", 5,
         "Number of ranks from which on OMPIO takes too much memory (200 MB a rank): the component "
         "says so, and libtatp-mpiio.so prefers ROMIO; 0: never",
         "a number of ranks, or 0 for never", 0, INT_MAX},
    [PARAMETER_STRATEGY] =
        {"strategy", PARAMETER_CHOICE, "tatp", 3,
         "Strategy of aggregator selection: tatp (least hop-bytes), latp_volume and latp_count "
         "(most bytes or blocks on the aggregator's node), otp (lowest ranks)",
         .names = {"tatp", "latp_volume", "latp_count", "otp"}},
    [PARAMETER_DOMAINS] =
        {"domains", PARAMETER_CHOICE, "auto", 3,
         "Division of the accessed range into file domains: even, stripe (the stripes of a "
         "storage target have one aggregator), fitted (pieces of the file go to a node that "
         "accesses them), auto (fitted where that saves more than 5 % of the hop-bytes, else "
         "stripe where stripes and several targets are known, else even)",
         .names = {[DIVISION_AUTO] = "auto",
                   [DIVISION_EVEN] = "even",
                   [DIVISION_STRIPE] = "stripe",
                   [DIVISION_FITTED] = "fitted"}},
    [PARAMETER_NUM_AGGREGATORS] =
        {"num_aggregators", PARAMETER_NUMBER, "0", 3,
         "Number of aggregators (hint cb_nodes takes precedence); 0: chosen by nodes, stripes and "
         "size of the access",
         "a number of ranks, or 0 for a number by the size of a call", 0, INT_MAX},
    [PARAMETER_CYCLE_BUFFER_SIZE] =
        {"cycle_buffer_size", PARAMETER_NUMBER, "0", 3,
         "Bytes of an aggregator's cycle buffers (hint cb_buffer_size takes precedence); 0: "
         "io_ompio_bytes_per_agg",
         "a number of bytes, or 0 for io_ompio_bytes_per_agg", 0, LONG_MAX},
    [PARAMETER_STRIPE_SIZE] =
        {"stripe_size", PARAMETER_NUMBER, "0", 3,
         "Bytes of a stripe of the file system (hint striping_unit takes precedence); 0: what the "
         "file system reports",
         "a number of bytes up to 4294967296, or 0 for what the file system reports", 0,
         DIVISION_LARGEST_STRIPE},
    [PARAMETER_STRIPE_COUNT] =
        {"stripe_count", PARAMETER_NUMBER, "0", 3,
         "Number of storage targets that take the stripes of a file in turn (hint striping_factor "
         "takes precedence); 0: what the file system reports",
         "a number of storage targets, or 0 for what the file system reports", 0, INT_MAX},
    [PARAMETER_SHARED_MEMORY] = {"shared_memory", PARAMETER_SWITCH, "true", 5,
                                 "Whether the ranks of a node exchange data through shared memory, "
                                 "or through messages like all others"},
};

static const base_removed removed[] = {
    {"solver", "tatp assign has --solver"},
    {"targets", "aggregators are selected without regard to storage servers"},
    {"storage_weight", "aggregators are selected without regard to storage servers"},
    {"layout", "set the stripes of a new file by the hint striping_unit"},
    {"objective", "the hop-bytes are what is least"},
    {"message_size", "the transport between nodes decides"},
    {"unit_size", "a unit of fitted domains is a stripe; set stripe_size"},
    {"record_weight", "the view matrix counts neighbouring regions"},
    {NULL, NULL},
};

base_settings parameter_settings(const char *known[PARAMETERS + 1])
{
    for (int i = 0; i < PARAMETERS; i++)
        known[i] = parameter_table[i].name;
    known[PARAMETERS] = NULL;
    return (base_settings){"OMPI_MCA_", "fcoll_tatp_", known, "7 fcoll_tatp", NULL, removed};
}

void parameter_write_name(enum parameter parameter, const char *prefix, bool in_capitals,
                          char name[PARAMETER_NAME_BYTES])
{
    snprintf(name, PARAMETER_NAME_BYTES, "%s%s", prefix, parameter_table[parameter].name);
    for (char *c = name; in_capitals && *c != '\0'; c++)
        *c = (char)toupper((unsigned char)*c);
}

/* Numbers have the suffixes of Open MPI's own. */
static bool parse_number(const parameter_description *p, const char *text, int64_t *value)
{
    static const char suffixes[] = "kmgt";
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 0);
    const char *suffix = *end != '\0' ? strchr(suffixes, *end | 0x20) : NULL;
    bool is_number = errno == 0 && end != text && (suffix == NULL ? *end == '\0' : end[1] == '\0');
    int shift = suffix != NULL ? 10 * (int)(suffix - suffixes + 1) : 0;
    if (!is_number || __builtin_mul_overflow((int64_t)number, INT64_C(1) << shift, value))
        return false;
    return *value == 0 || (*value >= p->least && *value <= p->most);
}

static bool parse_name(const char *const *names, const char *text, int64_t *value)
{
    for (*value = 0; names[*value] != NULL; ++*value)
        if (strcmp(names[*value], text) == 0)
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

bool parameter_parse(enum parameter parameter, const char *text, int64_t *value)
{
    const parameter_description *p = &parameter_table[parameter];
    switch (p->kind) {
    case PARAMETER_NUMBER: return parse_number(p, text, value);
    case PARAMETER_CHOICE: return parse_name(p->names, text, value);
    case PARAMETER_SWITCH: return parse_switch(text, value);
    default: return true;
    }
}

int64_t parameter_value(enum parameter parameter, const char *text)
{
    int64_t value = 0;
    if (text == NULL || *text == '\0' || !parameter_parse(parameter, text, &value))
        (void)parameter_parse(parameter, parameter_table[parameter].initial, &value);
    return value;
}

const char *parameter_text(parameter_texts text, enum parameter parameter)
{
    return text[parameter] != NULL ? text[parameter] : "";
}

bool parameter_is_strict(parameter_texts text)
{
    return parameter_value(PARAMETER_STRICT, text[PARAMETER_STRICT]) != 0;
}

void parameter_list_valid(enum parameter parameter, char valid[PARAMETER_VALID_BYTES])
{
    const parameter_description *p = &parameter_table[parameter];
    size_t used = 0;
    snprintf(valid, PARAMETER_VALID_BYTES, "%s",
             p->kind == PARAMETER_SWITCH   ? "true, false"
             : p->kind == PARAMETER_NUMBER ? p->valid
                                           : "any text");
    for (int i = 0; p->names[i] != NULL && used < PARAMETER_VALID_BYTES; i++)
        used += (size_t)snprintf(valid + used, PARAMETER_VALID_BYTES - used, "%s%s",
                                 i > 0 ? ", " : "", p->names[i]);
}
