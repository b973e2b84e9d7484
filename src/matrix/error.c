/* SPDX-License-Identifier: BSD-3-Clause */
/* Reasons why a text is refused. */
#include "matrix/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

int matrix_refuse(matrix_error *error, size_t line, const char *format, ...)
{
    char reason[sizeof error->reason];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    error->line = line;
    base_escape(error->reason, sizeof error->reason, reason);
    return -EBADMSG;
}

int matrix_refuse_stream(matrix_error *error, int cause)
{
    (void)matrix_refuse(error, 0, "cannot be read: %s", strerror(cause));
    return -EIO;
}

int matrix_refuse_line(matrix_error *error, size_t line, size_t most, int rc)
{
    if (rc == -ENOMEM)
        return rc;
    if (rc == -EILSEQ)
        return matrix_refuse(error, line, "a NUL character: this is no text");
    if (rc == -EMSGSIZE)
        return matrix_refuse(error, line, "a line of more than %zu characters", most);
    return matrix_refuse_stream(error, -rc);
}
