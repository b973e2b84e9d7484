/* SPDX-License-Identifier: BSD-3-Clause */
/* Workloads of programs that call MPI-IO themselves, and arrays, which are one call through a view
 * for which the file was opened. */
#include "contest.h"

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
    if (w->kind->library == &workload_array)
        mpiio_add_hints(f->info);
    check_mpi(MPI_File_open(MPI_COMM_WORLD, path, mode, f->info, &f->file), path);
    return f;
}

static void *array_open(workload *w, const char *path, bool write)
{
    plain_file *f = plain_open(w, path, write);
    check_mpi(
        MPI_File_set_view(f->file, 0, w->own.types.element, w->own.types.view, "native", f->info),
        "MPI_File_set_view");
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

/* In bytes, or in bytes of the view where the program sets one. */
static MPI_Offset offset_of(const step *s)
{
    if (s->kind != STEP_AT && s->kind != STEP_POINTER && s->kind != STEP_ALONE)
        return s->within;
    return s->bytes == 0 ? s->base : s->base + s->layout->extents.run[0].offset;
}

/* Whether the call transferred all bytes of the step. */
static bool transfer_step(const workload *w, MPI_File f, const step *s, bool write, bool alone)
{
    bool array = s->kind == STEP_ARRAY;
    MPI_Datatype type = array ? w->own.types.memory : MPI_BYTE;
    int wanted = array ? w->own.types.count : (int)s->bytes, count, rc;
    char *data = w->data + s->buffer;
    MPI_Offset at = offset_of(s);
    MPI_Status status;
    if (alone) {
        rc = write ? MPI_File_write_at(f, at, data, wanted, type, &status)
                   : MPI_File_read_at(f, at, data, wanted, type, &status);
    } else if (array || s->kind == STEP_POINTER) {
        check_mpi(MPI_File_seek(f, at, MPI_SEEK_SET), "MPI_File_seek");
        rc = write ? MPI_File_write_all(f, data, wanted, type, &status)
                   : MPI_File_read_all(f, data, wanted, type, &status);
    } else {
        rc = write ? MPI_File_write_at_all(f, at, data, wanted, type, &status)
                   : MPI_File_read_at_all(f, at, data, wanted, type, &status);
    }
    check_mpi(rc, write ? "MPI-IO: write" : "MPI-IO: read");
    MPI_Get_count(&status, type, &count);
    return count == wanted;
}

static bool plain_transfer(workload *w, void *file, bool write, bool independent)
{
    plain_file *f = file;
    bool right = true;
    for (size_t i = 0; i < w->step_count; i++) {
        const step *s = &w->steps[i];
        if (s->kind == STEP_VIEW)
            check_mpi(MPI_File_set_view(f->file, s->base + s->layout->displacement, MPI_BYTE,
                                        s->layout->view, "native", f->info),
                      "MPI_File_set_view");
        if (s->kind != STEP_ALONE || s->bytes > 0)
            right =
                transfer_step(w, f->file, s, write, independent || s->kind == STEP_ALONE) && right;
    }
    return right;
}

const workload_library workload_mpiio = {.plain = true,
                                         .reopens = true,
                                         .open = plain_open,
                                         .transfer = plain_transfer,
                                         .close = plain_close};
const workload_library workload_array = {
    .plain = true, .open = array_open, .transfer = plain_transfer, .close = plain_close};
