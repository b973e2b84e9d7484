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

struct comment_text {
    char *string;
    size_t length, capacity;
};

/* number: of the line, for a message. */
static int append_comment_character(matrix_scan *scan, size_t number, struct comment_text *text,
                                    int c)
{
    if (c == '\0')
        return matrix_refuse(scan->error, number, "a NUL byte");
    if (text->length == MATRIX_SCAN_COMMENTS)
        return matrix_refuse(scan->error, number, "comments of more than %zu characters",
                             MATRIX_SCAN_COMMENTS);
    int rc = base_reserve(&text->string, &text->capacity, text->length + 2, 1);
    if (rc == 0)
        text->string[text->length++] = (char)c;
    return rc;
}

/* Appends the line without its '%', one blank after that, and its line end; and a newline. */
static int append_comment(matrix_scan *scan, struct comment_text *text)
{
    size_t line = text->length, number = scan->line;
    int rc = 0, c;
    matrix_scan_next(scan);
    while (rc == 0 && (c = matrix_scan_next(scan)) != '\n' && c != EOF)
        rc = append_comment_character(scan, number, text, c);
    if (rc != 0)
        return rc;
    if (text->length > line && text->string[text->length - 1] == '\r')
        text->length--;
    if (text->length > line && text->string[line] == ' ')
        memmove(text->string + line, text->string + line + 1, --text->length - line);
    return append_comment_character(scan, number, text, '\n');
}

int matrix_scan_comments(matrix_scan *scan, char **comments)
{
    struct comment_text text = {0};
    int rc = base_reserve(&text.string, &text.capacity, 1, 1);
    while (rc == 0 && matrix_scan_at_comment(scan))
        rc = append_comment(scan, &text);
    if (rc == 0)
        rc = matrix_scan_failure(scan);
    if (rc == 0) {
        text.string[text.length] = '\0';
        *comments = text.string;
    } else {
        free(text.string);
    }
    return rc;
}
