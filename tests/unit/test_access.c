/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs, domains, cursors and merges against plain lists of bytes. */
#include "access/access.h"
#include "access/cut.h"
#include "access/merge.h"
#include "access/neighbours.h"
#include "access/units.h"
#include "seeded.h"
#include "suite.h"

#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 600, CASES = 1000 };

static uint64_t state;

static int below(int n)
{
    return (int)pick(&state, 0, n - 1);
}

/* The model: place[s] is where byte s of the stream is. */
typedef struct model {
    int64_t place[4 * FILE_BYTES];
    int64_t bytes;
} model;

static void add_block(model *m, access_list *list, int64_t offset, int64_t length)
{
    ck_assert_int_eq(access_append(list, offset, length, m->bytes), 0);
    for (int64_t i = 0; i < length; i++)
        m->place[m->bytes++] = offset + i;
}

/* An ordered access of blocks that are often regular; some touch the last one of a regular run. */
static void random_ordered(model *m, access_list *list)
{
    int64_t at = below(40);
    m->bytes = 0;
    while (at < FILE_BYTES - 60 && below(12) > 0) {
        int length = 1 + below(9), gap = below(3) == 0 ? 0 : below(12), count = 1 + below(6);
        for (int b = 0; b < count && at + gap + length < FILE_BYTES; b++) {
            at += b > 0 ? gap : 0;
            add_block(m, list, at, length);
            at += length;
        }
        at += below(4) > 0 ? gap : 0;
    }
}

static int64_t model_blocks(const model *m)
{
    int64_t blocks = m->bytes > 0;
    for (int64_t s = 1; s < m->bytes; s++)
        blocks += m->place[s] != m->place[s - 1] + 1;
    return blocks;
}

static void check_places(const access_list *list, const model *m)
{
    access_cursor cursor;
    access_piece piece;
    int64_t seen = 0;
    access_cursor_init(&cursor, list);
    ck_assert_int_eq(list->bytes, m->bytes);
    while (access_take_piece(&cursor, ACCESS_END, &piece))
        for (int64_t i = 0; i < piece.length; i++, seen++)
            if (m->place[piece.stream + i] != piece.offset + i)
                ck_abort_msg("byte %lld of the stream", (long long)(piece.stream + i));
    ck_assert_int_eq(seen, m->bytes);
}

START_TEST(equal_blocks_are_one_run)
{
    static const struct {
        int64_t blocks, apart;
        access_run run;
    } rows[] = {
        {1000, 64, {0, 8, 64, 1000, 0}}, {10, 8, {0, 80, 0, 1, 0}}, /* they touch */
    };
    for (int i = 0; i < 2; i++) {
        access_list list = {0};
        for (int64_t b = 0; b < rows[i].blocks; b++)
            ck_assert_int_eq(access_append(&list, rows[i].apart * b, 8, 8 * b), 0);
        ck_assert_uint_eq(list.count, 1);
        ck_assert_mem_eq(list.run, &rows[i].run, sizeof(access_run));
        ck_assert_int_eq(list.bytes, 8 * rows[i].blocks);
        access_release(&list);
    }
}
END_TEST

START_TEST(bad_blocks_are_refused)
{
    access_list list = {0};
    access_run wraps = {INT64_MAX - 10, 4, 8, 3, 0}, descends = {15, 4, -8, 3, 0};
    ck_assert_int_eq(access_append(&list, -1, 4, 0), -EINVAL);
    ck_assert_int_eq(access_append(&list, 4, -1, 0), -EINVAL);
    ck_assert_int_eq(access_append(&list, INT64_MAX - 3, 4, 0), -EINVAL);
    ck_assert_int_eq(access_append_run(&list, &wraps), -EINVAL);
    ck_assert_int_eq(access_append_run(&list, &descends), -EINVAL);
    ck_assert_int_eq(access_append(&list, 7, 0, 0), 0);
    ck_assert_uint_eq(list.count, 0);
    ck_assert_int_eq(access_lower(&list), ACCESS_END);
    ck_assert_int_eq(access_upper(&list), 0);
}
END_TEST

START_TEST(a_slice_may_descend)
{
    access_list list = {0}, slice = {0};
    const access_run expected = {118, 2, -8, 3, 0};
    for (int64_t i = 0; i < 5; i++)
        ck_assert_int_eq(access_append(&list, 40 - 8 * i, 2, 2 * i), 0);
    ck_assert_int_eq(access_append_slice(&slice, &list, 4, 10, 94), 0);
    ck_assert_uint_eq(slice.count, 1);
    ck_assert_mem_eq(slice.run, &expected, sizeof expected);
    access_release(&list);
    access_release(&slice);
}
END_TEST

/* ---- what holds of any ordered access ---- */

static void check_list(const access_list *list, const model *m)
{
    ck_assert_int_eq(access_is_ordered(list), 1);
    check_places(list, m);
    if (m->bytes > 0) {
        ck_assert_int_eq(access_lower(list), m->place[0]);
        ck_assert_int_eq(access_upper(list), m->place[m->bytes - 1] + 1);
    }
    ck_assert_int_eq(access_blocks(list), model_blocks(m));
}

