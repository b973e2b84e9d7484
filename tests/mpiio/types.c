/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes by every constructor of MPI 4.1, of every predefined datatype and of each other, as
 * memory type, and as file type and etype: whether the bytes are those of MPI_Pack and MPI_Unpack.
 * Usage: types FILE SEED */
#include <fcntl.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HAS_LARGE (MPI_VERSION >= 4)
/* MPICH 4.0 ends the job at views of pairs with padding, and of datatypes with large counts. */
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40100000
#define MAY_VIEW_ALL false
#else
#define MAY_VIEW_ALL true
#endif

/* MPICH also makes distributed arrays for more ranks than their grid has: here each place twice. */
#ifdef MPICH_NUMVERSION
#define GRID_RANKS 4
#else
#define GRID_RANKS 2
#endif

enum { SLOT = 1 << 16 };

static int rank, failed, cases, fd;
static bool is_view;
static unsigned state;
static MPI_File file;

static int below(int limit)
{
    state = state * 1103515245u + 12345u;
    return (int)(state >> 16) % limit;
}

/* ---- datatypes ---- */

enum constructor {
    DUP,
    CONTIGUOUS,
    VECTOR,
    HVECTOR,
    INDEXED,
    HINDEXED,
    INDEXED_BLOCK,
    HINDEXED_BLOCK,
    STRUCT,
    SUBARRAY,
    DARRAY,
    RESIZED,
    CONSTRUCTORS,
};

/* Elements do not overlap. As memory type, they may be in any order and at odd addresses; in a
 * view, holes are multiples of the etype. */
#define MAKE(name, count_type, address_type, suffix)                                               \
    static MPI_Datatype name(enum constructor constructor, MPI_Datatype old)                       \
    {                                                                                              \
        MPI_Datatype type = MPI_DATATYPE_NULL, part[3] = {old, is_view ? old : MPI_CHAR, old};     \
        MPI_Count bound, extent;                                                                   \
        const MPI_Count odd = is_view ? 0 : 3;                                                     \
        count_type length[3], index[3], at = 0, size[2], some[2], start[2];                        \
        address_type address[3];                                                                   \
        const int n = 1 + below(3), order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;            \
        int all[2], how[2], argument[2], grid[2] = {2, 1};                                         \
        MPI_Type_get_extent_x(old, &bound, &extent);                                               \
        for (int i = 0; i < 3; i++) {                                                              \
            const int k = !is_view && n == 3 ? 2 - i : i;                                          \
            length[k] = i == 0 ? 2 : below(3);                                                     \
            index[k] = at;                                                                         \
            address[k] = (address_type)(at * extent + odd * i);                                    \
            at += 2 + below(2);                                                                    \
        }                                                                                          \
        for (int i = 0; i < 2; i++) {                                                              \
            all[i] = 2 + below(3);                                                                 \
            size[i] = all[i];                                                                      \
            some[i] = 1 + below(all[i] - 1);                                                       \
            start[i] = below(all[i] - (int)some[i] + 1);                                           \
            how[i] = below(2) ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;                      \
            argument[i] = MPI_DISTRIBUTE_DFLT_DARG;                                                \
        }                                                                                          \
        how[1] = MPI_DISTRIBUTE_NONE;                                                              \
        switch (constructor) {                                                                     \
        case DUP: MPI_Type_dup(old, &type); break;                                                 \
        case CONTIGUOUS: MPI_Type_contiguous##suffix(n, old, &type); break;                        \
        case VECTOR: MPI_Type_vector##suffix(n, 2, 3, old, &type); break;                          \
        case HVECTOR:                                                                              \
            MPI_Type_create_hvector##suffix(n, 2, (address_type)(2 * extent + odd), old, &type);   \
            break;                                                                                 \
        case INDEXED: MPI_Type_indexed##suffix(n, length, index, old, &type); break;               \
        case HINDEXED: MPI_Type_create_hindexed##suffix(n, length, address, old, &type); break;    \
        case INDEXED_BLOCK: MPI_Type_create_indexed_block##suffix(n, 2, index, old, &type); break; \
        case HINDEXED_BLOCK:                                                                       \
            MPI_Type_create_hindexed_block##suffix(n, 2, address, old, &type);                     \
            break;                                                                                 \
        case STRUCT: MPI_Type_create_struct##suffix(n, length, address, part, &type); break;       \
        case SUBARRAY:                                                                             \
            MPI_Type_create_subarray##suffix(2, size, some, start, order, old, &type);             \
            break;                                                                                 \
        case DARRAY:                                                                               \
            MPI_Type_create_darray##suffix(GRID_RANKS, below(GRID_RANKS), 2, size, how, argument,  \
                                           grid, order, old, &type);                               \
            break;                                                                                 \
        default:                                                                                   \
            MPI_Type_create_resized##suffix(old, (address_type)(bound - odd),                      \
                                            (address_type)(2 * extent + odd), &type);              \
        }                                                                                          \
        return type;                                                                               \
    }

