/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance: each constructor of datatypes, applied to each predefined datatype, in memory and as
 * filetype whose etype is the predefined one. The bytes are those of MPI_Pack and MPI_Unpack. */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* X(name, call) for each, of `base`. c: the ending of the functions. */
#define CONSTRUCTORS(X, c)                                                                         \
    X(dup, MPI_Type_contiguous##c(2, base, &part); MPI_Type_dup(part, &made);                      \
      MPI_Type_free(&part))                                                                        \
    X(resized, MPI_Type_create_resized##c(base, 0, 2 * extent, &made))                             \
    X(contiguous, MPI_Type_contiguous##c(3, base, &made))                                          \
    X(vector, MPI_Type_vector##c(2, 3, 4, base, &made))                                            \
    X(hvector, MPI_Type_create_hvector##c(2, 3, 4 * extent, base, &made))                          \
    X(indexed, MPI_Type_indexed##c(2, length, at, base, &made))                                    \
    X(hindexed, MPI_Type_create_hindexed##c(2, length, byte, base, &made))                         \
    X(indexed_block, MPI_Type_create_indexed_block##c(2, 2, at, base, &made))                      \
    X(hindexed_block, MPI_Type_create_hindexed_block##c(2, 2, byte, base, &made))                  \
    X(struct, MPI_Type_create_struct##c(2, length, byte, twice, &made))                            \
    X(subarray, MPI_Type_create_subarray##c(2, whole, some, at, MPI_ORDER_C, base, &made))         \
    X(darray, MPI_Type_create_darray##c(4, rank % 4, 2, whole, way, width, grid,                   \
                                        MPI_ORDER_FORTRAN, base, &made))

#define NAME(name, call) #name,
#define NAME_C(name, call) #name "_c",
#define RUN(name, call)                                                                            \
    if (which-- == 0) {                                                                            \
        call;                                                                                      \
    }

static const char *const variants[] = {"named", CONSTRUCTORS(NAME, )
#if MPI_VERSION >= 4
                                                    CONSTRUCTORS(NAME_C, _c)
#endif
                                                        NULL};
enum { CONSTRUCTORS_ALL = 12 };

/* The constructor of this number. */
#define DEFINE_MAKE(function, number, bytes, c)                                                    \
    static MPI_Datatype function(int which, MPI_Datatype base, int rank)                           \
    {                                                                                              \
        MPI_Aint low, extent;                                                                      \
        MPI_Type_get_extent(base, &low, &extent);                                                  \
        const number length[] = {1, 2}, at[] = {1, 4}, whole[] = {5, 7}, some[] = {2, 3};          \
        const bytes byte[] = {extent, 4 * extent};                                                 \
        const int way[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, grid[] = {2, 2},          \
                  width[] = {2, MPI_DISTRIBUTE_DFLT_DARG};                                         \
        const MPI_Datatype twice[] = {base, base};                                                 \
        MPI_Datatype made = base, part;                                                            \
        CONSTRUCTORS(RUN, c)                                                                       \
        return made;                                                                               \
    }
DEFINE_MAKE(make_small, int, MPI_Aint, )
#if MPI_VERSION >= 4
DEFINE_MAKE(make_large, MPI_Count, MPI_Count, _c)
#else
#define make_large make_small
#endif

static MPI_Datatype make(int variant, MPI_Datatype base, int rank)
{
    return variant <= CONSTRUCTORS_ALL ? make_small(variant - 1, base, rank)
                                       : make_large(variant - 1 - CONSTRUCTORS_ALL, base, rank);
}

/* ROMIO of MPICH 4.0 ends the job at views of large counts and of pairs; that of 4.2 does not. */
static bool ends_at_views(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, major, minor;
    MPI_Get_library_version(version, &length);
    return sscanf(version, "MPICH Version: %d.%d", &major, &minor) == 2 &&
           major * 100 + minor < 402;
}

enum { COUNT = 2 };

/* COUNT elements of a rank: in memory, where all else is 0, and packed. */
struct sample {
    MPI_Datatype type;
    int64_t span;
    int size;
    unsigned char *memory, *packed;
};

/* MPICH leaves out the padding of MPI_LONG_DOUBLE, which is therefore 0. */
static struct sample make_sample(const struct test *t, MPI_Datatype base, int variant, int rank)
{
    struct sample s;
    MPI_Aint low, extent, true_low, true_extent;
    int end = 0;
    s.type = make(variant, base, rank);
    if (s.type != base)
        MPI_Type_commit(&s.type);
    MPI_Type_size(s.type, &s.size);
    MPI_Type_get_extent(s.type, &low, &extent);
    MPI_Type_get_true_extent(s.type, &true_low, &true_extent);
    s.size *= COUNT;
    s.span = (COUNT - 1) * extent + true_low + true_extent;
    s.memory = checked_alloc((size_t)s.span, 1);
    s.packed = checked_alloc((size_t)s.size, 1);
    memset(s.memory, 0, (size_t)s.span);
    fill_content(s.packed, s.size, (uint64_t)rank + 1);
    MPI_Unpack(s.packed, s.size, &end, s.memory, COUNT, s.type, t->comm);
    memset(s.packed, 0, (size_t)s.size);
    end = 0;
    MPI_Pack(s.memory, COUNT, s.type, s.packed, s.size, &end, t->comm);
    return s;
}

static void free_sample(struct sample *s, MPI_Datatype base)
{
    if (s->type != base)
        MPI_Type_free(&s->type);
    free(s->memory);
    free(s->packed);
}

static void transfer(struct test *t, MPI_File file, const struct sample *s, MPI_Datatype base,
                     const char *where)
{
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;
    unsigned char *got = checked_alloc((size_t)s->span, 1);
    memset(got, 0, (size_t)s->span);
    MPI_Type_get_name(base, name, &length);
    must(t, "write", MPI_File_write_at_all(file, 0, s->memory, COUNT, s->type, MPI_STATUS_IGNORE));
    synchronise(t, file);
    must(t, "read", MPI_File_read_at_all(file, 0, got, COUNT, s->type, MPI_STATUS_IGNORE));
    if (memcmp(got, s->memory, (size_t)s->span) != 0)
        differ(t, "%s of %s: read other bytes than were written", where, name);
    free(got);
}

/* What all ranks write is in the model, behind what is there. in_view: the file looks as memory
 * does. */
static void transfer_all(struct test *t, MPI_File file, struct bytes *model, MPI_Datatype base,
                         int variant, bool in_view)
{
    MPI_Offset at = model->size + 64 - model->size % 64, own = at;
    struct sample s = {0};
    for (int rank = 0; rank < t->ranks; rank++) {
        struct sample other = make_sample(t, base, variant, rank);
        int64_t size = in_view ? other.span : other.size;
        bytes_copy(model, at, in_view ? other.memory : other.packed, (size_t)size);
        if (rank == t->rank) {
            own = at;
            s = other;
        } else {
            free_sample(&other, base);
        }
        at += size;
    }
    must(t, "set_view",
         MPI_File_set_view(file, own, in_view ? base : MPI_BYTE, in_view ? s.type : MPI_BYTE,
                           "native", MPI_INFO_NULL));
    transfer(t, file, &s, base, in_view ? "filetype" : "memory type");
    free_sample(&s, base);
}

static void case_types(struct test *t, int variant)
{
    /* clang-format off */
    MPI_Datatype predefined[] = {
        MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE, MPI_WCHAR, MPI_SHORT,
        MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG,
        MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_BOOL, MPI_INT8_T,
        MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T,
        MPI_UINT64_T, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
        MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT,
        MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_CHARACTER, MPI_LOGICAL, MPI_INTEGER, MPI_REAL,
        MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_2INTEGER, MPI_2REAL,
        MPI_2DOUBLE_PRECISION, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL,
    };
    /* clang-format on */
    enum { TYPES = sizeof predefined / sizeof *predefined };
    struct bytes model = {0};
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Type_create_f90_integer(9, &predefined[TYPES - 1]);
    MPI_Type_create_f90_real(15, MPI_UNDEFINED, &predefined[TYPES - 2]);
    MPI_Type_create_f90_complex(6, MPI_UNDEFINED, &predefined[TYPES - 3]);
    for (int i = 0; i < TYPES; i++) {
        const MPI_Datatype base = predefined[i];
        int size = 0;
        MPI_Aint low, extent = 0;
        if (base == MPI_DATATYPE_NULL)
            continue;
        MPI_Type_size(base, &size);
        MPI_Type_get_extent(base, &low, &extent);
        transfer_all(t, file, &model, base, variant, false);
        if ((variant <= CONSTRUCTORS_ALL && size == extent) || !ends_at_views())
            transfer_all(t, file, &model, base, variant, true);
    }
    close_file(t, &file);
    check_file(t, &model);
}

const struct family types_families[] = {{"types", case_types, variants, NULL}, {0}};
