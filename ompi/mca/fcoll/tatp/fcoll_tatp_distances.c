/* SPDX-License-Identifier: BSD-3-Clause */
/* How far the nodes of a job are apart: from where the user says, from the job's environment, or
 * from the network itself. Rank 0 alone learns it, since rank 0 alone decides who serves whom. */
#include "fcoll_tatp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "opal/util/output.h"

#define ADDRESS "SLURM_TOPOLOGY_ADDR"
#define ADDRESS_PATTERN "SLURM_TOPOLOGY_ADDR_PATTERN"

static void tell(const tatp_nodes *where, const char *origin)
{
    opal_output_verbose(10, ompi_fcoll_base_framework.framework_output,
                        "fcoll:tatp: hops between %lu nodes from %s (%s)",
                        (unsigned long)where->nodes, origin, where->topology.source);
}

static void tell_flat(const tatp_nodes *where)
{
    opal_output_verbose(10, ompi_fcoll_base_framework.framework_output,
                        "fcoll:tatp: %lu nodes, all equally far apart",
                        (unsigned long)where->nodes);
}

static const char *const *hosts_of(const tatp_nodes *where)
{
    return (const char *const *)where->host;
}

/* ---- a file ---- */

static int report_file_error(const char *path, int rc, const matrix_error *error)
{
    if (rc == -ENOMEM)
        return OMPI_ERR_OUT_OF_RESOURCE;
    if (error->line > 0)
        tatp_show_help("topology-line", path, (unsigned long)error->line, error->reason);
    else
        tatp_show_help("topology", path, error->reason);
    return MPI_ERR_ARG;
}

/* A FIFO would block, and a folder opens but does not read: only files are opened. */
static FILE *open_file(const char *path)
{
    struct stat status;
    FILE *stream = NULL;
    const char *cause = NULL;
    if (stat(path, &status) != 0)
        cause = strerror(errno);
    else if (!S_ISREG(status.st_mode))
        cause = "it is not a regular file";
    else if (NULL == (stream = fopen(path, "r")))
        cause = strerror(errno);
    if (NULL == stream)
        tatp_show_help("topology", path, cause);
    return stream;
}

static int read_file(tatp_nodes *where, const char *path)
{
    matrix_error error = {0, ""};
    FILE *stream = open_file(path);
    if (NULL == stream)
        return MPI_ERR_ARG;
    int rc = topo_read(stream, hosts_of(where), where->nodes, &where->topology, &error);
    fclose(stream);
    if (rc != 0)
        return report_file_error(path, rc, &error);
    tell(where, path);
    return OMPI_SUCCESS;
}

int tatp_distances_begin(tatp_nodes *where)
{
    const char *name = mca_fcoll_tatp_component.topology_name;
    topo_flat(&where->topology, where->nodes);
    if (NULL == name || name[0] == '\0' || strcmp(name, "auto") == 0) {
        where->distances_open = where->nodes > 1;
        return OMPI_SUCCESS;
    }
    if (strcmp(name, "none") != 0)
        return read_file(where, name);
    tell_flat(where);
    return OMPI_SUCCESS;
}

/* ---- the job's environment ---- */

/* The pattern, "switch.switch.node", tells for sure whether there are switches in an address: a
 * node's name may have dots. */
static bool names_switches(const char *address)
{
    const char *pattern = getenv(ADDRESS_PATTERN);
    return NULL != address && NULL != strchr(NULL != pattern ? pattern : address, '.');
}

static bool speaks_for_node(const ompio_file_t *fh, const tatp_module *module)
{
    return module->local[0] == fh->f_rank;
}

bool tatp_has_address(const ompio_file_t *fh, const tatp_module *module)
{
    return speaks_for_node(fh, module) && names_switches(getenv(ADDRESS));
}

/* A string, its end included, as words; none for NULL. */
static int pack(const char *text, int64_t **words, size_t *count)
{
    size_t bytes = NULL != text ? strlen(text) + 1 : 0;
    *count = (bytes + sizeof **words - 1) / sizeof **words;
    *words = calloc(*count + 1, sizeof **words);
    if (NULL == *words)
        return OMPI_ERR_OUT_OF_RESOURCE;
    if (bytes > 0)
        memcpy(*words, text, bytes);
    return OMPI_SUCCESS;
}

/* Once a process, not for each group of ranks. */
static void refuse_environment(const char *reason)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&told))
        tatp_show_help("environment", reason);
}

/* The first address that a rank of each node tells; they stay in `all`. */
static void sort_addresses(const tatp_nodes *where, int ranks, const int64_t *all,
                           const char **address)
{
    for (int r = 0; r < ranks; r++) {
        size_t n = where->node_of_rank[r];
        if (where->count[r] > 0 && NULL == address[n])
            address[n] = (const char *)&all[where->start[r]];
    }
}

/* Nobody has asked for these distances by name, so that a run does not fail for want of them. */
static void use_addresses(tatp_nodes *where, int ranks, const int64_t *all)
{
    matrix_error error = {0, "there is no memory for them"};
    const char **address = calloc(where->nodes, sizeof *address);
    int rc = -ENOMEM;
    if (NULL != address) {
        sort_addresses(where, ranks, all, address);
        rc = topo_from_addresses(address, hosts_of(where), where->nodes, &where->topology, &error);
    }
    free(address);
    if (rc == 0) {
        where->distances_open = false;
        tell(where, "the job's environment");
    } else if (rc != -ENODATA) {
        refuse_environment(error.reason);
    }
}

int tatp_ask_addresses(ompio_file_t *fh, tatp_module *module)
{
    int64_t *words, *all;
    size_t count;
    int rc = pack(speaks_for_node(fh, module) ? getenv(ADDRESS) : NULL, &words, &count);
    rc = tatp_gather(fh, &module->where, words, count, rc, &all);
    if (OMPI_SUCCESS == rc && fh->f_rank == 0)
        use_addresses(&module->where, fh->f_size, all);
    free(all);
    free(words);
    return rc;
}

/* ---- the network ---- */

static bool use_fabric(tatp_nodes *where)
{
    matrix_error error = {0, "there is no memory for the distances"};
    const topo_fabric *fabric = tatp_discover();
    if (NULL == fabric)
        return false;
    int rc = topo_from_fabric(fabric, hosts_of(where), where->nodes, &where->topology, &error);
    if (rc != 0)
        tatp_discover_refuse(&error);
    return rc == 0;
}

void tatp_distances_end(tatp_nodes *where)
{
    if (!where->distances_open)
        return;
    where->distances_open = false;
    if (use_fabric(where))
        tell(where, mca_fcoll_tatp_component.ibnetdiscover);
    else
        tell_flat(where);
}
