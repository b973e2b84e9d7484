/* SPDX-License-Identifier: BSD-3-Clause */
/* The contestants that are MPI-IO of another MPI than Open MPI: libtatp-mpiio.so, which has to be
 * preloaded, and ROMIO. */
#include "contest.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library leaves to the MPI what the system cannot open by its name, and ROMIO knows its names
 * of file systems in capitals, too. */
typedef struct mpiio_choice {
    const char *name, *prefix;
} mpiio_choice;

static const mpiio_choice tatp = {"tatp", ""}, romio = {"romio", "UFS:"};
static const mpiio_choice *selected = &romio;

int MPI_File_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s%s", selected->prefix, path);
    return PMPI_File_open(comm, name, mode, info, file);
}

void mpiio_select(const way *w)
{
    selected = w != NULL && w->choice != NULL ? w->choice : &romio;
}

bool mpiio_find(const char *name, const workload *w, way *found)
{
    const char *preloaded = getenv("LD_PRELOAD");
    bool is_tatp = strcmp(name, tatp.name) == 0, independent = strcmp(name, "independent") == 0;
    *found = (way){name, NULL, is_tatp ? &tatp : &romio, w->kind->library, independent};
    if (is_tatp)
        return preloaded != NULL && strstr(preloaded, "libtatp-mpiio.so") != NULL;
    return independent || strcmp(name, romio.name) == 0;
}

void mpiio_start(const char *path)
{
    (void)path;
}

void mpiio_add_hints(MPI_Info info)
{
    (void)info;
}

bool mpiio_has_statistics(const way *w)
{
    (void)w;
    return false;
}

void mpiio_statistics(const char *path)
{
    (void)path;
}
