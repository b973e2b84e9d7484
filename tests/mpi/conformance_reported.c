/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance_reported: accesses for which users reported faults of Open MPI's own collective I/O.
 * Each case names the report, an issue of open-mpi/ompi. Other reports are cases of `conformance`
 * (distributed arrays and communicators with a grid, #12718: subarray and communicator/grid; pieces
 * of 2 GiB and more, #14379: piece_2_31 and count_2_31), of `conformance_hints` (hints that have a
 * default are returned, #13367: given/aggregators), and of `views` (indexed views, #11917). */
#include "conformance.h"
#include "inject.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what is done to the file --- */

/* Of all ranks: how many write, their accesses, the bytes written, and accesses that read. */
struct tally {
    int64_t writers, writes, bytes, reads;
};

static struct tally tally_accesses(struct test *t)
{
    size_t count;
    struct seen_access *seen = inject_seen(&count);
    int64_t own[4] = {0}, all[4];
    for (size_t i = 0; i < count; i++) {
        own[1] += seen[i].write;
        own[2] += seen[i].write ? seen[i].length : 0;
        own[3] += !seen[i].write;
    }
    own[0] = own[1] > 0;
    free(seen);
    MPI_Allreduce(own, all, 4, MPI_INT64_T, MPI_SUM, t->comm);
    return (struct tally){all[0], all[1], all[2], all[3]};
}

/* Each rank writes 100 bytes beside those of the last rank. */
static struct tally write_adjacent(struct test *t, int64_t start, const char *hints)
{
    enum { BYTES = 100 };
    const struct deal deal = {start, BYTES, BYTES, 0, 1};
    const struct data d = {PLAIN, 1, start + t->rank * BYTES, BYTES, (uint64_t)t->rank, true};
    struct bytes model = {0};
    MPI_File file = open_with(t, MPI_MODE_RDWR | MPI_MODE_CREATE, hints);
    inject_watch(t->path);
    must(t, "write", write_data(t, AT_ALL, file, &d));
    struct tally tally = tally_accesses(t);
    close_file(t, &file);
    model_deal(t, &model, &deal, 0, BYTES, 0);
    check_file(t, &model);
    if (tally.bytes != t->ranks * BYTES || tally.reads > 0)
        differ(t, "%" PRId64 " bytes written, %" PRId64 " times read", tally.bytes, tally.reads);
    return tally;
}

/* #13376: with several aggregators, wherever the pieces begin, no byte is written twice and each
 * aggregator writes one piece. */
static void case_adjacent(struct test *t, int variant)
{
    static const int64_t starts[] = {0, 50, 1000003};
    struct tally tally = write_adjacent(t, starts[variant], "cb_nodes=4");
    if (tally.writes > tally.writers)
        differ(t, "%" PRId64 " ranks write %" PRId64 " pieces", tally.writers, tally.writes);
}

/* #13377: the hint means what it says. */
static void case_collective_buffering(struct test *t, int variant)
{
    static const char *const hints[] = {"collective_buffering=true", "collective_buffering=false"};
    int64_t wanted = variant == 0 ? 1 : t->ranks;
    if (variant == 0 && OMPI_MAJOR_VERSION >= 6) {
        skip_case(t, "Open MPI 6 gives this hint to every file");
        return;
    }
    struct tally tally = write_adjacent(t, 0, hints[variant]);
    if (tally.writers != wanted || tally.writes != wanted)
        differ(t, "%" PRId64 " ranks write %" PRId64 " pieces", tally.writers, tally.writes);
}

/* --- many calls --- */

/* Bytes that this process has allocated and not freed; -1: not known. */
static int64_t allocated_bytes(void)
{
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 info = mallinfo2();
    return (int64_t)(info.uordblks + info.hblkhd);
#else
    return -1;
#endif
}

/* #12677: calls, by turns at several places, leave nothing allocated behind. Pools that grow now
 * and then are no leak: it shows in every round. */
static void case_leak(struct test *t, int kind)
{
    enum { ROUNDS = 10, CALLS = 100, LEAST = 24 }; /* the smallest allocation takes 32 bytes */
    static const struct deal deal = {0, 100, 100, 28, 4};
    struct memory m = memory_make(PLAIN, 3000, 4);
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    int64_t least = INT64_MAX;
    if (allocated_bytes() < 0)
        skip_case(t, "this C library does not tell what is allocated");
    set_dealt_view(t, file, &deal);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t before = allocated_bytes();
        for (int call = 0; call < CALLS; call++) {
            int64_t offset = call % 5 * 300;
            must(t, "seek", MPI_File_seek(file, offset, MPI_SEEK_SET));
            must(t, "write", call_write(kind, file, offset, &m, MPI_STATUS_IGNORE));
        }
        int64_t grown = allocated_bytes() - before;
        least = grown < least ? grown : least;
    }
    if (least >= CALLS * LEAST)
        differ(t, "%" PRId64 " bytes more after %d calls", least, CALLS);
    close_file(t, &file);
    memory_release(&m);
}

/* #11182: many ranks, one file in stripes, call after call; also by the pointer that all share. */
static void case_striped(struct test *t, int variant)
{
    enum { CALLS = 20, BYTES = 5000 };
    const struct deal deal = {0, BYTES, BYTES, 0, 1};
    struct bytes model = {0};
    MPI_File file =
        open_with(t, MPI_MODE_RDWR | MPI_MODE_CREATE, "striping_unit=4096 striping_factor=5");
    (void)variant;
    for (int call = 0; call < 2 * CALLS; call++) {
        int piece = call * t->ranks + t->rank;
        const struct data d = {PLAIN, 1, (int64_t)piece * BYTES, BYTES, (uint64_t)piece, true};
        if (call == CALLS)
            must(t, "seek",
                 MPI_File_seek_shared(file, (int64_t)call * t->ranks * BYTES, MPI_SEEK_SET));
        must(t, "write", write_data(t, call < CALLS ? AT_ALL : ORDERED, file, &d));
        model_deal(t, &model, &deal, (int64_t)call * BYTES, BYTES, (uint64_t)(call * t->ranks));
    }
    close_file(t, &file);
    check_file(t, &model);
}

static const struct family families[] = {
    {"adjacent", case_adjacent, (const char *const[]){"0", "50", "1000003", NULL}, NULL},
    {"collective_buffering", case_collective_buffering,
     (const char *const[]){"true", "false", NULL}, NULL},
    {"leak", case_leak, own_kinds, NULL},
    {"striped", case_striped, NULL, NULL},
    {0},
};

int main(int argc, char **argv)
{
    static const struct family *const table[] = {families, NULL};
    return conformance_main(argc, argv, table);
}
