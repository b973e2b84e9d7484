/* SPDX-License-Identifier: BSD-3-Clause */
/* Pairs of consecutive accesses in the file. */
#include "access/neighbours.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "access/merge.h"

static bool continues(const access_block *last, const access_block *next)
{
    return last->owner == next->owner && last->offset + last->length == next->offset;
}

static int count_adjacent_pair(matrix_builder *counts, size_t a, size_t b, int64_t value)
{
    int rc = matrix_builder_add(counts, a, b, value);
    return rc != 0 ? rc : matrix_builder_add(counts, b, a, value);
}

/* ---- within a part ---- */

/* A direct-mapped cache: pairs repeat, and each is summed here until another one evicts it. */
enum { CACHED_PAIRS = 256 };
struct pair {
    size_t a, b;
    int64_t value;
};

/* The last block may still grow, so that pairs are counted one block later. */
struct block_walk {
    matrix_builder *counts;
    struct pair pair[CACHED_PAIRS];
    size_t blocks;
    access_block first[2], last[3]; /* last[2] is the latest; valid: the last min(blocks, 3) */
};

static int flush_pair(struct block_walk *w, struct pair *pair)
{
    int rc = pair->value > 0 ? count_adjacent_pair(w->counts, pair->a, pair->b, pair->value) : 0;
    pair->value = 0;
    return rc;
}

static int count_pair(struct block_walk *w, const access_block *a, const access_block *b)
{
    struct pair *pair = &w->pair[(a->owner * 31 + b->owner) % CACHED_PAIRS];
    int rc = 0;
    if (pair->a != a->owner || pair->b != b->owner) {
        rc = flush_pair(w, pair);
        *pair = (struct pair){a->owner, b->owner, 0};
    }
    pair->value++;
    return rc;
}

static int walk_block(struct block_walk *w, access_block block)
{
    if (w->blocks > 0 && continues(&w->last[2], &block)) {
        w->last[2].length += block.length;
        return 0;
    }
    if (w->blocks == 1 || w->blocks == 2)
        w->first[w->blocks - 1] = w->last[2];
    w->last[0] = w->last[1];
    w->last[1] = w->last[2];
    w->last[2] = block;
    return ++w->blocks < 4 ? 0 : count_pair(w, &w->last[0], &w->last[1]);
}

static access_ends ends_of(const struct block_walk *w)
{
    access_ends ends = {.count = w->blocks < 4 ? w->blocks : 4};
    for (size_t k = 0; k < ends.count; k++)
        ends.block[k] = k < 2 && k + 1 < w->blocks ? w->first[k] : w->last[3 - ends.count + k];
    return ends;
}

static int walk_all(access_merge *merge, const size_t *owner, struct block_walk *w)
{
    access_piece piece;
    size_t list;
    int rc = 0;
    while (rc == 0 && access_merge_take(merge, &piece, &list))
        rc = walk_block(w, (access_block){owner[list], piece.offset, piece.length});
    for (size_t i = 0; i < CACHED_PAIRS && rc == 0; i++)
        rc = flush_pair(w, &w->pair[i]);
    return rc;
}

int access_count_neighbours(const access_list *lists, const size_t *owner, size_t count,
                            matrix_builder *counts, access_ends *ends)
{
    access_merge merge;
    struct block_walk w = {.counts = counts};
    const access_list **list = calloc(count + 1, sizeof *list);
    if (list == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        list[i] = &lists[i];
    int rc = access_merge_init(&merge, list, count);
    if (rc == 0) {
        rc = walk_all(&merge, owner, &w);
        access_merge_release(&merge);
    }
    if (rc == 0)
        *ends = ends_of(&w);
    free(list);
    return rc;
}

/* ---- between parts ---- */

/* The pair of `before` and `last` is counted when `last` is complete. */
struct seam {
    access_block before, last;
    size_t blocks;
    bool counted; /* within a part */
};

static int close_pair(const struct seam *s, matrix_builder *counts)
{
    if (s->blocks < 2 || s->counted)
        return 0;
    return count_adjacent_pair(counts, s->before.owner, s->last.owner, 1);
}

static int append_end(struct seam *s, const access_block *block, bool counted,
                      matrix_builder *counts)
{
    if (s->blocks > 0 && !counted && continues(&s->last, block)) {
        s->last.length += block->length;
        return 0;
    }
    int rc = close_pair(s, counts);
    s->before = s->last;
    s->last = *block;
    s->counted = counted;
    s->blocks++;
    return rc;
}

int access_join_ends(const access_ends *ends, size_t parts, matrix_builder *counts)
{
    struct seam s = {.blocks = 0};
    int rc = 0;
    for (size_t part = 0; part < parts && rc == 0; part++)
        for (size_t k = 0; k < ends[part].count && rc == 0; k++)
            rc = append_end(&s, &ends[part].block[k], k == 2 && ends[part].count == 4, counts);
    return rc == 0 ? close_pair(&s, counts) : rc;
}
