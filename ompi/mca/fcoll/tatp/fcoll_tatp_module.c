/* SPDX-License-Identifier: BSD-3-Clause */
/* The module: one for each open file, from the first time OMPIO asks until the file is closed.
 *
 * OMPIO chooses anew at every MPI_File_set_view and finalizes only the module that is current when
 * the file is closed. A table by file handle keeps the others from being lost: it says which
 * module belongs to a handle, and retires what another component has replaced. */
#include "fcoll_tatp.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"

/* Modules that wait for the next file of their ranks; the one that waited longest goes. */
#define MOST_IDLE 8

/* The first of these is that of MPI_File_open, whose plain view no rank can get wrong: all are
 * here, and wrong parameters are told before anything is written. OMPIO would lose an error of that
 * call and print a line on every rank: it is kept instead, and comes back from every access. */
static int module_init(struct ompio_file_t *fh)
{
    tatp_module *module = (tatp_module *)fh->f_fcoll;
    tatp_operations_finish(module);
    module->period_known = false;
    (void)tatp_where(fh, module);
    tatp_record_begin(fh, module);
    return OMPI_SUCCESS;
}

static void free_module(tatp_module *module)
{
    tatp_operation_free(module->spare);
    access_release(&module->period);
    tatp_record_free(module);
    tatp_where_release(&module->where);
    tatp_schedule_release(&module->schedule);
    tatp_segment_put_back(module->segment);
    free(module->local);
    free(module->group);
    free(module);
}

/* The module of a handle, taken out of the table; NULL when there is none. */
static tatp_module *take_module(ompio_file_t *fh)
{
    tatp_module **at = &mca_fcoll_tatp_component.modules;
    while (NULL != *at && (*at)->fh != fh)
        at = &(*at)->next;
    tatp_module *module = *at;
    if (NULL != module)
        *at = module->next;
    return module;
}

static void put_module(tatp_module *module)
{
    module->next = mca_fcoll_tatp_component.modules;
    mca_fcoll_tatp_component.modules = module;
}

/* ---- modules that wait ---- */

/* Puts a module among those that wait; the one to be freed for it, or NULL. */
static tatp_module *add_idle(tatp_module *module)
{
    tatp_module **at = &mca_fcoll_tatp_component.idle_modules;
    module->fh = NULL;
    module->next = *at;
    *at = module;
    for (int n = 0; n < MOST_IDLE && NULL != *at; n++)
        at = &(*at)->next;
    tatp_module *oldest = *at;
    *at = NULL;
    return oldest;
}

static void retire(ompio_file_t *fh, tatp_module *module)
{
    tatp_module *out = module;
    tatp_operations_finish(module);
    tatp_record_end(fh, module);
    OPAL_THREAD_LOCK(&mca_fcoll_tatp_component.lock);
    if (module->where.agreed && MPI_SUCCESS == module->where.error)
        out = add_idle(module);
    OPAL_THREAD_UNLOCK(&mca_fcoll_tatp_component.lock);
    if (NULL != out)
        free_module(out);
}

static bool same_group(const tatp_module *module, const ompi_process_name_t *group, int ranks)
{
    return module->ranks == ranks &&
           memcmp(module->group, group, (size_t)ranks * sizeof *group) == 0;
}

static bool same_settings(const tatp_module *module, const tatp_settings *settings)
{
    return memcmp(&module->settings, settings, sizeof *settings) == 0;
}

/* A waiting module of these ranks, best one of these settings, taken out of the list; NULL when
 * there is none. */
static tatp_module *take_idle(const ompi_process_name_t *group, int ranks,
                              const tatp_settings *settings)
{
    tatp_module **best = NULL;
    for (tatp_module **at = &mca_fcoll_tatp_component.idle_modules; NULL != *at;
         at = &(*at)->next) {
        if (!same_group(*at, group, ranks))
            continue;
        if (NULL == best || same_settings(*at, settings))
            best = at;
        if (same_settings(*at, settings))
            break;
    }
    if (NULL == best)
        return NULL;
    tatp_module *module = *best;
    *best = module->next;
    return module;
}

