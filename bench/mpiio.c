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

typedef struct opened_file {
    MPI_File file;
    mpiio_selection *selection;
} opened_file;

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
        bool chosen =
            choice->fcoll != NULL && c->fcoll != NULL && strcmp(choice->fcoll, c->fcoll) == 0;
        if (c->fcoll != NULL)
            (void)set_priority("fcoll", c->fcoll, chosen ? 1000 : -1);
    }
    (void)set_priority("io", "ompio", strcmp(choice->io, "ompio") == 0 ? 100 : 1);
    (void)set_priority("io", COMPAT_ROMIO, strcmp(choice->io, "ompio") == 0 ? 1 : 100);
}

void mpiio_check(MPI_File file, const way *w)
{
    const mpiio_choice *choice = w->choice;
    const char *io = COMPAT_IO_COMPONENT(file)->io_version.mca_component_name;
    if (strcmp(io, choice->io) != 0)
        fail(choice->name, "another io component was chosen by Open MPI");
    if (choice->fcoll == NULL)
        return;
    const ompio_file_t *fh = &((mca_common_ompio_data_t *)file->f_io_selected_data)->ompio_fh;
    if (strcmp(fh->f_fcoll_component->mca_component_name, choice->fcoll) != 0)
        fail(choice->name, "another fcoll component was chosen by Open MPI");
}

mpiio_selection *mpiio_select(const way *w)
{
    mpiio_selection *s = take_memory(1, sizeof *s);
    choose(w->choice);
    const char *wrong = NULL;
    if (w->settings != NULL)
        wrong = settings_apply(s, w->choice->fcoll, w->choice->io, w->settings);
    if (wrong != NULL)
        fail(w->name, wrong);
    return s;
}

void mpiio_deselect(mpiio_selection *s)
{
    settings_restore(s);
    free(s);
}

static MPI_Info hints_for(const problem *p, const mpiio_choice *choice)
{
    MPI_Info info = make_hints(p->run);
    if (choice->fcoll == NULL) {
        MPI_Info_set(info, "romio_cb_write", "enable");
        MPI_Info_set(info, "romio_cb_read", "enable");
    }
    return info;
}

static void *mpiio_open(problem *p, const way *w)
{
    opened_file *o = take_memory(1, sizeof *o);
    MPI_Info info = hints_for(p, w->choice);
    o->selection = mpiio_select(w);
    check_mpi(MPI_File_open(MPI_COMM_WORLD, p->run->file, MPI_MODE_CREATE | MPI_MODE_RDWR, info,
                            &o->file),
              p->run->file);
    check_mpi(MPI_File_set_view(o->file, 0, p->types.element, p->types.view, "native", info),
              "MPI_File_set_view");
    mpiio_check(o->file, w);
    MPI_Info_free(&info);
    return o;
}

static bool whole(const problem *p, MPI_Status *status)
{
    int count;
    MPI_Get_count(status, p->types.memory, &count);
    return count == p->types.count;
}

static bool mpiio_write(problem *p, void *opened)
{
    opened_file *o = opened;
    MPI_Status status;
    check_mpi(MPI_File_seek(o->file, 0, MPI_SEEK_SET), "MPI_File_seek");
    check_mpi(MPI_File_write_all(o->file, p->data, p->types.count, p->types.memory, &status),
              "MPI_File_write_all");
    return whole(p, &status);
}

static bool mpiio_read(problem *p, void *opened)
{
    opened_file *o = opened;
    MPI_Status status;
    check_mpi(MPI_File_seek(o->file, 0, MPI_SEEK_SET), "MPI_File_seek");
    check_mpi(MPI_File_read_all(o->file, p->data, p->types.count, p->types.memory, &status),
              "MPI_File_read_all");
    return whole(p, &status);
}

static void mpiio_close(problem *p, void *opened)
{
    opened_file *o = opened;
    (void)p;
    check_mpi(MPI_File_close(&o->file), "MPI_File_close");
    mpiio_deselect(o->selection);
    free(o);
}

void mpiio_start(const problem *p)
{
    MPI_File file;
    check_mpi(MPI_File_open(MPI_COMM_WORLD, p->run->file, MPI_MODE_CREATE | MPI_MODE_RDWR,
                            MPI_INFO_NULL, &file),
              p->run->file);
    check_mpi(MPI_File_close(&file), "MPI_File_close");
}

static bool installed(const mpiio_choice *c)
{
    variable v;
    return variable_find("io", c->io, "priority", &v) &&
           (c->fcoll == NULL || variable_find("fcoll", c->fcoll, "priority", &v));
}

bool mpiio_find(const char *name, way *w)
{
    size_t length = strcspn(name, "+");
    for (size_t i = 0; i < CHOICES; i++) {
        const mpiio_choice *c = &choices[i];
        if (strlen(c->name) != length || strncmp(name, c->name, length) != 0 || !installed(c))
            continue;
        if (name[length] == '+' && c->fcoll == NULL)
            return false;
        *w = (way){.name = name,
                   .settings = name[length] == '+' ? name + length + 1 : NULL,
                   .choice = c,
                   .open = mpiio_open,
                   .write = mpiio_write,
                   .read = mpiio_read,
                   .close = mpiio_close};
        return true;
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
