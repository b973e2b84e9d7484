/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank writes a block of columns of a variable, with PnetCDF: collectively if the first
 * argument is "collective". Build: mpicc -o columns columns_pnetcdf.c -lpnetcdf */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096, COLUMNS = 1024 };

static void check(int status)
{
    if (status != NC_NOERR) {
        fprintf(stderr, "columns: %s\n", ncmpi_strerror(status));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, file, dimensions[2], data;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const MPI_Offset mine = COLUMNS / ranks;
    const MPI_Offset block[] = {ROWS, mine}, start[] = {0, mine * rank};
    double *values = malloc(sizeof *values * (size_t)(ROWS * mine));
    for (MPI_Offset i = 0; values != NULL && i < ROWS * mine; i++)
        values[i] = rank;
    check(ncmpi_create(MPI_COMM_WORLD, "columns.nc", NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL,
                       &file));
    check(ncmpi_def_dim(file, "row", ROWS, &dimensions[0]));
    check(ncmpi_def_dim(file, "column", mine * ranks, &dimensions[1]));
    check(ncmpi_def_var(file, "data", NC_DOUBLE, 2, dimensions, &data));
    check(ncmpi_enddef(file));

    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = -MPI_Wtime();
    if (argc == 2 && strcmp(argv[1], "collective") == 0) {
        check(ncmpi_put_vara_double_all(file, data, start, block, values));
    } else {
        check(ncmpi_begin_indep_data(file));
        check(ncmpi_put_vara_double(file, data, start, block, values));
        check(ncmpi_end_indep_data(file));
    }
    seconds += MPI_Wtime();

    check(ncmpi_close(file));
    free(values);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("written in %.3f s\n", seconds);
    MPI_Finalize();
    return 0;
}
