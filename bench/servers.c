/* SPDX-License-Identifier: BSD-3-Clause */
/* Storage servers of a model. */
#include "servers.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { MOST_SERVERS = 100000 };

/* ---- where they are ---- */

/* The number of nodes in a list, the largest of which is *last; 0: it is no list. */
static size_t read_list(const char *list, size_t *node, size_t *last)
{
    size_t count = 0;
    *last = 0;
    for (const char *at = list;; at++) {
        char *end;
        if (!isdigit((unsigned char)*at))
            return 0;
        size_t number = strtoul(at, &end, 10);
        if (number >= MOST_SERVERS || (*end != ',' && *end != '\0'))
            return 0;
        if (node != NULL)
            node[count] = number;
        count++;
        *last = number > *last ? number : *last;
        if (*end == '\0')
            return count;
        at = end;
    }
}

bool servers_parse(const char *text, servers *s)
{
    size_t last;
    int used = 0;
    s->hosts = (machine_hosts){0};
    s->on_nodes = strcmp(text, "nodes") == 0;
    s->hosts.on_leaves = strcmp(text, "leaves") == 0;
    s->list = NULL;
    if (s->on_nodes || s->hosts.on_leaves)
        return true;
    if (sscanf(text, "core:%zu%n", &s->hosts.at_core, &used) == 1)
        return text[used] == '\0' && s->hosts.at_core > 0 && s->hosts.at_core <= MOST_SERVERS;
    s->list = text;
    return read_list(text, NULL, &last) > 0;
}

size_t servers_nodes(const servers *s, size_t nodes)
{
    size_t last;
    if (s->list == NULL || read_list(s->list, NULL, &last) == 0)
        return nodes;
    return last < nodes ? nodes : last + 1;
}

/* Counts them with node == NULL. */
static size_t list_nodes(const servers *s, size_t nodes, const topo *topology, size_t *node)
{
    size_t last, first = s->on_nodes ? 0 : nodes, end = s->on_nodes ? nodes : topology->nodes;
    if (s->list != NULL)
        return read_list(s->list, node, &last);
    for (size_t n = first; node != NULL && n < end; n++)
        node[n - first] = n;
    return end - first;
}

/* ---- what they hold ---- */

/* As a file of targets says it, where each server is a target. */
static int describe(const servers *s, char **text)
{
    size_t length;
    FILE *out = open_memstream(text, &length);
    if (out == NULL)
        return -ENOMEM;
    for (size_t k = 0; k < s->count; k++)
        fprintf(out, "%zu n%zu\n", k, s->node[k]);
    return fclose(out) == 0 ? 0 : -ENOMEM;
}

static int make_layout(servers *s)
{
    matrix_error error;
    char *text = NULL;
    int rc = describe(s, &text);
    FILE *in = rc == 0 ? fmemopen(text, strlen(text), "r") : NULL;
    if (rc == 0)
        rc = in == NULL ? -ENOMEM : storage_read_targets(in, &s->layout, &error);
    if (rc == 0)
        rc = storage_stripe(s->layout, s->unit, s->count, &error);
    if (in != NULL)
        fclose(in);
    free(text);
    return rc;
}

int servers_begin(servers *s, size_t nodes, const topo *topology)
{
    s->count = list_nodes(s, nodes, topology, NULL);
    if (s->count == 0)
        return 0;
    s->node = base_alloc(s->count, sizeof *s->node);
    if (s->node == NULL)
        return -ENOMEM;
    list_nodes(s, nodes, topology, s->node);
    return make_layout(s);
}

void servers_end(servers *s)
{
    free(s->node);
    storage_free(s->layout);
}

int servers_bytes(const void *context, const file_domains *domains, const matrix *node_bytes,
                  matrix *stored)
{
    const servers *s = context;
    int64_t *accessed = calloc(domains->count, sizeof *accessed);
    if (accessed == NULL)
        return -ENOMEM;
    for (size_t k = 0; k < matrix_entries(node_bytes); k++)
        accessed[node_bytes->col[k]] += node_bytes->value[k];
    int rc = storage_spread(s->layout, domains, s->node, node_bytes->rows, accessed, stored);
    free(accessed);
    return rc;
}

size_t servers_node_of_stripe(const servers *s, size_t stripe)
{
    return s->node[stripe % s->count];
}
