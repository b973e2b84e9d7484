/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Comment lines, which are the same in both formats. Private to this folder.
 */
#ifndef MATRIX_COMMENTS_H
#define MATRIX_COMMENTS_H

#include <stdio.h>

/* Writes each line of the text (NULL: none), prefixed by "% ". */
void matrix_write_comments(FILE *stream, const char *comments);

/* Flushes the stream; -EIO: it has failed, now or before. */
int matrix_finish_writing(FILE *stream);

#endif
