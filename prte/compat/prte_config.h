/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Stand-in for PRRTE's header of this name, which its other headers include but which is not
 * installed everywhere: what they need of it, for Linux and a compiler of this century. Used only
 * where configure does not find the real one.
 */
#ifndef PRTE_CONFIG_H
#define PRTE_CONFIG_H

#include "src/include/pmix_config.h"

#include "prte_version.h"

#define PRTE_C_HAVE_VISIBILITY 1
#define PRTE_ENABLE_DEBUG 0
#define PRTE_ENABLE_IPV6 0
#define PRTE_ENABLE_GETPWUID 1
#define PRTE_HAVE_ATTRIBUTE_FORMAT 1
#define PRTE_HAVE_ATTRIBUTE_VISIBILITY 1
#define PRTE_MAJOR_VERSION PRTE_VERSION_MAJOR
#define PRTE_MINOR_VERSION PRTE_VERSION_MINOR
#define PRTE_RELEASE_VERSION PRTE_VERSION_RELEASE

#include "src/include/prte_config_bottom.h"

#endif
