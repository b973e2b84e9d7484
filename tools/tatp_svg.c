/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf */
#include "tatp_svg.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "tool.h"

/* With which each of these files begins. */
static const char beginning[] = "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"tatp-topology\"";

/* More nodes of a switch share a box. */
enum { MOST_SINGLE = 16 };
/* Pixels. */
enum { MOST_WIDTH = 1600, MARGIN = 10, BOX_WIDTH = 110, BOX_HEIGHT = 24, LEVEL = 72 };

/* Columns are as wide as the box of a node. */
struct vertex {
    size_t nodes, drawn, first; /* directly below a switch: all, those passed, the first of these */
    size_t columns, left, next; /* `next`: of the switches below that have no columns yet */
    size_t depth;
};

struct picture {
    const topo_tree *tree;
    const topo_labels *labels;
    struct vertex *vertex;
    double column; /* in pixels */
    FILE *out;
};

/* ---- layout: children have lower numbers than their parents ---- */

static bool is_node(const struct picture *p, size_t v)
{
    return p->labels->switches[v] == 0;
}

static size_t columns_of_nodes(const struct vertex *x)
{
    return x->nodes > MOST_SINGLE ? 1 : x->nodes;
}

static void count_columns(struct picture *p)
{
    for (size_t v = 0; v < p->tree->vertices; v++) {
        struct vertex *x = &p->vertex[v], *parent = &p->vertex[p->tree->parent[v]];
        if (is_node(p, v)) {
            parent->nodes++;
            continue;
        }
        x->columns += columns_of_nodes(x);
        if (parent != x)
            parent->columns += x->columns;
    }
}

/* The nodes of a switch are left of the switches below it, which have descending numbers, or in a
 * fat tree ascending ones. */
static void lay_out(struct picture *p, size_t nodes)
{
    size_t root = p->tree->vertices - 1;
    bool ascends = p->tree->parent[0] < p->tree->parent[nodes - 1];
    count_columns(p);
    for (size_t v = root + 1; v-- > nodes;) {
        struct vertex *x = &p->vertex[v], *parent = &p->vertex[p->tree->parent[v]];
        if (parent != x) {
            x->depth = parent->depth + 1;
            parent->next -= ascends ? x->columns : 0;
            x->left = parent->next;
            parent->next += ascends ? 0 : x->columns;
        }
        x->next = x->left + (ascends ? x->columns : columns_of_nodes(x));
    }
    p->column = (double)(MOST_WIDTH - 2 * MARGIN) / (double)p->vertex[root].columns;
    p->column = p->column < BOX_WIDTH ? p->column : BOX_WIDTH;
}

/* ---- drawing ---- */

static void put_xml(FILE *out, const char *text)
{
    char escaped[BASE_ESCAPED];
    while (*text != '\0') {
        text += base_escape_character(text, escaped);
        if (strchr("&<>", *escaped) != NULL)
            fprintf(out, "&#%d;", *escaped);
        else
            fputs(escaped, out);
    }
}

static double middle_of(const struct picture *p, const struct vertex *x)
{
    return MARGIN + ((double)x->left + .5 * (double)x->columns) * p->column;
}

/* And the link to its parent. Small boxes have small letters. */
static void draw_box(const struct picture *p, size_t v, const char *text)
{
    const struct vertex *x = &p->vertex[v], *parent = &p->vertex[p->tree->parent[v]];
    double room = .9 * (double)x->columns * p->column;
    double width = room < 1.5 * BOX_WIDTH ? room : 1.5 * BOX_WIDTH;
    double letters = 1.5 * width / (double)(strlen(text) + 1);
    double middle = middle_of(p, x), top = MARGIN + (double)x->depth * LEVEL;
    if (parent != x)
        fprintf(p->out,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#888\" "
                "stroke-width=\"%zu\"/>\n",
                middle, top, middle_of(p, parent), top - LEVEL + BOX_HEIGHT,
                p->tree->width[v] < 6 ? p->tree->width[v] : 6);
    fprintf(p->out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"3\" fill=\"%s\"/>\n"
            "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\">",
            middle - width / 2.0, top, width, BOX_HEIGHT, is_node(p, v) ? "#dbe9f6" : "#f6e3c5",
            middle, top + 16.0, letters < 13.0 ? letters : 13.0);
    put_xml(p->out, text);
    fputs("</text>\n", p->out);
}

