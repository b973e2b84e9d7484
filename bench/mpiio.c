/* SPDX-License-Identifier: BSD-3-Clause */
/* The contestants that are MPI-IO of one Open MPI: OMPIO with one of its fcoll components, or
 * ROMIO.
 *
 * Open MPI chooses anew at every MPI_File_open and MPI_File_set_view, by priorities that it
 * declares unchangeable after start. To have all contestants in one set of processes they are
 * changed all the same, where they are stored; what was then chosen is looked up. */
#include "ompi_config.h"

#include "contest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/compat/compat.h"
#include "ompi/file/file.h"
#include "ompi/mca/common/ompio/common_ompio.h"
#include "opal/mca/base/mca_base_var.h"

#define MAX_SETTINGS 8

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

/* A variable of Open MPI and what it held. Its place is as wide as its type, not as the union. */
typedef struct variable {
    void *storage;
    size_t width;
    mca_base_var_type_t type;
    mca_base_var_enum_t *names; /* of its values, or NULL */
    mca_base_var_storage_t before;
} variable;

struct mpiio_selection {
    char settings[256];
    variable changed[MAX_SETTINGS];
    int changes;
};

typedef struct opened_file {
    MPI_File file;
    mpiio_selection *selection;
} opened_file;

/* Bytes of a variable; 0 for types that no contestant's settings have. */
static size_t type_width(mca_base_var_type_t type)
{
    switch (type) {
    case MCA_BASE_VAR_TYPE_INT: return sizeof(int);
    case MCA_BASE_VAR_TYPE_LONG: return sizeof(long);
    case MCA_BASE_VAR_TYPE_SIZE_T: return sizeof(size_t);
    case MCA_BASE_VAR_TYPE_BOOL: return sizeof(bool);
    case MCA_BASE_VAR_TYPE_STRING: return sizeof(char *);
    default: return 0;
    }
}

static bool find_variable(const char *framework, const char *component, const char *name,
                          variable *v)
{
    const mca_base_var_t *known;
    int index = mca_base_var_find("ompi", framework, component, name);
    if (index < 0 || mca_base_var_get(index, &known) != OPAL_SUCCESS ||
        mca_base_var_get_value(index, &v->storage, NULL, NULL) != OPAL_SUCCESS)
        return false;
    v->type = known->mbv_type;
    v->width = type_width(v->type);
    v->names = known->mbv_enumerator;
    memcpy(&v->before, v->storage, v->width);
    return true;
}

static bool set_priority(const char *framework, const char *component, int priority)
{
    variable v;
    if (!find_variable(framework, component, "priority", &v) || v.type != MCA_BASE_VAR_TYPE_INT)
        return false;
    memcpy(v.storage, &priority, v.width);
    return true;
}

/* The text of a string has to live until the variable is restored. */
static void set_variable(const variable *v, const char *name, char *text)
{
    mca_base_var_storage_t value;
    if (v->names != NULL) {
        if (v->names->value_from_string(v->names, text, &value.intval) != OPAL_SUCCESS)
            fail(name, "it has no value of this name");
        memcpy(v->storage, &value, v->width);
        return;
    }
    switch (v->type) {
    case MCA_BASE_VAR_TYPE_INT: value.intval = atoi(text); break;
    case MCA_BASE_VAR_TYPE_LONG: value.longval = atol(text); break;
    case MCA_BASE_VAR_TYPE_SIZE_T: value.sizetval = (size_t)strtoull(text, NULL, 10); break;
    case MCA_BASE_VAR_TYPE_BOOL: value.boolval = atoi(text) != 0; break;
    case MCA_BASE_VAR_TYPE_STRING: value.stringval = text; break;
    default: fail(name, "settings are numbers or text");
    }
    memcpy(v->storage, &value, v->width);
}

static void restore_variable(const variable *v)
{
    memcpy(v->storage, &v->before, v->width);
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

/* "num_aggregators=4,cycle_buffer_size=1048576" */
static void apply_settings(mpiio_selection *s, const way *w)
{
    char *rest = s->settings, *setting;
    if (w->settings == NULL)
        return;
    snprintf(s->settings, sizeof s->settings, "%s", w->settings);
    while ((setting = strsep(&rest, ",")) != NULL) {
        char *value = strchr(setting, '=');
        if (value == NULL || s->changes == MAX_SETTINGS)
            fail(w->name, "settings are NAME=VALUE,...");
        *value++ = '\0';
        variable *v = &s->changed[s->changes];
        if (!find_variable("fcoll", w->choice->fcoll, setting, v) &&
            !find_variable("io", w->choice->io, setting, v))
            fail(setting, "neither component has a variable of this name");
        set_variable(v, setting, value);
        s->changes++;
    }
}

mpiio_selection *mpiio_select(const way *w)
{
    mpiio_selection *s = take_memory(1, sizeof *s);
    choose(w->choice);
    apply_settings(s, w);
    return s;
}

void mpiio_deselect(mpiio_selection *s)
{
    while (s->changes > 0)
        restore_variable(&s->changed[--s->changes]);
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
    return find_variable("io", c->io, "priority", &v) &&
           (c->fcoll == NULL || find_variable("fcoll", c->fcoll, "priority", &v));
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
        restore_variable(&v);
        return;
    }
    if (!find_variable("fcoll", "tatp", "stats", &v))
        fail("fcoll_tatp_stats", "there is no such variable");
    set_variable(&v, "stats", (char *)path);
}
