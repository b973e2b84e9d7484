/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* open_memstream with -std=c11 */
#include "record/record_header.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/version.h"

static const char first_lines[] = "FILEVIEW\n% view matrix of fcoll/tatp";

#define MOST_TOTAL (INT64_MAX / 4)

/* ---- totals ---- */

static bool add_up(int64_t *sum, int64_t more)
{
    if (*sum < 0 || more < 0 || more > MOST_TOTAL - *sum)
        return false;
    *sum += more;
    return true;
}

int record_totals_add(record_totals *sum, const record_totals *more)
{
    record_totals s = *sum;
    if (!add_up(&s.files, more->files) || !add_up(&s.accesses, more->accesses) ||
        !add_up(&s.bytes, more->bytes) || !add_up(&s.independent, more->independent) ||
        !add_up(&s.missed, more->missed))
        return -ERANGE;
    *sum = s;
    return 0;
}

/* ---- names and runs ---- */

void record_header_copy_name(char name[RECORD_MOST_NAME + 1], const char *from)
{
    size_t i = 0;
    for (; i < RECORD_MOST_NAME && from[i] != '\0'; i++)
        name[i] = (unsigned char)from[i] < ' ' || from[i] == 0x7f ? '?' : from[i];
    name[i] = '\0';
}

const record_run *record_header_find(const record_header *header, const char *name)
{
    for (size_t i = 0; i < header->runs; i++)
        if (strcmp(header->run[i].name, name) == 0)
            return &header->run[i];
    return NULL;
}

int64_t record_header_next_stamp(const record_header *header)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t stamp = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return stamp > header->written || header->written == INT64_MAX ? stamp : header->written + 1;
}

/* ---- reading ---- */

bool record_header_begins(const char *text, size_t length)
{
    size_t first = sizeof first_lines - 1;
    return memcmp(text, first_lines, length < first ? length : first) == 0;
}

static bool read_text(const char *line, const char *key, char *value)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0)
        return false;
    record_header_copy_name(value, line + length);
    return true;
}

static void read_line(record_header *h, const char *line)
{
    char weight[RECORD_MOST_NAME + 1];
    if (h->runs < RECORD_MOST_RUNS && read_text(line, "run: ", h->run[h->runs].name))
        h->runs++;
    if (h->runs > 0)
        (void)sscanf(line, "began: %" SCNd64, &h->run[h->runs - 1].began);
    if (read_text(line, "weight: ", weight))
        h->weight = strcmp(weight, "bytes") == 0 ? ACCESS_WEIGHT_BYTES : ACCESS_WEIGHT_COUNT;
    (void)read_text(line, "program: ", h->program);
    (void)sscanf(line, "written: %" SCNd64, &h->written);
    (void)sscanf(line, "ranks: %zu", &h->ranks);
    (void)sscanf(line, "files: %" SCNd64, &h->totals.files);
    (void)sscanf(line, "accesses: %" SCNd64, &h->totals.accesses);
    (void)sscanf(line, "bytes: %" SCNd64, &h->totals.bytes);
    (void)sscanf(line, "independent: %" SCNd64, &h->totals.independent);
    (void)sscanf(line, "missed: %" SCNd64, &h->totals.missed);
}

int record_header_parse(record_header *header, char *text, size_t length)
{
    char *rest = NULL;
    *header = (record_header){0};
    if (length == 0)
        return 0;
    if (length < sizeof first_lines - 1 || !record_header_begins(text, length))
        return -EEXIST;
    (void)strtok_r(text, "\n", &rest);
    for (char *line = strtok_r(NULL, "\n", &rest); line != NULL && line[0] == '%';
         line = strtok_r(NULL, "\n", &rest))
        read_line(header, line + 1 + (line[1] == ' '));
    return header->runs > 0 ? 0 : -EEXIST;
}

/* ---- writing ---- */

static void put_runs(FILE *stream, const record_header *h)
{
    for (size_t i = 0; i < h->runs; i++)
        fprintf(stream, "run: %s\nbegan: %" PRId64 "\n", h->run[i].name, h->run[i].began);
}

char *record_header_format(const record_header *h)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        return NULL;
    fprintf(stream, "view matrix of fcoll/tatp, format 4\nversion: " TATP_VERSION "\nprogram: %s\n",
            h->program);
    put_runs(stream, h);
    fprintf(stream,
            "written: %" PRId64 "\nranks: %zu\nweight: %s\nfiles: %" PRId64 "\naccesses: %" PRId64
            "\nbytes: %" PRId64 "\nindependent: %" PRId64 "\nmissed: %" PRId64 "\n",
            h->written, h->ranks, h->weight == ACCESS_WEIGHT_BYTES ? "bytes" : "count",
            h->totals.files, h->totals.accesses, h->totals.bytes, h->totals.independent,
            h->totals.missed);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}
