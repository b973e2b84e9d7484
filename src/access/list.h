/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Lists of runs. Conventions: access.h.
 *
 * A run is `count` blocks of `length` bytes, block b at offset + b * stride; the blocks follow
 * one another in the stream, the first at byte `stream` of it. A regular pattern of millions of
 * blocks is a few runs, and all operations cut runs by arithmetic.
 *
 * Invariants of a run: length >= 1, count >= 1; stride is 0 when count is 1. A list is *ordered*
 * when its blocks ascend in offset and do not overlap (so stride >= length). access_layers orders
 * the accesses to a file; memory layouts may be unordered.
 */
#ifndef ACCESS_LIST_H
#define ACCESS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "No further byte": larger than any offset. */
#define ACCESS_END INT64_MAX

typedef struct access_run {
    int64_t offset, length, stride, count, stream;
} access_run;

/* A zeroed list is empty. `bytes` is the sum over all runs, which the caller keeps below 2^63. */
typedef struct access_list {
    access_run *run;
    size_t count, capacity;
    int64_t bytes;
} access_list;

static inline int64_t access_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void access_release(access_list *list);

/* The same list, to which nothing can be appended: the runs are those of the other. Its capacity
 * is 0. */
access_list access_borrow(const access_list *list);

/* Empties the list and keeps its memory. */
void access_clear(access_list *list);

/* Appends one block whose bytes are at `stream`, merged with the last run where it continues it. A
 * length of 0 is ignored. -EINVAL: negative offset (memory: see access_append_memory) or length, or
 * an end beyond int64; -ENOMEM. */
int access_append(access_list *list, int64_t offset, int64_t length, int64_t stream);

/* Appends a whole run, by the same rules; not of length 0. */
int access_append_run(access_list *list, const access_run *run);

/* Appends a block of memory to a list of addresses, at the end of its stream. -EINVAL:
 * longer than int64; -ENOMEM. */
int access_append_memory(access_list *memory, const void *address, size_t length);

/* Appends bytes [from, to) of the stream of `source` (which begins at 0 and has no gaps), every
 * offset moved by `shift`; their stream begins at list->bytes. Same errors. O(runs). */
int access_append_slice(access_list *list, const access_list *source, int64_t from, int64_t to,
                        int64_t shift);

/* A tiling: a period of accesses that repeats every `extent` bytes of the file, as an MPI file view
 * does. Its stream is that of the first copy, then that of the second, and so on.
 * Appends stream bytes [from, from + bytes) of the tiling whose first copy has its origin at byte
 * `base` of the file; their stream continues at list->bytes. The stream of `period` begins at 0 and
 * has no gaps. Whole copies of a period of one block become one run where extent >= 0;
 * otherwise O(runs of the period * copies). from, bytes >= 0. -EINVAL: bytes of an empty period, or
 * an offset that is negative or beyond int64; -ENOMEM. The list may then have some of the bytes. */
int access_append_tiled(access_list *list, const access_list *period, int64_t base, int64_t extent,
                        int64_t from, int64_t bytes);

/* Index of the run that has byte `stream` of a stream that begins at 0 and has no gaps, the last
 * one for a byte beyond; 0 where the list is empty. O(log runs). */
size_t access_find_run(const access_list *list, int64_t stream);

/* One past the last offset of an ordered list, and its first offset; 0 and ACCESS_END where it is
 * empty. */
int64_t access_upper(const access_list *list);
int64_t access_lower(const access_list *list);

/* The number of blocks of an ordered list, adjacent ones counted once. O(runs). */
int64_t access_blocks(const access_list *list);

/* 1 when the list is ordered. O(runs). */
int access_is_ordered(const access_list *list);

/* Splits any list into ordered ones ("layers"): sorts the blocks by offset and appends each to the
 * first layer that ends at or before it. A list without overlaps gives one layer, an empty one
 * none. The caller
 * releases each layer and frees the array. O(blocks log blocks): for the rare views that descend
 * or overlap themselves. */
int access_layers(const access_list *list, access_list **layers, size_t *count);

/* 128 bits. Two different lists have the same one by chance only: two of 2^32 lists with a
 * probability of about 2^-65. */
typedef struct access_fingerprint {
    uint64_t half[2];
} access_fingerprint;

/* The same for lists with the same runs, moved by any distance. O(runs). */
access_fingerprint access_get_fingerprint(const access_list *list);

static inline bool access_same_fingerprint(access_fingerprint a, access_fingerprint b)
{
    return a.half[0] == b.half[0] && a.half[1] == b.half[1];
}

#endif
