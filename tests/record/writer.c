/* SPDX-License-Identifier: BSD-3-Clause */
/* A writer: a process of a run that adds to the record, and writes, once or several times. */
#include "history.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "record/record_file.h"

void name_record(const struct history *h, char *path, size_t capacity)
{
    snprintf(path, capacity, "%s/view.crs", h->dir);
}

/* Addition `number` of a writer is one byte in a bin of its own. */
static int add_one(record_file *file, int ranks, int writer, int number)
{
    matrix_entry neighbour[] = {{0, 1, 1}, {1, 0, 1}};
    matrix_entry byte = {0, (size_t)(writer * ADDITIONS + number), 1};
    record_entry entry = {.pattern = {.unit = 64}, .accessed = 1};
    int rc = matrix_from_entries(&entry.view, (size_t)ranks, (size_t)ranks, neighbour, 2);
    if (rc == 0)
        rc = matrix_from_entries(&entry.bytes, (size_t)ranks, WRITERS * ADDITIONS, &byte, 1);
    if (rc == 0)
        rc = record_file_add(file, "out.dat", &entry, 1, false);
    record_entry_release(&entry);
    return rc;
}

static void fail(struct writer *w, const char *what)
{
    w->failure = what;
    w->done = true;
    sem_post(&present->stopped);
    _exit(1);
}

/* Only the lock may be late. Returns false if another run has the file. */
static bool write_all(struct writer *w, record_file *file, bool until_done)
{
    record_news news;
    int rc;
    do
        rc = record_file_write(file, &news);
    while (until_done && rc == -ETIMEDOUT);
    if (rc == 0)
        note_event(ENDED, news.is_first);
    else if (rc == -EALREADY)
        note_event(REFUSED, news.is_first);
    else if (rc != -ETIMEDOUT)
        fail(w, "a write failed");
    return rc != -EALREADY;
}

_Noreturn void run_writer(struct history *h, int writer)
{
    struct writer *w = &h->writer[writer];
    char path[96], run[16];
    record_file *file;
    present = h;
    present_writer = writer;
    name_record(h, path, sizeof path);
    snprintf(run, sizeof run, "run%d", w->run);
    const record_origin origin = {"program", run, 0, ""};
    int rc;
    do
        rc = record_file_open(&file, path, &origin);
    while (rc == -ETIMEDOUT);
    if (rc != 0)
        fail(w, "the file cannot be opened");
    bool records = true;
    for (int k = 0; k < w->additions && records; k++) {
        if (add_one(file, h->ranks[w->run], writer, k) != 0)
            fail(w, "an addition failed");
        w->added = k + 1;
        records = write_all(w, file, k + 1 == w->additions);
    }
    note_event(FINISHED, false);
    record_file_free(file);
    w->done = true;
    sem_post(&h->stopped);
    _exit(0);
}
