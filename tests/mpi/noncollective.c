/* SPDX-License-Identifier: BSD-3-Clause */
/* noncollective FILE CALLS: each letter is a call in which each rank accesses a MiB of its own. W
 * and R write and read collectively, w and r do not, i and j neither, without waiting; f and g at
 * the file pointer; s writes into a file of each rank alone; h is a header that rank 0 writes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MIB = 1 << 20 };

static char data[MIB];
static int rank;

static void write_alone(const char *path)
{
    char name[4096];
    MPI_File file;
    snprintf(name, sizeof name, "%s.%d", path, rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, data, MIB, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void make_call(MPI_File file, char call, const char *path)
{
    const MPI_Offset at = (MPI_Offset)rank * MIB;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (call) {
    case 'W': MPI_File_write_at_all(file, at, data, MIB, MPI_BYTE, MPI_STATUS_IGNORE); break;
    case 'R': MPI_File_read_at_all(file, at, data, MIB, MPI_BYTE, MPI_STATUS_IGNORE); break;
    case 'w': MPI_File_write_at(file, at, data, MIB, MPI_BYTE, MPI_STATUS_IGNORE); break;
    case 'r': MPI_File_read_at(file, at, data, MIB, MPI_BYTE, MPI_STATUS_IGNORE); break;
    case 'i': MPI_File_iwrite_at(file, at, data, MIB, MPI_BYTE, &request); break;
    case 'j': MPI_File_iread_at(file, at, data, MIB, MPI_BYTE, &request); break;
    case 'f': MPI_File_write(file, data, MIB, MPI_BYTE, MPI_STATUS_IGNORE); break;
    case 'g': MPI_File_read(file, data, MIB, MPI_BYTE, MPI_STATUS_IGNORE); break;
    case 's': write_alone(path); break;
    case 'h':
        if (rank == 0)
            MPI_File_write_at(file, 0, data, 100, MPI_BYTE, MPI_STATUS_IGNORE);
        break;
    default: MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < MIB; i++)
        if (data[i] != (char)(i + rank)) {
            fprintf(stderr, "rank %d: byte %d is wrong\n", rank, i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < MIB; i++)
        data[i] = (char)(i + rank);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_File_seek(file, (MPI_Offset)rank * MIB, MPI_SEEK_SET);
    for (const char *call = argv[2]; *call != '\0'; call++)
        make_call(file, *call, argv[1]);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
