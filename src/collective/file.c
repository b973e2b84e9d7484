/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file: what all ranks agree on when its first view is set, and hints after that. */
#include "collective/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "storage/stripes.h"

/* Bytes of a cycle where a request to the file takes long. */
#define REMOTE_CYCLE (4 << 20)

coll_file *coll_file_new(coll_process *process)
{
    coll_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return NULL;
    file->nodes = coll_nodes_new();
    file->memory = coll_exchange_memory_new(process->pool);
    file->independent = coll_independent_new();
    file->record = coll_record_new();
    file->stats = coll_stats_new();
    if (coll_slots_init(&file->slots, file->memory) && file->memory != NULL &&
        file->nodes != NULL && file->independent != NULL && file->record != NULL &&
        file->stats != NULL)
        return file;
    coll_file_free(file);
    return NULL;
}

void coll_file_free(coll_file *file)
{
    if (file == NULL)
        return;
    coll_slots_release(&file->slots, &file->observers);
    coll_stats_free(file->stats);
    coll_record_free(file->record);
    coll_independent_free(file->independent);
    coll_exchange_memory_free(file->memory);
    free(file->broadcast);
    coll_nodes_free(file->nodes);
    coll_group_release(&file->group);
    free(file);
}

bool coll_file_has_settings(const coll_file *file, const coll_plan_settings *settings)
{
    return memcmp(settings, &file->settings, sizeof *settings) == 0;
}

void coll_file_open(coll_file *file, const coll_handle *handle)
{
    file->handle = *handle;
    file->observers = (coll_observers){
        {coll_record_observer(file->record), handle->observer, coll_stats_observer(file->stats)}};
    file->has_started = false;
    file->aggregators = 0;
    file->was_independent[false] = file->was_independent[true] = true;
    file->misjudged = false;
}

/* ---- hints ---- */

static coll_hint_values get_hints(const coll_file *file)
{
    return file->handle.get_hints(file->handle.context);
}

/* For MPI_File_get_info. */
static void publish_hints(coll_file *file, const coll_plan_settings *settings)
{
    const coll_hint_values given = get_hints(file);
    const coll_hint_values values = coll_settings_hints(settings, &given, file->aggregators);
    file->handle.publish_hints(file->handle.context, &values);
}

void coll_file_publish_hints(coll_file *file)
{
    publish_hints(file, &file->settings);
}

/* New hints of this rank are published at once, and apply from the next agreement on. */
static void publish_new_hints(coll_file *file)
{
    const coll_hint_values given = get_hints(file);
    coll_settings own = file->agreed;
    coll_settings_set_hints(&own, &given);
    bool is_new = memcmp(&own, &file->agreed, sizeof own) != 0;
    const coll_plan_settings settings =
        is_new ? coll_settings_plan(&own, file->group.size) : file->settings;
    publish_hints(file, &settings);
}

/* ---- settings ---- */

/* A stripe where it is known. */
static int64_t find_lock_unit(const coll_file *file)
{
    int64_t stripe = file->settings.division.stripe;
    return stripe > 0 ? stripe : storage_get_lock_unit(file->facts.fd);
}

static void set_own_settings(coll_file *file, const coll_settings *settings)
{
    file->own = *settings;
    file->digest = coll_settings_digest(settings);
}

/* All ranks have the same `own`. Returns whether plans depend on what has changed, which is the
 * same on all ranks. */
static bool adopt_own_settings(coll_file *file)
{
    const coll_plan_settings settings = coll_settings_plan(&file->own, file->group.size);
    bool changes = !coll_file_has_settings(file, &settings);
    if (file->group.rank == 0)
        coll_settings_tell(&file->own, &settings, &file->group, file->handle.name);
    file->agreed = file->own;
    file->settings = settings;
    file->handle.store->lock_unit = find_lock_unit(file);
    if (changes)
        coll_slots_forget(&file->slots);
    return changes;
}

/* Some ranks have another `own` than others. Collective. */
static int agree_on_settings(coll_file *file)
{
    coll_settings settings = file->own;
    int rc = coll_settings_agree(&settings, &file->group, file->handle.name);
    if (rc != 0)
        return rc;
    const coll_hint_values then = coll_settings_get_hints(&file->own),
                           hints = coll_settings_get_hints(&settings);
    set_own_settings(file, &settings);
    file->handle.replace_hints(file->handle.context, &then, &hints);
    return 0;
}

void coll_file_take_hints(coll_file *file)
{
    const coll_hint_values hints = get_hints(file);
    coll_settings settings = file->agreed;
    coll_settings_set_hints(&settings, &hints);
    set_own_settings(file, &settings);
}

int coll_file_renew_settings(coll_file *file, bool differ, bool *reuse)
{
    int rc = differ ? agree_on_settings(file) : 0;
    if (rc != 0 || memcmp(&file->own, &file->agreed, sizeof file->own) == 0)
        return rc;
    if (adopt_own_settings(file))
        *reuse = false;
    return 0;
}

/* ---- opening ---- */

static coll_process *process_of(const coll_file *file)
{
    return file->handle.runtime->process;
}

/* On rank 0: what the user asked for, before the first access. What cannot be used must not cost
 * data. */
static int check_parameters(const coll_file *file, coll_opening *opening)
{
    coll_process *process = process_of(file);
    bool records = false;
    int rc = coll_settings_check(process, file->handle.parameters);
    if (rc == 0)
        rc = coll_record_prepare(process, file->record_path, opening->strict, &records);
    if (rc == 0 && opening->strict)
        rc = coll_stats_check(file->stats, file->stats_path);
    opening->root.records = records;
    return rc;
}

