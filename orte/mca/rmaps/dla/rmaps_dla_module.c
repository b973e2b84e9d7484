/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The mapper: selects the jobs that it maps, and maps them by the request.
 */
#include "rmaps_dla.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "opal/util/output.h"
#include "opal/util/show_help.h"
#include "orte/constants.h"
#include "orte/mca/rmaps/base/base.h"
#include "orte/runtime/orte_globals.h"
#include "orte/util/attr.h"
#include "orte/util/name_fns.h"
#include "orte/util/show_help.h"

#include "dla/mapper.h"
#include "dla/program.h"
#include "rmaps_dla_layout.h"
#include "rmaps_dla_map.h"

/* ---- messages ---- */

static void show_message(const char *topic, ...)
{
    va_list args;
    char *text;

    va_start(args, topic);
    text = opal_show_help_vstring(RMAPS_DLA_HELP_FILE, topic, true, args);
    va_end(args);
    if (NULL != text)
        (void)orte_show_help_norender(RMAPS_DLA_HELP_FILE, topic, true, text);
    free(text);
}

/* From 0, -EINVAL after a message, or -ENOMEM. */
static int orte_status(int rc)
{
    return 0 == rc ? ORTE_SUCCESS : -EINVAL == rc ? ORTE_ERR_SILENT : ORTE_ERR_OUT_OF_RESOURCE;
}

/* ---- which jobs ---- */

static bool is_spawned(orte_job_t *jdata)
{
    return orte_get_attribute(&jdata->attributes, ORTE_JOB_LAUNCH_PROXY, NULL, OPAL_NAME);
}

static bool is_requested_by_parameter(const orte_job_t *jdata)
{
    const dla_parameters *p = &mca_rmaps_dla_component.parameters;

    return (NULL != p->file || NULL != p->cart) &&
           !(ORTE_MAPPING_GIVEN & ORTE_GET_MAPPING_DIRECTIVE(jdata->map->mapping));
}

/* The request is for the job that mpirun starts. Spawned jobs are left to the stock mappers, unless
 * there are none (--mca rmaps dla). */
static bool is_dla_job(orte_job_t *jdata)
{
    if (ORTE_FLAG_TEST(jdata, ORTE_JOB_FLAG_RESTART) ||
        ORTE_FLAG_TEST(jdata, ORTE_JOB_FLAG_DEBUGGER_DAEMON))
        return false;
    if (NULL != jdata->map->req_mapper)
        return 0 == strcasecmp(jdata->map->req_mapper, "dla");
    return !is_spawned(jdata) &&
           (NULL != mca_rmaps_dla_component.map_by || is_requested_by_parameter(jdata));
}

/* ---- placing ---- */

static void show_line(const char *line)
{
    opal_output(0, "%s", line);
}

static bool is_verbose(void)
{
    return 0 < mca_rmaps_dla_component.verbose ||
           2 <= opal_output_get_verbosity(orte_rmaps_base_framework.framework_output);
}

/* What all ranks of the job run; false: several programs, or not known. */
static bool describe_program(const orte_job_t *jdata, const dla_layout *l, dla_program *program)
{
    const orte_app_context_t *context = l->context[0];

    *program = (dla_program){context->app, context->argv, context->cwd};
    return 1 == jdata->num_apps && NULL != context->app && NULL != context->argv &&
           NULL != context->cwd && '/' == context->cwd[0];
}

/* Whether the stock mappers map the job where the cache has nothing for it: unless this mapper was
 * demanded. */
static bool may_leave(const orte_job_t *jdata, const dla_request *r)
{
    return NULL != r && dla_request_is_automatic(r) && NULL == jdata->map->req_mapper &&
           NULL == mca_rmaps_dla_component.map_by;
}

/* r: NULL places by slot. */
static int place_ranks(dla_layout *l, orte_job_t *jdata, const dla_request *r)
{
    dla_program program;
    const dla_mapping mapping = {
        .name = ORTE_JOBID_PRINT(jdata->jobid),
        .job = l->job,
        .node_name = l->node_name,
        .by_slot = l->by_slot,
        .node_of_rank = l->node_of_rank,
        .view = &l->view,
        .show = show_line,
        .verbose = is_verbose(),
        .program = describe_program(jdata, l, &program) ? &program : NULL,
    };
    size_t app = 0;
    int rc = dla_mapping_place(&mapping, r, &app);

    if ((-ECANCELED == rc || -ENOSPC == rc) && may_leave(jdata, r))
        return ORTE_ERR_TAKE_NEXT_OPTION;
    if (-ECANCELED == rc)
        return ORTE_SUCCESS;
    if (-ENOSPC != rc)
        return orte_status(rc);
    orte_show_help("help-orte-rmaps-base.txt", "orte-rmaps-base:alloc-error", true,
                   l->context[app]->num_procs, l->context[app]->app, orte_process_info.nodename);
    return ORTE_ERR_SILENT;
}

