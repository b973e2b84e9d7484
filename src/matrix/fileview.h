/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parts of the FILEVIEW format, for files that contain more than the matrix. Private to this
 * folder.
 */
#ifndef MATRIX_FILEVIEW_H
#define MATRIX_FILEVIEW_H

#include "matrix/scan.h"

/* Reads from the word FILEVIEW to the last row pointer, then as fileview_scan_section. The caller
 * releases the matrix, which is zeroed before, and the comments, also after an error. */
void fileview_scan_matrix(matrix_scan *scan, matrix *m, char **comments);

/* Reads the word that begins the next section, word_length 0 at the end of the text; refuses
 * anything else. */
void fileview_scan_section(matrix_scan *scan);

#endif