/* This rank's part of the opening. */
static int prepare_file(coll_file *file, coll_opening *opening)
{
    int rc = coll_group_init(&file->group, file->handle.runtime);
    if (rc == 0 && file->broadcast == NULL)
        file->broadcast = coll_plan_new_broadcast(file->group.size);
    if (rc == 0 && file->broadcast == NULL)
        rc = -ENOMEM;
    if (rc == 0)
        rc = coll_stats_prepare(file->stats, &file->group);
    if (rc == 0 && file->handle.runtime->rank == 0)
        rc = check_parameters(file, opening);
    return rc;
}

static const char *text_of(const coll_file *file, enum parameter parameter)
{
    const char *text = file->handle.parameters[parameter];
    return text != NULL ? text : "";
}

static void collect_settings(coll_file *file)
{
    const coll_hint_values hints = get_hints(file);
    const coll_settings settings =
        coll_settings_collect(file->handle.parameters, &file->facts.mpi, &hints);
    /* A name that is too long to be opened stays so. */
    snprintf(file->record_path, sizeof file->record_path, "%s", text_of(file, PARAMETER_RECORD));
    snprintf(file->stats_path, sizeof file->stats_path, "%s", text_of(file, PARAMETER_STATS));
    set_own_settings(file, &settings);
}

/* On rank 0. Large accesses where a lock or a request takes long. The stripes that the file system
 * says, where the MPI does not, unless all ranks are on one node, which do not wait for each
 * other's locks. What is not locked leaves domains as they are, but for those to be striped. */
static void ask_file_system(const coll_file *file, coll_opening *opening)
{
    int fd = file->facts.fd;
    if (file->facts.locks_file || storage_get_lock_unit(fd) > 0 || storage_is_slow(fd))
        opening->root.cycle = REMOTE_CYCLE;
    if (file->own.of[COLL_FS_STRIPE_SIZE] > 0 || file->group.locals == file->group.size)
        return;
    const storage_stripes stripes = storage_get_stripes(fd);
    if (stripes.size > DIVISION_LARGEST_STRIPE ||
        (!stripes.locked && file->own.of[PARAMETER_DOMAINS] != DIVISION_STRIPE))
        return;
    opening->root.stripe = stripes.size;
    opening->root.targets = stripes.count;
}

/* All ranks have the same `own`, as far as it counts. */
static void take_stripes(coll_file *file, const coll_opening *opening)
{
    coll_settings settings = file->own;
    settings.of[COLL_FS_CYCLE] = opening->root.cycle;
    if (opening->root.stripe != 0) {
        settings.of[COLL_FS_STRIPE_SIZE] = opening->root.stripe;
        settings.of[COLL_FS_STRIPE_COUNT] = opening->root.targets;
    }
    set_own_settings(file, &settings);
}

/* The recorder has no entries of plans that were made while nothing was recorded. */
static void begin_record(coll_file *file, bool records)
{
    if (records && !file->records)
        coll_slots_forget(&file->slots);
    coll_record_begin(file->record, records,
                      records && file->group.rank == 0 ? process_of(file) : NULL, file->record_path,
                      file->handle.name);
    file->records = records;
}

/* All ranks have the same `own`. */
static void begin_stats(coll_file *file)
{
    int64_t path = file->own.of[PARAMETER_STATS];
    enum coll_stats_kind kind = COLL_STATS_DETAILED;
    if (path == 0)
        kind = COLL_STATS_OFF;
    else if (file->own.of[PARAMETER_STATS_LEVEL] == PARAMETER_STATS_FILES)
        kind = COLL_STATS_TOTALS;
    else if (coll_settings_digest_text(COLL_STATS_STDERR) == path)
        kind = COLL_STATS_PLAIN;
    coll_stats_begin(file->stats, kind, file->stats_path, file->record_path);
}

static int complete_opening(coll_file *file)
{
    collect_settings(file);
    coll_opening opening = {
        .topology = text_of(file, PARAMETER_TOPOLOGY),
        .strict = coll_settings_are_strict(file->handle.parameters),
        .digest = file->digest,
    };
    int rc = prepare_file(file, &opening);
    if (rc == 0 && file->group.rank == 0)
        ask_file_system(file, &opening);
    rc = coll_nodes_init(file->nodes, &file->group, &opening, rc);
    if (rc == 0 && opening.settings_differ)
        rc = agree_on_settings(file);
    if (rc != 0)
        return rc;
    take_stripes(file, &opening);
    begin_record(file, opening.root.records);
    begin_stats(file);
    (void)adopt_own_settings(file);
    return 0;
}

void coll_file_start(coll_file *file, const coll_facts *facts)
{
    file->facts = *facts;
    file->error = complete_opening(file);
    file->has_started = true;
}

bool coll_file_has_started(const coll_file *file)
{
    return file->has_started;
}

bool coll_file_is_reusable(const coll_file *file)
{
    return file->group.size > 0 && file->error == 0;
}

void coll_file_note_view(coll_file *file)
{
    if (file->has_started && file->error == 0)
        publish_new_hints(file);
}

void coll_file_close(coll_file *file)
{
    for (coll_slot *s = file->slots.slot; s < file->slots.slot + COLL_SLOTS; s++)
        coll_observers_settle(&file->observers, s->observed, false);
    coll_record_end(file->record);
    coll_stats_end(file->stats);
}
