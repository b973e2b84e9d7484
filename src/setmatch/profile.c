/* SPDX-License-Identifier: BSD-3-Clause */
/* The co-access matrix, and the assignment of file domains to nodes, by an access profile. */
#include "setmatch/profile.h"

#include <errno.h>

#include "base/arena.h"
#include "base/memory.h"
#include "plan/auction.h"
#include "setmatch/quality.h"

/* In a bin of more ranks than MOST_IN_A_BIN, each is paired with the next ones only. */
enum { MOST_IN_A_BIN = 64, NEXT_IN_A_BIN = 32 };

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
    matrix_builder b = {.rows = profile->bytes[0].rows, .cols = profile->bytes[0].rows};
    int rc = 0;
    for (size_t c = 0; rc == 0 && c < profile->calls; c++)
        rc = add_call_pairs(&b, &profile->bytes[c]);
    if (rc == 0)
        rc = matrix_builder_finish(&b, coaccess);
    matrix_builder_clear(&b);
    return rc;
}

/* ---- transportation ---- */

/* Items without benefit take the first nodes with room. */
static int place_others(const matrix *benefit, const size_t *capacity, size_t *node_of_item)
{
    int rc = 0;
    size_t *used = base_zeroed(benefit->cols, sizeof *used, &rc), node = 0;
    for (size_t k = 0; k < benefit->rows && rc == 0; k++)
        if (node_of_item[k] != AUCTION_NOWHERE)
            used[node_of_item[k]]++;
    for (size_t k = 0; k < benefit->rows && rc == 0; k++) {
        if (node_of_item[k] != AUCTION_NOWHERE)
            continue;
        while (used[node] >= capacity[node])
            node++;
        node_of_item[k] = node;
        used[node]++;
    }
    free(used);
    return rc;
}

/* Assigns items to nodes, so that the sum of their benefits is great: as bytes that a flat network
 * should not move. benefit: a row per item, a column per node. Node n gets at most capacity[n]
 * items, which suffices for all. */
static int assign_to_nodes(const matrix *benefit, const size_t *capacity, size_t *node_of_item)
{
    topo flat;
    topo_flat(&flat, benefit->cols);
    int rc = auction_solve(benefit, &flat, capacity, node_of_item);
    return rc == 0 ? place_others(benefit, capacity, node_of_item) : rc;
}

/* ---- owners ---- */

/* Numbers the accessed bins: item[b], SIZE_MAX if the bin is not accessed. Returns their number. */
static size_t number_bins(const matrix *bytes, size_t *item)
{
    size_t count = 0;
    for (size_t b = 0; b < bytes->cols; b++)
        item[b] = SIZE_MAX;
    for (size_t i = 0; i < matrix_entries(bytes); i++)
        if (bytes->value[i] > 0)
            item[bytes->col[i]] = 0;
    for (size_t b = 0; b < bytes->cols; b++)
        if (item[b] == 0)
            item[b] = count++;
    return count;
}

