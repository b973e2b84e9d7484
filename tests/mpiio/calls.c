/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that calls functions of a file, and, built with COUNT, a profiling library that prints
 * how often it saw them, and those at explicit offsets. Usage: calls FILE */
#include <mpi.h>
#include <stdio.h>

#ifdef COUNT

static int written, read_back, started;

#define SEE(name, counter, data_type, result_type)                                                 \
    int MPI_##name(MPI_File file, data_type *data, int count, MPI_Datatype type,                   \
                   result_type *result)                                                            \
    {                                                                                              \
        counter++;                                                                                 \
        return PMPI_##name(file, data, count, type, result);                                       \
    }                                                                                              \
    int MPI_##name##_at(MPI_File file, MPI_Offset offset, data_type *data, int count,              \
                        MPI_Datatype type, result_type *result)                                    \
    {                                                                                              \
        counter++;                                                                                 \
        return PMPI_##name##_at(file, offset, data, count, type, result);                          \
    }

SEE(File_write, written, const void, MPI_Status)
SEE(File_read, read_back, void, MPI_Status)
SEE(File_iwrite, started, const void, MPI_Request)

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("seen: write %d, read %d, iwrite %d\n", written, read_back, started);
    return PMPI_Finalize();
}

#else

int main(int argc, char **argv)
{
    int rank, data = 0;
    MPI_File file;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_all(file, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write(file, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write(file, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_at(file, 4, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    PMPI_File_write(file, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read(file, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iwrite(file, &data, 1, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    return MPI_Finalize();
}

#endif
