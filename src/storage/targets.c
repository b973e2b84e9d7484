/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of targets, and of the locations of blocks. */
#include "storage/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "base/memory.h"
#include "base/text.h"

/* No line of three words is longer. */
enum { MOST_CHARACTERS = 1000, MOST_WORDS = 3 };

/* A target has a number; a block a number that is its offset, and a length. */
typedef struct entry {
    uint64_t number;
    int64_t length; /* 0: a target */
    char *host;
    size_t line;
} entry;

typedef struct reading {
    entry *list;
    size_t count, capacity;
    struct base_arena names;
    matrix_error *error;
    size_t line;
} reading;

/* ---- lines ---- */

/* Cuts the line, without its comment, into words. Returns their number; more are counted as one
 * too many. */
static size_t cut_words(char *line, char *word[MOST_WORDS])
{
    size_t count = 0;
    char *rest = NULL;
    line[strcspn(line, "#")] = '\0';
    for (char *at = strtok_r(line, " \t\r", &rest); at != NULL;
         at = strtok_r(NULL, " \t\r", &rest)) {
        if (count == MOST_WORDS)
            return MOST_WORDS + 1;
        word[count++] = at;
    }
    return count;
}

static int read_count(const reading *r, const char *word, const char *what, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(word, &end, 10);
    if (*word < '0' || *word > '9' || *end != '\0' || errno != 0 || *number > INT64_MAX)
        return matrix_refuse(r->error, r->line, "'%.40s' is not %s", word, what);
    return 0;
}

static int add_entry(reading *r, uint64_t number, uint64_t length, const char *host)
{
    if (r->count == STORAGE_MOST_OBJECTS)
        return matrix_refuse(r->error, r->line, "more than %d targets or blocks",
                             STORAGE_MOST_OBJECTS);
    if (!storage_is_host_name(host))
        return matrix_refuse(r->error, r->line, "'%.40s' is not the name of a host", host);
    int rc = base_reserve(&r->list, &r->capacity, r->count + 1, sizeof *r->list);
    if (rc != 0)
        return rc;
    char *copy = base_arena_alloc(&r->names, strlen(host) + 1, 1);
    if (copy == NULL)
        return -ENOMEM;
    strcpy(copy, host);
    r->list[r->count++] = (entry){number, (int64_t)length, copy, r->line};
    return 0;
}

static int read_target(reading *r, char *const *word)
{
    uint64_t number;
    int rc = read_count(r, word[0], "the number of a target", &number);
    return rc == 0 ? add_entry(r, number, 0, word[1]) : rc;
}

/* Blocks ascend, which storage_add_extent would say without the line. */
static int read_block(reading *r, char *const *word)
{
    uint64_t offset, length;
    int rc = read_count(r, word[0], "an offset", &offset);
    if (rc == 0)
        rc = read_count(r, word[1], "a length", &length);
    if (rc != 0)
        return rc;
    if (length == 0 || length > INT64_MAX - offset)
        return matrix_refuse(r->error, r->line, "no file has a block of %llu bytes at %llu",
                             (unsigned long long)length, (unsigned long long)offset);
    const entry *last = r->count > 0 ? &r->list[r->count - 1] : NULL;
    if (last != NULL && offset < last->number + (uint64_t)last->length)
        return matrix_refuse(r->error, r->line,
                             "a block at %llu, within or before that of line %zu",
                             (unsigned long long)offset, last->line);
    return add_entry(r, offset, length, word[2]);
}

static int read_line(reading *r, char *line)
{
    char *word[MOST_WORDS];
    size_t words = cut_words(line, word);
    if (words == 0)
        return 0;
    if (words != 2 && words != 3)
        return matrix_refuse(r->error, r->line,
                             "neither 'TARGET HOST' nor 'OFFSET LENGTH HOST' of a block");
    if (r->count > 0 && (r->list[0].length > 0) != (words == 3))
        return matrix_refuse(r->error, r->line, "a target and a block, of line %zu, in one file",
                             r->list[0].line);
    return words == 2 ? read_target(r, word) : read_block(r, word);
}

