/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf */
#include "record/record_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/record_store.h"

/* Stamps that no record has: there was none; it could not be read. */
enum { NO_RECORD = -1, UNREADABLE = -2 };

/* The view file's matrix is in the builder. */
typedef struct addition {
    matrix_builder view;
    view_file profile;
    record_totals totals;
} addition;

struct record_file {
    char program[RECORD_MOST_NAME + 1], run[RECORD_MOST_NAME + 1];
    access_weight weight;
    int64_t started;
    char *path, *place;
    size_t number;                      /* of the name in use, from 0 */
    int64_t earlier[RECORD_FILE_NAMES]; /* stamps of what was there at first */
    addition all, fresh;                /* all that was added; of this, what is not in the file */
    int64_t began;   /* stamp of the run when this process wrote last; 0: it did not */
    int64_t written; /* stamp of the version that this process wrote last */
    bool alone;      /* that version was `all`, and nothing else */
};

static void release_addition(addition *a)
{
    matrix_builder_clear(&a->view);
    view_file_release(&a->profile);
    memset(a, 0, sizeof *a);
}

void record_entry_release(record_entry *entry)
{
    matrix_release(&entry->view);
    matrix_release(&entry->bytes);
    memset(entry, 0, sizeof *entry);
}

void record_file_free(record_file *file)
{
    if (file == NULL)
        return;
    release_addition(&file->all);
    release_addition(&file->fresh);
    free(file->path);
    free(file->place);
    free(file);
}

bool record_file_is(const record_file *file, const char *path, access_weight weight)
{
    return strcmp(file->path, path) == 0 && file->weight == weight;
}

const char *record_file_path(const record_file *file)
{
    return file->path;
}

const char *record_file_place(const record_file *file)
{
    return file->place;
}

record_totals record_file_totals(const record_file *file)
{
    return file->all.totals;
}

const char *record_file_reason(int rc)
{
    switch (rc) {
    case -EEXIST: return "it holds something other than a record";
    case -EINVAL: return "it is neither a regular file nor a symbolic link to one";
    case -EBADMSG: return "the record in it is damaged";
    case -ETIMEDOUT: return "another process keeps it locked";
    case -ENOTUNIQ: return "its name with .new or ~ is that of another file";
    case -EBUSY: return "other programs record into it, and into the names .2 to .9";
    default: return strerror(-rc);
    }
}

/* ---- names ---- */

static char *numbered_name(const char *path, size_t number)
{
    char *name;
    int length =
        number == 0 ? asprintf(&name, "%s", path) : asprintf(&name, "%s.%zu", path, number + 1);
    return length < 0 ? NULL : name;
}

static int read_header(int fd, record_header *header)
{
    char *text = malloc(RECORD_HEADER_BYTES + 1);
    long length = text == NULL ? -ENOMEM : record_store_read(fd, text, RECORD_HEADER_BYTES);
    int rc = length < 0 ? (int)length : 0;
    if (rc == 0) {
        text[length] = '\0';
        rc = record_header_parse(header, text, (size_t)length);
    }
    free(text);
    return rc;
}

/* The stamp of the record of that name. */
static int read_stamp(const char *path, int64_t *stamp)
{
    char *target;
    record_header header;
    int rc = record_store_resolve(path, &target);
    if (rc != 0)
        return rc;
    int fd = record_store_open(target);
    free(target);
    if (fd == -ENOENT) {
        *stamp = NO_RECORD;
        return 0;
    }
    rc = fd < 0 ? fd : read_header(fd, &header);
    if (rc == 0)
        *stamp = header.runs > 0 ? header.written : NO_RECORD;
    if (fd >= 0)
        close(fd);
    return rc;
}

/* What is there under the other names matters only if they come into use. */
static int look_at_names(record_file *file)
{
    for (size_t n = 0; n < RECORD_FILE_NAMES; n++) {
        char *name = numbered_name(file->path, n);
        if (name == NULL)
            return -ENOMEM;
        int rc = read_stamp(name, &file->earlier[n]);
        free(name);
        if (rc != 0 && n == 0)
            return rc;
        if (rc != 0)
            file->earlier[n] = UNREADABLE;
    }
    return 0;
}

static int check_place(const char *path)
{
    char *target;
    int rc = record_store_resolve(path, &target);
    if (rc != 0)
        return rc;
    rc = record_store_check(target);
    free(target);
    return rc;
}