MAKE(make_plain, int, MPI_Aint, )
#if HAS_LARGE
MAKE(make_large, MPI_Count, MPI_Count, _c)
#else
#define make_large make_plain
#endif

/* ---- a case ---- */

static void fill(unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(1 + below(255));
}

static void expect(bool is_right, const char *what, const char *name)
{
    if (!is_right && failed++ < 10)
        printf("rank %d: %s: wrong %s\n", rank, name, what);
}

/* same: what has the same bytes for MPI_Pack. memory: `count` elements at `base` within. */
static void check_memory(MPI_Datatype type, MPI_Datatype same, int count, const char *name,
                         unsigned char *memory, size_t bytes, ptrdiff_t base)
{
    static unsigned char packed[SLOT], stored[SLOT], wanted[SLOT];
    int size = 0, from = 0;
    MPI_Status status;
    MPI_Count moved;
    fill(memory, bytes);
    MPI_Pack(memory + base, count, same, packed, SLOT, &size, MPI_COMM_SELF);
    expect(MPI_File_write_at_all(file, rank * SLOT, memory + base, count, type, &status) == 0,
           "error of a write", name);
    MPI_Get_elements_x(&status, MPI_BYTE, &moved);
    expect(moved == size, "status", name);
    MPI_Barrier(MPI_COMM_WORLD);
    if (size > 0)
        expect(pread(fd, stored, (size_t)size, rank * SLOT) == size &&
                   memcmp(stored, packed, (size_t)size) == 0,
               "file", name);
    memset(memory, 0, bytes);
    memset(wanted, 0, bytes);
    MPI_Unpack(packed, size, &from, wanted + base, count, same, MPI_COMM_SELF);
    expect(MPI_File_read_at_all(file, rank * SLOT, memory + base, count, type, &status) == 0,
           "error of a read", name);
    expect(memcmp(memory, wanted, bytes) == 0, "memory", name);
}

static void check_view(MPI_Datatype type, MPI_Datatype same, MPI_Datatype etype, int count,
                       const char *name, int bytes)
{
    static unsigned char data[SLOT], stored[SLOT], wanted[SLOT], back[SLOT];
    int size, from = 0;
    MPI_Type_size(type, &size);
    size *= count;
    fill(data, SLOT);
    memset(stored, 0, SLOT);
    memset(wanted, 0, SLOT);
    expect(pwrite(fd, stored, SLOT, rank * SLOT) == SLOT, "zeros", name);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(file, rank * SLOT, etype, type, "native", MPI_INFO_NULL);
    expect(MPI_File_write_all(file, data, size, MPI_BYTE, MPI_STATUS_IGNORE) == 0,
           "error of a write", name);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Unpack(data, size, &from, wanted, count, same, MPI_COMM_SELF);
    expect(pread(fd, stored, SLOT, rank * SLOT) == SLOT &&
               memcmp(stored, wanted, (size_t)bytes) == 0,
           "file", name);
    expect(MPI_File_read_at_all(file, 0, back, size, MPI_BYTE, MPI_STATUS_IGNORE) == 0,
           "error of a read", name);
    expect(memcmp(data, back, (size_t)size) == 0, "data", name);
}

static void check(MPI_Datatype type, MPI_Datatype same, MPI_Datatype etype, const char *name)
{
    static unsigned char memory[SLOT];
    const int count = 1 + below(3);
    MPI_Count bound, extent, low, span;
    MPI_Type_commit(&type);
    MPI_Type_commit(&same);
    MPI_Type_get_extent_x(type, &bound, &extent);
    MPI_Type_get_true_extent_x(type, &low, &span);
    const size_t bytes = (size_t)((count - 1) * extent + span);
    cases++;
    if (bytes > SLOT || (is_view && low + (MPI_Count)bytes > SLOT))
        expect(false, "size of the test's buffers", name);
    else if (is_view)
        check_view(type, same, etype, count, name, (int)(low + (MPI_Count)bytes));
    else
        check_memory(type, same, count, name, memory, bytes, (ptrdiff_t)-low);
    MPI_Type_free(&type);
    MPI_Type_free(&same);
}

/* With the extent of another, which is padded as its members demand. Frees the datatype. */
static MPI_Datatype resize_as(MPI_Datatype other, MPI_Datatype type)
{
    MPI_Count bound, extent;
    MPI_Datatype resized;
    MPI_Type_get_extent_x(other, &bound, &extent);
    MPI_Type_create_resized(type, (MPI_Aint)bound, (MPI_Aint)extent, &resized);
    MPI_Type_free(&type);
    return resized;
}

