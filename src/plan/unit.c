/* SPDX-License-Identifier: BSD-3-Clause */
/* The size of a unit of fitted file domains. */
#include "plan/fitted.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define DEFAULT_TOLERANCE .02
/* File systems lock, cache and place blocks of about this size or less. */
#define LEAST_UNIT (64 << 10)
/* A larger range has larger units. */
#define MOST_UNITS (1 << 20)

double fitted_crossing_bound(const matrix *bytes)
{
    double total = 0.0, staying = 0.0;
    for (size_t u = 0; u < bytes->rows; u++) {
        int64_t most = 0;
        for (size_t e = bytes->row_start[u]; e < bytes->row_start[u + 1]; e++) {
            total += (double)bytes->value[e];
            most = bytes->value[e] > most ? bytes->value[e] : most;
        }
        staying += (double)most;
    }
    return total > 0.0 ? 1.0 - staying / total : 0.0;
}

/* ---- doubling ---- */

/* Entries [e, end) of a row. */
struct row {
    size_t e, end;
};

static struct row row_range(const matrix *m, size_t u)
{
    return (struct row){m->row_start[u], m->row_start[u + 1]};
}

/* Appends the sum of two rows; -ERANGE. */
static int add_rows(const matrix *m, struct row a, struct row b, matrix *sum, size_t *entries)
{
    while (a.e < a.end || b.e < b.end) {
        size_t i = a.e < a.end ? m->col[a.e] : SIZE_MAX, j = b.e < b.end ? m->col[b.e] : SIZE_MAX;
        size_t col = i < j ? i : j;
        int64_t of_a = i == col ? m->value[a.e++] : 0, of_b = j == col ? m->value[b.e++] : 0;
        sum->col[*entries] = col;
        if (__builtin_add_overflow(of_a, of_b, &sum->value[(*entries)++]))
            return -ERANGE;
    }
    return 0;
}

/* Joins units 2k and 2k + 1 of the file; `first` is the number of row 0. */
static int double_units(const matrix *m, uint64_t first, matrix *doubled)
{
    size_t odd = first % 2, entries = 0;
    matrix sum;
    int rc = matrix_allocate(&sum, (m->rows + odd + 1) / 2, m->cols, m->row_start[m->rows]);
    for (size_t u = 0, unit = 0; rc == 0 && u < m->rows; unit++) {
        struct row a = row_range(m, u++), b = {0, 0};
        if (u < m->rows && (first + u) % 2 != 0)
            b = row_range(m, u++);
        rc = add_rows(m, a, b, &sum, &entries);
        sum.row_start[unit + 1] = entries;
    }
    if (rc == 0)
        *doubled = sum;
    else if (rc != -ENOMEM)
        matrix_release(&sum);
    return rc;
}

static int copy_matrix(const matrix *m, matrix *twin)
{
    size_t entries = m->row_start[m->rows];
    int rc = matrix_allocate(twin, m->rows, m->cols, entries);
    if (rc == 0) {
        memcpy(twin->row_start, m->row_start, (m->rows + 1) * sizeof *twin->row_start);
        memcpy(twin->col, m->col, entries * sizeof *twin->col);
        memcpy(twin->value, m->value, entries * sizeof *twin->value);
    }
    return rc;
}

/* ---- the choice ---- */

static int is_loaded(const matrix *m, size_t u)
{
    for (size_t e = m->row_start[u]; e < m->row_start[u + 1]; e++)
        if (m->value[e] > 0)
            return 1;
    return 0;
}

/* Excess of the largest share over the average, as part of the average. */
static double imbalance(const matrix *m, size_t aggregators)
{
    size_t loaded = 0;
    for (size_t u = 0; u < m->rows; u++)
        loaded += (size_t)is_loaded(m, u);
    if (loaded == 0 || aggregators == 0)
        return 0.0;
    double average = (double)loaded / (double)aggregators;
    return ceil(average) / average - 1.0;
}

struct limits {
    double bound, imbalance;
};

/* Doubles the units of the choice as long as they meet the limits. */
static int enlarge(fitted_unit_choice *choice, const fitted_unit_options *options,
                   const struct limits *limits)
{
    while (choice->bytes.rows > 1) {
        uint64_t first = choice->doublings < 64 ? options->first >> choice->doublings : 0;
        matrix doubled;
        int rc = double_units(&choice->bytes, first, &doubled);
        if (rc != 0)
            return rc;
        double bound = fitted_crossing_bound(&doubled);
        if (bound > limits->bound ||
            imbalance(&doubled, options->aggregators) > limits->imbalance) {
            matrix_release(&doubled);
            return 0;
        }
        matrix_release(&choice->bytes);
        choice->bytes = doubled;
        choice->bound = bound;
        choice->doublings++;
    }
    return 0;
}

static int check_smallest(const matrix *smallest, const fitted_unit_options *options)
{
    for (size_t e = 0; e < smallest->row_start[smallest->rows]; e++)
        if (smallest->value[e] < 0)
            return -EINVAL;
    return isnan(options->tolerance) ? -EINVAL : 0;
}

int64_t fitted_smallest_unit(int64_t wanted, int64_t stripe, int64_t from, int64_t to)
{
    int64_t unit = wanted > 0 ? wanted : LEAST_UNIT;
    if (stripe > 0)
        unit = ((unit - 1) / stripe + 1) * stripe;
    while ((to - 1) / unit - from / unit >= MOST_UNITS)
        unit *= 2;
    return unit;
}

int fitted_choose_unit(const matrix *smallest, const fitted_unit_options *options,
                       fitted_unit_choice *choice)
{
    static const fitted_unit_options defaults;
    fitted_unit_choice chosen = {.doublings = 0};
    options = options != NULL ? options : &defaults;
    int rc = check_smallest(smallest, options);
    if (rc == 0)
        rc = copy_matrix(smallest, &chosen.bytes);
    if (rc != 0)
        return rc;
    double tolerance =
        options->tolerance != 0.0 ? fmax(options->tolerance, 0.0) : DEFAULT_TOLERANCE;
    chosen.bound = chosen.smallest_bound = fitted_crossing_bound(smallest);
    struct limits limits = {
        chosen.smallest_bound + tolerance,
        fmax(tolerance, imbalance(smallest, options->aggregators)),
    };
    rc = enlarge(&chosen, options, &limits);
    if (rc == 0)
        *choice = chosen;
    else
        matrix_release(&chosen.bytes);
    return rc;
}
