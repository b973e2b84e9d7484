/* SPDX-License-Identifier: BSD-3-Clause */
/* A grid of processes, in an order that keeps neighbours on a node. Run it with
 * --mca topo dla,basic (doc/reorder.md). */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int ranks, rank, extent[3] = {0, 0, 0}, periodic[3] = {0, 0, 0}, at[3], lower, upper;
    double face = 0.0;
    MPI_Comm grid;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 3, extent);

    MPI_Cart_create(MPI_COMM_WORLD, 3, extent, periodic, 1, &grid); /* 1: reorder */
    MPI_Comm_rank(grid, &rank); /* from here on the rank is that in the grid ... */
    MPI_Cart_coords(grid, rank, 3, at);

    MPI_Cart_shift(grid, 0, 1, &lower, &upper); /* ... and so are the neighbours */
    MPI_Sendrecv_replace(&face, 1, MPI_DOUBLE, upper, 0, lower, 0, grid, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("%d x %d x %d processes\n", extent[0], extent[1], extent[2]);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
