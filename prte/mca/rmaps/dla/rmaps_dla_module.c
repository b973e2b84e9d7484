/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The mapper: selects the jobs that it maps, and maps them by the request.
 */
#include "rmaps_dla.h"

#include <errno.h>
#include <strings.h>

#include "dla/mapper.h"
#include "dla/program.h"
#include "rmaps_dla_help.h"
#include "rmaps_dla_layout.h"
#include "rmaps_dla_map.h"

/* From 0, -EINVAL after a message, or -ENOMEM. */
static int prte_status(int rc)
{
    return 0 == rc ? PRTE_SUCCESS : -EINVAL == rc ? PRTE_ERR_SILENT : PRTE_ERR_OUT_OF_RESOURCE;
}

/* ---- which jobs ---- */

/* mpirun's own job has a launch proxy too: mpirun itself. */
static bool is_spawned(prte_job_t *jdata)
{
    pmix_proc_t *proxy = NULL;
    bool spawned;

    if (!prte_get_attribute(&jdata->attributes, PRTE_JOB_LAUNCH_PROXY, (void **)&proxy, PMIX_PROC))
        return false;
    spawned = !PMIX_CHECK_NSPACE(PRTE_PROC_MY_NAME->nspace, proxy->nspace);
    PMIX_PROC_RELEASE(proxy);
    return spawned;
}

static bool is_requested_by_parameter(const prte_job_t *jdata)
{
    const dla_parameters *p = &rmaps_dla.parameters;

    return (NULL != p->file || NULL != p->cart) &&
           !(PRTE_MAPPING_GIVEN & PRTE_GET_MAPPING_DIRECTIVE(jdata->map->mapping));
}

/* The request is for the job that mpirun starts. Spawned jobs are left to the stock mappers, unless
 * there are none (--mca rmaps dla). */
static bool is_dla_job(prte_job_t *jdata)
{
    if (PRTE_FLAG_TEST(jdata, PRTE_JOB_FLAG_RESTART) || PRTE_FLAG_TEST(jdata, PRTE_JOB_FLAG_TOOL))
        return false;
    if (NULL != prrte_demanded_mapper(jdata))
        return 0 == strcasecmp(prrte_demanded_mapper(jdata), "dla");
    return !is_spawned(jdata) && (NULL != rmaps_dla.spec || is_requested_by_parameter(jdata));
}

/* ---- placing ---- */

static void show_line(const char *line)
{
    pmix_output(0, "%s", line);
}

static bool is_verbose(void)
{
    return 0 < rmaps_dla.verbose ||
           2 <= pmix_output_get_verbosity(prte_rmaps_base_framework.framework_output);
}

/* What all ranks of the job run; false: several programs, or not known. */
static bool describe_program(const prte_job_t *jdata, const dla_layout *l, dla_program *program)
{
    const prte_app_context_t *context = l->context[0];

    *program = (dla_program){context->app, PRRTE_ARGUMENTS(context), PRRTE_FOLDER(context)};
    return 1 == jdata->num_apps && NULL != context->app && NULL != program->argument &&
           NULL != program->folder && '/' == program->folder[0];
}

/* Whether the stock mappers map the job where the cache has nothing for it: unless this mapper was
 * demanded. */
static bool may_leave(const prte_job_t *jdata, const dla_request *r)
{
    return NULL != r && dla_request_is_automatic(r) && NULL == prrte_demanded_mapper(jdata) &&
           NULL == rmaps_dla.spec;
}

