/* SPDX-License-Identifier: BSD-3-Clause */
/* Choices of ranks of a forest, by sums over subtrees. */
#include "setmatch/choice.h"

#include <errno.h>
#include <string.h>

#include "base/processor.h"

/* Table entries that are summed up at a time. */
enum { BLOCK = 8 };

/* The passes over a rank of the window for each choice, in table entries. */
enum { PASSES = 4 };

/* More than any cut, and three times that is an int64; of equal bytes, so that memset sets it. */
#define NO_CUT INT64_C(0x2020202020202020)

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- window ---- */

static void open_window(choice *c)
{
    c->waiting = c->vertices;
    c->is_inside[c->vertices] = c->is_stale[c->vertices] = true;
    c->row[c->vertices] = (vertex)c->most_in_window;
    for (size_t k = 0; k < c->most_in_window; k++)
        c->unused[k] = (vertex)k;
}

int choice_init(choice *c, const affinity *g, size_t variant, size_t most_in_window, size_t most)
{
    size_t ranks = g->vertices, entries;
    *c = (choice){.vertices = ranks, .most_in_window = most_in_window, .most = most};
    if (__builtin_mul_overflow(most_in_window + 1, most + 1, &entries))
        return -ENOMEM;
    int rc = trees_init(&c->all, &c->arena, g, variant);
    if (rc != 0)
        return rc;
    c->window = base_arena_alloc(&c->arena, most_in_window, sizeof *c->window);
    c->is_inside = base_arena_alloc(&c->arena, ranks + 1, sizeof *c->is_inside);
    c->row = base_arena_alloc(&c->arena, ranks + 1, sizeof *c->row);
    c->unused = base_arena_alloc(&c->arena, most_in_window, sizeof *c->unused);
    for (size_t k = 0; k < 2; k++) {
        c->cut[k] = base_arena_alloc(&c->arena, entries, sizeof *c->cut[k]);
        c->part[k] = base_arena_alloc(&c->arena, entries, sizeof *c->part[k]);
    }
    c->ranks = base_arena_alloc(&c->arena, ranks + 1, sizeof *c->ranks);
    c->number = base_arena_alloc(&c->arena, ranks + 1, sizeof *c->number);
    c->is_stale = base_arena_alloc(&c->arena, ranks + 1, sizeof *c->is_stale);
    c->chosen = base_arena_alloc(&c->arena, ranks + 1, sizeof *c->chosen);
    c->sum = base_arena_alloc(&c->arena, most + 1, sizeof *c->sum);
    if (c->arena.failed)
        return -ENOMEM;
    open_window(c);
    return 0;
}

void choice_release(choice *c)
{
    base_arena_release(&c->arena);
}

void choice_fill_window(choice *c)
{
    while (c->count < c->most_in_window && c->waiting > 0) {
        vertex v = c->all.order[--c->waiting];
        c->is_inside[v] = c->is_stale[v] = true;
        c->row[v] = c->unused[c->most_in_window - c->count - 1];
        c->window[c->count++] = v;
    }
}

/* The vertex from which v hangs in the window. */
static vertex above(const choice *c, vertex v)
{
    vertex p = c->all.parent[v];
    return c->is_inside[p] ? p : (vertex)c->vertices;
}

/* ---- rows of the tables ---- */

static int64_t *cuts_of(const choice *c, size_t v, bool chosen)
{
    return c->cut[chosen] + c->row[v] * (c->most + 1);
}

static uint64_t *parts_of(const choice *c, size_t v, bool parent_is_chosen)
{
    return c->part[parent_is_chosen] + c->row[v] * (c->most + 1);
}

/* Lowers sums to those of a row of cuts with one more, and sets the parts of these. */
static inline void lower_block(int64_t *restrict sum, uint64_t *restrict part,
                               const int64_t *restrict cut, size_t count, int64_t more,
                               uint64_t first, uint64_t step)
{
    for (size_t k = 0; k < count; k++) {
        int64_t with = cut[k] + more;
        bool lowers = with < sum[k];
        part[k] = lowers ? first + step * k : part[k];
        sum[k] = lowers ? with : sum[k];
    }
}

