/* SPDX-License-Identifier: BSD-3-Clause */
#include "tatp_network.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "nodes.h"
#include "tool.h"

/* More than a controller needs for an answer. */
#define SLURM_SECONDS "10"

struct network_reader {
    const char *file; /* of distances or a topology */
    size_t ranks;
    const tool_hosts *hosts; /* NULL if it is not given */
    const char **name;       /* of the nodes: those hosts */
    size_t nodes;
    const topo_fabric *fabric;
    topo_summary summary;
};

static int read_fabric(FILE *stream, void *object, matrix_error *error)
{
    return topo_fabric_read(stream, object, error);
}

topo_fabric *tatp_network_read_fabric(const char *file)
{
    topo_fabric *fabric = NULL;
    tool_read(file, read_fabric, &fabric);
    return fabric;
}

/* -ENOENT after a message, and after what scontrol says. */
static int ask_slurm(FILE *stream)
{
    char command[80];
    snprintf(command, sizeof command, "timeout -k 1 " SLURM_SECONDS " scontrol show topology >&%d",
             fileno(stream));
    int status = system(command), code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (status == 0)
        return 0;
    tool_note("scontrol show topology %s; 'tatp topology FILE' takes the network from a file",
              code == 124 || code == 128 + SIGKILL ? "has not answered for " SLURM_SECONDS
                                                     " s (is slurmctld up?)"
                                                   : "has failed");
    return -ENOENT;
}

/* What scontrol prints or, if not NULL, a switch with those hosts. NULL if that is no network. */
static topo_fabric *read_slurm(const char *hosts, matrix_error *error)
{
    topo_fabric *fabric = NULL;
    FILE *stream = tmpfile(); /* the reader seeks */
    if (stream == NULL)
        exit(tool_fail("a temporary file: %s", strerror(errno)));
    if (hosts != NULL)
        fprintf(stream, "SwitchName=unknown Nodes=%s\n", hosts);
    int rc = hosts == NULL ? ask_slurm(stream) : 0;
    rewind(stream);
    if (rc == 0)
        rc = topo_fabric_read(stream, &fabric, error);
    fclose(stream);
    if (rc == -ENOMEM)
        exit(tool_fail("out of memory"));
    return fabric;
}

topo_fabric *tatp_network_of_job(const char *hosts, bool *known)
{
    matrix_error error = {0, ""};
    topo_fabric *fabric = read_slurm(NULL, &error);
    *known = fabric != NULL;
    if (error.line > 0)
        tool_note("scontrol show topology, line %zu: %s", error.line, error.reason);
    if (fabric == NULL)
        fabric = read_slurm(hosts, &error);
    if (fabric == NULL)
        exit(tool_fail("SLURM_JOB_NODELIST=%s: %s", hosts, error.reason));
    return fabric;
}

/* ---- hops between ranks ---- */

static void read_rank_hops(const struct network_reader *r, topo *ranks)
{
    matrix_error error = {0, ""};
    char(*number)[24] = tool_allocate(r->ranks, sizeof *number);
    const char **name = tool_allocate(r->ranks, sizeof *name);
    for (size_t i = 0; i < r->ranks; i++) {
        snprintf(number[i], sizeof number[i], "rank %zu", i);
        name[i] = topo_fabric_hosts(r->fabric) > 0 ? topo_fabric_host(r->fabric, i) : number[i];
    }
    int rc = topo_from_fabric(r->fabric, name, r->ranks, ranks, &error);
    if (rc != 0)
        exit(tool_fail_reading(r->file, rc, &error));
    free(name);
    free(number);
}

/* Without hosts, ranks 1 hop apart share a node. If that contradicts other distances, each rank
 * gets a node. */
