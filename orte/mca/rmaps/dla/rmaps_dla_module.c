/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The mapper: which jobs are ours, and how each comes from the request to its map.
 */
#include "rmaps_dla.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "opal/util/output.h"
#include "orte/constants.h"
#include "orte/mca/rmaps/base/base.h"
#include "orte/runtime/orte_globals.h"
#include "orte/util/attr.h"
#include "orte/util/name_fns.h"

#include "rmaps_dla_layout.h"
#include "rmaps_dla_map.h"
#include "rmaps_dla_request.h"
#include "setmatch/setmatch.h"

/* ---- who maps what ---- */

static bool spawned(orte_job_t *jdata)
{
    return orte_get_attribute(&jdata->attributes, ORTE_JOB_LAUNCH_PROXY, NULL, OPAL_NAME);
}

static bool named(const orte_job_t *jdata)
{
    return NULL != jdata->map->req_mapper && 0 == strcasecmp(jdata->map->req_mapper, "dla");
}

static bool given_by_parameter(const orte_job_t *jdata)
{
    const orte_rmaps_dla_component_t *c = &mca_rmaps_dla_component;

    return (NULL != c->file || NULL != c->cart) &&
           !(ORTE_MAPPING_GIVEN & ORTE_GET_MAPPING_DIRECTIVE(jdata->map->mapping));
}

/* The request is for the job that mpirun was started with. Spawned jobs are left to the
 * stock mappers, unless there are none (--mca rmaps dla). */
static bool is_ours(orte_job_t *jdata)
{
    if (ORTE_FLAG_TEST(jdata, ORTE_JOB_FLAG_RESTART) ||
        ORTE_FLAG_TEST(jdata, ORTE_JOB_FLAG_DEBUGGER_DAEMON))
        return false;
    if (NULL != jdata->map->req_mapper)
        return named(jdata);
    return !spawned(jdata) && (NULL != mca_rmaps_dla_component.map_by || given_by_parameter(jdata));
}

/* ---- placing ---- */

static int place_by_slot(const dla_layout *l)
{
    size_t app = 0;
    int rc = dla_place_by_slot(&l->job, l->by_slot, &app);

    if (-ENOSPC == rc) {
        const orte_app_context_t *context = l->context[app];

        orte_show_help("help-orte-rmaps-base.txt", "orte-rmaps-base:alloc-error", true,
                       context->num_procs, context->app, orte_process_info.nodename);
        return ORTE_ERR_SILENT;
    }
    return 0 == rc ? ORTE_SUCCESS : ORTE_ERR_OUT_OF_RESOURCE;
}

enum { TEXT = 256 };

/* Bytes that leave their node, and their groups of nodes, in words. */
static int describe_crossing(const setmatch_input *input, const size_t *node_of_rank, int64_t bytes,
                             char *text, size_t size)
{
    int64_t *crossing = calloc(input->network->levels + 1, sizeof(*crossing));
    size_t used;

    if (NULL == crossing || 0 != setmatch_crossing_levels(input, node_of_rank, crossing)) {
        free(crossing);
        return ORTE_ERROR;
    }
    used = (size_t)snprintf(text, size, " (%" PRId64 " of %" PRId64 " bytes leave their nodes",
                            crossing[0], bytes);
    for (size_t k = 1; k <= input->network->levels && used < size; k++) {
        used += (size_t)snprintf(text + used, size - used,
                                 ", %" PRId64 " their groups of level %zu", crossing[k], k);
    }
    if (used < size)
        snprintf(text + used, size - used, ")");
    free(crossing);
    return ORTE_SUCCESS;
}

/* What a placement is worth, in words. */
static int describe(const setmatch_input *input, const size_t *node_of_rank, char text[TEXT])
{
    setmatch_report report;
    size_t used;

    if (0 != setmatch_judge(input, node_of_rank, &report))
        return ORTE_ERROR;
    used = (size_t)snprintf(text, TEXT, "%" PRId64 " of %" PRId64, report.inside, report.total);
    return 0 < report.bytes
               ? describe_crossing(input, node_of_rank, report.bytes, text + used, TEXT - used)
               : ORTE_SUCCESS;
}

static void report(const dla_layout *l, orte_job_t *jdata, const dla_request *r,
                   const dla_method *method)
{
    setmatch_input input = method->input;
    char before[TEXT], after[TEXT];

    if (0 >= mca_rmaps_dla_component.verbose &&
        2 > opal_output_get_verbosity(orte_rmaps_base_framework.framework_output))
        return;
    input.nodes = l->job.nodes;
    if (ORTE_SUCCESS != describe(&input, l->by_slot, before) ||
        ORTE_SUCCESS != describe(&input, l->node_of_rank, after))
        return;
    opal_output(0,
                "rmaps:dla: job %s: %zu ranks on %zu nodes, %zu levels of switches, by %s, %s, "
                "threshold %u %%: weight inside nodes %s by slot, %s placed",
                ORTE_JOBID_PRINT(jdata->jobid), l->job.ranks, l->job.nodes,
                method->input.network->levels, dla_request_name(r), r->spec.method->name,
                r->spec.threshold, before, after);
}