int record_file_open(record_file **file, const char *path, const record_origin *origin)
{
    record_file *f = calloc(1, sizeof *f);
    if (f == NULL)
        return -ENOMEM;
    record_header_copy_name(f->program, origin->program);
    record_header_copy_name(f->run, origin->run);
    f->weight = origin->weight;
    f->started = origin->started;
    f->path = strdup(path);
    f->place = strdup(path);
    int rc = f->path == NULL || f->place == NULL ? -ENOMEM : look_at_names(f);
    if (rc == 0)
        rc = check_place(path);
    if (rc != 0)
        record_file_free(f);
    else
        *file = f;
    return rc;
}

static int use_next_name(record_file *file)
{
    size_t number = file->number + 1;
    while (number < RECORD_FILE_NAMES && file->earlier[number] == UNREADABLE)
        number++;
    if (number == RECORD_FILE_NAMES)
        return -EBUSY;
    char *name = numbered_name(file->path, number);
    if (name == NULL)
        return -ENOMEM;
    free(file->place);
    file->place = name;
    file->number = number;
    file->began = file->written = 0;
    return 0;
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

/* The totals of several accesses. -ERANGE. */
static int multiply_totals(const record_totals *one, int64_t times, record_totals *all)
{
    *all = (record_totals){.accesses = times};
    return __builtin_mul_overflow(one->bytes, times, &all->bytes) ||
                   __builtin_mul_overflow(one->independent, times, &all->independent) ||
                   __builtin_mul_overflow(one->missed, times, &all->missed)
               ? -ERANGE
               : 0;
}

static int add_entry(addition *a, const access_pattern *pattern, const record_entry *entry,
                     int64_t times)
{
    a->view.rows = a->view.cols = entry->view.rows;
    int rc = matrix_builder_add_matrix(&a->view, &entry->view, times);
    if (rc == 0 && entry->bytes.rows > 0)
        rc = view_file_add_calls(&a->profile, pattern, &entry->bytes, times);
    return rc;
}

int record_file_add(record_file *file, const char *name, const record_entry *entry, int64_t times,
                    bool new_file)
{
    record_totals more, sum = file->all.totals;
    access_pattern pattern = entry->pattern;
    pattern.file = (char *)name;
    if (file->all.view.rows > 0 && file->all.view.rows != entry->view.rows)
        return -EINVAL;
    if (entry->bytes.rows > 0 && end_of_bins(entry) > RECORD_FILE_MOST_OFFSET)
        return -ERANGE;
    int rc = multiply_totals(&entry->totals, times, &more);
    more.files = new_file;
    if (rc == 0)
        rc = record_totals_add(&sum, &more);
    if (rc == 0)
        rc = add_entry(&file->all, &pattern, entry, times);
    if (rc == 0)
        rc = add_entry(&file->fresh, &pattern, entry, times);
    if (rc != 0)
        return rc;
    file->all.totals = sum;
    return record_totals_add(&file->fresh.totals, &more);
}

/* ---- writing, with the lock held ---- */

/* What becomes of the present version. */
enum step {
    KEEP,      /* it has everything */
    ELSEWHERE, /* it is another program's */
    REPLACE,   /* `all` takes its place */
    ADD_FRESH,
    ADD_ALL
};

static bool is_comparable(const record_file *file, const record_header *h)
{
    return h->ranks == file->all.view.rows && h->weight == file->weight;
}

/* This run in the record, or NULL. */
static const record_run *find_own(const record_file *file, const record_header *h)
{
    return is_comparable(file, h) ? record_header_find(h, file->run) : NULL;
}

static enum step choose_step(const record_file *file, const record_header *h)
{
    const record_run *same = record_header_find(h, file->run);
    const record_run *own = is_comparable(file, h) ? same : NULL;
    bool is_earlier =
        h->written == file->earlier[file->number] && (same == NULL || same->began < file->started);
    if (h->runs == 0 || is_earlier)
        return REPLACE;
    if (own == NULL)
        return is_comparable(file, h) && strcmp(h->program, file->program) == 0 &&
                       h->runs < RECORD_MOST_RUNS
                   ? ADD_ALL
                   : ELSEWHERE;
    if (own->began != file->began)
        return ADD_ALL;
    if (file->fresh.view.rows == 0)
        return KEEP;
    return file->alone && h->written == file->written ? REPLACE : ADD_FRESH;
}

static int read_version(int fd, view_file *record)
{
    matrix_error error;
    int copy = dup(fd);
    FILE *stream = copy < 0 ? NULL : fdopen(copy, "r");
    if (stream == NULL) {
        int rc = -errno;
        if (copy >= 0)
            close(copy);
        return rc;
    }
    rewind(stream);
    int rc = view_file_read(stream, record, &error);
    fclose(stream);
    return rc;
}

static int merge_addition(view_file *record, addition *a)
{
    view_file more = a->profile;
    int rc = matrix_builder_finish(&a->view, &more.view);
    if (rc == 0)
        rc = view_file_add(record, &more);
    matrix_release(&more.view);
    return rc == -EINVAL ? -EBADMSG : rc;
}

/* Turns the header of the present version into that of the next one. */
static int update_header(const record_file *file, enum step step, record_header *h)
{
    const record_run *own = find_own(file, h);
    bool is_new = own == NULL || step == REPLACE;
    bool is_known = own != NULL && (step != REPLACE || own->began >= file->started);
    int64_t stamp = record_header_next_stamp(h), began = is_known ? own->began : stamp;
    if (step == REPLACE) {
        *h = (record_header){.ranks = file->all.view.rows, .weight = file->weight};
        strcpy(h->program, file->program);
    }
    h->written = stamp;
    if (is_new) {
        strcpy(h->run[h->runs].name, file->run);
        h->run[h->runs++].began = began;
    }
    return record_totals_add(&h->totals,
                             step == ADD_FRESH ? &file->fresh.totals : &file->all.totals);
}

/* A stream in memory fails only without memory. */
static char *format_record(const view_file *record, size_t *length, int *rc)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    int written = stream == NULL ? -EIO : view_file_write(stream, record);
    if (stream != NULL && fclose(stream) != 0)
        written = -EIO;
    *rc = written == -EIO ? -ENOMEM : written;
    return text;
}

