/* SPDX-License-Identifier: BSD-3-Clause */
/* An open file: what all ranks agree on when its first view is set, and hints after that. */
#include "collective/file.h"

#include <errno.h>
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
    file->memory = coll_exchange_memory_new(process->pool);
    file->buffer = malloc(COLL_INDEPENDENT_BYTES);
    file->stats.fd = -1;
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
    coll_stats_release(&file->stats);
    free(file->record.file);
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

static coll_process *process_of(const coll_file *file)
{
    return file->handle.runtime->process;
}

static double now(const coll_file *file)
{
    const coll_process *process = process_of(file);
    return process->clock(process->context);
}

/* Of what has begun, on the rank that writes statistics. */
static void count_time(coll_file *file, _Atomic int64_t *count, _Atomic int64_t *nanoseconds)
{
    const double began = file->began;
    file->began = -1.0;
    if (began < 0.0 || file->error != 0 || file->group.rank != 0 ||
        file->stats.kind == COLL_STATS_OFF)
        return;
    *count += 1;
    *nanoseconds += (int64_t)(1e9 * (now(file) - began));
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
    file->moved = file->noncollective = 0;
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

/* On rank 0: what the user asked for, before the first access. What cannot be used must not cost
 * data. */
static int check_parameters(coll_file *file)
{
    coll_process *process = process_of(file);
    bool strict = parameter_is_strict(file->facts.parameters), records = false;
    int rc = coll_settings_check(process, file->facts.parameters);
    if (rc == 0)
        rc = coll_record_prepare(process, file->record_path, strict, &records);
    if (rc == 0 && strict)
        rc = coll_stats_check(&file->stats, file->stats_path);
    file->facts.of[COLL_ROOT_RECORDS] = records;
    return rc;
}

/* On rank 0. Large accesses where a lock or a request takes long. The stripes that the file system
 * says, where the MPI does not, unless all ranks are on one node, which do not wait for each
 * other's locks. What is not locked leaves domains as they are, but for those to be striped. */
static void ask_file_system(coll_file *file)
{
    int64_t *of = file->facts.of;
    int fd = file->facts.fd;
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

/* On one rank of each node, which may have mounted another file system than others. */
static bool needs_flush(const coll_file *file)
{
    const coll_group *group = &file->group;
    int fd = file->facts.fd;
    bool asks = coll_is_leader(group) && (group->rank == 0 || fd >= 0);
    return asks && group->locals < group->size && file->handle.store->flush != NULL &&
           !file->facts.locks_file && !storage_is_coherent(fd);
}

/* This rank's part of the opening. */
static int prepare_file(coll_file *file)
{
    int rc = coll_group_init(&file->group, file->handle.runtime);
    if (rc == 0)
        rc = coll_stats_prepare(&file->stats, &file->group);
    if (rc == 0)
        file->facts.of[COLL_ROOT_FLUSHES] = needs_flush(file);
    if (rc != 0 || file->handle.runtime->rank != 0)
        return rc;
    rc = check_parameters(file);
    if (rc == 0)
        ask_file_system(file);
    return rc;
}

/* What the ranks agree on when a file is opened, by maxima: what any rank lacks; facts, and their
 * negative; the same of programs; errors; what rank 0 has found out. */
enum {
    NODES_MISSING,
    MEMORY_MISSING,
    LARGEST,
    SMALLEST,
    LARGEST_PROGRAM,
    SMALLEST_PROGRAM,
    ERROR,
    ROOT
};
_Static_assert(COLL_OPENING_VALUES == ROOT + COLL_SETTINGS - COLL_OF_RANKS, "");

/* rc: this rank's status so far. *nodes_are_known: on all ranks. *differ: not all ranks have the
 * same facts. */
static int agree_on_opening(coll_file *file, int rc, bool *nodes_are_known, bool *differ)
{
    const coll_runtime *runtime = file->handle.runtime;
    int64_t *root = file->facts.of + COLL_OF_RANKS, digest = coll_settings_digest(file->facts.of);
    const int64_t program = coll_record_program(file->record_path);
    const size_t bytes = sizeof file->facts.of - COLL_OF_RANKS * sizeof *root;
    int64_t value[COLL_OPENING_VALUES] = {
        [NODES_MISSING] = !file->nodes.is_known,
        [LARGEST] = digest,
        [SMALLEST] = -digest,
        [LARGEST_PROGRAM] = program,
        [SMALLEST_PROGRAM] = -program,
        [ERROR] = runtime->error_class(rc),
    };
    memcpy(value + ROOT, root, bytes);
    rc = coll_reduce(&file->group, value, COLL_OPENING_VALUES, COLL_MAX);
    memcpy(root, value + ROOT, bytes);
    if (rc == 0)
        coll_record_compare(process_of(file), runtime->size, value[LARGEST_PROGRAM],
                            -value[SMALLEST_PROGRAM]);
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

/* All ranks have the same settings. */
static void begin_stats(coll_file *file)
{
    const int64_t *of = file->settings.of;
    enum coll_stats_kind kind = COLL_STATS_DETAILED;
    if (of[PARAMETER_STATS] == 0)
        kind = COLL_STATS_OFF;
    else if (of[PARAMETER_STATS_LEVEL] == PARAMETER_STATS_FILES)
        kind = COLL_STATS_TOTALS;
    else if (coll_settings_digest_text(COLL_STATS_STDERR) == of[PARAMETER_STATS])
        kind = COLL_STATS_PLAIN;
    file->wishes = (coll_wishes){kind != COLL_STATS_OFF, kind == COLL_STATS_DETAILED};
    coll_stats_begin(&file->stats, kind, file->stats_path, file->record_path);
}

/* A name that is too long to be opened stays so. */
static void keep_path(char path[PATH_MAX + 1], const char *text)
{
    snprintf(path, PATH_MAX + 1, "%s", text != NULL ? text : "");
}

static int complete_opening(coll_file *file)
{
    const parameter_texts text = file->facts.parameters;
    bool nodes_are_known, differ;
    keep_path(file->record_path, text[PARAMETER_RECORD]);
    keep_path(file->stats_path, text[PARAMETER_STATS]);
    int rc = agree_on_opening(file, prepare_file(file), &nodes_are_known, &differ);
    if (rc == 0 && !nodes_are_known)
        rc = coll_nodes_find(&file->nodes, &file->group, text);
    if (rc == 0)
        rc = coll_file_agree(file, differ);
    if (rc != 0)
        return rc;
    bool records = file->settings.of[COLL_ROOT_RECORDS];
    coll_record_begin(&file->record, records,
                      records && file->group.rank == 0 ? process_of(file) : NULL, file->record_path,
                      file->handle.name);
    begin_stats(file);
    return 0;
}

void coll_file_start(coll_file *file, const coll_facts *facts)
{
    file->facts = *facts;
    file->error = complete_opening(file);
    file->has_started = true;
    count_time(file, &process_of(file)->opens, &process_of(file)->opening);
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
    coll_process *process = process_of(file);
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
    file->began = now(file);
    if (!file->has_started || file->error != 0 || coll_reduce(&file->group, sum, 3, COLL_SUM) != 0)
        return;
    tell_of_noncollective(file, sum[false], sum[true], sum[2]);
    if (file->group.rank != 0)
        return;
    file->noncollective = sum[false] + sum[true];
    for (int write = 1; write >= 0; write--) {
        const coll_observed none = {.group = &file->group,
                                    .nodes = &file->nodes,
                                    .file = file->handle.name,
                                    .write = write};
        coll_stats_count_noncollective(&file->stats, &none, sum[write]);
    }
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
        coll_log(process_of(file), 0, "%s: data that rank %d has written may be lost: %s", name,
                 runtime->rank, strerror(-rc));
    return error == 0 ? (int)value[0] : error;
}

void coll_file_close(coll_file *file)
{
    for (coll_slot *s = file->slots.slot; s < file->slots.slot + COLL_SLOTS; s++)
        coll_observers_settle(&file->observers, s->observed, false);
    coll_record_end(&file->record, file->noncollective);
    count_time(file, &process_of(file)->closes, &process_of(file)->closing);
    coll_stats_end(&file->stats);
}
