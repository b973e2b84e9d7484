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

/* Each level is made of groups of the one before, fewer of them, and never of one only. */
static void check_levels(const topo *t)
{
    size_t levels, *group, before = t->nodes;
    if (topo_levels(t, &levels, &group) != 0)
        return;
    for (size_t level = 0; level < levels; level++) {
        const size_t *now = group + level * t->nodes;
        size_t groups = 0;
        for (size_t n = 0; n < t->nodes; n++) {
            size_t first = 0;
            while (now[first] != now[n])
                first++;
            groups += first == n;
            for (size_t m = 0; level > 0 && m < n; m++)
                if (now[m] != now[n] && (now - t->nodes)[m] == (now - t->nodes)[n])
                    abort();
        }
        if (groups >= before || groups < 2)
            abort();
        before = groups;
    }
    free(group);
}

/* Any bytes as bandwidths between nodes that any file may have. */
static void check_bandwidth(FILE *stream)
{
    static const char *const hosts[] = {"n0", "n1"};
    matrix_error error;
    matrix m;
    rewind(stream);
    if (topo_read_bandwidth(stream, hosts, 2, &m, &error) != 0)
        return;
    if (m.rows != 2 || m.cols != 2)
        abort();
    for (size_t i = 0; i < m.row_start[2]; i++)
        if (m.value[i] < 0)
            abort();
    matrix_release(&m);
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
            check_levels(&t);
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
    check_bandwidth(stream);
    fclose(stream);
    return 0;
}
