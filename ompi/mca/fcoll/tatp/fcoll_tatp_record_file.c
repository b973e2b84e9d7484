/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process adds to the record, which it writes when files are closed and in MPI_Finalize.
 */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_job.h"
#include "opal/util/output.h"

#include "ompi/compat/compat.h"

/* Of a program's name and a number of ranks. */
#define RUN_BYTES (RECORD_MOST_NAME + 64)

/* Guards all that follows, and the cache: threads may open and close several files at the same
 * time. */
static opal_mutex_t record_lock = OPAL_MUTEX_STATIC_INIT;

static struct {
    record_file *file; /* NULL: this process records nothing */
    bool is_automatic; /* it is in the user's cache */
    int error;         /* negative errno: why something is missing */
    double next;       /* when a closed file leads to the next version */
    bool is_written;   /* a version of this process */
    bool is_replaced;  /* ... which another job has replaced */
} recorder;

/* ---- writing ---- */

static void describe_run(const char *program, size_t ranks, char text[RUN_BYTES])
{
    char name[RECORD_MOST_NAME + 1];
    base_escape(name, sizeof name, program);
    snprintf(text, RUN_BYTES, "\"%s\" on %zu ranks", name, ranks);
}

/* One line a job, by the process that writes first. */
static void report_record(const record_news *news)
{
    char place[PATH_MAX], run[RUN_BYTES], before[RUN_BYTES] = "", kept[PATH_MAX + 16] = "";
    bool replaces = news->before.ranks > 0;
    base_escape(place, sizeof place, record_file_path(recorder.file));
    describe_run(program_invocation_short_name, tatp_job_size(), run);
    if (replaces)
        describe_run(news->before.program, news->before.ranks, before);
    if (news->keeps)
        snprintf(kept, sizeof kept, ", kept in %s~", place);
    opal_output(0, "fcoll:tatp: the accesses of %s are recorded in %s%s%s%s", run, place,
                replaces ? ", in place of those of " : "", before, kept);
}

static int write_version(void)
{
    record_news news;
    int rc = record_file_write(recorder.file, &news);
    recorder.is_replaced |= recorder.is_written && news.is_first;
    if (0 == rc && news.is_first && !recorder.is_written)
        report_record(&news);
    recorder.is_written |= 0 == rc;
    return rc;
}

static const char *reason_of_gap(void)
{
    switch (recorder.error) {
    case -ENOMEM: return strerror(ENOMEM);
    case -ERANGE: return "accesses beyond the first 512 PiB of a file cannot be recorded";
    default: return "a part of it could not be collected";
    }
}

static void write_user_record(void)
{
    const char *path = record_file_path(recorder.file);
    int rc = write_version();
    if (0 != rc)
        tatp_show_help("record", path, record_file_reason(rc));
    if (0 != recorder.error)
        tatp_show_help("record-part", path, reason_of_gap());
    if (recorder.is_replaced)
        tatp_show_help("record-part", path, "another job records into it at the same time");
}

static void end_record(void)
{
    if (NULL == recorder.file)
        return;
    if (!recorder.is_automatic)
        write_user_record();
    else if (0 == recorder.error)
        tatp_record_cache_write(recorder.file);
    record_file_free(recorder.file);
    memset(&recorder, 0, sizeof recorder);
}

static int delete_attribute(MPI_Comm group, int keyval, void *value, void *state)
{
    (void)group;
    (void)keyval;
    (void)value;
    (void)state;
    OPAL_THREAD_LOCK(&record_lock);
    end_record();
    tatp_record_cache_end();
    OPAL_THREAD_UNLOCK(&record_lock);
    return MPI_SUCCESS;
}

/* Open MPI 4.1 does not close fcoll components in MPI_Finalize, which deletes the attributes of
 * MPI_COMM_SELF before anything else; the key goes with the attribute. */
static void register_at_finalize(void)
{
    static bool is_registered;
    int keyval;
    if (is_registered || MPI_SUCCESS != MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN,
                                                               delete_attribute, &keyval, NULL))
        return;
    is_registered = true;
    (void)MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &recorder);
    (void)MPI_Comm_free_keyval(&keyval);
}

/* ---- the record that is appended to ---- */

static int open_record(const char *name, bool automatic)
{
    const char *command = automatic ? tatp_record_cache_command() : NULL;
    const record_origin origin = {NULL != command ? command : program_invocation_short_name,
                                  tatp_job_id(), tatp_job_started()};
    end_record();
    int rc = record_file_open(&recorder.file, name, &origin);
    recorder.is_automatic = 0 == rc && automatic;
    return rc;
}

/* Negative errno; -ENOENT: the cache is not used. */
static int select_record(const char *path)
{
    bool automatic = tatp_record_is_automatic(path);
    const char *place = automatic ? tatp_record_cache_place() : path;
    if (NULL == place)
        return -ENOENT;
    char *name = tatp_job_path(place);
    int rc = NULL == name ? -ENOMEM : 0;
    if (0 == rc && (NULL == recorder.file || 0 != strcmp(name, record_file_path(recorder.file))))
        rc = open_record(name, automatic);
    free(name);
    return rc;
}

static int prepare_automatic(const char *path)
{
    int rc = select_record(path);
    if (0 != rc && -ENOENT != rc)
        tatp_record_cache_refuse(rc);
    return rc;
}

static int prepare_named(const char *path)
{
    static bool is_reported; /* once a process, not for every file */
    int rc = select_record(path);
    if (0 != rc && !is_reported)
        tatp_show_help("record-check", path, record_file_reason(rc));
    is_reported |= 0 != rc;
    return rc;
}

int tatp_record_prepare(const char *path, bool *records)
{
    bool automatic = tatp_record_is_automatic(path);
    *records = false;
    if ('\0' == path[0])
        return OMPI_SUCCESS;
    OPAL_THREAD_LOCK(&record_lock);
    int rc = automatic ? prepare_automatic(path) : prepare_named(path);
    register_at_finalize();
    OPAL_THREAD_UNLOCK(&record_lock);
    *records = 0 == rc;
    return 0 == rc || automatic ? OMPI_SUCCESS : MPI_ERR_ACCESS;
}

void tatp_record_append(const char *path, const char *file, const record_entry *entry,
                        int64_t times, bool new_file)
{
    OPAL_THREAD_LOCK(&record_lock);
    int rc = select_record(path);
    if (0 == rc)
        rc = record_file_add(recorder.file, file, entry, times, new_file);
    else
        tatp_show_help("record", path, record_file_reason(rc));
    if (0 != rc)
        recorder.error = rc;
    OPAL_THREAD_UNLOCK(&record_lock);
}

/* A job may end at its time limit. Versions take a twentieth of the time at most; what cannot be
 * written now is written, or reported, at the end. */
void tatp_record_flush(void)
{
    OPAL_THREAD_LOCK(&record_lock);
    double begin = MPI_Wtime();
    if (NULL != recorder.file && !recorder.is_automatic && begin >= recorder.next) {
        (void)write_version();
        double end = MPI_Wtime();
        recorder.next = end + 20.0 * (end - begin);
    }
    OPAL_THREAD_UNLOCK(&record_lock);
}

void tatp_record_set_error(int rc)
{
    OPAL_THREAD_LOCK(&record_lock);
    recorder.error = rc;
    OPAL_THREAD_UNLOCK(&record_lock);
}
