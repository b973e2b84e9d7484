/* SPDX-License-Identifier: BSD-3-Clause */
/* The contestants without MPI-IO: MPI_Alltoallv to contiguous slabs, one a rank, with pwrite and
 * pread, as good users write it by hand; and the floor, the same file access without exchange. */
#include "contest.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Built in the first operation, and used by those that follow. */
typedef struct lists {
    int *own_count, *own_at;   /* per rank: bytes of this rank's block in its slab */
    int *slab_count, *slab_at; /* per rank: bytes of this slab in its block */
    access_list *piece;        /* per rank: these, by their offsets in the slab; NULL: the floor */
    char *slab, *exchanged;
    char *packed; /* the block without halo; NULL: the user's memory has none */
} lists;

typedef struct hand {
    int fd;
    lists *lists;
    lists **kept; /* where these are when the file is closed; NULL: nowhere */
} hand;

static lists *warm, *floor_lists;

/* The contiguous part of this rank. */
static int64_t own_slab(const workload *w)
{
    return slab_start(w->end, world_rank, world_size);
}

static size_t slab_bytes(const workload *w)
{
    return (size_t)(slab_start(w->end, world_rank + 1, world_size) - own_slab(w));
}

/* ---- lists ---- */

/* How many bytes of the own part are in each rank's slab. */
static void count_own(const workload *w, lists *l)
{
    access_cursor cursor;
    int at = 0;
    access_cursor_init(&cursor, &w->own.file);
    for (int r = 0; r < world_size; r++) {
        l->own_at[r] = at;
        l->own_count[r] = (int)access_skip(&cursor, slab_start(w->end, r + 1, world_size));
        at += l->own_count[r];
    }
}

/* What each rank has in the own slab. */
static void list_slab(const workload *w, lists *l)
{
    access_list list = {0};
    access_cursor cursor;
    int64_t lo = own_slab(w), hi = lo + (int64_t)slab_bytes(w);
    int at = 0;
    for (int r = 0; r < world_size; r++) {
        access_clear(&list);
        int rc = decomposition_runs(&w->own.array, (size_t)r, &list);
        access_cursor_init(&cursor, &list);
        int64_t from = access_skip(&cursor, lo), bytes = access_skip(&cursor, hi);
        if (rc != 0 || access_append_slice(&l->piece[r], &list, from, from + bytes, -lo) != 0)
            fail("memory", "not enough for the lists");
        l->slab_at[r] = at;
        l->slab_count[r] = (int)bytes;
        at += (int)bytes;
    }
    access_release(&list);
}

/* The user knows how the array is cut, so that nothing has to be asked of other ranks. */
static lists *build_lists(const workload *w)
{
    lists *l = take_memory(1, sizeof *l);
    size_t ranks = (size_t)world_size;
    l->own_count = take_memory(4 * ranks, sizeof(int));
    l->own_at = l->own_count + ranks;
    l->slab_count = l->own_at + ranks;
    l->slab_at = l->slab_count + ranks;
    l->piece = take_memory(ranks, sizeof *l->piece);
    count_own(w, l);
    list_slab(w, l);
    l->slab = take_memory(slab_bytes(w), 1);
    l->exchanged = take_memory(slab_bytes(w), 1);
    if (w->data_bytes > w->bytes)
        l->packed = take_memory((size_t)w->bytes, 1);
    return l;
}

static void free_lists(lists *l)
{
    if (l == NULL)
        return;
    for (int r = 0; r < world_size; r++)
        access_release(&l->piece[r]);
    free(l->own_count);
    free(l->piece);
    free(l->slab);
    free(l->exchanged);
    free(l->packed);
    free(l);
}

/* ---- by hand ---- */

static void *hand_open(workload *w, const char *path, bool write)
{
    hand *h = take_memory(1, sizeof *h);
    (void)w;
    (void)write;
    h->fd = file_open(path, O_RDWR | O_CREAT);
    return h;
}

static void *open_again(workload *w, const char *path, bool write, lists **kept)
{
    hand *h = hand_open(w, path, write);
    h->lists = *kept;
    h->kept = kept;
    return h;
}

