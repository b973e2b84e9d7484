/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Predicted bytes between nodes, and the benefit over the stock mappings.
 */
#include "dla/predict.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

bool dla_has_bytes(const view_file *file)
{
    return file->patterns > 0 || view_file_independent(file) > 0;
}

int dla_recorded_bytes(const view_file *file, int64_t *bytes)
{
    int64_t sum = view_file_independent(file), one;

    for (size_t k = 0; k < file->patterns; k++)
        if (matrix_sum(&file->bytes[k], &one) != 0 || __builtin_add_overflow(sum, one, &sum))
            return -ERANGE;
    *bytes = sum;
    return 0;
}

int dla_predict(const setmatch_input *input, const dla_data *data, const size_t *node_of_rank,
                int64_t *crossing)
{
    const setmatch_network *network = input->network;
    topo topology = {0};
    const predict_job job = {
        .ranks = input->view->rows,
        .node_of_rank = node_of_rank,
        .topology = &topology,
    };
    int rc = topo_from_levels(&topology, input->nodes, network->levels, network->group_of_node);

    if (rc == 0)
        rc = predict_crossing(&job, &data->file, network->levels, network->group_of_node, crossing);
    topo_release(&topology);
    return rc;
}

/* ---- stock mappings ---- */

bool dla_may_keep_stock(const dla_spec *spec, size_t nodes)
{
    return nodes > 1 && setmatch_auto == dla_spec_method(spec)->place &&
           spec->choice[DLA_OBJECTIVE] != SETMATCH_OBJECTIVE_NEIGHBOURS;
}

static int sum_crossing(const setmatch_input *input, const dla_data *data,
                        const size_t *node_of_rank, double *load)
{
    size_t levels = input->network->levels;
    int64_t *crossing = calloc(levels + 1, sizeof *crossing);
    int rc = crossing == NULL ? -ENOMEM : dla_predict(input, data, node_of_rank, crossing);

    *load = 0.0;
    for (size_t k = 0; rc == 0 && k <= levels; k++)
        *load += (double)crossing[k];
    free(crossing);
    return rc;
}

/* The sum of V / P where P is infinite within a node, and 1 / k where k links are crossed. */
static int sum_weight(const setmatch_input *input, const size_t *node_of_rank, double *load)
{
    setmatch_network network = *input->network;
    setmatch_input counted = *input;
    int rc;

    network.bandwidth = calloc(network.levels + 2, sizeof *network.bandwidth);
    if (network.bandwidth == NULL)
        return -ENOMEM;
    network.bandwidth[0] = (double)INFINITY;
    for (size_t k = 1; k < network.levels + 2; k++)
        network.bandwidth[k] = 1.0 / (double)k;
    counted.network = &network;
    rc = setmatch_cost(&counted, node_of_rank, load);
    free(network.bandwidth);
    return rc;
}

/* See dla_benefit. */
static int sum_load(const setmatch_input *input, const dla_data *data, const size_t *node_of_rank,
                    double *load)
{
    return dla_has_bytes(&data->file) ? sum_crossing(input, data, node_of_rank, load)
                                      : sum_weight(input, node_of_rank, load);
}

int dla_judge_load(const void *judge, const size_t *node_of_rank, double *load)
{
    const dla_judge *j = judge;

    return sum_load(j->input, j->data, node_of_rank, load);
}

int dla_keep_stock(const setmatch_input *input, const dla_data *data, const size_t *by_slot,
                   const size_t *by_node, size_t *node_of_rank, dla_benefit *benefit)
{
    dla_benefit found = {.kept = DLA_STOCK_BY_SLOT};
    double node = 0.0;
    int rc = sum_load(input, data, by_slot, &found.by_slot);

    found.stock = found.by_slot;
    if (rc == 0 && found.stock > 0.0)
        rc = sum_load(input, data, by_node, &node);
    if (rc == 0 && node < found.stock) {
        found.kept = DLA_STOCK_BY_NODE;
        found.stock = node;
    }
    if (rc == 0 && found.stock > 0.0)
        rc = sum_load(input, data, node_of_rank, &found.placed);
    if (rc != 0)
        return rc;
    if (found.stock > 0.0 && found.placed <= (1.0 - DLA_LEAST_GAIN) * found.stock)
        found.kept = DLA_STOCK_NONE;
    if (found.kept != DLA_STOCK_NONE)
        memcpy(node_of_rank, found.kept == DLA_STOCK_BY_SLOT ? by_slot : by_node,
               input->view->rows * sizeof(*by_slot));
    *benefit = found;
    return 0;
}

