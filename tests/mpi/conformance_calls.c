/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance: every collective call, three times in a row, with even, ragged and empty parts,
 * with and without holes, from and to memory of every shape, and beyond the end of file. */
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

static void check_position(struct test *t, MPI_File file, enum kind kind, const struct share *s)
{
    MPI_Offset got = 0;
    int64_t wanted = has_offset(kind) ? 0 : (s->from + s->bytes) / s->view.etype;
    if (is_ordered(kind))
        return;
    MPI_File_get_position(file, &got);
    if (got != wanted)
        differ(t, "the file pointer is %lld, not %" PRId64, (long long)got, wanted);
}

/* Where the file pointer of all ranks must be after a call. */
static void check_shared_position(struct test *t, MPI_File file, enum kind kind,
                                  const struct share *s)
{
    MPI_Offset got = 0;
    int64_t end = s->from + s->bytes, wanted = 0;
    if (!is_ordered(kind))
        return;
    MPI_Allreduce(&end, &wanted, 1, MPI_INT64_T, MPI_MAX, t->comm);
    MPI_File_get_position_shared(file, &got);
    if (got != wanted / s->view.etype)
        differ(t, "the shared file pointer is %lld, not %" PRId64, (long long)got,
               wanted / s->view.etype);
    MPI_Barrier(t->comm);
}

static void write_one(struct test *t, MPI_File file, const struct trip *trip, enum kind kind,
                      int call)
{
    struct share s = share_of(t, trip, kind, t->rank, call);
    struct memory m = memory_make(trip->shape, s.bytes, trip->etype);
    MPI_Status status, *asked = trip->no_status ? MPI_STATUS_IGNORE : &status;
    uint64_t seed = seed_of(t->rank, call);
    memory_fill(&m, seed);
    must(t, "write", call_write(kind, file, s.from / trip->etype, &m, asked));
    memory_check(t, &m, s.bytes, seed);
    if (!trip->no_status)
        check_count(t, "write", &status, s.bytes);
    check_position(t, file, kind, &s);
    check_shared_position(t, file, kind, &s);
    memory_release(&m);
}

