/* SPDX-License-Identifier: BSD-3-Clause */
/* losses SEED FILE: a rank is lost at a random moment while the ranks open, write, read and close a
 * file again and again. Each call of the others ends, with an error that says so; then they shrink
 * the communicator, write a file together, and read it. Each prints that it "has left" the calls,
 * rank 0 of them "survived", and a rank with another error or other data "wrong". */
#define _GNU_SOURCE
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#ifdef OMPI_HAVE_MPI_EXT_FTMPI

#define BLOCK 512
#define BLOCKS 256
/* Of the victim's life. Starting takes longer, so that all calls are met. */
#define MOST_MICROSECONDS 40000

enum operation { WRITE, READ, I_WRITE, I_READ, SPLIT, OPERATIONS };

static unsigned char data[BLOCK * BLOCKS];

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static void fill(int rank)
{
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(1 + (i * 7 + (size_t)rank) % 251);
}

static bool is_filled(int rank)
{
    for (size_t i = 0; i < sizeof data; i++)
        if (data[i] != (unsigned char)(1 + (i * 7 + (size_t)rank) % 251))
            return false;
    return true;
}

static void fail(const char *what, int rc)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(rc, text, &length);
    printf("wrong: %s: %s\n", what, text);
    fflush(stdout);
    abort();
}

/* Blocks of the ranks in turn. */
static int set_view(MPI_File file, MPI_Comm comm)
{
    MPI_Datatype blocks;
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK * ranks, MPI_BYTE, &blocks);
    MPI_Type_commit(&blocks);
    int rc = MPI_File_set_view(file, (MPI_Offset)rank * BLOCK, MPI_BYTE, blocks, "native",
                               MPI_INFO_NULL);
    MPI_Type_free(&blocks);
    return rc;
}

static int access_file(MPI_File file, enum operation operation)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int count = sizeof data, rc;
    switch (operation) {
    case WRITE: return MPI_File_write_at_all(file, 0, data, count, MPI_BYTE, MPI_STATUS_IGNORE);
    case READ: return MPI_File_read_at_all(file, 0, data, count, MPI_BYTE, MPI_STATUS_IGNORE);
    case SPLIT:
        rc = MPI_File_write_at_all_begin(file, 0, data, count, MPI_BYTE);
        return rc == MPI_SUCCESS ? MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE) : rc;
    case I_WRITE: rc = MPI_File_iwrite_at_all(file, 0, data, count, MPI_BYTE, &request); break;
    default: rc = MPI_File_iread_at_all(file, 0, data, count, MPI_BYTE, &request);
    }
    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

/* Until a call fails. *what: that call. */
static int use_files(MPI_Comm comm, const char *path, uint64_t seed, const char **what)
{
    for (uint64_t turn = 0;; turn++) {
        MPI_File file;
        *what = "open";
        int rc = MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        if (rc != MPI_SUCCESS)
            return rc;
        *what = "view";
        rc = set_view(file, comm);
        for (uint64_t call = 0; call < 6 && rc == MPI_SUCCESS; call++) {
            *what = "access";
            rc = access_file(file, (enum operation)(mix(seed + 8 * turn + call) % OPERATIONS));
        }
        int closed = MPI_File_close(&file);
        if (rc != MPI_SUCCESS || closed != MPI_SUCCESS) {
            *what = rc != MPI_SUCCESS ? *what : "close";
            return rc != MPI_SUCCESS ? rc : closed;
        }
    }
}

static void die(int number)
{
    (void)number;
    raise(SIGKILL);
}

/* What the survivors do: another file, by the communicator without the lost rank. */
static void go_on(MPI_Comm comm, const char *path)
{
    MPI_Comm rest;
    MPI_File file;
    int rank;
    MPIX_Comm_revoke(comm);
    int rc = MPIX_Comm_shrink(comm, &rest);
    if (rc != MPI_SUCCESS)
        fail("shrink", rc);
    MPI_Comm_rank(rest, &rank);
    fill(rank);
    rc = MPI_File_open(rest, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (rc == MPI_SUCCESS)
        rc = set_view(file, rest);
    if (rc == MPI_SUCCESS)
        rc = access_file(file, WRITE);
    memset(data, 0, sizeof data);
    if (rc == MPI_SUCCESS)
        rc = access_file(file, READ);
    if (rc != MPI_SUCCESS || !is_filled(rank))
        fail("another file", rc);
    MPI_File_close(&file);
    MPI_Barrier(rest);
    if (rank == 0)
        printf("survived\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *what = "";
    int rank, ranks, class = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    uint64_t seed = mix((uint64_t)(argc > 1 ? atoll(argv[1]) : 1) << 32);
    if (argc == 3 && seed % (uint64_t)ranks == (uint64_t)rank) {
        struct itimerval life = {.it_value.tv_usec = 1 + (long)(mix(seed) % MOST_MICROSECONDS)};
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &life, NULL);
    }
    fill(rank);
    int rc = use_files(MPI_COMM_WORLD, argv[argc - 1], seed, &what);
    MPI_Error_class(rc, &class);
    printf("rank %d has left %s\n", rank, what);
    fflush(stdout);
    /* OMPIO's own opening and closing may say anything. */
    if (strcmp(what, "access") == 0 && class != MPIX_ERR_PROC_FAILED)
        fail(what, rc);
    char another[4096];
    snprintf(another, sizeof another, "%s.another", argv[argc - 1]);
    go_on(MPI_COMM_WORLD, another);
    MPI_Finalize();
    return EXIT_SUCCESS;
}

#else

int main(void)
{
    printf("Open MPI was built without ULFM\n");
    return 77;
}

#endif
