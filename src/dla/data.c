/* SPDX-License-Identifier: BSD-3-Clause */
#include "dla/data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "topo/topo.h"

/* Converts the error of a reader. */
static int refuse_contents(char *reason, const char *path, int rc, const matrix_error *error)
{
    if (rc == 0 || rc == -ENOMEM)
        return rc;
    return error->line == 0 ? dla_reject(reason, "%s: %s", path, error->reason)
                            : dla_reject(reason, "%s:%zu: %s", path, error->line, error->reason);
}

/* Returns NULL with a reason. */
static FILE *open_input(const char *path, char *reason)
{
    const char *cause;
    FILE *stream = base_open_regular(path, &cause);
    if (stream == NULL)
        dla_reject(reason, "%s: %s", path, cause);
    return stream;
}

/* ---- the view ---- */

static int read_view(const dla_spec *spec, FILE *record, view_file *file, char *reason)
{
    const char *path = spec->text[DLA_FILE];
    FILE *stream = record != NULL ? record : open_input(path, reason);
    matrix_error error = {0, ""};
    if (stream == NULL)
        return -EINVAL;
    int rc = view_file_read(stream, file, &error);
    if (stream != record)
        fclose(stream);
    return refuse_contents(reason, path, rc, &error);
}

static int make_grid_view(const dla_spec *spec, matrix *view, char *reason)
{
    setmatch_order order = (setmatch_order)spec->choice[DLA_ORDER];
    int rc = setmatch_cartesian(spec->dims, spec->ndims, order, view);
    return rc == 0 ? 0 : dla_reject(reason, "the grid: %s", strerror(-rc));
}

static int check_grid(const dla_spec *spec, size_t ranks, char *reason)
{
    size_t product = 1;
    for (size_t i = 0; i < spec->ndims; i++)
        product *= spec->dims[i];
    return spec->ndims == 0 || ranks == 0 || product == ranks
               ? 0
               : dla_reject(
                     reason,
                     "the process grid %s has %zu ranks, but this job has %zu: start it with "
                     "-np %zu, or give another grid",
                     spec->text[DLA_CART], product, ranks, product);
}

static int check_view(const dla_spec *spec, const view_file *file, size_t ranks, char *reason)
{
    const char *name = dla_spec_name(spec);
    if (ranks != 0 && file->view.rows != ranks)
        return dla_reject(
            reason,
            "%s was recorded for %zu ranks, but this job has %zu: start it with -np %zu, "
            "or record it with the number of ranks of this job",
            name, file->view.rows, ranks, file->view.rows);
    if (file->patterns > 0 || spec->choice[DLA_OBJECTIVE] != SETMATCH_OBJECTIVE_PROFILE)
        return 0;
    dla_reject(reason,
               "%s has no profile, which objective=profile needs; files that fcoll_tatp_record "
               "writes have one",
               name);
    return -ENODATA;
}

static int load_view(const dla_spec *spec, FILE *record, size_t ranks, view_file *file,
                     char *reason)
{
    int rc = check_grid(spec, ranks, reason);
    if (rc != 0)
        return rc;
    rc = spec->text[DLA_FILE] == NULL ? make_grid_view(spec, &file->view, reason)
                                      : read_view(spec, record, file, reason);
    if (rc == 0) {
        rc = check_view(spec, file, ranks, reason);
        if (rc != 0)
            view_file_release(file);
    }
    return rc == -EINVAL && record != NULL ? -EBADMSG : rc;
}

/* ---- the network ---- */

static int read_topology(FILE *stream, const dla_nodes *nodes, dla_data *data, matrix_error *error)
{
    int rc = topo_read(stream, nodes->name, nodes->count, &data->topology, error);
    return rc == 0
               ? topo_levels(&data->topology, &data->network.levels, &data->network.group_of_node)
               : rc;
}

/* Two for each level up to the first that has both nodes in one group, or beyond the last. */
static int make_hops(const setmatch_network *network, size_t nodes, topo *t)
{
    int rc = 0;
    uint16_t *hops = base_zeroed(nodes, nodes * sizeof *hops, &rc);
    for (size_t i = 0; rc == 0 && i < nodes * nodes; i++)
        hops[i] = (uint16_t)(2 * setmatch_network_distance(network, nodes, i / nodes, i % nodes));
    if (rc == 0)
        rc = topo_from_hops(t, nodes, hops);
    free(hops);
    return rc;
}

static int read_bandwidth(FILE *stream, const dla_nodes *nodes, dla_data *data, matrix_error *error)
{
    matrix bandwidth;
    int rc = topo_read_bandwidth(stream, nodes->name, nodes->count, &bandwidth, error);
    if (rc != 0)
        return rc;
    rc = setmatch_network_from_bandwidth(&bandwidth, &data->network);
    if (rc == 0)
        rc = make_hops(&data->network, nodes->count, &data->topology);
    matrix_release(&bandwidth);
    return rc;
}

static int load_network(const char *path, FILE *topology, const dla_nodes *nodes, dla_data *data,
                        char *reason)
{
    matrix_error error = {0, "nothing was measured"};
    topo_flat(&data->topology, nodes->count);
    if (path == NULL)
        return 0;
    FILE *stream = topology != NULL ? topology : open_input(path, reason);
    if (stream == NULL)
        return -EINVAL;
    int rc =
        (topo_is_bandwidth(stream) ? read_bandwidth : read_topology)(stream, nodes, data, &error);
    if (stream != topology)
        fclose(stream);
    return refuse_contents(reason, path, rc, &error);
}

int dla_data_read(dla_data *data, const dla_spec *spec, dla_streams streams, size_t ranks,
                  const dla_nodes *nodes, char reason[DLA_REASON_SIZE])
{
    *data = (dla_data){.network = {.levels = 0}};
    int rc = load_view(spec, streams.record, ranks, &data->file, reason);
    if (rc != 0)
        return rc;
    rc = load_network(spec->text[DLA_TOPOLOGY], streams.topology, nodes, data, reason);
    if (rc != 0)
        dla_data_release(data);
    return rc;
}

void dla_data_release(dla_data *data)
{
    view_file_release(&data->file);
    setmatch_network_release(&data->network);
    topo_release(&data->topology);
}

/* ---- the method ---- */

const setmatch_method *dla_spec_method(const dla_spec *spec)
{
    return &setmatch_methods[spec->choice[DLA_METHOD]];
}
