/* SPDX-License-Identifier: BSD-3-Clause */
#include "dla/automatic.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "matrix/view_file.h"

/* ---- the record ---- */

static int make_key(const dla_program *program, size_t ranks, cache_key *key)
{
    cache_program executed = {NULL, program->argument, program->folder};
    char *file;
    int rc = cache_find_program(program->name, program->folder, getenv("PATH"), &file);

    if (rc != 0)
        return rc;
    executed.file = file;
    rc = cache_key_make(&executed, ranks, key);
    free(file);
    return rc;
}

static int open_stream(int folder, const cache_key *key, FILE **stream)
{
    int fd = cache_open_record(folder, key);

    if (fd < 0)
        return fd;
    *stream = fdopen(fd, "r");
    if (*stream != NULL)
        return 0;
    close(fd);
    return -ENOMEM;
}

static int open_record(dla_automatic *a)
{
    char *folder = NULL;
    int rc = open_stream(a->folder, &a->key, &a->record);

    if (rc != 0)
        return rc;
    rc = cache_path(&folder);
    if (rc == 0)
        a->path = cache_record_path(folder, &a->key);
    free(folder);
    return rc == 0 && a->path == NULL ? -ENOMEM : rc;
}

/* ---- other arguments ---- */

static int read_view(int folder, const cache_key *key, view_file *file)
{
    matrix_error error;
    FILE *stream;
    int rc = open_stream(folder, key, &stream);

    if (rc != 0)
        return rc;
    rc = view_file_read(stream, file, &error);
    fclose(stream);
    return rc;
}

/* Apart from a factor: more steps, or larger pieces. */
static bool are_alike(const matrix *a, const matrix *b)
{
    size_t entries = matrix_entries(a);
    bool alike = a->rows == b->rows && entries == matrix_entries(b);

    for (size_t row = 0; alike && row <= a->rows; row++)
        alike = a->row_start[row] == b->row_start[row];
    for (size_t i = 0; alike && i < entries; i++)
        alike = a->col[i] == b->col[i] && (double)a->value[i] * (double)b->value[0] ==
                                              (double)b->value[i] * (double)a->value[0];
    return alike;
}

static bool have_same_view(int folder, const cache_key key[2])
{
    view_file a, b;
    bool same;

    if (read_view(folder, &key[0], &a) != 0)
        return false;
    same = read_view(folder, &key[1], &b) == 0;
    if (same) {
        same = are_alike(&a.view, &b.view);
        view_file_release(&b);
    }
    view_file_release(&a);
    return same;
}

static int open_other_record(dla_automatic *a)
{
    cache_key other[2];
    cache_entry *entry;
    size_t count, found = 0;
    int rc = cache_list(a->folder, &entry, &count);

    if (rc != 0)
        return rc;
    for (size_t i = 0; i < count && found < 2; i++)
        if (entry[i].recorded != 0 &&
            strncmp(entry[i].key.text, a->key.text, CACHE_PROGRAM_LENGTH) == 0)
            other[found++] = entry[i].key;
    free(entry);
    if (found < 2 || !have_same_view(a->folder, other))
        return -ENOENT;
    a->key = other[0];
    return open_record(a);
}

int dla_automatic_open(dla_automatic *a, const dla_program *program, size_t ranks)
{
    int rc;

    *a = (dla_automatic){.folder = -1};
    rc = make_key(program, ranks, &a->key);
    if (rc == 0)
        rc = a->folder = cache_open(false);
    if (rc >= 0)
        rc = open_record(a);
    if (rc == -ENOENT && a->folder >= 0)
        rc = open_other_record(a);
    if (rc != 0)
        dla_automatic_close(a);
    return rc;
}

void dla_automatic_close(dla_automatic *a)
{
    if (a->record != NULL)
        fclose(a->record);
    if (a->folder >= 0)
        close(a->folder);
    free(a->path);
    *a = (dla_automatic){.folder = -1};
}

void dla_automatic_remove(dla_automatic *a)
{
    (void)cache_remove(a->folder, &a->key);
}

/* ---- its runs ---- */

/* What cannot be written is found out again at the next launch. */
static void note_verdict(dla_automatic *a, cache_runs *runs, cache_verdict verdict,
                         uint64_t mapping)
{
    cache_mark mark = verdict == CACHE_DROP ? CACHE_DROPPED : CACHE_PLACED;

    if ((verdict != CACHE_PLACE && verdict != CACHE_DROP) ||
        cache_runs_has_mark(runs, mark, mapping))
        return;
    cache_runs_set_mark(runs, mark, mapping);
    (void)cache_write_runs(a->folder, &a->key, runs);
}

int dla_automatic_judge(dla_automatic *a, const dla_job *job, const size_t *by_slot,
                        const size_t *node_of_rank, cache_verdict *verdict,
                        cache_comparison *comparison)
{
    uint64_t placed, stock;
    cache_runs runs;
    int rc = cache_mapping(node_of_rank, job->ranks, job->nodes, &placed);

    if (rc == 0)
        rc = cache_mapping(by_slot, job->ranks, job->nodes, &stock);
    if (rc != 0)
        return rc;
    /* without statistics nothing speaks against the placement */
    rc = cache_read_runs(a->folder, &a->key, &runs);
    *verdict = cache_runs_judge(&runs, placed, stock, comparison);
    if (rc == 0)
        note_verdict(a, &runs, *verdict, placed);
    return 0;
}
