/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process adds to the record file, and when it does: when a file is closed, or later. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "ompi/compat/compat.h"
#include "ompi/compat/compat.h"

#include "record/record_file.h"

/* Writing takes at most this part of the time. */
#define PART_OF_TIME 20

/* Guards all that follows: threads may close several files at the same time. */
static opal_mutex_t record_lock = OPAL_MUTEX_STATIC_INIT;

/* Not written yet. */
static struct {
    bool any;
    char *path;
    access_weight weight;
    int error; /* an OMPI or MPI error code: why something is missing */
    record_addition addition;
} unwritten;

static struct {
    record_file file;
    double at, cost; /* seconds */
} last_write;

size_t tatp_record_world_size(void)
{
    return (size_t)ompi_process_info.num_procs;
}

void tatp_record_entry_release(tatp_record_entry *entry)
{
    matrix_release(&entry->view);
    matrix_release(&entry->bytes);
    memset(entry, 0, sizeof *entry);
}

/* ---- appending ---- */

static void expect_write(const tatp_record_options *options)
{
    unwritten.any = true;
    unwritten.weight = options->weight;
    if (NULL == unwritten.path)
        unwritten.path = strdup(options->path);
}

static void set_record_error(int rc)
{
    if (OMPI_SUCCESS == unwritten.error)
        unwritten.error = rc;
}

void tatp_record_set_error(const tatp_record_options *options, int rc)
{
    OPAL_THREAD_LOCK(&record_lock);
    expect_write(options);
    set_record_error(rc);
    OPAL_THREAD_UNLOCK(&record_lock);
}

static int add_entry(const char *file, const tatp_record_entry *entry, int64_t times)
{
    record_addition *addition = &unwritten.addition;
    access_pattern pattern = entry->pattern;
    addition->view.rows = addition->view.cols = tatp_record_world_size();
    int rc =
        entry->view.rows > 0 ? matrix_builder_add_matrix(&addition->view, &entry->view, times) : 0;
    pattern.file = (char *)(NULL != file ? file : "");
    if (rc == 0 && entry->bytes.rows > 0)
        rc = view_file_add_calls(&addition->profile, &pattern, &entry->bytes, times);
    return rc;
}

void tatp_record_append(const tatp_record_options *options, const char *file,
                        const tatp_record_entry *entry, int64_t times, bool new_file)
{
    record_totals *totals = &unwritten.addition.totals;
    OPAL_THREAD_LOCK(&record_lock);
    int rc = add_entry(file, entry, times);
    expect_write(options);
    totals->files += new_file;
    totals->accesses += times;
    totals->bytes += entry->moved * times;
    totals->independent += entry->independent ? entry->moved * times : 0;
    totals->missed += entry->missed * times;
    if (rc != 0)
        set_record_error(tatp_from_errno(rc));
    OPAL_THREAD_UNLOCK(&record_lock);
}

/* ---- writing ---- */

static void write_unwritten(void)
{
    double begin = MPI_Wtime();
    const record_origin origin = {program_invocation_short_name, tatp_job_id(),
                                  tatp_record_world_size(), unwritten.weight};
    int rc = 0;
    if (unwritten.addition.view.rows > 0)
        rc = record_file_add(&last_write.file, unwritten.path, &origin, &unwritten.addition);
    if (rc != 0)
        tatp_show_help("record", unwritten.path, strerror(-rc));
    else if (OMPI_SUCCESS != unwritten.error)
        tatp_show_help("record-part", unwritten.path,
                       unwritten.error == OMPI_ERR_OUT_OF_RESOURCE
                           ? strerror(ENOMEM)
                           : "a part of it could not be collected");
    record_addition_release(&unwritten.addition);
    free(unwritten.path);
    memset(&unwritten, 0, sizeof unwritten);
    last_write.at = MPI_Wtime();
    last_write.cost = last_write.at - begin;
}

static void flush_record(bool at_finalize)
{
    OPAL_THREAD_LOCK(&record_lock);
    if (unwritten.any && NULL != unwritten.path &&
        (at_finalize || MPI_Wtime() - last_write.at >= PART_OF_TIME * last_write.cost))
        write_unwritten();
    if (at_finalize)
        record_file_release(&last_write.file);
    OPAL_THREAD_UNLOCK(&record_lock);
}

static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)state;
    flush_record(true);
    return MPI_SUCCESS;
}

/* Open MPI 4.1 does not close fcoll components in MPI_Finalize, which deletes the attributes of
 * MPI_COMM_SELF before anything else. */
static void register_at_finalize(void)
{
    static bool registered;
    int keyval;
    if (!registered && MPI_SUCCESS == MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN,
                                                             delete_attribute, &keyval, NULL))
        registered = MPI_SUCCESS == MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &last_write);
}

void tatp_record_flush(void)
{
    if (unwritten.any)
        register_at_finalize();
    flush_record(false);
}

int tatp_record_check(const char *path)
{
    static bool reported; /* once a process, not for every file */
    int rc = record_file_check(path);
    if (rc != 0 && !reported) {
        tatp_show_help("record-check", path, strerror(-rc));
        reported = true;
    }
    return rc != 0 ? MPI_ERR_ACCESS : OMPI_SUCCESS;
}