/* Puts the next version in place; *h becomes its header. */
static int write_version(record_file *file, const char *target, int fd, enum step step,
                         record_header *h)
{
    view_file record = {0};
    size_t length = 0;
    char *text = NULL;
    int rc = step == REPLACE ? 0 : read_version(fd, &record);
    if (rc == 0)
        rc = merge_addition(&record, step == ADD_FRESH ? &file->fresh : &file->all);
    if (rc == 0)
        rc = update_header(file, step, h);
    free(record.comments);
    record.comments = rc == 0 ? record_header_format(h) : NULL;
    if (rc == 0 && record.comments == NULL)
        rc = -ENOMEM;
    if (rc == 0)
        text = format_record(&record, &length, &rc);
    view_file_release(&record);
    if (rc == 0)
        rc = record_store_put(target, fd, text, length);
    free(text);
    return rc;
}

/* What another program wrote, or one with another number of ranks, is not lost. */
static int keep_other(const record_file *file, const char *target, int fd, const record_header *h,
                      record_news *news)
{
    if (h->runs == 0 || (strcmp(h->program, file->program) == 0 && h->ranks == file->all.view.rows))
        return 0;
    news->kept_ranks = h->ranks;
    strcpy(news->kept_program, h->program);
    return record_store_keep(target, fd);
}

/* 1: to be done under the next name. fd is negative where there is no version. */
static int update_version(record_file *file, const char *target, int fd, record_news *news)
{
    record_header h = {0};
    int rc = fd < 0 ? 0 : read_header(fd, &h);
    if (rc != 0)
        return rc;
    bool is_new = find_own(file, &h) == NULL;
    enum step step = choose_step(file, &h);
    if (step == KEEP || step == ELSEWHERE)
        return step == ELSEWHERE;
    rc = step == REPLACE ? keep_other(file, target, fd, &h, news) : 0;
    if (rc == 0)
        rc = write_version(file, target, fd, step, &h);
    if (rc != 0)
        return rc;
    file->began = record_header_find(&h, file->run)->began;
    file->written = h.written;
    file->alone = step == REPLACE;
    release_addition(&file->fresh);
    news->elsewhere = is_new && file->number > 0;
    return 0;
}

/* -EAGAIN: there is a version by now. */
static int write_to_place(record_file *file, record_news *news)
{
    char *target;
    int rc = record_store_resolve(file->place, &target);
    if (rc != 0)
        return rc;
    int fd = record_store_lock(target);
    rc = fd < 0 && fd != -ENOENT ? fd : update_version(file, target, fd, news);
    if (fd >= 0)
        close(fd);
    free(target);
    return rc;
}

/* What is under a name with a number may be anybody's. */
static bool is_taken(const record_file *file, int rc)
{
    return rc == 1 || (file->number > 0 &&
                       (rc == -EEXIST || rc == -EISDIR || rc == -EINVAL || rc == -ENOTUNIQ));
}

int record_file_write(record_file *file, record_news *news)
{
    int rc = -EAGAIN;
    *news = (record_news){0};
    if (file->all.view.rows == 0)
        return 0;
    for (int tries = 0; rc == -EAGAIN && tries < 1000; tries++) {
        rc = write_to_place(file, news);
        if (is_taken(file, rc)) {
            rc = use_next_name(file);
            rc = rc == 0 ? -EAGAIN : rc;
        }
    }
    return rc;
}
