/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances along traced routes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "topo/hosts.h"

/* The node of each of the fabric's hosts; NO_INDEX: not of this job. */
static size_t *nodes_of_hosts(const job_hosts *s)
{
    size_t hosts = s->fabric->hosts.count;
    size_t *node = calloc(hosts | 1, sizeof *node);
    for (size_t h = 0; node != NULL && h < hosts; h++)
        node[h] = NO_INDEX;
    for (size_t n = 0; node != NULL && n < s->nodes; n++)
        node[s->host[n]] = n;
    return node;
}

static void apply_traces(const job_hosts *s, const size_t *node, uint16_t *hops)
{
    const topo_fabric *f = s->fabric;
    for (size_t k = 0; k < f->traces; k++) {
        size_t from = f->vertex[f->trace[k].from].host, to = f->vertex[f->trace[k].to].host;
        if (from == NO_INDEX || to == NO_INDEX || node[from] == NO_INDEX || node[to] == NO_INDEX)
            continue;
        uint16_t *h = &hops[node[from] * s->nodes + node[to]];
        *h = f->trace[k].hops < *h ? f->trace[k].hops : *h;
    }
}

/* A pair traced in one direction only has these hops in both; one without a trace keeps those of
 * the links. */
static int fill_gaps(const job_hosts *s, uint16_t *hops, matrix_error *error)
{
    for (size_t n = 0; n < s->nodes; n++)
        for (size_t m = 0; m < n; m++) {
            uint16_t *there = &hops[n * s->nodes + m], *back = &hops[m * s->nodes + n];
            if (*there == TOPO_UNREACHED && *back == TOPO_UNREACHED && !s->fabric->all_links)
                return REFUSE_HOST(error, "no trace between host %.70s and host %.70s", s->names[m],
                                   s->names[n]);
            if (*there == TOPO_UNREACHED)
                *there = *back != TOPO_UNREACHED
                             ? *back
                             : s->between[s->class[n] * s -> classes + s -> class[m]];
            if (*back == TOPO_UNREACHED)
                *back = *there;
        }
    return 0;
}

int hosts_apply_traces(job_hosts *s, matrix_error *error)
{
    int rc = hosts_check_classes(s->nodes, error);
    if (rc != 0)
        return rc;
    size_t pairs = s->nodes * s->nodes;
    uint16_t *hops = calloc(pairs | 1, sizeof *hops);
    size_t *node = nodes_of_hosts(s);
    rc = hops == NULL || node == NULL ? -ENOMEM : 0;
    if (rc == 0) {
        memset(hops, 0xff, pairs * sizeof *hops);
        apply_traces(s, node, hops);
        rc = fill_gaps(s, hops, error);
    }
    free(node);
    if (rc != 0) {
        free(hops);
        return rc;
    }
    free(s->between);
    s->between = hops;
    for (size_t n = 0; n < s->nodes; n++)
        s->class[n] = s->sample[n] = n;
    s->classes = s->nodes;
    return 0;
}
