/* SPDX-License-Identifier: BSD-3-Clause */
/* Workloads of programs that call PnetCDF: the variables of a time step by non-blocking calls that
 * one ncmpi_wait_all completes. */
#include "workload.h"

#include <pnetcdf.h>
#include <stdlib.h>

enum { DIMS = 4 }; /* time and three of space */

typedef struct pnetcdf_file {
    int file;
    int *variable, *request, *status; /* of each variable */
} pnetcdf_file;

static void must(int rc, const char *what)
{
    if (rc != NC_NOERR)
        fail(what, ncmpi_strerror(rc));
}

static void pnetcdf_create(const workload *w, const char *path)
{
    static const char *const names[DIMS] = {"time", "z", "y", "x"};
    int file, dimension[DIMS], variable;
    MPI_Info info = make_hints(w->run);
    must(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, info, &file), path);
    for (int d = 0; d < DIMS; d++)
        must(ncmpi_def_dim(file, names[d], d == 0 ? NC_UNLIMITED : w->selection.size[d - 1],
                           &dimension[d]),
             "ncmpi_def_dim");
    for (int v = 0; v < w->variables; v++) {
        char name[WORKLOAD_NAME];
        workload_name(name, (size_t)v);
        must(ncmpi_def_var(file, name, NC_DOUBLE, DIMS, dimension, &variable), "ncmpi_def_var");
    }
    must(ncmpi_enddef(file), "ncmpi_enddef");
    must(ncmpi_close(file), "ncmpi_close");
    MPI_Info_free(&info);
}

static void *pnetcdf_open(workload *w, const char *path, bool write)
{
    pnetcdf_file *f = take_memory(1, sizeof *f);
    MPI_Info info = make_hints(w->run);
    f->variable = take_memory(3 * (size_t)w->variables, sizeof *f->variable);
    f->request = f->variable + w->variables;
    f->status = f->request + w->variables;
    must(ncmpi_open(MPI_COMM_WORLD, path, write ? NC_WRITE : NC_NOWRITE, info, &f->file), path);
    for (int v = 0; v < w->variables; v++) {
        char name[WORKLOAD_NAME];
        workload_name(name, (size_t)v);
        must(ncmpi_inq_varid(f->file, name, &f->variable[v]), "ncmpi_inq_varid");
    }
    MPI_Info_free(&info);
    return f;
}

static void transfer_time(workload *w, pnetcdf_file *f, int time, bool write)
{
    const hyperslab *s = &w->selection;
    MPI_Offset start[DIMS] = {time, s->start[0], s->start[1], s->start[2]};
    MPI_Offset count[DIMS] = {1, s->count[0], s->count[1], s->count[2]};
    for (int v = 0; v < w->variables; v++) {
        void *data = w->data + w->steps[time * w->variables + v].buffer;
        must(write ? ncmpi_iput_vara_double(f->file, f->variable[v], start, count, data,
                                            &f->request[v])
                   : ncmpi_iget_vara_double(f->file, f->variable[v], start, count, data,
                                            &f->request[v]),
             write ? "ncmpi_iput_vara_double" : "ncmpi_iget_vara_double");
    }
    must(ncmpi_wait_all(f->file, w->variables, f->request, f->status), "ncmpi_wait_all");
    for (int v = 0; v < w->variables; v++)
        must(f->status[v], "ncmpi_wait_all");
}

static bool pnetcdf_transfer(workload *w, void *file, bool write, bool independent)
{
    (void)independent;
    for (int t = 0; t < w->times; t++)
        transfer_time(w, file, t, write);
    return true;
}

static void pnetcdf_close(workload *w, void *file)
{
    pnetcdf_file *f = file;
    (void)w;
    must(ncmpi_close(f->file), "ncmpi_close");
    free(f->variable);
    free(f);
}

const workload_library workload_pnetcdf = {.reopens = true,
                                           .create = pnetcdf_create,
                                           .open = pnetcdf_open,
                                           .transfer = pnetcdf_transfer,
                                           .close = pnetcdf_close};
