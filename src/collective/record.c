/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a plan is made rank 0 collects what is accessed by it; calls that reuse the plan are
 * counted. What this process adds to the record it writes when files are closed, and at its end.
 *
 * Runs that are recorded in the user's cache (src/cache) are found there by the mapper. A cache
 * that cannot be used changes nothing. */
#define _GNU_SOURCE /* argz */
#include "collective/record.h"

#include <argz.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "cache/cache.h"
#include "collective/settings.h"

/* What this process records. Threads may open and close several files at the same time: the lock of
 * the process is held. */
typedef struct coll_recorder {
    coll_process *process;
    record_file *file;     /* NULL if it records nothing */
    bool is_automatic;     /* it is in the user's cache */
    int error;             /* negative errno: why something is missing */
    int64_t noncollective; /* bytes that are not in it, as no collective call has moved them */
    double next;           /* when a closed file leads to the next version */
    bool is_refused;       /* another job records into the file, which was reported */
    /* This run, in the user's cache. */
    struct {
        bool is_known;   /* all of what follows */
        bool has_key;    /* and a folder: the cache is used */
        bool has_record; /* of an earlier run */
        cache_key key;
        char *path;    /* of the record */
        char *command; /* the arguments of this process as one line */
        char *file;    /* the program, where the key is that of a command; else NULL */
    } run;
} coll_recorder;

/* The digits of the command; NULL: none. */
static const char *command_of(const char *path)
{
    const char *digits = path + sizeof COLL_RECORD_COMMAND - 1;
    return strncmp(path, COLL_RECORD_COMMAND, sizeof COLL_RECORD_COMMAND - 1) == 0 &&
                   strlen(digits) == CACHE_PROGRAM_LENGTH
               ? digits
               : NULL;
}

bool coll_record_is_automatic(const char *path)
{
    return strcmp(path, COLL_RECORD_AUTOMATIC) == 0 || command_of(path) != NULL;
}

/* ---- whether the job is of one program ---- */

int64_t coll_record_program(const char *path)
{
    char *command = NULL;
    size_t length = 0;
    int64_t digest = 0;
    if (path != NULL && coll_record_is_automatic(path) &&
        coll_process_command(&command, &length) == 0) {
        argz_stringify(command, length, ' ');
        digest = coll_settings_digest_text(command);
    }
    free(command);
    return digest;
}

/* The ranks of a file have these numbers, at most and at least. Only a program that all processes
 * of the job have in common is recorded in the cache. */
static void compare_programs(coll_process *process, int ranks, int64_t largest, int64_t smallest)
{
    pthread_mutex_lock(&process->lock);
    enum coll_programs *programs = &process->job.programs;
    bool compares_all = largest != 0 && (size_t)ranks == process->job.size;
    if (largest != smallest)
        *programs = COLL_PROGRAMS_SEVERAL;
    else if (*programs == COLL_PROGRAMS_UNKNOWN && compares_all)
        *programs = COLL_PROGRAMS_ONE;
    pthread_mutex_unlock(&process->lock);
}

/* The cache cannot be used: this process does not, and reports it if it has rank 0 in the job. */
static void refuse_cache(coll_recorder *recorder, int rc)
{
    coll_process *process = recorder->process;
    char *path = NULL;
    recorder->run.has_key = false;
    if (!process->job.is_first || !coll_is_first(process, "cache", ""))
        return;
    (void)cache_path(&path);
    coll_show(process, COLL_TEXT_CACHE, COLL_NAMED(process, PARAMETER_RECORD),
              path != NULL ? path : "~/.cache",
              rc == -EPERM || rc == -ENXIO ? cache_reason(rc) : record_file_reason(rc));
    free(path);
}

/* ---- the program in the cache ---- */