int dla_measure(const setmatch_input *input, const dla_data *data, const size_t *by_slot,
                const size_t *node_of_rank, dla_benefit *benefit)
{
    dla_benefit found = {.kept = DLA_STOCK_NONE};
    int rc = input->nodes < 2 ? 0 : sum_load(input, data, by_slot, &found.by_slot);

    if (rc == 0 && input->nodes > 1)
        rc = sum_load(input, data, node_of_rank, &found.placed);
    if (rc == 0)
        *benefit = found;
    return rc;
}

/* Bytes with a unit, or a weight. */
static void format_load(double load, bool is_bytes, char text[32])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    size_t unit = 0;

    while (is_bytes && load >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        load /= 1000.0;
        unit++;
    }
    snprintf(text, 32, is_bytes ? "%.3g" : "%.15g", load);
    if (is_bytes && load > 0.0)
        snprintf(text + strlen(text), 32 - strlen(text), " %s", units[unit]);
}

void dla_benefit_format(const dla_benefit *benefit, const setmatch_input *input,
                        const dla_data *data, const char *name, char text[DLA_REPORT_SIZE])
{
    bool is_bytes = dla_has_bytes(&data->file), is_kept = benefit->kept != DLA_STOCK_NONE;
    const char *where = input->network->levels > 0 ? "over links" : "between nodes";
    const char *unit = is_bytes ? "" : "weight ";
    char shown[256], before[32], after[32];

    base_escape(shown, sizeof shown, name);
    format_load(benefit->by_slot, is_bytes, before);
    format_load(is_kept ? benefit->stock : benefit->placed, is_bytes, after);
    if (input->nodes < 2)
        snprintf(text, DLA_REPORT_SIZE, "not placed by %s: there is one node only", shown);
    else if (benefit->kept != DLA_STOCK_BY_SLOT)
        snprintf(text, DLA_REPORT_SIZE, "placed by %s%s: %s%s %s -> %s", shown,
                 is_kept ? " (by node)" : "", unit, before, where, after);
    else if (benefit->stock > 0.0)
        snprintf(text, DLA_REPORT_SIZE,
                 "not placed by %s: %s%s %s stay%s, a placement saves less than %.0f %%", shown,
                 unit, before, where, is_bytes ? "" : "s", 100.0 * DLA_LEAST_GAIN);
    else
        snprintf(text, DLA_REPORT_SIZE, "not placed by %s: no %s %s", shown,
                 is_bytes ? "bytes" : "weight", where);
}

/* ---- report ---- */

static int format_crossing(const setmatch_input *input, const dla_data *data,
                           const size_t *node_of_rank, char *text, size_t size)
{
    size_t levels = input->network->levels, used = 0;
    int64_t *crossing = calloc(levels + 1, sizeof *crossing), bytes = 0;
    int rc = crossing == NULL ? -ENOMEM : dla_recorded_bytes(&data->file, &bytes);

    if (rc == 0)
        rc = dla_predict(input, data, node_of_rank, crossing);
    if (rc == 0)
        used = (size_t)snprintf(text, size, " (%" PRId64 " of %" PRId64 " bytes leave their nodes",
                                crossing[0], bytes);
    for (size_t k = 1; rc == 0 && k <= levels && used < size; k++) {
        used += (size_t)snprintf(text + used, size - used,
                                 ", %" PRId64 " their groups of level %zu", crossing[k], k);
    }
    if (rc == 0 && used < size)
        snprintf(text + used, size - used, ")");
    free(crossing);
    return rc;
}

int dla_report_format(const setmatch_input *input, const dla_data *data, const size_t *node_of_rank,
                      char text[DLA_REPORT_SIZE])
{
    int64_t inside, total;
    size_t used;
    int rc = setmatch_weight(input->view, node_of_rank, &inside, &total);

    if (rc != 0)
        return rc;
    used = (size_t)snprintf(text, DLA_REPORT_SIZE, "%" PRId64 " of %" PRId64, inside, total);
    return dla_has_bytes(&data->file)
               ? format_crossing(input, data, node_of_rank, text + used, DLA_REPORT_SIZE - used)
               : 0;
}
