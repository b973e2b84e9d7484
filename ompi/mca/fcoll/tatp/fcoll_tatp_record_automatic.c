/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs that are recorded in the user's cache (src/cache), where the mapper finds them. A cache that
 * cannot be used changes nothing but that one message says so. */
#define _GNU_SOURCE /* argz */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record_internal.h"

#include <argz.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cache/cache.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_job.h"
#include "record/record_header.h"

#include "ompi/compat/compat.h"

/* This run. */
static struct {
    bool is_known;   /* all of what follows */
    bool has_key;    /* and a folder: the cache is used */
    bool has_record; /* of an earlier run */
    cache_key key;
    char *path;    /* of the record */
    char *command; /* the arguments of this process as one line */
} run;

bool tatp_record_is_automatic(const char *path)
{
    return 0 == strcmp(path, TATP_RECORD_AUTOMATIC);
}

/* One rank of the job reports. */
void tatp_record_cache_refuse(int rc)
{
    static bool is_reported;
    char *path = NULL;
    run.has_key = false;
    if (is_reported || 0 != OMPI_PROC_MY_NAME->vpid)
        return;
    is_reported = true;
    (void)cache_path(&path);
    tatp_show_help("cache", NULL != path ? path : "~/.cache",
                   -EPERM == rc || -ENXIO == rc ? cache_reason(rc) : record_file_reason(rc));
    free(path);
}

/* ---- the program ---- */

/* The arguments of this process, each with its NUL. Negative errno. */
static int read_command(char **text, size_t *length)
{
    FILE *stream = fopen("/proc/self/cmdline", "re");
    char *argument = NULL;
    size_t capacity = 0;
    int rc = NULL == stream ? -errno : 0;
    while (0 == rc && getdelim(&argument, &capacity, '\0', stream) > 0)
        rc = -argz_add(text, length, argument);
    free(argument);
    if (NULL != stream)
        fclose(stream);
    return 0 == rc && 0 == *length ? -ENOEXEC : rc;
}

/* Whether the program has a key. */
static bool find_program(void)
{
    const char *folder = tatp_job_folder();
    char **argument = NULL;
    size_t length = 0;
    int rc = read_command(&run.command, &length);
    if (0 == rc)
        argument = base_zeroed(argz_count(run.command, length) + 1, sizeof *argument, &rc);
    if (0 == rc) {
        const cache_program program = {"/proc/self/exe", argument, NULL != folder ? folder : "/"};
        argz_extract(run.command, length, argument);
        rc = cache_key_make(&program, tatp_job_size(), &run.key);
        argz_stringify(run.command, length, ' ');
    }
    free(argument);
    return 0 == rc;
}

const char *tatp_record_cache_command(void)
{
    return run.command;
}

/* ---- the record ---- */

/* Whether an earlier run has recorded the program. A record that is damaged, or for another number
 * of ranks, is removed. Only the header is looked at, because the mapper reads all of it. A process
 * of this job may have written the record, and ended, before this one opens a file. */
static int find_record(int folder)
{
    record_header header;
    int fd = cache_open_record(folder, &run.key, true);
    if (fd < 0)
        return -ENOENT == fd ? 0 : fd;
    int rc = record_header_read(&header, fd);
    bool is_whole = 0 == rc && header.ranks == tatp_job_size();
    run.has_record =
        is_whole && !record_header_is_of_run(&header, fd, tatp_job_id(), tatp_job_started());
    close(fd);
    return is_whole ? 0 : cache_remove(folder, &run.key);
}

/* Programs that have no key, and jobs of several programs, are left alone without a message. */
static void know_run(void)
{
    run.is_known = true;
    if (tatp_job_size() < 2 || !tatp_job_has_one_program() || !find_program())
        return;
    int folder = cache_open(true), rc = folder;
    if (folder >= 0) {
        rc = find_record(folder);
        close(folder);
    }
    if (0 == rc)
        rc = cache_record_path(&run.key, &run.path);
    run.has_key = 0 == rc;
    if (0 != rc)
        tatp_record_cache_refuse(rc);
}

const char *tatp_record_cache_place(void)
{
    if (!run.is_known)
        know_run();
    return run.has_key && !run.has_record ? run.path : NULL;
}

/* Unless another job has recorded the program meanwhile. */
static int write_record(int folder, record_file *file)
{
    record_news news;
    int rc = find_record(folder);
    return 0 == rc && !run.has_record ? record_file_write(file, &news) : rc;
}

void tatp_record_cache_write(record_file *file)
{
    int folder = cache_open(true), rc = folder;
    if (folder >= 0) {
        rc = write_record(folder, file);
        (void)cache_trim(folder);
        close(folder);
    }
    if (0 != rc)
        tatp_record_cache_refuse(rc);
}

void tatp_record_cache_end(void)
{
    free(run.path);
    free(run.command);
    memset(&run, 0, sizeof run);
}
