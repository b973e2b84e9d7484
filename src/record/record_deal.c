/* SPDX-License-Identifier: BSD-3-Clause */
/* From a record back to accesses. A record has the bytes of each rank in a bin, and how often which
 * ranks follow one another in the file, but not where in the bin. */
#include "record/record.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* A rank's mean bytes of a piece, and of those that follow one another before another's turn. */
typedef struct habit {
    int64_t piece, turn;
    double turns;
} habit;

/* Limits a call's pieces: shorter ones count as longer. */
enum { MOST_PIECES = 1 << 24 };

typedef struct dealer {
    const matrix *view;
    habit *of;         /* each rank ... */
    bool *waits;       /* ... and whether it comes last in the bin */
    matrix bins;       /* a row each: what is left of the ranks */
    int64_t unit, gap; /* bytes of a bin, and between two pieces of a rank */
    int64_t begin, at; /* of the bin; what was dealt of it, with gaps */
    double scale;      /* below 1: calls have overlapped */
    access_list *list;
    size_t last; /* the rank that had the last piece */
} dealer;

/* ---- pieces ---- */

static double sum_row(const matrix *m, size_t row)
{
    double sum = 0.0;
    for (size_t i = m->row_start[row]; i < m->row_start[row + 1]; i++)
        sum += (double)m->value[i];
    return sum;
}

/* Bytes by half as many pieces as these have ends; the first one and the last one lack an end. */
static int64_t divide(double bytes, double ends, double least)
{
    return (int64_t)fmin(ceil(fmax(bytes / fmax(ceil(ends / 2.0), 1.0), least)), 0x1p62);
}

/* In the view each piece counts for the one before it and for the one behind it. least: bytes. */
static void find_habits(const view_file *file, double least, habit *of)
{
    const matrix *view = &file->view;
    double calls = 0.0;
    for (size_t k = 0; k < file->patterns; k++)
        calls += (double)file->pattern[k].calls;
    for (size_t rank = 0; rank < view->rows; rank++) {
        double bytes = 0.0, ends = sum_row(view, rank), own = (double)matrix_get(view, rank, rank);
        for (size_t k = 0; k < file->patterns; k++)
            bytes += sum_row(&file->bytes[k], rank);
        of[rank] = (habit){divide(bytes / calls, ends / calls, least),
                           divide(bytes / calls, (ends - own) / calls, least), (ends - own) / 2.0};
    }
}

/* ---- a bin ---- */

static int64_t count_parts(int64_t bytes, int64_t part)
{
    return (bytes - 1) / part + 1;
}

/* Returns its bytes; gaps are between pieces of one rank. */
static int64_t start_bin(dealer *d, size_t j)
{
    int64_t bytes = 0, gaps = 0;
    for (size_t i = d->bins.row_start[j]; i < d->bins.row_start[j + 1]; i++) {
        const habit *h = &d->of[d->bins.col[i]];
        int64_t own = d->bins.value[i];
        bytes += own;
        gaps += own > 0 ? count_parts(own, h->piece) - count_parts(own, h->turn) : 0;
    }
    d->begin = (int64_t)j * d->unit;
    d->at = 0;
    d->gap = gaps > 0 && bytes < d->unit ? (d->unit - bytes) / gaps : 0;
    d->scale = bytes > d->unit ? (double)d->unit / (double)bytes : 1.0;
    return bytes;
}

/* Whether a rank had nothing of the bin before and has something of the next one. */
static bool begins_in(const dealer *d, size_t j, size_t rank)
{
    return access_upper(&d->list[rank]) <= d->begin - d->unit && j + 1 < d->bins.rows &&
           matrix_get(&d->bins, j + 1, rank) > 0;
}

static int deal_piece(dealer *d, size_t rank, int64_t *left, int64_t bytes)
{
    access_list *list = &d->list[rank];
    int64_t place = access_least((int64_t)((double)d->at * d->scale), d->unit - *left) + d->begin;
    if (place < access_upper(list))
        place = access_upper(list);
    *left -= bytes;
    d->at += bytes;
    d->last = rank;
    return access_append(list, place, bytes, list->bytes);
}

