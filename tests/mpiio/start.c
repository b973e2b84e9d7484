/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking collective operations on MPI_COMM_WORLD are the first ones of the program: one of a
 * library that is pending there would be matched with them. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, ranks, first, sum, wrong;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    first = rank == 0 ? 4711 : 0;
    MPI_Ibcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    wrong = first != 4711 || sum != ranks * (ranks - 1) / 2;
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("start: %d of %d ranks have wrong values\n", wrong, ranks);
    MPI_Finalize();
    return wrong != 0;
}