/* The same of any number: whole blocks without branches, which compilers vectorize. */
FOR_EACH_PROCESSOR
static void lower_sums(int64_t *sum, uint64_t *part, const int64_t *cut, size_t count, int64_t more,
                       uint64_t first, uint64_t step)
{
    size_t k = 0;
    for (; k + BLOCK <= count; k += BLOCK)
        lower_block(sum + k, part + k, cut + k, BLOCK, more, first + step * k, step);
    lower_block(sum + k, part + k, cut + k, count - k, more, first + step * k, step);
}

/* Sets sums to the lesser of two rows of cuts, each with some more, and the parts, with more where
 * the second is less. */
static inline void take_block(int64_t *restrict sum, uint64_t *restrict part,
                              const int64_t *restrict first, const int64_t *restrict second,
                              size_t count, const int64_t more[2], uint64_t start, uint64_t step,
                              uint64_t with)
{
    for (size_t k = 0; k < count; k++) {
        int64_t other = first[k] + more[0], cut = second[k] + more[1];
        bool lowers = cut < other;
        sum[k] = lowers ? cut : other;
        part[k] = start + step * k + (lowers ? with : 0);
    }
}

FOR_EACH_PROCESSOR
static void take_sums(int64_t *sum, uint64_t *part, const int64_t *first, const int64_t *second,
                      size_t count, const int64_t more[2], uint64_t step, uint64_t with)
{
    size_t k = 0;
    for (; k + BLOCK <= count; k += BLOCK)
        take_block(sum + k, part + k, first + k, second + k, BLOCK, more, step * k, step, with);
    take_block(sum + k, part + k, first + k, second + k, count - k, more, step * k, step, with);
}

/* ---- sums over subtrees ---- */

/* A vertex alone. */
static void begin_subtree(choice *c, size_t v)
{
    bool is_rank = v < c->vertices;
    c->ranks[v] = is_rank;
    cuts_of(c, v, false)[0] = 0;
    cuts_of(c, v, true)[0] = NO_CUT;
    if (!is_rank)
        return;
    cuts_of(c, v, false)[1] = NO_CUT;
    cuts_of(c, v, true)[1] = 0;
}

/* What is cut of the edge from v to its parent. */
static int64_t cut_of_edge(const choice *c, vertex v, bool parent_is_chosen, bool v_is_chosen)
{
    return parent_is_chosen != v_is_chosen ? c->all.weight[v] : 0;
}

/* Adds the subtree of v, whose root is chosen or not, to its parent, which is chosen or not. Of
 * equal cuts the one with most ranks of the subtree counts. The longer rows are those that are
 * added. */
static void add_subtree(choice *c, vertex v, size_t p, bool parent_is_chosen, bool v_is_chosen)
{
    size_t most = c->most;
    const int64_t *upper = cuts_of(c, p, parent_is_chosen), *lower = cuts_of(c, v, v_is_chosen);
    uint64_t *part = parts_of(c, v, parent_is_chosen);
    int64_t *sum = c->sum;
    int64_t edge = cut_of_edge(c, v, parent_is_chosen, v_is_chosen);
    size_t most_above = lesser(c->ranks[p], most), most_below = lesser(c->ranks[v], most);
    if (most_above < most_below) {
        for (size_t i = 0; i <= most_above; i++) {
            if (upper[i] == NO_CUT)
                continue;
            lower_sums(sum + i, part + i, lower, lesser(most_below, most - i) + 1, upper[i] + edge,
                       v_is_chosen, 2);
            c->work += most_below + 1;
        }
    } else {
        for (size_t j = most_below + 1; j-- > 0;) {
            if (lower[j] == NO_CUT)
                continue;
            lower_sums(sum + j, part + j, upper, lesser(most_above, most - j) + 1, lower[j] + edge,
                       2 * j + v_is_chosen, 0);
            c->work += most_above + 1;
        }
    }
}

/* The first subtree of a vertex: there is one choice for each number of its ranks. */
static void merge_first(choice *c, vertex v, size_t p, bool parent_is_chosen)
{
    int64_t *cut = cuts_of(c, p, parent_is_chosen);
    const int64_t more[2] = {cut_of_edge(c, v, parent_is_chosen, false),
                             cut_of_edge(c, v, parent_is_chosen, true)};
    size_t alone = parent_is_chosen, count = lesser(c->ranks[v], c->most - alone) + 1;
    take_sums(cut + alone, parts_of(c, v, parent_is_chosen) + alone, cuts_of(c, v, false),
              cuts_of(c, v, true), count, more, 2, 1);
    if (!parent_is_chosen && count <= c->most)
        cut[count] = NO_CUT;
    c->work += count;
}

