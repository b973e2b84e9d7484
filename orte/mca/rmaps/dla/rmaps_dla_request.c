/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the request and its files, and refuses what cannot be used.
 */
#define _GNU_SOURCE /* asprintf */
#include "rmaps_dla_request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "orte/constants.h"
#include "orte/runtime/orte_globals.h"

#include "rmaps_dla.h"
#include "setmatch/setmatch.h"

/* ---- the request ---- */

static int read_map_by(const char *map_by, dla_spec *spec)
{
    char reason[DLA_SPEC_REASON_SIZE];
    int rc = dla_spec_parse(map_by, spec, reason);

    if (-EINVAL == rc) {
        RMAPS_DLA_REFUSE("bad-map-by", map_by, reason);
        return ORTE_ERR_SILENT;
    }
    return 0 == rc ? ORTE_SUCCESS : ORTE_ERR_OUT_OF_RESOURCE;
}

/* One parameter, where the policy left it open. */
static int add_parameter(dla_spec *spec, const char *key, const char *value)
{
    char reason[DLA_SPEC_REASON_SIZE], name[64];
    char *item;
    int rc;

    if (NULL == value)
        return ORTE_SUCCESS;
    if (0 > asprintf(&item, "%s=%s", key, value))
        return ORTE_ERR_OUT_OF_RESOURCE;
    rc = dla_spec_set(spec, item, reason);
    free(item);
    if (-EINVAL == rc) {
        snprintf(name, sizeof(name), "rmaps_dla_%s", key);
        RMAPS_DLA_REFUSE("bad-parameter", name, value, reason);
        return ORTE_ERR_SILENT;
    }
    return -ENOMEM == rc ? ORTE_ERR_OUT_OF_RESOURCE : ORTE_SUCCESS;
}

/* A network that the policy names goes before one of the other kind in a parameter. */
static int add_network_parameters(dla_spec *spec)
{
    const orte_rmaps_dla_component_t *c = &mca_rmaps_dla_component;
    int rc;

    if (NULL != spec->topology || NULL != spec->bandwidth)
        return ORTE_SUCCESS;
    rc = add_parameter(spec, "topology", c->topology);
    return ORTE_SUCCESS == rc ? add_parameter(spec, "bandwidth", c->bandwidth) : rc;
}

static int add_parameters(dla_spec *spec)
{
    const orte_rmaps_dla_component_t *c = &mca_rmaps_dla_component;
    char threshold[32];
    const struct {
        const char *key, *value;
    } parameters[] = {
        {"file", c->file},        {"cart", c->cart},           {"order", c->order},
        {"method", c->method},    {"objective", c->objective}, {"domains", c->domains},
        {"threshold", threshold}, {"refine", c->refine},
    };
    int rc = ORTE_SUCCESS;

    snprintf(threshold, sizeof(threshold), "%d", c->threshold);
    for (size_t i = 0; ORTE_SUCCESS == rc && i < sizeof(parameters) / sizeof(parameters[0]); i++)
        rc = add_parameter(spec, parameters[i].key, parameters[i].value);
    if (ORTE_SUCCESS == rc)
        rc = add_network_parameters(spec);
    if (NULL == spec->method)
        spec->method = &setmatch_methods[0];
    if (!spec->has_refine)
        spec->refine = true;
    return rc;
}

