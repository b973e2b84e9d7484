/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance: named cases of collective MPI-IO with expectations of their own. What a file
 * must hold is worked out byte by byte from the formula of a view, and read back by rank 0
 * with plain pread; MPI is asked for nothing that it is tested for. */
#ifndef TESTS_MPI_CONFORMANCE_H
#define TESTS_MPI_CONFORMANCE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test {
    const char *dir;
    MPI_Comm comm; /* of all ranks; each case has its own copy */
    int rank, ranks;
    bool threads;      /* MPI_THREAD_MULTIPLE was asked for and is there */
    char path[4096];   /* of the case's file, removed after the case; not there before it */
    char failure[512]; /* the first thing found wrong on this rank; empty: nothing */
    char skip[256];    /* why the case does not apply here, the same on every rank */
    const void *row;   /* of its family */
};

/* A case, or one case for each name in `variants` (ends with NULL): NAME/VARIANT. Cases are
 * collective: every rank comes to the end, also after it has found something wrong. */
struct family {
    const char *name;
    void (*run)(struct test *t, int variant);
    const char *const *variants;
    const void *row; /* in what it differs from other families of the same function */
};

/* A pointer to a constant of this type. */
#define ROW(type, ...) (&(const type){__VA_ARGS__})

/* Runs one case on t->comm, whose file is gone afterwards. */
void run_alone(struct test *t, const struct family *f, int variant);

/* main of a program with the families of `table`, which ends with NULL. */
int conformance_main(int argc, char **argv, const struct family *const *table);