/* Whether the program has a key: that of the command that starts it, if this is not NULL. */
static bool find_program(coll_recorder *recorder, const char *command)
{
    const coll_job *job = &recorder->process->job;
    char **argument = NULL;
    size_t length = 0;
    int rc = coll_process_command(&recorder->run.command, &length);
    if (rc == 0)
        argument =
            base_zeroed(argz_count(recorder->run.command, length) + 1, sizeof *argument, &rc);
    if (rc == 0) {
        const cache_program program = {"/proc/self/exe", argument,
                                       job->folder != NULL ? job->folder : "/"};
        argz_extract(recorder->run.command, length, argument);
        rc = cache_key_make(&program, job->size, &recorder->run.key,
                            command == NULL ? NULL : &recorder->run.file);
        argz_stringify(recorder->run.command, length, ' ');
    }
    free(argument);
    if (rc == 0 && command != NULL)
        cache_key_set_command(&recorder->run.key, command);
    return rc == 0;
}

/* ---- its record in the cache ---- */

/* Whether an earlier run has recorded the program. A record that is damaged, or for another number
 * of ranks, is removed. Only the header is looked at, because the mapper reads all of it. A process
 * of this job may have written the record, and ended, before this one opens a file. */
static int find_record(coll_recorder *recorder, int folder)
{
    const coll_job *job = &recorder->process->job;
    record_header header;
    int fd = cache_open_record(folder, &recorder->run.key, true);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    int rc = record_header_read(&header, fd);
    bool is_whole = rc == 0 && header.ranks == job->size;
    recorder->run.has_record =
        is_whole && !record_header_is_of_run(&header, fd, job->id, job->started);
    close(fd);
    return is_whole ? 0 : cache_remove(folder, &recorder->run.key);
}

/* Programs that have no key, and jobs of several programs, are left alone without a message. */
static void know_run(coll_recorder *recorder, const char *command)
{
    const coll_job *job = &recorder->process->job;
    recorder->run.is_known = true;
    if (job->size < 2 || job->programs == COLL_PROGRAMS_SEVERAL || !find_program(recorder, command))
        return;
    int folder = cache_open(true), rc = folder;
    if (folder >= 0) {
        rc = find_record(recorder, folder);
        close(folder);
    }
    if (rc == 0)
        rc = cache_record_path(&recorder->run.key, &recorder->run.path);
    recorder->run.has_key = rc == 0;
    if (rc != 0)
        refuse_cache(recorder, rc);
}

/* The record that this run is to write; NULL if there is none. Valid until the run ends. */
static const char *place_in_cache(coll_recorder *recorder, const char *command)
{
    if (!recorder->run.is_known)
        know_run(recorder, command);
    return recorder->run.has_key && !recorder->run.has_record ? recorder->run.path : NULL;
}

/* Unless another job has recorded the program meanwhile, or does. */
static int write_record(coll_recorder *recorder, int folder)
{
    record_news news;
    int rc = find_record(recorder, folder);
    if (rc == 0 && !recorder->run.has_record)
        rc = record_file_write(recorder->file, &news);
    return rc == -EALREADY ? 0 : rc;
}

static void write_to_cache(coll_recorder *recorder)
{
    int folder = cache_open(true), rc = folder;
    if (folder >= 0) {
        rc = write_record(recorder, folder);
        (void)cache_trim(folder);
        close(folder);
    }
    if (rc != 0)
        refuse_cache(recorder, rc);
}

/* ---- writing ---- */

/* A program's name and a number of ranks fit into it. */
#define RUN_BYTES (RECORD_MOST_NAME + 64)

static void describe_run(const char *program, size_t ranks, char text[RUN_BYTES])
{
    char name[RECORD_MOST_NAME + 1];
    base_escape(name, sizeof name, program);
    snprintf(text, RUN_BYTES, "\"%s\" on %zu ranks", name, ranks);
}

/* The process that writes first prints one line for the job. */
static void report_record(const coll_recorder *recorder, const record_news *news)
{
    char place[PATH_MAX], run[RUN_BYTES], before[RUN_BYTES] = "", kept[PATH_MAX + 16] = "";
    char missing[96] = "";
    bool replaces = news->before.ranks > 0;
    base_escape(place, sizeof place, record_file_path(recorder->file));
    describe_run(coll_process_program(recorder->process), recorder->process->job.size, run);
    if (replaces)
        describe_run(news->before.program, news->before.ranks, before);
    if (news->keeps)
        snprintf(kept, sizeof kept, ", kept in %s~", place);
    if (recorder->noncollective >= COLL_TOLD_BYTES)
        snprintf(missing, sizeof missing, ", but for %.1f MB by calls that are not collective,",
                 1e-6 * (double)recorder->noncollective);
    coll_log(recorder->process, 0, "the accesses of %s%s are recorded in %s%s%s%s", run, missing,
             place, replaces ? ", instead of those of " : "", before, kept);
}