static int read_lines(reading *r, FILE *stream)
{
    char *line = NULL;
    size_t capacity = 0, length = 0;
    int rc = 0, more;
    for (r->line = 1; rc == 0; r->line++) {
        length = 0;
        more = base_append_line(stream, MOST_CHARACTERS, &line, &capacity, &length);
        if (more == 0)
            break;
        rc = more < 0 ? matrix_refuse_line(r->error, r->line, MOST_CHARACTERS, more)
                      : read_line(r, line);
    }
    free(line);
    if (rc == 0 && r->count == 0)
        rc = matrix_refuse(r->error, 0, "neither targets nor blocks in it");
    return rc;
}

/* ---- targets ---- */

static int compare_entries(const void *a, const void *b)
{
    const entry *x = *(entry *const *)a, *y = *(entry *const *)b;
    return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
                                  : (x->line > y->line) - (x->line < y->line);
}

/* `sorted` has the entries in the order of the layout's targets. */
static int name_targets(const reading *r, entry *const *sorted, storage_layout *layout)
{
    for (size_t k = 1; k < r->count; k++)
        if (sorted[k]->number == sorted[k - 1]->number)
            return matrix_refuse(r->error, sorted[k]->line, "target %llu is that of line %zu",
                                 (unsigned long long)sorted[k]->number, sorted[k - 1]->line);
    int rc = storage_finish(layout);
    for (size_t k = 0; rc == 0 && k < r->count; k++)
        rc = storage_set_host(layout, k, sorted[k]->host);
    return rc;
}

/* Objects in the order of the lines: storage_stripe takes them in turn. */
static int add_targets(const reading *r, entry **sorted, storage_layout *layout)
{
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < r->count; k++)
        rc = storage_add_object(layout, r->list[k].number);
    if (rc != 0)
        return rc;
    qsort(sorted, r->count, sizeof *sorted, compare_entries);
    return name_targets(r, sorted, layout);
}

/* ---- blocks ---- */

static int compare_hosts(const void *a, const void *b)
{
    return strcasecmp((*(entry *const *)a)->host, (*(entry *const *)b)->host);
}

/* Hosts are numbered from 0 by their names; `number` receives that of each entry of the list. */
static void number_hosts(const reading *r, entry *const *sorted, uint64_t *number)
{
    uint64_t host = 0;
    for (size_t k = 0; k < r->count; k++) {
        host += k > 0 && compare_hosts(&sorted[k - 1], &sorted[k]) != 0;
        number[sorted[k] - r->list] = host;
    }
}

static int add_blocks(const reading *r, entry **sorted, storage_layout *layout)
{
    uint64_t *number = base_alloc(r->count, sizeof *number);
    int rc = number == NULL ? -ENOMEM : 0;
    if (rc == 0) {
        qsort(sorted, r->count, sizeof *sorted, compare_hosts);
        number_hosts(r, sorted, number);
    }
    for (size_t k = 0; rc == 0 && k < r->count; k++) {
        int64_t start = (int64_t)r->list[k].number, length = r->list[k].length;
        rc = storage_add_object(layout, number[k]);
        if (rc == 0)
            rc = storage_add_extent(
                layout,
                &(storage_extent){
                    .start = start, .end = start + length, .unit = length, .count = 1},
                r->error);
    }
    if (rc == 0)
        rc = storage_finish(layout);
    for (size_t k = 0; rc == 0 && k < r->count; k++)
        rc = storage_set_host(layout, (size_t)number[k], r->list[k].host);
    free(number);
    return rc;
}

/* ---- both ---- */

static int build_layout(const reading *r, storage_layout *layout)
{
    entry **sorted = base_alloc(r->count, sizeof *sorted);
    if (sorted == NULL)
        return -ENOMEM;
    for (size_t k = 0; k < r->count; k++)
        sorted[k] = &r->list[k];
    int rc = r->list[0].length > 0 ? add_blocks(r, sorted, layout) : add_targets(r, sorted, layout);
    free(sorted);
    return rc;
}

int storage_read_targets(FILE *stream, storage_layout **layout, matrix_error *error)
{
    reading r = {.error = error};
    storage_layout *built = NULL;
    int rc = read_lines(&r, stream);
    if (rc == 0) {
        built = storage_begin("file of targets");
        rc = built == NULL ? -ENOMEM : build_layout(&r, built);
    }
    free(r.list);
    base_arena_release(&r.names);
    return storage_hand_over(built, rc, layout);
}
