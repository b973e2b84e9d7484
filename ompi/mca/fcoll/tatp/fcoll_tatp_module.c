/* SPDX-License-Identifier: BSD-3-Clause */
/* The modules: one for each open file, from OMPIO's first query until the file is closed.
 *
 * OMPIO selects again at every MPI_File_set_view and finalizes only the module that is current when
 * the file is closed. A list keeps track of the others: it has the module of a handle, and retires
 * what another component has replaced.
 *
 * Open MPI 4.1 passes hints of MPI_File_set_view to OMPIO alone, and those of MPI_File_set_info to
 * subscribers alone. So the file's own copy of OMPIO's table of functions gets another set_view,
 * which notes the hints first, and the hints are subscribed. It gets another close, too: OMPIO
 * closes the file before it informs the component. */
#include "fcoll_tatp.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"
#include "ompi/compat/compat_asked.h"
#include "ompi/compat/compat_info.h"
#include "ompi/file/file.h"
#include "ompi/info/info.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_device.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_file.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_fit.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_process.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_pvars.h"
#include "collective/files.h"
#include "collective/record.h"
#include "ompi/mca/io/io.h"
#include "opal/util/info_subscriber.h"
#include "opal/util/output.h"

/* Guards the list, because threads may open files, and the functions of OMPIO. */
static opal_mutex_t list_lock = OPAL_MUTEX_STATIC_INIT;
static tatp_file *modules;

static void free_module(tatp_file *module)
{
    if (NULL != module->file)
        coll_files_close(tatp_process(), module->file);
    tatp_calls_unreserve(module);
    coll_view_release(&module->view.view);
    free(module);
}

/* The place of the handle's module in the list, or its end. */
static tatp_file **find_module(const ompio_file_t *fh)
{
    tatp_file **at = &modules;
    while (NULL != *at && (*at)->io.fh != fh)
        at = &(*at)->next;
    return at;
}

/* The module of a handle, taken out of the list, or NULL. */
static tatp_file *take_module(const ompio_file_t *fh)
{
    tatp_file **at = find_module(fh), *module = *at;
    if (NULL != module)
        *at = module->next;
    return module;
}

/* The component no longer handles the file. Local. */
static void retire_module(tatp_file *module)
{
    tatp_requests_finish(&module->comm);
    tatp_io_close(&module->io);
    free_module(module);
}

/* ---- MPI_File_set_view, MPI_File_set_info and MPI_File_close ---- */

static mca_io_base_module_file_set_view_fn_t set_view_of_ompio;
static mca_io_base_module_file_close_fn_t close_of_ompio;

static const ompio_file_t *handle_of(const struct ompi_file_t *file)
{
    return &((const mca_common_ompio_data_t *)file->f_io_selected_data)->ompio_fh;
}

/* NULL before the file's first view. */
static tatp_file *find_open_module(const struct ompi_file_t *file)
{
    tatp_file *module = *find_module(handle_of(file));
    return NULL != module && coll_file_has_started(module->file) ? module : NULL;
}

/* OMPIO gets no hints: it would select another component for `collective_buffering`, whose true and
 * false Open MPI 4.1 takes for each other. */
static int interposed_set_view(struct ompi_file_t *file, MPI_Offset disp,
                               struct ompi_datatype_t *etype, struct ompi_datatype_t *filetype,
                               const char *datarep, struct opal_info_t *info)
{
    OPAL_THREAD_LOCK(&list_lock);
    mca_io_base_module_file_set_view_fn_t next = set_view_of_ompio;
    tatp_file *module = find_open_module(file);
    if (NULL != module) {
        tatp_hints_note_info(&module->hints, info);
        info = &MPI_INFO_NULL->super;
    }
    OPAL_THREAD_UNLOCK(&list_lock);
    return next(file, disp, etype, filetype, datarep, info);
}

/* The module's part of MPI_File_close, while the file is open: requests that the program has not
 * completed need it. Returns the error class. */