/* Even domains: the bins from the first to the last accessed one, in `domains` equal parts. */
static size_t number_domains(const matrix *bytes, size_t domains, size_t *item)
{
    size_t first = 0, end = bytes->cols;
    number_bins(bytes, item);
    while (first < end && item[first] == SIZE_MAX)
        first++;
    while (end > first && item[end - 1] == SIZE_MAX)
        end--;
    size_t count = domains < end - first ? domains : end - first;
    for (size_t b = first; b < end; b++)
        if (item[b] != SIZE_MAX)
            item[b] = (size_t)((unsigned __int128)(b - first) * count / (end - first));
    return count;
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

struct assignment {
    const matrix *bytes;
    matrix by_bin;      /* bins x nodes: what the ranks of a node access of a bin */
    size_t nodes, used; /* of them, with ranks */
    const size_t *node; /* by rank */
    size_t *item;       /* by bin: the unit of assignment */
    size_t *node_of_item;
    size_t *capacity;    /* by node, in items; 0 if it has no ranks */
    size_t *owner;       /* by bin */
    int64_t local_bytes; /* with these owners; -1: there are none yet */
};

static int sum_by_bin(struct assignment *a)
{
    matrix by_node;
    int rc = matrix_sum_rows(&by_node, a->bytes, a->node, a->nodes);
    if (rc != 0)
        return rc;
    rc = matrix_transpose(&a->by_bin, &by_node);
    matrix_release(&by_node);
    return rc;
}

static int sum_benefits(const matrix *benefit, const size_t *node_of_item, int64_t *sum)
{
    int rc = 0;
    *sum = 0;
    for (size_t k = 0; rc == 0 && k < benefit->rows; k++)
        if (__builtin_add_overflow(*sum, matrix_get(benefit, k, node_of_item[k]), sum))
            rc = -ERANGE;
    return rc;
}

/* Each node with ranks gets an equal share of the items, rounded up. Replaces the owners unless
 * they keep more bytes. */
static int try_items(struct assignment *a, size_t items)
{
    int64_t local_bytes;
    matrix benefit;
    int rc = matrix_sum_rows(&benefit, &a->by_bin, a->item, items);
    if (rc != 0)
        return rc;
    for (size_t n = 0; n < a->nodes; n++)
        if (a->capacity[n] > 0)
            a->capacity[n] = (items + a->used - 1) / a->used;
    rc = assign_to_nodes(&benefit, a->capacity, a->node_of_item);
    if (rc == 0)
        rc = sum_benefits(&benefit, a->node_of_item, &local_bytes);
    matrix_release(&benefit);
    if (rc != 0 || local_bytes < a->local_bytes)
        return rc;
    a->local_bytes = local_bytes;
    for (size_t b = 0; b < a->bytes->cols; b++)
        if (a->item[b] != SIZE_MAX)
            a->owner[b] = a->node_of_item[a->item[b]];
    return 0;
}

/* Even domains, then fitted ones. */
static int assign_call(struct assignment *a)
{
    struct base_arena arena = {0};
    a->item = base_arena_alloc(&arena, a->bytes->cols, sizeof *a->item);
    a->node_of_item = base_arena_alloc(&arena, a->bytes->cols, sizeof *a->node_of_item);
    a->capacity = base_arena_alloc(&arena, a->nodes, sizeof *a->capacity);
    int rc = arena.failed ? -ENOMEM : sum_by_bin(a);
    if (rc == 0) {
        a->used = mark_used_nodes(a->bytes->rows, a->node, a->capacity);
        rc = try_items(a, number_domains(a->bytes, a->used, a->item));
    }
    if (rc == 0)
        rc = try_items(a, number_bins(a->bytes, a->item));
    matrix_release(&a->by_bin);
    base_arena_release(&arena);
    return rc;
}

size_t owners_count_bins(const setmatch_profile *profile)
{
    size_t bins = 0;
    for (size_t c = 0; c < profile->calls; c++)
        bins += profile->bytes[c].cols;
    return bins;
}

int owners_find(const setmatch_profile *profile, size_t nodes, const size_t *node, size_t *owner,
                int64_t *local_bytes)
{
    int rc = 0;
    *local_bytes = 0;
    for (size_t c = 0; rc == 0 && c < profile->calls; c++) {
        struct assignment a = {.bytes = &profile->bytes[c],
                               .nodes = nodes,
                               .node = node,
                               .owner = owner,
                               .local_bytes = -1};
        rc = assign_call(&a);
        if (rc == 0 && __builtin_add_overflow(*local_bytes, a.local_bytes, local_bytes))
            rc = -ERANGE;
        owner += a.bytes->cols;
    }
    return rc;
}

void owners_in_order(const setmatch_profile *profile, const size_t *nodes, size_t count,
                     size_t *owner)
{
    for (size_t c = 0; c < profile->calls; c++) {
        number_domains(&profile->bytes[c], count, owner);
        for (size_t bins = profile->bytes[c].cols; bins > 0; bins--, owner++)
            if (*owner != SIZE_MAX)
                *owner = nodes[*owner];
    }
}

/* Adds what each rank accesses of the bins of each owner. */
static int add_benefits(matrix_builder *b, const matrix *bytes, const size_t *owner)
{
    int rc = 0;
    for (size_t r = 0; r < bytes->rows; r++)
        for (size_t i = bytes->row_start[r]; rc == 0 && i < bytes->row_start[r + 1]; i++)
            if (bytes->value[i] > 0)
                rc = matrix_builder_add(b, r, owner[bytes->col[i]], bytes->value[i]);
    return rc;
}

int owners_follow(const setmatch_profile *profile, size_t nodes, const size_t *capacity,
                  const size_t *owner, size_t *node)
{
    matrix_builder b = {.rows = profile->bytes[0].rows, .cols = nodes};
    matrix benefit = {0};
    int rc = 0;
    for (size_t c = 0; rc == 0 && c < profile->calls; c++) {
        rc = add_benefits(&b, &profile->bytes[c], owner);
        owner += profile->bytes[c].cols;
    }
    if (rc == 0)
        rc = matrix_builder_finish(&b, &benefit);
    matrix_builder_clear(&b);
    if (rc == 0)
        rc = assign_to_nodes(&benefit, capacity, node);
    matrix_release(&benefit);
    return rc;
}
