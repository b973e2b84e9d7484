/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process adds to the record file, and when it does: when a file is closed, or later. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_job.h"

#include "ompi/compat/compat.h"

/* Writing takes at most this part of the time. */
#define PART_OF_TIME 20

/* Guards all that follows: threads may close several files at the same time. */
static opal_mutex_t record_lock = OPAL_MUTEX_STATIC_INIT;

static struct {
    record_file *file; /* NULL: this process records nothing */
    bool unwritten;    /* something is to be written, or reported */
    int error;         /* an OMPI or MPI error code: why something is missing */
    bool failed;       /* the last write */
    bool is_automatic; /* it is in the user's cache */
    double at, cost;   /* of the last write, seconds */
} recorder;

/* ---- writing ---- */

/* Once. */
static void report_missing(void)
{
    const char *place = record_file_place(recorder.file);
    if (OMPI_SUCCESS != recorder.error)
        tatp_show_help("record-part", place,
                       OMPI_ERR_OUT_OF_RESOURCE == recorder.error
                           ? strerror(ENOMEM)
                           : "a part of it could not be collected");
    recorder.error = OMPI_SUCCESS;
}

/* What could not be written now is kept, and written the next time. */
static void write_record(bool is_last)
{
    double begin = MPI_Wtime();
    record_news news;
    int rc = record_file_write(recorder.file, &news);
    const char *path = record_file_path(recorder.file), *place = record_file_place(recorder.file);
    if (news.elsewhere)
        tatp_show_help("record-elsewhere", path, place);
    if (0 == rc && news.kept_ranks > 0)
        tatp_show_help("record-kept", place, news.kept_program, news.kept_ranks, place);
    if (0 != rc && (is_last || !recorder.failed))
        tatp_show_help(is_last ? "record" : "record-later", place, record_file_reason(rc));
    report_missing();
    recorder.failed = recorder.unwritten = 0 != rc;
    recorder.at = MPI_Wtime();
    recorder.cost = recorder.at - begin;
}

/* Writes also where nothing is new: another run may have replaced what was written. */
static void end_user_record(void)
{
    write_record(true);
    long long missed = record_file_totals(recorder.file).missed;
    if (missed > 0)
        tatp_show_help("record-missed", record_file_place(recorder.file), missed);
}

static void end_record(void)
{
    if (!recorder.is_automatic)
        end_user_record();
    else if (recorder.unwritten && OMPI_SUCCESS == recorder.error)
        tatp_record_cache_write(recorder.file);
    record_file_free(recorder.file);
    memset(&recorder, 0, sizeof recorder);
}

static void flush_record(bool at_finalize)
{
    OPAL_THREAD_LOCK(&record_lock);
    if (NULL == recorder.file) {
        OPAL_THREAD_UNLOCK(&record_lock);
        return;
    }
    if (at_finalize)
        end_record();
    else if (recorder.unwritten && !recorder.is_automatic &&
             MPI_Wtime() - recorder.at >= PART_OF_TIME * recorder.cost)
        write_record(false);
    OPAL_THREAD_UNLOCK(&record_lock);
}

static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)state;
    flush_record(true);
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

void tatp_record_flush(void)
{
    flush_record(false);
}

/* ---- appending ---- */

/* The name of a record for a value of the parameter; the caller frees it. NULL: no memory. */
static char *name_record(const char *path)
{
    if (!tatp_record_is_automatic(path))
        return tatp_job_path(path);
    const char *place = tatp_record_cache_place();
    return NULL != place ? strdup(place) : NULL;
}

/* Makes the record of that name the one that is appended to. Negative errno. */
static int select_record(const char *name, access_weight weight)
{
    if (NULL == name)
        return -ENOMEM;
    if (NULL != recorder.file && record_file_is(recorder.file, name, weight))
        return 0;
    if (NULL != recorder.file)
        end_record();
    const record_origin origin = {program_invocation_short_name, tatp_job_id(), weight,
                                  tatp_job_started()};
    return record_file_open(&recorder.file, name, &origin);
}

int tatp_record_check(const char *path, access_weight weight)
{
    static bool reported; /* once a process, not for every file */
    char *name = name_record(path);
    OPAL_THREAD_LOCK(&record_lock);
    int rc = select_record(name, weight);
    if (0 != rc && !reported) {
        tatp_show_help("record-check", NULL != name ? name : path, record_file_reason(rc));
        reported = true;
    }
    OPAL_THREAD_UNLOCK(&record_lock);
    free(name);
    if (0 == rc)
        register_at_finalize();
    return 0 != rc ? MPI_ERR_ACCESS : OMPI_SUCCESS;
}

bool tatp_record_begins(access_weight weight)
{
    int rc = 0;
    bool begins = NULL != tatp_record_cache_place();
    if (begins) {
        char *name = name_record(TATP_RECORD_AUTOMATIC);
        OPAL_THREAD_LOCK(&record_lock);
        rc = select_record(name, weight);
        recorder.is_automatic = 0 == rc;
        OPAL_THREAD_UNLOCK(&record_lock);
        free(name);
    }
    if (0 != rc)
        tatp_record_cache_refuse(rc);
    register_at_finalize();
    return begins && 0 == rc;
}

static int append_to_record(const tatp_record_options *options, const char *file,
                            const record_entry *entry, int64_t times, bool new_file)
{
    char *name = name_record(options->path);
    int rc = select_record(name, options->weight);
    recorder.is_automatic = 0 == rc && tatp_record_is_automatic(options->path);
    if (0 == rc)
        rc = record_file_add(recorder.file, NULL != file ? file : "", entry, times, new_file);
    else
        tatp_show_help("record", options->path, record_file_reason(rc));
    free(name);
    return rc;
}

void tatp_record_append(const tatp_record_options *options, const char *file,
                        const record_entry *entry, int64_t times, bool new_file)
{
    OPAL_THREAD_LOCK(&record_lock);
    int rc = append_to_record(options, file, entry, times, new_file);
    recorder.unwritten = true;
    if (0 != rc)
        recorder.error = tatp_from_errno(rc);
    OPAL_THREAD_UNLOCK(&record_lock);
}

void tatp_record_set_error(int rc)
{
    OPAL_THREAD_LOCK(&record_lock);
    recorder.unwritten = true;
    recorder.error = rc;
    OPAL_THREAD_UNLOCK(&record_lock);
}
