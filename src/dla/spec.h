/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the user requests: by --map-by dla, by parameters rmaps_dla_*, or by options of dla map.
 *
 *   dla[:ITEM{(,|:)ITEM}]
 *   ITEM = file=NAME | cart=AxB[xC...] | order=C|Fortran | method=METHOD | objective=OBJECTIVE
 *        | numa=on|off | topology=NAME
 *        | OVERSUBSCRIBE | NOOVERSUBSCRIBE | NOLOCAL | SPAN | PE=N
 *
 * Case is ignored, except in NAME. In a policy a backslash quotes the next character, for names
 * that contain a comma, a colon or a backslash.
 */
#ifndef DLA_SPEC_H
#define DLA_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/version.h"

/* Items with a value, except PE. */
typedef enum dla_item {
    DLA_FILE, /* view matrix */
    DLA_CART, /* process grid */
    DLA_ORDER,
    DLA_METHOD,
    DLA_OBJECTIVE,
    DLA_NUMA,
    DLA_TOPOLOGY, /* network */
    DLA_ITEMS
} dla_item;

/* `key` is also the name of the parameter and of the option that set the item. */
typedef struct dla_item_row {
    const char *key, *help;
    bool tuner;               /* for users who tune, not for all */
    const char *const *names; /* of a choice, but for the method: its values; ends with NULL */
} dla_item_row;
extern const dla_item_row dla_items[DLA_ITEMS];

/* Parameters of the component itself, beside those of the table. `tatp doctor` finds the version in
 * the file of the component. */
#define DLA_PRIORITY_HELP "Priority of the dla rmaps component of " TATP_VERSION_TEXT
#define DLA_VERBOSE_HELP                                                                           \
    "What to print of each placement: one line (0); also the weight of the view matrix inside "    \
    "nodes and the bytes that leave their nodes, by slot and as placed (1); nothing (-1)"

/* The variable that tells the ranks ("1") that the view has decided the nodes, so that topo/dla
 * keeps the order of communicators. */
#define DLA_PLACED_VARIABLE "OMPI_MCA_topo_dla_placed"

/* It stands for the view matrix of the program in the user's cache; "auto:NAME" for a file that is
 * used only where it fits. */
#define DLA_AUTOMATIC_FILE "auto"

enum { DLA_NUMA_ON, DLA_NUMA_OFF };

/* Zeroed: nothing is given. */
typedef struct dla_spec {
    char *text[DLA_ITEMS]; /* as given; NULL if it is not given */
    int choice[DLA_ITEMS]; /* of setmatch_methods, setmatch_objective, ...; 0 is the default */
    size_t *dims, ndims;   /* of the grid: each at least 1, the product fits into size_t */
    bool no_local;         /* no ranks on mpirun's node */
    char *stock_policy;    /* the policy that the launcher reads instead: slot[:QUALIFIERS] */
} dla_spec;

/* Room for the reason of a refusal, a sentence without full stop. */
#define DLA_REASON_SIZE 1024

/* The functions below return 0; -EINVAL with a reason; -ENOMEM. The spec is unchanged then. */

/* Returns -EINVAL. */
int dla_reject(char reason[DLA_REASON_SIZE], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets one item from an option or a parameter, whose value is not unquoted. */
int dla_spec_set(dla_spec *spec, dla_item item, const char *value, char reason[DLA_REASON_SIZE]);

/* Sets *spec by a policy for which dla_spec_is_dla is true. The caller releases it. */
int dla_spec_parse(const char *policy, dla_spec *spec, char reason[DLA_REASON_SIZE]);

/* Sets *spec by a policy, or NULL, and by the parameters that it does not set; an entry is NULL
 * where a parameter is not set. The caller releases it. */
int dla_spec_read(const char *policy, char *const parameter[DLA_ITEMS], dla_spec *spec,
                  char reason[DLA_REASON_SIZE]);

/* Frees the contents; a zeroed spec is allowed. */
void dla_spec_release(dla_spec *spec);

/* Whether a mapping policy is for this component: "dla" or "dla:...". NULL is not. */
bool dla_spec_is_dla(const char *policy);

/* The policy that the launcher reads instead of one for which dla_spec_is_dla is true; the caller
 * frees it. The mapper reports an invalid policy: here it is plain "slot". NULL if memory is
 * exhausted. */
char *dla_spec_stock_policy(const char *policy);

/* Whether a job that cannot be placed by the record is left to the launcher (dla/automatic.h). */
bool dla_spec_is_automatic(const dla_spec *spec);
/* The record of such a request; NULL: it is to be found in the user's cache. */
const char *dla_spec_automatic_file(const dla_spec *spec);

/* The view matrix or the grid, for messages. */
const char *dla_spec_name(const dla_spec *spec);

/* The message to the user that a job is not mapped, of several lines. */
void dla_refusal_format(const char *reason, char text[DLA_REASON_SIZE + 512]);

/* Reports names that begin like parameters and are none, each with what to do: those in files whose
 * names are separated by commas or colons, or (NULL) in the environment. */
void dla_check_parameters(const char *files, void (*report)(const char *message));

#endif
