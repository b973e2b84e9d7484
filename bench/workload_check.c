/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a workload: those of each offset of the file, for several fillings. */
#include "workload.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLICE ((int64_t)1 << 20) /* bytes compared at a time */

typedef void (*visit_piece)(void *context, const step *s, const access_piece *piece);

/* Each contiguous piece of each step, with its offset in the file. */
static void visit_pieces(const workload *w, visit_piece visit, void *context)
{
    access_list list = {0};
    for (size_t i = 0; i < w->step_count; i++) {
        access_cursor cursor;
        access_piece piece;
        access_clear(&list);
        workload_extents(&w->steps[i], &list);
        access_cursor_init(&cursor, &list);
        while (access_take_piece(&cursor, ACCESS_END, &piece))
            visit(context, &w->steps[i], &piece);
    }
    access_release(&list);
}

typedef struct filler {
    char *data;
    uint64_t filling;
} filler;

static void fill_piece(void *context, const step *s, const access_piece *piece)
{
    const filler *f = context;
    fill_bytes(f->data + s->buffer + piece->stream, piece->offset, piece->length, f->filling);
}

void workload_fill(const workload *w, uint64_t filling)
{
    visit_pieces(w, fill_piece, &(filler){w->data, filling});
}

bool workload_check_data(const workload *w, const char *who, uint64_t filling)
{
    char *wanted = take_memory((size_t)w->bytes, 1);
    visit_pieces(w, fill_piece, &(filler){wanted, filling});
    bool right = check_bytes(who, "buffer", w->data, wanted, w->bytes, 0);
    free(wanted);
    return right;
}

void workload_spoil_file(const workload *w, const char *path, uint64_t filling)
{
    MPI_Barrier(MPI_COMM_WORLD);
    char *bytes = take_memory((size_t)SLICE, 1);
    int fd = file_open(path, O_CREAT | O_WRONLY);
    int64_t end = slab_start(w->end, w->rank + 1, w->ranks);
    for (int64_t at = slab_start(w->end, w->rank, w->ranks); at < end; at += SLICE) {
        int64_t some = end - at < SLICE ? end - at : SLICE;
        fill_bytes(bytes, at, some, filling);
        file_write(fd, bytes, (size_t)some, at);
    }
    close(fd);
    free(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

typedef struct writer {
    const workload *w;
    int fd;
} writer;

static void write_piece(void *context, const step *s, const access_piece *piece)
{
    const writer *to = context;
    file_write(to->fd, to->w->data + s->buffer + piece->stream, (size_t)piece->length,
               piece->offset);
}

/* The file as it has to be, written by POSIX calls of each rank. */
static void write_model(const workload *w, const char *path, uint64_t old, uint64_t filling)
{
    workload_spoil_file(w, path, old);
    workload_fill(w, filling);
    writer to = {w, file_open(path, O_WRONLY)};
    visit_pieces(w, write_piece, &to);
    close(to.fd);
    MPI_Barrier(MPI_COMM_WORLD);
}

static bool same_size(int fd, const workload *w, const char *who)
{
    struct stat status;
    bool right = fstat(fd, &status) == 0 && status.st_size == (off_t)w->end;
    if (!right)
        fprintf(stderr, "%s: %s: rank %d: the file has the wrong size\n", program_name(), who,
                world_rank);
    return right;
}

bool workload_check_file(const workload *w, const char *path, const char *who, uint64_t old,
                         uint64_t filling)
{
    char model[4096];
    snprintf(model, sizeof model, "%s.model", path);
    write_model(w, model, old, filling);
    int fds[2] = {file_open(path, O_RDONLY), file_open(model, O_RDONLY)};
    char *got = take_memory((size_t)SLICE, 1), *wanted = take_memory((size_t)SLICE, 1);
    int64_t end = slab_start(w->end, w->rank + 1, w->ranks);
    bool right = same_size(fds[0], w, who);
    for (int64_t at = slab_start(w->end, w->rank, w->ranks); right && at < end; at += SLICE) {
        int64_t some = end - at < SLICE ? end - at : SLICE;
        file_read(fds[0], got, (size_t)some, at);
        file_read(fds[1], wanted, (size_t)some, at);
        right = check_bytes(who, "file", got, wanted, some, at);
    }
    close(fds[0]);
    close(fds[1]);
    free(got);
    free(wanted);
    remove_file(model);
    return right;
}
