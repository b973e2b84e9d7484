/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file: what all ranks agree on when its first view is set, and hints after that. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_file.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"

#include "storage/stripes.h"

/* Of the exchanges of all files. */
static coll_pool pool = COLL_POOL_INIT;

/* Bytes of a cycle where a request to the file takes long. */
#define REMOTE_CYCLE (4 << 20)

static bool allocate_exchanges(tatp_file *file)
{
    file->memory = coll_exchange_memory_new(&pool);
    for (size_t slot = 0; slot < COLL_SLOTS && NULL != file->memory; slot++) {
        file->exchange[slot] = coll_exchange_new(file->memory, slot);
        if (NULL == file->exchange[slot])
            return false;
    }
    return NULL != file->memory;
}

tatp_file *tatp_file_new(void)
{
    tatp_file *file = calloc(1, sizeof *file);
    if (NULL == file)
        return NULL;
    file->hints = tatp_hints_new();
    file->comm = tatp_comm_new();
    file->view = tatp_view_new();
    file->nodes = tatp_nodes_new();
    file->schedule = coll_schedule_new();
    file->plans = tatp_plans_new();
    file->independent = coll_independent_new();
    file->record = tatp_record_new();
    file->stats = tatp_stats_new();
    if (allocate_exchanges(file) && NULL != file->hints && NULL != file->comm &&
        NULL != file->view && NULL != file->nodes && NULL != file->schedule &&
        NULL != file->plans && NULL != file->independent && NULL != file->record &&
        NULL != file->stats)
        return file;
    tatp_file_free(file);
    return NULL;
}

void tatp_file_free(tatp_file *file)
{
    tatp_stats_free(file->stats);
    tatp_record_free(file->record);
    coll_independent_free(file->independent);
    tatp_device_free(file->device);
    for (size_t slot = 0; slot < COLL_SLOTS; slot++)
        coll_exchange_free(file->exchange[slot]);
    coll_exchange_memory_free(file->memory);
    tatp_plans_free(file->plans);
    coll_schedule_free(file->schedule);
    tatp_nodes_free(file->nodes);
    tatp_view_free(file->view);
    tatp_comm_free(file->comm);
    tatp_hints_free(file->hints);
    free(file);
}

void tatp_files_release(void)
{
    coll_pool_release(&pool);
}

bool tatp_file_has_settings(const tatp_file *file, const tatp_plan_settings *settings)
{
    return 0 == memcmp(settings, &file->settings, sizeof *settings);
}

void tatp_file_open(tatp_file *file, ompio_file_t *fh)
{
    tatp_io_open(&file->io, fh);
    file->is_open = false;
    file->aggregators = 0;
    file->was_independent[false] = file->was_independent[true] = true;
    file->misjudged = false;
    tatp_device_tell();
}

/* ---- hints ---- */

/* For MPI_File_get_info. */
static void publish_hints(tatp_file *file, const tatp_plan_settings *settings)
{
    const tatp_hint_values given = tatp_hints_get(file->hints);
    const tatp_hint_values values = tatp_params_hints(settings, &given, file->aggregators);
    tatp_hints_publish(file->hints, &values);
}

void tatp_file_publish_hints(tatp_file *file)
{
    publish_hints(file, &file->settings);
}

/* New hints of this rank are published at once, and apply from the next agreement on. */
static void publish_new_hints(tatp_file *file)
{
    const tatp_hint_values given = tatp_hints_get(file->hints);
    tatp_settings own = file->agreed;
    tatp_settings_set_hints(&own, &given);
    bool is_new = 0 != memcmp(&own, &file->agreed, sizeof own);
    const tatp_plan_settings settings =
        is_new ? tatp_params_plan(file->io.fh, &own) : file->settings;
    publish_hints(file, &settings);
}

/* ---- settings ---- */

/* A stripe where it is known. */
static int64_t find_lock_unit(const tatp_file *file)
{
    int64_t stripe = file->settings.division.stripe;
    return stripe > 0 ? stripe : storage_get_lock_unit(file->io.fh->fd);
}

