/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder: what the ranks do in the files of a run, for placement at the next launch: which of them
 * access neighbouring regions (the view matrix), and which part of the range each collective call
 * accesses (the profile).
 *
 * Neighbours are found where the accesses already are: each aggregator has those to its domain at hand
 * and counts who follows whom there; rank 0 of the file adds the domains up, and what stands at the borders
 * between them. The profile's rows come from the ranks themselves. Calls that repeat the accesses of
 * the call before are only counted. An error of the recorder is told, and never that of a call. */
#include "fcoll_tatp_record.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/proc/proc.h"
#include "ompi/mca/rte/rte.h"

bool tatp_records(void)
{
    const char *path = mca_fcoll_tatp_component.record_file;
    return path != NULL && path[0] != '\0';
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

int tatp_account_add(tatp_account *words, const int64_t *more, size_t count)
{
    if (words->capacity - words->count < count) {
        size_t wanted = 2 * words->capacity + count + 64, size;
        if (__builtin_mul_overflow(wanted, sizeof *words->word, &size))
            return -ENOMEM;
        int64_t *grown = realloc(words->word, size);
        if (grown == NULL)
            return -ENOMEM;
        words->word = grown;
        words->capacity = wanted;
    }
    if (count > 0)
        memcpy(words->word + words->count, more, count * sizeof *more);
    words->count += count;
    return 0;
}

void tatp_kind_release(tatp_kind *kind)
{
    matrix_release(&kind->view);
    matrix_release(&kind->bytes);
    memset(kind, 0, sizeof *kind);
}

/* ---- one kind of accesses ---- */

/* A rank's message: how many words are about its domain, bytes that it accesses itself, and others that it
 * could not remember; then those words, then its row of the profile. */
enum { MESSAGE_DOMAIN, MESSAGE_MOVED, MESSAGE_MISSED, MESSAGE_WORDS };

/* The words about this rank's domain behind the head. */
static int describe_domain(const tatp_pass *pass, int64_t missed, tatp_account *words)
{
    int64_t head[MESSAGE_WORDS] = {0, pass->file->bytes, missed};
    int rc = tatp_account_add(words, head, MESSAGE_WORDS);
    if (rc == 0 && pass->schedule->aggregates)
        rc = tatp_describe_neighbours(pass, words);
    if (rc == 0)
        words->word[MESSAGE_DOMAIN] = (int64_t)(words->count - MESSAGE_WORDS);
    return tatp_from_errno(rc);
}

/* On rank 0: what the ranks said, in world ranks. */
struct sums {
    matrix_builder view, bytes;
    access_ends *ends; /* by domain */
    size_t domains;
};

static int add_message(const tatp_pass *pass, int rank, const int64_t *word, size_t count,
                       struct sums *sums)
{
    size_t row = tatp_world_rank(pass->fh, rank), domain = (size_t)word[MESSAGE_DOMAIN];
    const int64_t *rest = word + MESSAGE_WORDS;
    int rc = tatp_add_neighbours(rest, domain, &sums->view, sums->ends, sums->domains);
    if (rc == 0 && row != SIZE_MAX)
        rc = tatp_add_profile(rest + domain, count - MESSAGE_WORDS - domain, row, &sums->bytes);
    return rc;
}

static int add_messages(const tatp_pass *pass, const int64_t *all, struct sums *sums, tatp_kind *kind)
{
    const tatp_nodes *where = &pass->module->where;
    int rc = 0;
    for (int r = 0; r < pass->fh->f_size && rc == 0; r++) {
        const int64_t *word = all + where->start[r];
        kind->moved += word[MESSAGE_MOVED];
        kind->missed += word[MESSAGE_MISSED];
        rc = add_message(pass, r, word, (size_t)where->count[r], sums);
    }
    if (rc == 0)
        rc = access_join_ends(sums->ends, sums->domains, mca_fcoll_tatp_component.record_weight,
                              &sums->view);
    if (rc == 0)
        rc = matrix_builder_finish(&sums->view, &kind->view);
    if (rc == 0 && kind->pattern.unit > 0)
        rc = matrix_builder_finish(&sums->bytes, &kind->bytes);
    return rc;
}

static int assemble(const tatp_pass *pass, const int64_t *all, int64_t unit, tatp_kind *kind)
{
    size_t ranks = tatp_world_size(), domains = pass->schedule->domains.count;
    int64_t range = pass->schedule->hi - pass->schedule->lo;
    struct sums sums = {.view = {.rows = ranks, .cols = ranks},
                        .bytes = {.rows = ranks, .cols = unit > 0 ? (size_t)((range - 1) / unit) + 1 : 0},
                        .ends = calloc(domains + 1, sizeof *sums.ends),
                        .domains = domains};
    kind->pattern = (access_pattern){.first = pass->schedule->lo, .unit = unit};
    int rc = sums.ends == NULL ? -ENOMEM : add_messages(pass, all, &sums, kind);
    matrix_builder_clear(&sums.view);
    matrix_builder_clear(&sums.bytes);
    free(sums.ends);
    return rc;
}

/* What a pass with contiguous domains adds, without a profile or with one. `rc` is what this rank brings
 * along. Collective; an error is this rank's. */
static int collect(const tatp_pass *pass, bool profile, int rc, tatp_kind *kind)
{
    tatp_account words = {NULL, 0, 0};
    int64_t *all = NULL, unit = 0;
    if (rc == OMPI_SUCCESS)
        rc = describe_domain(pass, profile ? 0 : pass->module->recording->missed, &words);
    if (profile)
        rc = tatp_describe_profile(pass, rc, &unit, &words);
    rc = tatp_gather(pass->fh, &pass->module->where, words.word, words.count, rc, &all);
    if (rc == OMPI_SUCCESS && pass->fh->f_rank == 0)
        rc = tatp_from_errno(assemble(pass, all, unit, kind));
    free(words.word);
    free(all);
    return rc;
}

/* The same, over domains of its own: one contiguous piece of the range for each aggregator. */
static int divide_and_collect(const tatp_pass *pass, bool profile, tatp_kind *kind)
{
    tatp_schedule schedule = {.lo = pass->schedule->lo, .hi = pass->schedule->hi, .contiguous = true};
    tatp_pass divided = {.fh = pass->fh, .module = pass->module, .file = pass->file,
                         .schedule = &schedule};
    int local = OMPI_SUCCESS;
    int rc = tatp_find_contributors(&divided, OMPI_SUCCESS, &local);
    if (rc == OMPI_SUCCESS)
        rc = collect(&divided, profile, local, kind);
    tatp_schedule_release(&schedule);
    return rc;
}

/* ---- collective calls ---- */

/* Puts what is known of the last passes into the record. */
static void settle(tatp_recording *recording)
{
    if (recording->times == 0)
        return;
    tatp_record_keep(recording->file, &recording->kind, recording->times, !recording->counted);
    recording->counted = true;
    recording->times = 0;
}

void tatp_record_pass(const tatp_pass *pass)
{
    tatp_recording *recording = pass->module->recording;
    int rc = OMPI_SUCCESS;
    recording->known = tatp_records();
    if (!recording->known)
        return;
    if (!pass->again) {
        settle(recording);
        tatp_kind_release(&recording->kind);
        rc = domains_are_contiguous(&pass->schedule->domains)
                 ? collect(pass, true, OMPI_SUCCESS, &recording->kind)
                 : divide_and_collect(pass, true, &recording->kind);
    }
    if (rc != OMPI_SUCCESS)
        tatp_record_failed(rc);
    else if (pass->fh->f_rank == 0)
        recording->times++;
}

bool tatp_record_knows(const tatp_module *module)
{
    return module->recording->known;
}

/* ---- a file from its first view to its end ---- */

/* The accesses that were not collective since the view was set, as if they were one collective
 * call. Collective. */
static void count_individual(ompio_file_t *fh, tatp_module *module)
{
    access_list list = {0};
    tatp_kind kind = {.moved = 0};
    tatp_schedule schedule = {.contiguous = true};
    tatp_pass pass = {.fh = fh, .module = module, .file = &list, .schedule = &schedule};
    int64_t passes = 1;
    if (module->where.error != OMPI_SUCCESS)
        return;
    int rc = tatp_from_errno(tatp_take_individual(module->recording, &list));
    rc = tatp_agree_range(&pass, rc, &passes);
    if (rc == OMPI_SUCCESS && schedule.hi > 0) {
        rc = divide_and_collect(&pass, false, &kind);
        if (rc == OMPI_SUCCESS && fh->f_rank == 0) {
            tatp_record_keep(module->recording->file, &kind, 1, !module->recording->counted);
            module->recording->counted = true;
        }
    }
    if (rc != OMPI_SUCCESS)
        tatp_record_failed(rc);
    module->recording->missed = 0;
    tatp_kind_release(&kind);
    access_release(&list);
}

int tatp_record_new(tatp_module *module)
{
    module->recording = calloc(1, sizeof *module->recording);
    if (module->recording == NULL)
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
        count_individual(fh, module);
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
        count_individual(fh, module);
        tatp_unwatch(fh, recording);
    }
    settle(recording);
    access_clear(&recording->individual);
    recording->counted = false;
    tatp_record_flush();
}

void tatp_record_free(tatp_module *module)
{
    tatp_recording *recording = module->recording;
    if (recording == NULL)
        return;
    tatp_kind_release(&recording->kind);
    access_release(&recording->individual);
    free(recording->file);
    free(recording);
    module->recording = NULL;
}
