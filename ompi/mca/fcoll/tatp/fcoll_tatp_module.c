/* SPDX-License-Identifier: BSD-3-Clause */
/* The module: one for each open file, from the first time OMPIO asks until the file is closed.
 *
 * OMPIO chooses anew at every MPI_File_set_view and finalizes only the module that is current when
 * the file is closed. A table by file handle keeps the others from being lost: it says which
 * module belongs to a handle, and frees what another component has replaced. */
#include "fcoll_tatp.h"

#include <stdlib.h>
#include <string.h>

/* The first of these is that of MPI_File_open, whose plain view no rank can get wrong: all are
 * here, and wrong parameters are told before anything is written. OMPIO would lose an error of that
 * call and print a line on every rank: it is kept instead, and comes back from every access. */
static int module_init(struct ompio_file_t *fh)
{
    tatp_module *module = (tatp_module *)fh->f_fcoll;
    module->period_known = false;
    (void)tatp_where(fh, module);
    return OMPI_SUCCESS;
}

static void release_module(tatp_module *module)
{
    for (int i = 0; i < 2; i++) {
        free(module->window[i].data);
        free(module->inbox[i].data);
        free(module->outbox[i].data);
    }
    access_release(&module->period);
    matrix_release(&module->recorded_view);
    tatp_where_release(&module->where);
    free(module);
}

/* The module of a handle, taken out of the table; NULL when there is none. */
static tatp_module *take_module(ompio_file_t *fh)
{
    tatp_module **at = &mca_fcoll_tatp_component.modules;
    while (*at != NULL && (*at)->fh != fh)
        at = &(*at)->next;
    tatp_module *module = *at;
    if (module != NULL)
        *at = module->next;
    return module;
}

static void put_module(tatp_module *module)
{
    module->next = mca_fcoll_tatp_component.modules;
    mca_fcoll_tatp_component.modules = module;
}

int mca_fcoll_tatp_file_unquery(struct ompio_file_t *fh)
{
    OPAL_THREAD_LOCK(&mca_fcoll_tatp_component.lock);
    tatp_module *module = take_module(fh);
    OPAL_THREAD_UNLOCK(&mca_fcoll_tatp_component.lock);
    if (module != NULL)
        release_module(module);
    tatp_record_flush();
    return OMPI_SUCCESS;
}

static int module_finalize(struct ompio_file_t *fh)
{
    return mca_fcoll_tatp_file_unquery(fh);
}

void tatp_modules_release(void)
{
    while (mca_fcoll_tatp_component.modules != NULL) {
        tatp_module *module = mca_fcoll_tatp_component.modules;
        mca_fcoll_tatp_component.modules = module->next;
        release_module(module);
    }
}

int mca_fcoll_tatp_init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void)enable_progress_threads;
    (void)enable_mpi_threads;
    return OMPI_SUCCESS;
}

static tatp_module *new_module(ompio_file_t *fh)
{
    tatp_module *module = calloc(1, sizeof *module);
    if (module == NULL)
        return NULL;
    module->fh = fh;
    module->super.fcoll_module_init = module_init;
    module->super.fcoll_module_finalize = module_finalize;
    module->super.fcoll_file_read_all = mca_fcoll_tatp_file_read_all;
    module->super.fcoll_file_write_all = mca_fcoll_tatp_file_write_all;
    return module;
}

mca_fcoll_base_module_t *mca_fcoll_tatp_file_query(struct ompio_file_t *fh, int *priority)
{
    *priority = mca_fcoll_tatp_component.priority;
    if (*priority < 0)
        return NULL;
    OPAL_THREAD_LOCK(&mca_fcoll_tatp_component.lock);
    tatp_module *module = take_module(fh);
    /* a handle at the address of one that was closed under another component */
    if (module != NULL && fh->f_fcoll != &module->super) {
        release_module(module);
        module = NULL;
    }
    if (module == NULL)
        module = new_module(fh);
    if (module != NULL)
        put_module(module);
    OPAL_THREAD_UNLOCK(&mca_fcoll_tatp_component.lock);
    if (module != NULL && tatp_records())
        tatp_record_view(fh, module);
    return module == NULL ? NULL : &module->super;
}

int tatp_buffer_reserve(tatp_buffer *buffer, size_t size)
{
    if (size <= buffer->size)
        return OMPI_SUCCESS;
    free(buffer->data);
    buffer->data = malloc(size);
    buffer->size = buffer->data == NULL ? 0 : size;
    return buffer->data == NULL ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}
