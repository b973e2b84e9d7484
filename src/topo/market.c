/* SPDX-License-Identifier: BSD-3-Clause */
/* Hops, or bandwidths, between nodes from a Matrix Market file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "topo/read.h"
#include "topo/text.h"

static const char by_name[] = "Matrix Market hops, rows by host name";
static const char by_order[] = "Matrix Market hops, rows in the order of the nodes";

/* A "hosts NAME NAME ..." comment, or one that marks bandwidths. */
static int read_comment(char *line, topo_fabric *f, matrix_error *error)
{
    static const char blanks[] = " \t\r";
    char *rest = NULL;
    char *word = strtok_r(line, blanks, &rest);
    if (word != NULL && strcmp(word, TOPO_BANDWIDTH) == 0)
        f->is_bandwidth = 1;
    if (word == NULL || strcmp(word, "hosts") != 0)
        return 0;
    f->format = by_name;
    while ((word = strtok_r(NULL, blanks, &rest)) != NULL) {
        size_t row, known = f->hosts.count;
        int rc = name_table_add(&f->hosts, word, strlen(word), &row);
        if (rc != 0)
            return rc;
        if (row < known)
            return matrix_refuse(error, 0, "host %.80s is named twice", word);
    }
    return 0;
}

/* Modifies the comments. */
static int read_row_names(char *comments, topo_fabric *f, matrix_error *error)
{
    char *rest = NULL;
    f->format = by_order;
    for (char *line = strtok_r(comments, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        int rc = read_comment(line, f, error);
        if (rc != 0)
            return rc;
    }
    if (f->format == by_name && f->hops.rows != f->hosts.count)
        return matrix_refuse(error, 0, "%zu host names for %zu rows", f->hosts.count, f->hops.rows);
    return 0;
}

static int read_pairs(FILE *stream, topo_fabric *f, matrix_error *error)
{
    char *comments;
    int rc = matrix_read_market(stream, &f->hops, &comments, error);
    if (rc != 0)
        return rc;
    f->has_hops = 1;
    if (f->hops.rows != f->hops.cols)
        rc = matrix_refuse(error, 0, "%zu rows and %zu columns: not square", f->hops.rows,
                           f->hops.cols);
    if (rc == 0)
        rc = read_row_names(comments, f, error);
    free(comments);
    return rc;
}

/* Such a file is in another unit than hops, or of something else. */
static int check_own_hops(const matrix *hops, matrix_error *error)
{
    for (size_t n = 0; n < hops->rows; n++) {
        int64_t own = matrix_get(hops, n, n);
        if (own != 0)
            return matrix_refuse(error, 0,
                                 "row %zu, column %zu: %" PRId64
                                 " hops from a node to itself, where 0 are "
                                 "expected",
                                 n + 1, n + 1, own);
    }
    return 0;
}

int read_market_hops(FILE *stream, topo_fabric *f, matrix_error *error)
{
    int rc = read_pairs(stream, f, error);
    if (rc == 0 && f->is_bandwidth)
        return matrix_refuse(error, 0, "bandwidths, where a topology is wanted");
    return rc == 0 ? check_own_hops(&f->hops, error) : rc;
}

/* ---- the hosts of a job ---- */

static int find_rows(const topo_fabric *f, const char *const *hosts, size_t nodes, size_t *row,
                     matrix_error *error)
{
    if (f->format == by_name)
        return find_hosts(&f->hosts, hosts, nodes, 0, row, error);
    if (f->hops.rows != nodes)
        return matrix_refuse(error, 0,
                             "%zu rows for %zu nodes, and no '%% hosts' line that names the rows",
                             f->hops.rows, nodes);
    for (size_t n = 0; n < nodes; n++)
        row[n] = n;
    return 0;
}

static int pick_hops(const topo_fabric *f, const size_t *row, const char *const *hosts,
                     size_t nodes, uint16_t *hops, matrix_error *error)
{
    for (size_t n = 0; n < nodes; n++)
        for (size_t m = 0; m < nodes; m++) {
            int64_t between = matrix_get(&f->hops, row[n], row[m]);
            if (n != m && (between < 1 || between >= TOPO_UNREACHED))
                return matrix_refuse(
                    error, 0, "%" PRId64 " hops from %.60s to %.60s, where 1 to %d are possible",
                    between, hosts[n], hosts[m], TOPO_UNREACHED - 1);
            hops[n * nodes + m] = (uint16_t)between;
        }
    return 0;
}

int hops_of_market(const topo_fabric *f, const char *const *hosts, size_t nodes, topo *t,
                   matrix_error *error)
{
    int rc = 0;
    size_t *row = base_zeroed(nodes, sizeof *row, &rc);
    uint16_t *hops = base_zeroed(nodes, nodes * sizeof *hops, &rc);
    if (rc == 0)
        rc = find_rows(f, hosts, nodes, row, error);
    if (rc == 0)
        rc = pick_hops(f, row, hosts, nodes, hops, error);
    if (rc == 0)
        rc = topo_from_hops(t, nodes, hops);
    if (rc == 0)
        t->source = f->format;
    free(hops);
    free(row);
    return rc;
}

/* ---- bandwidths ---- */

bool topo_is_bandwidth(FILE *stream)
{
    off_t at = ftello(stream);
    size_t capacity = 0, length = 0, word = strlen(TOPO_BANDWIDTH);
    char *line = NULL;
    bool found = false;
    while (!found &&
           base_append_line(stream, TEXT_MOST_CHARACTERS, &line, &capacity, &length) == 1 &&
           *line == '%') {
        const char *text = line + 1 + strspn(line + 1, " \t\r");
        found = strncmp(text, TOPO_BANDWIDTH, word) == 0 && strchr(" \t\r", text[word]) != NULL;
        length = 0;
    }
    free(line);
    return fseeko(stream, at, SEEK_SET) == 0 && found;
}

static int pick_bandwidth(const topo_fabric *f, const size_t *row, size_t nodes, matrix *bandwidth)
{
    matrix_builder b = {.rows = nodes, .cols = nodes};
    int rc = 0;
    for (size_t n = 0; n < nodes; n++)
        for (size_t m = 0; rc == 0 && m < nodes; m++)
            rc = matrix_builder_add(&b, n, m, matrix_get(&f->hops, row[n], row[m]));
    if (rc == 0)
        rc = matrix_builder_finish(&b, bandwidth);
    matrix_builder_clear(&b);
    return rc;
}

int topo_read_bandwidth(FILE *stream, const char *const *hosts, size_t nodes, matrix *bandwidth,
                        matrix_error *error)
{
    int rc = 0;
    size_t *row = base_zeroed(nodes, sizeof *row, &rc);
    topo_fabric *f = base_zeroed(1, sizeof *f, &rc);
    if (rc == 0)
        rc = read_pairs(stream, f, error);
    if (rc == 0 && !f->is_bandwidth)
        rc = matrix_refuse(error, 0, "no comment line says '%% " TOPO_BANDWIDTH "'");
    if (rc == 0)
        rc = find_rows(f, hosts, nodes, row, error);
    if (rc == 0)
        rc = pick_bandwidth(f, row, nodes, bandwidth);
    topo_fabric_free(f);
    free(row);
    return rc;
}
