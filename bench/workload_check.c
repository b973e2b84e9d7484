/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a workload: those of each offset of the file, for several fillings. */
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLICE ((int64_t)1 << 20) /* bytes written at a time */
enum { REST = 0xa5 };

/* Where a step is in the file; its stream begins at 0. */
static void list_step(const step *s, access_list *list)
{
    access_clear(list);
    if (access_append_slice(list, &s->layout->extents, s->within, s->within + s->bytes, s->base) !=
        0)
        fail("memory", strerror(ENOMEM));
}

static void fill_data(const workload *w, char *data, uint64_t filling)
{
    access_list list = {0};
    access_cursor cursor;
    bool halo = w->data_bytes > w->bytes;
    char *stream = halo ? take_memory((size_t)w->bytes, 1) : data;
    for (size_t i = 0; i < w->step_count; i++) {
        list_step(&w->steps[i], &list);
        fill_list(&list, stream + w->steps[i].buffer, 0, filling);
    }
    access_release(&list);
    if (!halo)
        return;
    access_cursor_init(&cursor, &w->own.memory);
    (void)access_scatter(&cursor, ACCESS_END, data, 0, stream, w->bytes);
    free(stream);
}

void workload_fill(workload *w, uint64_t filling)
{
    w->filling = filling;
    fill_data(w, w->data, filling);
}

void workload_spoil(workload *w)
{
    memset(w->data, REST, (size_t)w->data_bytes);
}

bool workload_check_data(const workload *w, const char *who)
{
    char *wanted = take_memory((size_t)w->data_bytes, 1);
    memset(wanted, REST, (size_t)w->data_bytes);
    fill_data(w, wanted, w->filling);
    bool right = check_bytes(who, "buffer", w->data, wanted, w->data_bytes, 0);
    free(wanted);
    return right;
}

bool workload_is_dense(const workload *w)
{
    return w->all_bytes == w->end;
}

void workload_spoil_file(const workload *w, const char *path, uint64_t filling)
{
    MPI_Barrier(MPI_COMM_WORLD);
    char *bytes = take_memory((size_t)SLICE, 1);
    int fd = file_open(path, O_CREAT | O_WRONLY);
    int64_t end = slab_start(w->end, world_rank + 1, world_size);
    for (int64_t at = slab_start(w->end, world_rank, world_size); at < end; at += SLICE) {
        int64_t some = end - at < SLICE ? end - at : SLICE;
        fill_bytes(bytes, at, some, filling);
        file_write(fd, bytes, (size_t)some, at);
    }
    close(fd);
    free(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The file as it has to be, written by POSIX calls of each rank. */
static void write_model(const workload *w, const char *path, uint64_t old)
{
    access_list list = {0};
    access_cursor cursor;
    access_piece piece;
    workload_spoil_file(w, path, old);
    int fd = file_open(path, O_WRONLY);
    for (size_t i = 0; i < w->step_count; i++) {
        const step *s = &w->steps[i];
        char *stream = take_memory((size_t)s->bytes, 1);
        list_step(s, &list);
        fill_list(&list, stream, 0, w->filling);
        access_cursor_init(&cursor, &list);
        while (access_take_piece(&cursor, ACCESS_END, &piece))
            file_write(fd, stream + piece.stream, (size_t)piece.length, piece.offset);
        free(stream);
    }
    access_release(&list);
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
}

bool workload_check_file(const workload *w, const char *who, uint64_t old)
{
    char model[4096];
    if (workload_is_dense(w))
        return check_file(w->run->file, who, w->end, w->filling, -1);
    snprintf(model, sizeof model, "%s.model", w->run->file);
    write_model(w, model, old);
    int fd = file_open(model, O_RDONLY);
    bool right = check_file(w->run->file, who, w->end, w->filling, fd);
    close(fd);
    remove_file(model);
    return right;
}
