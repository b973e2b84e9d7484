/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The mapper: selects the jobs that it maps, and maps them by the request.
 */
#include "orte/shared/rmaps_dla.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- messages ---- */

static void show_line(const char *line)
{
    core(output)(0, "%s", line);
}

int dla_refuse(const char *reason)
{
    char text[DLA_REASON_SIZE + 512];
    dla_refusal_format(reason, text);
    (void)RTE_SHOW_TEXT(text);
    return RTE(ERR_SILENT);
}

void dla_report_unknown(const char *message)
{
    core(output)(0, "rmaps:dla: there is no MCA parameter %s", message);
}

/* rc is 0, -EINVAL with a reason, or -ENOMEM. */
static int rte_status(int rc, const char *reason)
{
    if (-EINVAL == rc)
        return dla_refuse(reason);
    return 0 == rc ? RTE(SUCCESS) : RTE(ERR_OUT_OF_RESOURCE);
}

/* ---- which jobs ---- */

static bool is_requested_by_parameter(const rte_job *jdata)
{
    return (NULL != rmaps_dla.item[DLA_FILE] || NULL != rmaps_dla.item[DLA_CART]) &&
           !(RTE(MAPPING_GIVEN) & RTE(GET_MAPPING_DIRECTIVE)(jdata->map->mapping));
}

/* The request is for the job that mpirun starts. Spawned jobs are left to the stock mappers, unless
 * there are none (--mca rmaps dla). */
bool dla_is_ours(rte_job *jdata)
{
    if (RTE(FLAG_TEST)(jdata, RTE(JOB_FLAG_RESTART)) ||
        RTE(FLAG_TEST)(jdata, RTE_JOB_FLAG_INTERNAL))
        return false;
    if (NULL != RTE_DEMANDED_MAPPER(jdata))
        return 0 == strcasecmp(RTE_DEMANDED_MAPPER(jdata), "dla");
    return !dla_is_spawned(jdata) && (NULL != rmaps_dla.map_by || is_requested_by_parameter(jdata));
}

/* ---- placing ---- */

static int verbosity(void)
{
    int framework = core(output_get_verbosity)(rte(rmaps_base_framework).framework_output);
    return 2 <= framework && 1 > rmaps_dla.verbose ? 1 : rmaps_dla.verbose;
}

/* What all ranks of the job run; false: several programs, or not known. */
static bool describe_program(const rte_job *jdata, const dla_layout *l, dla_program *program)
{
    const rte_context *context = l->context[0];
    *program = (dla_program){context->app, RTE_ARGUMENTS(context), RTE_FOLDER(context)};
    return 1 == jdata->num_apps && NULL != program->name && NULL != program->argument &&
           NULL != program->folder && '/' == program->folder[0];
}

/* spec: NULL places by slot. */
static int layout_place(dla_layout *l, rte_job *jdata, const dla_spec *spec)
{
    dla_mapping *m = &l->mapping;
    char reason[DLA_REASON_SIZE], *folder;
    dla_program program;
    size_t app = 0;
    m->name = RTE_JOB_NAME(jdata);
    m->show = show_line;
    m->verbose = verbosity();
    m->may_leave = NULL == RTE_DEMANDED_MAPPER(jdata) && NULL == rmaps_dla.map_by;
    m->program = describe_program(jdata, l, &program) ? &program : NULL;
    int rc = dla_mapping_place(m, spec, &app, reason);
    if (NULL == spec || !dla_spec_is_automatic(spec) || 0 != cache_path(&folder))
        folder = NULL;
    for (size_t a = 0; a < m->job.apps; a++) {
        if (m->is_decided)
            RTE_TELL_RANKS(l->context[a], DLA_PLACED_VARIABLE, "1");
        if (NULL != folder)
            RTE_TELL_RANKS(l->context[a], CACHE_FOLDER, folder);
    }
    free(folder);
    if (-ECANCELED == rc)
        return RTE(ERR_TAKE_NEXT_OPTION);
    if (-ENOSPC == rc)
        snprintf(
            reason, sizeof(reason),
            "there are not enough slots for the %zu ranks of %.400s: name more hosts or slots, "
            "or add :OVERSUBSCRIBE to --map-by",
            m->job.app[app].ranks, l->context[app]->app);
    return rte_status(-ENOSPC == rc ? -EINVAL : rc, reason);
}

