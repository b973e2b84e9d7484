/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance: every collective call, three times in a row, with even, ragged and empty parts,
 * with and without holes, from and to memory of every shape. */
#include "conformance.h"

#include <inttypes.h>
#include <stdlib.h>

#define CALLS 3

/* How one case moves its data: written in CALLS calls, checked without MPI, read back in as many.
 */
struct trip {
    int64_t (*amount)(const struct test *t, int rank, int call); /* elements */
    int64_t block; /* elements, of the pieces of the view */
    int64_t gap;   /* bytes, not seen by any view, after each round of pieces */
    int etype;
    enum shape shape;
    bool existing;    /* there is a file before, longer than what is written */
    bool empty_views; /* odd ranks have a view of size 0 */
    bool no_status;
};

/* What a rank does in one call: `bytes` from byte `from` of its view on. */
struct share {
    struct view view;
    int64_t from, bytes;
};

static uint64_t seed_of(int rank, int call)
{
    return (uint64_t)(rank * CALLS + call + 1);
}

/* --- amounts, in elements --- */

static int64_t even(const struct test *t, int rank, int call)
{
    (void)t, (void)rank;
    return 315 + call;
}

static int64_t ragged(const struct test *t, int rank, int call)
{
    (void)t;
    return (rank * 37 + call * 11) % 5 == 0 ? 0 : (rank * 131 + call * 57) % 640;
}

static int64_t nothing(const struct test *t, int rank, int call)
{
    (void)t, (void)rank, (void)call;
    return 0;
}

static int64_t last_rank(const struct test *t, int rank, int call)
{
    return rank == t->ranks - 1 ? 500 + call : 0;
}

static int64_t megabytes(const struct test *t, int rank, int call)
{
    return (1 << 20) / t->ranks + rank + call;
}

/* --- shares --- */

/* Pieces of the ranks one after another, then the gap. Calls that share a file pointer have
 * one view in common: pieces with a gap after each. */
static struct view view_of(const struct test *t, const struct trip *trip, enum kind kind, int rank)
{
    int64_t block = trip->block * trip->etype;
    if (is_ordered(kind))
        return (struct view){trip->gap, block, block + trip->gap, trip->etype};
    return (struct view){trip->gap + rank * block, block, t->ranks * block + trip->gap,
                         trip->etype};
}

static bool sees_nothing(const struct trip *trip, enum kind kind, int rank)
{
    return trip->empty_views && rank % 2 == 1 && !is_ordered(kind);
}

static int64_t bytes_of(const struct test *t, const struct trip *trip, enum kind kind, int rank,
                        int call)
{
    return sees_nothing(trip, kind, rank) ? 0 : trip->amount(t, rank, call) * trip->etype;
}

/* Own file pointers: behind the earlier calls of the rank. A common one: behind all earlier
 * calls of all ranks, and this call of the ranks before. */
static struct share share_of(const struct test *t, const struct trip *trip, enum kind kind,
                             int rank, int call)
{
    struct share s = {view_of(t, trip, kind, rank), 0, bytes_of(t, trip, kind, rank, call)};
    for (int c = 0; c <= call; c++)
        for (int r = 0; r < t->ranks; r++) {
            bool before = is_ordered(kind) ? c < call || r < rank : c < call && r == rank;
            if (before)
                s.from += bytes_of(t, trip, kind, r, c);
        }
    return s;
}

static void set_share_view(struct test *t, MPI_File file, const struct trip *trip, enum kind kind)
{
    MPI_Datatype empty;
    struct view v = view_of(t, trip, kind, t->rank);
    if (!sees_nothing(trip, kind, t->rank)) {
        set_view(t, file, &v);
        return;
    }
    MPI_Type_contiguous(0, element(v.etype), &empty);
    MPI_Type_commit(&empty);
    must(t, "set_view",
         MPI_File_set_view(file, v.first, element(v.etype), empty, "native", MPI_INFO_NULL));
    MPI_Type_free(&empty);
}

/* --- the trip --- */