static void set_own_settings(tatp_file *file, const tatp_settings *settings)
{
    file->own = *settings;
    file->digest = tatp_settings_digest(settings);
}

/* All ranks have the same `own`. Returns whether plans depend on what has changed, which is the
 * same on all ranks. */
static bool adopt_own_settings(tatp_file *file)
{
    const tatp_plan_settings settings = tatp_params_plan(file->io.fh, &file->own);
    bool changes = !tatp_file_has_settings(file, &settings);
    file->agreed = file->own;
    file->settings = settings;
    file->io.store.lock_unit = find_lock_unit(file);
    if (changes)
        coll_schedule_forget_all(file->schedule);
    return changes;
}

/* Some ranks have another `own` than others. Collective. */
static int agree_on_settings(tatp_file *file)
{
    tatp_settings settings = file->own;
    int rc = tatp_settings_agree(&settings, file->group, file->io.fh->f_filename);
    if (OMPI_SUCCESS != rc)
        return rc;
    const tatp_hint_values then = tatp_settings_get_hints(&file->own),
                           hints = tatp_settings_get_hints(&settings);
    set_own_settings(file, &settings);
    tatp_hints_replace(file->hints, &then, &hints);
    return OMPI_SUCCESS;
}

void tatp_file_take_hints(tatp_file *file)
{
    const tatp_hint_values hints = tatp_hints_get(file->hints);
    tatp_settings settings = file->agreed;
    tatp_settings_set_hints(&settings, &hints);
    set_own_settings(file, &settings);
}

int tatp_file_renew_settings(tatp_file *file, bool differ, bool *reuse)
{
    int rc = differ ? agree_on_settings(file) : OMPI_SUCCESS;
    if (OMPI_SUCCESS != rc || 0 == memcmp(&file->own, &file->agreed, sizeof file->own))
        return rc;
    if (adopt_own_settings(file))
        *reuse = false;
    return OMPI_SUCCESS;
}

/* ---- opening ---- */

/* On rank 0. */
static int prepare_record(const tatp_file *file, tatp_opening *opening)
{
    bool records = false;
    int rc = tatp_record_prepare(file->record_path, &records);
    opening->root.records = records;
    return OMPI_SUCCESS == rc ? rc : tatp_params_refuse(rc);
}

/* This rank's part of the opening. Rank 0 checks what the user asked for, before the first access:
 * what cannot be used must not cost data. */
static int prepare_file(tatp_file *file, tatp_opening *opening)
{
    const ompio_file_t *fh = file->io.fh;
    int rc = tatp_comm_attach(file->comm, fh->f_comm);
    file->group = tatp_comm_group(file->comm);
    if (OMPI_SUCCESS == rc)
        rc = tatp_plans_prepare(file->plans, fh->f_size);
    if (OMPI_SUCCESS == rc)
        rc = tatp_stats_prepare(file->stats, fh->f_rank, fh->f_size);
    if (OMPI_SUCCESS == rc && 0 == fh->f_rank)
        rc = tatp_params_check();
    if (OMPI_SUCCESS == rc && 0 == fh->f_rank)
        rc = prepare_record(file, opening);
    return rc;
}

static void collect_settings(tatp_file *file)
{
    const tatp_hint_values hints = tatp_hints_get(file->hints);
    const tatp_settings settings = tatp_params_collect(file->io.fh, &hints);
    /* A name that is too long to be opened stays so. */
    snprintf(file->record_path, sizeof file->record_path, "%s", tatp_params_text(PARAMETER_RECORD));
    snprintf(file->stats_path, sizeof file->stats_path, "%s", tatp_params_text(PARAMETER_STATS));
    set_own_settings(file, &settings);
}

/* On rank 0. Large accesses where a lock or a request takes long. The stripes that the file system
 * says, where OMPIO does not, unless all ranks are on one node, which do not wait for each other's
 * locks. What is not locked leaves domains as they are, but for those to be striped. */