/* MPICH, and Open MPI 5 with 16-byte reals, pack 10 bytes of the 16 of a long double: as bytes they
 * pack all of them. */
static MPI_Datatype make_same(MPI_Datatype predefined)
{
    MPI_Datatype same;
    MPI_Count size;
    if (predefined != MPI_LONG_DOUBLE && predefined != MPI_LONG_DOUBLE_INT &&
        predefined != MPI_REAL16 && predefined != MPI_COMPLEX32 &&
        predefined != MPI_C_LONG_DOUBLE_COMPLEX && predefined != MPI_CXX_LONG_DOUBLE_COMPLEX) {
        MPI_Type_dup(predefined, &same);
        return same;
    }
    MPI_Type_size_x(predefined, &size);
    MPI_Type_contiguous((int)size, MPI_BYTE, &same);
    return resize_as(predefined, same);
}

static bool may_view(MPI_Datatype predefined)
{
    return MAY_VIEW_ALL || (predefined != MPI_SHORT_INT && predefined != MPI_DOUBLE_INT &&
                            predefined != MPI_LONG_INT && predefined != MPI_LONG_DOUBLE_INT);
}

/* Of one predefined datatype: each constructor of it, and some constructor of that. */
static void check_all(MPI_Datatype predefined, const char *predefined_name)
{
    char name[80];
    MPI_Datatype (*const make[2])(enum constructor, MPI_Datatype) = {make_plain, make_large};
    if (predefined == MPI_DATATYPE_NULL || (is_view && !may_view(predefined)))
        return;
    MPI_Datatype same = make_same(predefined);
    for (int i = 0; i < 2 * CONSTRUCTORS; i++) {
        const bool is_large = i >= CONSTRUCTORS && (MAY_VIEW_ALL || !is_view);
        const enum constructor first = (enum constructor)(i % CONSTRUCTORS),
                               second = (enum constructor)below(CONSTRUCTORS);
        const unsigned seed = state;
        MPI_Datatype inner = make[is_large](first, predefined),
                     outer = make[is_large && second > first](second, inner);
        state = seed;
        MPI_Datatype inner_same = resize_as(inner, make_plain(first, same)),
                     outer_same = resize_as(outer, make_plain(second, inner_same));
        snprintf(name, sizeof name, "%d%s of %s", first, is_large ? " (large)" : "",
                 predefined_name);
        check(inner, inner_same, predefined, name);
        snprintf(name, sizeof name, "%d of %d%s of %s", second, first, is_large ? " (large)" : "",
                 predefined_name);
        check(outer, outer_same, predefined, name);
    }
    MPI_Type_free(&same);
}

#define EACH(...)                                                                                  \
    do {                                                                                           \
        const MPI_Datatype each[] = {__VA_ARGS__};                                                 \
        char names[] = #__VA_ARGS__ ",", *name = names;                                            \
        for (size_t i = 0; i < sizeof each / sizeof *each; i++) {                                  \
            char *end = strchr(name, ',');                                                         \
            *end = '\0';                                                                           \
            check_all(each[i], name);                                                              \
            name = end + 1;                                                                        \
        }                                                                                          \
    } while (0)

static void check_predefined(void)
{
    MPI_Datatype real, complex, integer;
    MPI_Type_create_f90_real(10, MPI_UNDEFINED, &real);
    MPI_Type_create_f90_complex(10, MPI_UNDEFINED, &complex);
    MPI_Type_create_f90_integer(6, &integer);
    EACH(MPI_SHORT_INT, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_LONG_DOUBLE_INT, MPI_2INT);
    EACH(MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER, real, complex, integer);
    EACH(MPI_INT, MPI_CHAR, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_BYTE, MPI_COMPLEX);
    if (is_view)
        return;
    EACH(MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_WCHAR, MPI_SHORT, MPI_UNSIGNED_SHORT,
         MPI_UNSIGNED);
    EACH(MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_PACKED);
    EACH(MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T);
    EACH(MPI_UINT32_T, MPI_UINT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_C_BOOL);
    EACH(MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_BOOL);
    EACH(MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_LOGICAL);
    EACH(MPI_CHARACTER, MPI_INTEGER, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_DOUBLE_COMPLEX);
    EACH(MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_REAL4, MPI_REAL8, MPI_REAL16);
    EACH(MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32);
}

int main(int argc, char **argv)
{
    int wrong;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    fd = open(argv[1], O_RDWR);
    for (int use = 0; use < 2; use++) {
        is_view = use == 1;
        state = (unsigned)atoi(argv[2]);
        check_predefined();
    }
    MPI_File_close(&file);
    MPI_Reduce(&failed, &wrong, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d cases, %d wrong\n", cases, wrong);
    MPI_Finalize();
    return failed > 0;
}
