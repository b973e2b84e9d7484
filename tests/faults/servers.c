/* SPDX-License-Identifier: BSD-3-Clause */
/* servers FILE STOP write|read: writes and reads FILE again and again (read: only reads it), while
 * its file system has faults, until the file STOP exists. Each call ends with one class on all
 * ranks, and what calls without errors have written is there. Tells each round: right, or which
 * call failed. */
#include "mpi/conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 4000, BLOCKS = 250 };

static const enum kind kinds[] = {AT_ALL, SPLIT_AT_ALL, I_AT_ALL};

static struct data data_of(const struct test *t, int round)
{
    const struct data d = {RESIZED, 4, 0, BLOCK * BLOCKS, (uint64_t)(round * t->ranks + t->rank),
                           false};
    return d;
}

/* The space is freed first, so that writing needs it again. */
static int write_file(struct test *t, MPI_File file, int round, const char **what)
{
    const struct data d = data_of(t, round);
    int class = same_class(t, *what = "set_size", MPI_File_set_size(file, 0));
    if (class == MPI_SUCCESS)
        class = same_class(t, *what = "write", write_data(t, kinds[round % 3], file, &d));
    if (class == MPI_SUCCESS)
        class = same_class(t, *what = "sync", MPI_File_sync(file));
    return class;
}

/* What `round` has written. */
static int read_file(struct test *t, MPI_File file, int round, const char **what)
{
    const struct data d = data_of(t, round);
    return same_class(t, *what = "read", read_data(t, kinds[round % 3], file, &d));
}

static void tell(struct test *t, const char *what, int class)
{
    char text[MPI_MAX_ERROR_STRING] = "right";
    int length;
    if (class != MPI_SUCCESS)
        MPI_Error_string(class, text, &length);
    if (t->failure[0] != '\0')
        printf("wrong: rank %d, %s: %s\n", t->rank, what, t->failure);
    t->failure[0] = '\0';
    if (t->rank == 0)
        printf("round: %s%s%s\n", class != MPI_SUCCESS ? what : "",
               class != MPI_SUCCESS ? ": " : "", text);
    fflush(stdout);
}

static int is_to_stop(const struct test *t, const char *stop)
{
    int stops = access(stop, F_OK) == 0;
    MPI_Bcast(&stops, 1, MPI_INT, 0, t->comm);
    return stops;
}

int main(int argc, char **argv)
{
    static struct test t = {.comm = MPI_COMM_WORLD};
    const struct deal deal = {0, BLOCK, BLOCK, 0, 4};
    const char *what = "";
    int written = -1;
    if (argc != 4)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(t.comm, &t.rank);
    MPI_Comm_size(t.comm, &t.ranks);
    snprintf(t.path, sizeof t.path, "%s", argv[1]);
    MPI_File file = open_file(&t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_dealt_view(&t, file, &deal);
    for (int round = 0; !is_to_stop(&t, argv[2]); round += strcmp(argv[3], "write") == 0) {
        int class = MPI_SUCCESS;
        if (round != written)
            class = write_file(&t, file, round, &what);
        if (class == MPI_SUCCESS)
            class = read_file(&t, file, written = round, &what);
        tell(&t, what, class);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