static void read_one(struct test *t, MPI_File file, const struct trip *trip, enum kind kind,
                     int call)
{
    struct share s = share_of(t, trip, kind, t->rank, call);
    struct memory m = memory_make(trip->shape, s.bytes, trip->etype);
    MPI_Status status, *asked = trip->no_status ? MPI_STATUS_IGNORE : &status;
    must(t, "read", call_read(kind, file, s.from / trip->etype, &m, asked));
    memory_check(t, &m, s.bytes, seed_of(t->rank, call));
    if (!trip->no_status)
        check_count(t, "read", &status, s.bytes);
    check_position(t, file, kind, &s);
    check_shared_position(t, file, kind, &s);
    memory_release(&m);
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

static void round_trip(struct test *t, enum kind kind, const struct trip *trip)
{
    struct bytes model = start_file(t, trip, kind);
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    set_share_view(t, file, trip, kind);
    for (int call = 0; call < CALLS; call++)
        write_one(t, file, trip, kind, call);
    close_file(t, &file);
    check_file(t, &model);
    file = open_file(t, MPI_MODE_RDONLY);
    set_share_view(t, file, trip, kind);
    for (int call = 0; call < CALLS; call++)
        read_one(t, file, trip, kind, call);
    close_file(t, &file);
    bytes_release(&model);
}

/* --- cases --- */

static void case_even(struct test *t, int kind)
{
    round_trip(t, kind, &(struct trip){.amount = even, .block = 10, .etype = 4});
}

static void case_ragged(struct test *t, int kind)
{
    round_trip(t, kind, &(struct trip){.amount = ragged, .block = 7, .etype = 1});
}

static void case_doubles(struct test *t, int kind)
{
    round_trip(
        t, kind,
        &(struct trip){.amount = ragged, .block = 3, .gap = 24, .etype = 8, .existing = true});
}

static void case_large(struct test *t, int kind)
{
    round_trip(t, kind, &(struct trip){.amount = megabytes, .block = 5000, .etype = 4});
}

static void case_nothing(struct test *t, int kind)
{
    round_trip(t, kind,
               &(struct trip){.amount = nothing, .block = 8, .etype = 1, .existing = true});
}

static void case_one_rank(struct test *t, int kind)
{
    round_trip(t, kind, &(struct trip){.amount = last_rank, .block = 8, .etype = 1});
}

static void case_empty_views(struct test *t, int kind)
{
    round_trip(t, kind,
               &(struct trip){.amount = ragged, .block = 9, .etype = 1, .empty_views = true});
}

static void case_new_holes(struct test *t, int kind)
{
    round_trip(t, kind, &(struct trip){.amount = ragged, .block = 11, .gap = 13, .etype = 1});
}

static void case_old_holes(struct test *t, int kind)
{
    round_trip(
        t, kind,
        &(struct trip){.amount = ragged, .block = 11, .gap = 13, .etype = 1, .existing = true});
}

static void case_wide_holes(struct test *t, int kind)
{
    round_trip(
        t, kind,
        &(struct trip){.amount = even, .block = 100, .gap = 70000, .etype = 1, .existing = true});
}

static void case_no_status(struct test *t, int kind)
{
    round_trip(t, kind,
               &(struct trip){.amount = ragged, .block = 5, .etype = 4, .no_status = true});
}

static void memory_case(struct test *t, enum shape shape, enum kind kind)
{
    round_trip(t, kind,
               &(struct trip){.amount = even, .block = 10, .gap = 8, .etype = 4, .shape = shape});
}

static void case_memory_holes(struct test *t, int kind)
{
    memory_case(t, HOLES, kind);
}

static void case_memory_negative(struct test *t, int kind)
{
    memory_case(t, NEGATIVE, kind);
}

static void case_memory_resized(struct test *t, int kind)
{
    memory_case(t, RESIZED, kind);
}

static void case_memory_backward(struct test *t, int kind)
{
    memory_case(t, BACKWARD, kind);
}

static void case_memory_absolute(struct test *t, int kind)
{
    memory_case(t, ABSOLUTE, kind);
}

/* --- beyond the end of file --- */

/* Data of the view that lie below `size`; places ascend. */
static int64_t below(const struct share *s, int64_t size)
{
    int64_t valid = 0;
    while (valid < s->bytes && view_place(&s->view, s->from + valid) < size)
        valid++;
    return valid;
}

static void read_to_end(struct test *t, MPI_File file, const struct trip *trip, enum kind kind,
                        const struct bytes *there)
{
    struct share s = share_of(t, trip, kind, t->rank, 0);
    struct memory m = memory_make(trip->shape, s.bytes, 1);
    MPI_Status status;
    int64_t valid = below(&s, there->size);
    must(t, "read", call_read(kind, file, s.from, &m, &status));
    /* Open MPI 4.1 puts the full amount into the status of MPI_File_read_all itself. */
    if (kind != ALL)
        check_count(t, "read", &status, valid);
    memory_check_view(t, &m, valid, &s.view, s.from, there);
    memory_release(&m);
}

static void end_of_file(struct test *t, enum kind kind, const struct trip *trip, int64_t size)
{
    struct bytes there = {0};
    bytes_extend(&there, size);
    fill_content(there.at, size, 7);
    create_file(t, &there);
    MPI_File file = open_file(t, MPI_MODE_RDONLY);
    set_share_view(t, file, trip, kind);
    read_to_end(t, file, trip, kind, &there);
    close_file(t, &file);
    bytes_release(&there);
}

static void case_past_end(struct test *t, int kind)
{
    end_of_file(t, kind, &(struct trip){.amount = even, .block = 400, .etype = 1},
                t->ranks * 315 / 2 + 3);
}

static void case_past_end_pieces(struct test *t, int kind)
{
    end_of_file(t, kind,
                &(struct trip){.amount = even, .block = 10, .gap = 6, .etype = 1, .shape = HOLES},
                t->ranks * 315 / 2 + 3);
}

static void case_past_end_of_empty(struct test *t, int kind)
{
    end_of_file(t, kind, &(struct trip){.amount = even, .block = 10, .etype = 1}, 0);
}

const struct family calls_families[] = {
    {"even", case_even, kind_names},
    {"ragged", case_ragged, kind_names},
    {"doubles", case_doubles, kind_names},
    {"large", case_large, kind_names},
    {"nothing", case_nothing, kind_names},
    {"one_rank", case_one_rank, kind_names},
    {"empty_views", case_empty_views, kind_names},
    {"new_holes", case_new_holes, kind_names},
    {"old_holes", case_old_holes, kind_names},
    {"wide_holes", case_wide_holes, kind_names},
    {"no_status", case_no_status, kind_names},
    {"memory_holes", case_memory_holes, kind_names},
    {"memory_negative", case_memory_negative, kind_names},
    {"memory_resized", case_memory_resized, kind_names},
    {"memory_backward", case_memory_backward, kind_names},
    {"memory_absolute", case_memory_absolute, kind_names},
    {"past_end", case_past_end, kind_names},
    {"past_end_pieces", case_past_end_pieces, kind_names},
    {"past_end_of_empty", case_past_end_of_empty, kind_names},
    {0},
};
