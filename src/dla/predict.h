/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a placement is predicted to move between nodes (src/predict), and its benefit over the stock
 * mappings.
 *
 * Functions return 0; -EINVAL: the profile has another number of ranks; -ERANGE; -ENOMEM.
 */
#ifndef DLA_PREDICT_H
#define DLA_PREDICT_H

#include "dla/data.h"
#include "predict/predict.h"

/* Whether the record contains what is moved: by a profile, or because no call had aggregators. */
bool dla_has_bytes(const view_file *file);

/* Bytes of the recorded calls, and those accessed without aggregators, which leave no node. */
int dla_recorded_bytes(const view_file *file, int64_t *bytes);

/* crossing[0]: bytes that leave their nodes, crossing[k]: their groups of nodes of level k - 1 of
 * the network. Uses nodes and network of the input. */
int dla_predict(const setmatch_input *input, const dla_data *data, const size_t *node_of_rank,
                int64_t *crossing);

/* For the input of a method, so that it compares candidates by what they load: input.load =
 * dla_judge_load, and a dla_judge, of the same input, as context. */
typedef struct dla_judge {
    const setmatch_input *input;
    const dla_data *data;
} dla_judge;
int dla_judge_load(const void *judge, const size_t *node_of_rank, double *load);

/* A gain by less than this part is within the error of the prediction. */
#define DLA_LEAST_GAIN .02

typedef enum dla_stock { DLA_STOCK_NONE, DLA_STOCK_BY_SLOT, DLA_STOCK_BY_NODE } dla_stock;

/* The load of all links, those of nodes and, with a network, of groups of nodes: predicted bytes
 * or, where the record does not contain these, the weight of the view between nodes and groups. */
typedef struct dla_benefit {
    double by_slot;
    double stock, placed; /* of the better stock mapping, by slot where both are equal; of the
                             placement, not determined where `stock` is 0 */
    dla_stock kept;       /* instead of the placement; DLA_STOCK_NONE: none */
} dla_benefit;

/* Whether a stock mapping may be kept: neither a method nor the objective "neighbours" is demanded,
 * and there are several nodes. */
bool dla_may_keep_stock(const dla_spec *spec, size_t nodes);

/* Replaces node_of_rank by the better stock mapping, unless it loads the links less than that by
 * DLA_LEAST_GAIN at least. */
int dla_keep_stock(const setmatch_input *input, const dla_data *data, const size_t *by_slot,
                   const size_t *by_node, size_t *node_of_rank, dla_benefit *benefit);

/* Of a placement that is demanded: by_slot and placed. */
int dla_measure(const setmatch_input *input, const dla_data *data, const size_t *by_slot,
                const size_t *node_of_rank, dla_benefit *benefit);

#define DLA_REPORT_SIZE 512

/* What a placement by a record or grid of that name is worth, as text: "placed by view.crs: 33.6 MB
 * between nodes -> 0", the mapping by slot and what came of it; or "not placed by ...", and why. */
void dla_benefit_format(const dla_benefit *benefit, const setmatch_input *input,
                        const dla_data *data, const char *name, char text[DLA_REPORT_SIZE]);

/* A placement as text: "WEIGHT of TOTAL" inside nodes and, where the record contains them, the
 * bytes that leave their nodes and their groups of nodes. */
int dla_report_format(const setmatch_input *input, const dla_data *data, const size_t *node_of_rank,
                      char text[DLA_REPORT_SIZE]);

#endif
