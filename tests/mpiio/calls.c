/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that calls functions of a file, of which a profiling library sees those that the MPI
 * performs. Usage: calls FILE */
#include <mpi.h>

int main(int argc, char **argv)
{
    int data = 0, one = 1, none = 0;
    MPI_Datatype array;
    MPI_File file;
    MPI_Request request, many[100];
    MPI_Init(&argc, &argv);
    MPI_Type_create_subarray(1, &one, &one, &none, MPI_ORDER_C, MPI_INT, &array);
    MPI_Type_commit(&array);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_all(file, &data, 1, array, MPI_STATUS_IGNORE);
    MPI_File_write_all_begin(file, &data, 1, array);
    MPI_File_write_all_end(file, &data, MPI_STATUS_IGNORE);
    MPI_File_write(file, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write(file, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, 4, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    PMPI_File_write(file, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read(file, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iwrite(file, &data, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++)
        MPI_File_iwrite_at_all(file, 4 * i, &data, 1, MPI_INT, &many[i]);
    MPI_Waitall(100, many, MPI_STATUSES_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&array);
    return MPI_Finalize();
}
