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
    rc = cache_key_make(&executed, ranks, key, NULL);
    free(file);
    return rc;
}

static int open_stream(int folder, const cache_key *key, bool used, FILE **stream)
{
    int fd = cache_open_record(folder, key, used);
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
    int rc = open_stream(a->folder, &a->key, true, &a->record);
    return rc != 0 ? rc : cache_record_path(&a->key, &a->path);
}

/* ---- other arguments ---- */

static int read_view(int folder, const cache_key *key, view_file *file)
{
    matrix_error error;
    FILE *stream;
    int rc = open_stream(folder, key, false, &stream);
    if (rc != 0)
        return rc;
    rc = view_file_read(stream, file, &error);
    fclose(stream);
    return rc;
}

/* The views may differ by a factor: more steps, or larger pieces. */
static bool have_same_view(int folder, const cache_key key[2])
{
    view_file a, b;
    if (read_view(folder, &key[0], &a) != 0)
        return false;
    bool same = read_view(folder, &key[1], &b) == 0;
    if (same) {
        same = matrix_equals(&a.view, b.view.value[0], &b.view, a.view.value[0]);
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
        if (strncmp(entry[i].key.text, a->key.text, CACHE_PROGRAM_LENGTH) == 0)
            other[found++] = entry[i].key;
    free(entry);
    if (found < 2 || !have_same_view(a->folder, other))
        return -ENOENT;
    a->key = other[0];
    return open_record(a);
}

int dla_automatic_open(dla_automatic *a, const dla_program *program, size_t ranks)
{
    *a = (dla_automatic){.folder = -1};
    int rc = make_key(program, ranks, &a->key);
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
