/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PRRTE's constructors and mapping functions, applied to a job of one rank on one node: each member
 * that the components use has to hold what PRRTE puts there, or to have the effect that it has.
 */
#include "prrte_fit.h"

#include "prrte.h"

enum { CPUS = 2 };

typedef struct probe {
    prte_job_t *job;
    prte_app_context_t *app;
    prte_node_t *node;
    prte_proc_t *proc;
    union {
        prte_rmaps_options_t options;
        unsigned char room[1024]; /* PRRTE's own may have more members */
    };
} probe;

static bool is_object(const void *object, const pmix_class_t *class)
{
    return NULL != object && class == ((const pmix_object_t *)object)->obj_class;
}

static bool is_array(const pmix_pointer_array_t *array)
{
    return is_object(array, PMIX_CLASS(pmix_pointer_array_t));
}

/* ---- constants, by their names ---- */

static const char *probe_constants(void)
{
    const char *policy =
        prte_rmaps_base_print_mapping(PRTE_MAPPING_BYSLOT | PRTE_MAPPING_NO_USE_LOCAL);

    if (0 != strcmp("BYSLOT:NO_USE_LOCAL", policy))
        return "the numbers of mapping policies";
    if (0 != strcmp("JOB-LAUNCH-PROXY", prte_attr_key_to_str(PRTE_JOB_LAUNCH_PROXY)))
        return "the keys of attributes";
    return NULL;
}

/* ---- objects, as constructed ---- */

static bool is_new_job(const prte_job_t *job)
{
    return '\0' == job->nspace[0] && is_array(job->apps) && is_array(job->procs) &&
           0 == job->num_procs && NULL == job->map && PRTE_JOB_FLAG_FORWARD_OUTPUT == job->flags &&
           is_object(&job->attributes, PMIX_CLASS(pmix_list_t)) &&
           pmix_list_is_empty((pmix_list_t *)&job->attributes);
}

static bool is_new_map(const prte_job_map_t *map)
{
    return 0 == map->mapping && 0 == map->binding && 0 == map->num_nodes && is_array(map->nodes) &&
           PMIX_RANK_INVALID == map->daemon_vpid_start;
}

static bool is_new_node(const prte_node_t *node)
{
    return -1 == node->index && NULL == node->name && NULL == node->available &&
           is_array(node->procs) && 0 == node->slots && 0 == node->slots_available &&
           0 == node->slots_inuse && 0 == node->slots_max && 0 == node->flags;
}

static const char *construct(probe *p)
{
    prte_job_map_t *map = PMIX_NEW(prte_job_map_t);

    p->job = PMIX_NEW(prte_job_t);
    p->app = PMIX_NEW(prte_app_context_t);
    p->node = PMIX_NEW(prte_node_t);
    if (!is_new_job(p->job))
        return "prte_job_t";
    if (!is_new_map(map))
        return "prte_job_map_t";
    if (!is_new_node(p->node))
        return "prte_node_t";
    if (0 != p->app->idx || NULL != p->app->app || 0 != p->app->num_procs)
        return "prte_app_context_t";
    PMIX_LOAD_NSPACE(p->job->nspace, "dla");
    p->job->map = map;
    p->app->app = strdup("dla");
    p->app->num_procs = 1;
    (void)pmix_pointer_array_add(p->job->apps, p->app);
    p->node->name = strdup("dla");
    p->node->slots = 1;
    p->node->slots_available = 1;
    p->node->available = hwloc_bitmap_alloc();
    (void)hwloc_bitmap_set_range(p->node->available, 0, CPUS - 1);
    return NULL;
}

/* ---- what PRRTE's functions do with them ---- */

static const char *probe_policies(const probe *p)
{
    const prte_job_map_t *map = p->job->map;
    char slot[] = "slot", none[] = "none";

    if (PRTE_SUCCESS != prte_rmaps_base_set_mapping_policy(p->job, slot) ||
        PRTE_SUCCESS != prte_hwloc_base_set_binding_policy(p->job, none) ||
        (PRTE_MAPPING_BYSLOT | PRTE_MAPPING_GIVEN) != map->mapping ||
        (PRTE_BIND_TO_NONE | PRTE_BIND_GIVEN) != map->binding)
        return "prte_job_map_t, policies";
    return NULL;
}

static const char *probe_options(prte_rmaps_options_t *options)
{
    prte_binding_policy_t by_slot, by_thread;

    options->use_hwthreads = true;
    options->cpus_per_rank = 1;
    options->nprocs = CPUS + 1;
    options->map = PRTE_MAPPING_BYSLOT;
    by_slot = prrte_derive_binding(options);
    options->map = PRTE_MAPPING_BYSLOT - 1;
    by_thread = prrte_derive_binding(options);
    return by_slot == by_thread ? "prte_rmaps_options_t, map" : NULL;
}

static const char *probe_cpuset(probe *p)
{
    prte_rmaps_base_get_cpuset(p->job, p->node, &p->options);
    if (NULL == p->options.job_cpuset ||
        !hwloc_bitmap_isequal(p->options.job_cpuset, p->node->available))
        return "prte_rmaps_options_t, job_cpuset";
    return NULL;
}

