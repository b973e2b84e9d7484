/* SPDX-License-Identifier: BSD-3-Clause */
#include "tatp_network.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "nodes.h"
#include "tool.h"

/* More than a controller needs for an answer. */
#define SLURM_SECONDS "10"

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

void tatp_network_hops(const topo_fabric *fabric, const char *file, const char *const *host,
                       size_t count, topo *t)
{
    matrix_error error = {0, ""};
    int rc = topo_from_fabric(fabric, host, count, t, &error);
    if (rc != 0)
        exit(tool_fail_reading(file, rc, &error));
}

/* ---- hops between ranks ---- */

static void read_rank_hops(const topo_fabric *fabric, const char *file, size_t count, topo *ranks)
{
    char(*number)[24] = tool_allocate(count, sizeof *number);
    const char **name = tool_allocate(count, sizeof *name);
    for (size_t i = 0; i < count; i++) {
        snprintf(number[i], sizeof number[i], "rank %zu", i);
        name[i] = topo_fabric_hosts(fabric) > 0 ? topo_fabric_host(fabric, i) : number[i];
    }
    tatp_network_hops(fabric, file, name, count, ranks);
    free(name);
    free(number);
}

/* Without hosts (0), ranks 1 hop apart share a node. If that contradicts other distances, each rank
 * gets a node. */
static void set_rank_hops(topo ranks, const char *file, size_t hosts, tatp_network *n)
{
    matrix_error error = {0, ""};
    size_t nodes = hosts > 0 ? hosts : topo_group_ranks(&ranks, n->node_of_rank);
    int rc = topo_of_nodes(&ranks, n->node_of_rank, nodes, &n->topology, &error);
    if (rc == -EBADMSG && hosts == 0) {
        for (size_t i = 0; i < ranks.nodes; i++)
            n->node_of_rank[i] = i;
        n->topology = ranks;
        return;
    }
    if (rc != 0)
        exit(tool_fail_reading(file, rc, &error));
    topo_release(&ranks);
}

/* ---- the network ---- */

/* A matrix of unnamed rows is between ranks if the number of rows is that of the ranks and not that
 * of the hosts. */
static void read_network_file(const char *file, bool has_distances, size_t ranks,
                              const node_list *hosts, tatp_network *n)
{
    topo_fabric *fabric = tatp_network_read_fabric(file);
    topo_summary s;
    topo between;
    topo_fabric_summary(fabric, &s);
    bool is_named = topo_fabric_hosts(fabric) > 0;
    if (has_distances && s.rows == 0 && s.hosts + s.switches > 0)
        exit(tool_fail("%s: %s, which is for --topology; --distances takes hops in Matrix Market",
                       file, s.format));
    if (hosts->count > 0 && (is_named || s.rows != ranks || s.rows == hosts->count)) {
        tatp_network_hops(fabric, file, (const char *const *)hosts->name, hosts->count,
                          &n->topology);
    } else if (s.rows == ranks) {
        read_rank_hops(fabric, file, ranks, &between);
        set_rank_hops(between, file, hosts->count, n);
    } else {
        exit(tool_fail("%s: %zu rows for %zu ranks; hops between nodes need --hosts too", file,
                       s.rows, ranks));
    }
    topo_fabric_free(fabric);
}

static void network_place(const tool_hosts *hosts, const char *requests, size_t ranks,
                          tatp_network *n)
{
    if (hosts->ranks != ranks)
        exit(tool_fail("%s: %zu rows, but %zu ranks on the hosts: write the number of ranks behind "
                       "each host, as %s:%zu",
                       requests, ranks, hosts->ranks, hosts->nodes.name[0],
                       (ranks + hosts->nodes.count - 1) / hosts->nodes.count));
    memcpy(n->node_of_rank, hosts->of_rank, ranks * sizeof *n->node_of_rank);
}

void tatp_network_read(const tatp_network_options *options, const char *requests, size_t ranks,
                       tatp_network *n)
{
    bool has_distances = options->distances != NULL;
    const char *file = has_distances ? options->distances : options->topology;
    *n = (tatp_network){.node_of_rank = tool_allocate(ranks, sizeof *n->node_of_rank)};
    if (options->hosts != NULL) {
        tool_parse_hosts(options->hosts, &n->hosts);
        network_place(&n->hosts, requests, ranks, n);
    }
    if (file != NULL)
        read_network_file(file, has_distances, ranks, &n->hosts.nodes, n);
    else
        topo_flat(&n->topology, n->hosts.nodes.count);
}

void tatp_network_release(tatp_network *n)
{
    topo_release(&n->topology);
    free(n->node_of_rank);
    tool_hosts_release(&n->hosts);
}
