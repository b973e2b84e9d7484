/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* vasprintf */
#include "dla/mapper.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dla/predict.h"

static void __attribute__((format(printf, 2, 3)))
show_line(const dla_mapping *m, const char *format, ...)
{
    va_list args;
    char *line = NULL;
    int length;

    va_start(args, format);
    length = vasprintf(&line, format, args);
    va_end(args);
    if (length < 0)
        return;
    m->show(line);
    free(line);
}

static void report_placement(const dla_mapping *m, const dla_request *r,
                             const setmatch_input *input, const dla_data *data)
{
    char before[DLA_REPORT_SIZE], after[DLA_REPORT_SIZE];

    if (!m->verbose || dla_report_format(input, data, m->by_slot, before) != 0 ||
        dla_report_format(input, data, m->node_of_rank, after) != 0)
        return;
    show_line(
        m,
        "rmaps:dla: job %s: %zu ranks on %zu nodes, %zu levels of switches, by %s, %s, threshold "
        "%u %%: weight inside nodes %s by slot, %s placed",
        m->name, m->job.ranks, m->job.nodes, input->network->levels, dla_request_name(r),
        dla_spec_method(&r->spec)->name, input->threshold, before, after);
}

/* Without an explicit request, no user waits for an explanation. */
static void report_stock(const dla_mapping *m, const dla_request *r, const setmatch_input *input,
                         const dla_data *data, const dla_benefit *benefit)
{
    char why[DLA_REPORT_SIZE];

    if (benefit->kept == DLA_STOCK_NONE || (r->record != NULL && !m->verbose))
        return;
    dla_benefit_format(benefit, input, data, why);
    show_line(m, "rmaps:dla: job %s: mapped %s", m->name, why);
}

/* Where no method is demanded: a stock mapping, unless the placement gains something. */
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

/* ---- by a request ---- */

static int place_by_record(const dla_mapping *m, const dla_request *r)
{
    bool is_automatic = r->record != NULL;
    const dla_nodes nodes = {m->node_name, m->job.nodes};
    dla_benefit benefit = {.kept = DLA_STOCK_NONE};
    dla_method method;
    dla_data data;
    int rc = dla_request_load(r, m->job.ranks, &nodes, &data);

    if (rc != 0)
        return rc;
    method = (dla_method){dla_spec_method(&r->spec)->place, dla_spec_input(&r->spec, &data)};
    method.input.nodes = m->job.nodes;
    method.input.load = dla_judge_load;
    method.input.load_context = &(dla_judge){&method.input, &data};
    rc = dla_place_by_method(&m->job, &method, m->by_slot, m->node_of_rank);
    if (rc == 0)
        rc = prefer_stock(m, r, &method.input, &data, &benefit);
    if (rc == 0 && is_automatic && (benefit.kept == DLA_STOCK_BY_SLOT || m->job.nodes < 2))
        rc = -ECANCELED; /* to be left to the stock mappers */
    if (rc == 0 || rc == -ECANCELED) {
        report_placement(m, r, &method.input, &data);
        report_stock(m, r, &method.input, &data, &benefit);
    }
    if (rc == 0)
        hand_over_view(m, r, &data.file);
    else if (!is_automatic)
        r->message("failed", dla_request_name(r), strerror(-rc));
    dla_data_release(&data);
    if (rc != 0)
        rc = is_automatic ? -ECANCELED : -EINVAL;
    return rc;
}

/* A damaged record makes way for the next one. */
static int place_automatically(const dla_mapping *m, const dla_request *r)
{
    dla_request found = *r;
    dla_automatic a;
    int rc = m->program == NULL ? -ENOENT : dla_automatic_open(&a, m->program, m->job.ranks);

    if (rc != 0 && m->verbose)
        show_line(m, "rmaps:dla: job %s: not placed: no record of it in the cache (%s)", m->name,
                  m->program == NULL ? "several programs" : cache_reason(rc));
    if (rc != 0)
        return -ECANCELED;
    found.spec.file = a.path;
    found.record = a.record;
    rc = place_by_record(m, &found);
    if (rc == -EBADMSG) {
        show_line(m, "rmaps:dla: job %s: not placed: %s is damaged, and removed", m->name, a.path);
        dla_automatic_remove(&a);
    }
    dla_automatic_close(&a);
    return rc == 0 || rc == -EINVAL ? rc : -ECANCELED;
}

static int place_by_request(const dla_mapping *m, const dla_request *r)
{
    int rc = dla_request_is_automatic(r) ? place_automatically(m, r) : place_by_record(m, r);

    if (rc == -ECANCELED)
        memcpy(m->node_of_rank, m->by_slot, m->job.ranks * sizeof *m->by_slot);
    return rc;
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
