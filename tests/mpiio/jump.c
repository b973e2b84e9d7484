/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 leaves a call that fails by longjmp in its error handler. Then all ranks write a file
 * together, from a deeper function. Usage: jump FILE */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>

static jmp_buf start;
static int rank, ranks;

static void jump(MPI_File *file, int *error, ...)
{
    (void)file;
    (void)error;
    longjmp(start, 1);
}

/* Returns how often something was wrong. */
static int use_file(const char *name, int depth)
{
    volatile char room[512];
    MPI_File file;
    int data = rank, back = -1;
    room[0] = (char)depth;
    if (depth > 0)
        return use_file(name, depth - 1) + (room[0] != (char)depth);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(file, rank, &data, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, (rank + 1) % ranks, &back, 1, MPI_INT, MPI_STATUS_IGNORE);
    if (setjmp(start) == 0)
        MPI_File_seek(file, -1, MPI_SEEK_SET);
    MPI_File_close(&file);
    return back != (rank + 1) % ranks;
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Errhandler handler;
    int wrong, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_File_create_errhandler(jump, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    if (rank == 0 && setjmp(start) == 0)
        MPI_File_open(MPI_COMM_SELF, "/nonexistent/file", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    wrong = use_file(argv[1], 8);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", all);
    MPI_Finalize();
    return all != 0;
}
