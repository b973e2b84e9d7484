/* SPDX-License-Identifier: BSD-3-Clause */
/* During a call each rank notes what it accesses itself, and counts calls that repeat the last one.
 * When the file is closed, or much was noted, rank 0 collects the notes of all ranks. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* About 2.6 MB in the lists of a rank. */
#define MAX_RUNS ((size_t)1 << 16)

/* ---- pending accesses ---- */

static void flush_repeats(tatp_record *record)
{
    if (record->repeats == 0 || record->entry.view.rows == 0)
        return;
    tatp_record_append(&record->options, record->file, &record->entry, record->repeats,
                       !record->counted);
    record->counted = true;
    record->repeats = 0;
}

static void reset_pending(tatp_record *record)
{
    for (size_t k = 0; k < record->count; k++)
        access_release(&record->pending[k].list);
    memset(record->pending, 0, sizeof record->pending);
    record->count = record->runs = 0;
}

/* Collective. */
static void collect_pending(tatp_record *record)
{
    flush_repeats(record);
    int rc = tatp_record_collect(record);
    if (OMPI_SUCCESS != rc && tatp_comm_rank(record->options.comm) == 0)
        tatp_record_set_error(rc);
    if (record->last == TATP_RECORD_LAST_PENDING)
        record->last = TATP_RECORD_LAST_COLLECTED;
    reset_pending(record);
}

/* Collective. */
static tatp_record_pending *append_pending(tatp_record *record)
{
    if (record->count == TATP_RECORD_MAX_PENDING)
        collect_pending(record);
    return &record->pending[record->count++];
}

static int copy_list(const access_list *list, access_list *copy)
{
    if (list->count == 0)
        return 0;
    access_run *run = base_alloc(list->count, sizeof *run);
    if (NULL == run)
        return -ENOMEM;
    memcpy(run, list->run, list->count * sizeof *run);
    *copy = (access_list){run, list->count, list->count, list->bytes};
    return 0;
}

static void append_collective(tatp_record *record, const tatp_record_access *access)
{
    const division_settings *d = access->division;
    tatp_record_pending *pending = append_pending(record);
    *pending = (tatp_record_pending){
        .collective = true,
        .independent = access->independent,
        .division = {.kind = d->kind,
                     .aggregators = d->aggregators,
                     .stripe = d->stripe,
                     .targets =
                         d->targets < VIEW_FILE_MOST_TARGETS ? d->targets : VIEW_FILE_MOST_TARGETS},
        .lo = access->lo,
        .hi = access->hi,
        .times = 1,
    };
    pending->error = copy_list(access->list, &pending->list);
    record->last = TATP_RECORD_LAST_PENDING;
    record->last_pending = record->count - 1;
    record->runs += pending->list.count;
}

/* A collective access beyond the offsets that a record can have: its bytes are counted. */
static void append_far(tatp_record *record, const tatp_record_access *access)
{
    tatp_record_pending *pending = append_pending(record);
    *pending = (tatp_record_pending){.collective = true,
                                     .independent = true,
                                     .missed = access->list->bytes,
                                     .hi = 1,
                                     .times = 1};
    record->last = TATP_RECORD_LAST_UNKNOWN;
}

/* Treats all accesses that were not collective since the view was set as one collective call. */
static void append_individual(tatp_record *record)
{
    tatp_record_pending *pending = append_pending(record);
    *pending = (tatp_record_pending){.independent = true, .times = 1};
    pending->error =
        tatp_record_acquire_individual(&record->individual, &pending->list, &pending->missed);
    record->runs += pending->list.count;
}

/* ---- collective calls ---- */

bool tatp_record_wants_list(const tatp_record *record)
{
    return NULL != record->individual.fh && record->last == TATP_RECORD_LAST_UNKNOWN;
}

bool tatp_record_is_long(const tatp_record *record)
{
    return record->runs > MAX_RUNS;
}

void tatp_record_add(tatp_record *record, const tatp_record_access *access, bool is_long)
{
    if (NULL == record->individual.fh) {
        record->last = TATP_RECORD_LAST_UNKNOWN;
        return;
    }
    bool is_new = !access->repeats || record->last == TATP_RECORD_LAST_UNKNOWN;
    if (is_new && access->hi > TATP_RECORD_MOST_OFFSET)
        append_far(record, access);
    else if (is_new)
        append_collective(record, access);
    else if (record->last == TATP_RECORD_LAST_PENDING)
        record->pending[record->last_pending].times++;
    else if (tatp_comm_rank(record->options.comm) == 0)
        record->repeats++;
    if (is_long)
        collect_pending(record);
}

/* ---- a file from its first view to its end ---- */

static void end_closing_file(void *context)
{
    tatp_record *record = context;
    record->options.closing(record->options.context);
    tatp_record_end(record);
}

tatp_record *tatp_record_new(void)
{
    tatp_record *record = calloc(1, sizeof *record);
    if (NULL != record) {
        record->individual.closing = end_closing_file;
        record->individual.context = record;
    }
    return record;
}

void tatp_record_begin(tatp_record *record, ompio_file_t *fh, const tatp_record_options *options)
{
    if (NULL != record->individual.fh) {
        append_individual(record);
        return;
    }
    free(record->file);
    record->file = strdup(fh->f_filename);
    record->options = *options;
    tatp_record_interpose(&record->individual, fh);
}

void tatp_record_end(tatp_record *record)
{
    if (NULL != record->individual.fh) {
        append_individual(record);
        collect_pending(record);
        tatp_record_remove_interposer(&record->individual);
        tatp_record_flush();
    }
    record->counted = false;
}

void tatp_record_free(tatp_record *record)
{
    if (NULL == record)
        return;
    reset_pending(record);
    record_entry_release(&record->entry);
    access_release(&record->individual.list);
    free(record->file);
    free(record);
}
