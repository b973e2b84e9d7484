/* SPDX-License-Identifier: BSD-3-Clause */
#include "tatp_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "predict/predict.h"
#include "table.h"
#include "tool.h"

static int read_view_stream(FILE *stream, void *object, matrix_error *error)
{
    return view_file_read(stream, object, error);
}

static predict_job job_of(const tatp_view *view)
{
    return (predict_job){
        .ranks = view->file.view.rows,
        .node_of_rank = view->network.node_of_rank,
        .topology = &view->network.topology,
    };
}

void tatp_view_read(tatp_view *view, const tatp_problem_options *options)
{
    *view = (tatp_view){.calls = NULL};
    tool_read(options->view, read_view_stream, &view->file);
    tatp_network_read(&options->network, options->view, view->file.view.rows, &view->network);
    view->calls = tool_allocate(view->file.patterns, sizeof *view->calls);
    const predict_job job = job_of(view);
    for (size_t k = 0; k < view->file.patterns; k++) {
        int rc = predict_calls(&job, &view->file.pattern[k], &view->file.bytes[k], &view->calls[k]);
        if (rc != 0)
            exit(tool_fail("%s: %s", options->view, strerror(-rc)));
    }
}

void tatp_view_release(tatp_view *view)
{
    for (size_t k = 0; k < view->file.patterns; k++)
        prediction_release(&view->calls[k]);
    free(view->calls);
    view_file_release(&view->file);
    tatp_network_release(&view->network);
}

static int64_t bytes_of(const tatp_view *view, size_t k)
{
    int64_t bytes = 0;
    (void)matrix_sum(&view->file.bytes[k], &bytes); /* predict_calls has refused a larger sum */
    return bytes;
}

static plan_report assess(const plan_input *in, const prediction *p)
{
    plan_report report = {0};
    int rc = p->domains > 0 ? plan_assess(in, p->rank_of_domain, &report) : 0;
    if (rc != 0)
        exit(tool_fail("the loads of links: %s", strerror(-rc)));
    return report;
}

void tatp_view_print(const tatp_view *view)
{
    const predict_job job = job_of(view);
    int64_t independent = view_file_independent(&view->file);
    tool_table table = {.align = "rrrlrrrrl"};
    if (view->file.patterns > 0)
        tool_table_add(&table, "calls\nbytes\naggregators\ndomains\nunit\nhop-bytes\nbetween "
                               "nodes\nmost of a link\nfile");
    for (size_t k = 0; k < view->file.patterns; k++) {
        const access_pattern *pattern = &view->file.pattern[k];
        const prediction *p = &view->calls[k];
        const plan_input in = prediction_problem(p, &job);
        tool_table_add(&table, "%" PRId64 "\n%" PRId64 "\n%zu\n%s\n%" PRId64, pattern->calls,
                       bytes_of(view, k), p->domains, division_kind_name(p->kind), p->unit);
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

void tatp_view_put(json_writer *w, const tatp_view *view)
{
    const predict_job job = job_of(view);
    json_begin_array(w, "patterns");
    for (size_t k = 0; k < view->file.patterns; k++) {
        const prediction *p = &view->calls[k];
        const plan_input in = prediction_problem(p, &job);
        const plan_report report = assess(&in, p);
        tatp_problem_begin_plan(w, NULL, view->file.pattern[k].file, p->rank_of_domain, p->domains,
                                &report);
        json_put_int64(w, "calls", view->file.pattern[k].calls);
        json_put_int64(w, "bytes", bytes_of(view, k));
        json_put_string(w, "domains", division_kind_name(p->kind));
        json_put_int64(w, "unit", p->unit);
        if (p->domains > 0)
            tatp_problem_put_loads(w, &in, p->rank_of_domain);
        json_end_object(w);
    }
    json_end_array(w);
    json_put_int64(w, "independent_bytes", view_file_independent(&view->file));
}
