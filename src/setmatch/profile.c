/* SPDX-License-Identifier: BSD-3-Clause */
/* The co-access matrix, and the assignment of file domains to nodes, by an access profile. */
#include "setmatch/profile.h"

#include <errno.h>

#include "setmatch/quality.h"
#include "setmatch/transportation.h"

/* In a bin of more ranks than MOST_IN_A_BIN, each is paired with the next ones only. */
enum { MOST_IN_A_BIN = 64, NEXT_IN_A_BIN = 32 };

static int profile_is_valid(const setmatch_profile *p)
{
    for (size_t c = 0; c < p->calls; c++)
        if (p->bytes[c].rows != p->bytes[0].rows || !matrix_is_nonnegative(&p->bytes[c]))
            return 0;
    return p->calls > 0;
}

/* ---- co-access ---- */

/* A column of a profile: the ranks that access a bin. */
struct bin {
    const size_t *rank;
    const int64_t *bytes;
    size_t ranks;
    __int128 total;
};

/* The bytes that two ranks have in common: what they would exchange on average if an owner of the
 * bin were drawn in proportion to its bytes. */
static int add_rank_pair(matrix_builder *b, const struct bin *bin, size_t i, size_t j, size_t times)
{
    __int128 shared = (__int128)bin->bytes[i] * bin->bytes[j] / bin->total;
    int64_t value = shared > INT64_MAX / 64 ? INT64_MAX / 64 : (int64_t)shared;
    if (__builtin_mul_overflow(value, (int64_t)times, &value))
        value = INT64_MAX / 64;
    return value == 0 ? 0 : matrix_builder_add(b, bin->rank[i], bin->rank[j], value);
}

/* All pairs of a large bin would be too many: there the next ranks represent all later ones. */
static int add_bin_pairs(matrix_builder *b, const struct bin *bin)
{
    size_t next = bin->ranks <= MOST_IN_A_BIN ? bin->ranks : NEXT_IN_A_BIN;
    size_t times = bin->ranks <= MOST_IN_A_BIN ? 1 : bin->ranks / (2 * NEXT_IN_A_BIN);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < bin->ranks; i++)
        for (size_t j = i + 1; rc == 0 && j < bin->ranks && j <= i + next; j++)
            rc = add_rank_pair(b, bin, i, j, times);
    return rc;
}

static int add_call_pairs(matrix_builder *b, const matrix *ranks)
{
    matrix bins;
    int rc = matrix_transpose(&bins, ranks);
    if (rc != 0)
        return rc;
    for (size_t k = 0; rc == 0 && k < bins.rows; k++) {
        size_t first = bins.row_start[k];
        struct bin bin = {bins.col + first, bins.value + first, bins.row_start[k + 1] - first, 0};
        for (size_t i = 0; i < bin.ranks; i++)
            bin.total += bin.bytes[i];
        if (bin.total > 0)
            rc = add_bin_pairs(b, &bin);
    }
    matrix_release(&bins);
    return rc;
}

int setmatch_coaccess(const setmatch_profile *profile, matrix *coaccess)
{
    if (!profile_is_valid(profile))
        return -EINVAL;
    matrix_builder b = {.rows = profile->bytes[0].rows, .cols = profile->bytes[0].rows};
    int rc = 0;
    for (size_t c = 0; rc == 0 && c < profile->calls; c++)
        rc = add_call_pairs(&b, &profile->bytes[c]);
    if (rc == 0)
        rc = matrix_builder_finish(&b, coaccess);
    matrix_builder_clear(&b);
    return rc;
}

/* ---- owners ---- */

static int owners_init(owners *o, const setmatch_profile *profile)
{
    *o = (owners){0};
    o->bins = base_arena_alloc(&o->arena, profile->calls, sizeof *o->bins);
    for (size_t c = 0; o->bins != NULL && c < profile->calls; c++) {
        size_t bins = profile->bytes[c].cols;
        o->bins[c] = base_arena_alloc(&o->arena, bins, sizeof *o->bins[c]);
        for (size_t b = 0; o->bins[c] != NULL && b < bins; b++)
            o->bins[c][b] = SIZE_MAX;
    }
    if (!o->arena.failed)
        return 0;
    owners_release(o);
    return -ENOMEM;
}

void owners_release(owners *o)
{
    base_arena_release(&o->arena);
}

/* The units of assignment: item[b] is that of bin b, SIZE_MAX if the bin is not accessed. */
struct items {
    size_t *item;
    size_t count;
};

/* One item per accessed bin; items->item has an entry for each bin. */
static void number_bins(const matrix *bytes, struct items *items)
{
    items->count = 0;
    for (size_t b = 0; b < bytes->cols; b++)
        items->item[b] = SIZE_MAX;
    for (size_t i = 0; bytes->rows > 0 && i < bytes->row_start[bytes->rows]; i++)
        if (bytes->value[i] > 0)
            items->item[bytes->col[i]] = 0;
    for (size_t b = 0; b < bytes->cols; b++)
        if (items->item[b] == 0)
            items->item[b] = items->count++;
}

/* Even domains: the bins from the first to the last accessed one, in `domains` equal parts. */
static void number_domains(const matrix *bytes, size_t domains, struct items *items)
{
    size_t first = 0, end = bytes->cols;
    number_bins(bytes, items);
    while (first < end && items->item[first] == SIZE_MAX)
        first++;
    while (end > first && items->item[end - 1] == SIZE_MAX)
        end--;
    items->count = domains < end - first ? domains : end - first;
    for (size_t b = first; b < end; b++)
        if (items->item[b] != SIZE_MAX)
            items->item[b] =
                (size_t)((unsigned __int128)(b - first) * items->count / (end - first));
}