static void check_slice(const access_list *list, const model *m)
{
    access_list slice = {0};
    model part = {.bytes = 0};
    int64_t from = below((int)m->bytes + 1), to = from + below((int)(m->bytes - from) + 1);
    for (int64_t s = from; s < to; s++)
        part.place[part.bytes++] = m->place[s] + 1000;
    ck_assert_int_eq(access_append_slice(&slice, list, from, to, 1000), 0);
    check_places(&slice, &part);
    access_release(&slice);
}

/* Windows of random size: what a sender takes as stretches of its stream is what a receiver skips,
 * and in the order of the file. */
static void check_windows(const access_list *list, const model *m)
{
    access_cursor sender, receiver;
    int64_t done = 0, window = 1 + below(50), stream, length;
    access_cursor_init(&sender, list);
    access_cursor_init(&receiver, list);
    for (int64_t hi = window; hi < FILE_BYTES + window; hi += window) {
        int64_t sent = 0;
        while (access_take_stream(&sender, hi, &stream, &length)) {
            ck_assert_int_eq(stream, done + sent);
            sent += length;
        }
        ck_assert_int_eq(access_skip(&receiver, hi), sent);
        done += sent;
        ck_assert(done == m->bytes || m->place[done] >= hi);
        ck_assert(done == 0 || m->place[done - 1] < hi);
        ck_assert_int_eq(access_next(&sender), done == m->bytes ? ACCESS_END : m->place[done]);
    }
    ck_assert_int_eq(done, m->bytes);
}

/* What is scattered into a window and gathered from it, and nothing else of the window changes. */
static void check_scatter_and_gather(const access_list *list, const model *m)
{
    access_cursor cursor;
    char window[FILE_BYTES], packed[FILE_BYTES], back[FILE_BYTES];
    int64_t lo = m->bytes > 0 ? m->place[0] : 0, hi = lo + below(FILE_BYTES), inside = 0, dots = 0;
    memset(window, '.', sizeof window);
    for (int i = 0; i < FILE_BYTES; i++)
        packed[i] = (char)('a' + i % 26);
    while (inside < m->bytes && m->place[inside] < hi)
        inside++;
    access_cursor_init(&cursor, list);
    ck_assert_int_eq(access_scatter(&cursor, hi, window, lo, packed, m->bytes), inside);
    for (int64_t s = 0; s < inside; s++)
        ck_assert_int_eq(window[m->place[s] - lo], packed[s]);
    for (int i = 0; i < FILE_BYTES; i++)
        dots += window[i] == '.';
    ck_assert_int_eq(dots, FILE_BYTES - inside);
    access_cursor_init(&cursor, list);
    ck_assert_int_eq(access_gather(&cursor, hi, window, lo, back), inside);
    ck_assert_mem_eq(back, packed, (size_t)inside);
}

static void check_units(const access_list *list, const model *m)
{
    int64_t base = m->bytes > 0 ? below((int)m->place[0] + 1) : 0, unit = 1 + below(50);
    int64_t wanted[FILE_BYTES] = {0}, got[FILE_BYTES] = {0};
    size_t units = (size_t)units_to(base, FILE_BYTES, unit);
    unit_counts counts, again;
    for (int64_t s = 0; s < m->bytes; s++)
        wanted[(m->place[s] - base) / unit]++;
    ck_assert_int_eq(units_count(list, base, unit, &counts), 0);
    ck_assert_int_eq(units_add(counts.step, counts.count, got, units), 0);
    ck_assert_mem_eq(got, wanted, sizeof wanted);
    ck_assert_int_eq(units_from_array(got, units, &again), 0);
    ck_assert_uint_eq(again.count, counts.count);
    ck_assert(counts.count == 0 ||
              memcmp(again.step, counts.step, counts.count * sizeof(unit_step)) == 0);
    free(again.step);
    free(counts.step);
}

/* Even, of several ranges dealt out unit by unit, or striped. */
static void draw_domains(file_domains *d, const model *m)
{
    size_t of[FILE_BYTES];
    int64_t lo = m->bytes > 0 ? m->place[0] : 0;
    switch (below(3)) {
    case 0:
        ck_assert_int_eq(domains_even(d, 0, FILE_BYTES, (size_t)(1 + below(20)), 1 + below(9)), 0);
        break;
    case 1:
        for (size_t u = 0; u < FILE_BYTES; u++)
            of[u] = (size_t)below(3);
        ck_assert_int_eq(
            domains_from_units(d, &(domain_units){0, FILE_BYTES, 0, 1 + below(40)}, of, 3), 0);
        break;
    default:
        ck_assert_int_eq(domains_striped(d, &(domain_units){lo, FILE_BYTES, 0, 1 + below(50)}, NULL,
                                         0, (size_t)(1 + below(9))),
                         0);
    }
}

/* The same shares where the table has one range at a time, and the same offsets where it has those
 * of one domain. */
