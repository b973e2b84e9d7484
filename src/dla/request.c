/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf */
#include "dla/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "topo/topo.h"

/* ---- the request ---- */

static int parse_policy(dla_request *r, const char *policy)
{
    char reason[DLA_SPEC_REASON_SIZE];
    int rc = dla_spec_parse(policy, &r->spec, reason);

    if (rc == -EINVAL)
        r->message("bad-map-by", policy, reason);
    return rc;
}

/* The policy takes precedence: an item that it sets is not an error here. */
static int add_parameter(dla_request *r, const char *key, const char *value)
{
    char reason[DLA_SPEC_REASON_SIZE], name[64];
    char *item;
    int rc;

    if (value == NULL)
        return 0;
    if (asprintf(&item, "%s=%s", key, value) < 0)
        return -ENOMEM;
    rc = dla_spec_set(&r->spec, item, reason);
    free(item);
    if (rc == -EINVAL) {
        snprintf(name, sizeof(name), "rmaps_dla_%s", key);
        r->message("bad-parameter", name, value, reason);
    }
    return rc == -EEXIST ? 0 : rc;
}

static int add_choices(dla_request *r, const dla_parameters *parameters)
{
    int rc = 0;

    for (dla_choice c = 0; rc == 0 && c < DLA_CHOICES; c++) {
        if (r->spec.has_choice[c])
            continue;
        if (parameters->rejected[c])
            return -EINVAL;
        r->spec.choice[c] = parameters->choice[c];
        rc = add_parameter(r, dla_choice_key(c), parameters->choice_name[c]);
    }
    return rc;
}

/* A network of the policy takes precedence over both network parameters. */
static int add_parameters(dla_request *r, const dla_parameters *parameters)
{
    bool has_network = r->spec.topology != NULL || r->spec.bandwidth != NULL;
    char threshold[32];
    const struct {
        const char *key, *value;
    } items[] = {
        {"file", parameters->file},
        {"cart", parameters->cart},
        {"threshold", threshold},
        {"topology", has_network ? NULL : parameters->topology},
        {"bandwidth", has_network ? NULL : parameters->bandwidth},
    };
    int rc = 0;

    snprintf(threshold, sizeof(threshold), "%d", parameters->threshold);
    for (size_t i = 0; rc == 0 && i < sizeof(items) / sizeof(items[0]); i++)
        rc = add_parameter(r, items[i].key, items[i].value);
    return rc == 0 ? add_choices(r, parameters) : rc;
}

static int check_request(const dla_request *r)
{
    if (r->spec.topology != NULL && r->spec.bandwidth != NULL)
        r->message("two-networks", r->spec.topology, r->spec.bandwidth);
    else if (r->spec.file == NULL && r->spec.cart.ndims == 0)
        r->message("nothing-to-place-by");
    else
        return 0;
    return -EINVAL;
}

static void format_grid(dla_request *r)
{
    size_t used = 0;

    for (size_t i = 0; i < r->spec.cart.ndims && used < sizeof(r->grid); i++) {
        used += (size_t)snprintf(r->grid + used, sizeof(r->grid) - used, "%s%zu", i == 0 ? "" : "x",
                                 r->spec.cart.dims[i]);
    }
}

int dla_request_read(dla_request *r, const char *policy, const dla_parameters *parameters,
                     dla_message_fn message)
{
    int rc = 0;

    *r = (dla_request){.message = message};
    if (policy != NULL)
        rc = parse_policy(r, policy);
    if (rc == 0)
        rc = add_parameters(r, parameters);
    if (rc == 0)
        rc = check_request(r);
    if (rc == 0)
        format_grid(r);
    else
        dla_spec_release(&r->spec);
    return rc;
}

const char *dla_request_name(const dla_request *r)
{
    return r->spec.file == NULL ? r->grid : r->spec.file;
}

bool dla_request_is_automatic(const dla_request *r)
{
    return r->spec.file != NULL && strcmp(r->spec.file, DLA_AUTOMATIC_FILE) == 0;
}

/* ---- files ---- */

/* NULL after a message. */
static FILE *open_input(const dla_request *r, const char *what, const char *path)
{
    const char *cause;
    FILE *stream = base_open_regular(path, &cause);

    if (stream == NULL)
        r->message("unreadable-file", what, path, cause);
    return stream;
}

static int reject_contents(const dla_request *r, const char *what, const char *path, int rc,
                           const matrix_error *error)
{
    char line[32] = "";

    if (rc == 0 || rc == -ENOMEM)
        return rc;
    if (error->line != 0)
        snprintf(line, sizeof(line), ", line %zu", error->line);
    r->message("bad-file", what, path, line, error->reason);
    return -EINVAL;
}