/* Bytes of each item (row) on each node (column). */
static int item_benefit(const matrix *bytes, const struct items *items, size_t nodes,
                        const size_t *node, matrix *benefit)
{
    matrix_builder b = {.rows = items->count, .cols = nodes};
    int rc = 0;
    for (size_t r = 0; r < bytes->rows; r++)
        for (size_t i = bytes->row_start[r]; rc == 0 && i < bytes->row_start[r + 1]; i++)
            if (bytes->value[i] > 0)
                rc = matrix_builder_add(&b, items->item[bytes->col[i]], node[r], bytes->value[i]);
    if (rc == 0)
        rc = matrix_builder_finish(&b, benefit);
    matrix_builder_clear(&b);
    return rc;
}

/* Sets used[n], of zeros, to 1 for each node with ranks. Returns the number of such nodes. */
static size_t mark_used_nodes(size_t ranks, const size_t *node, size_t *used)
{
    size_t count = 0;
    for (size_t r = 0; r < ranks; r++) {
        count += used[node[r]] == 0;
        used[node[r]] = 1;
    }
    return count;
}

/* Of one call. */
struct assignment {
    const matrix *bytes;
    size_t nodes;
    const size_t *node; /* by rank */
    struct items items;
    size_t *node_of_item;
    size_t *capacity;    /* by node, in items; 0 if it has no ranks */
    size_t *owner;       /* by bin */
    int64_t local_bytes; /* with these owners; -1: there are none yet */
};

/* Sets node_of_item; each node gets an equal share of the items, rounded up, if it has ranks. */
static int assign_items(struct assignment *a, size_t used, int64_t *local_bytes)
{
    matrix benefit;
    int rc = item_benefit(a->bytes, &a->items, a->nodes, a->node, &benefit);
    if (rc != 0)
        return rc;
    for (size_t n = 0; n < a->nodes; n++)
        if (a->capacity[n] > 0)
            a->capacity[n] = (a->items.count + used - 1) / used;
    rc = solve_transportation(&benefit, a->capacity, a->node_of_item);
    *local_bytes = 0;
    for (size_t k = 0; rc == 0 && k < a->items.count; k++)
        if (__builtin_add_overflow(*local_bytes, matrix_get(&benefit, k, a->node_of_item[k]),
                                   local_bytes))
            rc = -ERANGE;
    matrix_release(&benefit);
    return rc;
}

/* Replaces the owners unless they keep more bytes. */
static int try_items(struct assignment *a, size_t used)
{
    int64_t local_bytes;
    int rc = assign_items(a, used, &local_bytes);
    if (rc != 0 || local_bytes < a->local_bytes)
        return rc;
    a->local_bytes = local_bytes;
    for (size_t b = 0; b < a->bytes->cols; b++)
        if (a->items.item[b] != SIZE_MAX)
            a->owner[b] = a->node_of_item[a->items.item[b]];
    return 0;
}

/* Even domains, then fitted ones. */
static int assign_call(struct assignment *a)
{
    struct base_arena arena = {0};
    a->items.item = base_arena_alloc(&arena, a->bytes->cols, sizeof *a->items.item);
    a->node_of_item = base_arena_alloc(&arena, a->bytes->cols, sizeof *a->node_of_item);
    a->capacity = base_arena_alloc(&arena, a->nodes, sizeof *a->capacity);
    int rc = arena.failed ? -ENOMEM : 0;
    if (rc == 0) {
        size_t used = mark_used_nodes(a->bytes->rows, a->node, a->capacity);
        number_domains(a->bytes, used, &a->items);
        rc = try_items(a, used);
        number_bins(a->bytes, &a->items);
        if (rc == 0)
            rc = try_items(a, used);
    }
    base_arena_release(&arena);
    return rc;
}

int owners_find(owners *o, const setmatch_profile *profile, size_t nodes, const size_t *node,
                int64_t *local_bytes)
{
    int64_t sum = 0;
    int rc = owners_init(o, profile);
    if (rc != 0)
        return rc;
    for (size_t c = 0; rc == 0 && c < profile->calls; c++) {
        struct assignment a = {.bytes = &profile->bytes[c],
                               .nodes = nodes,
                               .node = node,
                               .owner = o->bins[c],
                               .local_bytes = -1};
        rc = assign_call(&a);
        if (rc == 0 && __builtin_add_overflow(sum, a.local_bytes, &sum))
            rc = -ERANGE;
    }
    if (rc != 0)
        owners_release(o);
    else
        *local_bytes = sum;
    return rc;
}

int owners_in_order(owners *o, const setmatch_profile *profile, const size_t *nodes, size_t count)
{
    int rc = owners_init(o, profile);
    for (size_t c = 0; rc == 0 && c < profile->calls; c++) {
        struct items items = {o->bins[c], 0};
        number_domains(&profile->bytes[c], count, &items);
        for (size_t b = 0; b < profile->bytes[c].cols; b++)
            if (items.item[b] != SIZE_MAX)
                o->bins[c][b] = nodes[items.item[b]];
    }
    return rc;
}

int owners_benefit(const owners *o, const setmatch_profile *profile, size_t nodes, matrix *benefit)
{
    matrix_builder b = {.rows = profile->bytes[0].rows, .cols = nodes};
    int rc = 0;
    for (size_t c = 0; c < profile->calls; c++) {
        const matrix *bytes = &profile->bytes[c];
        for (size_t r = 0; r < bytes->rows; r++)
            for (size_t i = bytes->row_start[r]; rc == 0 && i < bytes->row_start[r + 1]; i++)
                if (bytes->value[i] > 0)
                    rc = matrix_builder_add(&b, r, o->bins[c][bytes->col[i]], bytes->value[i]);
    }
    if (rc == 0)
        rc = matrix_builder_finish(&b, benefit);
    matrix_builder_clear(&b);
    return rc;
}
