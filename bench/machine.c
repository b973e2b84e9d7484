/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of machines. */
#define _GNU_SOURCE /* asprintf, fmemopen */
#include "machine.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/unit/seeded.h"

#define GBIT (1e9 / 8)
#define MBIT (1e6 / 8)
/* Between two processes of one node, as the SetMatch paper measured it on long messages. */
#define COPY_RATE 3.5e9

const machine machines[] = {
    {"inspur", 4, 20, 12, 40 * GBIT, 20 * GBIT, COPY_RATE, false,
     "4 racks of 20 nodes of 12 cores, 40 Gb/s in a rack, 20 Gb/s from each rack to the switch "
     "above"},
    {"bluelight", 34, 256, 16, 40 * GBIT, 256 * 40 * GBIT, COPY_RATE, true,
     "34 supernodes of 256 nodes of 16 cores in a full fat tree; nodes of a job lie anywhere"},
    {"crill", 1, 16, 48, 2.1e9, 0, COPY_RATE, false,
     "16 nodes of 48 cores on one switch, 2100 MB/s"},
    {NULL, 0, 0, 0, 0, 0, 0, false, NULL},
};

bool machine_parse(const char *text, machine *m)
{
    for (const machine *k = machines; k->name != NULL; k++)
        if (strcmp(k->name, text) == 0) {
            *m = *k;
            return true;
        }
    size_t nodes, leaf, cores;
    double link = 1000, uplink = 1000;
    int used = 0;
    if (sscanf(text, "%zu,%zu,%zu%n,%lf,%lf%n", &nodes, &leaf, &cores, &used, &link, &uplink,
               &used) < 3 ||
        text[used] != '\0' || nodes == 0 || leaf == 0 || cores == 0 || nodes > 100000 ||
        !(link > 0) || !(uplink > 0))
        return false;
    *m = (machine){.name = text,
                   .leaves = (nodes + leaf - 1) / leaf,
                   .leaf = leaf,
                   .cores = cores,
                   .link_rate = link * MBIT,
                   .uplink_rate = uplink * MBIT,
                   .copy_rate = COPY_RATE};
    return true;
}

/* ---- nodes ---- */

/* Which nodes of the machine: the first, or a choice that is the same every time. */
static void choose_nodes(const machine *m, size_t nodes, size_t *chosen)
{
    size_t all = m->leaves * m->leaf, left = nodes, to = 0;
    uint64_t state = 8704;
    for (size_t n = 0; n < all && left > 0; n++) {
        bool take = !m->scattered || (size_t)pick(&state, 0, (int64_t)(all - n - 1)) < left;
        if (take) {
            chosen[to++] = n;
            left--;
        }
    }
}

/* The nodes are in the order of their leaves, so that those of a leaf follow each other. */
static void write_switches(FILE *out, const machine *m, const size_t *chosen, size_t nodes)
{
    size_t leaves = 0;
    for (size_t n = 0; n < nodes; n++) {
        bool new_leaf = n == 0 || chosen[n] / m->leaf != chosen[n - 1] / m->leaf;
        if (new_leaf)
            fprintf(out, "%sSwitchName=leaf%zu Nodes=n%zu", n > 0 ? "\n" : "", leaves++, n);
        else
            fprintf(out, ",n%zu", n);
    }
    fprintf(out, "\n");
    if (leaves > 1)
        fprintf(out, "SwitchName=spine Switches=leaf[0-%zu]\n", leaves - 1);
}

static int read_switches(char *text, size_t length, size_t nodes, topo *t)
{
    char **host = calloc(nodes, sizeof *host);
    matrix_error error;
    FILE *in = fmemopen(text, length, "r");
    int rc = host == NULL || in == NULL ? -ENOMEM : 0;
    for (size_t n = 0; n < nodes && rc == 0; n++)
        rc = asprintf(&host[n], "n%zu", n) < 0 ? -ENOMEM : 0;
    if (rc == 0)
        rc = topo_read(in, (const char *const *)host, nodes, t, &error);
    for (size_t n = 0; host != NULL && n < nodes; n++)
        free(host[n]);
    free(host);
    if (in != NULL)
        fclose(in);
    return rc;
}

static int describe(const machine *m, const size_t *chosen, size_t nodes, topo *t)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return -ENOMEM;
    write_switches(out, m, chosen, nodes);
    int rc = fclose(out) == 0 ? read_switches(text, length, nodes, t) : -ENOMEM;
    free(text);
    return rc;
}

int machine_topology(const machine *m, size_t nodes, topo *t)
{
    if (nodes == 0 || nodes > m->leaves * m->leaf)
        return -EINVAL;
    size_t *chosen = calloc(nodes, sizeof *chosen);
    if (chosen == NULL)
        return -ENOMEM;
    choose_nodes(m, nodes, chosen);
    int rc = describe(m, chosen, nodes, t);
    free(chosen);
    return rc;
}

double machine_link_rate(const machine *m, const topo *t, size_t v)
{
    return v < t->nodes ? m->link_rate : m->uplink_rate;
}