static int finish_file(tatp_file *module)
{
    const int64_t bytes[] = {module->io.counted[false], module->io.counted[true]};
    tatp_requests_finish(&module->comm);
    coll_file_count_noncollective(module->file, bytes);
    return coll_file_report_loss(module->file, tatp_io_try_close(&module->io));
}

/* MPI_File_close does not return what this returns; an error handler does learn of the error. */
static int interposed_close(struct ompi_file_t *file)
{
    const ompio_file_t *fh = handle_of(file);
    OPAL_THREAD_LOCK(&list_lock);
    mca_io_base_module_file_close_fn_t next = close_of_ompio;
    tatp_file *module = *find_module(fh);
    bool is_replaced = NULL != module && fh->f_fcoll != &module->super;
    if (is_replaced)
        (void)take_module(fh);
    OPAL_THREAD_UNLOCK(&list_lock);
    const int error = NULL != module ? finish_file(module) : 0;
    if (is_replaced)
        retire_module(module);
    const int rc = next(file);
    if (0 != error)
        (void)OMPI_ERRHANDLER_INVOKE(file, error, "MPI_File_close");
    return 0 != error ? error : rc;
}

/* Takes one hint of MPI_File_set_info, and, before the first view, of the subscription. Returns
 * what the file's info object gets; NULL if it is another hint. */
static compat_info_char *accept_hint(opal_infosubscriber_t *object, compat_info_char *name,
                                     compat_info_char *text)
{
    OPAL_THREAD_LOCK(&list_lock);
    tatp_file *module = find_open_module((const struct ompi_file_t *)object);
    bool is_refused = NULL != module && !tatp_hints_note(&module->hints, name, text);
    OPAL_THREAD_UNLOCK(&list_lock);
    return is_refused ? NULL : text;
}

/* The table of functions is the file's, and so are the subscriptions: both end with the file. The
 * hints of MPI_File_open have been read: a subscription makes those empty that were not given. */
static void interpose(struct ompi_file_t *file)
{
    compat_io_module *functions = COMPAT_IO_MODULE(file);
    if (interposed_set_view == functions->io_module_file_set_view)
        return;
    OPAL_THREAD_LOCK(&list_lock);
    set_view_of_ompio = functions->io_module_file_set_view;
    close_of_ompio = functions->io_module_file_close;
    OPAL_THREAD_UNLOCK(&list_lock);
    functions->io_module_file_set_view = interposed_set_view;
    functions->io_module_file_close = interposed_close;
    for (int i = 0; i < COLL_HINTS; i++)
        (void)opal_infosubscribe_subscribe(&file->super, (char *)coll_hint_name(i), (char *)"",
                                           accept_hint);
}

/* ---- collective calls ---- */

/* MPI_File_write_all, _write_at_all, _write_ordered; likewise for reading. */
static int file_write_all(struct ompio_file_t *fh, const void *buf, compat_count count,
                          struct ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    return tatp_collective(fh, true, buf, (size_t)count, datatype, status);
}

static int file_read_all(struct ompio_file_t *fh, void *buf, compat_count count,
                         struct ompi_datatype_t *datatype, ompi_status_public_t *status)
{
    return tatp_collective(fh, false, buf, (size_t)count, datatype, status);
}

/* MPI_File_iwrite_all, _iwrite_at_all, and the split _write_*_begin and _end. */
static int file_iwrite_all(struct ompio_file_t *fh, const void *buf, compat_count count,
                           struct ompi_datatype_t *datatype, ompi_request_t **request)
{
    return tatp_collective_start(fh, true, buf, (size_t)count, datatype, request);
}

static int file_iread_all(struct ompio_file_t *fh, void *buf, compat_count count,
                          struct ompi_datatype_t *datatype, ompi_request_t **request)
{
    return tatp_collective_start(fh, false, buf, (size_t)count, datatype, request);
}

/* ---- new modules ---- */

/* libtatp-mpiio.so, where the program has it, leaves the file to this component. */
static void tell_library(void)
{
    bool *leaves_file = dlsym(RTLD_DEFAULT, "tatp_mpiio_leaves_file");
    if (NULL != leaves_file)
        *leaves_file = true;
}

