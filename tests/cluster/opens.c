/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a file again and again; prints the milliseconds that most opens take on rank 0, and then
 * that the file is written: collectively, 64 KiB of each rank in turn, at its beginning and 5 GiB
 * further back. All bytes are read again.
 *
 *     opens FILE [SIGN]
 *
 * Where a file SIGN is given, all ranks are killed when it exists. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPENS = 21, BYTES = 65536 };

static int rank, ranks;

static void check(int rc, const char *what)
{
    if (rc == MPI_SUCCESS)
        return;
    fprintf(stderr, "rank %d: %s: error %d\n", rank, what, rc);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_File open_file(const char *name)
{
    MPI_File file;
    check(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file), "open");
    return file;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double time_opens(const char *name)
{
    double seconds[OPENS];
    for (int k = 0; k < OPENS; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        MPI_File file = open_file(name);
        seconds[k] = MPI_Wtime() - start;
        MPI_File_close(&file);
    }
    qsort(seconds, OPENS, sizeof *seconds, compare);
    return 1e3 * seconds[OPENS / 2];
}

static void write_and_read(MPI_File file, MPI_Offset start)
{
    static char data[BYTES], again[BYTES];
    MPI_Offset offset = start + (MPI_Offset)rank * BYTES;
    memset(data, 1 + rank, sizeof data);
    check(MPI_File_write_at_all(file, offset, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    check(MPI_File_sync(file), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
    check(MPI_File_read_at_all(file, offset, again, BYTES, MPI_BYTE, MPI_STATUS_IGNORE), "read");
    check(memcmp(data, again, sizeof data) == 0 ? MPI_SUCCESS : MPI_ERR_OTHER, "the bytes");
}

int main(int count, char **arguments)
{
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (count < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    double milliseconds = time_opens(arguments[1]);
    MPI_File file = open_file(arguments[1]);
    write_and_read(file, 0);
    write_and_read(file, (MPI_Offset)5 << 30);
    if (rank == 0)
        printf("%.3f\nwritten\n", milliseconds);
    fflush(stdout);
    while (count > 2) {
        if (access(arguments[2], F_OK) == 0)
            raise(SIGKILL);
        usleep(10000);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