static int read_view_matrix(const dla_request *r, size_t ranks, view_file *file)
{
    FILE *stream = open_input(r, "view matrix", r->spec.file);
    matrix_error error = {0, ""};
    int rc;

    if (stream == NULL)
        return -EINVAL;
    rc = view_file_read(stream, file, &error);
    fclose(stream);
    if (rc != 0)
        return reject_contents(r, "view matrix", r->spec.file, rc, &error);
    if (file->view.rows == ranks)
        return 0;
    r->message("wrong-size", r->spec.file, file->view.rows, ranks);
    view_file_release(file);
    return -EINVAL;
}

static int make_grid_view(const dla_request *r, matrix *view)
{
    const dla_cart *cart = &r->spec.cart;
    int rc = setmatch_cartesian(cart->dims, cart->ndims, (setmatch_order)r->spec.choice[DLA_ORDER],
                                view);

    if (rc == 0)
        return 0;
    r->message("failed", r->grid, strerror(-rc));
    return -EINVAL;
}

/* From the cache. */
static int read_open_record(const dla_request *r, size_t ranks, view_file *file)
{
    matrix_error error = {0, ""};
    int rc = view_file_read(r->record, file, &error);

    if (rc == 0 && file->view.rows != ranks) {
        view_file_release(file);
        rc = -EBADMSG;
    }
    return rc == 0 || rc == -ENOMEM ? rc : -EBADMSG;
}

static int read_view(const dla_request *r, size_t ranks, view_file *file)
{
    if (r->spec.file == NULL)
        return make_grid_view(r, &file->view);
    return r->record == NULL ? read_view_matrix(r, ranks, file) : read_open_record(r, ranks, file);
}

static int load_view(const dla_request *r, size_t ranks, view_file *file)
{
    size_t product = 1;
    int rc;

    for (size_t i = 0; i < r->spec.cart.ndims; i++)
        product *= r->spec.cart.dims[i];
    if (r->spec.cart.ndims != 0 && product != ranks) {
        r->message("wrong-cart", r->grid, product, ranks);
        return -EINVAL;
    }
    rc = read_view(r, ranks, file);
    if (rc != 0 || file->patterns > 0 ||
        r->spec.choice[DLA_OBJECTIVE] != SETMATCH_OBJECTIVE_PROFILE)
        return rc;
    view_file_release(file);
    if (r->record != NULL)
        return -ENODATA;
    r->message("no-profile", dla_request_name(r));
    return -EINVAL;
}

int dla_network_read(const dla_spec *spec, FILE *stream, const dla_nodes *nodes, dla_data *data,
                     matrix_error *error)
{
    matrix bandwidth;
    topo t;
    int rc;

    if (spec->topology != NULL) {
        rc = topo_read(stream, nodes->name, nodes->count, &t, error);
        if (rc != 0)
            return rc;
        rc = topo_levels(&t, &data->network.levels, &data->network.group_of_node);
        topo_release(&t);
        return rc;
    }
    rc = topo_read_bandwidth(stream, nodes->name, nodes->count, &bandwidth, error);
    if (rc != 0)
        return rc;
    rc = setmatch_network_from_bandwidth(&bandwidth, dla_spec_threshold(spec), &data->network);
    matrix_release(&bandwidth);
    return rc;
}

static int load_network(const dla_request *r, const dla_nodes *nodes, dla_data *data)
{
    const char *what = r->spec.topology != NULL ? "topology" : "matrix of bandwidths";
    matrix_error error = {0, "nothing was measured"};
    const char *path = r->spec.topology != NULL ? r->spec.topology : r->spec.bandwidth;
    FILE *stream;
    int rc;

    if (path == NULL)
        return 0;
    stream = open_input(r, what, path);
    if (stream == NULL)
        return -EINVAL;
    rc = dla_network_read(&r->spec, stream, nodes, data, &error);
    fclose(stream);
    return reject_contents(r, what, path, rc, &error);
}

int dla_request_load(const dla_request *r, size_t ranks, const dla_nodes *nodes, dla_data *data)
{
    int rc;

    memset(data, 0, sizeof *data);
    rc = load_view(r, ranks, &data->file);
    if (rc != 0)
        return rc;
    data->profile = (setmatch_profile){data->file.patterns, data->file.bytes};
    rc = load_network(r, nodes, data);
    if (rc != 0)
        dla_data_release(data);
    return rc;
}

void dla_data_release(dla_data *data)
{
    view_file_release(&data->file);
    setmatch_network_release(&data->network);
}

/* ---- the method ---- */

const setmatch_method *dla_spec_method(const dla_spec *spec)
{
    return &setmatch_methods[spec->choice[DLA_METHOD]];
}

setmatch_input dla_spec_input(const dla_spec *spec, const dla_data *data)
{
    return (setmatch_input){
        .view = &data->file.view,
        .network = &data->network,
        .threshold = dla_spec_threshold(spec),
        .refine = spec->choice[DLA_REFINE] == DLA_REFINE_ON,
        .profile = data->profile.calls > 0 ? &data->profile : NULL,
        .objective = (setmatch_objective)spec->choice[DLA_OBJECTIVE],
        .domains = (setmatch_domains)spec->choice[DLA_DOMAINS],
    };
}
