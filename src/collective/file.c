/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file: what all ranks agree on when its first view is set, and hints after that. */
#include "collective/file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "storage/stripes.h"

/* Bytes of a cycle where a request to the file takes long. */
#define REMOTE_CYCLE (4 << 20)

/* Bytes of a file by calls that are not collective that are worth a message: headers are not. */
#define MANY_BYTES (1 << 20)

coll_file *coll_file_new(coll_process *process)
{
    coll_file *file = calloc(1, sizeof *file);
    if (file == NULL)
        return NULL;
    file->memory = coll_exchange_memory_new(process);
    file->buffer = malloc(COLL_INDEPENDENT_BYTES);
    for (size_t i = 0; i < COLL_SLOTS && file->memory != NULL; i++)
        file->slots.slot[i].exchange = coll_exchange_at(file->memory, i);
    if (file->memory != NULL && file->buffer != NULL)
        return file;
    coll_file_free(file);
    return NULL;
}

void coll_file_free(coll_file *file)
{
    if (file == NULL)
        return;
    if (file->memory != NULL)
        coll_slots_reset(&file->slots, &file->observers);
    access_staging_free(file->staging);
    free(file->buffer);
    coll_exchange_memory_free(file->memory);
    coll_nodes_release(&file->nodes);
    coll_group_release(&file->group);
    free(file);
}

static bool has_plan_settings(const coll_file *file, const int64_t of[COLL_SETTINGS])
{
    const coll_plan_settings plan = coll_settings_plan(of, file->group.size);
    return memcmp(&plan, &file->settings.plan, sizeof plan) == 0;
}

bool coll_file_has_settings(const coll_file *file, const coll_facts *facts)
{
    const int64_t *last = file->settings.of;
    coll_facts expected = *facts;
    expected.of[COLL_FS_STRIPE_SIZE] = last[COLL_FS_STRIPE_SIZE];
    expected.of[COLL_FS_STRIPE_COUNT] = last[COLL_FS_STRIPE_COUNT];
    for (size_t i = COLL_OF_RANKS; i < COLL_SETTINGS; i++)
        expected.of[i] = last[i];
    return has_plan_settings(file, expected.of);
}

void coll_file_open(coll_file *file, const coll_handle *handle)
{
    file->handle = *handle;
    file->began = handle->began;
    file->observers = (coll_observers){
        {coll_record_observer(&file->record), handle->observer, coll_stats_observer(&file->stats)}};
    file->settings.digest = -1;
    file->has_started = false;
    file->aggregators = 0;
    file->moved = file->noncollective[false] = file->noncollective[true] = 0;
    file->was_independent[false] = file->was_independent[true] = true;
    file->misjudged = false;
}

/* ---- hints ---- */

void coll_file_set_hints(coll_file *file, const coll_hint_values *hints)
{
    for (enum coll_hint i = 0; i < COLL_HINTS; i++)
        if (hints->of[i] > 0)
            file->facts.of[COLL_FIRST_HINT + i] = hints->of[i];
}

bool coll_file_get_hints(const coll_file *file, coll_hint_values *hints)
{
    if (!file->has_started || file->error != 0)
        return false;
    *hints = coll_settings_hints(file->facts.of, file->group.size, file->aggregators);
    return true;
}

/* ---- settings ---- */

/* A stripe where it is known. */
static int64_t find_lock_unit(const coll_file *file)
{
    int64_t stripe = file->settings.plan.division.stripe;
    return stripe > 0 ? stripe : file->settings.of[COLL_ROOT_LOCK_UNIT];
}

/* All ranks have the same facts. The recorder has no entries of plans that were made while nothing
 * was recorded. */
static void adopt_facts(coll_file *file, int64_t digest)
{
    const int64_t *of = file->facts.of;
    bool records_more = of[COLL_ROOT_RECORDS] > file->settings.of[COLL_ROOT_RECORDS];
    if (records_more || !has_plan_settings(file, of))
        coll_slots_forget(&file->slots);
    memcpy(file->settings.of, of, sizeof file->settings.of);
    file->settings.digest = digest;
    file->settings.plan = coll_settings_plan(of, file->group.size);
    if (file->group.rank == 0)
        coll_settings_tell(&file->settings, &file->group, file->handle.name);
    file->handle.store->lock_unit = find_lock_unit(file);
}