static void report_memory(int ranks)
{
    const char *text = tatp_params_text(PARAMETER_ROMIO_RANKS);
    const int64_t many = parameter_value(PARAMETER_ROMIO_RANKS, text);
    if (many > 0 && ranks >= many && coll_is_first(tatp_process(), "ompio", ""))
        coll_log(tatp_process(), 0,
                 COLL_TEXT_OMPIO "; with tatp run ROMIO opens files, where Open MPI has it: see "
                                 "fcoll_tatp_romio_ranks in man 7 fcoll_tatp",
                 COLL_OMPIO_MEGABYTES(ranks), ranks);
}

/* Completes the opening. What OMPIO finds out while it opens the file is known with the first view.
 */
static void start_file(tatp_file *file, ompio_file_t *fh)
{
    tatp_comm_attach(&file->comm, fh->f_comm);
    const coll_hint_values hints = tatp_hints_take(&file->hints);
    const coll_facts facts = tatp_params_facts(fh, &hints);
    if (0 == fh->f_rank && '\0' != tatp_params_text(PARAMETER_RECORD)[0])
        tatp_process_records();
    coll_file_start(file->file, &facts);
    if (0 == fh->f_rank)
        report_memory(fh->f_size);
}

/* A view of the handle was set. Errors of any rank come back from every access: OMPIO would lose an
 * error of MPI_File_open and MPI_File_set_view, and print a line on every rank. */
static int init_module(struct ompio_file_t *fh)
{
    tatp_file *file = (tatp_file *)fh->f_fcoll;
    tell_library();
    if (!coll_file_has_started(file->file))
        tatp_hints_open(&file->hints, fh);
    if (!(fh->f_flags & OMPIO_SHAREDFP_IS_SET)) {
        interpose(fh->f_fh);
        tatp_io_count(&file->io);
    }
    tatp_requests_finish(&file->comm);
    file->view.is_decoded = false;
    if (!coll_file_has_started(file->file))
        start_file(file, fh);
    tatp_hints_apply(&file->hints, file->file);
    tatp_hints_publish(&file->hints, file->file);
    return OMPI_SUCCESS;
}

static coll_ranks ranks_of(const ompio_file_t *fh)
{
    coll_ranks ranks = {{0}};
    coll_ranks_add(&ranks, compat_is_reordered(fh->f_comm)); /* which the record depends on */
    for (int r = 0; r < fh->f_size; r++) {
        const opal_process_name_t name = ompi_group_get_proc_name(fh->f_comm->c_local_group, r);
        coll_ranks_add(&ranks, (uint64_t)name.jobid << 32 | name.vpid);
    }
    return ranks;
}

#define FUNCTIONS(init)                                                                            \
    {                                                                                              \
        .fcoll_module_init = (init), .fcoll_module_finalize = mca_fcoll_tatp_file_unquery,         \
        .fcoll_file_read_all = file_read_all, .fcoll_file_iread_all = file_iread_all,              \
        .fcoll_file_write_all = file_write_all, .fcoll_file_iwrite_all = file_iwrite_all,          \
    }

static void count_access(void *context, const coll_observed *access, void **state)
{
    (void)context;
    (void)state;
    tatp_pvars_add(access);
}

/* NULL if memory is exhausted. */
static coll_file *open_file(tatp_file *module, ompio_file_t *fh)
{
    const coll_handle handle = {
        .runtime = &module->comm.runtime,
        .store = &module->io.store,
        .name = fh->f_filename,
        .device = &tatp_device,
        .observer = {.moved = count_access},
        .began = tatp_process()->clock(NULL),
    };
    const coll_hint_values hints = tatp_hints_at_open(fh, false);
    const coll_facts facts = tatp_params_facts(fh, &hints);
    const coll_ranks ranks = ranks_of(fh);
    return coll_files_open(tatp_process(), &ranks, &handle, &facts);
}

