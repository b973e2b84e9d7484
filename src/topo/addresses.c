/* SPDX-License-Identifier: BSD-3-Clause */
/* The switches from the root to each node, from Slurm's environment of a job. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "topo/read.h"

/* The length of the part before the node's name, which may contain dots itself. */
static size_t route_length(const char *address, const char *host)
{
    size_t length = strlen(address), name = strlen(host);
    if (length > name && address[length - name - 1] == '.' &&
        strcasecmp(address + length - name, host) == 0)
        return length - name - 1;
    const char *last_dot = strrchr(address, '.');
    return last_dot == NULL || strcasecmp(address, host) == 0 ? 0 : (size_t)(last_dot - address);
}

/* The length of the part of an address that names switches; 0: none. */
static size_t switches_length(const char *address, const char *host)
{
    size_t length = route_length(address, host);
    return strspn(address, ".") < length ? length : 0;
}

/* The key of a switch is the whole path to it: under other switches the same name is another one.
 * An empty name is a level of the tree at which this path has no switch. */
static int add_route(topo_fabric *f, const char *address, size_t length, size_t *lowest)
{
    size_t parent = NO_INDEX;
    for (size_t end = 0; end < length; end++) {
        size_t v, known = f->keys.count, name = strcspn(address + end, ".");
        if (name == 0)
            continue;
        end += name;
        int rc = fabric_vertex(f, address, end, 0, &v);
        if (rc != 0)
            return rc;
        f->vertex[v].kind = KIND_SWITCH;
        if (v == known && parent != NO_INDEX &&
            (rc = fabric_add_arc(f, (arc){.from = parent, .to = v})) != 0)
            return rc;
        parent = v;
    }
    *lowest = parent;
    return 0;
}

static int add_address_line(topo_fabric *f, const char *address, size_t length, const char *host)
{
    size_t leaf, v, known = f->keys.count;
    int rc = add_route(f, address, length, &leaf);
    if (rc == 0)
        rc = fabric_host(f, host, 0, &v);
    if (rc == 0 && v >= known)
        rc = fabric_add_arc(f, (arc){.from = leaf, .to = v});
    return rc;
}

static int check_address(const char *address, const char *host, matrix_error *error)
{
    if (address == NULL || *address == '\0')
        return matrix_refuse(error, 0, "host %.150s has no SLURM_TOPOLOGY_ADDR", host);
    if (address[strlen(address) - 1] == '.')
        return matrix_refuse(error, 0, "host %.60s has a SLURM_TOPOLOGY_ADDR without a node: %.80s",
                             host, address);
    return 0;
}

/* ssh and mpirun -x pass environments on: two hosts with one address do not both have their own. */
static int check_apart(const char *const *address, const char *const *hosts, size_t nodes,
                       matrix_error *error)
{
    name_table seen = {0};
    int rc = 0;
    for (size_t n = 0, first; rc == 0 && n < nodes; n++) {
        rc = name_table_add(&seen, address[n], strlen(address[n]), &first);
        if (rc == 0 && first < n)
            rc =
                matrix_refuse(error, 0, "hosts %.50s and %.50s have one SLURM_TOPOLOGY_ADDR: %.50s",
                              hosts[first], hosts[n], address[n]);
    }
    name_table_release(&seen);
    return rc;
}

static int add_addresses(topo_fabric *f, const char *const *address, const char *const *hosts,
                         size_t nodes, matrix_error *error)
{
    size_t with_switches = 0;
    for (size_t n = 0; n < nodes; n++) {
        int rc = check_address(address[n], hosts[n], error);
        if (rc != 0)
            return rc;
        size_t length = switches_length(address[n], hosts[n]);
        if ((length > 0) != (with_switches > 0) && n > 0)
            return matrix_refuse(
                error, 0, "SLURM_TOPOLOGY_ADDR names switches for host %.60s, none for %.60s",
                hosts[length > 0 ? n : 0], hosts[length > 0 ? 0 : n]);
        with_switches += length > 0;
        rc = length > 0 ? add_address_line(f, address[n], length, hosts[n]) : 0;
        if (rc != 0)
            return rc;
    }
    return with_switches > 0 ? check_apart(address, hosts, nodes, error) : -ENODATA;
}

int topo_from_addresses(const char *const *address, const char *const *hosts, size_t nodes, topo *t,
                        matrix_error *error)
{
    topo_fabric *f = calloc(1, sizeof *f);
    if (f == NULL)
        return -ENOMEM;
    f->format = "Slurm, SLURM_TOPOLOGY_ADDR";
    int rc = add_addresses(f, address, hosts, nodes, error);
    if (rc == 0)
        rc = join_trees(f, error);
    if (rc == 0)
        rc = fabric_finish(f, error);
    if (rc == 0)
        rc = topo_from_fabric(f, hosts, nodes, t, error);
    topo_fabric_free(f);
    return rc;
}
