/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances between nodes, and the file they come from. */
#include "topo/topo.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The names of a hops file. Sorted by short name, then by the whole name, so that
 * names that may stand for one host are neighbours. */
struct host_name {
    const char *name;
    size_t row;
};

struct host_list {
    struct host_name *entry;
    size_t count;
    int named; /* there was a line of names, perhaps an empty one */
};

void topo_flat(topo *t, size_t nodes)
{
    *t = (topo){ .nodes = nodes };
}

void topo_release(topo *t)
{
    free(t->hops);
    topo_flat(t, 0);
}

double topo_hops(const topo *t, size_t n, size_t m, int same_rank)
{
    if (n == m) {
        return same_rank ? 0.0 : TOPO_SAME_NODE;
    }
    return t->hops != NULL ? t->hops[n * t->nodes + m] : TOPO_OTHER_NODE;
}

__attribute__((format(printf, 2, 3)))
static int malformed(matrix_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->line = 0;
    vsnprintf(error->reason, sizeof error->reason, format, arguments);
    va_end(arguments);
    return -EBADMSG;
}

/* ---- names ---- */

static size_t short_length(const char *name)
{
    return strcspn(name, ".");
}

static int compare_short(const char *a, const char *b)
{
    size_t m = short_length(a), n = short_length(b);
    int order = strncasecmp(a, b, m < n ? m : n);
    return order != 0 ? order : (m > n) - (m < n);
}

static int compare_names(const void *a, const void *b)
{
    const struct host_name *x = a, *y = b;
    int order = compare_short(x->name, y->name);
    return order != 0 ? order : strcasecmp(x->name, y->name);
}

static int has_domain(const char *name)
{
    return name[short_length(name)] != '\0';
}

/* Whether two names stand for one host: where only one has a domain, that is not compared. */
static int same_host(const char *a, const char *b)
{
    return has_domain(a) == has_domain(b) ? strcasecmp(a, b) == 0 : compare_short(a, b) == 0;
}

static void read_names(char *line, struct host_list *list)
{
    static const char blanks[] = " \t\r";
    char *rest = NULL;
    char *word = strtok_r(line, blanks, &rest);
    if (word == NULL || strcmp(word, "hosts") != 0) {
        return;
    }
    list->named = 1;
    while ((word = strtok_r(NULL, blanks, &rest)) != NULL) {
        list->entry[list->count] = (struct host_name){ word, list->count };
        list->count++;
    }
}

/* The names point into `comments`, which is cut into words. */
static int read_host_list(char *comments, struct host_list *list)
{
    size_t most_words = strlen(comments) / 2 + 1;
    char *rest = NULL;
    *list = (struct host_list){ .entry = calloc(most_words, sizeof *list->entry) };
    if (list->entry == NULL) {
        return -ENOMEM;
    }
    for (char *line = strtok_r(comments, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        read_names(line, list);
    }
    qsort(list->entry, list->count, sizeof *list->entry, compare_names);
    return 0;
}

static size_t first_of_short_name(const struct host_list *list, const char *name)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_short(list->entry[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int find_row(const struct host_list *list, const char *host, size_t *row, matrix_error *error)
{
    const struct host_name *found = NULL;
    for (size_t k = first_of_short_name(list, host);
         k < list->count && compare_short(list->entry[k].name, host) == 0; k++) {
        if (!same_host(list->entry[k].name, host)) {
            continue;
        }
        if (found != NULL) {
            return malformed(error, "host %.60s may be %.60s or %.60s", host, found->name,
                             list->entry[k].name);
        }
        found = &list->entry[k];
    }
    if (found == NULL) {
        malformed(error, "host %.150s is not in the file", host);
        return -ENXIO;
    }
    *row = found->row;
    return 0;
}

static int check_list(const struct host_list *list, size_t rows, size_t nodes, matrix_error *error)
{
    if (!list->named && rows != nodes) {
        return malformed(error, "%zu rows for %zu nodes, and no '%% hosts' line that names the rows",
                         rows, nodes);
    }
    if (list->named && rows != list->count) {
        return malformed(error, "%zu host names for %zu rows", list->count, rows);
    }
    for (size_t k = 1; k < list->count; k++) {
        const char *name = list->entry[k].name, *previous = list->entry[k - 1].name;
        if (same_host(previous, name)) {
            return malformed(error, "host %.80s is named twice (as %.80s)", previous, name);
        }
    }
    return 0;
}

/* ---- hops ---- */

static int find_rows(const struct host_list *list, const char *const *hosts, size_t nodes,
                     size_t *row_of_node, matrix_error *error)
{
    for (size_t n = 0; n < nodes; n++) {
        row_of_node[n] = n;
        int rc = list->named ? find_row(list, hosts[n], &row_of_node[n], error) : 0;
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int pick_hops(const matrix *file, const size_t *row_of_node, const char *const *hosts,
                     const topo *t, matrix_error *error)
{
    for (size_t n = 0; n < t->nodes; n++) {
        for (size_t m = 0; m < t->nodes; m++) {
            int64_t hops = matrix_get(file, row_of_node[n], row_of_node[m]);
            if (n != m && hops < 1) {
                return malformed(error, "%" PRId64 " hops from %.60s to %.60s, where at least 1 is needed",
                                 hops, hosts[n], hosts[m]);
            }
            t->hops[n * t->nodes + m] = (double)hops;
        }
    }
    return 0;
}

static int build(const matrix *file, const struct host_list *list, const char *const *hosts,
                 size_t nodes, topo *t, matrix_error *error)
{
    size_t pairs;
    topo built = { .nodes = nodes };
    int rc = check_list(list, file->rows, nodes, error);
    if (rc != 0) {
        return rc;
    }
    if (__builtin_mul_overflow(nodes, nodes, &pairs)) {
        return -ENOMEM;
    }
    size_t *row_of_node = calloc(nodes | 1, sizeof *row_of_node);
    built.hops = calloc(pairs | 1, sizeof *built.hops);
    rc = row_of_node == NULL || built.hops == NULL ? -ENOMEM : 0;
    if (rc == 0) {
        rc = find_rows(list, hosts, nodes, row_of_node, error);
    }
    if (rc == 0) {
        rc = pick_hops(file, row_of_node, hosts, &built, error);
    }
    free(row_of_node);
    if (rc == 0) {
        *t = built;
    } else {
        free(built.hops);
    }
    return rc;
}

int topo_read_hops(FILE *stream, const char *const *hosts, size_t nodes,
                   topo *t, int *named, matrix_error *error)
{
    matrix file;
    char *comments;
    struct host_list list;
    int rc = matrix_read_market(stream, &file, &comments, error);
    if (rc != 0) {
        return rc;
    }
    if (file.rows != file.cols) {
        rc = malformed(error, "%zu rows and %zu columns: not square", file.rows, file.cols);
        goto release_file;
    }
    rc = read_host_list(comments, &list);
    if (rc != 0) {
        goto release_file;
    }
    rc = build(&file, &list, hosts, nodes, t, error);
    if (rc == 0) {
        *named = list.named;
    }
    free(list.entry);
release_file:
    free(comments);
    matrix_release(&file);
    return rc;
}
