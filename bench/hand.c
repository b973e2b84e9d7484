/* SPDX-License-Identifier: BSD-3-Clause */
/* The contestants without MPI-IO: MPI_Alltoallv to contiguous slabs, one a rank, with pwrite and
 * pread, as good users write it by hand; and the floor, the same file access without exchange. */
#include "contest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A piece of the slab; pieces follow each other in what is exchanged. */
typedef struct piece {
    size_t at, bytes;
} piece;

/* Built in the first operation, and used by those that follow. */
typedef struct lists {
    int *own_count, *own_at;   /* per rank: bytes of this rank's block in its slab */
    int *slab_count, *slab_at; /* per rank: bytes of this slab in its block */
    piece *pieces;
    size_t count;
    char *slab, *exchanged;
    char *packed; /* the block without halo; NULL: the user's memory has none */
} lists;

typedef struct hand {
    int fd;
    lists *lists;
    bool keep; /* for the next time the file is opened */
} hand;

static lists *kept;
static bool counts_fit;

/* ---- plain file access ---- */

int file_open(const char *path, int flags)
{
    int fd = open(path, flags, 0666);
    if (fd < 0)
        fail(path, strerror(errno));
    return fd;
}

void file_write(int fd, const char *from, size_t bytes, int64_t offset)
{
    while (bytes > 0) {
        ssize_t done = pwrite(fd, from, bytes, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            fail("pwrite", done < 0 ? strerror(errno) : "nothing written");
        from += done;
        offset += done;
        bytes -= (size_t)done;
    }
}

void file_read(int fd, char *to, size_t bytes, int64_t offset)
{
    while (bytes > 0) {
        ssize_t done = pread(fd, to, bytes, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            fail("pread", done < 0 ? strerror(errno) : "unexpected end of file");
        to += done;
        offset += done;
        bytes -= (size_t)done;
    }
}

int64_t slab_start(const problem *p, int rank)
{
    return p->pattern.bytes / p->ranks * rank + p->pattern.bytes % p->ranks * rank / p->ranks;
}

static size_t slab_bytes(const problem *p)
{
    return (size_t)(slab_start(p, p->rank + 1) - slab_start(p, p->rank));
}

/* ---- lists ---- */

/* Bytes of a block that lie before an offset of the file. */
static int64_t bytes_before(const pattern *p, const block *b, int64_t offset)
{
    int64_t run = block_first_run(p, b, offset);
    if (run == b->runs)
        return b->bytes;
    int64_t inside = offset - block_file_offset(p, b, run);
    return run * b->run_bytes + (inside > 0 ? inside : 0);
}

/* Fills pieces, unless NULL, with those of a block in [lo, hi); returns their number. */
static size_t cut_pieces(const pattern *p, const block *b, int64_t lo, int64_t hi, piece *pieces)
{
    int64_t first = block_first_run(p, b, lo), i;
    for (i = first; i < b->runs; i++) {
        int64_t start = block_file_offset(p, b, i), end = start + b->run_bytes;
        if (start >= hi)
            break;
        start = start < lo ? lo : start;
        end = end > hi ? hi : end;
        if (pieces != NULL)
            *pieces++ = (piece){(size_t)(start - lo), (size_t)(end - start)};
    }
    return (size_t)(i - first);
}

static void block_of(const problem *p, int rank, block *b)
{
    const char *wrong = pattern_block(&p->pattern, rank, b);
    if (wrong != NULL)
        fail("the pattern", wrong);
}

static void count_bytes(const problem *p, lists *l)
{
    int64_t lo = slab_start(p, p->rank), hi = slab_start(p, p->rank + 1);
    int own = 0, slab = 0;
    for (int r = 0; r < p->ranks; r++) {
        block b;
        block_of(p, r, &b);
        l->own_at[r] = own;
        l->own_count[r] = (int)(bytes_before(&p->pattern, &p->own, slab_start(p, r + 1)) -
                                bytes_before(&p->pattern, &p->own, slab_start(p, r)));
        own += l->own_count[r];
        l->slab_at[r] = slab;
        l->slab_count[r] = (int)(bytes_before(&p->pattern, &b, hi) - bytes_before(&p->pattern, &b, lo));
        slab += l->slab_count[r];
        l->count += cut_pieces(&p->pattern, &b, lo, hi, NULL);
    }
}

static void list_pieces(const problem *p, lists *l)
{
    piece *next = l->pieces = take_memory(l->count, sizeof *l->pieces);
    for (int r = 0; r < p->ranks; r++) {
        block b;
        block_of(p, r, &b);
        next += cut_pieces(&p->pattern, &b, slab_start(p, p->rank), slab_start(p, p->rank + 1), next);
    }
}

/* The user knows how the array is cut, so that nothing has to be asked of other ranks. */
static lists *build_lists(const problem *p)
{
    lists *l = take_memory(1, sizeof *l);
    l->own_count = take_memory((size_t)p->ranks, sizeof(int));
    l->own_at = take_memory((size_t)p->ranks, sizeof(int));
    l->slab_count = take_memory((size_t)p->ranks, sizeof(int));
    l->slab_at = take_memory((size_t)p->ranks, sizeof(int));
    count_bytes(p, l);
    list_pieces(p, l);
    l->slab = take_memory(slab_bytes(p), 1);
    l->exchanged = take_memory(slab_bytes(p), 1);
    if (p->pattern.halo > 0)
        l->packed = take_memory((size_t)p->own.bytes, 1);
    return l;
}

static void free_lists(lists *l)
{
    if (l == NULL)
        return;
    free(l->own_count);
    free(l->own_at);
    free(l->slab_count);
    free(l->slab_at);
    free(l->pieces);
    free(l->slab);
    free(l->exchanged);
    free(l->packed);
    free(l);
}

/* ---- by hand ---- */

static void *hand_open(problem *p, const way *w)
{
    hand *h = take_memory(1, sizeof *h);
    h->keep = strcmp(w->name, "hand_warm") == 0;
    h->lists = h->keep ? kept : NULL;
    h->fd = file_open(p->file, O_RDWR | O_CREAT);
    return h;
}

static const lists *lists_of(const problem *p, hand *h)
{
    if (h->lists == NULL)
        h->lists = build_lists(p);
    return h->lists;
}

static bool hand_write(problem *p, void *opened)
{
    hand *h = opened;
    const lists *l = lists_of(p, h);
    const char *stream = l->packed == NULL ? p->data : l->packed;
    const char *from = l->exchanged;
    if (l->packed != NULL)
        for (int64_t i = 0; i < p->own.runs; i++)
            memcpy(l->packed + i * p->own.run_bytes, p->data + block_memory_offset(&p->pattern, &p->own, i),
                   (size_t)p->own.run_bytes);
    check_mpi(MPI_Alltoallv(stream, l->own_count, l->own_at, MPI_BYTE, l->exchanged, l->slab_count, l->slab_at,
                            MPI_BYTE, MPI_COMM_WORLD), "MPI_Alltoallv");
    for (size_t i = 0; i < l->count; i++) {
        memcpy(l->slab + l->pieces[i].at, from, l->pieces[i].bytes);
        from += l->pieces[i].bytes;
    }
    file_write(h->fd, l->slab, slab_bytes(p), slab_start(p, p->rank));
    return true;
}

static bool hand_read(problem *p, void *opened)
{
    hand *h = opened;
    const lists *l = lists_of(p, h);
    char *stream = l->packed == NULL ? p->data : l->packed;
    char *to = l->exchanged;
    file_read(h->fd, l->slab, slab_bytes(p), slab_start(p, p->rank));
    for (size_t i = 0; i < l->count; i++) {
        memcpy(to, l->slab + l->pieces[i].at, l->pieces[i].bytes);
        to += l->pieces[i].bytes;
    }
    check_mpi(MPI_Alltoallv(l->exchanged, l->slab_count, l->slab_at, MPI_BYTE, stream, l->own_count, l->own_at,
                            MPI_BYTE, MPI_COMM_WORLD), "MPI_Alltoallv");
    if (l->packed != NULL)
        for (int64_t i = 0; i < p->own.runs; i++)
            memcpy(p->data + block_memory_offset(&p->pattern, &p->own, i), l->packed + i * p->own.run_bytes,
                   (size_t)p->own.run_bytes);
    return true;
}

static void hand_close(problem *p, void *opened)
{
    hand *h = opened;
    (void)p;
    if (h->keep)
        kept = h->lists;
    else
        free_lists(h->lists);
    close(h->fd);
    free(h);
}

/* ---- the floor ---- */

static char *floor_slab;
static uint64_t floor_filling;

static void *floor_open(problem *p, const way *w)
{
    hand *h = take_memory(1, sizeof *h);
    (void)w;
    if (floor_slab == NULL)
        floor_slab = take_memory(slab_bytes(p), 1);
    if (floor_filling != p->filling)
        fill_bytes(floor_slab, slab_start(p, p->rank), (int64_t)slab_bytes(p), p->filling);
    floor_filling = p->filling;
    h->fd = file_open(p->file, O_RDWR | O_CREAT);
    return h;
}

static bool floor_write(problem *p, void *opened)
{
    hand *h = opened;
    file_write(h->fd, floor_slab, slab_bytes(p), slab_start(p, p->rank));
    return true;
}

static bool floor_read(problem *p, void *opened)
{
    hand *h = opened;
    file_read(h->fd, floor_slab, slab_bytes(p), slab_start(p, p->rank));
    return true;
}

static void floor_close(problem *p, void *opened)
{
    hand *h = opened;
    (void)p;
    close(h->fd);
    free(h);
}

/* ---- names ---- */

void hand_start(const problem *p)
{
    int64_t largest = p->own.bytes > (int64_t)slab_bytes(p) ? p->own.bytes : (int64_t)slab_bytes(p);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    counts_fit = largest <= INT_MAX;
}

bool hand_find(const char *name, way *w)
{
    if (strcmp(name, "floor") == 0) {
        *w = (way){.name = name, .open = floor_open, .write = floor_write, .read = floor_read,
                   .close = floor_close, .own_buffer = true};
        return true;
    }
    if (!counts_fit || (strcmp(name, "hand") != 0 && strcmp(name, "hand_warm") != 0))
        return false;
    *w = (way){.name = name, .open = hand_open, .write = hand_write, .read = hand_read, .close = hand_close};
    return true;
}
