/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Registers the folder of a component's help file, for components outside Open MPI's folders.
 */
#ifndef COMPONENT_HELP_H
#define COMPONENT_HELP_H

#include "opal_config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "opal/constants.h"
#include "opal/util/show_help.h"

/* Sets `folder` to that of the DSO that contains `symbol` (any object of the caller) if `file` is
 * there. */
static inline int component_help_find_dir(const char *file, const void *symbol, char *folder,
                                          size_t room)
{
    char path[4096];
    Dl_info dso;
    const char *slash;

    if (0 == dladdr(symbol, &dso) || NULL == (slash = strrchr(dso.dli_fname, '/')))
        return OPAL_ERR_NOT_FOUND;
    int length = (int)(slash - dso.dli_fname);

    if (snprintf(folder, room, "%.*s", length, dso.dli_fname) >= (int)room ||
        snprintf(path, sizeof(path), "%s/%s", folder, file) >= (int)sizeof(path) ||
        0 != access(path, R_OK))
        return OPAL_ERR_NOT_FOUND;
    return OPAL_SUCCESS;
}

/* Adds the folder of `file` to the search path of opal_show_help: that of the DSO, or `fallback`
 * (NULL: none), the source folder in a build tree. Call it once, when the component opens; Open MPI
 * clears the path at its end. Returns an OPAL error code. */
static inline int component_help_add_dir(const char *file, const void *symbol, const char *fallback)
{
    char folder[4096];

    if (OPAL_SUCCESS == component_help_find_dir(file, symbol, folder, sizeof(folder)))
        return opal_show_help_add_dir(folder);
    return NULL == fallback ? OPAL_ERR_NOT_FOUND : opal_show_help_add_dir(fallback);
}

#endif
