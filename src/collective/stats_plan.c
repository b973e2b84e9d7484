/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan in a line of the statistics: all that is needed to make the same decision again. */
#include "collective/stats_internal.h"

/* Entries of C, hops and links that a line has at most, each. */
#define MAX_ENTRIES 131072
static void put_entries(json_writer *w, const char *key, const matrix *m)
{
    json_begin_array(w, key);
    for (size_t row = 0; row < m->rows; row++) {
        for (size_t k = m->row_start[row]; k < m->row_start[row + 1]; k++) {
            json_put_size(w, NULL, row);
            json_put_size(w, NULL, m->col[k]);
            json_put_int64(w, NULL, m->value[k]);
        }
    }
    json_end_array(w);
}

static bool is_short(const matrix *m)
{
    return m->row_start[m->rows] <= MAX_ENTRIES;
}

/* Writes them by rank, or else by node; nothing if those are too many, too, or memory is exhausted.
 */
static void put_requests(json_writer *w, const matrix *requests, const coll_nodes *nodes)
{
    matrix sums = {0};
    if (is_short(requests)) {
        json_put_string(w, "requests_by", "rank");
        put_entries(w, "requests", requests);
    } else if (matrix_sum_rows(&sums, requests, nodes->node_of_rank, nodes->count) == 0 &&
               is_short(&sums)) {
        json_put_string(w, "requests_by", "node");
        put_entries(w, "requests", &sums);
    }
    matrix_release(&sums);
}

/* The path between two nodes of a tree has as many links as there are hops. */
static void put_distances(json_writer *w, const topo *t)
{
    bool known = t->places > 0 && t->source != NULL;
    json_begin_object(w, "distances");
    json_put_string(w, "source", known ? t->source : "two hops between any two nodes");
    if (t->tree.vertices > 0 && t->tree.vertices <= MAX_ENTRIES) {
        json_put_sizes(w, "parent", t->tree.parent, t->tree.vertices);
        json_put_sizes(w, "cables", t->tree.width, t->tree.vertices);
    } else if (t->places > 0 && t->places <= MAX_ENTRIES / t->places) {
        json_put_sizes(w, "place_of_node", t->place_of_node, t->nodes);
        json_begin_array(w, "hops");
        for (size_t i = 0; i < t->places * t->places; i++)
            json_put_int64(w, NULL, t->between[i]);
        json_end_array(w);
    }
    json_end_object(w);
}

void coll_stats_put_plan(json_writer *w, const coll_observed *access)
{
    const coll_nodes *nodes = access->nodes;
    const coll_plan *plan = access->plan;
    const matrix *blocks = &plan->draft.c.blocks, *even = &plan->even_requests;
    json_begin_object(w, "plan");
    json_put_size(w, "per_node", plan->draft.per_node);
    json_put_int64(w, "message_size", plan->layout.message_size);
    json_begin_array(w, "hosts");
    for (size_t n = 0; n < nodes->count; n++)
        json_put_string(w, NULL, nodes->host[n]);
    json_end_array(w);
    json_put_sizes(w, "node_of_rank", nodes->node_of_rank, (size_t)access->group->size);
    json_put_ints(w, "rank_of_domain", plan->layout.aggregator, plan->layout.domains->count);
    put_requests(w, &plan->draft.c.requests, nodes);
    if (blocks->row_start != NULL && is_short(blocks))
        put_entries(w, "blocks", blocks);
    if (even->row_start != NULL) {
        json_begin_object(w, "even");
        json_put_size(w, "count", even->cols);
        put_requests(w, even, nodes);
        json_end_object(w);
    }
    put_distances(w, &nodes->topology);
    json_end_object(w);
}