static int load_data(const dla_layout *l, const dla_request *r, dla_data *data)
{
    const char **name = calloc(l->job.nodes + 1, sizeof(*name));
    int rc;

    if (NULL == name)
        return ORTE_ERR_OUT_OF_RESOURCE;
    for (size_t n = 0; n < l->job.nodes; n++)
        name[n] = l->node[n]->name;
    rc = dla_request_load(r, l->job.ranks, &(dla_nodes){name, l->job.nodes}, data);
    free(name);
    return rc;
}

static int place_by_request(const dla_layout *l, orte_job_t *jdata, const dla_request *r)
{
    dla_method method;
    dla_data data;
    int rc = load_data(l, r, &data);

    if (ORTE_SUCCESS != rc)
        return rc;
    method = dla_request_method(r, &data);
    rc = dla_place_by_method(&l->job, &method, l->by_slot, l->node_of_rank);
    if (0 == rc)
        report(l, jdata, r, &method);
    else
        RMAPS_DLA_REFUSE("failed", dla_request_name(r), strerror(-rc));
    dla_data_release(&data);
    return 0 == rc ? ORTE_SUCCESS : ORTE_ERR_SILENT;
}

/* ---- the module ---- */

static int place_job(dla_layout *l, orte_job_t *jdata, const dla_request *r)
{
    int rc = place_by_slot(l);

    if (ORTE_SUCCESS != rc)
        return rc;
    if (NULL != r)
        return place_by_request(l, jdata, r);
    memcpy(l->node_of_rank, l->by_slot, l->job.ranks * sizeof(*l->by_slot));
    return ORTE_SUCCESS;
}

/* The policies of this job as they now stand. Ranks are numbered here, so no ranking policy
 * may renumber them; bound is downwards from the node. */
static void set_policies(orte_job_t *jdata, const dla_request *r)
{
    free(jdata->map->last_mapper);
    jdata->map->last_mapper = strdup("dla");
    ORTE_SET_MAPPING_POLICY(jdata->map->mapping, ORTE_MAPPING_BYSLOT);
    ORTE_SET_RANKING_POLICY(jdata->map->ranking, ORTE_RANK_BY_SLOT);
    if (NULL != r && r->spec.no_local)
        ORTE_SET_MAPPING_DIRECTIVE(jdata->map->mapping, ORTE_MAPPING_NO_USE_LOCAL);
}

static int map_by_request(orte_job_t *jdata, const dla_request *r)
{
    dla_layout l;
    int rc;

    set_policies(jdata, r);
    rc = dla_layout_init(&l, jdata);
    if (ORTE_SUCCESS != rc)
        return rc;
    rc = place_job(&l, jdata, r);
    if (ORTE_SUCCESS == rc)
        rc = dla_map(&l, jdata);
    dla_layout_release(&l);
    return rc;
}

/* mpirun shall fail, whatever becomes of the job. When told not to launch it ends with
 * status 0, so that it has to forget about that. */
static void fail_mpirun(void)
{
    ORTE_UPDATE_EXIT_STATUS(ORTE_ERROR_DEFAULT_EXIT_CODE);
    orte_do_not_launch = false;
}

static int rmaps_dla_map_job(orte_job_t *jdata)
{
    dla_request request;
    int rc;

    if (!is_ours(jdata))
        return ORTE_ERR_TAKE_NEXT_OPTION;
    if (spawned(jdata))
        return map_by_request(jdata, NULL);
    rc = dla_request_read(&request);
    if (ORTE_SUCCESS == rc) {
        rc = map_by_request(jdata, &request);
        dla_request_release(&request);
    }
    if (ORTE_SUCCESS != rc)
        fail_mpirun();
    return rc;
}

/* map_job has set the locations. */
static int rmaps_dla_assign_locations(orte_job_t *jdata)
{
    if (NULL != jdata->map->last_mapper && 0 == strcmp(jdata->map->last_mapper, "dla"))
        return ORTE_SUCCESS;
    return ORTE_ERR_TAKE_NEXT_OPTION;
}

orte_rmaps_base_module_t orte_rmaps_dla_module = {
    .map_job = rmaps_dla_map_job,
    .assign_locations = rmaps_dla_assign_locations,
};
