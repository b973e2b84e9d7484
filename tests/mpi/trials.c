/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeated calls of interleaved small records, in which one way of the data is made slow. All bytes
 * are checked.
 *
 *     trials large|small|fault MILLISECONDS FILE
 *
 * In a start of several such commands (trials ... : trials ...) each has ranks of its own.
 *
 * large: accesses of more than a record take so many milliseconds longer, that is, those of
 * aggregators. small: those of a record, that is, of each rank. fault: as large, and writing fails
 * on one rank in the first trial. The statistics show the way of each call. */
#include <mpi.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject.h"

#define CALLS 12
#define FIRST_TRIAL 3 /* of writing calls, from 0 on */
#define RECORD 64
#define RECORDS 40

static int rank, ranks; /* of a command */

static void stop(const char *what)
{
    fprintf(stderr, "rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check(int rc, const char *what)
{
    if (rc != MPI_SUCCESS)
        stop(what);
}

/* Byte i of this rank's record r of a call. */
static unsigned char model(int call, int r, int i)
{
    return (unsigned char)(1 + call * 7 + r * 13 + rank * 31 + i);
}

static void fill(unsigned char *data, int call)
{
    for (int b = 0; b < RECORDS * RECORD; b++)
        data[b] = model(call, b / RECORD, b % RECORD);
}

static void compare(const unsigned char *data, int call)
{
    for (int b = 0; b < RECORDS * RECORD; b++)
        if (data[b] != model(call, b / RECORD, b % RECORD))
            stop("wrong bytes");
}

static MPI_Offset place(int call)
{
    return (MPI_Offset)call * RECORDS * RECORD;
}

/* The call fails on all ranks because rank 1 cannot write. */
static void fail_to_write(MPI_File file, const char *path, const unsigned char *data, int call)
{
    const struct file_fault fault = {FAIL, .write = true, .error = EIO, .path = path};
    if (rank == 1)
        inject_file(&fault);
    if (MPI_File_write_at_all(file, place(call), data, RECORDS * RECORD, MPI_BYTE,
                              MPI_STATUS_IGNORE) == MPI_SUCCESS)
        stop("no error");
    if (rank == 1 && inject_end() == 0)
        stop("nothing was written by each rank");
}

static void access_file(MPI_File file, const char *path, bool fault)
{
    unsigned char data[RECORDS * RECORD];
    for (int call = 0; call < CALLS; call++) {
        fill(data, call);
        if (fault && call == FIRST_TRIAL)
            fail_to_write(file, path, data, call);
        check(MPI_File_write_at_all(file, place(call), data, sizeof data, MPI_BYTE,
                                    MPI_STATUS_IGNORE),
              "write");
    }
    for (int call = 0; call < CALLS; call++) {
        MPI_Status status;
        int bytes;
        memset(data, 0, sizeof data);
        check(MPI_File_read_at_all(file, place(call), data, sizeof data, MPI_BYTE, &status),
              "read");
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        if (bytes != (int)sizeof data)
            stop("wrong status");
        compare(data, call);
    }
}

/* Rank 0 writes it before, because delays and faults are of a file that is there. */
static void make_file(MPI_Comm comm, const char *path)
{
    FILE *out = rank == 0 ? fopen(path, "wb") : NULL;
    if (rank == 0 && (out == NULL || fclose(out) != 0))
        stop(path);
    MPI_Barrier(comm);
}

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Datatype records, type;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 4, 0, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (argc != 4)
        stop("usage: trials large|small|fault MILLISECONDS FILE");
    make_file(comm, argv[3]);
    const struct file_delay delay = {strcmp(argv[1], "small") != 0, RECORD + 1, atoi(argv[2]),
                                     argv[3]};
    check(MPI_File_open(comm, argv[3], MPI_MODE_RDWR, MPI_INFO_NULL, &file), "open");
    MPI_Type_vector(RECORDS, RECORD, RECORD * ranks, MPI_BYTE, &records);
    MPI_Type_create_resized(records, 0, (MPI_Aint)RECORDS * RECORD * ranks, &type);
    MPI_Type_commit(&type);
    check(
        MPI_File_set_view(file, (MPI_Offset)rank * RECORD, MPI_BYTE, type, "native", MPI_INFO_NULL),
        "view");
    MPI_Type_free(&type);
    MPI_Type_free(&records);
    inject_file_system(NFS_SUPER_MAGIC); /* a request for each record */
    inject_delay(&delay);
    access_file(file, argv[3], strcmp(argv[1], "fault") == 0);
    inject_end();
    check(MPI_File_close(&file), "close");
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