/* The last one of a box draws it. */
static void draw_node(const struct picture *p, const char *const *host, size_t v)
{
    struct vertex *parent = &p->vertex[p->tree->parent[v]];
    bool shared = parent->nodes > MOST_SINGLE;
    char text[600];
    if (parent->drawn == 0)
        parent->first = v;
    p->vertex[v].left = parent->left + (shared ? 0 : parent->drawn);
    p->vertex[v].columns = 1;
    p->vertex[v].depth = parent->depth + 1;
    parent->drawn++;
    snprintf(text, sizeof text, "%s ... %s (%zu)", host[parent->first], host[v], parent->nodes);
    if (!shared || parent->drawn == parent->nodes)
        draw_box(p, v, shared ? text : host[v]);
}

static void draw_switch(const struct picture *p, size_t v)
{
    char text[64];
    snprintf(text, sizeof text, "%zu switches", p->labels->switches[v]);
    draw_box(p, v, p->labels->switches[v] == 1 ? p->labels->name[v] : text);
}

static void draw_picture(FILE *out, const topo_tree *tree, const char *const *host,
                         const topo_labels *labels)
{
    struct picture p = {tree, labels, tool_allocate(tree->vertices, sizeof *p.vertex), 0.0, out};
    size_t nodes = 0, deepest = 0;
    while (is_node(&p, nodes))
        nodes++;
    lay_out(&p, nodes);
    for (size_t v = nodes; v < tree->vertices; v++)
        deepest = p.vertex[v].depth > deepest ? p.vertex[v].depth : deepest;
    fprintf(out,
            "%s width=\"%.0f\" height=\"%zu\" font-family=\"sans-serif\" text-anchor=\"middle\">\n",
            beginning, 2 * MARGIN + (double)p.vertex[tree->vertices - 1].columns * p.column,
            2 * MARGIN + (deepest + 1) * LEVEL + BOX_HEIGHT);
    for (size_t v = 0; v < nodes; v++)
        draw_node(&p, host, v);
    for (size_t v = nodes; v < tree->vertices; v++)
        draw_switch(&p, v);
    fputs("</svg>\n", out);
    free(p.vertex);
}

/* ---- the file ---- */

/* Whether there is no such file, or one that was drawn here. */
static bool may_replace(const char *file)
{
    char begin[sizeof beginning] = "";
    const char *cause;
    if (access(file, F_OK) != 0)
        return true;
    FILE *stream = base_open_regular(file, &cause);
    if (stream == NULL)
        return false;
    (void)fgets(begin, sizeof begin, stream);
    fclose(stream);
    return strcmp(begin, beginning) == 0;
}

int tatp_svg_write(const char *file, const topo_tree *tree, const char *const *host,
                   const topo_labels *labels)
{
    char *name;
    if (!may_replace(file))
        return tool_fail("%s: no picture of tatp topology, and not replaced: choose another name",
                         file);
    if (asprintf(&name, "%s.%ld.new", file, (long)getpid()) < 0)
        exit(tool_fail("out of memory"));
    FILE *out = fopen(name, "wx");
    int rc = out == NULL ? errno : 0;
    if (out != NULL) {
        draw_picture(out, tree, host, labels);
        rc = ferror(out) ? EIO : 0;
        if (fclose(out) != 0 && rc == 0)
            rc = errno;
        if (rc == 0 && rename(name, file) != 0)
            rc = errno;
        if (rc != 0)
            (void)remove(name);
    }
    free(name);
    return rc == 0 ? 0 : tool_fail("%s: %s", file, strerror(rc));
}
