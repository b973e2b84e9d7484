/* SPDX-License-Identifier: BSD-3-Clause */
/* The contestants that are MPI-IO of another MPI than Open MPI: libtatp-mpiio.so, which has to be
 * preloaded, and ROMIO. */
#define _GNU_SOURCE /* dladdr */
#include "contest.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct mpiio_choice {
    const char *name;
} mpiio_choice;

static const mpiio_choice tatp = {"tatp"}, romio = {"romio"};
static const mpiio_choice *selected = &romio;

typedef int open_function(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file);

/* That of the MPI, which also has what the library does not take over. The library serves the files
 * that it has seen opened. */
static open_function *find_romio(void)
{
    Dl_info mpi;
    void *library = dladdr(dlsym(RTLD_DEFAULT, "PMPI_Comm_size"), &mpi) != 0
                        ? dlopen(mpi.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
                        : NULL;
    void *found = library != NULL ? dlsym(library, "PMPI_File_open") : NULL;
    if (found == NULL) {
        fprintf(stderr, "contest: the MPI has no PMPI_File_open of its own\n");
        abort();
    }
    dlclose(library);
    return (open_function *)found;
}

int MPI_File_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file)
{
    open_function *open_file = selected == &tatp ? PMPI_File_open : find_romio();
    return open_file(comm, path, mode, info, file);
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
