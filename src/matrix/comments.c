/* SPDX-License-Identifier: BSD-3-Clause */
/* Comment lines, which are the same in both formats. */
#include "base/memory.h"
#include "matrix/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void matrix_write_comments(FILE *stream, const char *comments)
{
    while (comments != NULL && *comments != '\0') {
        size_t length = strcspn(comments, "\n");
        fputs("% ", stream);
        fwrite(comments, 1, length, stream);
        fputc('\n', stream);
        comments += length + (comments[length] == '\n');
    }
}

int matrix_finish_writing(FILE *stream)
{
    int failed = ferror(stream);
    errno = EIO; /* the cause of an earlier failure is not known any more */
    return fflush(stream) != 0 || failed ? -errno : 0;
}

/* Appends the line without its '%' and one blank after that, and a newline. */
static void append_comment(matrix_scan *scan, struct matrix_text *text)
{
    size_t line = text->length;
    matrix_scan_next(scan);
    matrix_scan_rest_of_line(scan, MATRIX_SCAN_COMMENTS, text);
    if (scan->rc == 0 && text->string[line] == ' ')
        memmove(text->string + line, text->string + line + 1, --text->length - line);
    matrix_scan_fail(scan, base_reserve(&text->string, &text->capacity, text->length + 2, 1));
    if (scan->rc == 0)
        text->string[text->length++] = '\n';
}

char *matrix_scan_comments(matrix_scan *scan)
{
    struct matrix_text text = {0};
    matrix_scan_fail(scan, base_reserve(&text.string, &text.capacity, 1, 1));
    while (matrix_scan_at_comment(scan))
        append_comment(scan, &text);
    if (scan->rc == 0)
        text.string[text.length] = '\0';
    else
        free(text.string);
    return scan->rc == 0 ? text.string : NULL;
}
