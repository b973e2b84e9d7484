/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of Open MPI's components that change while a process runs: where their values are
 * stored, because Open MPI declares them unchangeable after start. They are there as soon as a file
 * was opened. */
#ifndef BENCH_SETTINGS_H
#define BENCH_SETTINGS_H

#include "ompi_config.h"

#include "opal/mca/base/mca_base_var.h"

/* A variable of Open MPI and what it held. Its place is as wide as its type, not as the union. */
typedef struct variable {
    void *storage;
    size_t width;
    mca_base_var_type_t type;
    mca_base_var_enum_t *names; /* of its values, or NULL */
    mca_base_var_storage_t before;
} variable;

bool variable_find(const char *framework, const char *component, const char *name, variable *v);
/* Returns NULL, or what is wrong. The text of a string has to live until the variable is restored.
 */
const char *variable_set(const variable *v, char *text);
void variable_restore(const variable *v);

enum { MOST_SETTINGS = 8 };

typedef struct settings {
    char text[1024];
    variable changed[MOST_SETTINGS];
    int changes;
} settings;

/* "num_aggregators=4,cycle_buffer_size=1048576": values of this component of fcoll, or of io.
 * Returns NULL, or what is wrong. */
const char *settings_apply(settings *s, const char *fcoll, const char *io, const char *text);
void settings_restore(settings *s);

#endif
