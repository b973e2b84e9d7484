/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Comment lines, which both formats write alike. Private to this folder.
 */
#ifndef MATRIX_COMMENTS_H
#define MATRIX_COMMENTS_H

#include <stdio.h>

/* Writes each line of the text (NULL: none) with "% " in front. */
void matrix_write_comments(FILE *stream, const char *comments);

/* Flushes; -EIO when the stream has failed now or before, otherwise 0. */
int matrix_finish_writing(FILE *stream);

#endif