/* Keeps the first difference of a case. */
void differ(struct test *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void skip_case(struct test *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `what` must have returned MPI_SUCCESS. */
void must(struct test *t, const char *what, int code);
/* `what` has returned `code`: its error class, which must be the same on all ranks. */
int same_class(struct test *t, const char *what, int code);
/* Ranks that found something wrong so far; collective. */
bool all_well(const struct test *t);

void *checked_alloc(size_t count, size_t size);

/* A number that looks random. */
uint64_t mix(uint64_t x);
/* Byte k of the data named by `seed`; never 0 and never 0xee, which is the filling of
 * whatever must stay as it is. */
unsigned char content(uint64_t seed, int64_t k);
#define FILLING 0xee
void fill_content(unsigned char *at, int64_t size, uint64_t seed);

/* --- the file and its model --- */

/* What the file must be. Bytes that nobody wrote are 0. */
struct bytes {
    unsigned char *at;
    int64_t size, room;
};
void bytes_put(struct bytes *b, int64_t offset, unsigned char value);
void bytes_copy(struct bytes *b, int64_t offset, const void *from, size_t size);
void bytes_extend(struct bytes *b, int64_t size);
void bytes_release(struct bytes *b);

/* Rank 0 writes the file without MPI; the others wait. */
void create_file(struct test *t, const struct bytes *content);
/* The same with `size` bytes of content(seed), which it returns. */
struct bytes create_filled(struct test *t, int64_t size, uint64_t seed);
/* Rank 0 reads the file without MPI, and compares size and every byte. The others wait. The model
 * is released on all ranks. */
void check_file(struct test *t, struct bytes *model);
void check_path(struct test *t, const char *path, struct bytes *model);
/* Rank 0: `size` bytes at `offset` without MPI; false (and differ) when they are not there. */
bool peek(struct test *t, const char *path, int64_t offset, void *at, size_t size);

/* Of "KEY=VALUE KEY=VALUE"; MPI_INFO_NULL if there are none. */
MPI_Info make_info(const char *hints);
/* Opens t->path on t->comm; a failure ends the program. */
MPI_File open_file(struct test *t, int amode);
MPI_File open_with(struct test *t, int amode, const char *hints);
MPI_File open_path(MPI_Comm comm, const char *path, int amode, const char *hints);
void close_file(struct test *t, MPI_File *file);
/* sync, barrier, sync: what the ranks wrote is what all of them see. */
void synchronise(struct test *t, MPI_File file);

/* --- views and memory by formula --- */

/* Byte k of the view's data lies at first + k / block * stride + k % block. block is a
 * multiple of etype, the size of the elementary type: 1, 4 or 8. */
struct view {
    int64_t first, block, stride;
    int etype;
};
int64_t view_place(const struct view *v, int64_t k);
MPI_Datatype element(int etype);
void set_view(struct test *t, MPI_File file, const struct view *v);
void set_view_as(struct test *t, MPI_File file, const struct view *v, const char *datarep,
                 MPI_Info info);
void model_write(struct bytes *model, const struct view *v, int64_t from, int64_t bytes,
                 uint64_t seed);

/* Views of all ranks: rank r has `block` bytes at first + r * step, and again behind the steps of
 * all ranks and `gap` bytes. */
struct deal {
    int64_t first, block, step, gap;
    int etype;
};
struct view dealt_view(const struct deal *d, const struct test *t, int rank);
/* The view of this rank. */
void set_dealt_view(struct test *t, MPI_File file, const struct deal *d);
/* On rank 0: what all ranks write to their views, rank r content(seed + r). */
void model_deal(const struct test *t, struct bytes *model, const struct deal *d, int64_t from,
                int64_t bytes, uint64_t seed);

enum shape { PLAIN, HOLES, NEGATIVE, RESIZED, BACKWARD, ABSOLUTE };

/* A user's buffer: byte k of the data lies at origin + first + k / block * stride + k % block,
 * which is what `count` of `type` mean at the address `origin`. All of [whole, whole + size)
 * beside the data is FILLING. */
struct memory {
    unsigned char *whole, *origin;
    void *address; /* for MPI: origin, or MPI_BOTTOM */
    int64_t size, bytes, first, block, stride;
    int count;
    MPI_Datatype type;
};
/* Data of `bytes` bytes in elements of `etype`, all FILLING. */
struct memory memory_make(enum shape shape, int64_t bytes, int etype);
void memory_fill(struct memory *m, uint64_t seed);
/* The first `valid` bytes are content(seed, k), all else is FILLING. */
void memory_check(struct test *t, const struct memory *m, int64_t valid, uint64_t seed);
void memory_release(struct memory *m);

/* --- the calls --- */

/* By file pointer, by offset, by the pointer that all ranks share. */
enum kind { ALL, SPLIT_ALL, I_ALL, AT_ALL, SPLIT_AT_ALL, I_AT_ALL, ORDERED, SPLIT_ORDERED };
/* All kinds; those of the first three; of the first six; of the middle three, from AT_ALL on. */
extern const char *const kind_names[], *const pointer_kinds[], *const own_kinds[],
                                                                   *const offset_kinds[];
bool is_ordered(enum kind kind);
bool has_offset(enum kind kind);
/* A whole collective call. `offset` in elements of the view, for calls that have one. */
int call_write(enum kind kind, MPI_File file, int64_t offset, const struct memory *m,
               MPI_Status *status);
int call_read(enum kind kind, MPI_File file, int64_t offset, const struct memory *m,
              MPI_Status *status);

/* What one rank moves in a call: content(seed), from byte `from` of its view on. */
struct data {
    enum shape shape;
    int etype;
    int64_t from, bytes;
    uint64_t seed;
    bool no_status;
};
/* The call, with memory of its own. Memory and, of a call that succeeds, status must be right. */
int write_data(struct test *t, enum kind kind, MPI_File file, const struct data *d);
int read_data(struct test *t, enum kind kind, MPI_File file, const struct data *d);
void check_count(struct test *t, const char *what, const MPI_Status *status, int64_t wanted);

/* The tables of the programs `conformance` and `conformance_hints`. */
extern const struct family calls_families[], views_families[], requests_families[],
    files_families[], settings_families[];
/* Row: hints of the file. */
void case_atomic_overlap(struct test *t, int kind);

#endif
