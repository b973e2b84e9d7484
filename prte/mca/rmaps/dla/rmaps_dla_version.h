/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Whether the PRRTE that runs is of the release for which a component was built: the structs of
 * other releases differ.
 */
#ifndef PRTE_RMAPS_DLA_VERSION_H
#define PRTE_RMAPS_DLA_VERSION_H

#include "prte_config.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "prte_version.h"

#include "src/runtime/runtime.h"

#define RMAPS_DLA_RELEASE_SIZE 32

/* Compares with prte_version_string of the library, like "3.0.8". Also sets `release`, for which
 * the component was built. */
static inline bool rmaps_dla_fits(char release[RMAPS_DLA_RELEASE_SIZE])
{
    int length = snprintf(release, RMAPS_DLA_RELEASE_SIZE, "%ld.%ld.", (long)PRTE_VERSION_MAJOR,
                          (long)PRTE_VERSION_MINOR);
    bool fits = 0 == strncmp(prte_version_string, release, (size_t)length);

    release[length - 1] = '\0';
    return fits;
}

#endif
