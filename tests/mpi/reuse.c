/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences of collective calls as third-party programs make them. All bytes are checked against a
 * model by ordinary file access.
 *
 *     reuse PATTERN FILE
 *
 * The statistics show how many plans were made. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLS 20
#define BLOCK 4711 /* bytes of a rank in one call; not a multiple of anything */
#define RECORD 64
#define RECORDS 40

static int rank, ranks;
static MPI_File file;

/* The byte of a file at an offset. */
static unsigned char model(long long offset)
{
    unsigned long long x = (unsigned long long)offset * 0x9e3779b97f4a7c15ULL;
    return (unsigned char)(x >> 56);
}

static void check(int rc, const char *what)
{
    if (rc == MPI_SUCCESS)
        return;
    fprintf(stderr, "rank %d: %s: error %d\n", rank, what, rc);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(unsigned char *data, long long offset, int bytes)
{
    for (int i = 0; i < bytes; i++)
        data[i] = model(offset + i);
}

static void compare(const unsigned char *data, long long offset, int bytes, const char *what)
{
    for (int i = 0; i < bytes; i++) {
        if (data[i] == model(offset + i))
            continue;
        fprintf(stderr, "rank %d: %s: byte %lld is %d, not %d\n", rank, what, offset + i, data[i],
                model(offset + i));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Bytes [0, bytes) of the file, by rank 0. */
static void compare_file(const char *path, long long bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unsigned char *data = malloc((size_t)bytes + 1);
        FILE *in = fopen(path, "rb");
        if (data == NULL || in == NULL || fread(data, 1, (size_t)bytes + 1, in) != (size_t)bytes) {
            fprintf(stderr, "%s has not %lld bytes\n", path, bytes);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        fclose(in);
        compare(data, 0, (int)bytes, "in the file");
        free(data);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Segments of contiguous blocks without a view, by explicit offsets or the file pointer. */
static void write_segments(const char *path, bool pointer)
{
    unsigned char data[BLOCK];
    for (int call = 0; call < CALLS; call++) {
        MPI_Offset at = (MPI_Offset)(call * ranks + rank) * BLOCK;
        fill(data, at, BLOCK);
        if (pointer)
            check(MPI_File_seek(file, at, MPI_SEEK_SET), "seek");
        check(pointer ? MPI_File_write_all(file, data, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE)
                      : MPI_File_write_at_all(file, at, data, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE),
              "write");
    }
    compare_file(path, (long long)CALLS * ranks * BLOCK);
}

static void read_segments(void)
{
    unsigned char data[BLOCK];
    for (int call = 0; call < CALLS; call++) {
        MPI_Offset at = (MPI_Offset)(call * ranks + rank) * BLOCK;
        memset(data, 0, sizeof data);
        check(MPI_File_read_at_all(file, at, data, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE), "read");
        compare(data, at, BLOCK, "read");
    }
}

static void segments(const char *path)
{
    write_segments(path, false);
}

static void seek(const char *path)
{
    write_segments(path, true);
}

static void read_after_write(const char *path)
{
    write_segments(path, false);
    read_segments();
}

/* Interleaved records; of variable v they are v + 1 times as long. The view has the variable's
 * absolute place in the file, as that of a library. */
static void set_variable_view(int v, long long begin)
{
    MPI_Datatype type;
    MPI_Aint place[RECORDS];
    int length = RECORD * (v + 1);
    for (int i = 0; i < RECORDS; i++)
        place[i] = (MPI_Aint)(begin + ((long long)i * ranks + rank) * length);
    check(MPI_Type_create_hindexed_block(RECORDS, length, place, MPI_BYTE, &type), "type");
    check(MPI_Type_commit(&type), "commit");
    check(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), "view");
    MPI_Type_free(&type);
}

/* Each step accesses the variables in turn, with a view before each, and the default one after. Two
 * steps: the way of a third one would depend on its time. */
static long long access_variables(int variables, bool write)
{
    long long begin = 0;
    for (int step = 0; step < 2; step++) {
        for (int v = 0; v < variables; v++) {
            int length = RECORD * (v + 1), bytes = RECORDS * length;
            unsigned char *data = calloc(1, (size_t)bytes);
            set_variable_view(v, begin);
            for (int i = 0; i < RECORDS && write; i++)
                fill(data + i * length, begin + ((long long)i * ranks + rank) * length, length);
            check(write ? MPI_File_write_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                        : MPI_File_read_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE),
                  "variable");
            for (int i = 0; i < RECORDS && !write; i++)
                compare(data + i * length, begin + ((long long)i * ranks + rank) * length, length,
                        "variable");
            free(data);
            check(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "view");
            begin += (long long)ranks * bytes;
        }
    }
    return begin;
}

static void run_variables(const char *path, int variables)
{
    compare_file(path, access_variables(variables, true));
    access_variables(variables, false);
}

static void variables(const char *path)
{
    run_variables(path, 5);
}

/* More than there are plans. */
static void many_variables(const char *path)
{
    run_variables(path, 9);
}

/* Two patterns in which all ranks but the last do the same. */
static void last_differs(const char *path)
{
    unsigned char data[2 * BLOCK];
    long long begin = 0;
    for (int call = 0; call < CALLS; call++) {
        int own = rank == ranks - 1 && call % 2 ? 2 * BLOCK : BLOCK;
        MPI_Offset at = begin + (MPI_Offset)rank * BLOCK;
        fill(data, at, own);
        check(MPI_File_write_at_all(file, at, data, own, MPI_BYTE, MPI_STATUS_IGNORE), "write");
        begin += (long long)(ranks + call % 2) * BLOCK;
    }
    compare_file(path, begin);
}

/* Ranks move by different distances: no plan is reused. */
static void distances(const char *path)
{
    unsigned char data[BLOCK];
    for (int call = 0; call < CALLS; call++) {
        MPI_Offset at = (MPI_Offset)(rank * CALLS + call) * BLOCK;
        fill(data, at, BLOCK);
        check(MPI_File_write_at_all(file, at, data, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    }
    compare_file(path, (long long)CALLS * ranks * BLOCK);
    for (int call = 0; call < CALLS; call++) {
        MPI_Offset at = call % 2 == rank % 2 ? (MPI_Offset)(rank * CALLS + call) * BLOCK : 0;
        check(MPI_File_read_at_all(file, at, data, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE), "read");
        compare(data, at, BLOCK, "read");
    }
}

/* Some ranks without data, others at other calls. */
static void absent(const char *path)
{
    unsigned char data[BLOCK];
    for (int call = 0; call < CALLS; call++) {
        int own = call % 4 == rank % 4 ? 0 : BLOCK;
        MPI_Offset at = (MPI_Offset)(call * ranks + rank) * BLOCK;
        fill(data, at, own);
        check(MPI_File_write_at_all(file, at, data, own, MPI_BYTE, MPI_STATUS_IGNORE), "write");
        fill(data, at, BLOCK);
        if (own == 0)
            check(MPI_File_write_at(file, at, data, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE), "alone");
    }
    compare_file(path, (long long)CALLS * ranks * BLOCK);
}

/* Rank 0 compares records, and zeros in the holes behind them, as long as they. */
static void compare_sparse_file(const char *path, long long records)
{
    static const unsigned char hole[RECORD];
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *in = rank == 0 ? fopen(path, "rb") : NULL;
    for (long long r = 0; r < records && rank == 0; r++) {
        unsigned char data[2 * RECORD] = {0};
        size_t bytes = r == records - 1 ? RECORD : 2 * RECORD;
        if (in == NULL || fread(data, 1, 2 * RECORD, in) != bytes ||
            memcmp(data + RECORD, hole, RECORD) != 0) {
            fprintf(stderr, "%s is wrong at record %lld\n", path, r);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        compare(data, 2 * r * RECORD, RECORD, "in the file");
    }
    if (in != NULL)
        fclose(in);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Records with holes; ranks do not interleave. A hint demands aggregators for reading. */
static void sparse(const char *path)
{
    unsigned char data[RECORDS * RECORD];
    MPI_Datatype type;
    MPI_Info info;
    check(MPI_Info_create(&info), "info");
    check(MPI_Info_set(info, "romio_cb_read", "enable"), "hint");
    check(MPI_Type_vector(RECORDS, RECORD, 2 * RECORD, MPI_BYTE, &type), "type");
    check(MPI_Type_commit(&type), "commit");
    for (int call = 0; call < 2 * CALLS; call++) {
        bool write = call < CALLS;
        long long begin = 2LL * RECORDS * RECORD * (call % CALLS * ranks + rank);
        memset(data, 0, sizeof data);
        for (int i = 0; i < RECORDS && write; i++)
            fill(data + i * RECORD, begin + 2LL * i * RECORD, RECORD);
        check(MPI_File_set_view(file, begin, MPI_BYTE, type, "native", info), "view");
        check(write ? MPI_File_write_at_all(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE)
                    : MPI_File_read_at_all(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE),
              "sparse");
        for (int i = 0; i < RECORDS; i++)
            compare(data + i * RECORD, begin + 2LL * i * RECORD, RECORD, "sparse");
    }
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    compare_sparse_file(path, (long long)CALLS * ranks * RECORDS);
}

/* Waits for another rank's block to be in the file; a minute at most. */
static void await_block(const char *path, long long offset)
{
    unsigned char expected[BLOCK], data[BLOCK];
    fill(expected, offset, BLOCK);
    for (int tries = 0; tries < 60000; tries++) {
        FILE *in = fopen(path, "rb");
        bool found = in != NULL && fseek(in, (long)offset, SEEK_SET) == 0 &&
                     fread(data, 1, BLOCK, in) == BLOCK && memcmp(data, expected, BLOCK) == 0;
        if (in != NULL)
            fclose(in);
        if (found)
            return;
        usleep(1000);
    }
    fprintf(stderr, "rank %d: rank 0 has written nothing at %lld\n", rank, offset);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Rank 0 writes its block before the other ranks make the call. */
static void early(const char *path)
{
    unsigned char data[BLOCK];
    for (int call = 0; call < CALLS; call++) {
        MPI_Offset first = (MPI_Offset)call * ranks * BLOCK, at = first + (MPI_Offset)rank * BLOCK;
        fill(data, at, BLOCK);
        if (rank > 0)
            await_block(path, first);
        check(MPI_File_write_at_all(file, at, data, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    }
    compare_file(path, (long long)CALLS * ranks * BLOCK);
}

/* Even ranks have one block in each call; odd ranks have one, or as many bytes as records that
 * interleave with those of another rank, so that the way of the call is not what the even ranks
 * expect. Twice for each direction: the way of a third call would depend on time. */
static void mixed(const char *path)
{
    enum { LENGTH = RECORDS * RECORD, STEPS = 6 };
    unsigned char data[LENGTH];
    MPI_Datatype type;
    check(MPI_Type_vector(RECORDS, RECORD, 2 * RECORD, MPI_BYTE, &type), "type");
    check(MPI_Type_commit(&type), "commit");
    for (int call = 0; call < 2 * STEPS; call++) {
        bool write = call < STEPS;
        int step = call % STEPS;
        bool records = rank % 2 == 1 && step / 2 == 1;
        int second = records ? rank / 2 % 2 : 0; /* of two ranks that interleave */
        long long begin = 2LL * LENGTH * (step * ranks + rank - 2 * second) + second * RECORD;
        int length = records ? RECORD : LENGTH, count = records ? RECORDS : 1;
        for (int i = 0; i < count; i++)
            fill(data + i * length, begin + 2LL * i * length, length);
        if (!write)
            memset(data, 0, sizeof data);
        check(MPI_File_set_view(file, begin, MPI_BYTE, records ? type : MPI_BYTE, "native",
                                MPI_INFO_NULL),
              "view");
        check(write ? MPI_File_write_at_all(file, 0, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE)
                    : MPI_File_read_at_all(file, 0, data, LENGTH, MPI_BYTE, MPI_STATUS_IGNORE),
              "mixed");
        for (int i = 0; i < count; i++)
            compare(data + i * length, begin + 2LL * i * length, length, "mixed");
    }
    MPI_Type_free(&type);
    (void)path;
}

static const struct pattern {
    const char *name;
    void (*run)(const char *path);
} patterns[] = {
    {"segments", segments},
    {"seek", seek},
    {"read-after-write", read_after_write},
    {"variables", variables},
    {"many-variables", many_variables},
    {"last-differs", last_differs},
    {"distances", distances},
    {"absent", absent},
    {"sparse", sparse},
    {"early", early},
    {"mixed", mixed},
};

int main(int argc, char **argv)
{
    bool found = false;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns && argc == 3; i++) {
        if (strcmp(argv[1], patterns[i].name) != 0)
            continue;
        found = true;
        check(MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                            &file),
              "open");
        patterns[i].run(argv[2]);
        check(MPI_File_close(&file), "close");
    }
    if (!found && rank == 0)
        fprintf(stderr, "usage: reuse PATTERN FILE\n");
    MPI_Finalize();
    return found ? 0 : 2;
}
