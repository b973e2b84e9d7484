/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Matrix Market files, entry by entry. Private to the readers of this folder.
 */
#ifndef MATRIX_MARKET_H
#define MATRIX_MARKET_H

#include "matrix/scan.h"

typedef enum market_field { MARKET_INTEGER, MARKET_REAL, MARKET_PATTERN } market_field;

/* What banner and sizes say. */
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

/* Who wants the entries. Its functions return 0, or an error that ends the reading. */
typedef struct market_sink {
    void *context;
    int (*begin)(void *context, matrix_scan *scan, const market_layout *layout);
    int (*read_real)(void *context, matrix_scan *scan,
                     market_number *value); /* of a field that is real */
    int (*take)(void *context, size_t row, size_t col,
                market_number value); /* both of a mirrored pair */
} market_sink;

/* Reads the whole file. `comments` as matrix_read_market has it. */
int market_read(matrix_scan *scan, const market_sink *sink, char **comments);

/* Refuses more rows (`what`) than a file of this length may ask memory for. */
int market_check_extent(matrix_scan *scan, size_t extent, const char *what);

#endif