static void check_by_and_by(file_domains *d, const access_list *list, const domain_share *share,
                            size_t shares)
{
    file_domains part;
    domain_cutter cut;
    domain_share *again;
    size_t count;
    int64_t contiguous, before, base = d->lo - d->head;
    if (d->stripe > 0)
        return;
    const domain_units units = {d->lo, d->hi, base, d->head + 1};
    ck_assert_int_eq(domains_begin(&part, &units, d->count), 0);
    ck_assert_int_eq(domains_cut_begin(&cut, &part, list), 0);
    for (size_t r = 0; r < d->ranges; r++) {
        const domain_range *range = &d->range[r];
        part.ranges = 0;
        ck_assert_int_eq(domains_append(&part, range->lo, range->hi, range->domain, true), 0);
        ck_assert_int_eq(domains_cut_more(&cut), 0);
    }
    ck_assert_int_eq(domains_cut_end(&cut, 0, &again, &count), 0);
    ck_assert_uint_eq(count, shares);
    ck_assert_mem_eq(part.size, d->size, d->count * sizeof *d->size);
    for (size_t i = 0; i < shares; i++) {
        const access_list *a = &share[i].list, *b = &again[i].list;
        ck_assert_uint_eq(again[i].domain, share[i].domain);
        ck_assert(a->bytes == b->bytes && access_blocks(a) == access_blocks(b));
        ck_assert(access_same_fingerprint(access_get_fingerprint(a), access_get_fingerprint(b)));
    }
    domains_free_shares(again, count);
    domains_release(&part);
    if (shares == 0)
        return;
    size_t j = share[0].domain;
    int64_t position = access_lower(&share[0].list);
    int64_t offset = domains_position_to_file(d, j, position, &before);
    domains_keep(d, j);
    ck_assert_int_eq(domains_position_to_file(d, j, position, &contiguous), offset);
    ck_assert_int_eq(contiguous, before);
}

/* The part of a domain has bytes of the accesses, moved by a distance, each once. */
static void check_part(const file_domains *d, size_t domain, const access_list *part,
                       const model *m, int64_t distance, char *seen)
{
    access_cursor cursor;
    access_piece piece;
    int64_t contiguous;
    ck_assert_int_eq(access_is_ordered(part), 1);
    access_cursor_init(&cursor, part);
    while (access_take_piece(&cursor, ACCESS_END, &piece)) {
        for (int64_t b = 0; b < piece.length; b++) {
            int64_t file = domains_position_to_file(d, domain, piece.offset + b, &contiguous);
            ck_assert_int_eq(file, m->place[piece.stream + b] + distance);
            ck_assert_int_ge(contiguous, 1);
            ck_assert_int_eq(seen[piece.stream + b]++, 0);
        }
    }
}

static void check_cut(const access_list *list, const model *m)
{
    file_domains d;
    domain_share *share;
    size_t shares;
    char seen[4 * FILE_BYTES] = {0};
    int64_t total = 0;
    draw_domains(&d, m);
    ck_assert_int_eq(domains_cut(&d, list, false, &share, &shares), 0);
    for (size_t i = 0; i < shares; i++) {
        ck_assert(i == 0 || share[i].domain > share[i - 1].domain);
        check_part(&d, share[i].domain, &share[i].list, m, 0, seen);
        total += share[i].list.bytes;
    }
    ck_assert_int_eq(total, m->bytes);
    check_by_and_by(&d, list, share, shares);
    domains_free_shares(share, shares);
    domains_release(&d);
}

/* Of wide shares, at distances below a stripe. */
static void check_wide(const access_list *list, const model *m)
{
    enum { COLUMNS = 7 };
    int64_t unit = 1 + below(90), hi = access_upper(list) + unit, total = 0;
    size_t of[COLUMNS], shares, count = 1 + (size_t)below(COLUMNS);
    file_domains d;
    domain_share *share;
    for (size_t i = 0; i < COLUMNS; i++)
        of[i] = (size_t)below((int)count);
    const domain_units units = {m->bytes > 0 ? access_lower(list) : 0, hi, 0, unit};
    ck_assert_int_eq(domains_striped(&d, &units, below(2) > 0 ? of : NULL, COLUMNS, count), 0);
    ck_assert_int_eq(domains_cut(&d, list, true, &share, &shares), 0);
    for (size_t i = 0; i < shares; i++)
        total += share[i].list.bytes - share[i].margin;
    ck_assert_int_eq(total, m->bytes);
    for (int i = 0; i < 2; i++) {
        int64_t distance = i == 0 ? below((int)unit) : unit - 1;
        char seen[4 * FILE_BYTES] = {0};
        access_list part = {0};
        total = 0;
        for (domain_share *s = share; s < share + shares; s++) {
            ck_assert_int_eq(domains_cut_part(&d, &s->list, distance, s->domain, &part), 0);
            check_part(&d, s->domain, &part, m, distance, seen);
            total += part.bytes;
        }
        ck_assert_int_eq(total, m->bytes);
        access_release(&part);
    }
    domains_free_shares(share, shares);
    domains_release(&d);
}

START_TEST(ordered_accesses)
{
    for_random_seeds (seed, CASES) {
        access_list list = {0};
        model m;
        state = seed;
        random_ordered(&m, &list);
        check_list(&list, &m);
        check_slice(&list, &m);
        check_windows(&list, &m);
        check_scatter_and_gather(&list, &m);
        check_units(&list, &m);
        check_cut(&list, &m);
        check_wide(&list, &m);
        access_release(&list);
    }
}
END_TEST

/* ---- memory ---- */