/* ---- inside nodes ---- */

/* Exchanges the bindings of these ranks of the job, all on this node, so that neighbours are near
 * each other. Nothing changes where a rank is not bound. */
static int arrange_node(dla_layout *l, const rte_job *jdata, const rte_node *node,
                        const size_t *rank, size_t ranks)
{
    struct base_arena arena = {0};
    dla_binding *binding = base_arena_alloc(&arena, ranks, sizeof(*binding));
    char **locality = base_arena_alloc(&arena, ranks, sizeof(*locality));
    size_t *place = base_arena_alloc(&arena, ranks, sizeof(*place));
    const dla_bound_ranks bound = {ranks, rank, locality};
    bool all = !arena.failed;
    int rc = arena.failed ? -ENOMEM : 0;
    for (size_t i = 0; 0 == rc && i < ranks; i++) {
        place[i] = i;
        locality[i] = dla_unbind(jdata, node, rank[i], &binding[i]);
        all = all && NULL != binding[i].cpus;
    }
    if (all)
        rc = dla_arrange(&l->mapping.view, &bound, place, &l->inside);
    for (size_t i = 0; !arena.failed && i < ranks; i++) {
        dla_bind(jdata, rank[i], &binding[place[i]]);
        free(locality[i]);
    }
    base_arena_release(&arena);
    return rc;
}

static int arrange_nodes(dla_layout *l, const rte_job *jdata)
{
    const dla_job *job = &l->mapping.job;
    struct base_groups ranks;
    int rc = base_group_items(&l->arena, l->mapping.node_of_rank, job->ranks, job->nodes, &ranks);
    for (size_t n = 0; 0 == rc && n < job->nodes; n++)
        if (NULL != l->node[n]->topology && NULL != l->node[n]->topology->topo)
            rc = arrange_node(l, jdata, l->node[n], ranks.item + ranks.start[n],
                              base_group_size(&ranks, n));
    return 0 == rc ? RTE(SUCCESS) : RTE(ERR_OUT_OF_RESOURCE);
}

static void report_inside(const dla_layout *l, const rte_job *jdata)
{
    char text[DLA_INSIDE_SIZE];
    if (1 > l->mapping.verbose || !(l->inside.weight > 0.0))
        return;
    dla_inside_format(&l->inside, text);
    core(output)(0, "rmaps:dla: job %s: %s", RTE_JOB_NAME(jdata), text);
}

/* ---- the module ---- */

/* spec: NULL maps by slot. */
static int map_by_spec(rte_job *jdata, rte_options *options, const dla_spec *spec)
{
    bool no_local = NULL != spec && spec->no_local, ordered = false;
    dla_layout l;
    int rc = dla_layout_init(&l, jdata, options, no_local);
    if (RTE(SUCCESS) != rc)
        return rc;
    rc = layout_place(&l, jdata, spec);
    if (RTE(SUCCESS) == rc)
        rc = dla_fill_map(&l, jdata, options, no_local, &ordered);
    if (RTE(SUCCESS) == rc && 0 < l.mapping.view.rows && !ordered)
        rc = arrange_nodes(&l, jdata);
    if (RTE(SUCCESS) == rc)
        report_inside(&l, jdata);
    dla_layout_release(&l);
    return rc;
}

int dla_map_job(rte_job *jdata, rte_options *options)
{
    char reason[DLA_REASON_SIZE];
    dla_spec spec;
    if (!dla_is_ours(jdata))
        return RTE(ERR_TAKE_NEXT_OPTION);
    if (dla_is_spawned(jdata))
        return map_by_spec(jdata, options, NULL);
    int rc = rte_status(dla_spec_read(rmaps_dla.map_by, rmaps_dla.item, &spec, reason), reason);
    if (RTE(SUCCESS) == rc) {
        rc = map_by_spec(jdata, options, &spec);
        dla_spec_release(&spec);
    }
    if (RTE(SUCCESS) != rc && RTE(ERR_TAKE_NEXT_OPTION) != rc) {
        RTE(UPDATE_EXIT_STATUS)(RTE(ERROR_DEFAULT_EXIT_CODE));
        RTE_LAUNCH(); /* with --do-not-launch mpirun would end with status 0 */
    }
    return rc;
}
