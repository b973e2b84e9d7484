/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of each rank in each part of the file. */
#include "tally.h"

#include <errno.h>
#include <stdlib.h>

/* What one rank has in each part of the file; parts that it touches are listed. */
struct tally {
    const int64_t *bound; /* part j is [bound[j], bound[j + 1]) */
    size_t parts;
    run_part *sum;
    size_t *touched, touches;
};

static int tally_init(struct tally *t, const int64_t *bound, size_t parts)
{
    *t = (struct tally){bound, parts, calloc(parts, sizeof *t->sum),
                        calloc(parts, sizeof *t->touched), 0};
    return t->sum == NULL || t->touched == NULL ? -ENOMEM : 0;
}

static void tally_release(struct tally *t)
{
    free(t->sum);
    free(t->touched);
}

static size_t part_at(const struct tally *t, int64_t offset)
{
    size_t low = 0, high = t->parts;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (t->bound[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void tally_run(struct tally *t, const access_run *run)
{
    int64_t end = run->offset + (run->count - 1) * run->stride + run->length;
    for (size_t j = part_at(t, run->offset); j < t->parts && t->bound[j] < end; j++) {
        run_part part = access_run_part(run, t->bound[j], t->bound[j + 1]);
        if (part.bytes == 0)
            continue;
        if (t->sum[j].bytes == 0)
            t->touched[t->touches++] = j;
        t->sum[j].bytes += part.bytes;
        t->sum[j].blocks += part.blocks;
    }
}

/* Adds the row to the builders (blocks may be NULL), and clears it. */
static int tally_flush(struct tally *t, size_t rank, matrix_builder *bytes, matrix_builder *blocks)
{
    int rc = 0;
    for (; t->touches > 0; t->touches--) {
        size_t j = t->touched[t->touches - 1];
        if (rc == 0)
            rc = matrix_builder_add(bytes, rank, j, t->sum[j].bytes);
        if (rc == 0 && blocks != NULL)
            rc = matrix_builder_add(blocks, rank, j, t->sum[j].blocks);
        t->sum[j] = (run_part){0, 0};
    }
    return rc;
}

static int tally_ranks(struct tally *t, const decomposition *d, int64_t base, matrix_builder *bytes,
                       matrix_builder *blocks)
{
    access_list list = {0};
    int rc = 0;
    for (size_t rank = 0; rank < d->ranks && rc == 0; rank++) {
        access_clear(&list);
        rc = decomposition_runs(d, rank, base, &list);
        for (size_t i = 0; i < list.count && rc == 0; i++)
            tally_run(t, &list.run[i]);
        if (rc == 0)
            rc = tally_flush(t, rank, bytes, blocks);
    }
    access_release(&list);
    return rc;
}

int add_parts(const decomposition *d, int64_t base, const int64_t *bound, size_t parts,
              matrix_builder *bytes, matrix_builder *blocks)
{
    struct tally t;
    int rc = tally_init(&t, bound, parts);
    if (rc == 0)
        rc = tally_ranks(&t, d, base, bytes, blocks);
    tally_release(&t);
    return rc;
}

int add_units(const decomposition *d, int64_t base, int64_t unit, matrix_builder *bytes)
{
    size_t units = bytes->cols;
    int64_t *bound = calloc(units + 1, sizeof *bound);
    if (bound == NULL)
        return -ENOMEM;
    for (size_t u = 0; u < units; u++)
        bound[u] = (int64_t)u * unit;
    bound[units] = INT64_MAX;
    int rc = add_parts(d, base, bound, units, bytes, NULL);
    free(bound);
    return rc;
}

int units_by_node(const matrix *units, const size_t *node_of_rank, size_t nodes, matrix *bytes)
{
    matrix_builder builder = {.rows = units->cols, .cols = nodes};
    int rc = 0;
    for (size_t k = 0; k < units->rows && rc == 0; k++)
        for (size_t e = units->row_start[k]; e < units->row_start[k + 1] && rc == 0; e++)
            rc = matrix_builder_add(&builder, units->col[e], node_of_rank[k], units->value[e]);
    if (rc == 0)
        rc = matrix_builder_finish(&builder, bytes);
    matrix_builder_clear(&builder);
    return rc;
}

size_t units_of(int64_t bytes, int64_t unit)
{
    return (size_t)((bytes - 1) / unit + 1);
}
