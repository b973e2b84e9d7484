/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The MCA parameters fcoll_tatp_*, for the component to register, and for `tatp run` to check
 * before a job starts.
 */
#ifndef COLLECTIVE_PARAMETERS_H
#define COLLECTIVE_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/unknown.h"

typedef enum parameter_kind {
    PARAMETER_TEXT,
    PARAMETER_NUMBER, /* with a suffix of k, m, g or t, as Open MPI's own numbers */
    PARAMETER_CHOICE,
    PARAMETER_SWITCH
} parameter_kind;

enum parameter {
    /* A number each; all ranks of a file use the same. */
    PARAMETER_STRATEGY, /* index in plan_strategies */
    PARAMETER_DOMAINS,
    PARAMETER_NUM_AGGREGATORS,
    PARAMETER_CYCLE_BUFFER_SIZE,
    PARAMETER_STRIPE_SIZE,
    PARAMETER_STRIPE_COUNT,
    PARAMETER_SHARED_MEMORY,
    PARAMETER_STATS_LEVEL, /* enum parameter_stats_level */
    PARAMETER_VALUES,
    /* Names of files; all ranks of a file use the same. */
    PARAMETER_TOPOLOGY = PARAMETER_VALUES,
    PARAMETER_RECORD,
    PARAMETER_STATS,
    PARAMETER_OF_FILE,
    /* The rest are parameters of a process. */
    PARAMETER_VERSION = PARAMETER_OF_FILE,
    PARAMETER_PRIORITY,
    PARAMETER_STRICT,
    PARAMETER_ROMIO_RANKS,
    PARAMETERS
};

enum parameter_stats_level { PARAMETER_STATS_CALLS, PARAMETER_STATS_FILES };

enum { PARAMETER_MOST_NAMES = 5, PARAMETER_VALID_BYTES = 128 };

typedef struct parameter_description {
    const char *name; /* without fcoll_tatp_ */
    parameter_kind kind;
    const char *initial; /* the text of its value, or NULL */
    int level;           /* of MPI_T and ompi_info, 1 to 9 */
    const char *help;
    const char *valid;                           /* of a number, for people */
    int64_t least, most;                         /* of a number, which may be 0, too */
    const char *names[PARAMETER_MOST_NAMES + 1]; /* of a choice, for values from 0 on */
} parameter_description;

extern const parameter_description parameter_table[PARAMETERS];

/* The texts of all parameters of a process; NULL or empty: the default. */
typedef const char *const *parameter_texts;

/* Finds those in the environment that do not exist; fills `known`, and leaves `report` out. */
base_settings parameter_settings(const char *known[PARAMETERS + 1]);

/* Where they are no MCA parameters, they are environment variables in capitals that begin so. */
#define PARAMETER_VARIABLE "TATP_"
enum { PARAMETER_NAME_BYTES = 64 };
/* The name, with a prefix in front of it. */
void parameter_write_name(enum parameter parameter, const char *prefix, bool in_capitals,
                          char name[PARAMETER_NAME_BYTES]);

/* Whether the text is a value of the parameter. Sets *value, unless it is a text. */
bool parameter_parse(enum parameter parameter, const char *text, int64_t *value);
/* The value of the text or, where it is empty, NULL or invalid, of the default. */
int64_t parameter_value(enum parameter parameter, const char *text);
/* The text, or "". */
const char *parameter_text(parameter_texts text, enum parameter parameter);
/* Whether what cannot be used is an error. */
bool parameter_is_strict(parameter_texts text);
/* The valid values, for people. */
void parameter_list_valid(enum parameter parameter, char valid[PARAMETER_VALID_BYTES]);

#endif
