/* SPDX-License-Identifier: BSD-3-Clause */
/* The source of the hops between nodes is selected here: a file that the user names, the job's
 * environment, or none. */
#include "collective/nodes_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

#define ADDRESS "SLURM_TOPOLOGY_ADDR"
#define ADDRESS_PATTERN "SLURM_TOPOLOGY_ADDR_PATTERN"

static const char *const *hosts_of(const coll_nodes *nodes)
{
    return (const char *const *)nodes->host;
}

static void report_source(const coll_nodes *nodes, coll_process *process, const char *origin)
{
    coll_log(process, 10, "hops between %zu nodes from %s (%s)", nodes->count, origin,
             nodes->topology.source);
}

void coll_distances_report_flat(const coll_nodes *nodes, coll_process *process)
{
    coll_log(process, 10, "%zu nodes, all equally far apart", nodes->count);
}

/* ---- a file ---- */

static int refuse_topology(coll_process *process, parameter_texts text, const matrix_error *error)
{
    char line[32] = "";
    if (error->line > 0)
        snprintf(line, sizeof line, ", line %zu", error->line);
    const coll_refusal refusal = {PARAMETER_TOPOLOGY, text[PARAMETER_TOPOLOGY],
                                  parameter_is_strict(text), -EINVAL,
                                  "The run continues as if all nodes were equally far apart."};
    return coll_refuse(process, &refusal, COLL_TEXT_TOPOLOGY,
                       COLL_NAMED(process, PARAMETER_TOPOLOGY), refusal.value, line, error->reason);
}

static int read_topology_file(coll_nodes *nodes, coll_process *process, parameter_texts text)
{
    const char *path = text[PARAMETER_TOPOLOGY];
    matrix_error error = {0, ""};
    const char *cause;
    FILE *stream = base_open_regular(path, &cause);
    int rc = stream != NULL
                 ? topo_read(stream, hosts_of(nodes), nodes->count, &nodes->topology, &error)
                 : matrix_refuse(&error, 0, "%s", cause);
    if (stream != NULL)
        fclose(stream);
    if (rc == 0)
        report_source(nodes, process, path);
    else
        topo_flat(&nodes->topology, nodes->count);
    if (rc == 0 || rc == -ENOMEM)
        return rc;
    return refuse_topology(process, text, &error);
}

int coll_distances_read(coll_nodes *nodes, coll_process *process, parameter_texts text,
                        bool *is_open)
{
    const char *source = text[PARAMETER_TOPOLOGY];
    topo_flat(&nodes->topology, nodes->count);
    *is_open = false;
    if (source == NULL || source[0] == '\0' || strcmp(source, "auto") == 0)
        *is_open = nodes->count > 1;
    else if (strcmp(source, "none") != 0)
        return read_topology_file(nodes, process, text);
    else
        coll_distances_report_flat(nodes, process);
    return 0;
}

/* ---- the job's environment ---- */

/* The pattern, "switch.switch.node", decides whether an address has switches: the name of a node
 * may have dots. */
static bool names_switches(const char *address)
{
    const char *pattern = getenv(ADDRESS_PATTERN);
    return address != NULL && strchr(pattern != NULL ? pattern : address, '.') != NULL;
}

bool coll_has_address(const coll_group *group)
{
    return coll_is_leader(group) && names_switches(getenv(ADDRESS));
}

/* Those of all nodes. */
typedef struct node_texts {
    char **text; /* the caller frees it and each string; NULL if memory is exhausted */
    const coll_nodes *nodes;
} node_texts;

static int add_text(void *context, int leader, const int64_t *element, size_t count)
{
    const node_texts *texts = context;
    char *text = strndup((const char *)element, count * sizeof *element);
    texts->text[texts->nodes->node_of_rank[leader]] = text;
    return text == NULL ? -ENOMEM : 0;
}

/* From leaders to rank 0. */
static int gather_addresses(coll_group *group, node_texts *all)
{
    const char *text = getenv(ADDRESS);
    size_t bytes = text != NULL ? strlen(text) + 1 : 0;
    coll_message own = {.from = group->rank};
    int rc = 0;
    own.count = (bytes + sizeof *own.element - 1) / sizeof *own.element;
    own.element = base_zeroed(own.count, sizeof *own.element, &rc);
    if (group->rank == 0)
        all->text = base_zeroed(all->nodes->count, sizeof *all->text, &rc);
    if (rc == 0 && bytes > 0)
        memcpy(own.element, text, bytes);
    rc = coll_gather_leaders(group, COLL_TAG_ROWS, &own, add_text, all, rc);
    free(own.element);
    return rc;
}

/* These distances were not asked for by name: the run continues without them. */
static void use_addresses(coll_nodes *nodes, coll_process *process, char *const *address,
                          bool *is_open)
{
    matrix_error error = {0, "there is no memory for them"};
    int rc = topo_from_addresses((const char *const *)address, hosts_of(nodes), nodes->count,
                                 &nodes->topology, &error);
    if (rc == 0) {
        *is_open = false;
        report_source(nodes, process, "the job's environment");
    } else if (rc != -ENODATA && coll_is_first(process, "environment", "")) {
        coll_show(process, COLL_TEXT_ENVIRONMENT, error.reason,
                  COLL_NAMED(process, PARAMETER_TOPOLOGY));
    }
}

int coll_distances_ask(coll_nodes *nodes, coll_group *group, bool *is_open)
{
    node_texts all = {.nodes = nodes};
    int rc = coll_is_leader(group) ? gather_addresses(group, &all) : 0;
    rc = coll_agree_error(group, rc);
    if (rc == 0 && group->rank == 0)
        use_addresses(nodes, group->runtime->process, all.text, is_open);
    for (size_t n = 0; all.text != NULL && n < nodes->count; n++)
        free(all.text[n]);
    free(all.text);
    return rc;
}
