/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What may stand behind --map-by dla: as text, and what it means. Plain C: knows
 * nothing of Open MPI, so that it can be tested alone.
 *
 *   dla[:ITEM{(,|:)ITEM}]
 *   ITEM = file=NAME | threshold=0..100 | cart=AxB[xC...] | method=METHOD | refine=on|off
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

#define DLA_SPEC_MAX_DIMS 8
#define DLA_SPEC_REASON_SIZE 240

typedef struct dla_spec {
    char *file;                       /* view matrix; NULL: none named */
    bool has_threshold;
    unsigned threshold;               /* per cent, 0..100; valid with has_threshold */
    const setmatch_method *method;    /* of setmatch_methods; NULL: none named */
    bool has_refine;
    bool refine;                      /* valid with has_refine */
    size_t ndims;                     /* 0: no cart named */
    size_t dims[DLA_SPEC_MAX_DIMS];   /* each at least 1, the product fits in size_t */
    bool no_local;                    /* no ranks on mpirun's own node */
    char *stock_policy;               /* what Open MPI shall read instead: slot[:QUALIFIERS] */
} dla_spec;

/* Whether a mapping policy is meant for this component: "dla" or "dla:...". NULL is not. */
bool dla_spec_is_dla(const char *policy);

/* Reads a whole policy text that dla_spec_is_dla. 0; -EINVAL: `reason` says why, as a
 * sentence without a full stop; -ENOMEM. *spec is set only on success; release it with
 * dla_spec_release. */
int dla_spec_parse(const char *policy, dla_spec *spec, char reason[DLA_SPEC_REASON_SIZE]);

/* The method of that name, NULL when there is none: then `reason` lists them. */
const setmatch_method *dla_spec_find_method(const char *name, char reason[DLA_SPEC_REASON_SIZE]);

/* The grid of a text AxB[xC...]: *ndims of at most DLA_SPEC_MAX_DIMS extents. Errors as above. */
int dla_spec_parse_cart(const char *text, size_t dims[DLA_SPEC_MAX_DIMS], size_t *ndims,
                        char reason[DLA_SPEC_REASON_SIZE]);

/* Frees the contents; safe on a zeroed one. */
void dla_spec_release(dla_spec *spec);

#endif
