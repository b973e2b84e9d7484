/* SPDX-License-Identifier: BSD-3-Clause */
/* The modules: one for each open file, from OMPIO's first query until the file is closed.
 *
 * OMPIO selects again at every MPI_File_set_view and finalizes only the module that is current when
 * the file is closed. A table by file handle keeps track of the others: it has the module of a
 * handle, and retires what another component has replaced. */
#include "fcoll_tatp.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_fit.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record.h"
#include "opal/util/output.h"

/* Modules that are kept for the next file of their ranks; the oldest is freed first. */
#define MOST_IDLE 8

typedef mca_fcoll_tatp_module_t tatp_module;

static opal_mutex_t *table_lock(void)
{
    return &mca_fcoll_tatp_component.lock;
}

static void free_module(tatp_module *module)
{
    tatp_calls_unreserve(module->file);
    tatp_file_free(module->file);
    free(module->group);
    free(module);
}

/* The module of a handle, taken out of the table, or NULL. */
static tatp_module *take_module(const ompio_file_t *fh)
{
    tatp_module **at = &mca_fcoll_tatp_component.modules;
    while (NULL != *at && (*at)->fh != fh)
        at = &(*at)->next;
    tatp_module *module = *at;
    if (NULL != module)
        *at = module->next;
    return module;
}

static void push_module(tatp_module **list, tatp_module *module)
{
    module->next = *list;
    *list = module;
}

/* ---- idle modules ---- */

/* Returns the module to be freed for the new one, or NULL. */
static tatp_module *push_idle(tatp_module *module)
{
    tatp_module **at = &mca_fcoll_tatp_component.idle_modules;
    module->fh = NULL;
    push_module(at, module);
    for (int n = 0; n < MOST_IDLE && NULL != *at; n++)
        at = &(*at)->next;
    tatp_module *oldest = *at;
    *at = NULL;
    return oldest;
}

static void retire_module(tatp_module *module)
{
    tatp_module *out = module;
    bool is_reusable = tatp_file_close(module->file);
    OPAL_THREAD_LOCK(table_lock());
    if (is_reusable)
        out = push_idle(module);
    OPAL_THREAD_UNLOCK(table_lock());
    if (NULL != out)
        free_module(out);
}

/* An idle module of these ranks, taken out of the list: one of the handle's settings if there is
 * one. NULL: there is none. */
static tatp_module *take_idle(const ompi_process_name_t *group, int ranks,
                              const tatp_plan_settings *settings)
{
    tatp_module **best = NULL;
    for (tatp_module **at = &mca_fcoll_tatp_component.idle_modules; NULL != *at;
         at = &(*at)->next) {
        if ((*at)->ranks != ranks ||
            0 != memcmp((*at)->group, group, (size_t)ranks * sizeof *group))
            continue;
        bool has_settings = tatp_file_has_settings((*at)->file, settings);
        if (NULL == best || has_settings)
            best = at;
        if (has_settings)
            break;
    }
    if (NULL == best)
        return NULL;
    tatp_module *module = *best;
    *best = module->next;
    return module;
}

/* ---- new modules ---- */

/* Errors of any rank come back from every access: OMPIO would lose an error of MPI_File_open and
 * MPI_File_set_view, and print a line on every rank. */
static int init_module(struct ompio_file_t *fh)
{
    tatp_file_set_view(((tatp_module *)fh->f_fcoll)->file);
    return OMPI_SUCCESS;
}

static ompi_process_name_t *group_of(const ompio_file_t *fh)
{
    ompi_process_name_t *group = calloc((size_t)fh->f_size, sizeof *group);
    for (int r = 0; NULL != group && r < fh->f_size; r++)
        group[r] = ompi_group_get_proc_name(fh->f_comm->c_local_group, r);
    return group;
}

#define FUNCTIONS(init)                                                                            \
    {                                                                                              \
        .fcoll_module_init = (init), .fcoll_module_finalize = mca_fcoll_tatp_file_unquery,         \
        .fcoll_file_read_all = mca_fcoll_tatp_file_read_all,                                       \
        .fcoll_file_iread_all = mca_fcoll_tatp_file_iread_all,                                     \
        .fcoll_file_write_all = mca_fcoll_tatp_file_write_all,                                     \
        .fcoll_file_iwrite_all = mca_fcoll_tatp_file_iwrite_all,                                   \
    }

/* Takes over the group unless it fails. */
static tatp_module *new_module(ompi_process_name_t *group, int ranks)
{
    tatp_module *module = calloc(1, sizeof *module);
    if (NULL == module)
        return NULL;
    module->file = tatp_file_new();
    if (NULL == module->file || !tatp_calls_reserve(module->file)) {
        if (NULL != module->file)
            tatp_file_free(module->file);
        free(module);
        return NULL;
    }
    module->group = group;
    module->ranks = ranks;
    module->super = (mca_fcoll_base_module_t)FUNCTIONS(init_module);
    return module;
}

