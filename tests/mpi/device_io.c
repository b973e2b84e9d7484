/* SPDX-License-Identifier: BSD-3-Clause */
/* device_io: collective accesses from memory of accelerator/fake, named MEMORY_TYPE_VIEW/CALL.
 * DEVICE_BYTES, a multiple of 64 KiB, is what each rank moves in a call of most cases. Every byte
 * of the memory, also between the data, and of the file is worked out from a formula; memory is
 * filled and looked at through its alias. */
#include "device.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance.h"

#define MIB (1 << 20)
#define MOST_REGISTERED (16 * MIB)
#define LARGE (32 * MIB)
#define FAILURES 50

/* In MIXED_FIRST the even blocks of memory are in host memory, in MIXED_SECOND the odd ones. In
 * FREED it is device memory that the last rank has given back. */
enum where { DEVICE, HOST, UNIFIED, MIXED_FIRST, MIXED_SECOND, FREED };

/* CONTIGUOUS: one block. VECTOR: every second 64 bytes. INDEXED: blocks of 4 KiB that lie in two
 * allocations in turn. BOTTOM: the same by absolute addresses. SHIFTED: one block, to the address
 * of the call a displacement, and no memory there. INTEGERS: by external32. */
enum type { CONTIGUOUS, VECTOR, INDEXED, BOTTOM, SHIFTED, INTEGERS };

struct row {
    enum where where;
    enum type type;
    int record;         /* bytes of the view's blocks, the ranks' in turn; 0: one for each rank */
    int bytes;          /* of each rank; 0: DEVICE_BYTES */
    int copies_per_mib; /* at most; 0: any number */
    int percent;        /* of the data, that all copies of a rank together have at most */
};

/* Block b of the data lies at side[b % 2] + b * stride. */
struct buffer {
    const struct row *row;
    char *side[2];
    int64_t bytes, block, stride, space; /* the last: of each side */
    struct memory call;                  /* address, type and count for MPI */
};

static int64_t bytes_of(const struct row *row)
{
    const char *asked = getenv("DEVICE_BYTES");
    return row->bytes > 0 ? row->bytes : asked != NULL ? atoi(asked) : 19 * 65536;
}

/* Each write has other data: what an earlier one left somewhere does not pass for them. */
static uint64_t writes_begun;

static uint64_t seed_of(int rank)
{
    return 1000 * writes_begun + (uint64_t)rank;
}

static struct view view_of(const struct test *t, const struct row *row)
{
    int64_t record = row->record > 0 ? row->record : bytes_of(row);
    int etype = row->type == INTEGERS ? 4 : 1;
    return dealt_view(&(struct deal){0, record, record, 0, etype}, t, t->rank);
}

/* --- the memory --- */

static char *get_side(const struct buffer *b, int side)
{
    enum where where = b->row->where;
    if (where == HOST || where == (side == 0 ? MIXED_FIRST : MIXED_SECOND))
        return checked_alloc((size_t)b->space, 1);
    char *at = device_alloc((size_t)b->space, where == UNIFIED);
    if (at == NULL)
        abort();
    return at;
}

static void put_side(char *side)
{
    if (is_device(side) || is_unified(side))
        device_free(side);
    else
        free(side);
}

static bool has_two_sides(const struct row *row)
{
    return row->type == INDEXED || row->type == BOTTOM;
}

static MPI_Datatype make_indexed(const struct buffer *b, MPI_Aint origin)
{
    int64_t blocks = b->bytes / b->block;
    MPI_Aint *at = checked_alloc((size_t)blocks, sizeof *at);
    MPI_Datatype type;
    for (int64_t i = 0; i < blocks; i++)
        at[i] = (MPI_Aint)(intptr_t)(b->side[i % 2] + i * b->stride) - origin;
    MPI_Type_create_hindexed_block((int)blocks, (int)b->block, at, MPI_BYTE, &type);
    free(at);
    return type;
}

static void make_type(struct buffer *b)
{
    struct memory *m = &b->call;
    m->address = b->side[0];
    m->count = 1;
    switch (b->row->type) {
    case VECTOR:
        MPI_Type_vector((int)(b->bytes / b->block), (int)b->block, (int)b->stride, MPI_BYTE,
                        &m->type);
        break;
    case SHIFTED: m->address = b->side[0] - MIB; /* fall through */
    case INDEXED: m->type = make_indexed(b, (MPI_Aint)(intptr_t)m->address); break;
    case BOTTOM:
        m->address = MPI_BOTTOM;
        m->type = make_indexed(b, 0);
        break;
    default:
        MPI_Type_dup(b->row->type == INTEGERS ? MPI_INT : MPI_BYTE, &m->type);
        m->count = (int)b->bytes / (b->row->type == INTEGERS ? 4 : 1);
    }
    MPI_Type_commit(&m->type);
}

