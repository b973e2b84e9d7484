/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Accesses as runs: which bytes of a file (or of memory) a stream of bytes goes to.
 *
 * A run is `count` blocks of `length` bytes, block b at offset + b * stride; the blocks follow
 * one another in the stream, the first beginning at byte `stream` of it. Regular patterns with
 * millions of blocks stay a few runs, and every operation here cuts runs by arithmetic.
 *
 * Units: bytes. Invariants of a run: length >= 1, count >= 1; stride is 0 when count is 1.
 * A list is *ordered* when its blocks ascend in offset and do not overlap (so stride >= length);
 * file accesses are made ordered by access_layers, memory layouts need not be.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef ACCESS_ACCESS_H
#define ACCESS_ACCESS_H

#include <stddef.h>
#include <stdint.h>

/* "No further byte": larger than any offset. */
#define ACCESS_END INT64_MAX

typedef struct access_run {
    int64_t offset, length, stride, count, stream;
} access_run;

/* A zeroed list is empty. `bytes` is the sum over all runs. */
typedef struct access_list {
    access_run *run;
    size_t count, capacity;
    int64_t bytes;
} access_list;

void access_release(access_list *list);

/* Forgets the runs and keeps the memory. */
void access_clear(access_list *list);

/* Appends one block whose bytes are at `stream`; joined to the last run where it continues it.
 * A length of 0 is ignored. -EINVAL: negative offset (memory lists: see access_append_memory)
 * or length, or an end beyond int64; -ENOMEM. */
int access_append(access_list *list, int64_t offset, int64_t length, int64_t stream);

/* Appends a whole run under the same rules. */
int access_append_run(access_list *list, const access_run *run);

/* Appends bytes [from, to) of the stream of `source` (whose stream begins at 0 and has no gaps),
 * every offset moved by `shift`; their stream goes on at list->bytes. Same errors. O(runs). */
int access_append_slice(access_list *list, const access_list *source, int64_t from, int64_t to,
                        int64_t shift);

/* Offset one past the last byte of an ordered list, and of its first byte; 0 and ACCESS_END
 * when it is empty. */
int64_t access_upper(const access_list *list);
int64_t access_lower(const access_list *list);

/* The blocks of an ordered list, those that touch being one. O(runs). */
int64_t access_blocks(const access_list *list);

/* 1 when the list is ordered. O(runs). */
int access_is_ordered(const access_list *list);

/* Splits any list into ordered ones ("layers"): the blocks sorted by offset, each put into the
 * first layer that ends at or before it. A list without overlaps gives one layer. The caller
 * releases each layer and frees the array. O(blocks log blocks): for the rare views that go
 * backwards or overlap themselves. */
int access_layers(const access_list *list, access_list **layers, size_t *count);

/* ---- runs as words, for another process ---- */

/* Offset, length, stride and count; where a run is in the stream means nothing to others. */
#define ACCESS_RUN_WORDS 4

/* Writes list->count * ACCESS_RUN_WORDS words, every offset moved by `shift`. */
void access_to_words(const access_list *list, int64_t shift, int64_t *word);

/* Appends so many runs, whose stream goes on at list->bytes. Errors of access_append_run. */
int access_append_words(access_list *list, const int64_t *word, size_t runs);

/* ---- walking an ordered list ---- */

/* The next byte is byte `byte` of block `block` of *run; run == end when there is none. */
typedef struct access_cursor {
    const access_run *run, *end;
    int64_t block, byte;
} access_cursor;

void access_cursor_init(access_cursor *cursor, const access_list *list);

/* Offset of the next byte, or ACCESS_END. */
int64_t access_next(const access_cursor *cursor);

/* The rest of the present block, cut at `hi`: 1 and the piece, or 0 when the next byte is not
 * below hi. Advances. */
typedef struct access_piece {
    int64_t offset, length, stream;
} access_piece;
int access_take_piece(access_cursor *cursor, int64_t hi, access_piece *piece);

/* The longest stretch of the stream that comes next and stays below hi: *stream and *length.
 * 1, or 0 when the next byte is not below hi. Advances. O(runs passed). */
int access_take_stream(access_cursor *cursor, int64_t hi, int64_t *stream, int64_t *length);

/* Bytes below hi. Advances. O(runs passed). */
int64_t access_skip(access_cursor *cursor, int64_t hi);

/* Copies between a packed buffer, which holds the bytes below hi in list order, and a window
 * whose first byte is offset `lo` of the list. Both advance, and return the bytes copied;
 * `limit` bounds them (a short buffer ends the copy within a block; the cursor is then not to
 * be used again). */
int64_t access_scatter(access_cursor *cursor, int64_t hi, char *window, int64_t lo,
                       const char *packed, int64_t limit);
int64_t access_gather(access_cursor *cursor, int64_t hi, const char *window, int64_t lo,
                      char *packed);

/* ---- memory: a list whose offsets are addresses and whose stream begins at 0 ---- */

/* Appends a block of memory; the stream goes on where it was. -ENOMEM. */
int access_append_memory(access_list *memory, const void *address, size_t length);

/* The address of stream byte `stream` when `length` bytes from there lie in one piece, or NULL. */
char *access_memory_at(const access_list *memory, int64_t stream, int64_t length);

/* Copies `length` bytes of the stream from `stream` on, out of and into memory. */
void access_from_memory(const access_list *memory, int64_t stream, int64_t length, char *packed);
void access_to_memory(const access_list *memory, int64_t stream, int64_t length,
                      const char *packed);

/* Copies what an ordered list has below hi between memory and a window whose first byte is offset
 * `lo` of the list, without a packed buffer in between. Advance the cursor; return the bytes. */
int64_t access_memory_to_window(const access_list *memory, access_cursor *cursor, int64_t hi,
                                char *window, int64_t lo);
int64_t access_window_to_memory(const access_list *memory, access_cursor *cursor, int64_t hi,
                                const char *window, int64_t lo);

#endif