/* A module for a file that is being opened; NULL if memory is exhausted. */
static tatp_file *new_module(ompio_file_t *fh)
{
    tatp_file *module = calloc(1, sizeof *module);
    if (NULL == module)
        return NULL;
    module->super = (mca_fcoll_base_module_t)FUNCTIONS(init_module);
    tatp_io_open(&module->io, fh);
    if (tatp_calls_reserve(module))
        module->file = open_file(module, fh);
    if (NULL == module->file) {
        free_module(module);
        return NULL;
    }
    tatp_device_tell();
    OPAL_THREAD_LOCK(&list_lock);
    module->next = modules;
    modules = module;
    OPAL_THREAD_UNLOCK(&list_lock);
    return module;
}

/* ---- without memory ---- */

/* Takes part in what the first view is on the other ranks, where it becomes the error of the
 * opening. */
static int refuse_opening(struct ompio_file_t *fh)
{
    int64_t value[COLL_OPENING_VALUES];
    tell_library();
    coll_file_refuse(value);
    (void)tatp_reduce_max(fh->f_comm, value, COLL_OPENING_VALUES);
    return OMPI_SUCCESS;
}

static int stay_refused(struct ompio_file_t *fh)
{
    (void)fh;
    return OMPI_SUCCESS;
}

/* All handles for which there was no memory share these: `refusing` with their first view, when
 * that becomes an error of all ranks, `refused` with later ones. A module of their own would take
 * memory. */
static tatp_file refusing = {.super = FUNCTIONS(refuse_opening)},
                 refused = {.super = FUNCTIONS(stay_refused)};

/* ---- what OMPIO calls ---- */

int mca_fcoll_tatp_init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void)enable_progress_threads;
    (void)enable_mpi_threads;
    return OMPI_SUCCESS;
}

/* The module of a handle: the one that it has, or another. */
static tatp_file *query_module(ompio_file_t *fh)
{
    OPAL_THREAD_LOCK(&list_lock);
    tatp_file *module = *find_module(fh);
    bool is_other = NULL != module && fh->f_fcoll != &module->super;
    if (is_other)
        (void)take_module(fh);
    OPAL_THREAD_UNLOCK(&list_lock);
    if (is_other) /* it was closed under another component, and this handle is at its address */
        retire_module(module);
    return NULL == module || is_other ? new_module(fh) : module;
}

/* Declines a handle with another layout, which is the same on all ranks. For nothing else: where no
 * other component was asked for, a rank without one would leave MPI_File_open, and the others wait
 * for it. */
mca_fcoll_base_module_t *mca_fcoll_tatp_file_query(struct ompio_file_t *fh, int *priority)
{
    *priority = tatp_params_priority(coll_record_is_automatic(tatp_params_text(PARAMETER_RECORD)));
    if (!tatp_fits_handle(fh))
        return NULL;
    if (fh->f_fcoll == &refusing.super || fh->f_fcoll == &refused.super)
        return &refused.super;
    tatp_file *module = query_module(fh);
    return NULL != module ? &module->super : &refusing.super;
}

/* Another component has a higher priority, as rank 0 says for the first file. */
static void report_passed_over(const ompio_file_t *fh)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    bool records = '\0' != tatp_params_text(PARAMETER_RECORD)[0];
    bool measures = '\0' != tatp_params_text(PARAMETER_STATS)[0];
    if (0 == fh->f_rank && (records || measures) && !atomic_flag_test_and_set(&reported))
        opal_output(0,
                    "fcoll:tatp: %s has no effect on %s, which another component serves; use it "
                    "with --mca fcoll tatp",
                    records ? "fcoll_tatp_record" : "fcoll_tatp_stats", fh->f_filename);
}

int mca_fcoll_tatp_file_unquery(struct ompio_file_t *fh)
{
    tatp_split_release(fh);
    OPAL_THREAD_LOCK(&list_lock);
    tatp_file *module = take_module(fh);
    OPAL_THREAD_UNLOCK(&list_lock);
    if (NULL != module && !coll_file_has_started(module->file))
        report_passed_over(fh);
    if (NULL != module)
        retire_module(module);
    return OMPI_SUCCESS;
}

void tatp_modules_free(void)
{
    for (tatp_file *module; NULL != (module = modules);) {
        modules = module->next;
        free_module(module);
    }
}