int coll_file_agree(coll_file *file, bool differ)
{
    int rc = differ ? coll_settings_agree(file->facts.of, &file->group, file->handle.name) : 0;
    int64_t digest = coll_settings_digest(file->facts.of);
    if (rc == 0 && digest != file->settings.digest)
        adopt_facts(file, digest);
    return rc;
}

/* ---- opening ---- */

/* One rank of each node decides, because nodes may have mounted different file systems. */
static bool needs_flush(const coll_file *file)
{
    const coll_group *group = &file->group;
    int fd = file->facts.fd;
    bool asks = group->is_leader && (group->rank == 0 || fd >= 0);
    return asks && group->locals < group->size && file->handle.store->flush != NULL &&
           !file->facts.locks_file && !storage_is_coherent(fd);
}

/* Rank 0 asks for all. Accesses are large where a lock or a request takes long. The file system
 * says the stripes where the MPI does not, unless all ranks are on one node: these do not wait for
 * each other's locks. Without locks stripes matter to striped domains only. */
static void ask_file_system(coll_file *file)
{
    int64_t *of = file->facts.of;
    int fd = file->facts.fd;
    of[COLL_ROOT_FLUSHES] = needs_flush(file);
    if (file->group.rank != 0)
        return;
    of[COLL_ROOT_LOCK_UNIT] = storage_get_lock_unit(fd);
    if (file->facts.locks_file || of[COLL_ROOT_LOCK_UNIT] > 0 || storage_is_slow(fd))
        of[COLL_ROOT_CYCLE] = REMOTE_CYCLE;
    if (of[COLL_FS_STRIPE_SIZE] > 0 || file->group.locals == file->group.size)
        return;
    const storage_stripes stripes = storage_get_stripes(fd);
    if (stripes.size > DIVISION_LARGEST_STRIPE ||
        (!stripes.locked && of[PARAMETER_DOMAINS] != DIVISION_STRIPE))
        return;
    of[COLL_ROOT_STRIPE_SIZE] = stripes.size;
    of[COLL_ROOT_STRIPE_COUNT] = stripes.count;
}

/* This rank's part of the opening: what the user asked for, before the first access. What cannot be
 * used must not cost data. */
static int prepare_file(coll_file *file, const coll_opening *opening)
{
    int rc = coll_group_init(&file->group, file->handle.runtime);
    if (rc == 0 && file->group.rank == 0)
        rc = coll_settings_check(file->handle.runtime->process, opening->text);
    if (rc == 0)
        rc = coll_observers_open(&file->observers, opening);
    if (rc == 0)
        ask_file_system(file);
    return rc;
}

/* What the ranks agree on when a file is opened, by maxima: what any rank lacks; facts, and their
 * negative; errors; what rank 0 has found out. */
enum { NODES_MISSING, MEMORY_MISSING, LARGEST, SMALLEST, ERROR, ROOT };
_Static_assert(COLL_OPENING_VALUES == ROOT + COLL_SETTINGS - COLL_OF_RANKS, "");

/* rc: this rank's status so far. *nodes_are_known: on all ranks. *differ: not all ranks have the
 * same facts. */
static int agree_on_opening(coll_file *file, int rc, bool *nodes_are_known, bool *differ)
{
    const coll_runtime *runtime = file->handle.runtime;
    int64_t *root = file->facts.of + COLL_OF_RANKS, digest = coll_settings_digest(file->facts.of);
    const size_t bytes = sizeof file->facts.of - COLL_OF_RANKS * sizeof *root;
    int64_t value[COLL_OPENING_VALUES] = {
        [NODES_MISSING] = !file->nodes.is_known,
        [LARGEST] = digest,
        [SMALLEST] = -digest,
        [ERROR] = runtime->error_class(rc),
    };
    memcpy(value + ROOT, root, bytes);
    rc = coll_reduce(&file->group, value, COLL_OPENING_VALUES, COLL_MAX);
    memcpy(root, value + ROOT, bytes);
    *nodes_are_known = !value[NODES_MISSING];
    *differ = value[LARGEST] != -value[SMALLEST];
    if (rc == 0 && value[MEMORY_MISSING])
        rc = runtime->error_class(-ENOMEM);
    return rc == 0 ? (int)value[ERROR] : rc;
}

void coll_file_refuse(int64_t value[COLL_OPENING_VALUES])
{
    memset(value, 0, COLL_OPENING_VALUES * sizeof *value);
    value[MEMORY_MISSING] = true;
}