/* Pieces in ascending or descending order. */
START_TEST(memory_in_pieces)
{
    for_random_seeds (seed, CASES) {
        access_memory memory = {0};
        char arena[400], packed[400], back[400];
        char *place[400];
        int64_t bytes = 0;
        state = seed;
        memset(arena, '.', sizeof arena);
        bool descending = below(2) == 1;
        for (int at = below(20); at < 360; at += below(9)) {
            int length = 1 + below(8);
            char *block = arena + (descending ? 400 - at - length : at);
            ck_assert_int_eq(access_append_memory(&memory.list, block, (size_t)length), 0);
            for (int i = 0; i < length; i++)
                place[bytes++] = block + i;
            at += length;
        }
        for (int i = 0; i < 400; i++)
            packed[i] = (char)('a' + i % 26);
        int64_t from = below((int)bytes), length = below((int)(bytes - from) + 1);
        access_to_memory(&memory, from, length, packed);
        for (int64_t s = 0; s < bytes; s++) {
            char wanted = s >= from && s < from + length ? packed[s - from] : '.';
            ck_assert_int_eq(*place[s], wanted);
        }
        access_from_memory(&memory, from, length, back);
        ck_assert_mem_eq(back, packed, (size_t)length);
        char *one = length > 0 ? access_memory_at(&memory, from, length) : NULL;
        if (one != NULL) {
            ck_assert_ptr_eq(one, place[from]);
            ck_assert_ptr_eq(one + length - 1, place[from + length - 1]);
        }
        access_release(&memory.list);
    }
}
END_TEST

/* ---- fingerprints ---- */

/* Of a few runs with few different values, so that equal ones and near misses are frequent. */
static void draw_runs(access_list *list)
{
    access_clear(list);
    int64_t at = below(4), runs = 1 + below(3);
    for (int64_t i = 0; i < runs; i++) {
        access_run run = {at, 1 + below(3), 0, 1 + below(3), list->bytes};
        run.stride = run.count > 1 ? run.length + 1 + below(2) : 0;
        ck_assert_int_eq(access_append_run(list, &run), 0);
        at += run.length + (run.count - 1) * run.stride + 1 + below(3);
    }
}

static bool same_but_moved(const access_list *a, const access_list *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++) {
        access_run moved = a->run[i];
        moved.offset += b->run[0].offset - a->run[0].offset;
        same = memcmp(&moved, &b->run[i], sizeof moved) == 0;
    }
    return same;
}

START_TEST(fingerprints_are_those_of_moved_lists)
{
    const int pairs = (int)random_cases(200000);
    access_list a = {0}, b = {0};
    int same = 0;
    state = first_seed();
    for (int i = 0; i < pairs; i++) {
        draw_runs(&a);
        draw_runs(&b);
        access_fingerprint x = access_get_fingerprint(&a), y = access_get_fingerprint(&b);
        ck_assert_int_eq(access_same_fingerprint(x, y), same_but_moved(&a, &b));
        same += same_but_moved(&a, &b);
    }
    ck_assert_int_gt(same, pairs / 1000);
    access_release(&a);
    access_release(&b);
}
END_TEST

