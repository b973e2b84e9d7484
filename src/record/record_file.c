/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* open_memstream with -std=c11 */
#include "record/record_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/record_store.h"

struct record_file {
    char *path;
    int64_t started;
    int version;          /* the last one that this process wrote, locked; -1: none */
    record_header header; /* of the run, with the totals of what was added */
    matrix_builder view;  /* what was added */
    view_file profile;    /* its matrix is in the builder */
};

void record_entry_release(record_entry *entry)
{
    matrix_release(&entry->view);
    matrix_release(&entry->bytes);
    free(entry->order);
    memset(entry, 0, sizeof *entry);
}

static void release_additions(record_file *file)
{
    matrix_builder_clear(&file->view);
    view_file_release(&file->profile);
    file->view = (matrix_builder){.rows = 0};
    file->header.totals = (record_totals){.files = 0};
}

void record_file_free(record_file *file)
{
    if (file == NULL)
        return;
    release_additions(file);
    if (file->version >= 0)
        close(file->version);
    free(file->path);
    free(file);
}

const char *record_file_path(const record_file *file)
{
    return file->path;
}

const char *record_file_reason(int rc)
{
    switch (rc) {
    case -EEXIST: return "it holds something other than a record";
    case -EINVAL: return "it is neither a regular file nor a symbolic link to one";
    case -EPERM: return "it, or its name with .new or ~, belongs to another user";
    case -EBADMSG: return "the record in it is damaged";
    case -ETIMEDOUT: return "another process keeps it locked";
    case -ENOTUNIQ: return "its name with .new or ~ is that of another file";
    default: return strerror(-rc);
    }
}

/* ---- opening ---- */

/* The present version for reading, and its header. -ENOENT: there is none, and the header is
 * zeroed. */