/* r: NULL places by slot. */
static int place_ranks(dla_layout *l, prte_job_t *jdata, const dla_request *r)
{
    dla_program program;
    const dla_mapping mapping = {
        .name = PRTE_JOBID_PRINT(jdata->nspace),
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
        return PRTE_ERR_TAKE_NEXT_OPTION;
    if (-ECANCELED == rc)
        return PRTE_SUCCESS;
    if (-ENOSPC != rc)
        return prte_status(rc);
    pmix_show_help("help-prte-rmaps-base.txt", "prte-rmaps-base:alloc-error", true,
                   l->context[app]->num_procs, l->context[app]->app, prte_process_info.nodename);
    return PRTE_ERR_SILENT;
}

static void report_inside(const dla_layout *l, const prte_job_t *jdata)
{
    char text[DLA_INSIDE_SIZE];

    if (!is_verbose() || !(l->inside.weight > 0.0))
        return;
    dla_inside_format(&l->inside, text);
    pmix_output(0, "rmaps:dla: job %s: %s", PRTE_JOBID_PRINT(jdata->nspace), text);
}

/* ---- the module ---- */

static void set_policies(prte_job_t *jdata, const dla_request *r, prte_rmaps_options_t *options)
{
    PRTE_SET_MAPPING_POLICY(jdata->map->mapping, PRTE_MAPPING_BYSLOT);
    options->map = PRTE_MAPPING_BYSLOT;
    prrte_note_mapper(jdata, "dla");
    if (NULL != r && r->spec.no_local)
        PRTE_SET_MAPPING_DIRECTIVE(jdata->map->mapping, PRTE_MAPPING_NO_USE_LOCAL);
}

/* r: NULL maps by slot. */
static int map_by_request(prte_job_t *jdata, const dla_request *r, prte_rmaps_options_t *options)
{
    const prte_mapping_policy_t mapping = jdata->map->mapping, policy = options->map;
    dla_layout l;
    int rc;

    set_policies(jdata, r, options);
    rc = dla_layout_init(&l, jdata, options);
    if (PRTE_SUCCESS != rc)
        return rc;
    rc = place_ranks(&l, jdata, r);
    if (PRTE_ERR_TAKE_NEXT_OPTION == rc) {
        jdata->map->mapping = mapping;
        options->map = policy;
    }
    if (PRTE_SUCCESS == rc)
        rc = dla_map(&l, jdata, options);
    if (PRTE_SUCCESS == rc)
        report_inside(&l, jdata);
    dla_layout_release(&l);
    return rc;
}

/* Application contexts with options of their own are mapped one by one, but the first call has
 * mapped them all. The options must not differ then. */
static int check_context(prte_rmaps_options_t *options)
{
    options->userranked = true;
    if (rmaps_dla.bind == options->bind && rmaps_dla.cpus_per_rank == options->cpus_per_rank)
        return PRTE_SUCCESS;
    dla_show_refusal("all programs of a job are mapped together, with the same --bind-to and PE=");
    PRTE_UPDATE_EXIT_STATUS(PRTE_ERROR_DEFAULT_EXIT_CODE);
    return PRTE_ERR_SILENT;
}

/* Of the first program. */
static void check_program(const prte_job_t *jdata)
{
    const prte_app_context_t *context = pmix_pointer_array_get_item(jdata->apps, 0);

    if (NULL != context)
        dla_check_program(PRRTE_FOLDER(context), PRRTE_ENVIRONMENT(context), show_line);
}

static int rmaps_dla_map_job(prte_job_t *jdata, prte_rmaps_options_t *options)
{
    dla_request request;
    int rc;

    if (!is_spawned(jdata))
        check_program(jdata);
    if (!is_dla_job(jdata))
        return PRTE_ERR_TAKE_NEXT_OPTION;
    if (prrte_maps_by_context(options) && 0 < jdata->map->num_nodes)
        return check_context(options);
    rmaps_dla.bind = options->bind;
    rmaps_dla.cpus_per_rank = options->cpus_per_rank;
    if (is_spawned(jdata))
        return map_by_request(jdata, NULL, options);
    rc = prte_status(
        dla_request_read(&request, rmaps_dla.spec, &rmaps_dla.parameters, dla_show_help));
    if (PRTE_SUCCESS == rc) {
        rc = map_by_request(jdata, &request, options);
        dla_spec_release(&request.spec);
    }
    if (PRTE_SUCCESS != rc && PRTE_ERR_TAKE_NEXT_OPTION != rc)
        PRTE_UPDATE_EXIT_STATUS(PRTE_ERROR_DEFAULT_EXIT_CODE);
    return rc;
}

prte_rmaps_base_module_t rmaps_dla_module = {.map_job = rmaps_dla_map_job};
