/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that calls functions of a file, and, built with COUNT, a profiling library that prints
 * how often it saw them, and those at explicit offsets. Usage: calls FILE */
#include <mpi.h>
#include <stdio.h>

#ifdef COUNT

static int written, read_back, started, together;

#define SEE(name, name_at, counter, data_type, result_type)                                        \
    int MPI_##name(MPI_File file, data_type *data, int count, MPI_Datatype type,                   \
                   result_type *result)                                                            \
    {                                                                                              \
        counter++;                                                                                 \
        return PMPI_##name(file, data, count, type, result);                                       \
    }                                                                                              \
    int MPI_##name_at(MPI_File file, MPI_Offset offset, data_type *data, int count,                \
                      MPI_Datatype type, result_type *result)                                      \
    {                                                                                              \
        counter++;                                                                                 \
        return PMPI_##name_at(file, offset, data, count, type, result);                            \
    }

SEE(File_write, File_write_at, written, const void, MPI_Status)
SEE(File_read, File_read_at, read_back, void, MPI_Status)
SEE(File_iwrite, File_iwrite_at, started, const void, MPI_Request)
SEE(File_write_all, File_write_at_all, together, const void, MPI_Status)

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("seen: write %d, read %d, iwrite %d, write_all %d\n", written, read_back, started,
               together);
    return PMPI_Finalize();
}

#else

int main(int argc, char **argv)
{
    int data = 0, one = 1, none = 0;
    MPI_Datatype array;
    MPI_File file;
    MPI_Request request;
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
    MPI_File_close(&file);
    MPI_Type_free(&array);
    return MPI_Finalize();
}

#endif
