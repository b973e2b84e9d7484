/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Each half of the ranks writes a file of its own, argv[1] with ".0" or ".1". The second half opens
 * its file when there is a file argv[2].
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 1000, POLLS = 6000 };

int main(int argc, char **argv)
{
    char data[BLOCK] = {0}, name[4096];
    int rank, size, half, rc;
    MPI_Comm comm;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    half = 2 * rank >= size;
    MPI_Comm_split(MPI_COMM_WORLD, half, rank, &comm);
    for (int i = 0; half && i < POLLS && access(argv[2], F_OK) != 0; i++)
        usleep(10000);
    snprintf(name, sizeof name, "%s.%d", argv[1], half);
    MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    rc = MPI_File_write_at_all(file, (MPI_Offset)BLOCK * rank, data, BLOCK, MPI_BYTE,
                               MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return argc == 3 && rc == MPI_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
