/* SPDX-License-Identifier: BSD-3-Clause */
#include "tatp_network.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "hosts.h"
#include "tool.h"

struct network_reader {
    const char *file; /* of distances or a topology */
    size_t ranks;
    const tool_hosts *hosts; /* NULL: not given */
    const topo_fabric *fabric;
    topo_summary summary;
};

static int read_fabric(FILE *stream, void *object, matrix_error *error)
{
    return topo_fabric_read(stream, object, error);
}

int tatp_network_read_fabric(const char *file, topo_fabric **fabric)
{
    return tool_read(file, read_fabric, fabric);
}

/* ---- hops between ranks ---- */

static int read_rank_hops(const struct network_reader *r, topo *ranks)
{
    matrix_error error = {0, ""};
    char(*number)[24] = tool_allocate(r->ranks, sizeof *number);
    const char **name = tool_allocate(r->ranks, sizeof *name);
    for (size_t i = 0; i < r->ranks; i++) {
        snprintf(number[i], sizeof number[i], "rank %zu", i);
        name[i] = topo_fabric_hosts(r->fabric) > 0 ? topo_fabric_host(r->fabric, i) : number[i];
    }
    int rc = topo_from_fabric(r->fabric, name, r->ranks, ranks, &error);
    free(name);
    free(number);
    return rc == 0 ? 0 : tool_fail_reading(r->file, rc, &error);
}

/* Without hosts, ranks 1 hop apart share a node. If that contradicts other distances, each rank
 * gets a node. */
static int find_rank_nodes(const struct network_reader *r, topo *ranks, tatp_network *n)
{
    matrix_error error = {0, ""};
    size_t nodes = r->hosts != NULL ? r->hosts->count : topo_group_ranks(ranks, n->node_of_rank);
    int rc = topo_of_nodes(ranks, n->node_of_rank, nodes, &n->topology, &error);
    if (rc != -EBADMSG || r->hosts != NULL)
        return rc == 0 ? 0 : tool_fail_reading(r->file, rc, &error);
    for (size_t i = 0; i < r->ranks; i++)
        n->node_of_rank[i] = i;
    n->topology = *ranks;
    *ranks = (topo){0};
    return 0;
}

static int set_rank_hops(const struct network_reader *r, tatp_network *n)
{
    topo ranks = {0};
    int status = read_rank_hops(r, &ranks);
    if (status == 0)
        status = find_rank_nodes(r, &ranks, n);
    topo_release(&ranks);
    return status;
}

/* ---- hops between nodes ---- */

static int set_host_hops(const struct network_reader *r, tatp_network *n)
{
    matrix_error error = {0, ""};
    int rc = topo_from_fabric(r->fabric, (const char *const *)r->hosts->host, r->hosts->count,
                              &n->topology, &error);
    return rc == 0 ? 0 : tool_fail_reading(r->file, rc, &error);
}

/* A matrix of unnamed rows is between ranks if the number of rows is that of the ranks and not that
 * of the hosts. */
static bool is_between_ranks(const struct network_reader *r)
{
    bool named = topo_fabric_hosts(r->fabric) > 0;
    return r->hosts == NULL ||
           (!named && r->summary.rows == r->ranks && r->summary.rows != r->hosts->count);
}

static int set_hops(const struct network_reader *r, const tatp_network_options *options,
                    tatp_network *n)
{
    if (options->distances != NULL && r->summary.rows == 0 &&
        r->summary.hosts + r->summary.switches > 0)
        return tool_fail("%s: %s, which is for --topology; --distances takes hops in Matrix Market",
                         r->file, r->summary.format);
    if (!is_between_ranks(r))
        return set_host_hops(r, n);
    if (r->summary.rows != r->ranks)
        return tool_fail("%s: %zu rows for %zu ranks; hops between nodes need --hosts too", r->file,
                         r->summary.rows, r->ranks);
    return set_rank_hops(r, n);
}

static int read_network_file(const tatp_network_options *options, struct network_reader *r,
                             tatp_network *n)
{
    topo_fabric *fabric = NULL;
    int status = tatp_network_read_fabric(r->file, &fabric);
    if (status == 0) {
        r->fabric = fabric;
        topo_fabric_summary(fabric, &r->summary);
        status = set_hops(r, options, n);
    }
    topo_fabric_free(fabric);
    return status;
}

static int read_network_hosts(const tatp_network_options *options, const char *requests,
                              size_t ranks, tool_hosts *hosts, tatp_network *n)
{
    int status = tool_parse_hosts(options->hosts, hosts);
    if (status == 0 && hosts->ranks != ranks)
        return tool_fail("%s: %zu rows, but %zu ranks on the hosts", requests, ranks, hosts->ranks);
    for (size_t i = 0; status == 0 && i < ranks; i++)
        n->node_of_rank[i] = hosts->of_rank[i];
    return status;
}

int tatp_network_read(const tatp_network_options *options, const char *requests, size_t ranks,
                      tatp_network *n)
{
    tool_hosts hosts = {0};
    struct network_reader r = {.file = options->distances != NULL ? options->distances
                                                                  : options->topology,
                               .ranks = ranks,
                               .hosts = options->hosts != NULL ? &hosts : NULL};
    int status = 0;
    *n = (tatp_network){.node_of_rank = tool_allocate(ranks, sizeof *n->node_of_rank)};
    if (options->hosts != NULL)
        status = read_network_hosts(options, requests, ranks, &hosts, n);
    if (status == 0 && r.file != NULL)
        status = read_network_file(options, &r, n);
    else if (status == 0)
        topo_flat(&n->topology, hosts.count);
    tool_hosts_release(&hosts);
    return status;
}

void tatp_network_release(tatp_network *n)
{
    topo_release(&n->topology);
    free(n->node_of_rank);
}