static struct buffer make_buffer(const struct row *row)
{
    struct buffer b = {.row = row, .bytes = bytes_of(row)};
    bool one = row->type != VECTOR && !has_two_sides(row);
    b.block = one ? b.bytes : row->type == VECTOR ? 64 : 4096;
    b.stride = one ? b.block + 4096 : 2 * b.block;
    b.space = b.bytes / b.block * b.stride;
    b.side[0] = b.side[1] = get_side(&b, 0);
    if (has_two_sides(row))
        b.side[1] = get_side(&b, 1);
    make_type(&b);
    return b;
}

static void free_buffer(struct buffer *b)
{
    MPI_Type_free(&b->call.type);
    put_side(b->side[0]);
    if (b->side[1] != b->side[0])
        put_side(b->side[1]);
}

/* Byte i of a side: with the data in place, or before it has come. */
static unsigned char byte_of_side(const struct test *t, const struct buffer *b, int side, int64_t i,
                                  bool filled)
{
    int64_t block = i / b->stride, within = i % b->stride;
    bool data = filled && within < b->block && (b->side[0] == b->side[1] || block % 2 == side);
    return data ? content(seed_of(t->rank), block * b->block + within) : FILLING;
}

static void fill_buffer(const struct test *t, const struct buffer *b, bool filled)
{
    for (int side = 0; side < 1 + has_two_sides(b->row); side++) {
        unsigned char *at = device_alias(b->side[side]);
        for (int64_t i = 0; i < b->space; i++)
            at[i] = byte_of_side(t, b, side, i, filled);
    }
}

static void check_buffer(struct test *t, const struct buffer *b)
{
    for (int side = 0; side < 1 + has_two_sides(b->row); side++) {
        const unsigned char *at = device_alias(b->side[side]);
        for (int64_t i = 0; i < b->space; i++)
            if (at[i] != byte_of_side(t, b, side, i, true)) {
                differ(t, "byte %" PRId64 " of allocation %d is %02x, not %02x", i, side, at[i],
                       byte_of_side(t, b, side, i, true));
                return;
            }
    }
}

/* --- the file: each rank looks at, or makes, what its view shows of it --- */

static unsigned char byte_of_file(const struct test *t, const struct row *row, int64_t k)
{
    return content(seed_of(t->rank), row->type == INTEGERS ? k ^ 3 : k);
}

static void make_file(struct test *t, const struct row *row)
{
    const struct view v = view_of(t, row);
    unsigned char *record = checked_alloc((size_t)v.block, 1);
    int fd = open(t->path, O_CREAT | O_WRONLY, 0600);
    for (int64_t k = 0; k < bytes_of(row); k += v.block) {
        for (int64_t i = 0; i < v.block; i++)
            record[i] = byte_of_file(t, row, k + i);
        if (pwrite(fd, record, (size_t)v.block, view_place(&v, k)) != v.block)
            differ(t, "cannot make the file");
    }
    close(fd);
    free(record);
    MPI_Barrier(t->comm);
}

static void check_record(struct test *t, const struct row *row, int64_t k,
                         const unsigned char *record, int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        if (record[i] != byte_of_file(t, row, k + i)) {
            differ(t, "byte %" PRId64 " of the data is %02x in the file, not %02x", k + i,
                   record[i], byte_of_file(t, row, k + i));
            return;
        }
}

static void check_own_file(struct test *t, const struct row *row)
{
    const struct view v = view_of(t, row);
    unsigned char *record = checked_alloc((size_t)v.block, 1);
    struct stat status;
    MPI_Barrier(t->comm);
    if (stat(t->path, &status) != 0 || status.st_size != t->ranks * bytes_of(row))
        differ(t, "the file has %" PRId64 " bytes", (int64_t)status.st_size);
    for (int64_t k = 0; k < bytes_of(row); k += v.block)
        if (peek(t, t->path, view_place(&v, k), record, (size_t)v.block))
            check_record(t, row, k, record, v.block);
    free(record);
    MPI_Barrier(t->comm);
}

/* --- a call --- */

static const char *const calls[] = {"write_all",   "read_all",   "iwrite_all", "iread_all",
                                    "split_write", "split_read", NULL};

static const char *const blocking[] = {"write_all", "read_all", NULL};
static const char *const writes[] = {"write_all", NULL};

static bool is_read(int call)
{
    return call % 2 == 1;
}