static void *hand_warm_open(workload *w, const char *path, bool write)
{
    return open_again(w, path, write, &warm);
}

static void exchange_to_slab(const workload *w, const lists *l, char *stream)
{
    access_cursor cursor;
    access_cursor_init(&cursor, &w->own.memory);
    if (l->packed != NULL)
        (void)access_gather(&cursor, ACCESS_END, w->data, 0, stream);
    check_mpi(MPI_Alltoallv(stream, l->own_count, l->own_at, MPI_BYTE, l->exchanged, l->slab_count,
                            l->slab_at, MPI_BYTE, MPI_COMM_WORLD),
              "MPI_Alltoallv");
    for (int r = 0; r < world_size; r++) {
        access_cursor_init(&cursor, &l->piece[r]);
        (void)access_scatter(&cursor, ACCESS_END, l->slab, 0, l->exchanged + l->slab_at[r],
                             l->slab_count[r]);
    }
}

static void exchange_from_slab(const workload *w, const lists *l, char *stream)
{
    access_cursor cursor;
    for (int r = 0; r < world_size; r++) {
        access_cursor_init(&cursor, &l->piece[r]);
        (void)access_gather(&cursor, ACCESS_END, l->slab, 0, l->exchanged + l->slab_at[r]);
    }
    check_mpi(MPI_Alltoallv(l->exchanged, l->slab_count, l->slab_at, MPI_BYTE, stream, l->own_count,
                            l->own_at, MPI_BYTE, MPI_COMM_WORLD),
              "MPI_Alltoallv");
    access_cursor_init(&cursor, &w->own.memory);
    if (l->packed != NULL)
        (void)access_scatter(&cursor, ACCESS_END, w->data, 0, stream, w->bytes);
}

static bool hand_transfer(workload *w, void *file, bool write, bool independent)
{
    hand *h = file;
    (void)independent;
    if (h->lists == NULL)
        h->lists = build_lists(w);
    const lists *l = h->lists;
    char *stream = l->packed == NULL ? w->data : l->packed;
    if (write && l->piece != NULL)
        exchange_to_slab(w, l, stream);
    if (write)
        file_write(h->fd, l->slab, slab_bytes(w), own_slab(w));
    else
        file_read(h->fd, l->slab, slab_bytes(w), own_slab(w));
    if (!write && l->piece != NULL)
        exchange_from_slab(w, l, stream);
    return true;
}

static void hand_close(workload *w, void *file)
{
    hand *h = file;
    (void)w;
    if (h->kept != NULL)
        *h->kept = h->lists;
    else
        free_lists(h->lists);
    close(h->fd);
    free(h);
}

/* ---- the floor ---- */

static void *floor_open(workload *w, const char *path, bool write)
{
    static uint64_t filling;
    if (floor_lists == NULL) {
        floor_lists = take_memory(1, sizeof *floor_lists);
        floor_lists->slab = take_memory(slab_bytes(w), 1);
    }
    if (filling != w->filling)
        fill_bytes(floor_lists->slab, own_slab(w), (int64_t)slab_bytes(w), w->filling);
    filling = w->filling;
    return open_again(w, path, write, &floor_lists);
}

/* ---- names ---- */

static const struct {
    const char *name;
    workload_library library;
} by_hand[] = {
    {"hand", {.plain = true, .open = hand_open, .transfer = hand_transfer, .close = hand_close}},
    {"hand_warm",
     {.plain = true, .open = hand_warm_open, .transfer = hand_transfer, .close = hand_close}},
    {"floor",
     {.plain = true,
      .own_buffer = true,
      .open = floor_open,
      .transfer = hand_transfer,
      .close = hand_close}},
};

bool hand_find(const char *name, const workload *w, way *found)
{
    int64_t largest = w->bytes > (int64_t)slab_bytes(w) ? w->bytes : (int64_t)slab_bytes(w);
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++)
        if (strcmp(name, by_hand[i].name) == 0) {
            *found = (way){.name = name, .library = &by_hand[i].library};
            return w->own.array.ranks > 0 && (largest <= INT_MAX || by_hand[i].library.own_buffer);
        }
    return false;
}
