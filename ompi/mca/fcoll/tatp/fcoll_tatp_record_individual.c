/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses that are not collective. OMPIO carries them out without any fcoll component: it cuts
 * them into contiguous pieces of the file and passes these to the file-byte-transfer layer (fbtl).
 * While a file is recorded its handle points to a copy of that layer's module, the interposer,
 * which notes the pieces first. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record_internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "access/merge.h"

/* Runs of the list: from the first number on it is put in order, which removes repetitions; what
 * exceeds the second number then is not recorded. */
#define MIN_ORDERED_RUNS ((size_t)1 << 16)
#define MAX_RUNS ((size_t)1 << 20)

/* Of a handle that points to an interposer. */
static tatp_record_individual *individual_of(const ompio_file_t *fh)
{
    return (tatp_record_individual *)((char *)fh->f_fbtl -
                                      offsetof(tatp_record_individual, interposer));
}

static int order_list(const access_list *list, access_list *ordered)
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

/* Puts the list in order if it became much longer since the last time. Returns whether there is
 * room for one more run. */
static bool reserve_run(tatp_record_individual *individual)
{
    size_t runs = individual->list.count;
    if (runs >= MIN_ORDERED_RUNS && runs / 2 >= individual->ordered) {
        access_list ordered = {0};
        if (order_list(&individual->list, &ordered) == 0) {
            access_release(&individual->list);
            individual->list = ordered;
        } else {
            access_release(&ordered);
        }
        individual->ordered = individual->list.count;
    }
    return individual->list.count < MAX_RUNS;
}

static void note_pieces(const ompio_file_t *fh)
{
    tatp_record_individual *individual = individual_of(fh);
    for (int i = 0; i < fh->f_num_of_io_entries; i++) {
        const mca_common_ompio_io_array_t *piece = &fh->f_io_array[i];
        int64_t length = (int64_t)piece->length, stream = individual->list.bytes;
        int64_t offset = (int64_t)(intptr_t)piece->offset;
        if (offset > TATP_RECORD_MOST_OFFSET - length || !reserve_run(individual) ||
            access_append(&individual->list, offset, length, stream) != 0)
            individual->missed += length;
    }
}

static ssize_t interposed_preadv(ompio_file_t *fh)
{
    note_pieces(fh);
    return individual_of(fh)->fbtl->fbtl_preadv(fh);
}

static ssize_t interposed_pwritev(ompio_file_t *fh)
{
    note_pieces(fh);
    return individual_of(fh)->fbtl->fbtl_pwritev(fh);
}

static ssize_t interposed_ipreadv(ompio_file_t *fh, ompi_request_t *request)
{
    note_pieces(fh);
    return individual_of(fh)->fbtl->fbtl_ipreadv(fh, request);
}

static ssize_t interposed_ipwritev(ompio_file_t *fh, ompi_request_t *request)
{
    note_pieces(fh);
    return individual_of(fh)->fbtl->fbtl_ipwritev(fh, request);
}

/* OMPIO closes the file, whatever component handles its collective calls by now. */
static int interposed_finalize(ompio_file_t *fh)
{
    tatp_record_individual *individual = individual_of(fh);
    mca_fbtl_base_module_t *fbtl = individual->fbtl;
    individual->closing(individual->context);
    return NULL != fbtl->fbtl_module_finalize ? fbtl->fbtl_module_finalize(fh) : OMPI_SUCCESS;
}

void tatp_record_interpose(tatp_record_individual *individual, ompio_file_t *fh)
{
    mca_fbtl_base_module_t *fbtl = fh->f_fbtl, *interposer = &individual->interposer;
    individual->fh = fh;
    individual->fbtl = fbtl;
    *interposer = *fbtl;
    interposer->fbtl_module_finalize = interposed_finalize;
    if (NULL != fbtl->fbtl_preadv)
        interposer->fbtl_preadv = interposed_preadv;
    if (NULL != fbtl->fbtl_pwritev)
        interposer->fbtl_pwritev = interposed_pwritev;
    if (NULL != fbtl->fbtl_ipreadv)
        interposer->fbtl_ipreadv = interposed_ipreadv;
    if (NULL != fbtl->fbtl_ipwritev)
        interposer->fbtl_ipwritev = interposed_ipwritev;
    fh->f_fbtl = interposer;
}

void tatp_record_remove_interposer(tatp_record_individual *individual)
{
    individual->fh->f_fbtl = individual->fbtl;
    individual->fh = NULL;
    access_clear(&individual->list);
}

int tatp_record_acquire_individual(tatp_record_individual *individual, access_list *list,
                                   int64_t *missed)
{
    int rc = 0;
    if (access_is_ordered(&individual->list)) {
        *list = individual->list;
        individual->list = (access_list){0};
    } else {
        rc = order_list(&individual->list, list);
        access_release(&individual->list);
    }
    *missed = individual->missed;
    individual->missed = 0;
    individual->ordered = 0;
    return rc;
}
