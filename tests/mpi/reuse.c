/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences of collective calls as third-party programs make them. All bytes are checked against a
 * model by ordinary file access.
 *
 *     reuse FOLDER PATTERN[:HINT=VALUE]...
 *
 * Each argument is the name of a file in the folder, which is accessed by this pattern. The
 * statistics show how many plans were made for it. */
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

/* The file has `bytes` bytes; with holes, every second record of it is zeros. Rank 0 looks. */
static void compare_file(const char *path, long long bytes, bool holes)
{
    static const unsigned char hole[RECORD];
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unsigned char *data = calloc(1, (size_t)bytes + 1);
        FILE *in = fopen(path, "rb");
        bool right =
            data != NULL && in != NULL && fread(data, 1, (size_t)bytes + 1, in) == (size_t)bytes;
        for (long long at = RECORD; right && holes && at < bytes; at += 2LL * RECORD) {
            right = memcmp(data + at, hole, RECORD) == 0;
            fill(data + at, at, RECORD);
        }
        if (!right) {
            fprintf(stderr, "%s has not %lld bytes, or no holes\n", path, bytes);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        fclose(in);
        compare(data, 0, (int)bytes, "in the file");
        free(data);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A call at this place of the view: pieces of `length` bytes, which begin every `stride` bytes in
 * the file. */
static void transfer(bool write, MPI_Offset at, long long begin, int count, int length, int stride)
{
    int bytes = count * length;
    unsigned char *data = calloc(1, (size_t)bytes + 1);
    for (int i = 0; i < count && write; i++)
        fill(data + i * length, begin + (long long)i * stride, length);
    check(write ? MPI_File_write_at_all(file, at, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                : MPI_File_read_at_all(file, at, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE),
          write ? "write" : "read");
    for (int i = 0; i < count; i++)
        compare(data + i * length, begin + (long long)i * stride, length, "in memory");
    free(data);
}

/* Contiguous bytes without a view. */
static void put(MPI_Offset at, int bytes)
{
    transfer(true, at, at, 1, bytes, 0);
}

static void get(MPI_Offset at, int bytes)
{
    transfer(false, at, at, 1, bytes, 0);
}

/* Of a rank in a call. */
static MPI_Offset segment(int call)
{
    return (MPI_Offset)(call * ranks + rank) * BLOCK;
}

static void segments(const char *path)
{
    for (int call = 0; call < CALLS; call++)
        put(segment(call), BLOCK);
    compare_file(path, (long long)CALLS * ranks * BLOCK, false);
}

static void seek(const char *path)
{
    unsigned char data[BLOCK];
    for (int call = 0; call < CALLS; call++) {
        fill(data, segment(call), BLOCK);
        check(MPI_File_seek(file, segment(call), MPI_SEEK_SET), "seek");
        check(MPI_File_write_all(file, data, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    }
    compare_file(path, (long long)CALLS * ranks * BLOCK, false);
}

static void read_after_write(const char *path)
{
    segments(path);
    for (int call = 0; call < CALLS; call++)
        get(segment(call), BLOCK);
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
            int length = RECORD * (v + 1);
            set_variable_view(v, begin);
            transfer(write, 0, begin + rank * length, RECORDS, length, ranks * length);
            check(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), "view");
            begin += (long long)ranks * RECORDS * length;
        }
    }
    return begin;
}

/* Two patterns in which all ranks but the last do the same. */
static void last_differs(const char *path)
{
    long long begin = 0;
    for (int call = 0; call < CALLS; call++) {
        put(begin + (MPI_Offset)rank * BLOCK, rank == ranks - 1 && call % 2 ? 2 * BLOCK : BLOCK);
        begin += (long long)(ranks + call % 2) * BLOCK;
    }
    compare_file(path, begin, false);
}

/* Ranks move by different distances: no plan is reused. */
static void distances(const char *path)
{
    for (int call = 0; call < CALLS; call++)
        put((MPI_Offset)(rank * CALLS + call) * BLOCK, BLOCK);
    compare_file(path, (long long)CALLS * ranks * BLOCK, false);
    for (int call = 0; call < CALLS; call++)
        get(call % 2 == rank % 2 ? (MPI_Offset)(rank * CALLS + call) * BLOCK : 0, BLOCK);
}

/* Some ranks without data, others at other calls. */
static void absent(const char *path)
{
    unsigned char data[BLOCK];
    for (int call = 0; call < CALLS; call++) {
        bool alone = call % 4 == rank % 4;
        put(segment(call), alone ? 0 : BLOCK);
        fill(data, segment(call), BLOCK);
        if (alone)
            check(MPI_File_write_at(file, segment(call), data, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE),
                  "alone");
    }
    compare_file(path, (long long)CALLS * ranks * BLOCK, false);
}

/* Of records with as long holes. */
static MPI_Datatype make_records(void)
{
    MPI_Datatype type;
    check(MPI_Type_vector(RECORDS, RECORD, 2 * RECORD, MPI_BYTE, &type), "type");
    check(MPI_Type_commit(&type), "commit");
    return type;
}

/* Ranks do not interleave. A hint demands aggregators for reading. */
static void sparse(const char *path)
{
    MPI_Datatype type = make_records();
    MPI_Info info;
    check(MPI_Info_create(&info), "info");
    check(MPI_Info_set(info, "romio_cb_read", "enable"), "hint");
    for (int call = 0; call < 2 * CALLS; call++) {
        long long begin = 2LL * RECORDS * RECORD * (call % CALLS * ranks + rank);
        check(MPI_File_set_view(file, begin, MPI_BYTE, type, "native", info), "view");
        transfer(call < CALLS, 0, begin, RECORDS, RECORD, 2 * RECORD);
    }
    MPI_Type_free(&type);
    MPI_Info_free(&info);
    compare_file(path, 2LL * RECORD * CALLS * ranks * RECORDS - RECORD, true);
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
    for (int call = 0; call < CALLS; call++) {
        if (rank > 0)
            await_block(path, (long long)call * ranks * BLOCK);
        put(segment(call), BLOCK);
    }
    compare_file(path, (long long)CALLS * ranks * BLOCK, false);
}

/* Even ranks have one block in each call; odd ranks have one, or as many bytes as records that
 * interleave with those of another rank, so that the way of the call is not what the even ranks
 * expect. Twice for each direction: the way of a third call would depend on time. */
static void mixed(const char *path)
{
    enum { LENGTH = RECORDS * RECORD, STEPS = 6 };
    MPI_Datatype type = make_records();
    for (int call = 0; call < 2 * STEPS; call++) {
        int step = call % STEPS;
        bool records = rank % 2 == 1 && step / 2 == 1;
        int second = records ? rank / 2 % 2 : 0; /* of two ranks that interleave */
        long long begin = 2LL * LENGTH * (step * ranks + rank - 2 * second) + second * RECORD;
        int length = records ? RECORD : LENGTH;
        check(MPI_File_set_view(file, begin, MPI_BYTE, records ? type : MPI_BYTE, "native",
                                MPI_INFO_NULL),
              "view");
        transfer(call < STEPS, 0, begin, LENGTH / length, length, 2 * length);
    }
    MPI_Type_free(&type);
    (void)path;
}

static const struct pattern {
    const char *name;
    void (*run)(const char *path); /* NULL: accesses so many variables */
    int variables;
} patterns[] = {
    {"segments", segments, 0},
    {"seek", seek, 0},
    {"read-after-write", read_after_write, 0},
    {"variables", NULL, 5},
    {"two-variables", NULL, 2},  /* for many ranks, which take their time */
    {"many-variables", NULL, 9}, /* more than there are plans */
    {"last-differs", last_differs, 0},
    {"distances", distances, 0},
    {"absent", absent, 0},
    {"sparse", sparse, 0},
    {"early", early, 0},
    {"mixed", mixed, 0},
    {0},
};

/* name: PATTERN[:HINT=VALUE] */
static void access_file(const char *folder, char *name)
{
    char path[4096];
    const struct pattern *p = patterns;
    MPI_Info info;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const char *pattern = strsep(&name, ":"), *hint = strsep(&name, "=");
    while (p->name != NULL && strcmp(p->name, pattern) != 0)
        p++;
    check(p->name != NULL ? MPI_SUCCESS : MPI_ERR_ARG, pattern);
    check(MPI_Info_create(&info), "info");
    if (hint != NULL)
        check(MPI_Info_set(info, (char *)hint, name), "hint");
    check(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file),
          "open");
    MPI_Info_free(&info);
    if (p->run != NULL) {
        p->run(path);
    } else {
        compare_file(path, access_variables(p->variables, true), false);
        access_variables(p->variables, false);
    }
    check(MPI_File_close(&file), "close");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 2; i < argc; i++)
        access_file(argv[1], argv[i]);
    MPI_Finalize();
    return 0;
}
