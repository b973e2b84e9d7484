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
#include "predict/predict.h"

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

int dla_predict(const dla_placement *p, const size_t *node_of_rank, int64_t *crossing)
{
    const setmatch_network *network = &p->data->network;
    const predict_job job = {p->data->file.view.rows, node_of_rank, &p->data->topology};
    return predict_crossing(&job, &p->data->file, network->levels, network->group_of_node,
                            crossing);
}

/* ---- stock mappings ---- */

static int sum_crossing(const dla_placement *p, const size_t *node_of_rank, double *load)
{
    size_t levels = p->data->network.levels;
    int64_t *crossing = calloc(levels + 1, sizeof *crossing);
    int rc = crossing == NULL ? -ENOMEM : dla_predict(p, node_of_rank, crossing);
    *load = 0.0;
    for (size_t k = 0; rc == 0 && k <= levels; k++)
        *load += (double)crossing[k];
    free(crossing);
    return rc;
}

/* The sum of V / P where P is infinite within a node, and 1 / k where k links are crossed. */
static int sum_weight(const dla_placement *p, const size_t *node_of_rank, double *load)
{
    setmatch_network network = p->data->network;
    setmatch_input counted = p->input;
    network.bandwidth = calloc(network.levels + 2, sizeof *network.bandwidth);
    if (network.bandwidth == NULL)
        return -ENOMEM;
    network.bandwidth[0] = (double)INFINITY;
    for (size_t k = 1; k < network.levels + 2; k++)
        network.bandwidth[k] = 1.0 / (double)k;
    counted.network = &network;
    *load = setmatch_cost(&counted, node_of_rank);
    free(network.bandwidth);
    return 0;
}

int dla_load(const void *placement, const size_t *node_of_rank, double *load)
{
    const dla_placement *p = placement;
    return dla_has_bytes(&p->data->file) ? sum_crossing(p, node_of_rank, load)
                                         : sum_weight(p, node_of_rank, load);
}

int dla_compare(dla_placement *p, bool may_keep)
{
    size_t *const mapping[DLA_STOCKS] = {p->node_of_rank, p->by_slot, p->by_node};
    double load[DLA_STOCKS] = {0.0};
    dla_stock kept = DLA_STOCK_BY_SLOT;
    int rc = 0;
    for (int i = 0; rc == 0 && i < DLA_STOCKS && p->input.nodes > 1; i++)
        rc = dla_load(p, mapping[i], &load[i]);
    if (rc != 0)
        return rc;
    if (load[DLA_STOCK_BY_NODE] < load[DLA_STOCK_BY_SLOT])
        kept = DLA_STOCK_BY_NODE;
    if (!may_keep ||
        (load[kept] > 0.0 && load[DLA_STOCK_NONE] <= (1.0 - DLA_LEAST_GAIN) * load[kept]))
        kept = DLA_STOCK_NONE;
    memmove(p->node_of_rank, mapping[kept], p->data->file.view.rows * sizeof **mapping);
    p->benefit = (dla_benefit){load[DLA_STOCK_BY_SLOT], load[kept], kept};
    return 0;
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

void dla_benefit_format(const dla_placement *p, const char *name, char text[DLA_REPORT_SIZE])
{
    bool is_bytes = dla_has_bytes(&p->data->file);
    const char *where = p->data->network.levels > 0 ? "over links" : "between nodes";
    const char *unit = is_bytes ? "" : "weight ";
    char shown[256], before[32], after[32];
    base_escape(shown, sizeof shown, name);
    format_load(p->benefit.by_slot, is_bytes, before);
    format_load(p->benefit.placed, is_bytes, after);
    if (p->input.nodes < 2)
        snprintf(text, DLA_REPORT_SIZE, "not placed by %s: there is one node only", shown);
    else if (p->benefit.kept != DLA_STOCK_BY_SLOT)
        snprintf(text, DLA_REPORT_SIZE, "placed by %s%s: %s%s %s -> %s", shown,
                 p->benefit.kept == DLA_STOCK_BY_NODE ? " (by node)" : "", unit, before, where,
                 after);
    else if (p->benefit.by_slot > 0.0)
        snprintf(text, DLA_REPORT_SIZE,
                 "not placed by %s: %s%s %s stay%s, a placement saves less than %.0f %%", shown,
                 unit, before, where, is_bytes ? "" : "s", 100.0 * DLA_LEAST_GAIN);
    else
        snprintf(text, DLA_REPORT_SIZE, "not placed by %s: no %s %s", shown,
                 is_bytes ? "bytes" : "weight", where);
}

/* ---- report ---- */

static int format_crossing(const dla_placement *p, const size_t *node_of_rank, char *text,
                           size_t size)
{
    size_t levels = p->data->network.levels, used = 0;
    int64_t *crossing = calloc(levels + 1, sizeof *crossing), bytes = 0;
    int rc = crossing == NULL ? -ENOMEM : dla_recorded_bytes(&p->data->file, &bytes);
    if (rc == 0)
        rc = dla_predict(p, node_of_rank, crossing);
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

int dla_report_format(const dla_placement *p, const size_t *node_of_rank,
                      char text[DLA_REPORT_SIZE])
{
    int64_t inside, total;
    int rc = setmatch_weight(&p->data->file.view, node_of_rank, &inside, &total);
    if (rc != 0)
        return rc;
    size_t used = (size_t)snprintf(text, DLA_REPORT_SIZE, "%" PRId64 " of %" PRId64, inside, total);
    return dla_has_bytes(&p->data->file)
               ? format_crossing(p, node_of_rank, text + used, DLA_REPORT_SIZE - used)
               : 0;
}
