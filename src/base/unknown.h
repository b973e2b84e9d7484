/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Settings that do not exist, or no more: a mistyped name would do nothing, without a word. They
 * are looked for in the environment and in files of Open MPI's parameters.
 */
#ifndef BASE_UNKNOWN_H
#define BASE_UNKNOWN_H

#include <stdbool.h>

/* Longer names are cut off. */
#define BASE_SETTING_BYTES 64
#define BASE_UNKNOWN_BYTES 512

/* A setting that existed, and what there is in its place, for people. */
typedef struct base_removed {
    const char *name, *instead;
} base_removed;

typedef struct base_settings {
    const char *variable;     /* begin of the names of environment variables, as OMPI_MCA_ */
    const char *prefix;       /* begin of the names of settings */
    const char *const *known; /* what follows it; the last is NULL */
    const char *manual;       /* section and name of the page that lists them */
    void (*report)(const char *message); /* a name, and what to do */
    /* Names lack the prefix, the last is NULL; NULL: there are none. */
    const base_removed *removed;
} base_settings;

/* The first one of those at the least distance. NULL if none may be the name, mistyped, because
 * more than half of its characters were wrong. */
const char *base_nearest_name(const char *name, const char *const *known);

/* Writes a name that is none of the known ones, a semicolon and what to do. */
void base_describe_unknown(const base_settings *s, const char *name,
                           char message[BASE_UNKNOWN_BYTES]);

/* Whether a text begins with the name of a setting that does not exist. */
bool base_is_unknown(const base_settings *s, const char *text, char message[BASE_UNKNOWN_BYTES]);

/* files: names that are separated by commas or colons. */
void base_check_files(const base_settings *s, const char *files);

void base_check_environment(const base_settings *s);

#endif