/* The file pointer of this rank, or that of all ranks, after a call. */
static void check_position(struct test *t, MPI_File file, enum kind kind, const struct share *s)
{
    MPI_Offset got = 0;
    int64_t end = s->from + s->bytes, wanted = has_offset(kind) ? 0 : end;
    if (is_ordered(kind)) {
        MPI_Allreduce(&end, &wanted, 1, MPI_INT64_T, MPI_MAX, t->comm);
        MPI_File_get_position_shared(file, &got);
        MPI_Barrier(t->comm);
    } else {
        MPI_File_get_position(file, &got);
    }
    if (got != wanted / s->view.etype)
        differ(t, "the file pointer is %lld, not %" PRId64, (long long)got, wanted / s->view.etype);
}

static void move_share(struct test *t, MPI_File file, const struct trip *trip, enum kind kind,
                       int call, bool write)
{
    struct share s = share_of(t, trip, kind, t->rank, call);
    const struct data d = {trip->shape,    trip->etype, s.from, s.bytes, seed_of(t->rank, call),
                           trip->no_status};
    must(t, write ? "write" : "read", (write ? write_data : read_data)(t, kind, file, &d));
    check_position(t, file, kind, &s);
}

static void write_model(const struct test *t, const struct trip *trip, enum kind kind,
                        struct bytes *model)
{
    for (int call = 0; call < CALLS && t->rank == 0; call++)
        for (int rank = 0; rank < t->ranks; rank++) {
            struct share s = share_of(t, trip, kind, rank, call);
            model_write(model, &s.view, s.from, s.bytes, seed_of(rank, call));
        }
}

/* The model of the file, on rank 0. A file that is there before is 1000 bytes longer. */
static struct bytes start_file(struct test *t, const struct trip *trip, enum kind kind)
{
    struct bytes model = {0};
    write_model(t, trip, kind, &model);
    if (!trip->existing)
        return model;
    bytes_extend(&model, model.size + 1000);
    fill_content(model.at, model.size, 999);
    create_file(t, &model);
    write_model(t, trip, kind, &model);
    return model;
}

/* Written, checked without MPI, and read back. */
static void case_trip(struct test *t, int kind)
{
    const struct trip *trip = t->row;
    struct bytes model = start_file(t, trip, kind);
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_share_view(t, file, trip, kind);
    for (int call = 0; call < CALLS; call++)
        move_share(t, file, trip, kind, call, true);
    close_file(t, &file);
    check_file(t, &model);
    file = open_file(t, MPI_MODE_RDONLY);
    set_share_view(t, file, trip, kind);
    for (int call = 0; call < CALLS; call++)
        move_share(t, file, trip, kind, call, false);
    close_file(t, &file);
}

#define TRIP(...) case_trip, kind_names, ROW(struct trip, __VA_ARGS__)
#define MEMORY(wanted) TRIP(even, .block = 10, .gap = 8, .etype = 4, .shape = wanted)

const struct family calls_families[] = {
    {"even", TRIP(even, .block = 10, .etype = 4)},
    {"ragged", TRIP(ragged, .block = 7, .etype = 1)},
    {"doubles", TRIP(ragged, .block = 3, .gap = 24, .etype = 8, .existing = true)},
    {"large", TRIP(megabytes, .block = 5000, .etype = 4)},
    {"nothing", TRIP(nothing, .block = 8, .etype = 1, .existing = true)},
    {"one_rank", TRIP(last_rank, .block = 8, .etype = 1)},
    {"empty_views", TRIP(ragged, .block = 9, .etype = 1, .empty_views = true)},
    {"new_holes", TRIP(ragged, .block = 11, .gap = 13, .etype = 1)},
    {"old_holes", TRIP(ragged, .block = 11, .gap = 13, .etype = 1, .existing = true)},
    {"wide_holes", TRIP(even, .block = 100, .gap = 70000, .etype = 1, .existing = true)},
    {"no_status", TRIP(ragged, .block = 5, .etype = 4, .no_status = true)},
    {"memory_holes", MEMORY(HOLES)},
    {"memory_negative", MEMORY(NEGATIVE)},
    {"memory_resized", MEMORY(RESIZED)},
    {"memory_backward", MEMORY(BACKWARD)},
    {"memory_absolute", MEMORY(ABSOLUTE)},
    {0},
};
