/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of a schedule in the statistics: everything that it takes to make the decision again. */
#include "fcoll_tatp.h"

/* A line has at most so many entries of C, hops and links each. */
#define MOST_ENTRIES 131072
/* Rows and columns of C where it has more even by node. */
#define MOST_GROUPS 128

static void begin_array(FILE *out, const char *key)
{
    fprintf(out, ", \"%s\": [", key);
}

static void put_sizes(FILE *out, const char *key, const size_t *value, size_t count)
{
    begin_array(out, key);
    tatp_put_sizes(out, value, count);
    fputc(']', out);
}

static void put_hosts(FILE *out, const tatp_nodes *where)
{
    begin_array(out, "hosts");
    for (size_t n = 0; n < where->nodes; n++) {
        fputs(n > 0 ? ",\"" : "\"", out);
        tatp_put_text(out, where->host[n]);
        fputc('"', out);
    }
    fputc(']', out);
}

static void put_triples(FILE *out, const char *key, const matrix *m)
{
    begin_array(out, key);
    for (size_t row = 0; row < m->rows; row++) {
        for (size_t k = m->row_start[row]; k < m->row_start[row + 1]; k++) {
            if (k > 0)
                fputc(',', out);
            tatp_put_number(out, (int64_t)row);
            fputc(',', out);
            tatp_put_number(out, (int64_t)m->col[k]);
            fputc(',', out);
            tatp_put_number(out, m->value[k]);
        }
    }
    fputc(']', out);
}

/* C with so many neighbouring nodes in a row and so many neighbouring domains in a column. */
typedef struct grouping {
    size_t nodes, domains;
} grouping;

static int sum_groups(const matrix *requests, const tatp_nodes *where, grouping by, matrix *sums)
{
    matrix_builder builder = {.rows = (where->nodes - 1) / by.nodes + 1,
                              .cols = (requests->cols - 1) / by.domains + 1};
    int rc = 0;
    for (size_t r = 0; r < requests->rows && rc == 0; r++) {
        for (size_t k = requests->row_start[r]; k < requests->row_start[r + 1] && rc == 0; k++)
            rc = matrix_builder_add(&builder, where->node_of_rank[r] / by.nodes,
                                    requests->col[k] / by.domains, requests->value[k]);
    }
    if (rc == 0)
        rc = matrix_builder_finish(&builder, sums);
    matrix_builder_clear(&builder);
    return rc;
}

static bool fits(const matrix *m)
{
    return m->row_start[m->rows] <= MOST_ENTRIES;
}

/* By rank, or else by node, or else by groups. */
static void put_requests(FILE *out, const matrix *requests, const tatp_nodes *where)
{
    matrix sums = {0};
    grouping by = {1, 1};
    if (fits(requests)) {
        fputs(", \"requests_by\": \"rank\"", out);
        put_triples(out, "requests", requests);
        return;
    }
    int rc = sum_groups(requests, where, by, &sums);
    if (rc == 0 && !fits(&sums)) {
        matrix_release(&sums);
        by = (grouping){(where->nodes - 1) / MOST_GROUPS + 1,
                        (requests->cols - 1) / MOST_GROUPS + 1};
        rc = sum_groups(requests, where, by, &sums);
    }
    if (rc == 0) {
        fprintf(out,
                ", \"requests_by\": \"node\", \"nodes_in_row\": %zu, \"domains_in_column\": %zu",
                by.nodes, by.domains);
        put_triples(out, "requests", &sums);
    }
    matrix_release(&sums);
}

/* With a tree its way from node to node is the number of hops. */
static void put_distances(FILE *out, const topo *t)
{
    fputs(", \"distances\": {\"source\": \"", out);
    tatp_put_text(out, t->places > 0 && NULL != t->source ? t->source
                                                          : "two hops between any two nodes");
    fputc('"', out);
    if (t->tree.vertices > 0 && t->tree.vertices <= MOST_ENTRIES) {
        put_sizes(out, "parent", t->tree.parent, t->tree.vertices);
        put_sizes(out, "cables", t->tree.width, t->tree.vertices);
    } else if (t->places > 0 && t->places <= MOST_ENTRIES / t->places) {
        put_sizes(out, "place_of_node", t->place_of_node, t->nodes);
        begin_array(out, "hops");
        for (size_t i = 0; i < t->places * t->places; i++)
            fprintf(out, i > 0 ? ",%d" : "%d", t->between[i]);
        fputc(']', out);
    }
    fputc('}', out);
}

void tatp_put_plan(FILE *out, const tatp_pass *pass)
{
    const tatp_nodes *where = &pass->module->where;
    const tatp_schedule *schedule = pass->schedule;
    size_t domains = schedule->domains.count;
    fprintf(out, "{\"solver\": \"%s\", \"per_node\": %zu", pass->module->settings.solver->name,
            plan_even_per_node(where->ranks_on_node, where->nodes, domains));
    put_hosts(out, where);
    put_sizes(out, "node_of_rank", where->node_of_rank, (size_t)pass->fh->f_size);
    begin_array(out, "rank_of_domain");
    for (size_t j = 0; j < domains; j++)
        fprintf(out, j > 0 ? ",%d" : "%d", schedule->decision.aggregator[j]);
    fputc(']', out);
    put_requests(out, &schedule->requests, where);
    if (NULL != schedule->blocks.row_start && fits(&schedule->blocks))
        put_triples(out, "blocks", &schedule->blocks);
    if (NULL != schedule->even_requests.row_start) {
        fprintf(out, ", \"even\": {\"count\": %zu", schedule->even_requests.cols);
        put_requests(out, &schedule->even_requests, where);
        fputc('}', out);
    }
    put_distances(out, &where->topology);
    fputc('}', out);
}