/* If several jobs record into a file at the same time, the first one keeps it. */
static void refuse_record(coll_recorder *recorder, const record_header *other)
{
    char reason[RUN_BYTES + RECORD_MOST_NAME + 256] = "what this run had recorded there is gone";
    if (other->ranks > 0)
        snprintf(reason, sizeof reason,
                 "another job (\"%s\" on %zu ranks, run %s) records into it at the same time; name "
                 "another file, for example with %%j (the job), %%s (a step) or %%x (the program)",
                 other->program, other->ranks, other->run);
    coll_show(recorder->process, COLL_TEXT_RECORD, COLL_NAMED(recorder->process, PARAMETER_RECORD),
              record_file_path(recorder->file), reason);
    recorder->is_refused = true;
}

static int write_version(coll_recorder *recorder)
{
    record_news news;
    int rc = recorder->is_refused ? -EALREADY : record_file_write(recorder->file, &news);
    if (rc == 0 && news.is_first)
        report_record(recorder, &news);
    if (rc == -EALREADY && !recorder->is_refused)
        refuse_record(recorder, &news.before);
    return rc;
}

static const char *reason_of_gap(int error)
{
    switch (error) {
    case -ENOMEM: return strerror(ENOMEM);
    case -ERANGE: return "accesses beyond the first 512 PiB of a file cannot be recorded";
    default: return "a part of it could not be collected";
    }
}

static void write_user_record(coll_recorder *recorder)
{
    coll_process *process = recorder->process;
    const char *path = record_file_path(recorder->file);
    int rc = write_version(recorder);
    if (rc == -EALREADY)
        return;
    if (rc != 0)
        coll_show(process, COLL_TEXT_RECORD, COLL_NAMED(process, PARAMETER_RECORD), path,
                  record_file_reason(rc));
    if (recorder->error != 0)
        coll_show(process, COLL_TEXT_RECORD_PART, COLL_NAMED(process, PARAMETER_RECORD), path,
                  reason_of_gap(recorder->error));
}

static void end_record(coll_recorder *recorder)
{
    if (recorder->file == NULL)
        return;
    if (!recorder->is_automatic)
        write_user_record(recorder);
    else if (recorder->error == 0 && recorder->process->job.programs == COLL_PROGRAMS_ONE)
        write_to_cache(recorder);
    record_file_free(recorder->file);
    *recorder = (coll_recorder){.process = recorder->process, .run = recorder->run};
}

void coll_record_finish(coll_process *process)
{
    pthread_mutex_lock(&process->lock);
    if (process->recorder != NULL) {
        end_record(process->recorder);
        free(process->recorder->run.path);
        free(process->recorder->run.command);
        free(process->recorder->run.file);
        free(process->recorder);
        process->recorder = NULL;
    }
    pthread_mutex_unlock(&process->lock);
}

/* NULL if memory is exhausted. */
static coll_recorder *recorder_of(coll_process *process)
{
    if (process->recorder == NULL)
        process->recorder = calloc(1, sizeof *process->recorder);
    if (process->recorder != NULL)
        process->recorder->process = process;
    return process->recorder;
}

/* ---- the record that is appended to ---- */

static int open_record(coll_recorder *recorder, const char *name, bool automatic)
{
    const coll_job *job = &recorder->process->job;
    const char *command = automatic ? recorder->run.command : NULL;
    const record_origin origin = {
        command != NULL ? command : coll_process_program(recorder->process), job->id, job->started,
        automatic && recorder->run.file != NULL ? recorder->run.file : ""};
    end_record(recorder);
    int rc = record_file_open(&recorder->file, name, &origin);
    recorder->is_automatic = rc == 0 && automatic;
    return rc;
}