static MPI_File open_as(struct test *t, const struct row *row)
{
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    const struct view v = view_of(t, row);
    if (row->record > 0 || row->type == INTEGERS)
        set_view_as(t, file, &v, row->type == INTEGERS ? "external32" : "native", MPI_INFO_NULL);
    return file;
}

/* A buffer is filled, the call made, and its error returned. */
static int make_call(struct test *t, int call, MPI_File file, struct buffer *b)
{
    static const enum kind kinds[] = {AT_ALL, I_AT_ALL, SPLIT_AT_ALL};
    const struct row *row = b->row;
    MPI_Offset offset = row->record > 0 || row->type == INTEGERS ? 0 : t->rank * b->bytes;
    MPI_Status status;
    writes_begun += !is_read(call);
    if (row->where == FREED && t->rank == t->ranks - 1)
        device_free(b->side[0]);
    else
        fill_buffer(t, b, !is_read(call));
    MPI_Barrier(t->comm);
    int rc =
        (is_read(call) ? call_read : call_write)(kinds[call / 2], file, offset, &b->call, &status);
    if (rc == MPI_SUCCESS)
        check_count(t, calls[call], &status, b->bytes);
    return rc;
}

/* What a call that returned no error has left. */
static void check_data(struct test *t, int call, const struct buffer *b)
{
    check_buffer(t, b);
    if (!is_read(call))
        check_own_file(t, b->row);
}

static void check_state(struct test *t, const struct row *row, const struct device_state *before)
{
    const struct device_state *now = device_state();
    int64_t copies = (int64_t)(now->copies - before->copies),
            bytes = (int64_t)(now->bytes - before->bytes);
    if (row->where == HOST && copies > 0)
        differ(t, "%" PRId64 " copies of host memory", copies);
    if (row->copies_per_mib > 0 && copies * MIB > row->copies_per_mib * bytes_of(row))
        differ(t, "%" PRId64 " copies for %" PRId64 " bytes", copies, bytes_of(row));
    if (row->percent > 0 && bytes * 100 > row->percent * bytes_of(row))
        differ(t, "%" PRId64 " bytes copied for %" PRId64, bytes, bytes_of(row));
    if (now->host_ranges > before->host_ranges)
        differ(t, "asked for the allocation of a host address");
    if (now->registered > MOST_REGISTERED)
        differ(t, "%" PRIu64 " bytes registered", now->registered);
}

/* Without the component a call would crash. */
static bool is_possible(struct test *t)
{
    if (device_state()->selected == 0)
        differ(t, "accelerator/fake is not in use");
    return all_well(t);
}

static void case_access(struct test *t, int call)
{
    const struct row *row = t->row;
    struct device_state before = *device_state();
    struct buffer b = make_buffer(row);
    if (is_read(call))
        make_file(t, row);
    MPI_File file = open_as(t, row);
    if (is_possible(t)) {
        int rc = make_call(t, call, file, &b);
        must(t, calls[call], rc);
        if (same_class(t, calls[call], rc) == MPI_SUCCESS)
            check_data(t, call, &b);
        check_state(t, row, &before);
    }
    close_file(t, &file);
    free_buffer(&b);
}

/* --- errors: the same on all ranks, and the next call on the file succeeds --- */

static void call_again(struct test *t, int call, MPI_File file, const struct row *row)
{
    struct row whole = *row;
    whole.where = DEVICE;
    struct buffer b = make_buffer(&whole);
    must(t, "call afterwards", make_call(t, call, file, &b));
    if (all_well(t))
        check_data(t, call, &b);
    free_buffer(&b);
}

static void case_refused(struct test *t, int call)
{
    const struct row *row = t->row;
    struct buffer b = make_buffer(row);
    make_file(t, row);
    MPI_File file = open_as(t, row);
    if (is_possible(t)) {
        int class = same_class(t, calls[call], make_call(t, call, file, &b));
        if (class == MPI_SUCCESS)
            differ(t, "no error");
        if (row->type != INTEGERS)
            call_again(t, call, file, row);
        else if (class != MPI_ERR_UNSUPPORTED_OPERATION)
            differ(t, "error class %d", class);
    }
    close_file(t, &file);
    free_buffer(&b);
}

static void case_external(struct test *t, int variant)
{
    case_refused(t, variant + 2);
}

static void tell_copy(struct test *t, int number, int victim)
{
    size_t length = strlen(t->failure);
    if (length > 0)
        snprintf(t->failure + length, sizeof t->failure - length, " (copy %d failed on rank %d)",
                 number, victim);
}

