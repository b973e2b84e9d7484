/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank writes a block of columns of an HDF5 dataset: collectively if the first argument is
 * "collective". Build: h5pcc -o columns columns_hdf5.c */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096, COLUMNS = 1024 };

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const hsize_t mine = COLUMNS / (hsize_t)ranks;
    const hsize_t shape[] = {ROWS, mine * (hsize_t)ranks}, block[] = {ROWS, mine},
                  start[] = {0, mine * (hsize_t)rank};
    double *values = malloc(sizeof *values * ROWS * mine);
    for (hsize_t i = 0; values != NULL && i < ROWS * mine; i++)
        values[i] = rank;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
    const hid_t file = H5Fcreate("columns.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t space = H5Screate_simple(2, shape, NULL), memory = H5Screate_simple(2, block, NULL);
    const hid_t data =
        H5Dcreate2(file, "data", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, block, NULL);

    const hid_t transfer = H5Pcreate(H5P_DATASET_XFER);
    if (argc == 2 && strcmp(argv[1], "collective") == 0)
        H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = -MPI_Wtime();
    const int failed = H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, transfer, values) < 0;
    seconds += MPI_Wtime();

    H5Pclose(transfer);
    H5Dclose(data);
    H5Sclose(memory);
    H5Sclose(space);
    H5Fclose(file);
    H5Pclose(access);
    free(values);
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0)
        printf("written in %.3f s\n", seconds);
    MPI_Finalize();
    return failed;
}