static int complete_opening(coll_file *file)
{
    const coll_opening opening = {
        .group = &file->group,
        .file = file->handle.name,
        .text = file->facts.parameters,
        .of = file->facts.of,
        .wishes = &file->wishes,
        .began = file->began,
    };
    bool nodes_are_known, differ;
    int rc = prepare_file(file, &opening);
    rc = agree_on_opening(file, rc, &nodes_are_known, &differ);
    if (rc == 0 && !nodes_are_known)
        rc = coll_nodes_find(&file->nodes, &file->group, opening.text);
    if (rc == 0)
        rc = coll_file_agree(file, differ);
    file->wishes = (coll_wishes){0};
    if (rc == 0)
        coll_observers_begin(&file->observers, &opening);
    if (rc == 0)
        coll_nodes_check_placement(&file->nodes, &file->group);
    return rc;
}

void coll_file_start(coll_file *file, const coll_facts *facts)
{
    file->facts = *facts;
    file->error = complete_opening(file);
    file->has_started = true;
    file->began = -1.0;
}

bool coll_file_has_started(const coll_file *file)
{
    return file->has_started;
}

bool coll_file_is_reusable(const coll_file *file)
{
    return file->group.size > 0 && file->error == 0;
}

/* ---- closing ---- */

/* What was done to so many bytes; "": they are too few. */
static const char *describe_bytes(const char *what, int64_t bytes, char text[64])
{
    text[0] = '\0';
    if (bytes >= COLL_TOLD_BYTES)
        snprintf(text, 64, "%s %.1f MB", what, 1e-6 * (double)bytes);
    return text;
}

/* Bytes of all ranks since the file was opened. */
static void tell_of_noncollective(const coll_file *file, int64_t read, int64_t written,
                                  int64_t collective)
{
    coll_process *process = file->handle.runtime->process;
    char name[PATH_MAX], writes[64], reads[64], others[64];
    if (!file->facts.is_asked_for || !process->job.is_first || file->group.size == 1 ||
        read + written < MANY_BYTES || read + written <= collective ||
        !coll_is_first(process, "noncollective", ""))
        return;
    base_escape(name, sizeof name, file->handle.name);
    coll_log(process, 0, "%s: calls that are not collective have%s%s%s%s" COLL_TEXT_NONCOLLECTIVE,
             name, describe_bytes(" written", written, writes),
             written >= COLL_TOLD_BYTES && read >= COLL_TOLD_BYTES ? " and" : "",
             describe_bytes(" read", read, reads),
             describe_bytes(", and collective ones moved", collective, others));
}

void coll_file_count_noncollective(coll_file *file, const int64_t bytes[2])
{
    int64_t sum[] = {bytes[false], bytes[true], file->moved};
    if (!file->has_started || file->error != 0)
        return;
    file->began = coll_clock(&file->group);
    if (coll_reduce(&file->group, sum, 3, COLL_SUM) != 0)
        return;
    tell_of_noncollective(file, sum[false], sum[true], sum[2]);
    memcpy(file->noncollective, sum, sizeof file->noncollective);
}

int coll_file_report_loss(coll_file *file, int rc)
{
    const coll_runtime *runtime = file->handle.runtime;
    const int64_t own = rc == 0 ? 0 : runtime->size - runtime->rank;
    int64_t value[] = {runtime->error_class(rc), own};
    char name[PATH_MAX];
    const int error =
        file->has_started && file->error == 0 ? coll_reduce(&file->group, value, 2, COLL_MAX) : 0;
    base_escape(name, sizeof name, file->handle.name);
    if (rc != 0 && own == value[1])
        coll_log(runtime->process, 0, "%s: data that rank %d has written may be lost: %s", name,
                 runtime->rank, strerror(-rc));
    return error == 0 ? (int)value[0] : error;
}

void coll_file_close(coll_file *file)
{
    const coll_closing closing = {
        .group = &file->group,
        .nodes = &file->nodes,
        .file = file->handle.name,
        .noncollective = {file->noncollective[false], file->noncollective[true]},
        .began = file->began,
    };
    for (coll_slot *s = file->slots.slot; s < file->slots.slot + COLL_SLOTS; s++)
        coll_observers_settle(&file->observers, s->observed, false);
    coll_observers_close(&file->observers, &closing);
    file->handle = (coll_handle){NULL};
    file->group.runtime = NULL;
}
