/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lets Open MPI find the help file of a component that is not installed with it.
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

/* Adds the folder that holds `file` to those where opal_show_help looks: the folder of the
 * DSO that `symbol` (any object of the caller's own) lies in, as installed; or else
 * `fallback` (NULL: none), the source folder in a build tree. Call it once, when the
 * component opens: Open MPI forgets the folder when it finalizes. */
static inline int component_help_add_dir(const char *file, const void *symbol, const char *fallback)
{
    char path[4096];
    Dl_info dso;
    const char *slash;

    if (0 != dladdr(symbol, &dso) && NULL != (slash = strrchr(dso.dli_fname, '/'))) {
        int length = (int)(slash - dso.dli_fname);

        if (snprintf(path, sizeof(path), "%.*s/%s", length, dso.dli_fname, file) <
                (int)sizeof(path) &&
            0 == access(path, R_OK)) {
            path[length] = '\0';
            return opal_show_help_add_dir(path);
        }
    }
    return NULL == fallback ? OPAL_ERR_NOT_FOUND : opal_show_help_add_dir(fallback);
}

#endif
