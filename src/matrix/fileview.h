/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The FILEVIEW format in pieces, for files that have more than the matrix. Private to this folder.
 */
#ifndef MATRIX_FILEVIEW_H
#define MATRIX_FILEVIEW_H

#include "matrix/scan.h"

/* From the word FILEVIEW to the last row pointer, and the word behind it as fileview_scan_section.
 * Errors as matrix_read_fileview. */
int fileview_scan_matrix(matrix_scan *scan, matrix *m);

/* The word that begins the next section, word_length 0 at the end of the text; else refused. */
int fileview_scan_section(matrix_scan *scan);

/* Whether matrix_write_fileview writes that. */
int fileview_is_writable(const matrix *m);

#endif
