/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder: what the ranks do in the files of a run, for placement at the next launch: which of
 * them access neighbouring regions (the view matrix), and which part of the range each collective
 * call accesses (the profile).
 *
 * During a call each rank only notes what it accesses itself; calls that repeat the accesses of the
 * call before are counted. When the file is closed, and now and then before, the ranks tell each
 * other (fcoll_tatp_record_collect.c). An error of the recorder is told, and never that of a call.
 */
#include "fcoll_tatp_record.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/proc/proc.h"
#include "ompi/mca/rte/rte.h"

/* Some 2.6 MB in the lists of a rank: then the ranks tell each other. */
enum { MANY_RUNS = 1 << 16 };

bool tatp_records(void)
{
    const char *path = mca_fcoll_tatp_component.record_file;
    return NULL != path && path[0] != '\0';
}

size_t tatp_world_size(void)
{
    return (size_t)ompi_process_info.num_procs;
}

size_t tatp_world_rank(ompio_file_t *fh, int rank)
{
    const ompi_proc_t *proc = ompi_comm_peer_lookup(fh->f_comm, rank);
    if (proc->super.proc_name.jobid != OMPI_PROC_MY_NAME->jobid)
        return SIZE_MAX;
    return (size_t)proc->super.proc_name.vpid < tatp_world_size() ? proc->super.proc_name.vpid
                                                                  : SIZE_MAX;
}

void tatp_kind_release(tatp_kind *kind)
{
    matrix_release(&kind->view);
    matrix_release(&kind->bytes);
    memset(kind, 0, sizeof *kind);
}

/* ---- noting ---- */

/* Puts what is known of earlier passes into the record. */
static void settle(tatp_recording *recording)
{
    if (recording->times == 0 || recording->kind.view.rows == 0)
        return;
    tatp_record_keep(recording->file, &recording->kind, recording->times, !recording->counted);
    recording->counted = true;
    recording->times = 0;
}

static void forget_noted(tatp_recording *recording)
{
    for (size_t k = 0; k < recording->count; k++)
        access_release(&recording->noted[k].list);
    memset(recording->noted, 0, sizeof recording->noted);
    recording->count = recording->runs = 0;
}

/* Collective. */
static void collect(ompio_file_t *fh, tatp_recording *recording)
{
    settle(recording);
    int rc = tatp_collect(fh, recording);
    if (OMPI_SUCCESS != rc)
        tatp_record_failed(rc);
    if (recording->known == TATP_NOTED)
        recording->known = TATP_KEPT;
    forget_noted(recording);
}

/* Room for one more. Collective. */
static tatp_noted *next_noted(ompio_file_t *fh, tatp_recording *recording)
{
    if (recording->count == TATP_MOST_NOTED)
        collect(fh, recording);
    return &recording->noted[recording->count++];
}

static int copy_list(const access_list *list, access_list *copy)
{
    size_t size;
    if (list->count == 0)
        return 0;
    if (__builtin_mul_overflow(list->count, sizeof *list->run, &size))
        return -ENOMEM;
    access_run *run = malloc(size);
    if (NULL == run)
        return -ENOMEM;
    memcpy(run, list->run, size);
    *copy = (access_list){run, list->count, list->count, list->bytes};
    return 0;
}

static void note_pass(const tatp_pass *pass, tatp_recording *recording)
{
    tatp_noted *noted = next_noted(pass->fh, recording);
    *noted = (tatp_noted){.collective = true,
                          .lo = pass->schedule->lo + pass->shift,
                          .hi = pass->schedule->hi + pass->shift,
                          .times = 1};
    noted->error = copy_list(pass->file, &noted->list);
    recording->last = recording->count - 1;
    recording->known = TATP_NOTED;
    recording->runs += noted->list.count;
}

/* The accesses that were not collective since the view was set, as if they were one collective
 * call. */
static void note_individual(ompio_file_t *fh, tatp_recording *recording)
{
    tatp_noted *noted = next_noted(fh, recording);
    *noted = (tatp_noted){.missed = recording->missed, .times = 1};
    noted->error = tatp_take_individual(recording, &noted->list);
    recording->missed = 0;
    recording->runs += noted->list.count;
}

/* ---- collective calls ---- */

bool tatp_record_wants(const tatp_module *module)
{
    return tatp_records() && module->recording->known == TATP_UNKNOWN;
}

bool tatp_record_is_long(const tatp_module *module)
{
    return module->recording->runs > MANY_RUNS;
}

void tatp_record_pass(const tatp_pass *pass, bool is_long)
{
    tatp_recording *recording = pass->module->recording;
    if (!tatp_records() || !tatp_watches(pass->fh, recording))
        recording->known = TATP_UNKNOWN;
    else if (!pass->again || recording->known == TATP_UNKNOWN)
        note_pass(pass, recording);
    else if (recording->known == TATP_NOTED)
        recording->noted[recording->last].times++;
    else if (pass->fh->f_rank == 0)
        recording->times++;
    if (is_long)
        collect(pass->fh, recording);
}

/* ---- a file from its first view to its end ---- */

int tatp_record_new(tatp_module *module)
{
    module->recording = calloc(1, sizeof *module->recording);
    if (NULL == module->recording)
        return OMPI_ERR_OUT_OF_RESOURCE;
    module->recording->module = module;
    return OMPI_SUCCESS;
}

void tatp_record_begin(ompio_file_t *fh, tatp_module *module)
{
    tatp_recording *recording = module->recording;
    if (!tatp_records())
        return;
    if (tatp_watches(fh, recording)) {
        if (OMPI_SUCCESS == module->where.error)
            note_individual(fh, recording);
        return;
    }
    free(recording->file);
    recording->file = strdup(fh->f_filename);
    tatp_watch(fh, recording);
}

void tatp_record_end(ompio_file_t *fh, tatp_module *module)
{
    tatp_recording *recording = module->recording;
    if (tatp_watches(fh, recording)) {
        if (OMPI_SUCCESS == module->where.error) {
            note_individual(fh, recording);
            collect(fh, recording);
        }
        tatp_unwatch(fh, recording);
    }
    access_clear(&recording->individual);
    recording->counted = false;
    tatp_record_flush();
}

void tatp_record_free(tatp_module *module)
{
    tatp_recording *recording = module->recording;
    if (NULL == recording)
        return;
    forget_noted(recording);
    tatp_kind_release(&recording->kind);
    access_release(&recording->individual);
    free(recording->file);
    free(recording);
    module->recording = NULL;
}
