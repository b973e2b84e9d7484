/* SPDX-License-Identifier: BSD-3-Clause */
/* The source of the hops between nodes is selected here: a file that the user names, the job's
 * environment, or none. */
#include "fcoll_tatp_nodes_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/mca/fcoll/base/base.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_params.h"
#include "opal/util/output.h"

#include "base/file.h"

#define ADDRESS "SLURM_TOPOLOGY_ADDR"
#define ADDRESS_PATTERN "SLURM_TOPOLOGY_ADDR_PATTERN"

static const char *const *hosts_of(const tatp_node_map *map)
{
    return (const char *const *)map->host;
}

static void report_source(const tatp_node_map *map, const char *origin)
{
    opal_output_verbose(10, ompi_fcoll_base_framework.framework_output,
                        "fcoll:tatp: hops between %lu nodes from %s (%s)",
                        (unsigned long)map->nodes, origin, map->topology.source);
}

void tatp_distances_report_flat(const tatp_node_map *map)
{
    opal_output_verbose(10, ompi_fcoll_base_framework.framework_output,
                        "fcoll:tatp: %lu nodes, all equally far apart", (unsigned long)map->nodes);
}

/* ---- a file ---- */

/* Once for each process. */
static int refuse_topology(const char *path, const matrix_error *error)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&reported))
        return tatp_params_refuse(MPI_ERR_ARG);
    char line[32] = "";
    if (error->line > 0)
        snprintf(line, sizeof line, ", line %lu", (unsigned long)error->line);
    tatp_show_help("topology", path, line, error->reason);
    return tatp_params_refuse(MPI_ERR_ARG);
}

static int read_topology_file(tatp_node_map *map, const char *path)
{
    matrix_error error = {0, ""};
    const char *cause;
    FILE *stream = base_open_regular(path, &cause);
    int rc = NULL != stream ? topo_read(stream, hosts_of(map), map->nodes, &map->topology, &error)
                            : matrix_refuse(&error, 0, "%s", cause);
    if (NULL != stream)
        fclose(stream);
    if (0 == rc)
        report_source(map, path);
    else
        topo_flat(&map->topology, map->nodes);
    if (0 == rc || -ENOMEM == rc)
        return 0 == rc ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
    return refuse_topology(path, &error);
}

int tatp_distances_read(tatp_node_map *map, const char *source, bool *is_open)
{
    topo_flat(&map->topology, map->nodes);
    *is_open = false;
    if (NULL == source || '\0' == source[0] || 0 == strcmp(source, "auto"))
        *is_open = map->nodes > 1;
    else if (0 != strcmp(source, "none"))
        return read_topology_file(map, source);
    else
        tatp_distances_report_flat(map);
    return OMPI_SUCCESS;
}

/* ---- the job's environment ---- */

/* The pattern, "switch.switch.node", decides whether an address has switches: the name of a node
 * may have dots. */
static bool names_switches(const char *address)
{
    const char *pattern = getenv(ADDRESS_PATTERN);
    return NULL != address && NULL != strchr(NULL != pattern ? pattern : address, '.');
}

bool tatp_has_address(const tatp_comm *comm)
{
    return tatp_comm_is_leader(comm) && names_switches(getenv(ADDRESS));
}

int tatp_pack_text(const char *text, tatp_message *message)
{
    if (NULL == text)
        return OMPI_SUCCESS;
    size_t bytes = strlen(text) + 1;
    message->count = (bytes - 1) / sizeof *message->element + 1;
    message->count += 1 == message->count;
    message->element = calloc(message->count, sizeof *message->element);
    if (NULL == message->element)
        return OMPI_ERR_OUT_OF_RESOURCE;
    memcpy(message->element, text, bytes);
    return OMPI_SUCCESS;
}

/* The address of each node, on its way through the node's leader to rank 0. */
typedef struct addresses {
    const tatp_node_map *map;
    tatp_message own;
    char **address; /* per node; rank 0 */
} addresses;

/* The leader's own address is enough. */
static int skip_rank_address(void *sum, const tatp_message *message)
{
    (void)sum;
    (void)message;
    return OMPI_SUCCESS;
}

static int forward_address(void *sum, tatp_message *message)
{
    addresses *all = sum;
    message->element = all->own.element;
    message->count = all->own.count;
    all->own.element = NULL;
    return OMPI_SUCCESS;
}

static int append_host_address(void *sum, const tatp_message *message)
{
    addresses *all = sum;
    size_t node = all->map->node_of_rank[message->from];
    if (NULL != all->address[node])
        return OMPI_SUCCESS;
    all->address[node] = strdup((const char *)message->element);
    return NULL == all->address[node] ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

/* These distances were not asked for by name: the run continues without them. */
static void use_addresses(tatp_node_map *map, char *const *address, bool *is_open)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT; /* once for each process */
    matrix_error error = {0, "there is no memory for them"};
    int rc = topo_from_addresses((const char *const *)address, hosts_of(map), map->nodes,
                                 &map->topology, &error);
    if (0 == rc) {
        *is_open = false;
        report_source(map, "the job's environment");
    } else if (-ENODATA != rc && !atomic_flag_test_and_set(&reported)) {
        tatp_show_help("environment", error.reason);
    }
}

int tatp_distances_ask(tatp_node_map *map, tatp_comm *comm, bool *is_open)
{
    static const tatp_node_gather gather = {TATP_TAG_ROWS, TATP_TAG_NODE_ROWS, skip_rank_address,
                                            forward_address, append_host_address};
    bool is_root = 0 == tatp_comm_rank(comm);
    addresses all = {.map = map};
    int rc = OMPI_SUCCESS;
    if (tatp_comm_is_leader(comm))
        rc = tatp_pack_text(getenv(ADDRESS), &all.own);
    if (is_root && OMPI_SUCCESS == rc) {
        all.address = calloc(map->nodes, sizeof *all.address);
        rc = NULL == all.address ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
    }
    rc = tatp_agree_error(comm, tatp_gather_by_node(comm, &gather, &all, &all.own, rc));
    if (OMPI_SUCCESS == rc && is_root)
        use_addresses(map, all.address, is_open);
    for (size_t n = 0; NULL != all.address && n < map->nodes; n++)
        free(all.address[n]);
    free(all.address);
    free(all.own.element);
    return rc;
}
