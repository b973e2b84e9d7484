/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking collective calls, with what else a program does at the same time. Each rank writes
 * its own bytes of each block of a file, which are read without MPI in the end. Usage: nonblocking
 * FILE */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 3000, BLOCKS = 6 };

/* A file, and which call has written each block last; -1: none. */
typedef struct target {
    MPI_File file;
    char name[1024];
    int number, last[BLOCKS];
    unsigned char data[BLOCKS][BYTES];
} target;

static int rank, ranks, wrong;

static void expect(int is_right, const char *what)
{
    if (!is_right)
        printf("rank %d: %s\n", rank, what);
    wrong += !is_right;
}

static unsigned char value(const target *t, int call, int of_rank, int i)
{
    return (unsigned char)(1 +
                           (i * 7 + of_rank * 31 + call * 101 + t->number * 57 + i / 251) % 255);
}

/* Byte i of a rank's block is byte i * ranks + rank of that of all. */
static target *open_target(const char *name, int number)
{
    target *t = calloc(1, sizeof *t);
    MPI_Datatype type;
    t->number = number;
    snprintf(t->name, sizeof t->name, "%s.%d", name, number);
    memset(t->last, -1, sizeof t->last);
    MPI_File_open(MPI_COMM_WORLD, t->name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                  &t->file);
    MPI_Type_create_resized(MPI_BYTE, 0, ranks, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(t->file, rank, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
    return t;
}

static void fill(target *t, int block, int call)
{
    t->last[block] = call;
    for (int i = 0; i < BYTES; i++)
        t->data[block][i] = value(t, call, rank, i);
}

static void start(target *t, int block, int call, MPI_Request *request)
{
    fill(t, block, call);
    expect(MPI_File_iwrite_at_all(t->file, block * BYTES, t->data[block], BYTES, MPI_BYTE,
                                  request) == MPI_SUCCESS,
           "the start of a write");
}

static void write_now(target *t, int block, int call)
{
    static unsigned char data[BYTES];
    fill(t, block, call);
    memcpy(data, t->data[block], BYTES);
    expect(MPI_File_write_at_all(t->file, block * BYTES, data, BYTES, MPI_BYTE,
                                 MPI_STATUS_IGNORE) == MPI_SUCCESS,
           "a blocking write");
}

static void expect_bytes(const MPI_Status *status)
{
    int bytes = -1;
    MPI_Get_elements(status, MPI_BYTE, &bytes);
    expect(bytes == BYTES, "the bytes of a status");
}

static void check_file(const target *t)
{
    FILE *stream = fopen(t->name, "rb");
    for (int block = 0; block < BLOCKS; block++) {
        int differ = 0;
        if (t->last[block] < 0)
            continue;
        fseek(stream, (long)block * BYTES * ranks, SEEK_SET);
        for (int i = 0; i < BYTES * ranks; i++)
            differ += fgetc(stream) != value(t, t->last[block], i % ranks, i / ranks);
        expect(differ == 0, "bytes of a block");
    }
    fclose(stream);
}

/* All ranks have closed it. */
static void check_target(target *t)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        check_file(t);
        unlink(t->name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    free(t);
}

/* Requests of two files and messages among them, completed one by one, some at a time, and all. */
static void complete_in_any_order(target *a, target *b)
{
    MPI_Request request[8];
    MPI_Status status[8];
    int index[8], done, some, got = -1;
    MPI_Irecv(&got, 1, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &request[0]);
    for (int i = 0; i < 3; i++) {
        start(a, i, 10 + i, &request[1 + 2 * i]);
        start(b, i, 20 + i, &request[2 + 2 * i]);
    }
    MPI_Isend(&rank, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &request[7]);
    MPI_Wait(&request[4], &status[4]);
    expect_bytes(&status[4]);
    for (done = 1; done < 6; done += some) {
        MPI_Testsome(8, request, &some, index, status);
        for (int i = 0; i < some; i++)
            if (index[i] % 7 != 0)
                expect_bytes(&status[i]);
    }
    MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
    expect(got == (rank + 1) % ranks, "a message");
    for (int i = 0; i < 8; i++)
        expect(request[i] == MPI_REQUEST_NULL, "a request is complete");
}

/* The last of calls on the same bytes wins, blocking or not. */
static void follow_by_blocking(target *t)
{
    MPI_Request request[2];
    static unsigned char back[BYTES];
    unsigned char first[BYTES];
    start(t, 3, 1, &request[0]);
    write_now(t, 4, 2);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    start(t, 3, 3, &request[0]);
    memcpy(first, t->data[3], BYTES);
    write_now(t, 4, 4);
    start(t, 4, 5, &request[1]);
    MPI_File_seek(t->file, 3 * BYTES, MPI_SEEK_SET);
    MPI_File_read_all(t->file, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    expect(memcmp(back, first, BYTES) == 0, "bytes that are read");
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

/* Even ranks are in a blocking call on a file, or close it, before they wait for that on another
 * one, odd ones after. */
static void cross(target *a, target *b)
{
    MPI_Request request;
    for (int i = 0; i < 2; i++) {
        start(a, i, 7 + i, &request);
        if (rank % 2 == 1)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (i == 0)
            write_now(b, 0, 8);
        else
            MPI_File_close(&b->file);
        if (rank % 2 == 0)
            MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_File_open(MPI_COMM_WORLD, b->name, MPI_MODE_RDWR, MPI_INFO_NULL, &b->file);
}

static int handled;

static void count_errors(MPI_File *file, int *error, ...)
{
    (void)file;
    (void)error;
    handled++;
}

static int class_of(int error)
{
    int class = 0;
    MPI_Error_class(error, &class);
    return class;
}

/* Rank 0 has a datatype that is not committed. */
static void start_wrong(const target *t, MPI_Request *request)
{
    static const int data[2];
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    expect(MPI_File_iwrite_at_all(t->file, BLOCKS * BYTES, data, 1, rank == 0 ? pair : MPI_INT,
                                  request) == MPI_SUCCESS,
           "the start of a write that fails");
    MPI_Type_free(&pair);
}

/* Beside a request that has failed, another is open; and the MPI uses the objects of requests
 * again. */
static void fail_among_others(target *t)
{
    MPI_Request request[3];
    MPI_Status status[3] = {{0}};
    int done = 0, token;
    start(t, 0, 30, &request[0]); /* by the object of the last one that has failed */
    start_wrong(t, &request[1]);
    MPI_Irecv(&token, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &request[2]);
    write_now(t, 1, 31); /* ends when both have ended */
    for (int i = 0; i < 3; i++)
        expect(MPI_Testall(3, request, &done, status) == MPI_SUCCESS && !done,
               "a test while a request is open");
    expect(handled == 1, "the error handler is not called before");
    MPI_Send(&rank, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
    expect(MPI_Waitall(3, request, status) == MPI_ERR_IN_STATUS, "an error in a status");
    expect(status[0].MPI_ERROR == MPI_SUCCESS && status[1].MPI_ERROR == MPI_ERR_TYPE &&
               status[2].MPI_ERROR == MPI_SUCCESS,
           "which one it is");
}

/* All errors are those of completion, on all ranks. */
static void fail(target *t)
{
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_File_create_errhandler(count_errors, &handler);
    MPI_File_set_errhandler(t->file, handler);
    start_wrong(t, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    expect(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TYPE, "a wrong type");
    expect(handled == 1, "the error handler is called");
    fail_among_others(t);
    expect(handled == 2, "the error handler is called again");
    MPI_Errhandler_free(&handler);
}

/* ---- functions of MPI 4.1 ---- */

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION > 0)
#define LATER
#elif defined LATER
int MPI_Request_get_status_all(int, const MPI_Request *, int *, MPI_Status *);
int MPI_Request_get_status_any(int, const MPI_Request *, int *, int *, MPI_Status *);
int MPI_Request_get_status_some(int, const MPI_Request *, int *, int *, MPI_Status *);
#endif

/* They let calls continue. */
static void ask(target *t)
{
#ifdef LATER
    for (int function = 0; function < 3; function++) {
        MPI_Request request;
        MPI_Status status;
        int done = 0, index;
        start(t, 2, 40 + function, &request);
        while (!done)
            if (function == 0)
                MPI_Request_get_status_all(1, &request, &done, &status);
            else if (function == 1)
                MPI_Request_get_status_any(1, &request, &index, &done, &status);
            else
                MPI_Request_get_status_some(1, &request, &done, &index, &status);
        expect_bytes(&status);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
#else
    (void)t;
#endif
}

static void run_cases(const char *name)
{
    target *a = open_target(name, 0), *b = open_target(name, 1);
    MPI_Request request;
    complete_in_any_order(a, b);
    if (ranks > 1) { /* else they are the MPI's */
        follow_by_blocking(a);
        fail(b);
        ask(b);
        start(a, 5, 9, &request);
        MPI_Request_free(&request);
    }
    cross(a, b);
    MPI_File_close(&b->file);
    MPI_File_close(&a->file);
    check_target(b);
    check_target(a);
}

int main(int argc, char **argv)
{
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    run_cases(argv[1]);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d wrong\n", all);
    MPI_Finalize();
    return all != 0;
}
