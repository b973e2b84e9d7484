/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr */
#include "dla/folder.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int dla_folder_above(const void *symbol, const char *file, char folder[DLA_FOLDER_SIZE])
{
    Dl_info dso;
    const char *slash;
    int length, written;

    if (dladdr(symbol, &dso) == 0 || (slash = strrchr(dso.dli_fname, '/')) == NULL)
        return -ENOENT;
    length = (int)(slash - dso.dli_fname);
    written = snprintf(folder, DLA_FOLDER_SIZE, "%.*s/../%s", length, dso.dli_fname, file);
    if (written < 0 || written >= DLA_FOLDER_SIZE || access(folder, R_OK) != 0)
        return -ENOENT;
    folder[length + (int)strlen("/..")] = '\0';
    return 0;
}