static ompi_process_name_t *group_of(ompio_file_t *fh)
{
    ompi_process_name_t *group = calloc((size_t)fh->f_size, sizeof *group);
    for (int r = 0; NULL != group && r < fh->f_size; r++)
        group[r] = ompi_group_get_proc_name(fh->f_comm->c_local_group, r);
    return group;
}

static tatp_module *new_module(ompi_process_name_t *group, int ranks)
{
    tatp_module *module = calloc(1, sizeof *module);
    if (NULL == module)
        return NULL;
    module->spare = tatp_operation_new();
    if (NULL == module->spare || OMPI_SUCCESS != tatp_record_new(module)) {
        tatp_operation_free(module->spare);
        free(module);
        return NULL;
    }
    module->group = group;
    module->ranks = ranks;
    module->refused_bytes = SIZE_MAX;
    module->super.fcoll_module_init = module_init;
    module->super.fcoll_module_finalize = mca_fcoll_tatp_file_unquery;
    module->super.fcoll_file_read_all = mca_fcoll_tatp_file_read_all;
    module->super.fcoll_file_iread_all = mca_fcoll_tatp_file_iread_all;
    module->super.fcoll_file_write_all = mca_fcoll_tatp_file_write_all;
    module->super.fcoll_file_iwrite_all = mca_fcoll_tatp_file_iwrite_all;
    return module;
}

/* A module for a file that is being opened. With the same settings, the schedule of the file before
 * may serve again; whether it is everyone's is agreed upon at the first access. */
static tatp_module *module_for(ompio_file_t *fh)
{
    tatp_find_choices();
    tatp_settings settings = tatp_read_settings(fh);
    ompi_process_name_t *group = group_of(fh);
    if (NULL == group)
        return NULL;
    tatp_module *module = take_idle(group, fh->f_size, &settings);
    if (NULL != module)
        free(group);
    else
        module = new_module(group, fh->f_size);
    if (NULL == module) {
        free(group);
        return NULL;
    }
    if (!same_settings(module, &settings))
        module->schedule.reusable = false;
    module->settings = settings;
    module->fh = fh;
    module->where.agreed = false;
    return module;
}

/* ---- what OMPIO calls ---- */

int mca_fcoll_tatp_file_unquery(struct ompio_file_t *fh)
{
    OPAL_THREAD_LOCK(&mca_fcoll_tatp_component.lock);
    tatp_module *module = take_module(fh);
    OPAL_THREAD_UNLOCK(&mca_fcoll_tatp_component.lock);
    if (NULL != module)
        retire(fh, module);
    return OMPI_SUCCESS;
}

void tatp_modules_release(void)
{
    mca_fcoll_tatp_component_t *c = &mca_fcoll_tatp_component;
    tatp_module **lists[] = {&c->modules, &c->idle_modules};
    for (int l = 0; l < 2; l++) {
        while (NULL != *lists[l]) {
            tatp_module *module = *lists[l];
            *lists[l] = module->next;
            free_module(module);
        }
    }
}

int mca_fcoll_tatp_init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void)enable_progress_threads;
    (void)enable_mpi_threads;
    return OMPI_SUCCESS;
}

/* The module of a handle: the one that it has, or another. */
static tatp_module *query_module(ompio_file_t *fh)
{
    tatp_module *stale = NULL;
    OPAL_THREAD_LOCK(&mca_fcoll_tatp_component.lock);
    tatp_module *module = take_module(fh);
    /* a handle at the address of one that was closed under another component */
    if (NULL != module && fh->f_fcoll != &module->super) {
        stale = module;
        module = NULL;
    }
    if (NULL == module)
        module = module_for(fh);
    if (NULL != module)
        put_module(module);
    OPAL_THREAD_UNLOCK(&mca_fcoll_tatp_component.lock);
    if (NULL != stale)
        retire(fh, stale);
    return module;
}

mca_fcoll_base_module_t *mca_fcoll_tatp_file_query(struct ompio_file_t *fh, int *priority)
{
    *priority = mca_fcoll_tatp_component.priority;
    if (*priority < 0)
        return NULL;
    tatp_module *module = query_module(fh);
    return NULL != module ? &module->super : NULL;
}
