/* SPDX-License-Identifier: BSD-3-Clause */
/* pnetcdf: a 2-D array of ints in blocks and a record variable with time steps, written or read
 * through PnetCDF's collective calls, blocking and non-blocking; big-endian in the file. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <string.h>

#define ROWS 10 /* of a rank's block */
#define COLUMNS 14
#define STEPS 3 /* of the record variable */

static int rank, ranks;

static void must(int rc, const char *what)
{
    if (rc == NC_NOERR)
        return;
    fprintf(stderr, "pnetcdf: rank %d: %s: %s\n", rank, what, ncmpi_strerror(rc));
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* A rank's part of the array and of a time step. */
struct part {
    MPI_Offset size[2], start[2], count[2];
    MPI_Offset step_start[2], step_count[2];
};

static struct part part_of(void)
{
    int grid[2] = {0, 0};
    MPI_Dims_create(ranks, 2, grid);
    return (struct part){
        .size = {grid[0] * ROWS, grid[1] * COLUMNS},
        .start = {rank / grid[1] * ROWS, rank % grid[1] * COLUMNS},
        .count = {ROWS, COLUMNS},
        .step_start = {0, rank * COLUMNS},
        .step_count = {1, COLUMNS},
    };
}

static int number(MPI_Offset row, MPI_Offset column)
{
    return (int)(row * 10000 + column) + 1;
}

static void fill(const struct part *p, int value[ROWS][COLUMNS])
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            value[i][j] = number(p->start[0] + i, p->start[1] + j);
}

static double step_value(MPI_Offset step, int j)
{
    return (double)step * 1000 + rank * COLUMNS + j + 0.25;
}

static void write_file(const char *path)
{
    struct part p = part_of();
    int file, dimension[4], array, record, request[STEPS], status[STEPS], value[ROWS][COLUMNS];
    double step[STEPS][COLUMNS];
    must(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file),
         "create");
    must(ncmpi_def_dim(file, "rows", p.size[0], &dimension[0]), "def_dim");
    must(ncmpi_def_dim(file, "columns", p.size[1], &dimension[1]), "def_dim");
    must(ncmpi_def_dim(file, "time", NC_UNLIMITED, &dimension[2]), "def_dim");
    must(ncmpi_def_dim(file, "cells", (MPI_Offset)ranks * COLUMNS, &dimension[3]), "def_dim");
    must(ncmpi_def_var(file, "array", NC_INT, 2, &dimension[0], &array), "def_var");
    must(ncmpi_def_var(file, "record", NC_DOUBLE, 2, &dimension[2], &record), "def_var");
    must(ncmpi_enddef(file), "enddef");
    fill(&p, value);
    must(ncmpi_put_vara_int_all(file, array, p.start, p.count, &value[0][0]), "put_vara_int_all");
    for (MPI_Offset s = 0; s < STEPS; s++) {
        for (int j = 0; j < COLUMNS; j++)
            step[s][j] = step_value(s, j);
        p.step_start[0] = s;
        must(ncmpi_iput_vara_double(file, record, p.step_start, p.step_count, step[s], &request[s]),
             "iput_vara");
    }
    must(ncmpi_wait_all(file, STEPS, request, status), "wait_all");
    must(ncmpi_close(file), "close");
}

static int read_file(const char *path)
{
    struct part p = part_of();
    int file, array, record, got[ROWS][COLUMNS], wrong = 0;
    double step[STEPS][COLUMNS];
    MPI_Offset start[2] = {0, rank * COLUMNS}, count[2] = {STEPS, COLUMNS};
    must(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file), "open");
    must(ncmpi_inq_varid(file, "array", &array), "inq_varid");
    must(ncmpi_inq_varid(file, "record", &record), "inq_varid");
    must(ncmpi_get_vara_int_all(file, array, p.start, p.count, &got[0][0]), "get_vara_int_all");
    must(ncmpi_get_vara_double_all(file, record, start, count, &step[0][0]), "get_vara_double_all");
    must(ncmpi_close(file), "close");
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            wrong = wrong || got[i][j] != number(p.start[0] + i, p.start[1] + j);
    for (int s = 0; s < STEPS; s++)
        for (int j = 0; j < COLUMNS; j++)
            wrong = wrong || step[s][j] < step_value(s, j) || step[s][j] > step_value(s, j);
    if (wrong)
        fprintf(stderr, "pnetcdf: rank %d: what is read is not what was written\n", rank);
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0, all_wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc == 3 && strcmp(argv[1], "write") == 0) {
        write_file(argv[2]);
    } else if (argc == 3 && strcmp(argv[1], "read") == 0) {
        wrong = read_file(argv[2]);
    } else {
        fprintf(stderr, "usage: pnetcdf write|read FILE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return all_wrong;
}
