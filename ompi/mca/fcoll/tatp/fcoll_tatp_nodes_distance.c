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
        return rc;
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

bool tatp_has_address(const coll_group *group)
{
    return coll_is_leader(group) && names_switches(getenv(ADDRESS));
}

int tatp_send_text(coll_group *group, const char *text, int peer)
{
    size_t bytes = NULL != text ? strlen(text) + 1 : 0;
    size_t count = (bytes + sizeof(int64_t) - 1) / sizeof(int64_t);
    int64_t *element = calloc(count + 1, sizeof *element);
    if (NULL == element)
        return coll_message_send_empty(group, peer, COLL_TAG_ROWS);
    if (bytes > 0)
        memcpy(element, text, bytes);
    int rc = coll_send(group, element, count * sizeof *element, peer, COLL_TAG_ROWS);
    free(element);
    return rc;
}

static int take_text(void *context, coll_message *message)
{
    const tatp_texts *texts = context;
    if (NULL == texts->text)
        return -ENOMEM;
    if (0 == message->count)
        return OMPI_SUCCESS;
    texts->text[texts->index_of(texts->context, message->from)] = (char *)message->element;
    message->element = NULL;
    return OMPI_SUCCESS;
}

int tatp_receive_texts(coll_group *group, size_t count, tatp_texts *texts, int rc)
{
    const coll_arrivals arrivals = {
        .tag = COLL_TAG_ROWS, .expected = count, .take = take_text, .context = texts};
    return coll_message_complete(group, &arrivals, NULL, 0, rc);
}

static size_t node_of(const void *map, int rank)
{
    return ((const tatp_node_map *)map)->node_of_rank[rank];
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

/* On rank 0: those of all nodes. */
static int receive_addresses(coll_group *group, size_t nodes, tatp_texts *all)
{
    const char *own = getenv(ADDRESS);
    all->text = calloc(nodes, sizeof *all->text);
    int rc = NULL == all->text ? -ENOMEM : OMPI_SUCCESS;
    rc = tatp_receive_texts(group, nodes - 1, all, rc);
    if (OMPI_SUCCESS != rc || NULL == own)
        return rc;
    all->text[0] = strdup(own);
    return NULL == all->text[0] ? -ENOMEM : OMPI_SUCCESS;
}

int tatp_distances_ask(tatp_node_map *map, coll_group *group, bool *is_open)
{
    bool is_root = 0 == group->rank;
    tatp_texts all = {.index_of = node_of, .context = map};
    int rc = OMPI_SUCCESS;
    if (is_root)
        rc = receive_addresses(group, map->nodes, &all);
    else if (coll_is_leader(group))
        rc = tatp_send_text(group, getenv(ADDRESS), 0);
    rc = coll_agree_error(group, rc);
    if (OMPI_SUCCESS == rc && is_root)
        use_addresses(map, all.text, is_open);
    for (size_t n = 0; NULL != all.text && n < map->nodes; n++)
        free(all.text[n]);
    free(all.text);
    return rc;
}
