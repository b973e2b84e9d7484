/* SPDX-License-Identifier: BSD-3-Clause */
/* The contestants without MPI-IO: MPI_Alltoallv to contiguous slabs, one a rank, with pwrite and
 * pread, as good users write it by hand; and the floor, the same file access without exchange. */
#include "contest.h"

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

/* The contiguous part of this rank. */
static int64_t own_slab(const problem *p)
{
    return slab_start(p->array.bytes, p->rank, p->ranks);
}

static size_t slab_bytes(const problem *p)
{
    return (size_t)(slab_start(p->array.bytes, p->rank + 1, p->ranks) - own_slab(p));
}

/* ---- lists ---- */

/* Fills pieces, unless NULL, with those of a list in [lo, hi); returns their number and sums their
 * bytes. */
static size_t cut_pieces(const access_list *list, int64_t lo, int64_t hi, piece *pieces,
                         int64_t *bytes)
{
    access_cursor cursor;
    access_piece next;
    size_t count = 0;
    access_cursor_init(&cursor, list);
    (void)access_skip(&cursor, lo);
    for (*bytes = 0; access_take_piece(&cursor, hi, &next); count++) {
        if (pieces != NULL)
            pieces[count] = (piece){(size_t)(next.offset - lo), (size_t)next.length};
        *bytes += next.length;
    }
    return count;
}

/* How many bytes of the own part lie in each rank's slab. */
static void count_own(const problem *p, lists *l)
{
    access_cursor cursor;
    int at = 0;
    access_cursor_init(&cursor, &p->own.file);
    for (int r = 0; r < p->ranks; r++) {
        l->own_at[r] = at;
        l->own_count[r] = (int)access_skip(&cursor, slab_start(p->array.bytes, r + 1, p->ranks));
        at += l->own_count[r];
    }
}

static void runs_of(const problem *p, int rank, access_list *list)
{
    access_clear(list);
    if (decomposition_runs(&p->array, (size_t)rank, 0, list) != 0)
        fail("memory", "not enough for the lists");
}

/* Counts what each rank has in the own slab, and lists it where there is room for pieces. */
static void look_at_slab(const problem *p, lists *l)
{
    access_list list = {0};
    int64_t lo = own_slab(p), hi = lo + (int64_t)slab_bytes(p), bytes;
    int at = 0;
    l->count = 0;
    for (int r = 0; r < p->ranks; r++) {
        runs_of(p, r, &list);
        l->count +=
            cut_pieces(&list, lo, hi, l->pieces == NULL ? NULL : l->pieces + l->count, &bytes);
        l->slab_at[r] = at;
        l->slab_count[r] = (int)bytes;
        at += (int)bytes;
    }
    access_release(&list);
}

/* The user knows how the array is cut, so that nothing has to be asked of other ranks. */
static lists *build_lists(const problem *p)
{
    lists *l = take_memory(1, sizeof *l);
    l->own_count = take_memory((size_t)p->ranks, sizeof(int));
    l->own_at = take_memory((size_t)p->ranks, sizeof(int));
    l->slab_count = take_memory((size_t)p->ranks, sizeof(int));
    l->slab_at = take_memory((size_t)p->ranks, sizeof(int));
    count_own(p, l);
    look_at_slab(p, l);
    l->pieces = take_memory(l->count, sizeof *l->pieces);
    look_at_slab(p, l);
    l->slab = take_memory(slab_bytes(p), 1);
    l->exchanged = take_memory(slab_bytes(p), 1);
    if (p->own.form.halo > 0)
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
    h->fd = file_open(p->run->file, O_RDWR | O_CREAT);
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
    access_cursor cursor;
    access_cursor_init(&cursor, &p->own.memory);
    if (l->packed != NULL)
        (void)access_gather(&cursor, ACCESS_END, p->data, 0, l->packed);
    check_mpi(MPI_Alltoallv(stream, l->own_count, l->own_at, MPI_BYTE, l->exchanged, l->slab_count,
                            l->slab_at, MPI_BYTE, MPI_COMM_WORLD),
              "MPI_Alltoallv");
    for (size_t i = 0; i < l->count; i++) {
        memcpy(l->slab + l->pieces[i].at, from, l->pieces[i].bytes);
        from += l->pieces[i].bytes;
    }
    file_write(h->fd, l->slab, slab_bytes(p), own_slab(p));
    return true;
}

static bool hand_read(problem *p, void *opened)
{
    hand *h = opened;
    const lists *l = lists_of(p, h);
    char *stream = l->packed == NULL ? p->data : l->packed;
    char *to = l->exchanged;
    access_cursor cursor;
    file_read(h->fd, l->slab, slab_bytes(p), own_slab(p));
    for (size_t i = 0; i < l->count; i++) {
        memcpy(to, l->slab + l->pieces[i].at, l->pieces[i].bytes);
        to += l->pieces[i].bytes;
    }
    check_mpi(MPI_Alltoallv(l->exchanged, l->slab_count, l->slab_at, MPI_BYTE, stream, l->own_count,
                            l->own_at, MPI_BYTE, MPI_COMM_WORLD),
              "MPI_Alltoallv");
    access_cursor_init(&cursor, &p->own.memory);
    if (l->packed != NULL)
        (void)access_scatter(&cursor, ACCESS_END, p->data, 0, l->packed, p->own.bytes);
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
        fill_bytes(floor_slab, own_slab(p), (int64_t)slab_bytes(p), p->filling);
    floor_filling = p->filling;
    h->fd = file_open(p->run->file, O_RDWR | O_CREAT);
    return h;
}

static bool floor_write(problem *p, void *opened)
{
    hand *h = opened;
    file_write(h->fd, floor_slab, slab_bytes(p), own_slab(p));
    return true;
}

static bool floor_read(problem *p, void *opened)
{
    hand *h = opened;
    file_read(h->fd, floor_slab, slab_bytes(p), own_slab(p));
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
        *w = (way){.name = name,
                   .open = floor_open,
                   .write = floor_write,
                   .read = floor_read,
                   .close = floor_close,
                   .own_buffer = true};
        return true;
    }
    if (!counts_fit || (strcmp(name, "hand") != 0 && strcmp(name, "hand_warm") != 0))
        return false;
    *w = (way){.name = name,
               .open = hand_open,
               .write = hand_write,
               .read = hand_read,
               .close = hand_close};
    return true;
}
