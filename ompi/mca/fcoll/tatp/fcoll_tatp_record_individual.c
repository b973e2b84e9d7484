/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's eye on accesses that are not collective. OMPIO carries them out without any fcoll
 * component: it cuts them into pieces of the file and hands these to the file-byte-transfer layer
 * (fbtl). While a file is recorded, a module that notes the pieces stands before that layer's in
 * the file's handle. */
#include "fcoll_tatp_record.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "access/merge.h"

/* Runs of accesses that are remembered: from the first number on they are put in order, so that
 * repetitions go; what then is beyond the second is not recorded. */
enum { FOLD_RUNS = 1 << 16, MOST_RUNS = 1 << 20 };

/* The watch of a handle that has one. */
static tatp_recording *recording_of(const ompio_file_t *fh)
{
    return (tatp_recording *)((char *)fh->f_fbtl - offsetof(tatp_recording, watch));
}

/* The bytes of any list as an ordered one. */
static int put_in_order(const access_list *list, access_list *ordered)
{
    access_list *layer;
    size_t layers;
    int rc = access_layers(list, &layer, &layers);
    if (rc != 0)
        return rc;
    const access_list **pointer = calloc(layers + 1, sizeof *pointer);
    for (size_t i = 0; NULL != pointer && i < layers; i++)
        pointer[i] = &layer[i];
    rc = NULL == pointer ? -ENOMEM : access_union(pointer, layers, ordered);
    for (size_t i = 0; i < layers; i++)
        access_release(&layer[i]);
    free(layer);
    free(pointer);
    return rc;
}

static void fold(tatp_recording *recording)
{
    access_list ordered = {0};
    if (put_in_order(&recording->individual, &ordered) == 0) {
        access_release(&recording->individual);
        recording->individual = ordered;
    } else {
        access_release(&ordered);
    }
    recording->folded = recording->individual.count;
}

/* Makes room now and then; false: there is none. */
static bool has_room(tatp_recording *recording)
{
    size_t runs = recording->individual.count;
    if (runs < FOLD_RUNS || runs / 2 < recording->folded)
        return runs < MOST_RUNS;
    fold(recording);
    return recording->individual.count < MOST_RUNS;
}

static void note(const ompio_file_t *fh)
{
    tatp_recording *recording = recording_of(fh);
    for (int i = 0; i < fh->f_num_of_io_entries; i++) {
        const mca_common_ompio_io_array_t *piece = &fh->f_io_array[i];
        int64_t length = (int64_t)piece->length, stream = recording->individual.bytes;
        if (!has_room(recording) ||
            access_append(&recording->individual, (int64_t)(intptr_t)piece->offset, length,
                          stream) != 0)
            recording->missed += length;
    }
}

static ssize_t watched_preadv(ompio_file_t *fh)
{
    note(fh);
    return recording_of(fh)->fbtl->fbtl_preadv(fh);
}

static ssize_t watched_pwritev(ompio_file_t *fh)
{
    note(fh);
    return recording_of(fh)->fbtl->fbtl_pwritev(fh);
}

static ssize_t watched_ipreadv(ompio_file_t *fh, ompi_request_t *request)
{
    note(fh);
    return recording_of(fh)->fbtl->fbtl_ipreadv(fh, request);
}

static ssize_t watched_ipwritev(ompio_file_t *fh, ompi_request_t *request)
{
    note(fh);
    return recording_of(fh)->fbtl->fbtl_ipwritev(fh, request);
}

/* The file is being closed, whatever component serves its collective calls by now. */
static int watched_finalize(ompio_file_t *fh)
{
    tatp_recording *recording = recording_of(fh);
    mca_fbtl_base_module_t *fbtl = recording->fbtl;
    tatp_operations_finish(recording->module);
    tatp_record_end(fh, recording->module);
    return NULL != fbtl->fbtl_module_finalize ? fbtl->fbtl_module_finalize(fh) : OMPI_SUCCESS;
}

void tatp_watch(ompio_file_t *fh, tatp_recording *recording)
{
    mca_fbtl_base_module_t *fbtl = fh->f_fbtl, *watch = &recording->watch;
    recording->fbtl = fbtl;
    *watch = *fbtl;
    watch->fbtl_module_finalize = watched_finalize;
    if (NULL != fbtl->fbtl_preadv)
        watch->fbtl_preadv = watched_preadv;
    if (NULL != fbtl->fbtl_pwritev)
        watch->fbtl_pwritev = watched_pwritev;
    if (NULL != fbtl->fbtl_ipreadv)
        watch->fbtl_ipreadv = watched_ipreadv;
    if (NULL != fbtl->fbtl_ipwritev)
        watch->fbtl_ipwritev = watched_ipwritev;
    fh->f_fbtl = watch;
}

bool tatp_watches(const ompio_file_t *fh, const tatp_recording *recording)
{
    return fh->f_fbtl == &recording->watch;
}

void tatp_unwatch(ompio_file_t *fh, tatp_recording *recording)
{
    fh->f_fbtl = recording->fbtl;
}

const struct mca_fbtl_base_module_1_0_0_t *tatp_fbtl(const ompio_file_t *fh)
{
    return fh->f_fbtl->fbtl_module_finalize == watched_finalize ? recording_of(fh)->fbtl
                                                                : fh->f_fbtl;
}

int tatp_take_individual(tatp_recording *recording, access_list *list)
{
    int rc = 0;
    if (!access_is_ordered(&recording->individual)) {
        rc = put_in_order(&recording->individual, list);
        access_release(&recording->individual);
    } else {
        *list = recording->individual;
        recording->individual = (access_list){0};
    }
    recording->folded = 0;
    return rc;
}
