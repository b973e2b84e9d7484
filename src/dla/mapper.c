/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf */
#include "dla/mapper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dla/near.h"
#include "dla/predict.h"

static void show_line(const dla_mapping *m, int length, char *line)
{
    if (length < 0)
        return;
    m->show(line);
    free(line);
}

static void report_placement(const dla_mapping *m, const dla_request *r,
                             const setmatch_input *input, const dla_data *data)
{
    char before[DLA_REPORT_SIZE], after[DLA_REPORT_SIZE];
    char *line = NULL;
    int length;

    if (!m->verbose || dla_report_format(input, data, m->by_slot, before) != 0 ||
        dla_report_format(input, data, m->node_of_rank, after) != 0)
        return;
    length = asprintf(
        &line,
        "rmaps:dla: job %s: %zu ranks on %zu nodes, %zu levels of switches, by %s, %s, threshold "
        "%u %%: weight inside nodes %s by slot, %s placed",
        m->name, m->job.ranks, m->job.nodes, input->network->levels, dla_request_name(r),
        dla_spec_method(&r->spec)->name, input->threshold, before, after);
    show_line(m, length, line);
}

static void report_stock(const dla_mapping *m, const setmatch_input *input, const dla_data *data,
                         const dla_benefit *benefit)
{
    char why[DLA_REPORT_SIZE];
    char *line = NULL;
    int length;

    if (benefit->kept == DLA_STOCK_NONE)
        return;
    dla_benefit_format(benefit, input, data, why);
    length = asprintf(&line, "rmaps:dla: job %s: mapped %s", m->name, why);
    show_line(m, length, line);
}

/* Where nobody demands a method, and all apps have the same nodes: nearer to storage servers. */
static int move_near(const dla_mapping *m, const dla_request *r, const setmatch_input *input,
                     const dla_data *data)
{
    setmatch_input with_slots = *input;
    size_t *slots;
    int rc;

    if (!dla_knows_servers(data) || setmatch_auto != dla_spec_method(&r->spec)->place)
        return 0;
    slots = calloc(m->job.nodes + 1, sizeof *slots);
    rc = slots == NULL ? -ENOMEM : dla_common_slots(&m->job, m->by_slot, slots);
    with_slots.slots = slots;
    if (rc == 0)
        rc = dla_place_near(&with_slots, data, m->node_of_rank);
    free(slots);
    return rc == 1 ? 0 : rc;
}

/* Where nobody demands a method: a stock mapping, unless the placement gains something. */
static int prefer_stock(const dla_mapping *m, const dla_request *r, const setmatch_input *input,
                        const dla_data *data, dla_benefit *benefit)
{
    const dla_method by_node = {setmatch_bynode, *input};
    size_t *node;
    int rc;

    if (!dla_may_keep_stock(&r->spec, m->job.nodes))
        return 0;
    node = calloc(m->job.ranks + 1, sizeof *node);
    rc = node == NULL ? -ENOMEM : dla_place_by_method(&m->job, &by_node, m->by_slot, node);
    if (rc == 0)
        rc = dla_keep_stock(input, data, m->by_slot, node, m->node_of_rank, benefit);
    free(node);
    return rc;
}

/* To those who arrange the ranks of each node, once these are bound. */
static void hand_over_view(const dla_mapping *m, const dla_request *r, view_file *file)
{
    if ((int)r->spec.choice[DLA_NUMA] == DLA_NUMA_OFF)
        return;
    *m->view = file->view;
    file->view = (matrix){0};
}

static int place_by_request(const dla_mapping *m, const dla_request *r)
{
    const dla_nodes nodes = {m->node_name, m->job.nodes};
    dla_benefit benefit = {.kept = DLA_STOCK_NONE};
    dla_method method;
    dla_data data;
    int rc = dla_request_load(r, m->job.ranks, &nodes, &data);

    if (rc != 0)
        return rc;
    method = (dla_method){dla_spec_method(&r->spec)->place, dla_spec_input(&r->spec, &data)};
    method.input.nodes = m->job.nodes;
    rc = dla_place_by_method(&m->job, &method, m->by_slot, m->node_of_rank);
    if (rc == 0)
        rc = move_near(m, r, &method.input, &data);
    if (rc == 0)
        rc = prefer_stock(m, r, &method.input, &data, &benefit);
    if (rc == 0) {
        report_placement(m, r, &method.input, &data);
        report_stock(m, &method.input, &data, &benefit);
        hand_over_view(m, r, &data.file);
    } else {
        r->message("failed", dla_request_name(r), strerror(-rc));
    }
    dla_data_release(&data);
    return rc == 0 ? 0 : -EINVAL;
}

int dla_mapping_place(const dla_mapping *m, const dla_request *r, size_t *app)
{
    int rc = dla_place_by_slot(&m->job, m->by_slot, app);

    if (rc == 0 && r != NULL)
        rc = place_by_request(m, r);
    else if (rc == 0)
        memcpy(m->node_of_rank, m->by_slot, m->job.ranks * sizeof *m->by_slot);
    return rc;
}
