/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer entry: any bytes as a description of a network; the distances it gives must be some. */
#include "topo/topo.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_HOSTS = 40 };

static size_t way(const topo_tree *tree, size_t n, size_t m)
{
    size_t hops = 0;
    for (; n != m; hops++)
        if (n < m)
            n = tree->parent[n];
        else
            m = tree->parent[m];
    return hops;
}

static void check_distances(const topo *t)
{
    for (size_t n = 0; n < t->nodes; n++)
        for (size_t m = 0; m < t->nodes; m++) {
            double hops = topo_hops(t, n, m, n == m);
            if (n == m ? hops != 0.0 : hops < 1.0 || hops >= TOPO_UNREACHED)
                abort();
            if (n != m && t->tree.vertices > 0 && hops != (double)way(&t->tree, n, m))
                abort();
        }
}

static void check_fabric(const topo_fabric *fabric)
{
    const char *hosts[MOST_HOSTS];
    topo_summary summary;
    topo t;
    matrix_error error;
    topo_fabric_summary(fabric, &summary);
    size_t nodes = topo_fabric_hosts(fabric);
    if (summary.format == NULL || summary.hosts != nodes)
        abort();
    for (nodes = nodes < MOST_HOSTS ? nodes : MOST_HOSTS; nodes > 0; nodes /= 2) {
        for (size_t n = 0; n < nodes; n++)
            hosts[n] = topo_fabric_host(fabric, n);
        if (topo_from_fabric(fabric, hosts, nodes, &t, &error) == 0) {
            check_distances(&t);
            topo_release(&t);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    topo_fabric *fabric;
    matrix_error error;
    FILE *stream = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    if (stream == NULL)
        return 0;
    if (topo_fabric_read(stream, &fabric, &error) == 0) {
        check_fabric(fabric);
        topo_fabric_free(fabric);
    }
    fclose(stream);
    return 0;
}
