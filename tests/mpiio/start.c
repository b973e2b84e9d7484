/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking collective operations on MPI_COMM_WORLD are the first ones of the program: one of a
 * library that is pending there would be matched with them. Usage: start [FILE COMMAND]: this job
 * also starts another one, COMMAND FILE, with which it makes a grid and opens a file; then they
 * broadcast. */
#include <mpi.h>
#include <stdio.h>

static int use_two_jobs(char *name, const char *command)
{
    char *arguments[] = {name, NULL};
    int rank, number;
    MPI_Comm parent, other, both, grid;
    MPI_File file;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL)
        MPI_Comm_spawn(command, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                       MPI_ERRCODES_IGNORE);
    else
        other = parent;
    MPI_Intercomm_merge(other, parent != MPI_COMM_NULL, &both);
    MPI_Cart_create(both, 1, (int[1]){2}, (int[1]){0}, 1, &grid);
    MPI_File_open(both, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Comm_rank(both, &rank);
    number = rank == 0 ? 4711 : 0;
    MPI_Bcast(&number, 1, MPI_INT, 0, both);
    const int mine = number != 4711;
    int wrong = 0;
    MPI_Allreduce(&mine, &wrong, 1, MPI_INT, MPI_SUM, both);
    MPI_File_close(&file);
    if (grid != MPI_COMM_NULL)
        MPI_Comm_free(&grid);
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&other);
    return wrong;
}

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
    if (argc > 1)
        wrong += use_two_jobs(argv[1], argv[2]);
    if (rank == 0)
        printf("start: %d of %d ranks have wrong values\n", wrong, ranks);
    MPI_Finalize();
    return wrong != 0;
}
