/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matrix Market files, entry by entry. Private to this folder.
 */
#ifndef MATRIX_MARKET_H
#define MATRIX_MARKET_H

#include "matrix/scan.h"

typedef enum market_field { MARKET_INTEGER, MARKET_REAL, MARKET_PATTERN } market_field;

/* The contents of banner and size line. */
typedef struct market_layout {
    int array;
    int symmetric;
    market_field field;
    size_t rows, cols;
    size_t stored; /* entries in the file */
} market_layout;

typedef union market_number {
    int64_t whole;
    double real;
} market_number;

/* The receiver of the entries. Its functions return 0, or an error that ends reading. */
typedef struct market_sink {
    void *context;
    int (*begin)(void *context, matrix_scan *scan, const market_layout *layout);
    /* Reads a value of a real field. */
    int (*read_real)(void *context, matrix_scan *scan, market_number *value);
    /* Called for both entries of a symmetric pair. */
    int (*add)(void *context, size_t row, size_t col, market_number value);
} market_sink;

/* Reads the whole file. `comments` as in matrix_read_market. */
int market_read(matrix_scan *scan, const market_sink *sink, char **comments);

/* matrix_read_market from the beginning of a text. */
int market_scan_matrix(matrix_scan *scan, matrix *m, char **comments);

#endif
