/* SPDX-License-Identifier: BSD-3-Clause */
/* Comment lines, which both formats have alike. */
#include "matrix/comments.h"
#include "matrix/matrix.h"

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

/* Appends the comment in `line` to the text. */
static int append_comment(char **text, size_t *used, const char *line)
{
    line += line[1] == ' ' ? 2 : 1;
    size_t length = strcspn(line, "\r\n");
    char *grown = realloc(*text, *used + length + 2);
    if (grown == NULL)
        return -ENOMEM;
    memcpy(grown + *used, line, length);
    *used += length;
    grown[(*used)++] = '\n';
    grown[*used] = '\0';
    *text = grown;
    return 0;
}

int matrix_read_comments(FILE *stream, char **comments)
{
    char *line = NULL, *text = calloc(1, 1);
    size_t room = 0, used = 0;
    int rc = text == NULL ? -ENOMEM : 0;

    if (rc == 0 && getline(&line, &room, stream) > 0)
        while (rc == 0 && getline(&line, &room, stream) > 0 && line[0] == '%')
            rc = append_comment(&text, &used, line);
    if (rc == 0 && ferror(stream))
        rc = -EIO;
    free(line);
    if (rc == 0)
        *comments = text;
    else
        free(text);
    return rc;
}