/* Copy number `number` of a call fails on one rank. Returns whether that rank came to it. */
static bool fail_copy(struct test *t, int call, MPI_File file, struct buffer *b, int number,
                      int victim)
{
    struct device_state *state = device_state();
    state->mode = (uint64_t)(number + victim) % 4;
    state->fail = t->rank == victim ? state->copies + (uint64_t)number : 0;
    int class = same_class(t, calls[call], make_call(t, call, file, b));
    int came = state->fail > 0 && state->copies >= state->fail;
    state->fail = 0;
    if (class == MPI_SUCCESS)
        check_data(t, call, b);
    tell_copy(t, number, victim);
    MPI_Bcast(&came, 1, MPI_INT, victim, t->comm);
    if (number == 1 && !came)
        differ(t, "no copy on rank %d", victim);
    return came;
}

static void case_failing(struct test *t, int call)
{
    const struct row *row = t->row;
    struct buffer b = make_buffer(row);
    make_file(t, row);
    MPI_File file = open_as(t, row);
    bool possible = is_possible(t);
    for (int victim = 0; victim < t->ranks && possible; victim++)
        for (int number = 1; number <= FAILURES && all_well(t); number++)
            if (!fail_copy(t, call, file, &b, number, victim))
                break;
    if (possible)
        call_again(t, call, file, row);
    close_file(t, &file);
    free_buffer(&b);
}

#define OF(memory, kind, bytes) ROW(struct row, .where = memory, .type = kind, .record = bytes)
#define LIMITED(...) ROW(struct row, DEVICE, __VA_ARGS__)
static const struct family families[] = {
    {"device_bytes_blocks", case_access, calls, OF(DEVICE, CONTIGUOUS, 0)},
    {"device_bytes_rows", case_access, calls, OF(DEVICE, CONTIGUOUS, 65536)},
    {"device_bytes_records", case_access, calls, OF(DEVICE, CONTIGUOUS, 512)},
    {"device_vector_blocks", case_access, calls, OF(DEVICE, VECTOR, 0)},
    {"device_vector_records", case_access, calls, OF(DEVICE, VECTOR, 512)},
    {"device_indexed_records", case_access, calls, OF(DEVICE, INDEXED, 512)},
    {"device_bottom_records", case_access, calls, OF(DEVICE, BOTTOM, 512)},
    {"device_shifted_records", case_access, calls, OF(DEVICE, SHIFTED, 512)},
    {"unified_bytes_records", case_access, calls, OF(UNIFIED, CONTIGUOUS, 512)},
    {"mixed_indexed_records", case_access, calls, OF(MIXED_SECOND, INDEXED, 512)},
    {"mixed_indexed_blocks", case_access, calls, OF(MIXED_FIRST, INDEXED, 0)},
    {"mixed_bottom_records", case_access, calls, OF(MIXED_FIRST, BOTTOM, 512)},
    {"host_bytes_blocks", case_access, calls, OF(HOST, CONTIGUOUS, 0)},
    {"host_vector_records", case_access, calls, OF(HOST, VECTOR, 512)},
    {"external32_bytes_blocks", case_external, &calls[2], OF(DEVICE, INTEGERS, 0)},
    {"external32_bytes_records", case_external, &calls[2], OF(DEVICE, INTEGERS, 512)},
    {"freed_bytes_blocks", case_refused, calls, OF(FREED, CONTIGUOUS, 0)},
    {"freed_vector_records", case_refused, calls, OF(FREED, VECTOR, 512)},
    {"failing_bytes_blocks", case_failing, calls, OF(DEVICE, CONTIGUOUS, 0)},
    {"failing_bytes_records", case_failing, calls, OF(DEVICE, CONTIGUOUS, 512)},
    {"failing_vector_records", case_failing, calls, OF(DEVICE, VECTOR, 512)},
    {"counted_bytes_blocks", case_access, blocking, LIMITED(CONTIGUOUS, 0, LARGE, 2, 100)},
    {"counted_bytes_rows", case_access, blocking, LIMITED(CONTIGUOUS, 65536, LARGE, 2, 100)},
    {"counted_vector_blocks", case_access, writes, LIMITED(VECTOR, 0, LARGE / 2, 3, 210)},
    {"counted_vector_records", case_access, writes, LIMITED(VECTOR, 512, LARGE / 2, 3, 210)},
    {"counted_large_rows", case_access, blocking, LIMITED(CONTIGUOUS, 65536, 4 * LARGE, 2, 100)},
    {NULL, NULL, NULL, NULL}};

int main(int argc, char **argv)
{
    return conformance_main(argc, argv, (const struct family *const[]){families, NULL});
}