/* Another subtree, of a single rank, which is chosen or not. */
static void merge_leaf(choice *c, vertex v, size_t p, bool parent_is_chosen)
{
    int64_t *cut = cuts_of(c, p, parent_is_chosen), *sum = c->sum;
    uint64_t *part = parts_of(c, v, parent_is_chosen);
    const int64_t more[2] = {cut_of_edge(c, v, parent_is_chosen, false),
                             cut_of_edge(c, v, parent_is_chosen, true)};
    size_t count = lesser(c->ranks[p], c->most);
    sum[0] = cut[0] < NO_CUT ? cut[0] + more[0] : NO_CUT;
    part[0] = 0;
    take_sums(sum + 1, part + 1, cut + 1, cut, count, more, 0, 3);
    if (count < c->most) {
        sum[count + 1] = cut[count] < NO_CUT ? cut[count] + more[1] : NO_CUT;
        part[count + 1] = 3;
    }
    memcpy(cut, sum, (lesser(count + 1, c->most) + 1) * sizeof *sum);
    c->work += count + 1;
}

static void merge_another(choice *c, vertex v, size_t p, bool parent_is_chosen)
{
    size_t count = lesser(c->ranks[p] + c->ranks[v], c->most) + 1;
    memset(c->sum, NO_CUT & 0xff, count * sizeof *c->sum);
    add_subtree(c, v, p, parent_is_chosen, false);
    add_subtree(c, v, p, parent_is_chosen, true);
    memcpy(cuts_of(c, p, parent_is_chosen), c->sum, count * sizeof *c->sum);
}

static void merge_subtree(choice *c, vertex v)
{
    size_t p = above(c, v), root = c->vertices;
    bool is_first = c->ranks[p] == (p != root), is_leaf = c->ranks[v] == 1;
    void (*merge)(choice *, vertex, size_t, bool) =
        is_first ? merge_first : (is_leaf ? merge_leaf : merge_another);
    merge(c, v, p, false);
    if (p != root) /* which is never chosen */
        merge(c, v, p, true);
    c->ranks[p] += c->ranks[v];
}

const int64_t *choice_cuts(choice *c)
{
    c->work += PASSES * c->count;
    begin_subtree(c, c->vertices);
    for (size_t k = 0; k < c->count; k++)
        if (c->is_stale[c->window[k]])
            begin_subtree(c, c->window[k]);
    for (size_t k = 0; k < c->count; k++) {
        vertex v = c->window[k], p = above(c, v);
        if (c->is_stale[p])
            merge_subtree(c, v);
        c->is_stale[v] = false;
    }
    return cuts_of(c, c->vertices, false);
}

/* ---- choice ---- */

/* What was merged last is taken apart first. */
static void choose_ranks(choice *c, size_t number)
{
    c->number[c->vertices] = number;
    for (size_t k = c->count; k-- > 0;) {
        vertex v = c->window[k], p = above(c, v);
        uint64_t part = parts_of(c, v, c->chosen[p])[c->number[p]];
        c->number[v] = part / 2;
        c->chosen[v] = part % 2 != 0;
        c->number[p] -= part / 2;
    }
}

/* Those below chosen ranks become roots. */
static void place_chosen(choice *c, size_t n, size_t *node)
{
    vertex root = (vertex)c->vertices;
    size_t kept = 0;
    for (size_t k = 0; k < c->count; k++) {
        vertex v = c->window[k], p = above(c, v);
        if (c->chosen[v] || c->is_stale[v])
            c->is_stale[p] = true;
        if (c->chosen[p]) {
            c->all.parent[v] = root;
            c->all.weight[v] = 0;
        }
    }
    for (size_t k = 0; k < c->count; k++) {
        vertex v = c->window[k];
        if (!c->chosen[v]) {
            c->window[kept++] = v;
            continue;
        }
        node[v] = n;
        c->is_inside[v] = false;
        c->unused[c->most_in_window - c->count + k - kept] = c->row[v];
    }
    c->count = kept;
}

void choice_place(choice *c, size_t number, size_t n, size_t *node)
{
    choose_ranks(c, number);
    place_chosen(c, n, node);
}
