/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* TEMP_FAILURE_RETRY, open_memstream, F_OFD_GETLK */
#include "record/record_header.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/version.h"

static const char first_lines[] = "FILEVIEW\n% view matrix of fcoll/tatp";

#define MOST_TOTAL (INT64_MAX / 4)

/* ---- totals ---- */

static bool totals_add_value(int64_t *sum, int64_t more)
{
    if (*sum < 0 || more < 0 || more > MOST_TOTAL - *sum)
        return false;
    *sum += more;
    return true;
}

int record_totals_add(record_totals *sum, const record_totals *more)
{
    record_totals s = *sum;
    if (!totals_add_value(&s.files, more->files) ||
        !totals_add_value(&s.accesses, more->accesses) || !totals_add_value(&s.bytes, more->bytes))
        return -ERANGE;
    *sum = s;
    return 0;
}

/* ---- names ---- */

void record_header_copy_name(char *name, size_t size, const char *from)
{
    size_t i = 0;
    for (; i + 1 < size && from[i] != '\0'; i++)
        name[i] = (unsigned char)from[i] < ' ' || from[i] == 0x7f ? '?' : from[i];
    name[i] = '\0';
}

/* ---- reading ---- */

/* The first bytes of the file, at most `capacity`. Returns their number, or a negative errno. */
static long read_begin(int fd, char *text, size_t capacity)
{
    size_t length = 0;
    while (length < capacity) {
        ssize_t got =
            TEMP_FAILURE_RETRY(pread(fd, text + length, capacity - length, (off_t)length));
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    return (long)length;
}

bool record_header_is_held(int fd)
{
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

bool record_header_is_of_run(const record_header *header, int fd, const char *run, int64_t started)
{
    struct stat status;
    return strcmp(header->run, run) == 0 && fstat(fd, &status) == 0 &&
           (record_header_is_held(fd) ||
            (int64_t)status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec >= started);
}

int record_header_check_begin(int fd)
{
    char text[sizeof first_lines - 1];
    long length = read_begin(fd, text, sizeof text);
    if (length < 0)
        return (int)length;
    return memcmp(text, first_lines, (size_t)length) == 0 ? 0 : -EEXIST;
}

static void header_read_text(const char *line, const char *key, char *value, size_t size)
{
    if (strncmp(line, key, strlen(key)) == 0)
        record_header_copy_name(value, size, line + strlen(key));
}

static void read_line(record_header *h, const char *line)
{
    header_read_text(line, "program: ", h->program, sizeof h->program);
    header_read_text(line, "file: ", h->file, sizeof h->file);
    header_read_text(line, "run: ", h->run, sizeof h->run);
    (void)sscanf(line, "ranks: %zu", &h->ranks);
    (void)sscanf(line, "files: %" SCNd64, &h->totals.files);
    (void)sscanf(line, "accesses: %" SCNd64, &h->totals.accesses);
    (void)sscanf(line, "bytes: %" SCNd64, &h->totals.bytes);
}

static int parse_header(record_header *header, char *text, size_t length)
{
    char *rest = NULL;
    *header = (record_header){.ranks = 0};
    if (length == 0)
        return 0;
    if (strncmp(text, first_lines, sizeof first_lines - 1) != 0)
        return -EEXIST;
    (void)strtok_r(text, "\n", &rest);
    for (char *line = strtok_r(NULL, "\n", &rest); line != NULL && line[0] == '%';
         line = strtok_r(NULL, "\n", &rest))
        read_line(header, line + 1 + (line[1] == ' '));
    return header->run[0] != '\0' ? 0 : -EEXIST;
}

int record_header_read(record_header *header, int fd)
{
    char *text = calloc(1, RECORD_HEADER_BYTES + 1);
    if (text == NULL)
        return -ENOMEM;
    long length = read_begin(fd, text, RECORD_HEADER_BYTES);
    int rc = length < 0 ? (int)length : parse_header(header, text, (size_t)length);
    free(text);
    return rc;
}

/* ---- writing ---- */

char *record_header_format(const record_header *h)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        return NULL;
    fprintf(stream,
            "view matrix of fcoll/tatp, format 4\nversion: " TATP_VERSION "\nprogram: %s\n%s%s%s"
            "run: %s\nranks: %zu\nfiles: %" PRId64 "\naccesses: %" PRId64 "\nbytes: %" PRId64 "\n",
            h->program, h->file[0] != '\0' ? "file: " : "", h->file, h->file[0] != '\0' ? "\n" : "",
            h->run, h->ranks, h->totals.files, h->totals.accesses, h->totals.bytes);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}
