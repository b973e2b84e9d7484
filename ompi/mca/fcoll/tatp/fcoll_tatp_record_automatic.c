/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs that are recorded in the user's cache (src/cache), where the mapper finds them: which record
 * is that of this run, and what becomes of its times. A cache that cannot be used changes nothing
 * but that one message says so. */
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
#include "record/record_store.h"

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
    bool is_mapped;
    uint64_t mapping; /* of the ranks on nodes */
    int64_t calls;
    double seconds; /* in these calls */
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

static int describe_run(char **argument, void *runs)
{
    cache_runs_describe(runs, argument[0], argument, tatp_job_size());
    return 0;
}

/* ---- the record ---- */

/* The header of the present record. false: it is damaged, or for another number of ranks. Only the
 * beginning is looked at, because the mapper reads all of it. */
static bool read_header(int fd, record_header *header)
{
    char *text = malloc(RECORD_HEADER_BYTES + 1);
    long length = NULL == text ? -ENOMEM : record_store_read(fd, text, RECORD_HEADER_BYTES);
    bool found = false;
    if (length > 0) {
        text[length] = '\0';
        found = 0 == record_header_parse(header, text, (size_t)length) && header->runs > 0 &&
                header->ranks == tatp_job_size();
    }
    free(text);
    return found;
}

/* A process of this job may have written the record, and ended, before this one opens a file. */
static bool is_of_earlier_run(const record_header *header)
{
    return NULL == record_header_find(header, tatp_job_id());
}

static int find_record(int folder)
{
    record_header header;
    int fd = cache_open_record(folder, &run.key);
    if (fd < 0)
        return -ENOENT == fd ? 0 : fd;
    bool found = read_header(fd, &header);
    close(fd);
    run.has_record = found && is_of_earlier_run(&header);
    return found ? 0 : cache_remove(folder, &run.key);
}

static int name_record(void)
{
    char *folder = NULL;
    int rc = cache_path(&folder);
    if (0 == rc)
        run.path = cache_record_path(folder, &run.key);
    free(folder);
    return 0 == rc && NULL == run.path ? -ENOMEM : rc;
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
        rc = name_record();
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

/* Whether another job has recorded the program meanwhile. */
static bool is_recorded(int folder)
{
    record_header header;
    int fd = cache_open_record(folder, &run.key);
    if (fd < 0)
        return false;
    bool found = read_header(fd, &header) && is_of_earlier_run(&header);
    close(fd);
    return found;
}

static int write_record(int folder, record_file *file)
{
    record_news news;
    if (is_recorded(folder))
        return 0;
    int rc = cache_create_record(folder, &run.key);
    return 0 == rc ? record_file_write(file, &news) : rc;
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

/* ---- times ---- */

static bool has_all_ranks(const tatp_comm *comm)
{
    size_t ranks = (size_t)tatp_comm_size(comm);
    bool all = ranks == tatp_job_size();
    for (size_t r = 0; all && r < ranks; r++)
        all = tatp_job_rank(comm, r) == r;
    return all;
}

void tatp_record_set_nodes(const tatp_comm *comm, const size_t *node_of_rank, size_t nodes)
{
    OPAL_THREAD_LOCK(&run_lock);
    if (!run.is_mapped && run.has_key && has_all_ranks(comm))
        run.is_mapped = 0 == cache_mapping(node_of_rank, tatp_job_size(), nodes, &run.mapping);
    OPAL_THREAD_UNLOCK(&run_lock);
}

void tatp_record_time(double seconds)
{
    OPAL_THREAD_LOCK(&run_lock);
    run.calls++;
    run.seconds += seconds;
    OPAL_THREAD_UNLOCK(&run_lock);
}

/* Those of a run without a record, which was not written, say nothing. */
static void note_run(int folder)
{
    const cache_sample sample = {run.mapping, run.calls, (int64_t)(1e9 * run.seconds)};
    int fd = cache_open_record(folder, &run.key);
    bool is_timed = run.is_mapped && run.calls > 0 && 0 == OMPI_PROC_MY_NAME->vpid;
    cache_runs runs;
    if (fd < 0)
        return;
    close(fd);
    int rc = cache_read_runs(folder, &run.key, &runs);
    if (0 != rc && -ENOENT != rc)
        return;
    bool is_new = '\0' == runs.program[0];
    if (is_new)
        (void)with_arguments(describe_run, &runs);
    if (is_timed)
        cache_runs_add(&runs, &sample);
    if (is_timed || is_new)
        (void)cache_write_runs(folder, &run.key, &runs);
}

void tatp_record_cache_end(void)
{
    int folder = run.has_key ? cache_open(false) : -ENOENT;
    if (folder >= 0) {
        note_run(folder);
        close(folder);
    }
    free(run.path);
    memset(&run, 0, sizeof run);
}
