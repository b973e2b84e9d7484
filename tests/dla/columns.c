/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes a file, argv[1], in which rank r's neighbour is rank r + size / 2: what a recorded view
 * matrix is made of. Run with an even number of ranks.
 */
#include <mpi.h>
#include <stdlib.h>

enum { BLOCK = 1000, ROWS = 4 };

int main(int argc, char **argv)
{
    char *data = calloc(ROWS, BLOCK);
    int rank, size, pair, rc;
    MPI_Datatype column;
    MPI_File file;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    /* a pair writes its rows side by side; pairs come one after the other */
    pair = rank % (size / 2);
    MPI_Type_vector(ROWS, BLOCK, 2 * BLOCK, MPI_BYTE, &column);
    MPI_Type_commit(&column);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, (MPI_Offset)BLOCK * (2 * ROWS * pair + rank / (size / 2)), MPI_BYTE,
                      column, "native", MPI_INFO_NULL);
    rc = MPI_File_write_all(file, data, ROWS * BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&column);
    free(data);
    MPI_Finalize();
    return argc == 2 && rc == MPI_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
