/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matrix Market files, entry by entry. Private to this folder.
 */
#ifndef MATRIX_MARKET_H
#define MATRIX_MARKET_H

#include <string.h>

#include "matrix/scan.h"

/* The content of a file. */
typedef struct market_file {
    bool weights; /* set by the caller: numbers have to be whole and not negative */
    bool array, symmetric;
    bool decimals, pattern; /* numbers are written as reals, or all 1 */
    bool real;              /* numbers are doubles */
    size_t stored;          /* entries in the file */
    char *comments;
    matrix_costs costs;  /* rows, columns and, of an array of costs, the numbers */
    matrix_entry *entry; /* otherwise; both of a symmetric pair; the bits of doubles */
    size_t entries;
} market_file;

static inline double market_real(const matrix_entry *entry)
{
    double real;
    memcpy(&real, &entry->value, sizeof real);
    return real;
}

/* Reads the whole file. Release with market_release, also after an error. */
void market_scan(matrix_scan *scan, market_file *f);
void market_release(market_file *f);

/* matrix_read_market from the beginning of a text; the comments are NULL after an error. */
void market_scan_matrix(matrix_scan *scan, matrix *m, char **comments);

#endif
