/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a placement is predicted to move between nodes (src/predict), and its benefit over the stock
 * mappings.
 *
 * Functions return 0; -ERANGE; -ENOMEM.
 */
#ifndef DLA_PREDICT_H
#define DLA_PREDICT_H

#include "dla/data.h"

/* A gain by less than this part is within the error of the prediction. */
#define DLA_LEAST_GAIN .02

typedef enum dla_stock {
    DLA_STOCK_NONE,
    DLA_STOCK_BY_SLOT,
    DLA_STOCK_BY_NODE,
    DLA_STOCKS
} dla_stock;

/* The load of all links, those of nodes and, with a network, of groups of nodes: predicted bytes
 * or, where the record does not contain these, the weight of the view between nodes and groups. 0
 * on one node. */
typedef struct dla_benefit {
    double by_slot, placed; /* the latter of the result */
    dla_stock kept;         /* instead of the placement; DLA_STOCK_NONE: none */
} dla_benefit;

/* A placement by data (dla_place) and the stock mappings that it competes with, in one block: the
 * nodes of the ranks. */
typedef struct dla_placement {
    const dla_data *data;
    setmatch_profile profile;
    setmatch_input input; /* points into this struct, and into `data` */
    size_t *by_slot, *by_node, *node_of_rank;
    dla_benefit benefit;
} dla_placement;

/* Whether the record contains what is moved: by a profile, or because no call had aggregators. */
bool dla_has_bytes(const view_file *file);

/* Bytes of the recorded calls, and those accessed without aggregators, which leave no node. */
int dla_recorded_bytes(const view_file *file, int64_t *bytes);

/* crossing[0]: bytes that leave their nodes, crossing[k]: their groups of nodes of level k - 1 of
 * the network. The mapping may be any, as in the functions below. */
int dla_predict(const dla_placement *p, const size_t *node_of_rank, int64_t *crossing);

/* Sets the load of all links; for setmatch_input, whose context is the placement. */
int dla_load(const void *placement, const size_t *node_of_rank, double *load);

/* Sets the benefit. may_keep: replaces node_of_rank by the better stock mapping, by slot where both
 * are equal, unless it loads the links less than that by DLA_LEAST_GAIN at least. */
int dla_compare(dla_placement *p, bool may_keep);

#define DLA_REPORT_SIZE 512

/* What a placement by a record or grid of that name is worth, as text: "placed by view.crs: 33.6 MB
 * between nodes -> 0", the mapping by slot and what came of it; or "not placed by ...", and why. */
void dla_benefit_format(const dla_placement *p, const char *name, char text[DLA_REPORT_SIZE]);

/* A mapping as text: "WEIGHT of TOTAL" inside nodes and, where the record contains them, the bytes
 * that leave their nodes and their groups of nodes. */
int dla_report_format(const dla_placement *p, const size_t *node_of_rank,
                      char text[DLA_REPORT_SIZE]);

#endif
