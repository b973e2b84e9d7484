/* SPDX-License-Identifier: BSD-3-Clause */
/* Workloads of programs that call MPI-IO themselves. */
#include "workload.h"

#include <limits.h>
#include <stdlib.h>

typedef struct plain_file {
    MPI_File file;
    MPI_Info info;
} plain_file;

static void *plain_open(workload *w, const char *path, bool write)
{
    plain_file *f = take_memory(1, sizeof *f);
    int mode = write ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDONLY;
    f->info = make_hints(w->run);
    check_mpi(MPI_File_open(MPI_COMM_WORLD, path, mode, f->info, &f->file), path);
    return f;
}

static void plain_close(workload *w, void *file)
{
    plain_file *f = file;
    (void)w;
    check_mpi(MPI_File_close(&f->file), "MPI_File_close");
    MPI_Info_free(&f->info);
    free(f);
}

/* Whether the call transferred all bytes of the step. */
static bool complete(const step *s, MPI_Status *status)
{
    int count;
    MPI_Get_count(status, MPI_BYTE, &count);
    return count == s->bytes;
}

static bool transfer_alone(MPI_File f, const step *s, MPI_Offset at, char *data, bool write)
{
    MPI_Status status;
    if (s->bytes == 0)
        return true;
    check_mpi(write ? MPI_File_write_at(f, at, data, (int)s->bytes, MPI_BYTE, &status)
                    : MPI_File_read_at(f, at, data, (int)s->bytes, MPI_BYTE, &status),
              write ? "MPI_File_write_at" : "MPI_File_read_at");
    return complete(s, &status);
}

static bool transfer_at(MPI_File f, const step *s, MPI_Offset at, char *data, bool write)
{
    MPI_Status status;
    check_mpi(write ? MPI_File_write_at_all(f, at, data, (int)s->bytes, MPI_BYTE, &status)
                    : MPI_File_read_at_all(f, at, data, (int)s->bytes, MPI_BYTE, &status),
              write ? "MPI_File_write_at_all" : "MPI_File_read_at_all");
    return complete(s, &status);
}

static bool transfer_from(MPI_File f, const step *s, MPI_Offset at, char *data, bool write)
{
    MPI_Status status;
    check_mpi(MPI_File_seek(f, at, MPI_SEEK_SET), "MPI_File_seek");
    check_mpi(write ? MPI_File_write_all(f, data, (int)s->bytes, MPI_BYTE, &status)
                    : MPI_File_read_all(f, data, (int)s->bytes, MPI_BYTE, &status),
              write ? "MPI_File_write_all" : "MPI_File_read_all");
    return complete(s, &status);
}

/* In bytes, or in bytes of the view where the program sets one. */
static MPI_Offset offset_of(const step *s)
{
    if (s->kind == STEP_VIEW || s->kind == STEP_SAME_VIEW)
        return s->within;
    return s->bytes == 0 ? s->base : s->base + s->layout->extents.run[0].offset;
}

static bool plain_transfer(workload *w, void *file, bool write, bool independent)
{
    plain_file *f = file;
    bool right = true;
    for (size_t i = 0; i < w->step_count; i++) {
        const step *s = &w->steps[i];
        char *data = w->data + s->buffer;
        MPI_Offset at = offset_of(s);
        if (s->kind == STEP_VIEW)
            check_mpi(MPI_File_set_view(f->file, s->base + s->layout->displacement, MPI_BYTE,
                                        s->layout->view, "native", f->info),
                      "MPI_File_set_view");
        if (independent || s->kind == STEP_ALONE)
            right = transfer_alone(f->file, s, at, data, write) && right;
        else if (s->kind == STEP_POINTER)
            right = transfer_from(f->file, s, at, data, write) && right;
        else
            right = transfer_at(f->file, s, at, data, write) && right;
    }
    return right;
}

const workload_library workload_mpiio = {
    .plain = true, .open = plain_open, .transfer = plain_transfer, .close = plain_close};
