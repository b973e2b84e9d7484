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
    return fflush(stream) != 0 || ferror(stream) ? -EIO : 0;
}

struct text {
    char *string;
    size_t length, capacity;
};

/* Appends the comment in `line` to the text. */
static int append_comment(struct text *text, const char *line)
{
    line += line[1] == ' ' ? 2 : 1;
    size_t length = strcspn(line, "\r\n");
    int rc = base_reserve(&text->string, &text->capacity, text->length + length + 2, 1);
    if (rc != 0)
        return rc;
    memcpy(text->string + text->length, line, length);
    text->length += length;
    memcpy(text->string + text->length++, "\n", 2);
    return 0;
}

int matrix_read_comments(FILE *stream, char **comments)
{
    struct text text = {.string = calloc(1, 1), .capacity = 1};
    char *line = NULL;
    size_t capacity = 0;
    int rc = text.string == NULL ? -ENOMEM : 0;

    if (rc == 0 && getline(&line, &capacity, stream) > 0)
        while (rc == 0 && getline(&line, &capacity, stream) > 0 && line[0] == '%')
            rc = append_comment(&text, line);
    if (rc == 0 && ferror(stream))
        rc = -EIO;
    free(line);
    if (rc == 0)
        *comments = text.string;
    else
        free(text.string);
    return rc;
}