static int check_network(const dla_spec *spec)
{
    bool twice;

    (void)dla_network_file(spec, &twice);
    if (twice) {
        RMAPS_DLA_REFUSE("two-networks", spec->topology, spec->bandwidth);
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}

static void show_cart(dla_request *r)
{
    size_t used = 0;

    for (size_t i = 0; i < r->spec.cart.ndims && used < sizeof(r->cart); i++) {
        used += (size_t)snprintf(r->cart + used, sizeof(r->cart) - used, "%s%zu", 0 == i ? "" : "x",
                                 r->spec.cart.dims[i]);
    }
}

int dla_request_read(dla_request *r)
{
    int rc = ORTE_SUCCESS;

    memset(r, 0, sizeof(*r));
    if (NULL != mca_rmaps_dla_component.map_by)
        rc = read_map_by(mca_rmaps_dla_component.map_by, &r->spec);
    if (ORTE_SUCCESS == rc)
        rc = add_parameters(&r->spec);
    if (ORTE_SUCCESS == rc)
        rc = check_network(&r->spec);
    if (ORTE_SUCCESS == rc && NULL == r->spec.file && 0 == r->spec.cart.ndims) {
        RMAPS_DLA_REFUSE("nothing-to-place-by", orte_basename, orte_basename);
        rc = ORTE_ERR_SILENT;
    }
    if (ORTE_SUCCESS != rc)
        dla_spec_release(&r->spec);
    show_cart(r);
    return rc;
}

void dla_request_release(dla_request *r)
{
    dla_spec_release(&r->spec);
}

const char *dla_request_name(const dla_request *r)
{
    return NULL == r->spec.file ? r->cart : r->spec.file;
}

/* ---- files ---- */

/* A FIFO would block, and a folder opens but does not read: only files are opened. */
static FILE *open_file(const char *what, const char *path)
{
    const char *cause = NULL;
    FILE *stream = NULL;
    struct stat status;

    if (0 != stat(path, &status))
        cause = strerror(errno);
    else if (!S_ISREG(status.st_mode))
        cause = S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file";
    else if (NULL == (stream = fopen(path, "r")))
        cause = strerror(errno);
    if (NULL == stream)
        RMAPS_DLA_REFUSE("unreadable-file", what, path, cause);
    return stream;
}

/* From a reader's result to ours. */
static int refuse_contents(const char *what, const char *path, int rc, const matrix_error *error)
{
    char line[32] = "";

    if (0 == rc)
        return ORTE_SUCCESS;
    if (-ENOMEM == rc)
        return ORTE_ERR_OUT_OF_RESOURCE;
    if (0 != error->line)
        snprintf(line, sizeof(line), ", line %zu", error->line);
    RMAPS_DLA_REFUSE("bad-file", what, path, line, error->reason);
    return ORTE_ERR_SILENT;
}

static int check_view(const dla_request *r, size_t ranks, const view_file *file)
{
    if (file->view.rows != ranks) {
        RMAPS_DLA_REFUSE("wrong-size", r->spec.file, file->view.rows, ranks);
        return ORTE_ERR_SILENT;
    }
    if (0 == file->patterns && SETMATCH_OBJECTIVE_PROFILE == r->spec.objective) {
        RMAPS_DLA_REFUSE("no-profile", r->spec.file);
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}

static int read_view(const dla_request *r, size_t ranks, view_file *file)
{
    FILE *stream = open_file("view matrix", r->spec.file);
    matrix_error error = {0, ""};
    int rc;

    if (NULL == stream)
        return ORTE_ERR_SILENT;
    rc = view_file_read(stream, file, &error);
    fclose(stream);
    if (0 != rc)
        return refuse_contents("view matrix", r->spec.file, rc, &error);
    rc = check_view(r, ranks, file);
    if (ORTE_SUCCESS != rc)
        view_file_release(file);
    return rc;
}

static int check_cart(const dla_request *r, size_t ranks)
{
    size_t product = 1;

    for (size_t i = 0; i < r->spec.cart.ndims; i++)
        product *= r->spec.cart.dims[i];
    if (0 != r->spec.cart.ndims && product != ranks) {
        RMAPS_DLA_REFUSE("wrong-cart", r->cart, product, ranks);
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}

static int load_view(const dla_request *r, size_t ranks, view_file *file)
{
    const dla_cart *cart = &r->spec.cart;
    int rc = check_cart(r, ranks);

    if (ORTE_SUCCESS != rc)
        return rc;
    if (NULL != r->spec.file)
        return read_view(r, ranks, file);
    if (SETMATCH_OBJECTIVE_PROFILE == r->spec.objective) {
        RMAPS_DLA_REFUSE("no-profile", r->cart);
        return ORTE_ERR_SILENT;
    }
    rc = setmatch_cartesian(cart->dims, cart->ndims, cart->order, &file->view);
    if (0 != rc) {
        RMAPS_DLA_REFUSE("failed", r->cart, strerror(-rc));
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}

static int load_network(const dla_spec *spec, const dla_nodes *nodes, setmatch_network *network)
{
    const char *what = NULL != spec->topology ? "topology" : "matrix of bandwidths";
    matrix_error error = {0, "nothing was measured"};
    bool twice;
    const char *path = dla_network_file(spec, &twice);
    FILE *stream;
    int rc;

    if (NULL == path)
        return ORTE_SUCCESS;
    stream = open_file(what, path);
    if (NULL == stream)
        return ORTE_ERR_SILENT;
    rc = dla_network_read(spec, stream, nodes, network, &error);
    fclose(stream);
    return refuse_contents(what, path, rc, &error);
}

int dla_request_load(const dla_request *r, size_t ranks, const dla_nodes *nodes, dla_data *data)
{
    int rc;

    memset(data, 0, sizeof(*data));
    rc = load_view(r, ranks, &data->file);
    if (ORTE_SUCCESS != rc)
        return rc;
    data->profile = (setmatch_profile){data->file.patterns, data->file.bytes};
    rc = load_network(&r->spec, nodes, &data->network);
    if (ORTE_SUCCESS != rc)
        view_file_release(&data->file);
    return rc;
}

void dla_data_release(dla_data *data)
{
    view_file_release(&data->file);
    setmatch_network_release(&data->network);
}

dla_method dla_request_method(const dla_request *r, const dla_data *data)
{
    return (dla_method){
        .place = r->spec.method->place,
        .input =
            {
                .view = &data->file.view,
                .network = &data->network,
                .threshold = r->spec.threshold,
                .refine = r->spec.refine,
                .profile = 0 < data->profile.calls ? &data->profile : NULL,
                .objective = r->spec.objective,
                .domains = r->spec.domains,
            },
    };
}
