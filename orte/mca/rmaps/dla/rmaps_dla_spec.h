/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What may stand behind --map-by dla: as text, and what it means. Plain C: knows
 * nothing of Open MPI, so that it can be tested alone.
 *
 *   dla[:ITEM{(,|:)ITEM}]
 *   ITEM = file=NAME | cart=AxB[xC...] | order=C|Fortran
 *        | method=METHOD | objective=OBJECTIVE | domains=DOMAINS | threshold=0..100 | refine=on|off
 *        | topology=NAME | bandwidth=NAME
 *        | OVERSUBSCRIBE | NOOVERSUBSCRIBE | NOLOCAL | SPAN | PE=N
 *
 * Upper and lower case are the same, except in NAME. A backslash takes the next
 * character as it is, for names with a comma, a colon or a backslash in them.
 */
#ifndef RMAPS_DLA_SPEC_H
#define RMAPS_DLA_SPEC_H

#include <stdbool.h>
#include <stddef.h>

#include "setmatch/setmatch.h"

#define DLA_SPEC_REASON_SIZE 320

/* The process grid of a program; ndims is 0 when none is named. */
typedef struct dla_cart {
    size_t *dims; /* each at least 1, the product fits in size_t */
    size_t ndims;
    setmatch_order order;
} dla_cart;

/* What was named; NULL, 0 or a has_ that is false: not named, the default is to be used. */
typedef struct dla_spec {
    char *file;                 /* view matrix */
    char *topology, *bandwidth; /* what is between nodes */
    dla_cart cart;
    bool has_order; /* cart.order was named */
    bool has_threshold;
    unsigned threshold;            /* per cent, 0..100 */
    const setmatch_method *method; /* of setmatch_methods */
    bool has_objective;
    setmatch_objective objective;
    bool has_domains;
    setmatch_domains domains;
    bool has_refine;
    bool refine;
    bool no_local;      /* no ranks on mpirun's own node */
    char *stock_policy; /* what Open MPI shall read instead: slot[:QUALIFIERS] */
} dla_spec;

/* Whether a mapping policy is meant for this component: "dla" or "dla:...". NULL is not. */
bool dla_spec_is_dla(const char *policy);

/* Reads a whole policy text that dla_spec_is_dla. 0; -EINVAL: `reason` says why, as a
 * sentence without a full stop; -ENOMEM. *spec is set only on success; release it with
 * dla_spec_release. */
int dla_spec_parse(const char *policy, dla_spec *spec, char reason[DLA_SPEC_REASON_SIZE]);

/* Sets one item "KEY=VALUE" or "QUALIFIER", as parameters and options of programs give them: the
 * value is taken as it is. Results as above, and -EEXIST: that was set before, `reason` says so.
 * The spec is as it was on failure. */
int dla_spec_set(dla_spec *spec, const char *item, char reason[DLA_SPEC_REASON_SIZE]);

/* Frees the contents; safe on a zeroed one. */
void dla_spec_release(dla_spec *spec);

#endif
