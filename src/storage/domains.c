/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes hold the bytes of file domains. */
#include "storage/storage.h"

#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"

/* Stripes of a range that are looked up one by one; those behind them are counted by objects. */
enum { FEW_STRIPES = 64 };

/* Ranges of all domains; layouts with more stripes repeat themselves long before. */
enum { MOST_RANGES = 1 << 18 };

struct spread {
    const storage_layout *layout;
    const size_t *node_of_target;
    int64_t *bytes;         /* scratch, of each target and of none */
    int64_t *seen;          /* bytes of each domain so far */
    matrix_builder on_node; /* the same by node */
};

static int add_bytes(struct spread *s, size_t domain, size_t target, int64_t bytes)
{
    size_t node = target != STORAGE_NONE ? s->node_of_target[target] : STORAGE_NONE;
    s->seen[domain] += bytes;
    return node != STORAGE_NONE ? matrix_builder_add(&s->on_node, node, domain, bytes) : 0;
}

static int count_range(struct spread *s, size_t domain, int64_t start, int64_t end)
{
    size_t targets = storage_targets(s->layout);
    int rc = 0;
    storage_count(s->layout, start, end, s->bytes);
    for (size_t t = 0; t <= targets && rc == 0; t++)
        if (s->bytes[t] > 0)
            rc = add_bytes(s, domain, t < targets ? t : STORAGE_NONE, s->bytes[t]);
    return rc;
}

static int add_range(struct spread *s, size_t domain, int64_t start, int64_t end)
{
    int rc = 0;
    for (int k = 0; k < FEW_STRIPES && start < end && rc == 0; k++) {
        int64_t next;
        size_t target = storage_find(s->layout, start, &next);
        next = next < end ? next : end;
        rc = add_bytes(s, domain, target, next - start);
        start = next;
    }
    return start < end && rc == 0 ? count_range(s, domain, start, end) : rc;
}

/* *reached: the end of the last range. */
static int add_ranges(struct spread *s, const file_domains *domains, int64_t *reached)
{
    int64_t at = domains->lo;
    size_t near = 0;
    int rc = 0;
    for (size_t k = 0; k < MOST_RANGES && at < domains->hi && rc == 0; k++) {
        domain_range range = domains_range_at(domains, at, &near);
        rc = add_range(s, range.domain, at, range.hi);
        at = range.hi;
    }
    *reached = at;
    return rc;
}

/* From bytes of the domain that were looked at to those that are accessed, each once. */
static void scale(matrix *m, const int64_t *seen, const int64_t *most, const int64_t *accessed)
{
    for (size_t k = 0; k < matrix_entries(m); k++) {
        size_t j = m->col[k];
        int64_t bytes = accessed[j] < most[j] ? accessed[j] : most[j];
        m->value[k] = (int64_t)((__int128)m->value[k] * bytes / seen[j]);
    }
}

int storage_spread(const storage_layout *layout, const file_domains *domains,
                   const size_t *node_of_target, size_t nodes, const int64_t *accessed,
                   matrix *bytes)
{
    struct spread s = {.layout = layout,
                       .node_of_target = node_of_target,
                       .on_node = {.rows = nodes, .cols = domains->count}};
    int64_t reached = domains->lo;
    int rc = 0;
    s.bytes = base_zeroed(storage_targets(layout) + 1, sizeof *s.bytes, &rc);
    s.seen = base_zeroed(domains->count, sizeof *s.seen, &rc);
    if (rc == 0)
        rc = add_ranges(&s, domains, &reached);
    if (rc == 0)
        rc = matrix_builder_finish(&s.on_node, bytes);
    if (rc == 0)
        scale(bytes, s.seen, reached == domains->hi ? s.seen : domains->size, accessed);
    matrix_builder_clear(&s.on_node);
    free(s.seen);
    free(s.bytes);
    return rc;
}
