/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts as lines of text, for the record of a run:
 *
 *   targets N N - N ...              of the next objects, by number; -: not known
 *   extent START END UNIT COUNT SIZE with the objects since the last one; END -: without end
 *   host N NAME                      of target N; ascending, behind all extents */
#define _GNU_SOURCE /* open_memstream, strsep with -std=c11 */
#include "storage/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Of all extents together; a record keeps the first ones. */
enum { MOST_EXTENTS = 1 << 14, MOST_OBJECTS = 1 << 14 };

enum { TARGETS_PER_LINE = 1000 };

/* ---- writing ---- */

static void put_objects(FILE *stream, const storage_layout *layout, const storage_extent *e,
                        size_t objects)
{
    for (size_t i = 0; i < objects; i++) {
        fputs(i % TARGETS_PER_LINE == 0 ? "targets" : "", stream);
        if (e->target[i] == STORAGE_NONE)
            fputs(" -", stream);
        else
            fprintf(stream, " %" PRIu64, storage_target_number(layout, e->target[i]));
        if ((i + 1) % TARGETS_PER_LINE == 0 || i + 1 == objects)
            fputc('\n', stream);
    }
}

static void put_extents(FILE *stream, const storage_layout *layout)
{
    size_t left = MOST_OBJECTS;
    for (size_t k = 0; k < storage_extents(layout) && k < MOST_EXTENTS; k++) {
        storage_extent e;
        storage_get_extent(layout, k, &e);
        size_t objects = e.objects < left ? e.objects : left;
        left -= objects;
        put_objects(stream, layout, &e, objects);
        fprintf(stream, "extent %" PRId64 " ", e.start);
        if (e.end == INT64_MAX)
            fputc('-', stream);
        else
            fprintf(stream, "%" PRId64, e.end);
        fprintf(stream, " %" PRId64 " %zu %" PRId64 "\n", e.unit, e.count, e.object);
    }
}

/* Sets used[t] for targets that put_extents names. */
static void mark_targets(const storage_layout *layout, bool *used)
{
    size_t left = MOST_OBJECTS;
    for (size_t k = 0; k < storage_extents(layout) && k < MOST_EXTENTS; k++) {
        storage_extent e;
        storage_get_extent(layout, k, &e);
        for (size_t i = 0; i < e.objects && left > 0; i++, left--)
            if (e.target[i] != STORAGE_NONE)
                used[e.target[i]] = true;
    }
}

static void put_hosts(FILE *stream, const storage_layout *layout, const bool *used)
{
    for (size_t t = 0; t < storage_targets(layout); t++)
        if (used[t] && storage_target_host(layout, t) != NULL)
            fprintf(stream, "host %" PRIu64 " %s\n", storage_target_number(layout, t),
                    storage_target_host(layout, t));
}

