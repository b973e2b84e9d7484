/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp plan --view: the recorded calls of a view file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "predict/predict.h"
#include "table.h"
#include "tatp_problem.h"
#include "tool.h"
#include "tool_json.h"

typedef struct recorded {
    view_file file;
    tatp_network network;
    plan_draft *calls; /* by pattern of the file */
} recorded;

static void predict_view(recorded *view, const tatp_problem_options *options)
{
    *view = (recorded){.calls = NULL};
    tool_read_view(options->view, &view->file);
    tatp_network_read(&options->network, options->view, view->file.view.rows, &view->network);
    view->calls = tool_allocate(view->file.patterns, sizeof *view->calls);
    const predict_job job = {.ranks = view->file.view.rows,
                             .node_of_rank = view->network.node_of_rank,
                             .topology = &view->network.topology};
    for (size_t k = 0; k < view->file.patterns; k++) {
        int rc = predict_calls(&job, &view->file.pattern[k], &view->file.bytes[k], &view->calls[k]);
        if (rc != 0)
            exit(tool_fail("%s: %s", options->view, strerror(-rc)));
    }
}

static void release_view(recorded *view)
{
    for (size_t k = 0; k < view->file.patterns; k++)
        plan_draft_release(&view->calls[k]);
    free(view->calls);
    view_file_release(&view->file);
    tatp_network_release(&view->network);
}

static int64_t bytes_of(const recorded *view, size_t k)
{
    int64_t bytes = 0;
    (void)matrix_sum(&view->file.bytes[k], &bytes); /* predict_calls has refused a larger sum */
    return bytes;
}

static plan_report assess(const plan_input *in, const plan_draft *p)
{
    plan_report report = {0};
    int rc = p->rank_of_domain != NULL ? plan_assess(in, p->rank_of_domain, &report) : 0;
    if (rc != 0)
        exit(tool_fail("the loads of links: %s", strerror(-rc)));
    return report;
}

static void print_view(const recorded *view)
{
    int64_t independent = view_file_independent(&view->file);
    tool_table table = {.align = "rrrlrrrrl"};
    if (view->file.patterns > 0)
        tool_table_add(&table, "calls\nbytes\naggregators\ndomains\nunit\nhop-bytes\nbetween "
                               "nodes\nmost of a link\nfile");
    for (size_t k = 0; k < view->file.patterns; k++) {
        const access_pattern *pattern = &view->file.pattern[k];
        const plan_draft *p = &view->calls[k];
        const plan_input in = plan_draft_problem(p);
        tool_table_add(&table, "%" PRId64 "\n%" PRId64 "\n%zu\n%s\n%" PRId64, pattern->calls,
                       bytes_of(view, k), p->division.domains.count, division_kind_name(p->kind),
                       p->unit);
        const plan_report report = assess(&in, p);
        tool_table_add(&table, "%.15g\n%" PRId64 "\n%.15g", p->hop_bytes, p->crossing_bytes,
                       report.max_link_bytes);
        tool_table_add_text(&table, pattern->file);
    }
    if (view->file.patterns > 0)
        tool_table_print(&table);
    if (independent > 0)
        printf("without aggregators: %" PRId64 " bytes, which stay on their nodes\n", independent);
}

static void put_patterns(json_writer *w, const recorded *view)
{
    json_begin_array(w, "patterns");
    for (size_t k = 0; k < view->file.patterns; k++) {
        const plan_draft *p = &view->calls[k];
        const plan_input in = plan_draft_problem(p);
        const plan_report report = assess(&in, p);
        tatp_problem_begin_plan(w, NULL, view->file.pattern[k].file, p->rank_of_domain,
                                p->division.domains.count, &report);
        json_put_int64(w, "calls", view->file.pattern[k].calls);
        json_put_int64(w, "bytes", bytes_of(view, k));
        json_put_string(w, "domains", division_kind_name(p->kind));
        json_put_int64(w, "unit", p->unit);
        if (p->rank_of_domain != NULL)
            tatp_problem_put_loads(w, &in, p->rank_of_domain);
        json_end_object(w);
    }
    json_end_array(w);
}

static void print_view_json(const recorded *view)
{
    const topo *topology = &view->network.topology;
    tool_json json;
    json_writer *w = tool_json_begin(&json);
    json_put_size(w, "ranks", view->file.view.rows);
    json_put_size(w, "nodes", topology->nodes);
    json_put_string(w, "distances", topology->source);
    tatp_problem_put_tree(w, topology);
    put_patterns(w, view);
    json_put_int64(w, "independent_bytes", view_file_independent(&view->file));
    tool_json_end(&json);
}

int tatp_plan_view(const tatp_problem_options *options, bool json)
{
    recorded view;
    predict_view(&view, options);
    (json ? print_view_json : print_view)(&view);
    release_view(&view);
    return 0;
}