static void ask_file_system(const tatp_file *file, tatp_opening *opening)
{
    int fd = file->io.fh->fd;
    if (0 != (file->io.fh->f_flags & OMPIO_LOCK_ENTIRE_FILE) || storage_get_lock_unit(fd) > 0 ||
        storage_is_slow(fd))
        opening->root.cycle = REMOTE_CYCLE;
    if (file->own.of[TATP_FS_STRIPE_SIZE] > 0 || file->group->locals == file->group->size)
        return;
    const storage_stripes stripes = storage_get_stripes(fd);
    if (stripes.size > DIVISION_LARGEST_STRIPE ||
        (!stripes.locked && DIVISION_STRIPE != file->own.of[PARAMETER_DOMAINS]))
        return;
    opening->root.stripe = stripes.size;
    opening->root.targets = stripes.count;
}

/* All ranks have the same `own`, as far as it counts. */
static void take_stripes(tatp_file *file, const tatp_opening *opening)
{
    tatp_settings settings = file->own;
    settings.of[TATP_FS_CYCLE] = opening->root.cycle;
    if (0 != opening->root.stripe) {
        settings.of[TATP_FS_STRIPE_SIZE] = opening->root.stripe;
        settings.of[TATP_FS_STRIPE_COUNT] = opening->root.targets;
    }
    set_own_settings(file, &settings);
}

/* The recorder has no entries of plans that were made while nothing was recorded. */
static void begin_record(tatp_file *file, bool records)
{
    if (records && !file->records)
        coll_schedule_forget_all(file->schedule);
    if (records && 0 == file->io.fh->f_rank)
        tatp_record_begin(file->record, file->record_path, file->io.fh->f_filename);
    file->records = records;
}

/* All ranks have the same `own`. */
static void begin_stats(tatp_file *file)
{
    int64_t path = file->own.of[PARAMETER_STATS];
    enum tatp_stats_kind kind = TATP_STATS_DETAILED;
    if (0 == path)
        kind = TATP_STATS_OFF;
    else if (tatp_settings_digest_text(TATP_STATS_STDERR) == path)
        kind = TATP_STATS_FOR_PEOPLE;
    tatp_stats_begin(file->stats, file->stats_path, kind);
}

static int complete_opening(tatp_file *file)
{
    collect_settings(file);
    tatp_opening opening = {.digest = file->digest};
    int rc = prepare_file(file, &opening);
    if (OMPI_SUCCESS == rc && 0 == file->io.fh->f_rank)
        ask_file_system(file, &opening);
    rc = tatp_nodes_init(file->nodes, file->group, tatp_params_text(PARAMETER_TOPOLOGY), &opening,
                         rc);
    if (OMPI_SUCCESS == rc && opening.settings_differ)
        rc = agree_on_settings(file);
    if (OMPI_SUCCESS != rc)
        return rc;
    take_stripes(file, &opening);
    begin_record(file, opening.root.records);
    begin_stats(file);
    (void)adopt_own_settings(file);
    return OMPI_SUCCESS;
}

void tatp_file_refuse(const ompio_file_t *fh)
{
    tatp_nodes_refuse(fh->f_comm);
}

void tatp_file_set_view(tatp_file *file)
{
    tatp_requests_finish(file->comm);
    tatp_view_reset(file->view);
    if (!file->is_open) {
        file->error = complete_opening(file);
        file->is_open = true;
    }
    if (OMPI_SUCCESS == file->error)
        publish_new_hints(file);
}

bool tatp_file_is_open(const tatp_file *file)
{
    return file->is_open;
}

bool tatp_file_close(tatp_file *file)
{
    tatp_requests_finish(file->comm);
    tatp_record_end(file->record);
    tatp_stats_end(file->stats);
    return file->is_open && OMPI_SUCCESS == file->error;
}

/* OMPIO waits for a split call, and keeps its request after an error. */
void tatp_split_release(ompio_file_t *fh)
{
    if (!fh->f_split_coll_in_use && NULL != fh->f_split_coll_req &&
        MPI_REQUEST_NULL != fh->f_split_coll_req)
        (void)ompi_request_free(&fh->f_split_coll_req);
}