static void set_rank_hops(const struct network_reader *r, tatp_network *n)
{
    matrix_error error = {0, ""};
    topo ranks = {0};
    read_rank_hops(r, &ranks);
    size_t nodes =
        r->hosts != NULL ? r->hosts->nodes.count : topo_group_ranks(&ranks, n->node_of_rank);
    int rc = topo_of_nodes(&ranks, n->node_of_rank, nodes, &n->topology, &error);
    if (rc == -EBADMSG && r->hosts == NULL) {
        for (size_t i = 0; i < r->ranks; i++)
            n->node_of_rank[i] = i;
        n->topology = ranks;
        return;
    }
    if (rc != 0)
        exit(tool_fail_reading(r->file, rc, &error));
    topo_release(&ranks);
}

/* ---- hops between nodes ---- */

static void set_host_hops(const struct network_reader *r, tatp_network *n)
{
    matrix_error error = {0, ""};
    int rc = topo_from_fabric(r->fabric, r->name, r->nodes, &n->topology, &error);
    if (rc != 0)
        exit(tool_fail_reading(r->file, rc, &error));
}

/* A matrix of unnamed rows is between ranks if the number of rows is that of the ranks and not that
 * of the hosts. */
static bool is_between_ranks(const struct network_reader *r)
{
    bool named = topo_fabric_hosts(r->fabric) > 0;
    return r->hosts == NULL ||
           (!named && r->summary.rows == r->ranks && r->summary.rows != r->hosts->nodes.count);
}

static void read_network_file(const tatp_network_options *options, struct network_reader *r,
                              tatp_network *n)
{
    topo_fabric *fabric = tatp_network_read_fabric(r->file);
    r->fabric = fabric;
    topo_fabric_summary(fabric, &r->summary);
    if (options->distances != NULL && r->summary.rows == 0 &&
        r->summary.hosts + r->summary.switches > 0)
        exit(tool_fail("%s: %s, which is for --topology; --distances takes hops in Matrix Market",
                       r->file, r->summary.format));
    if (!is_between_ranks(r))
        set_host_hops(r, n);
    else if (r->summary.rows == r->ranks)
        set_rank_hops(r, n);
    else
        exit(tool_fail("%s: %zu rows for %zu ranks; hops between nodes need --hosts too", r->file,
                       r->summary.rows, r->ranks));
    topo_fabric_free(fabric);
}

/* ---- the network ---- */

static void place_ranks(const tatp_network_options *options, const char *requests,
                        tool_hosts *hosts, struct network_reader *r, tatp_network *n)
{
    tool_parse_hosts(options->hosts, hosts);
    if (hosts->ranks != r->ranks)
        exit(tool_fail("%s: %zu rows, but %zu ranks on the hosts: write the number of ranks behind "
                       "each host, as %s:%zu",
                       requests, r->ranks, hosts->ranks, hosts->nodes.name[0],
                       (r->ranks + hosts->nodes.count - 1) / hosts->nodes.count));
    for (size_t i = 0; i < r->ranks; i++)
        n->node_of_rank[i] = hosts->of_rank[i];
    r->nodes = hosts->nodes.count;
    r->name = tool_allocate(r->nodes, sizeof *r->name);
    for (size_t k = 0; k < r->nodes; k++)
        r->name[k] = hosts->nodes.name[k];
}

void tatp_network_read(const tatp_network_options *options, const char *requests, size_t ranks,
                       tatp_network *n)
{
    tool_hosts hosts = {0};
    struct network_reader r = {.file = options->distances != NULL ? options->distances
                                                                  : options->topology,
                               .ranks = ranks,
                               .hosts = options->hosts != NULL ? &hosts : NULL};
    *n = (tatp_network){.node_of_rank = tool_allocate(ranks, sizeof *n->node_of_rank)};
    if (options->hosts != NULL)
        place_ranks(options, requests, &hosts, &r, n);
    if (r.file != NULL)
        read_network_file(options, &r, n);
    else
        topo_flat(&n->topology, r.nodes);
    free(r.name);
    tool_hosts_release(&hosts);
}

void tatp_network_release(tatp_network *n)
{
    topo_release(&n->topology);
    free(n->node_of_rank);
}
