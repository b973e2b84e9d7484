/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the request and its view matrix, and refuses what cannot be used.
 */
#include "rmaps_dla_request.h"

#include <errno.h>
#include <stdio.h>
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

static int add_threshold_parameter(dla_spec *spec)
{
    int threshold = mca_rmaps_dla_component.threshold;
    char text[32];

    if (0 > threshold || 100 < threshold) {
        snprintf(text, sizeof(text), "%d", threshold);
        RMAPS_DLA_REFUSE("bad-parameter", "rmaps_dla_threshold", text,
               "it is not a whole number of per cent from 0 to 100");
        return ORTE_ERR_SILENT;
    }
    spec->has_threshold = true;
    spec->threshold = (unsigned) threshold;
    return ORTE_SUCCESS;
}

static int add_method_parameter(dla_spec *spec)
{
    const char *name = mca_rmaps_dla_component.method;
    char reason[DLA_SPEC_REASON_SIZE];

    spec->method = dla_spec_find_method(name, reason);
    if (NULL == spec->method) {
        RMAPS_DLA_REFUSE("bad-parameter", "rmaps_dla_method", name, reason);
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}

static int add_cart_parameter(dla_spec *spec)
{
    const char *cart = mca_rmaps_dla_component.cart;
    char reason[DLA_SPEC_REASON_SIZE];

    if (0 != dla_spec_parse_cart(cart, spec->dims, &spec->ndims, reason)) {
        RMAPS_DLA_REFUSE("bad-parameter", "rmaps_dla_cart", cart, reason);
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}

static int add_parameters(dla_spec *spec)
{
    const orte_rmaps_dla_component_t *c = &mca_rmaps_dla_component;
    int rc = ORTE_SUCCESS;

    if (NULL == spec->file && NULL != c->file && NULL == (spec->file = strdup(c->file))) {
        rc = ORTE_ERR_OUT_OF_RESOURCE;
    }
    if (ORTE_SUCCESS == rc && !spec->has_threshold) {
        rc = add_threshold_parameter(spec);
    }
    if (ORTE_SUCCESS == rc && NULL == spec->method) {
        rc = add_method_parameter(spec);
    }
    if (!spec->has_refine) {
        spec->refine = true;
    }
    if (ORTE_SUCCESS == rc && 0 == spec->ndims && NULL != c->cart) {
        rc = add_cart_parameter(spec);
    }
    return rc;
}

static void show_cart(dla_request *r)
{
    size_t used = 0;

    for (size_t i = 0; i < r->spec.ndims && used < sizeof(r->cart); i++) {
        used += (size_t) snprintf(r->cart + used, sizeof(r->cart) - used, "%s%zu",
                                  0 == i ? "" : "x", r->spec.dims[i]);
    }
}

int dla_request_read(dla_request *r)
{
    int rc = ORTE_SUCCESS;

    memset(r, 0, sizeof(*r));
    if (NULL != mca_rmaps_dla_component.map_by) {
        rc = read_map_by(mca_rmaps_dla_component.map_by, &r->spec);
    }
    if (ORTE_SUCCESS == rc) {
        rc = add_parameters(&r->spec);
    }
    if (ORTE_SUCCESS == rc && NULL == r->spec.file && 0 == r->spec.ndims) {
        RMAPS_DLA_REFUSE("nothing-to-place-by", orte_basename, orte_basename);
        rc = ORTE_ERR_SILENT;
    }
    if (ORTE_SUCCESS != rc) {
        dla_spec_release(&r->spec);
    }
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

/* ---- the view matrix ---- */

/* A FIFO would block, and a folder opens but does not read: only files are opened. */
static FILE *open_view(const char *path)
{
    const char *cause = NULL;
    FILE *stream = NULL;
    struct stat status;

    if (0 != stat(path, &status)) {
        cause = strerror(errno);
    } else if (!S_ISREG(status.st_mode)) {
        cause = S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file";
    } else if (NULL == (stream = fopen(path, "r"))) {
        cause = strerror(errno);
    }
    if (NULL == stream) {
        RMAPS_DLA_REFUSE("unreadable-view", path, cause);
    }
    return stream;
}

static int parse_view(FILE *stream, const char *path, matrix *view)
{
    matrix_error error;
    int rc = matrix_read_fileview(stream, view, &error);

    if (-ENOMEM == rc) {
        return ORTE_ERR_OUT_OF_RESOURCE;
    }
    if (0 != rc) {
        char line[32] = "";

        if (0 != error.line) {
            snprintf(line, sizeof(line), ", line %zu", error.line);
        }
        RMAPS_DLA_REFUSE("bad-view", path, line, error.reason);
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}

static int read_view(const char *path, size_t ranks, matrix *view)
{
    FILE *stream = open_view(path);
    int rc;

    if (NULL == stream) {
        return ORTE_ERR_SILENT;
    }
    rc = parse_view(stream, path, view);
    fclose(stream);
    if (ORTE_SUCCESS == rc && view->rows != ranks) {
        RMAPS_DLA_REFUSE("wrong-size", path, view->rows, ranks);
        matrix_release(view);
        rc = ORTE_ERR_SILENT;
    }
    return rc;
}

static int check_cart(const dla_request *r, size_t ranks)
{
    size_t product = 1;

    for (size_t i = 0; i < r->spec.ndims; i++) {
        product *= r->spec.dims[i];
    }
    if (0 != r->spec.ndims && product != ranks) {
        RMAPS_DLA_REFUSE("wrong-cart", r->cart, product, ranks);
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}

int dla_request_view(const dla_request *r, size_t ranks, matrix *view)
{
    int rc = check_cart(r, ranks);

    if (ORTE_SUCCESS != rc) {
        return rc;
    }
    if (NULL != r->spec.file) {
        return read_view(r->spec.file, ranks, view);
    }
    rc = setmatch_cartesian(r->spec.dims, r->spec.ndims, view);
    if (0 != rc) {
        RMAPS_DLA_REFUSE("failed", r->cart, strerror(-rc));
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}
