/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 sends argv[1] bytes to the last rank; the last rank prints the seconds that it took. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECE = 1000000 };

int main(int argc, char **argv)
{
    static char piece[PIECE];
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long left = argc > 1 ? atol(argv[1]) : 0; left > 0; left -= PIECE) {
        int bytes = left < PIECE ? (int)left : PIECE;
        if (rank == 0)
            MPI_Send(piece, bytes, MPI_BYTE, size - 1, 0, MPI_COMM_WORLD);
        else if (rank == size - 1)
            MPI_Recv(piece, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == size - 1)
        printf("%.3f\n", MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