/* Negative errno; -ENOENT: the cache is not used. */
static int select_record(coll_recorder *recorder, const char *path)
{
    bool automatic = coll_record_is_automatic(path);
    const char *place = automatic ? place_in_cache(recorder, command_of(path)) : path;
    if (place == NULL)
        return -ENOENT;
    char *name = automatic ? strdup(place) : coll_job_path(recorder->process, path);
    int rc = name == NULL ? -ENOMEM : 0;
    if (rc == 0 && (recorder->file == NULL || strcmp(name, record_file_path(recorder->file)) != 0))
        rc = open_record(recorder, name, automatic);
    free(name);
    return rc;
}

/* Rank 0 of a file decides whether its accesses are recorded. The user's cache gets none of a
 * program that it has; what fails there is no error: where rank 0 is that of the job, too, one
 * message says that its cache cannot be used. Otherwise one message of the process says why nothing
 * can be recorded. Returns 0 or, where the user is strict, -EACCES. */
static int prepare_record(coll_process *process, parameter_texts text, int64_t *records)
{
    const char *path = parameter_text(text, PARAMETER_RECORD);
    const coll_refusal refusal = {PARAMETER_RECORD, parameter_is_strict(text), -EACCES,
                                  "This run is not recorded; its data are not affected."};
    bool automatic = coll_record_is_automatic(path);
    *records = false;
    if (path[0] == '\0')
        return 0;
    pthread_mutex_lock(&process->lock);
    coll_recorder *recorder = recorder_of(process);
    int rc = recorder == NULL ? -ENOMEM : select_record(recorder, path);
    if (automatic && recorder != NULL && rc != 0 && rc != -ENOENT)
        refuse_cache(recorder, rc);
    *records = rc == 0 && !recorder->is_refused;
    pthread_mutex_unlock(&process->lock);
    if (rc == 0 || automatic)
        return 0;
    char *name = coll_job_path(process, path);
    rc = coll_refuse(process, &refusal, COLL_TEXT_RECORD_CHECK,
                     COLL_NAMED(process, PARAMETER_RECORD), name != NULL ? name : path,
                     record_file_reason(rc));
    free(name);
    return rc;
}

/* Appends `times` accesses like the entry to what this process has to write; new_file: a file, and
 * no access. Errors are reported when it is written. On rank 0 of a file. */
static void append_entry(coll_process *process, const char *path, const char *file,
                         const record_entry *entry, int64_t times, bool new_file)
{
    pthread_mutex_lock(&process->lock);
    coll_recorder *recorder = recorder_of(process);
    int rc = recorder == NULL ? -ENOMEM : select_record(recorder, path);
    if (rc != 0)
        coll_show(process, COLL_TEXT_RECORD, COLL_NAMED(process, PARAMETER_RECORD), path,
                  record_file_reason(rc));
    else if (!recorder->is_refused)
        rc = record_file_add(recorder->file, file, entry, times, new_file);
    if (rc != 0 && recorder != NULL)
        recorder->error = rc;
    pthread_mutex_unlock(&process->lock);
}

/* A file was closed, of which the record lacks these bytes. A job may end at its time limit.
 * Versions take a twentieth of the time at most; what cannot be written now is written, or
 * reported, at the end. */
static void flush_record(coll_process *process, int64_t noncollective)
{
    pthread_mutex_lock(&process->lock);
    coll_recorder *recorder = process->recorder;
    double begin = process->clock(process->context);
    if (recorder != NULL)
        recorder->noncollective += noncollective;
    if (recorder != NULL && recorder->file != NULL && !recorder->is_automatic &&
        begin >= recorder->next) {
        (void)write_version(recorder);
        double end = process->clock(process->context);
        recorder->next = end + 20.0 * (end - begin);
    }
    pthread_mutex_unlock(&process->lock);
}

