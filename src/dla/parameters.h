/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The parameters rmaps_dla_*, for the component of each launcher to register.
 */
#ifndef DLA_PARAMETERS_H
#define DLA_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>

#include "dla/spec.h"

/* Strings are NULL if they are not set. */
typedef struct dla_parameters {
    char *file, *cart, *topology, *bandwidth;
    int threshold;
    int choice[DLA_CHOICES];
    bool rejected[DLA_CHOICES]; /* the value is invalid, and the user has the message */
    /* Where the launcher has no enumerations: the name of the value, or NULL for choice[]. */
    char *choice_name[DLA_CHOICES];
} dla_parameters;

typedef enum dla_parameter_type {
    DLA_PARAMETER_STRING,
    DLA_PARAMETER_INT,
    DLA_PARAMETER_CHOICE
} dla_parameter_type;

typedef struct dla_parameter {
    const char *name, *help;
    dla_parameter_type type;
    bool tuner;        /* for users who tune, not for all */
    size_t offset;     /* of a string or an int in dla_parameters */
    dla_choice choice; /* of a DLA_PARAMETER_CHOICE */
} dla_parameter;

/* Ends with a NULL name. Choices are not strings there: choice[] and choice_name[]. */
extern const dla_parameter dla_parameter_table[];

/* Parameters of the component itself, beside those of the table. */
#define DLA_PRIORITY_HELP "Priority of the dla rmaps component"
#define DLA_VERBOSE_HELP                                                                           \
    "Whether to print, for each placement and for the mapping by slot, the weight of the view "    \
    "matrix inside nodes and the bytes that leave their nodes (0: no; 1: one line)"

void dla_parameters_init(dla_parameters *parameters);

/* Reports names in the environment, and in files whose names are separated by commas, that begin
 * like parameters and are none: each without rmaps_dla_, and what to do. */
void dla_parameters_check_names(const char *files,
                                void (*report)(const char *name, const char *advice));

/* The storage of a parameter that is no choice. */
void *dla_parameter_storage(const dla_parameter *parameter, dla_parameters *parameters);

#endif
