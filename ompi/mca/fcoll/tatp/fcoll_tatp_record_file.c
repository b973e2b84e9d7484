/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process adds to the record, which it writes when files are closed and in MPI_Finalize.
 */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
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

/* Guards all that follows: threads may close several files at the same time. */
static opal_mutex_t record_lock = OPAL_MUTEX_STATIC_INIT;

static struct {
    record_file *file; /* NULL: this process records nothing */
    bool is_automatic; /* it is in the user's cache */
    int error;         /* an OMPI or MPI error code: why something is missing */
    int64_t missed;    /* bytes that the written record lacks */
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
    char place[PATH_MAX], run[RUN_BYTES], before[RUN_BYTES] = "";
    bool replaces = news->before.ranks > 0;
    base_escape(place, sizeof place, record_file_path(recorder.file));
    describe_run(program_invocation_short_name, tatp_job_size(), run);
    if (replaces)
        describe_run(news->before.program, news->before.ranks, before);
    opal_output(0, "fcoll:tatp: the accesses of %s are recorded in %s%s%s", run, place,
                replaces ? ", in place of those of " : "", before);
}

static int write_version(void)
{
    int64_t missed = record_file_totals(recorder.file).missed;
    record_news news;
    int rc = record_file_write(recorder.file, &news);
    if (0 == rc)
        recorder.missed += missed;
    recorder.is_replaced |= recorder.is_written && news.is_first;
    if (0 == rc && news.is_first && !recorder.is_written)
        report_record(&news);
    recorder.is_written |= 0 == rc;
    return rc;
}

static void write_user_record(void)
{
    const char *path = record_file_path(recorder.file);
    int rc = write_version();
    if (0 != rc)
        tatp_show_help("record", path, record_file_reason(rc));
    if (OMPI_SUCCESS != recorder.error)
        tatp_show_help("record-part", path,
                       OMPI_ERR_OUT_OF_RESOURCE == recorder.error
                           ? strerror(ENOMEM)
                           : "a part of it could not be collected");
    if (recorder.is_replaced)
        tatp_show_help("record-part", path, "another job records into it at the same time");
    if (recorder.missed > 0)
        tatp_show_help("record-missed", path, (long long)recorder.missed);
}

/* The lock is held. */
static void end_record(void)
{
    if (NULL == recorder.file)
        return;
    if (!recorder.is_automatic)
        write_user_record();
    else if (OMPI_SUCCESS == recorder.error)
        tatp_record_cache_write(recorder.file);
    record_file_free(recorder.file);
    memset(&recorder, 0, sizeof recorder);
}

static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)state;
    OPAL_THREAD_LOCK(&record_lock);
    end_record();
    OPAL_THREAD_UNLOCK(&record_lock);
    tatp_record_cache_end();
    return MPI_SUCCESS;
}

/* Open MPI 4.1 does not close fcoll components in MPI_Finalize, which deletes the attributes of
 * MPI_COMM_SELF before anything else; the key goes with the attribute. */
static void register_at_finalize(void)
{
    static atomic_flag registered = ATOMIC_FLAG_INIT;
    int keyval;
    if (atomic_flag_test_and_set(&registered) ||
        MPI_SUCCESS !=
            MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &keyval, NULL))
        return;
    (void)MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &recorder);
    (void)MPI_Comm_free_keyval(&keyval);
}

/* ---- the record that is appended to ---- */

/* The name of a record for a value of the parameter; the caller frees it. NULL: no memory. */
static char *name_record(const char *path)
{
    if (!tatp_record_is_automatic(path))
        return tatp_job_path(path);
    const char *place = tatp_record_cache_place();
    return NULL != place ? strdup(place) : NULL;
}

static int open_record(const char *name, bool automatic)
{
    char *command = automatic ? tatp_record_cache_command() : NULL;
    const record_origin origin = {NULL != command ? command : program_invocation_short_name,
                                  tatp_job_id(), tatp_job_started()};
    int rc = record_file_open(&recorder.file, name, &origin);
    recorder.is_automatic = 0 == rc && automatic;
    free(command);
    return rc;
}

/* The lock is held. Negative errno. */
static int select_record(const char *path)
{
    char *name = name_record(path);
    int rc = NULL == name ? -ENOMEM : 0;
    if (0 == rc && (NULL == recorder.file || 0 != strcmp(name, record_file_path(recorder.file)))) {
        end_record();
        rc = open_record(name, tatp_record_is_automatic(path));
    }
    free(name);
    return rc;
}

static int select_alone(const char *path)
{
    OPAL_THREAD_LOCK(&record_lock);
    int rc = select_record(path);
    OPAL_THREAD_UNLOCK(&record_lock);
    return rc;
}

static bool prepare_automatic(const char *path)
{
    int rc = NULL != tatp_record_cache_place() ? select_alone(path) : -ENOENT;
    register_at_finalize();
    if (0 != rc && -ENOENT != rc)
        tatp_record_cache_refuse(rc);
    return 0 == rc;
}

int tatp_record_prepare(const char *path, bool *records)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT; /* once a process, not for every file */
    *records = false;
    if (tatp_record_is_automatic(path))
        *records = prepare_automatic(path);
    if (tatp_record_is_automatic(path) || '\0' == path[0])
        return OMPI_SUCCESS;
    int rc = select_alone(path);
    *records = 0 == rc;
    if (0 == rc)
        register_at_finalize();
    else if (!atomic_flag_test_and_set(&reported))
        tatp_show_help("record-check", path, record_file_reason(rc));
    return 0 != rc ? MPI_ERR_ACCESS : OMPI_SUCCESS;
}

void tatp_record_append(const tatp_record_options *options, const char *file,
                        const record_entry *entry, int64_t times, bool new_file)
{
    OPAL_THREAD_LOCK(&record_lock);
    int rc = select_record(options->path);
    if (0 == rc)
        rc = record_file_add(recorder.file, NULL != file ? file : "", entry, times, new_file);
    else
        tatp_show_help("record", options->path, record_file_reason(rc));
    if (0 != rc)
        recorder.error = tatp_from_errno(rc);
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