/* Rank 0 of a file keeps why the record lacks something. rc: a negative errno value. */
static void set_error(coll_process *process, int rc)
{
    pthread_mutex_lock(&process->lock);
    if (recorder_of(process) != NULL)
        process->recorder->error = rc;
    pthread_mutex_unlock(&process->lock);
}

/* ---- files ---- */

/* Rank 0 keeps what is accessed by a plan, and how often that was done. */
typedef struct recorded {
    record_entry entry;
    int64_t times; /* accesses that were not appended to the record yet */
} recorded;

static int prepare_recording(void *context, const coll_opening *opening)
{
    int64_t *of = opening->of;
    (void)context;
    of[COLL_PROGRAM] = coll_record_program(opening->text[PARAMETER_RECORD]);
    of[COLL_PROGRAM_NEGATED] = -of[COLL_PROGRAM];
    return opening->group->rank == 0 ? prepare_record(opening->group->runtime->process,
                                                      opening->text, &of[COLL_ROOT_RECORDS])
                                     : 0;
}

static void release_names(coll_record *record)
{
    free(record->path);
    free(record->file);
    record->path = record->file = NULL;
}

static void begin_recording(void *context, const coll_opening *opening)
{
    coll_record *record = context;
    const int64_t *of = opening->of;
    coll_process *process = opening->group->runtime->process;
    compare_programs(process, opening->group->size, of[COLL_PROGRAM], -of[COLL_PROGRAM_NEGATED]);
    record->records = of[COLL_ROOT_RECORDS];
    if (!record->records || opening->group->rank != 0)
        return;
    record->process = process;
    record->path = strdup(opening->text[PARAMETER_RECORD]);
    record->file = strdup(opening->file);
    if (record->path != NULL && record->file != NULL)
        return;
    release_names(record);
    set_error(process, -ENOMEM);
}

/* ---- the observer ---- */

static void collect_plan(void *context, const coll_observed *access, void **state)
{
    const coll_record *record = context;
    record_entry entry = {.accessed = 0};
    if (!record->records)
        return;
    recorded *r = *state;
    int rc = coll_record_collect(access, &entry);
    if (access->group->rank != 0)
        return;
    if (r == NULL)
        *state = r = calloc(1, sizeof *r);
    if (r != NULL) {
        record_entry_release(&r->entry);
        r->entry = entry;
    } else {
        record_entry_release(&entry);
        rc = -ENOMEM;
    }
    if (rc != 0)
        set_error(record->process, rc);
}

static void count_access(void *context, const coll_observed *access, void **state)
{
    recorded *r = *state;
    (void)context;
    if (r != NULL)
        r->times += access->plan != NULL;
}

static void append_accesses(void *context, void **state, bool is_released)
{
    const coll_record *record = context;
    recorded *r = *state;
    if (r == NULL)
        return;
    if (record->file != NULL && r->times > 0 && r->entry.view.rows > 0)
        append_entry(record->process, record->path, record->file, &r->entry, r->times, false);
    r->times = 0;
    if (!is_released)
        return;
    record_entry_release(&r->entry);
    free(r);
    *state = NULL;
}

/* So that there is a record of every program, also of one whose ranks access their files
 * themselves. */
static void append_file(const coll_record *record)
{
    size_t ranks = record->process->job.size;
    record_entry none = {.view = {.rows = ranks, .cols = ranks}};
    none.view.row_start = calloc(ranks + 1, sizeof *none.view.row_start);
    if (none.view.row_start == NULL)
        set_error(record->process, -ENOMEM);
    else
        append_entry(record->process, record->path, record->file, &none, 0, true);
    record_entry_release(&none);
}

static void end_recording(void *context, const coll_closing *closing)
{
    coll_record *record = context;
    if (record->file == NULL)
        return;
    append_file(record);
    flush_record(record->process, closing->noncollective[false] + closing->noncollective[true]);
    release_names(record);
}

coll_observer coll_record_observer(coll_record *record)
{
    return (coll_observer){.context = record,
                           .opens = prepare_recording,
                           .begins = begin_recording,
                           .planned = collect_plan,
                           .moved = count_access,
                           .settle = append_accesses,
                           .closes = end_recording};
}
