/* SPDX-License-Identifier: BSD-3-Clause */
#include "dla/near.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dla/predict.h"
#include "setmatch/near.h"

typedef struct choosing {
    const setmatch_input *input;
    const dla_data *data;
    setmatch_servers servers;
    size_t *best, *trial, *stock;
    double load; /* of the best */
} choosing;

/* Two neighbours on different nodes cost the bytes of their regions at most, and nothing where
 * their regions are in different domains. Ways that keep groups of neighbours assume the former: a
 * unit of weight is as many bytes as the record has for it on the average. The way that starts at
 * the servers assumes little. */
enum { LITTLE = 16 };

/* By the former. */
static int weigh_bytes(choosing *c)
{
    int64_t inside, weight, bytes;
    int rc = setmatch_weight(c->input->view, c->best, &inside, &weight);

    if (rc == 0)
        rc = dla_recorded_bytes(&c->data->file, &bytes);
    if (rc == 0 && bytes > 0)
        c->servers.weight = (double)c->data->servers.known.weight *
                            (weight > 0 ? (double)weight / (double)bytes : 1.0);
    return rc;
}

/* From the placement that was given, not from the best one: the ways differ in what they change. */
static int try_way(choosing *c, const size_t *given, setmatch_near way)
{
    size_t ranks = c->input->view->rows;
    setmatch_servers servers = c->servers;
    double load;
    int rc;

    if (way == SETMATCH_NEAR_SERVERS)
        servers.weight *= LITTLE;
    memcpy(c->trial, given, ranks * sizeof *given);
    rc = setmatch_place_near(c->input, &servers, way, c->trial);
    if (rc != 0)
        return rc == 1 ? 0 : rc;
    rc = dla_load(c->input, c->data, c->trial, &load);
    if (rc == 0 && load < c->load) {
        memcpy(c->best, c->trial, ranks * sizeof *c->best);
        c->load = load;
    }
    return rc;
}

/* What suits file domains may be by slot or by node, on other nodes. */
static int try_stock(choosing *c, setmatch_method_fn place)
{
    int rc = place(c->input, c->stock);

    return rc == 0 ? try_way(c, c->stock, SETMATCH_NEAR_NODES) : rc;
}

static int try_ways(choosing *c, size_t *node_of_rank)
{
    size_t ranks = c->input->view->rows;
    int rc = dla_load(c->input, c->data, node_of_rank, &c->load);

    memcpy(c->best, node_of_rank, ranks * sizeof *c->best);
    if (rc == 0)
        rc = weigh_bytes(c);
    for (int way = 0; way < SETMATCH_NEAR_WAYS && rc == 0; way++)
        rc = try_way(c, node_of_rank, (setmatch_near)way);
    if (rc == 0)
        rc = try_stock(c, setmatch_byslot);
    if (rc == 0)
        rc = try_stock(c, setmatch_bynode);
    if (rc == 0)
        memcpy(node_of_rank, c->best, ranks * sizeof *c->best);
    return rc;
}

int dla_place_near(const setmatch_input *input, const dla_data *data, size_t *node_of_rank)
{
    const topo *t = &data->servers.topology;
    choosing c = {.input = input, .data = data};
    matrix bytes = {0};
    int rc = 0;

    if (!dla_knows_servers(data) || data->servers.known.weight == 0 || !input->refine)
        return 0;
    c.best = base_zeroed(input->view->rows, sizeof *c.best, &rc);
    c.trial = base_zeroed(input->view->rows, sizeof *c.trial, &rc);
    c.stock = base_zeroed(input->view->rows, sizeof *c.stock, &rc);
    if (rc == 0)
        rc = predict_stored(&data->servers.known, &data->file, t->nodes, &bytes);
    c.servers = (setmatch_servers){&bytes, {t->places, t->place_of_node, t->between}, 0};
    if (rc == 0 && matrix_entries(&bytes) > 0)
        rc = try_ways(&c, node_of_rank);
    matrix_release(&bytes);
    free(c.best);
    free(c.trial);
    free(c.stock);
    return rc;
}