static void report_inside(const dla_layout *l, const orte_job_t *jdata)
{
    char text[DLA_INSIDE_SIZE];

    if (!is_verbose() || !(l->inside.weight > 0.0))
        return;
    dla_inside_format(&l->inside, text);
    opal_output(0, "rmaps:dla: job %s: %s", ORTE_JOBID_PRINT(jdata->jobid), text);
}

/* ---- the module ---- */

/* The effective policies of the job. Its ranks are numbered by this mapper: a ranking policy must
 * not renumber them. Binding is downwards from the node. */
static void set_policies(orte_job_t *jdata, const dla_request *r)
{
    free(jdata->map->last_mapper);
    jdata->map->last_mapper = strdup("dla");
    ORTE_SET_MAPPING_POLICY(jdata->map->mapping, ORTE_MAPPING_BYSLOT);
    ORTE_SET_RANKING_POLICY(jdata->map->ranking, ORTE_RANK_BY_SLOT);
    if (NULL != r && r->spec.no_local)
        ORTE_SET_MAPPING_DIRECTIVE(jdata->map->mapping, ORTE_MAPPING_NO_USE_LOCAL);
}

/* What this mapper changes in a job before it knows whether it maps it. */
typedef struct job_state {
    orte_mapping_policy_t mapping;
    orte_ranking_policy_t ranking;
    orte_app_context_t *context; /* the first */
    orte_std_cntr_t ranks;       /* of it; 0: the mapper chooses */
} job_state;

static job_state save_job(const orte_job_t *jdata)
{
    orte_app_context_t *context = opal_pointer_array_get_item(jdata->apps, 0);

    return (job_state){jdata->map->mapping, jdata->map->ranking, context,
                       NULL == context ? 0 : context->num_procs};
}

static void restore_job(orte_job_t *jdata, const job_state *before)
{
    free(jdata->map->last_mapper);
    jdata->map->last_mapper = NULL;
    jdata->map->mapping = before->mapping;
    jdata->map->ranking = before->ranking;
    if (NULL != before->context)
        before->context->num_procs = before->ranks;
}

/* r: NULL maps by slot. */
static int map_by_request(orte_job_t *jdata, const dla_request *r)
{
    const job_state before = save_job(jdata);
    dla_layout l;
    int rc;

    set_policies(jdata, r);
    rc = dla_layout_init(&l, jdata);
    if (ORTE_SUCCESS != rc)
        return rc;
    rc = place_ranks(&l, jdata, r);
    if (ORTE_ERR_TAKE_NEXT_OPTION == rc)
        restore_job(jdata, &before);
    if (ORTE_SUCCESS == rc)
        rc = dla_map(&l, jdata);
    if (ORTE_SUCCESS == rc)
        report_inside(&l, jdata);
    dla_layout_release(&l);
    return rc;
}

/* Sets the exit status of mpirun. With --do-not-launch it would end with status 0. */
static void fail_mpirun(void)
{
    ORTE_UPDATE_EXIT_STATUS(ORTE_ERROR_DEFAULT_EXIT_CODE);
    orte_do_not_launch = false;
}

/* Of the first program. */
static void check_program(const orte_job_t *jdata)
{
    const orte_app_context_t *context = opal_pointer_array_get_item(jdata->apps, 0);

    if (NULL != context)
        dla_check_program(context->cwd, context->env, show_line);
}

static int rmaps_dla_map_job(orte_job_t *jdata)
{
    const orte_rmaps_dla_component_t *c = &mca_rmaps_dla_component;
    dla_request request;
    int rc;

    if (!is_spawned(jdata))
        check_program(jdata);
    if (!is_dla_job(jdata))
        return ORTE_ERR_TAKE_NEXT_OPTION;
    if (is_spawned(jdata))
        return map_by_request(jdata, NULL);
    rc = orte_status(dla_request_read(&request, c->map_by, &c->parameters, show_message));
    if (ORTE_SUCCESS == rc) {
        rc = map_by_request(jdata, &request);
        dla_spec_release(&request.spec);
    }
    if (ORTE_SUCCESS != rc && ORTE_ERR_TAKE_NEXT_OPTION != rc)
        fail_mpirun();
    return rc;
}

/* map_job sets the locations. */
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
