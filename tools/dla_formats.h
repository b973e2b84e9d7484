/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Output formats of a placement.
 */
#ifndef TOOLS_DLA_FORMATS_H
#define TOOLS_DLA_FORMATS_H

#include "dla_problem.h"

typedef struct placement {
    const problem *problem;
    const setmatch_method *method;
    size_t *node; /* of each rank */
    double seconds;
} placement;

typedef struct placement_format {
    const char *name;
    int (*print)(const placement *placed); /* 0, or TOOL_FAILURE after a message */
} placement_format;

/* Ends with a NULL name; the first is the default. */
extern const placement_format placement_formats[];

#endif
