/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The text of --map-by dla, and its meaning.
 *
 *   dla[:ITEM{(,|:)ITEM}]
 *   ITEM = file=NAME | cart=AxB[xC...] | order=C|Fortran
 *        | method=METHOD | objective=OBJECTIVE | domains=DOMAINS | threshold=0..100 | refine=on|off
 *        | numa=on|off | topology=NAME | bandwidth=NAME
 *        | OVERSUBSCRIBE | NOOVERSUBSCRIBE | NOLOCAL | SPAN | PE=N
 *
 * Case is ignored, except in NAME. A backslash quotes the next character, for names that contain a
 * comma, a colon or a backslash.
 */
#ifndef DLA_SPEC_H
#define DLA_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "setmatch/setmatch.h"

#define DLA_SPEC_REASON_SIZE 320

/* Items whose value is one of a list of names. A value is the index of its name; 0 is the default.
 */
typedef enum dla_choice {
    DLA_METHOD,    /* of setmatch_methods */
    DLA_OBJECTIVE, /* setmatch_objective */
    DLA_DOMAINS,   /* setmatch_domains */
    DLA_ORDER,     /* setmatch_order */
    DLA_REFINE,    /* on or off */
    DLA_NUMA,      /* on or off: whether ranks are placed inside nodes, too */
    DLA_CHOICES
} dla_choice;

enum { DLA_REFINE_ON, DLA_REFINE_OFF };
enum { DLA_NUMA_ON, DLA_NUMA_OFF };

/* The item's key, which is also the name of the parameter and of the option that set it. */
const char *dla_choice_key(dla_choice choice);

/* The name of a value; NULL: there are no values from this one on. */
const char *dla_choice_name(dla_choice choice, int value);

/* The process grid of a program; ndims is 0 if none is given. */
typedef struct dla_cart {
    size_t *dims; /* each at least 1, the product fits into size_t */
    size_t ndims;
} dla_cart;

/* In place of a view matrix: that of the program in the user's cache. */
#define DLA_AUTOMATIC_FILE "auto"

/* Zeroed: nothing is given. */
typedef struct dla_spec {
    char *file;                 /* view matrix */
    char *topology, *bandwidth; /* network */
    dla_cart cart;
    bool has_threshold;
    unsigned threshold; /* per cent, 0..100 */
    bool has_choice[DLA_CHOICES];
    int choice[DLA_CHOICES];
    bool no_local;      /* no ranks on mpirun's node */
    char *stock_policy; /* the policy that the launcher reads instead: slot[:QUALIFIERS] */
} dla_spec;

/* Whether a mapping policy is for this component: "dla" or "dla:...". NULL is not. */
bool dla_spec_is_dla(const char *policy);

/* Parses a policy for which dla_spec_is_dla is true. Returns 0; -EINVAL: `reason` is a sentence
 * without full stop; -ENOMEM. Sets *spec on success only; the caller releases it. */
int dla_spec_parse(const char *policy, dla_spec *spec, char reason[DLA_SPEC_REASON_SIZE]);

/* Sets one item "KEY=VALUE" or "QUALIFIER" of a parameter or an option; the value is not unquoted.
 * Returns as dla_spec_parse, and -EEXIST, with a reason, if it is already set. The spec is
 * unchanged on failure. */
int dla_spec_set(dla_spec *spec, const char *item, char reason[DLA_SPEC_REASON_SIZE]);

/* The policy that the launcher reads in place of one for which dla_spec_is_dla is true; the caller
 * frees it. The mapper reports an invalid policy, by the help system: here it is plain "slot".
 * NULL: no memory. */
char *dla_spec_stock_policy(const char *policy);

/* Frees the contents; a zeroed spec is allowed. */
void dla_spec_release(dla_spec *spec);

/* The threshold, or its default. */
unsigned dla_spec_threshold(const dla_spec *spec);

#endif
