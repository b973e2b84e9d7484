/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads what is between the nodes.
 */
#include "rmaps_dla_network.h"

#include <errno.h>

#include "topo/topo.h"

const char *dla_network_file(const dla_spec *spec, bool *twice)
{
    *twice = NULL != spec->topology && NULL != spec->bandwidth;
    return NULL != spec->topology ? spec->topology : spec->bandwidth;
}

static int read_topology(FILE *stream, const dla_nodes *nodes, setmatch_network *network,
                         matrix_error *error)
{
    topo t;
    setmatch_network made = {0};
    int rc = topo_read(stream, nodes->name, nodes->count, &t, error);

    if (rc != 0)
        return rc;
    rc = topo_levels(&t, &made.levels, &made.group_of_node);
    topo_release(&t);
    if (rc == 0)
        *network = made;
    return rc;
}

static int read_bandwidth(FILE *stream, const dla_nodes *nodes, unsigned threshold,
                          setmatch_network *network, matrix_error *error)
{
    matrix bandwidth;
    int rc = topo_read_bandwidth(stream, nodes->name, nodes->count, &bandwidth, error);

    if (rc != 0)
        return rc;
    rc = setmatch_network_from_bandwidth(&bandwidth, threshold, network);
    matrix_release(&bandwidth);
    return rc;
}

int dla_network_read(const dla_spec *spec, FILE *stream, const dla_nodes *nodes,
                     setmatch_network *network, matrix_error *error)
{
    if (NULL != spec->topology)
        return read_topology(stream, nodes, network, error);
    return read_bandwidth(stream, nodes,
                          spec->has_threshold ? spec->threshold : SETMATCH_DEFAULT_THRESHOLD,
                          network, error);
}
