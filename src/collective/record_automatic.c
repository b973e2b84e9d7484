/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs that are recorded in the user's cache (src/cache), where the mapper finds them. A cache that
 * cannot be used changes nothing but that one message says so. */
#define _GNU_SOURCE /* argz */
#include "collective/record_internal.h"

#include <argz.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cache/cache.h"
#include "record/record_header.h"

bool coll_record_is_automatic(const char *path)
{
    return strcmp(path, COLL_RECORD_AUTOMATIC) == 0;
}

/* One rank of the job reports. */
void coll_record_cache_refuse(coll_recorder *recorder, int rc)
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

/* ---- the program ---- */

/* Whether the program has a key. */
static bool find_program(coll_recorder *recorder)
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
        rc = cache_key_make(&program, job->size, &recorder->run.key);
        argz_stringify(recorder->run.command, length, ' ');
    }
    free(argument);
    return rc == 0;
}

/* ---- the record ---- */

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
static void know_run(coll_recorder *recorder)
{
    const coll_job *job = &recorder->process->job;
    recorder->run.is_known = true;
    if (job->size < 2 || !job->has_one_program || !find_program(recorder))
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
        coll_record_cache_refuse(recorder, rc);
}

const char *coll_record_cache_place(coll_recorder *recorder)
{
    if (!recorder->run.is_known)
        know_run(recorder);
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

void coll_record_cache_write(coll_recorder *recorder)
{
    int folder = cache_open(true), rc = folder;
    if (folder >= 0) {
        rc = write_record(recorder, folder);
        (void)cache_trim(folder);
        close(folder);
    }
    if (rc != 0)
        coll_record_cache_refuse(recorder, rc);
}

void coll_record_cache_end(coll_recorder *recorder)
{
    free(recorder->run.path);
    free(recorder->run.command);
    memset(&recorder->run, 0, sizeof recorder->run);
}