/* Half a fingerprint is as good as 64 bits: no two of a million similar lists share one. */
static int compare_halves(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

START_TEST(halves_of_fingerprints_do_not_collide)
{
    const size_t lists = random_cases(1000000);
    uint64_t *half[2] = {calloc(lists, sizeof **half), calloc(lists, sizeof **half)};
    access_run run = {0, 8, 16, 2, 0};
    access_list list = {.run = &run, .count = 1};
    for (size_t i = 0; i < lists; i++) {
        run.length = 8 + (int64_t)i % 100;
        run.stride = 256 + (int64_t)i / 100 % 100;
        run.count = 2 + (int64_t)i / 10000;
        access_fingerprint x = access_get_fingerprint(&list);
        half[0][i] = x.half[0];
        half[1][i] = x.half[1];
    }
    for (int h = 0; h < 2; h++) {
        qsort(half[h], lists, sizeof **half, compare_halves);
        for (size_t i = 1; i < lists; i++)
            if (half[h][i - 1] == half[h][i])
                ck_abort_msg("two halves are the same");
        free(half[h]);
    }
}
END_TEST

/* ---- layers ---- */

START_TEST(layers_are_ordered_and_hold_every_byte)
{
    for_random_seeds (seed, CASES) {
        access_list list = {0}, *layer;
        size_t layers;
        model m = {.bytes = 0};
        bool overlap = false;
        char seen[FILE_BYTES] = {0}, streams[4 * FILE_BYTES] = {0};
        state = seed;
        for (int b = 0; b < 20; b++)
            add_block(&m, &list, below(FILE_BYTES - 20), 1 + below(20));
        for (int64_t s = 0; s < m.bytes; s++)
            overlap |= seen[m.place[s]]++ > 0;
        ck_assert_int_eq(access_layers(&list, &layer, &layers), 0);
        ck_assert(overlap ? layers > 1 : layers == 1);
        for (size_t l = 0; l < layers; l++) {
            access_cursor cursor;
            access_piece piece;
            ck_assert_int_eq(access_is_ordered(&layer[l]), 1);
            access_cursor_init(&cursor, &layer[l]);
            while (access_take_piece(&cursor, ACCESS_END, &piece)) {
                for (int64_t i = 0; i < piece.length; i++) {
                    ck_assert_int_eq(streams[piece.stream + i]++, 0);
                    ck_assert_int_eq(m.place[piece.stream + i], piece.offset + i);
                }
            }
            access_release(&layer[l]);
        }
        for (int64_t s = 0; s < m.bytes; s++)
            ck_assert_int_eq(streams[s], 1);
        free(layer);
        access_release(&list);
    }
}
END_TEST

/* ---- domains ---- */

START_TEST(even_domains_cover_the_range)
{
    for_random_seeds (seed, CASES) {
        file_domains d;
        state = seed;
        int64_t lo = below(200), hi = lo + below(400), align = 1 + below(3) * below(30);
        size_t count = (size_t)(1 + below(9));
        ck_assert_int_eq(domains_even(&d, lo, hi, count, align), 0);
        int64_t at = lo, first = lo / align, end = (hi + align - 1) / align;
        int64_t most = (end - first + (int64_t)count - 1) / (int64_t)count * align;
        ck_assert_uint_eq(d.count, count);
        ck_assert(d.ranges == count || (int64_t)count > end - first || hi == lo);
        for (size_t j = 0; j < d.ranges; j++) {
            ck_assert_int_eq(d.range[j].lo, at);
            at = d.range[j].hi;
            ck_assert(at == hi || at % align == 0);
            ck_assert_int_gt(d.range[j].hi, d.range[j].lo);
            ck_assert_int_le(d.size[j], most);
        }
        for (size_t j = d.ranges; j < count; j++)
            ck_assert_int_eq(d.size[j], 0);
        ck_assert_int_eq(at, hi);
        domains_release(&d);
    }
}
END_TEST

START_TEST(large_domains_begin_at_pages)
{
    const int64_t MiB = 1 << 20;
    ck_assert_int_eq(domains_alignment(4 * MiB, 4, 0), 4096);
    ck_assert_int_eq(domains_alignment(4 * MiB - 1, 4, 0), 1);
    ck_assert_int_eq(domains_alignment(1, 4, 100), 100);
    ck_assert_int_eq(domains_alignment(INT64_MAX, SIZE_MAX / 2, 0), 1);
}
END_TEST

enum { MOST_DOMAINS = 12 };

/* Domains byte by byte: position[b] is that of byte b in domain[b], size as in the header. */
typedef struct domain_model {
    int64_t position[FILE_BYTES], size[MOST_DOMAINS];
    int domain[FILE_BYTES];
} domain_model;

/* Units, or stripes, begin at base. `of` repeats after so many columns. A domain's positions are
 * counted out, those before lo in lo's own unit among them. */
static void deal_out(domain_model *m, int base, int lo, int hi, int unit, const size_t *of,
                     int columns)
{
    int64_t next[MOST_DOMAINS] = {0};
    memset(m->size, 0, sizeof m->size);
    for (int b = lo - (lo - base) % unit; b < hi; b++) {
        m->domain[b] = (int)of[(b - base) / unit % columns];
        m->position[b] = next[m->domain[b]]++;
        if (b >= lo)
            m->size[m->domain[b]] = next[m->domain[b]];
    }
}

/* Bytes from b on that lie in its range. */
static int64_t rest_of_range(const domain_model *m, int b, int hi)
{
    int end = b + 1;
    while (end < hi && m->domain[end] == m->domain[b])
        end++;
    return end - b;
}

static void check_domains(const file_domains *d, const domain_model *m, int lo, int hi)
{
    size_t near = 0;
    for (size_t j = 0; j < d->count; j++)
        ck_assert_int_eq(d->size[j], m->size[j]);
    for (int b = lo; b < hi; b++) {
        int64_t contiguous, rest = rest_of_range(m, b, hi);
        domain_range range = domains_range_at(d, b, &near);
        ck_assert_int_eq((int)range.domain, m->domain[b]);
        ck_assert_int_le(range.lo, b);
        ck_assert_int_eq(range.position + (b - range.lo), m->position[b]);
        ck_assert_int_eq(m->domain[range.lo], m->domain[b]);
        ck_assert_int_eq(range.hi - b, rest);
        ck_assert_int_eq(domains_position_to_file(d, range.domain, m->position[b], &contiguous), b);
        ck_assert_int_eq(contiguous, rest);
    }
}

START_TEST(domains_that_are_dealt_out)
{
    for_random_seeds (seed, CASES) {
        file_domains d;
        domain_model m;
        size_t of[FILE_BYTES];
        state = seed;
        int base = below(100), lo = base + below(100), hi = lo + below(below(20) > 0 ? 400 : 1),
            unit = 1 + below(60), count = 1 + below(MOST_DOMAINS);
        bool in_turn = below(2) == 1;
        int columns = in_turn ? count : 1 + below(MOST_DOMAINS);
        for (int u = 0; u < FILE_BYTES; u++)
            of[u] = (size_t)(in_turn && u < count ? u : below(count));
        ck_assert_int_eq(domains_striped(&d, &(domain_units){lo, hi, 0, unit}, in_turn ? NULL : of,
                                         (size_t)columns, (size_t)count),
                         0);
        ck_assert_uint_eq(d.count, (size_t)count);
        deal_out(&m, 0, lo, hi, unit, of, columns);
        check_domains(&d, &m, lo, hi);
        domains_release(&d);
        if (lo == hi)
            continue; /* no unit */
        ck_assert_int_eq(domains_from_units(&d, &(domain_units){lo, hi, base, unit},
                                            of + (lo - base) / unit, (size_t)count),
                         0);
        deal_out(&m, base, lo, hi, unit, of, FILE_BYTES);
        check_domains(&d, &m, lo, hi);
        domains_release(&d);
    }
}
END_TEST

/* The runs of a list that is cut, in so many shares. */
static size_t count_cut_runs(const file_domains *d, const access_list *list, size_t expected)
{
    domain_share *share;
    size_t shares, runs = 0;
    ck_assert_int_eq(domains_cut(d, list, false, &share, &shares), 0);
    ck_assert_uint_eq(shares, expected);
    for (size_t i = 0; i < shares; i++)
        runs += share[i].list.count;
    domains_free_shares(share, shares);
    return runs;
}

START_TEST(domains_of_huge_ranges)
{
    file_domains d;
    access_list list = {0};
    int64_t contiguous, TiB = INT64_C(1) << 40, MiB = 1 << 20, bytes = 0;
    ck_assert_int_eq(domains_striped(&d, &(domain_units){3, TiB + 5, 0, MiB}, NULL, 0, 160), 0);
    for (size_t j = 0; j < 160; j++)
        bytes += d.size[j];
    ck_assert_int_eq(bytes, TiB + 5);
    ck_assert_int_eq(access_append(&list, TiB / 2, 320 * MiB, 0), 0);
    ck_assert_uint_eq(count_cut_runs(&d, &list, 160), 320);
    domains_release(&d);
    access_release(&list);

    ck_assert_int_eq(
        domains_striped(&d, &(domain_units){INT64_MAX - 10, INT64_MAX, 0, 4}, NULL, 0, 1 << 16), 0);
    size_t near = 0;
    domain_range range = domains_range_at(&d, INT64_MAX - 1, &near);
    ck_assert_int_eq(range.hi, INT64_MAX);
    ck_assert_int_eq(domains_position_to_file(&d, range.domain, range.position, &contiguous),
                     range.lo);
    ck_assert_int_eq(contiguous, range.hi - range.lo);
    domains_release(&d);
    ck_assert_int_eq(domains_striped(&d, &(domain_units){0, INT64_MAX, 0, INT64_MAX}, NULL, 0, 3),
                     0);
    ck_assert_int_eq(d.size[0], INT64_MAX);
    ck_assert_int_eq(d.size[1], 0);
    domains_release(&d);
    ck_assert_int_eq(domains_even(&d, 0, INT64_MAX, 7, 4096), 0);
    ck_assert_int_eq(d.range[6].hi, INT64_MAX);
    ck_assert(d.size[0] >= INT64_MAX / 7);
    domains_release(&d);
}
END_TEST

START_TEST(bad_domains_are_refused)
{
    size_t of[] = {0, 3}, shares;
    file_domains d;
    access_list list = {0};
    domain_share *share;
    ck_assert_int_eq(domains_even(&d, 5, 4, 1, 1), -EINVAL);
    ck_assert_int_eq(domains_even(&d, 0, 4, 0, 1), -EINVAL);
    ck_assert_int_eq(domains_even(&d, 0, 4, 1, 0), -EINVAL);
    ck_assert_int_eq(domains_even(&d, -1, 4, 1, 1), -EINVAL);
    ck_assert_int_eq(domains_striped(&d, &(domain_units){5, 4, 0, 1}, NULL, 0, 1), -EINVAL);
    ck_assert_int_eq(domains_striped(&d, &(domain_units){-1, 4, 0, 1}, NULL, 0, 1), -EINVAL);
    ck_assert_int_eq(domains_striped(&d, &(domain_units){0, 4, 0, 0}, NULL, 0, 1), -EINVAL);
    ck_assert_int_eq(domains_striped(&d, &(domain_units){0, 4, 0, 1}, NULL, 0, 0), -EINVAL);
    ck_assert_int_eq(domains_striped(&d, &(domain_units){0, 4, 0, 1}, of, 2, 3), -EINVAL);
    ck_assert_int_eq(domains_striped(&d, &(domain_units){0, 4, 0, 1}, of, 0, 4), -EINVAL);
    ck_assert_int_eq(domains_from_units(&d, &(domain_units){0, 20, 0, 10}, of, 3), -EINVAL);
    ck_assert_int_eq(domains_from_units(&d, &(domain_units){0, 10, 0, 0}, of, 3), -EINVAL);
    ck_assert_int_eq(domains_from_units(&d, &(domain_units){5, 10, 6, 10}, of, 3), -EINVAL);
    ck_assert_int_eq(domains_from_units(&d, &(domain_units){5, 4, 0, 10}, of, 3), -EINVAL);
    ck_assert_int_eq(domains_from_units(&d, &(domain_units){0, 10, -1, 20}, of, 3), -EINVAL);
    ck_assert_int_eq(domains_from_units(&d, &(domain_units){0, 10, 0, 10}, of, 0), -EINVAL);
    ck_assert_int_eq(domains_even(&d, 0, 100, 2, 1), 0);
    ck_assert_int_eq(access_append(&list, 90, 20, 0), 0);
    ck_assert_int_eq(domains_cut(&d, &list, false, &share, &shares),
                     -EINVAL); /* beyond their range */
    domains_release(&d);
    access_release(&list);
}
END_TEST

/* Inside a unit, too. */
START_TEST(an_empty_range_has_no_units)
{
    file_domains d;
    for (int64_t at = 10; at <= 15; at += 5) {
        ck_assert_int_eq(domains_from_units(&d, &(domain_units){at, at, 0, 10}, NULL, 3), 0);
        ck_assert_uint_eq(d.ranges, 0);
        ck_assert_int_eq(d.size[0] + d.size[1] + d.size[2], 0);
        domains_release(&d);
    }
}
END_TEST

/* ---- bytes in units ---- */

START_TEST(units_of_one_run_are_one_step)
{
    static const struct {
        access_run run;
        int64_t base, unit;
        unit_step step;
    } rows[] = {
        {{INT64_C(1) << 41, 8, 64, 1 << 20, 0}, INT64_C(1) << 41, 64 << 10, {0, 1024, 8 << 10}},
        {{INT64_MAX - 10, 9, 0, 1, 0}, 0, INT64_C(1) << 40, {(1 << 23) - 1, 1, 9}},
    };
    for (int i = 0; i < 2; i++) {
        access_list list = {0};
        unit_counts counts;
        ck_assert_int_eq(access_append_run(&list, &rows[i].run), 0);
        ck_assert_int_eq(units_count(&list, rows[i].base, rows[i].unit, &counts), 0);
        ck_assert_uint_eq(counts.count, 1);
        ck_assert_mem_eq(counts.step, &rows[i].step, sizeof(unit_step));
        free(counts.step);
        access_release(&list);
    }
    ck_assert_int_eq(units_to(0, INT64_MAX, 1), INT64_MAX);
    ck_assert_int_eq(units_to(5, 5, 3), 0);
}
END_TEST

START_TEST(bad_steps_are_refused)
{
    access_list list = {0};
    unit_counts counts;
    int64_t bytes[4] = {0};
    unit_step bad[] = {{-1, 1, 1}, {4, 1, 1}, {0, 5, 1}, {3, 2, 1}, {0, 0, 1}, {1, INT64_MAX, 1}};
    for (size_t i = 0; i < LENGTH(bad); i++)
        ck_assert_int_eq(units_add(&bad[i], 1, bytes, 4), -EINVAL);
    ck_assert_int_eq(bytes[0] + bytes[1] + bytes[2] + bytes[3], 0);
    ck_assert_int_eq(access_append(&list, 9, 1, 0), 0);
    ck_assert_int_eq(units_count(&list, 10, 4, &counts), -EINVAL);
    ck_assert_int_eq(units_count(&list, 0, 0, &counts), -EINVAL);
    access_release(&list);
}
END_TEST

/* ---- merging ---- */

/* What a list covers, marked in a map of bytes. */
static void mark(const access_list *list, char *map)
{
    for (size_t r = 0; r < list->count; r++) {
        const access_run *run = &list->run[r];
        for (int64_t b = 0; b < run->count; b++)
            memset(map + run->offset + b * run->stride, 1, (size_t)run->length);
    }
}

/* The place in the file of a byte of a list's stream. */
static int64_t place_of(const access_list *list, int64_t stream)
{
    const access_run *run = &list->run[access_find_run(list, stream)];
    int64_t in_run = stream - run->stream;
    return run->offset + in_run / run->length * run->stride + in_run % run->length;
}

/* Whether the bytes of a part are those of its list, in its stream, and where the union's stream
 * has them. */
static bool is_mapped(const access_list *list, const access_list *part, const access_list *cover)
{
    bool right = access_is_ordered(part) && part->bytes == list->bytes;
    for (int64_t s = 0; right && s < list->bytes; s++)
        right = place_of(cover, place_of(part, s)) == place_of(list, s);
    return right;
}

/* The union of lists, and that of their parts. */
static void check_union(const access_list *list, size_t count, bool with_parts)
{
    enum { BYTES = 4096 };
    const access_list *lists[8];
    access_list whole = {0}, cover = {0}, part[8] = {{0}};
    char wanted[BYTES] = {0}, got[BYTES] = {0};
    for (size_t l = 0; l < count; l++) {
        lists[l] = &list[l];
        mark(&list[l], wanted);
    }
    ck_assert_int_eq(access_union(lists, count, &whole), 0);
    ck_assert(access_is_ordered(&whole));
    mark(&whole, got);
    ck_assert_mem_eq(got, wanted, sizeof got);
    if (with_parts) {
        ck_assert_int_eq(access_union_parts(lists, count, &cover, part), 0);
        ck_assert_int_eq(cover.bytes, whole.bytes);
    }
    for (size_t l = 0; l < count && with_parts; l++) {
        ck_assert(is_mapped(lists[l], &part[l], &cover));
        access_release(&part[l]);
    }
    access_release(&cover);
    access_release(&whole);
}

/* Of few strides, so that lists are often in step, with and without holes, overlaps, and single
 * blocks between. */
static void draw_strided(access_list *list)
{
    int64_t at = below(60);
    for (int r = 0; r < 3 && at < 3000; r++) {
        int64_t stride = 8 * (1 + below(3)), length = 1 + below((int)stride);
        access_run run = {at, length, stride, 1 + below(40), list->bytes};
        if (below(4) == 0)
            run = (access_run){at, 1 + below(200), 0, 1, list->bytes};
        if (run.count == 1)
            run.stride = 0;
        ck_assert_int_eq(access_append_run(list, &run), 0);
        at = access_upper(list) + below(20);
    }
}

START_TEST(union_of_lists)
{
    for_random_seeds (seed, 20 * CASES) {
        access_list list[8] = {{0}};
        model m;
        state = seed;
        size_t count = 1 + (size_t)below(8);
        bool strided = below(16) > 0;
        for (size_t l = 0; l < count; l++)
            if (strided)
                draw_strided(&list[l]);
            else
                random_ordered(&m, &list[l]);
        check_union(list, count, seed % 8 == 0 || !strided);
        for (size_t l = 0; l < count; l++)
            access_release(&list[l]);
    }
}
END_TEST

START_TEST(union_of_interleaved_records)
{
    enum { RANKS = 16 };
    const int64_t record = 64, rounds = (int64_t)1 << 40;
    access_list list[RANKS] = {{0}}, cover = {0};
    const access_list *lists[RANKS];
    for (int r = 0; r < RANKS; r++) {
        access_run run = {1000 + r * record, record, RANKS * record, rounds, 0};
        ck_assert_int_eq(access_append_run(&list[r], &run), 0);
        lists[r] = &list[r];
    }
    ck_assert_int_eq(access_union(lists, RANKS, &cover), 0);
    ck_assert_uint_eq(cover.count, 1);
    ck_assert_int_eq(access_lower(&cover), 1000);
    ck_assert_int_eq(access_upper(&cover), 1000 + RANKS * record * rounds);
    for (int r = 0; r < RANKS; r++)
        access_release(&list[r]);
    access_release(&cover);
}
END_TEST

/* The bytes of a file by owner, -1: nobody's; each stretch of one owner is a block. */
enum { OWNERS = 4, MOST_PARTS = 12 };

static void model_neighbours(const int *owner, int64_t wanted[OWNERS][OWNERS])
{
    int last = -1;
    for (int from = 0, end; from < FILE_BYTES; from = end) {
        for (end = from + 1; end < FILE_BYTES && owner[end] == owner[from]; end++)
            continue;
        int here = owner[from];
        if (here < 0)
            continue;
        if (last >= 0) {
            wanted[last][here]++;
            wanted[here][last]++;
        }
        last = here;
    }
}

static void random_owners(uint64_t *seed, int *owner)
{
    int64_t longest = pick(seed, 1, 60);
    for (int from = 0; from < FILE_BYTES;) {
        int64_t length = pick(seed, 1, longest);
        int here = (int)pick(seed, -1, OWNERS - 1);
        for (; length > 0 && from < FILE_BYTES; length--)
            owner[from++] = here;
    }
}

/* What each owner has of bytes [lo, hi); returns how many bytes have one. */
static int cut_out(const int *owner, int lo, int hi, access_list *list)
{
    int bytes = 0;
    for (int at = lo; at < hi; at++)
        if (owner[at] >= 0) {
            ck_assert_int_eq(access_append(&list[owner[at]], at, 1, list[owner[at]].bytes), 0);
            bytes++;
        }
    return bytes;
}

/* However the file is divided, the parts and their ends amount to what the whole has. */
static void check_parts(uint64_t seed)
{
    int owner_of[FILE_BYTES];
    size_t owner[OWNERS] = {0, 1, 2, 3};
    int64_t wanted[OWNERS][OWNERS] = {{0}};
    access_ends ends[MOST_PARTS];
    random_owners(&seed, owner_of);
    model_neighbours(owner_of, wanted);
    matrix_builder counts = {.rows = OWNERS, .cols = OWNERS};
    size_t parts = 0;
    matrix m;
    for (int lo = 0, hi; lo < FILE_BYTES; lo = hi) {
        access_list list[OWNERS] = {{0}};
        hi = parts + 1 < MOST_PARTS ? lo + (int)pick(&seed, 1, FILE_BYTES - lo) : FILE_BYTES;
        size_t owners = cut_out(owner_of, lo, hi, list) > 0 ? OWNERS : 0;
        ck_assert_int_eq(access_count_neighbours(owners > 0 ? list : NULL, owner, owners, &counts,
                                                 &ends[parts++]),
                         0);
        for (int o = 0; o < OWNERS; o++)
            access_release(&list[o]);
    }
    ck_assert_int_eq(access_join_ends(ends, parts, &counts), 0);
    ck_assert_int_eq(matrix_builder_finish(&counts, &m), 0);
    for (size_t i = 0; i < OWNERS; i++)
        for (size_t j = 0; j < OWNERS; j++)
            ck_assert_msg(matrix_get(&m, i, j) == wanted[i][j], "seed %llu: %zu parts, %zu %zu",
                          (unsigned long long)seed, parts, i, j);
    matrix_builder_clear(&counts);
    matrix_release(&m);
}

START_TEST(parts_add_up_to_the_whole)
{
    for_random_seeds (seed, 200)
        check_parts(seed);
}
END_TEST

int main(void)
{
    return run_tests(
        "access", ONCE(equal_blocks_are_one_run), ONCE(bad_blocks_are_refused),
        ONCE(a_slice_may_descend), ONCE(ordered_accesses), ONCE(memory_in_pieces),
        ONCE(fingerprints_are_those_of_moved_lists), ONCE(halves_of_fingerprints_do_not_collide),
        ONCE(layers_are_ordered_and_hold_every_byte), ONCE(even_domains_cover_the_range),
        ONCE(large_domains_begin_at_pages), ONCE(domains_that_are_dealt_out),
        ONCE(domains_of_huge_ranges), ONCE(bad_domains_are_refused),
        ONCE(an_empty_range_has_no_units), ONCE(units_of_one_run_are_one_step),
        ONCE(bad_steps_are_refused), ONCE(union_of_lists), ONCE(union_of_interleaved_records),
        ONCE(parts_add_up_to_the_whole));
}
