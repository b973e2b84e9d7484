/* SPDX-License-Identifier: BSD-3-Clause */
/* The contestants that are MPI-IO of one Open MPI: OMPIO with one of its fcoll components, or
 * ROMIO.
 *
 * Open MPI chooses anew at every MPI_File_open and MPI_File_set_view, by priorities that it
 * declares unchangeable after start. To have all contestants in one set of processes they are
 * changed all the same, where they are stored; what was then chosen is looked up. */
#include "ompi_config.h"

#include "contest.h"
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/compat/compat.h"
#include "ompi/file/file.h"
#include "ompi/mca/common/ompio/common_ompio.h"

typedef struct mpiio_choice {
    const char *name, *io, *fcoll;
} mpiio_choice;

static const mpiio_choice choices[] = {
    {"tatp", "ompio", "tatp"},
    {"vulcan", "ompio", "vulcan"},
    {"dynamic_gen2", "ompio", "dynamic_gen2"},
    {"dynamic", "ompio", "dynamic"},
    {"two_phase", "ompio", "two_phase"},
    {"individual", "ompio", "individual"},
    {"romio", COMPAT_ROMIO, NULL},
};
#define CHOICES (sizeof choices / sizeof choices[0])

static bool set_priority(const char *framework, const char *component, int priority)
{
    variable v;
    if (!variable_find(framework, component, "priority", &v) || v.type != MCA_BASE_VAR_TYPE_INT)
        return false;
    memcpy(v.storage, &priority, v.width);
    return true;
}

/* A priority of 0, or below for tatp, keeps a component from being asked at all. */
static void choose(const mpiio_choice *choice)
{
    for (size_t i = 0; i < CHOICES; i++) {
        const mpiio_choice *c = &choices[i];
        if (c->fcoll != NULL)
            (void)set_priority("fcoll", c->fcoll, c == choice ? 1000 : -1);
    }
    (void)set_priority("io", "ompio", choice->fcoll != NULL ? 100 : 1);
    (void)set_priority("io", COMPAT_ROMIO, choice->fcoll != NULL ? 1 : 100);
}

/* What has to open files; NULL: anything. */
static const mpiio_choice *selected;
static settings changed; /* for it */

static void require_selected(MPI_File file)
{
    if (selected == NULL)
        return;
    const char *io = COMPAT_IO_COMPONENT(file)->io_version.mca_component_name;
    if (strcmp(io, selected->io) != 0)
        fail(selected->name, "another io component was chosen by Open MPI");
    if (selected->fcoll == NULL)
        return;
    const ompio_file_t *fh = &((mca_common_ompio_data_t *)file->f_io_selected_data)->ompio_fh;
    if (strcmp(fh->f_fcoll_component->mca_component_name, selected->fcoll) != 0)
        fail(selected->name, "another fcoll component was chosen by Open MPI");
}

/* Also called by libraries. */
int MPI_File_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file)
{
    int rc = PMPI_File_open(comm, path, mode, info, file);
    if (rc == MPI_SUCCESS)
        require_selected(*file);
    return rc;
}

int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype element,
                      MPI_Datatype view, const char *representation, MPI_Info info)
{
    int rc = PMPI_File_set_view(file, displacement, element, view, representation, info);
    if (rc == MPI_SUCCESS)
        require_selected(file);
    return rc;
}

void mpiio_select(const way *w)
{
    settings_restore(&changed);
    selected = NULL;
    if (w == NULL || w->choice == NULL)
        return;
    choose(w->choice);
    const char *wrong = NULL;
    if (w->settings != NULL)
        wrong = settings_apply(&changed, w->choice->fcoll, w->choice->io, w->settings);
    if (wrong != NULL)
        fail(w->name, wrong);
    selected = w->choice;
}

void mpiio_add_hints(MPI_Info info)
{
    const char *preloaded = getenv("LD_PRELOAD");
    if (selected == NULL || selected->fcoll != NULL ||
        (preloaded != NULL && strstr(preloaded, "libtatp-mpiio.so") != NULL))
        return;
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "romio_cb_read", "enable");
}

void mpiio_start(const char *path)
{
    MPI_File file;
    check_mpi(
        MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
        path);
    check_mpi(MPI_File_close(&file), "MPI_File_close");
}

static bool installed(const mpiio_choice *c)
{
    variable v;
    return variable_find("io", c->io, "priority", &v) &&
           (c->fcoll == NULL || variable_find("fcoll", c->fcoll, "priority", &v));
}

bool mpiio_find(const char *name, const workload *w, way *found)
{
    bool independent = strcmp(name, "independent") == 0;
    const char *component = independent ? "individual" : name;
    size_t length = strcspn(component, "+");
    const char *changes = component[length] == '+' ? component + length + 1 : NULL;
    for (size_t i = 0; i < CHOICES; i++) {
        const mpiio_choice *c = &choices[i];
        if (strlen(c->name) != length || strncmp(component, c->name, length) != 0 || !installed(c))
            continue;
        *found = (way){name, changes, c, w->kind->library, independent};
        return changes == NULL || c->fcoll != NULL;
    }
    return false;
}

bool mpiio_has_statistics(const way *w)
{
    return w->choice != NULL && w->choice->fcoll != NULL && strcmp(w->choice->fcoll, "tatp") == 0;
}

void mpiio_statistics(const char *path)
{
    static variable v;
    if (path == NULL) {
        variable_restore(&v);
        return;
    }
    if (!variable_find("fcoll", "tatp", "stats", &v))
        fail("fcoll_tatp_stats", "there is no such variable");
    (void)variable_set(&v, (char *)path);
}