/* These use memory that PRRTE allocates when it opens its mappers. */
static const char *probe_available(probe *p)
{
    if (0 == prte_rmaps_base_framework.framework_refcnt)
        return NULL;
    if (!is_object(&prte_rmaps_base.selected_modules, PMIX_CLASS(pmix_list_t)))
        return "prte_rmaps_base_t";
    p->options.bind = PRTE_BIND_TO_NONE + 1;
    p->options.cpus_per_rank = CPUS;
    if (CPUS != prte_rmaps_base_get_ncpus(p->node, NULL, &p->options) ||
        !prte_rmaps_base_check_avail(p->job, p->app, p->node, NULL, NULL, &p->options) ||
        CPUS != p->options.ncpus || 1 != p->options.nprocs || 1 != p->options.nnodes ||
        NULL == p->options.target || !hwloc_bitmap_isequal(p->options.target, p->node->available))
        return "prte_rmaps_options_t";
    if (!PRTE_FLAG_TEST(p->node, PRTE_NODE_FLAG_MAPPED) || 1 != p->job->map->num_nodes ||
        p->node != pmix_pointer_array_get_item(p->job->map->nodes, 0))
        return "prte_job_map_t";
    return NULL;
}

static const char *probe_rank(probe *p)
{
    p->options.bind = PRTE_BIND_TO_NONE;
    p->proc = prte_rmaps_base_setup_proc(p->job, p->app->idx, p->node, NULL, &p->options);
    if (NULL == p->proc || PMIX_RANK_INVALID != p->proc->name.rank ||
        !PMIX_CHECK_NSPACE(p->proc->name.nspace, p->job->nspace))
        return "prte_proc_t";
    if (1 != p->node->num_procs || 1 != p->node->slots_inuse || 0 != p->node->slots_available ||
        p->proc != pmix_pointer_array_get_item(p->node->procs, 0))
        return "prte_node_t";
    p->proc->name.rank = 0;
    (void)pmix_pointer_array_set_item(p->job->procs, 0, p->proc);
    p->job->num_procs = 1;
    return PRTE_SUCCESS == prrte_rank_locally(p->job, &p->options)
               ? NULL
               : "prte_rmaps_options_t, userranked";
}

/* How PRRTE describes a rank that is bound to these processors; the caller frees it. */
static char *describe_bound(const probe *p, const char *cpus)
{
    char *text = NULL;

    p->proc->cpuset = strdup(cpus);
    prte_proc_print(&text, p->job, p->proc);
    free(p->proc->cpuset);
    p->proc->cpuset = NULL;
    return text;
}

/* Whether the description of a rank changes with its processors, on a machine of two. */
static bool shows_binding(const probe *p)
{
    char *one = describe_bound(p, "0"), *other = describe_bound(p, "1");
    bool differ = NULL != one && NULL != other && 0 != strcmp(one, other);

    free(one);
    free(other);
    return differ;
}

static const char *probe_binding(const probe *p)
{
    prte_topology_t *machine = PMIX_NEW(prte_topology_t);
    bool shown;

    if (NULL == machine || NULL != machine->topo || NULL != p->proc->cpuset ||
        0 != hwloc_topology_init(&machine->topo) ||
        0 != hwloc_topology_set_synthetic(machine->topo, "package:1 core:2 pu:1") ||
        0 != hwloc_topology_load(machine->topo))
        return "prte_topology_t";
    p->node->topology = machine;
    shown = shows_binding(p);
    p->node->topology = NULL;
    if (!shown)
        return "prte_proc_t, cpuset";
    PMIX_RELEASE(machine);
    return NULL;
}

static const char *probe_slots(probe *p)
{
    p->options.oversubscribe = false;
    if (PRTE_ERR_TAKE_NEXT_OPTION !=
        prte_rmaps_base_check_oversubscribed(p->job, p->app, p->node, &p->options))
        return "prte_node_t, slots";
    p->options.oversubscribe = true;
    if (PRTE_SUCCESS != prte_rmaps_base_check_oversubscribed(p->job, p->app, p->node, &p->options))
        return "prte_rmaps_options_t, oversubscribe";
    p->node->slots = 0;
    if (PRTE_SUCCESS !=
            prte_rmaps_base_check_oversubscribed(p->job, p->app, p->node, &p->options) ||
        !PRTE_FLAG_TEST(p->node, PRTE_NODE_FLAG_OVERSUBSCRIBED))
        return "prte_node_t, flags";
    return PRTE_FLAG_TEST(p->job, PRTE_JOB_FLAG_OVERSUBSCRIBED) ? NULL : "prte_job_t, flags";
}

static void release_probe(probe *p)
{
    hwloc_bitmap_free(p->options.job_cpuset);
    hwloc_bitmap_free(p->options.target);
    PMIX_RELEASE(p->job);
    PMIX_RELEASE(p->node);
}

/* Objects that are not as declared are not released: the effect would be unknown. */
const char *prrte_probe(void)
{
    probe p = {.room = {0}};
    const char *other = probe_constants();

    if (NULL == other)
        other = construct(&p);
    if (NULL == other)
        other = probe_policies(&p);
    if (NULL == other)
        other = probe_options(&p.options);
    if (NULL == other)
        other = probe_cpuset(&p);
    if (NULL == other)
        other = probe_available(&p);
    if (NULL == other)
        other = probe_rank(&p);
    if (NULL == other)
        other = probe_binding(&p);
    if (NULL == other)
        other = probe_slots(&p);
    if (NULL == other)
        release_probe(&p);
    return other;
}