static int deal_turn(dealer *d, size_t entry)
{
    size_t rank = d->bins.col[entry];
    int64_t *left = &d->bins.value[entry];
    int64_t end = *left - access_least(*left, d->of[rank].turn);
    int rc = 0;
    while (*left > end && rc == 0) {
        rc = deal_piece(d, rank, left, access_least(*left - end, d->of[rank].piece));
        d->at += *left > end ? d->gap : 0;
    }
    return rc;
}

/* Whose turn it is, of the ranks of the bin: the last one goes on with a piece that the bin before
 * has cut. */
static size_t deal_first_turn(const dealer *d, size_t j)
{
    const matrix *bins = &d->bins;
    size_t i = bins->row_start[j], end = bins->row_start[j + 1];
    while (i < end && bins->col[i] < d->last)
        i++;
    bool was_last = i < end && bins->col[i] == d->last;
    i += was_last && bins->value[i] % d->of[d->last].turn == 0;
    return i < end ? i - bins->row_start[j] : 0;
}

/* Whether a rank's turn is behind most of another one's. */
static bool follows(const dealer *d, size_t rank, size_t other)
{
    return other < d->view->rows &&
           2.0 * (double)matrix_get(d->view, other, rank) >= d->of[other].turns;
}

/* Those that begin here, but not behind the one before them in turn, go on in the next bin. */
static void find_waiting(dealer *d, size_t j, size_t first)
{
    const size_t start = d->bins.row_start[j], count = d->bins.row_start[j + 1] - start;
    bool waits = false;
    size_t last = d->last;
    for (size_t k = 0; k < count; k++) {
        size_t rank = d->bins.col[start + (first + k) % count];
        waits = begins_in(d, j, rank) && (waits || !follows(d, rank, last));
        d->waits[rank] = waits;
        last = rank;
    }
}

static int deal_turns(dealer *d, size_t j, size_t first, bool waiting)
{
    const size_t start = d->bins.row_start[j], count = d->bins.row_start[j + 1] - start;
    int rc = 0;
    for (bool has_dealt = true; has_dealt && rc == 0;) {
        has_dealt = false;
        for (size_t k = 0; k < count && rc == 0; k++) {
            size_t i = start + (first + k) % count;
            if (d->bins.value[i] == 0 || d->waits[d->bins.col[i]] != waiting)
                continue;
            rc = deal_turn(d, i);
            has_dealt = true;
        }
    }
    return rc;
}

static int deal_bin(dealer *d, size_t j)
{
    size_t first = deal_first_turn(d, j);
    find_waiting(d, j, first);
    int rc = deal_turns(d, j, first, false);
    return rc == 0 ? deal_turns(d, j, first, true) : rc;
}

/* Leaves the bytes of one call. Returns their sum. */
static double take_bytes(matrix *bins, int64_t calls, int64_t unit)
{
    double sum = 0.0;
    for (size_t i = 0; i < matrix_entries(bins); i++) {
        bins->value[i] = access_least(bins->value[i] / calls, unit);
        sum += (double)bins->value[i];
    }
    return sum;
}

static int start(dealer *d, const view_file *file, size_t k)
{
    const size_t ranks = file->view.rows;
    int rc = 0;
    *d = (dealer){.view = &file->view, .unit = file->pattern[k].unit, .last = ranks};
    d->of = base_zeroed(ranks, sizeof *d->of, &rc);
    d->waits = base_zeroed(ranks, sizeof *d->waits, &rc);
    if (rc == 0)
        rc = matrix_transpose(&d->bins, &file->bytes[k]);
    if (rc == 0)
        find_habits(file, take_bytes(&d->bins, file->pattern[k].calls, d->unit) / MOST_PIECES,
                    d->of);
    return rc;
}

int record_deal(const view_file *file, size_t k, access_list *list, int64_t *hidden)
{
    dealer d;
    int rc = start(&d, file, k);
    d.list = list;
    *hidden = 0;
    for (size_t j = 0; rc == 0 && j < d.bins.rows; j++) {
        int64_t bytes = start_bin(&d, j);
        bool is_told = d.bins.row_start[j + 1] - d.bins.row_start[j] <= 1 && d.gap == 0;
        *hidden += is_told ? 0 : bytes;
        rc = deal_bin(&d, j);
    }
    matrix_release(&d.bins);
    free(d.waits);
    free(d.of);
    return rc;
}