char *storage_record(const storage_layout *layout)
{
    char *text = NULL;
    size_t length;
    bool *used = calloc(storage_targets(layout) + 1, sizeof *used);
    FILE *stream = used == NULL ? NULL : open_memstream(&text, &length);
    if (stream != NULL) {
        mark_targets(layout, used);
        put_extents(stream, layout);
        put_hosts(stream, layout, used);
    }
    free(used);
    if (stream == NULL || fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- reading ---- */

typedef struct reading {
    storage_layout *layout;
    matrix_error *error;
    size_t line;
    bool finished;  /* the extents */
    size_t objects; /* so far */
    size_t used;    /* of these, by extents */
    size_t next;    /* target whose host may follow */
} reading;

/* "-" is `none`. */
static int read_number(const reading *r, const char *word, uint64_t most, uint64_t none,
                       uint64_t *number)
{
    char *end;
    if (word != NULL && strcmp(word, "-") == 0 && none != 0) {
        *number = none;
        return 0;
    }
    errno = 0;
    *number = word == NULL ? 0 : strtoull(word, &end, 10);
    if (word == NULL || *word < '0' || *word > '9' || *end != '\0' || errno != 0 || *number > most)
        return matrix_refuse(r->error, r->line, "'%.40s' in a layout where a number is expected",
                             word == NULL ? "" : word);
    return 0;
}

static int read_objects(reading *r, char **rest)
{
    uint64_t number;
    int rc = 0;
    for (char *word = strtok_r(NULL, " ", rest); word != NULL && rc == 0;
         word = strtok_r(NULL, " ", rest)) {
        rc = read_number(r, word, STORAGE_NO_NUMBER - 1, STORAGE_NO_NUMBER, &number);
        if (rc == 0 && r->objects++ == STORAGE_MOST_OBJECTS)
            rc = matrix_refuse(r->error, r->line, "more than %d objects", STORAGE_MOST_OBJECTS);
        if (rc == 0)
            rc = storage_add_object(r->layout, number);
    }
    return rc;
}

static int read_extent(reading *r, char **rest)
{
    enum { START, END, UNIT, COUNT, SIZE, NUMBERS };
    uint64_t number[NUMBERS];
    int rc = 0;
    for (int k = 0; k < NUMBERS && rc == 0; k++)
        rc = read_number(r, strtok_r(NULL, " ", rest), k == SIZE ? UINT32_MAX : INT64_MAX,
                         k == END ? INT64_MAX : 0, &number[k]);
    if (rc == 0 && number[SIZE] == 0 && r->objects - r->used > number[COUNT])
        rc = matrix_refuse(r->error, r->line, "%zu objects of a stripe count of %" PRIu64,
                           r->objects - r->used, number[COUNT]);
    if (rc != 0)
        return rc;
    r->used = r->objects;
    rc = storage_add_extent(r->layout,
                            &(storage_extent){.start = (int64_t)number[START],
                                              .end = (int64_t)number[END],
                                              .unit = (int64_t)number[UNIT],
                                              .count = (size_t)number[COUNT],
                                              .object = (int64_t)number[SIZE]},
                            r->error);
    if (rc == -EBADMSG)
        r->error->line = r->line;
    return rc;
}

static int finish_extents(reading *r)
{
    int rc = r->finished ? 0 : storage_finish(r->layout);
    r->finished = rc == 0;
    return rc;
}

static int read_host(reading *r, char **rest)
{
    uint64_t number;
    int rc = read_number(r, strtok_r(NULL, " ", rest), STORAGE_NO_NUMBER - 1, 0, &number);
    const char *host = strtok_r(NULL, " ", rest);
    if (rc == 0)
        rc = finish_extents(r);
    if (rc != 0)
        return rc;
    while (r->next < storage_targets(r->layout) &&
           storage_target_number(r->layout, r->next) < number)
        r->next++;
    if (r->next == storage_targets(r->layout) ||
        storage_target_number(r->layout, r->next) != number)
        return matrix_refuse(r->error, r->line, "the host of target %" PRIu64 ", which is none",
                             number);
    if (host == NULL || !storage_is_host_name(host))
        return matrix_refuse(r->error, r->line, "target %" PRIu64 " has no name of a host", number);
    return storage_set_host(r->layout, r->next++, host);
}

static int read_line(reading *r, char *line)
{
    char *rest = NULL, *word = strtok_r(line, " ", &rest);
    if (word != NULL && strcmp(word, "targets") == 0 && !r->finished)
        return read_objects(r, &rest);
    if (word != NULL && strcmp(word, "extent") == 0 && !r->finished)
        return read_extent(r, &rest);
    if (word != NULL && strcmp(word, "host") == 0)
        return read_host(r, &rest);
    return matrix_refuse(r->error, r->line, "'%.40s' in a layout where %s is expected",
                         word == NULL ? "" : word,
                         r->finished ? "a host" : "'targets', 'extent' or 'host'");
}

static int read_lines(reading *r, char *text)
{
    int rc = 0;
    for (char *line = strsep(&text, "\n"); text != NULL && rc == 0;
         line = strsep(&text, "\n"), r->line += rc == 0)
        rc = read_line(r, line);
    return rc == 0 ? finish_extents(r) : rc;
}

int storage_read_recorded(const char *text, size_t line, storage_layout **layout,
                          matrix_error *error)
{
    reading r = {.layout = storage_begin("record"), .error = error, .line = line};
    char *copy = base_alloc(strlen(text) + 1, 1);
    int rc = copy == NULL || r.layout == NULL ? -ENOMEM : 0;
    if (rc == 0) {
        strcpy(copy, text);
        rc = read_lines(&r, copy);
    }
    free(copy);
    if (rc == 0 && storage_extents(r.layout) == 0)
        rc = matrix_refuse(error, line, "a layout without extents");
    return storage_hand_over(r.layout, rc, layout);
}
