/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a field of N x N values into one file by blocks, one for each rank, and reads it back. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 2048 };

static void require(int rc, const char *what)
{
    if (rc == MPI_SUCCESS)
        return;
    fprintf(stderr, "field: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv)
{
    int rank, ranks, side = 1, x = 0, y = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    /* Blocks are numbered along a Z-shaped curve: each bit of the rank is one of x or y in turn. */
    for (int bit = 0; side * side < ranks; bit++, side *= 2) {
        x |= (rank >> (2 * bit) & 1) << bit;
        y |= (rank >> (2 * bit + 1) & 1) << bit;
    }
    require(side * side != ranks || N % side != 0, "the number of ranks is not 4, 16, 64, ...");
    int field[2] = {N, N}, block[2] = {N / side, N / side}, first[2] = {x * block[0], y * block[1]};

    int values = block[0] * block[1], wrong = 0;
    double *written = malloc((size_t)values * sizeof *written);
    double *got = malloc((size_t)values * sizeof *got);
    require(written == NULL || got == NULL, "out of memory");
    for (int i = 0; i < values; i++)
        written[i] = (double)rank * values + i;

    MPI_Datatype view;
    MPI_Type_create_subarray(2, field, block, first, MPI_ORDER_C, MPI_DOUBLE, &view);
    MPI_Type_commit(&view);
    MPI_File file;
    require(MPI_File_open(MPI_COMM_WORLD, "field.dat", MPI_MODE_CREATE | MPI_MODE_RDWR,
                          MPI_INFO_NULL, &file),
            "cannot open field.dat");
    MPI_File_set_view(file, 0, MPI_DOUBLE, view, "native", MPI_INFO_NULL);

    double begin = MPI_Wtime();
    require(MPI_File_write_at_all(file, 0, written, values, MPI_DOUBLE, MPI_STATUS_IGNORE),
            "cannot write");
    double middle = MPI_Wtime();
    require(MPI_File_read_at_all(file, 0, got, values, MPI_DOUBLE, MPI_STATUS_IGNORE),
            "cannot read");
    double end = MPI_Wtime();
    require(MPI_File_close(&file), "cannot close field.dat");

    for (int i = 0; i < values; i++)
        wrong += got[i] != written[i];
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("written in %.3f s, read in %.3f s, %d of %d values wrong\n", middle - begin,
               end - middle, wrong, N * N);
    MPI_Type_free(&view);
    free(got);
    free(written);
    MPI_Finalize();
    return wrong > 0;
}
