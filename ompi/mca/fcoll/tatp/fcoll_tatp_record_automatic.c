/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs that are recorded in the user's cache (src/cache), where the mapper finds them. A cache that
 * cannot be used changes nothing but that one message says so. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cache/cache.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_job.h"
#include "record/record_header.h"

#include "ompi/compat/compat.h"

/* Longer command lines are not kept in memory for this. */
#define MOST_COMMAND ((size_t)1 << 20)

/* Guards all that follows: threads may use several files at the same time. */
static opal_mutex_t run_lock = OPAL_MUTEX_STATIC_INIT;

/* This run. */
static struct {
    bool is_known;   /* all of what follows */
    bool has_key;    /* and a folder: the cache is used */
    bool has_record; /* of an earlier run */
    cache_key key;
    char *path; /* of the record */
} run;

bool tatp_record_is_automatic(const char *path)
{
    return 0 == strcmp(path, TATP_RECORD_AUTOMATIC);
}

/* One rank of the job reports. */
static void report_cache(int rc)
{
    static bool reported;
    char *path = NULL;
    if (reported || 0 != OMPI_PROC_MY_NAME->vpid)
        return;
    reported = true;
    (void)cache_path(&path);
    tatp_show_help("cache", NULL != path ? path : "~/.cache",
                   -EPERM == rc || -ENXIO == rc ? cache_reason(rc) : record_file_reason(rc));
    free(path);
}

/* ---- the program ---- */

/* The text of /proc/self/cmdline, each argument with its NUL. Negative errno. */
static int read_command(char **text, size_t *length)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC), rc = 0;
    size_t capacity = 0;
    ssize_t count = 1;
    if (fd < 0)
        return -errno;
    while (count > 0 && 0 == rc) {
        rc = *length >= MOST_COMMAND ? -E2BIG : base_reserve(text, &capacity, *length + 4096, 1);
        count = 0 == rc ? TEMP_FAILURE_RETRY(read(fd, *text + *length, 4096)) : 0;
        rc = count < 0 ? -errno : rc;
        *length += count > 0 ? (size_t)count : 0;
    }
    close(fd);
    return 0 != rc ? rc : 0 == *length || '\0' != (*text)[*length - 1] ? -ENOEXEC : 0;
}

/* Calls `use` with the arguments of this process. */
static int with_arguments(int (*use)(char **argument, void *context), void *context)
{
    char *text = NULL, **argument = NULL;
    size_t length = 0, count = 0;
    int rc = read_command(&text, &length);
    for (size_t i = 0; 0 == rc && i < length; i++)
        count += '\0' == text[i];
    if (0 == rc)
        argument = base_zeroed(count + 1, sizeof *argument, &rc);
    count = 0;
    for (size_t i = 0; 0 == rc && i < length; i += strlen(text + i) + 1)
        argument[count++] = text + i;
    if (0 == rc)
        rc = use(argument, context);
    free(argument);
    free(text);
    return rc;
}

static int make_key(char **argument, void *key)
{
    const char *folder = tatp_job_folder();
    const cache_program program = {"/proc/self/exe", argument, NULL != folder ? folder : "/"};
    return cache_key_make(&program, tatp_job_size(), key);
}

/* Its arguments as one line. */
static int join_arguments(char **argument, void *command)
{
    size_t length;
    FILE *stream = open_memstream(command, &length);
    for (size_t i = 0; NULL != stream && NULL != argument[i]; i++)
        fprintf(stream, "%s%s", i > 0 ? " " : "", argument[i]);
    return NULL != stream && 0 == fclose(stream) ? 0 : -ENOMEM;
}

char *tatp_record_cache_command(void)
{
    char *command = NULL;
    (void)with_arguments(join_arguments, &command);
    return command;
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
    close(fd);
    bool is_whole = 0 == rc && header.ranks == tatp_job_size();
    run.has_record = is_whole && 0 != strcmp(header.run, tatp_job_id());
    return is_whole ? 0 : cache_remove(folder, &run.key);
}

/* Programs that have no key, and jobs of several programs, are left alone without a message. */
static void know_run(void)
{
    run.is_known = true;
    if (tatp_job_size() < 2 || !tatp_job_has_one_program() ||
        0 != with_arguments(make_key, &run.key))
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
        report_cache(rc);
}

const char *tatp_record_cache_place(void)
{
    OPAL_THREAD_LOCK(&run_lock);
    if (!run.is_known)
        know_run();
    OPAL_THREAD_UNLOCK(&run_lock);
    return run.has_key && !run.has_record ? run.path : NULL;
}

void tatp_record_cache_refuse(int rc)
{
    OPAL_THREAD_LOCK(&run_lock);
    run.has_key = false;
    report_cache(rc);
    OPAL_THREAD_UNLOCK(&run_lock);
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
    memset(&run, 0, sizeof run);
}