/* A module for a file that is being opened. With the settings of the file before, that one's plan
 * may be reused; whether it is the same on all ranks is agreed at the first access. */
static tatp_module *module_for(ompio_file_t *fh)
{
    ompi_process_name_t *group = group_of(fh);
    if (NULL == group)
        return NULL;
    const tatp_hint_values hints = tatp_hints_at_open(fh);
    const tatp_settings settings = tatp_params_collect(fh, &hints);
    const tatp_plan_settings wanted = tatp_params_plan(fh, &settings);
    tatp_module *module = take_idle(group, fh->f_size, &wanted);
    bool is_new = NULL == module;
    if (is_new)
        module = new_module(group, fh->f_size);
    if (!is_new || NULL == module)
        free(group);
    if (NULL != module) {
        module->fh = fh;
        tatp_file_open(module->file, fh);
    }
    return module;
}

/* ---- without memory ---- */

static int refuse_opening(struct ompio_file_t *fh)
{
    tatp_file_refuse(fh);
    return OMPI_SUCCESS;
}

static int stay_refused(struct ompio_file_t *fh)
{
    (void)fh;
    return OMPI_SUCCESS;
}

/* Of all handles for which there was no memory: with their first view, when that becomes an error
 * of all ranks, and with later ones. A module of their own would take memory. */
static tatp_module refusing = {.super = FUNCTIONS(refuse_opening)},
                   refused = {.super = FUNCTIONS(stay_refused)};

/* ---- what OMPIO calls ---- */

int mca_fcoll_tatp_init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void)enable_progress_threads;
    (void)enable_mpi_threads;
    return OMPI_SUCCESS;
}

/* The module of a handle: the one that it has, or another. */
static tatp_module *query_module(ompio_file_t *fh)
{
    OPAL_THREAD_LOCK(table_lock());
    tatp_module *module = take_module(fh);
    if (NULL != module && fh->f_fcoll != &module->super) {
        /* It was closed under another component, and this handle is at its address. */
        OPAL_THREAD_UNLOCK(table_lock());
        retire_module(module);
        OPAL_THREAD_LOCK(table_lock());
        module = NULL;
    }
    if (NULL == module)
        module = module_for(fh);
    if (NULL != module)
        push_module(&mca_fcoll_tatp_component.modules, module);
    OPAL_THREAD_UNLOCK(table_lock());
    return module;
}

static int file_priority(void)
{
    const char *record = tatp_params_get().record_file;
    return tatp_params_priority(NULL != record && tatp_record_is_automatic(record));
}

/* Declines a handle with another layout, which is the same on all ranks. For nothing else: where no
 * other component was asked for, a rank without one would leave MPI_File_open, and the others wait
 * for it. */
mca_fcoll_base_module_t *mca_fcoll_tatp_file_query(struct ompio_file_t *fh, int *priority)
{
    *priority = file_priority();
    if (!tatp_fits_handle(fh))
        return NULL;
    if (fh->f_fcoll == &refusing.super || fh->f_fcoll == &refused.super)
        return &refused.super;
    tatp_module *module = query_module(fh);
    return NULL != module ? &module->super : &refusing.super;
}

/* Another component has a higher priority. On rank 0, for the first file. */
static void report_passed_over(const ompio_file_t *fh)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    const tatp_params params = tatp_params_get();
    bool records = NULL != params.record_file && '\0' != params.record_file[0];
    bool measures = NULL != params.stats_file && '\0' != params.stats_file[0];
    if (0 == fh->f_rank && (records || measures) && !atomic_flag_test_and_set(&reported))
        opal_output(0,
                    "fcoll:tatp: %s has no effect on %s, which another component serves; use it "
                    "with --mca fcoll tatp",
                    records ? "fcoll_tatp_record" : "fcoll_tatp_stats", fh->f_filename);
}

int mca_fcoll_tatp_file_unquery(struct ompio_file_t *fh)
{
    tatp_split_release(fh);
    OPAL_THREAD_LOCK(table_lock());
    tatp_module *module = take_module(fh);
    OPAL_THREAD_UNLOCK(table_lock());
    if (NULL != module && !tatp_file_is_open(module->file))
        report_passed_over(fh);
    if (NULL != module)
        retire_module(module);
    return OMPI_SUCCESS;
}

static void free_list(tatp_module *module)
{
    for (tatp_module *next; NULL != module; module = next) {
        next = module->next;
        free_module(module);
    }
}

void tatp_modules_free(void)
{
    free_list(mca_fcoll_tatp_component.modules);
    free_list(mca_fcoll_tatp_component.idle_modules);
    mca_fcoll_tatp_component.modules = mca_fcoll_tatp_component.idle_modules = NULL;
}
