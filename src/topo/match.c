/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts of a job, and others that are named besides. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "topo/names.h"
#include "topo/network.h"

/* first[k]: the first known host of entry k of the table. */
static int add_known(const char *const *known, size_t count, name_table *names, size_t *first)
{
    int rc = 0;
    for (size_t n = 0; n < count && rc == 0; n++) {
        size_t index, before = names->count;
        rc = name_table_add(names, known[n], strlen(known[n]), &index);
        if (rc == 0 && index == before)
            first[index] = n;
    }
    return rc;
}

/* Without case. */
static int number_other(name_table *others, const char *host, size_t *index)
{
    char *lower = base_alloc(strlen(host) + 1, 1);
    if (lower == NULL)
        return -ENOMEM;
    for (size_t i = 0; (lower[i] = (char)tolower((unsigned char)host[i])) != '\0'; i++)
        ;
    int rc = name_table_add(others, lower, strlen(lower), index);
    free(lower);
    return rc;
}

int topo_match_hosts(const char *const *known, size_t count, const char *const *hosts,
                     size_t number, size_t *found, size_t *others, matrix_error *error)
{
    name_table names = {0}, further = {0};
    size_t *first = base_alloc(count, sizeof *first);
    int rc = first == NULL ? -ENOMEM : add_known(known, count, &names, first);
    if (rc == 0)
        rc = find_hosts(&names, hosts, number, 1, found, error);
    for (size_t k = 0; k < number && rc == 0; k++) {
        if (found[k] != NO_INDEX) {
            found[k] = first[found[k]];
            continue;
        }
        rc = number_other(&further, hosts[k], &found[k]);
        found[k] += count;
    }
    *others = further.count;
    name_table_release(&further);
    name_table_release(&names);
    free(first);
    return rc;
}

/* ---- with distances ---- */

/* Moves the names of those that the fabric has to the front. Returns their number. */
static size_t keep_found(const char **hosts, size_t others, size_t nodes, size_t *node)
{
    size_t kept = 0;
    for (size_t k = 0; k < others; k++) {
        if (node[k] == SIZE_MAX)
            continue;
        hosts[nodes + kept] = hosts[nodes + k];
        node[k] = nodes + kept++;
    }
    return kept;
}

int topo_extend(const topo_fabric *fabric, const char **hosts, size_t nodes, size_t others,
                size_t *node, topo *t, matrix_error *error)
{
    int rc = topo_find_hosts(fabric, hosts + nodes, others, node, error);
    if (rc != 0)
        return rc;
    size_t kept = keep_found(hosts, others, nodes, node);
    return kept > 0 ? topo_from_fabric(fabric, hosts, nodes + kept, t, error) : 0;
}

/* node: as topo_match_hosts has numbered the hosts. */
static int place_others(const char *const *known, size_t count, const char *const *hosts,
                        size_t number, size_t others, const topo_extension *by, size_t *node,
                        matrix_error *error)
{
    int rc = 0;
    const char **name = base_zeroed(count + others, sizeof *name, &rc);
    size_t *place = base_zeroed(others, sizeof *place, &rc);
    for (size_t n = 0; n < count && rc == 0; n++)
        name[n] = known[n];
    for (size_t k = 0; k < number && rc == 0; k++)
        if (node[k] >= count)
            name[node[k]] = hosts[k];
    for (size_t k = 0; k < others && rc == 0; k++)
        place[k] = SIZE_MAX;
    if (rc == 0)
        rc = by->extend(by->context, name, others, place, error);
    for (size_t k = 0; k < number && rc == 0; k++)
        if (node[k] >= count)
            node[k] = place[node[k] - count];
    free(name);
    free(place);
    return rc;
}

int topo_place_hosts(const char *const *known, size_t count, const char *const *hosts,
                     size_t number, const topo_extension *by, size_t *node, matrix_error *error)
{
    size_t others;
    int rc = topo_match_hosts(known, count, hosts, number, node, &others, error);
    return rc == 0 ? place_others(known, count, hosts, number, others, by, node, error) : rc;
}
