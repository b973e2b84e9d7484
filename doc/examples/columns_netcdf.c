/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank writes a block of columns of a NetCDF-4 variable: collectively if the first argument is
 * "collective". Build: mpicc -o columns columns_netcdf.c -lnetcdf_mpi
 * (in Debian with -I/usr/lib/x86_64-linux-gnu/netcdf/mpi/include) */
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096, COLUMNS = 1024 };

static void check(int status)
{
    if (status != NC_NOERR) {
        fprintf(stderr, "columns: %s\n", nc_strerror(status));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, file, dimensions[2], data;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const size_t mine = COLUMNS / (size_t)ranks;
    const size_t block[] = {ROWS, mine}, start[] = {0, mine * (size_t)rank};
    double *values = malloc(sizeof *values * ROWS * mine);
    for (size_t i = 0; values != NULL && i < ROWS * mine; i++)
        values[i] = rank;
    check(
        nc_create_par("columns.nc", NC_CLOBBER | NC_NETCDF4, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    check(nc_def_dim(file, "row", ROWS, &dimensions[0]));
    check(nc_def_dim(file, "column", mine * (size_t)ranks, &dimensions[1]));
    check(nc_def_var(file, "data", NC_DOUBLE, 2, dimensions, &data));
    check(nc_def_var_fill(file, data, NC_NOFILL, NULL));
    check(nc_enddef(file));

    if (argc == 2 && strcmp(argv[1], "collective") == 0)
        check(nc_var_par_access(file, data, NC_COLLECTIVE));
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = -MPI_Wtime();
    check(nc_put_vara_double(file, data, start, block, values));
    seconds += MPI_Wtime();

    check(nc_close(file));
    free(values);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("written in %.3f s\n", seconds);
    MPI_Finalize();
    return 0;
}