static int record_open_present(const record_store *store, record_header *header)
{
    int fd = record_store_open(store->file), rc;
    *header = (record_header){.ranks = 0};
    if (fd < 0)
        return fd;
    rc = record_header_read(header, fd);
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

static int check_place(const char *path)
{
    record_store store;
    record_header header;
    int rc = record_store_begin(&store, path);
    if (rc != 0)
        return rc;
    int fd = record_open_present(&store, &header);
    if (fd >= 0)
        close(fd);
    rc = fd < 0 && fd != -ENOENT ? fd : record_store_check_kept(&store);
    record_store_end(&store);
    return rc;
}

int record_file_open(record_file **file, const char *path, const record_origin *origin)
{
    record_file *f = calloc(1, sizeof *f);
    if (f == NULL)
        return -ENOMEM;
    record_header_copy_name(f->header.program, sizeof f->header.program, origin->program);
    record_header_copy_name(f->header.run, sizeof f->header.run, origin->run);
    record_header_copy_name(f->header.file, sizeof f->header.file, origin->file);
    f->started = origin->started;
    f->version = -1;
    f->path = strdup(path);
    int rc = f->path == NULL ? -ENOMEM : check_place(path);
    if (rc != 0)
        record_file_free(f);
    else
        *file = f;
    return rc;
}

/* ---- adding ---- */

static int64_t end_of_bins(const record_entry *entry)
{
    int64_t end;
    return __builtin_mul_overflow((int64_t)entry->bytes.cols, entry->pattern.unit, &end) ||
                   __builtin_add_overflow(end, entry->pattern.first, &end)
               ? INT64_MAX
               : end;
}

int record_file_add(record_file *file, const char *name, const record_entry *entry, int64_t times,
                    bool new_file)
{
    record_totals more = {.files = new_file, .accesses = times}, sum = file->header.totals;
    access_pattern pattern = entry->pattern;
    pattern.file = (char *)name;
    if (file->view.rows > 0 && file->view.rows != entry->view.rows)
        return -EINVAL;
    if (entry->bytes.rows > 0 && end_of_bins(entry) > RECORD_FILE_MOST_OFFSET)
        return -ERANGE;
    int rc = __builtin_mul_overflow(entry->accessed, times, &more.bytes)
                 ? -ERANGE
                 : record_totals_add(&sum, &more);
    if (rc != 0)
        return rc;
    file->header.ranks = file->view.rows = file->view.cols = entry->view.rows;
    rc = matrix_builder_add_matrix(&file->view, &entry->view, times);
    if (rc == 0 && entry->bytes.rows > 0)
        rc = view_file_add_calls(&file->profile, &pattern, &entry->bytes, times);
    if (rc == 0)
        rc = view_file_set_order(&file->profile, entry->order, entry->view.rows);
    if (rc == 0)
        file->header.totals = sum;
    return rc;
}

/* ---- writing ---- */

/* Whether another process of the run wrote the present version. */
static bool is_of_run(const record_file *file, int fd, const record_header *present)
{
    return present->ranks == file->header.ranks &&
           record_header_is_of_run(present, fd, file->header.run, file->started);
}

/* Whether the present version would be missed: it is that of another program or number of ranks. */
static bool is_of_another(const record_header *header, const record_header *present)
{
    return present->ranks > 0 &&
           (present->ranks != header->ranks || strcmp(present->program, header->program) != 0);
}

/* fd: of the present version, which is closed. */
static int record_read_version(int fd, view_file *record)
{
    matrix_error error;
    FILE *stream = fdopen(fd, "r");
    if (stream == NULL) {
        close(fd);
        return -ENOMEM;
    }
    int rc = view_file_read(stream, record, &error);
    fclose(stream);
    return rc;
}

static int add_additions(view_file *record, record_file *file)
{
    view_file more = file->profile;
    int rc = matrix_builder_finish(&file->view, &more.view);
    if (rc == 0)
        rc = view_file_add(record, &more);
    matrix_release(&more.view);
    return rc == -EINVAL ? -EBADMSG : rc;
}

/* A stream in memory fails only without memory. */
static int format_record(const view_file *record, char **text, size_t *length)
{
    FILE *stream = open_memstream(text, length);
    int rc = stream == NULL ? -EIO : view_file_write(stream, record);
    if (stream != NULL && fclose(stream) != 0)
        rc = -EIO;
    return rc == -EIO ? -ENOMEM : rc;
}

/* Puts what was added, and what is in the record, in place as the next version. */
static int commit_record(record_file *file, record_store *store, view_file *record,
                         const record_header *header, bool keep)
{
    size_t length = 0;
    char *text = NULL;
    int rc = add_additions(record, file);
    free(record->comments);
    record->comments = rc == 0 ? record_header_format(header) : NULL;
    if (rc == 0)
        rc = record->comments == NULL ? -ENOMEM : format_record(record, &text, &length);
    if (rc == 0)
        rc = record_store_commit(store, text, length, keep);
    free(text);
    return rc;
}

static int record_write_version(record_file *file, record_store *store, record_news *news)
{
    record_header header = file->header;
    view_file record = {0};
    int fd = record_open_present(store, &news->before), rc = 0;
    if (fd < 0 && fd != -ENOENT)
        return fd;
    news->is_first = !is_of_run(file, fd, &news->before);
    if (!news->is_first) {
        rc = record_read_version(fd, &record);
        rc = rc != 0 ? rc : record_totals_add(&header.totals, &news->before.totals);
    } else {
        if (file->version >= 0 || (fd >= 0 && record_header_is_held(fd)))
            rc = -EALREADY;
        if (fd >= 0)
            close(fd);
    }
    news->keeps = news->is_first && is_of_another(&header, &news->before);
    if (rc == 0)
        rc = commit_record(file, store, &record, &header, news->keeps);
    view_file_release(&record);
    return rc;
}

int record_file_write(record_file *file, record_news *news)
{
    record_store store;
    *news = (record_news){.is_first = false};
    if (file->view.rows == 0)
        return 0;
    int rc = record_store_begin(&store, file->path);
    if (rc != 0)
        return rc;
    rc = record_write_version(file, &store, news);
    if (rc == 0) {
        int before = file->version;
        file->version = store.fd;
        store.fd = before;
        release_additions(file);
    }
    record_store_end(&store);
    return rc;
}
