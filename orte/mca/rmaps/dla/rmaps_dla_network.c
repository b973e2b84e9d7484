/* SPDX-License-Identifier: BSD-3-Clause */
#include "rmaps_dla_network.h"

#include <errno.h>

#include "topo/topo.h"

const char *dla_network_file(const dla_spec *spec, bool *conflict)
{
    *conflict = NULL != spec->topology && NULL != spec->bandwidth;
    return NULL != spec->topology ? spec->topology : spec->bandwidth;
}

static int read_topology_levels(FILE *stream, const dla_nodes *nodes, setmatch_network *network,
                                matrix_error *error)
{
    setmatch_network levels = {0};
    topo t;
    int rc = topo_read(stream, nodes->name, nodes->count, &t, error);

    if (0 != rc)
        return rc;
    rc = topo_levels(&t, &levels.levels, &levels.group_of_node);
    topo_release(&t);
    if (0 == rc)
        *network = levels;
    return rc;
}

int dla_network_read(const dla_spec *spec, FILE *stream, const dla_nodes *nodes,
                     setmatch_network *network, matrix_error *error)
{
    matrix bandwidth;
    int rc;

    if (NULL != spec->topology)
        return read_topology_levels(stream, nodes, network, error);
    rc = topo_read_bandwidth(stream, nodes->name, nodes->count, &bandwidth, error);
    if (0 != rc)
        return rc;
    rc = setmatch_network_from_bandwidth(&bandwidth, dla_spec_threshold(spec), network);
    matrix_release(&bandwidth);
    return rc;
}
