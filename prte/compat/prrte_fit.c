/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr1 */
#include "prrte.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

/* The first two numbers of the headers' release, the functions of its third, and all of a release
 * candidate's name. */
static bool release_fits(void)
{
    const char *letters = PRRTE_BUILT_FOR + strspn(PRRTE_BUILT_FOR, "0123456789.");
    int major, minor, release;
    return 3 == sscanf(prte_version_string, "%d.%d.%d", &major, &minor, &release) &&
           PRTE_VERSION_MAJOR == major && PRTE_VERSION_MINOR == minor &&
           PRRTE_HAS_KEEPALL(major, minor, release) ==
               PRRTE_HAS_KEEPALL(PRTE_VERSION_MAJOR, PRTE_VERSION_MINOR, PRTE_VERSION_RELEASE) &&
           ('\0' == *letters || 0 == strcmp(prte_version_string, PRRTE_BUILT_FOR));
}

/* PRRTE's library says how large its variables are. */
static size_t variable_size(const void *variable)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;
    if (0 == dladdr1(variable, &info, (void **)&symbol, RTLD_DL_SYMENT) || NULL == symbol)
        return 0;
    return (size_t)symbol->st_size;
}

#define SIZES(type)                                                                                \
    {                                                                                              \
#type, sizeof(type), type##_class.cls_sizeof                                               \
    }

/* The struct whose size differs; NULL if there is none. */
static const char *prrte_other_size(void)
{
    const struct {
        const char *name;
        size_t built, runs;
    } sizes[] = {
        SIZES(prte_job_t),
        SIZES(prte_job_map_t),
        SIZES(prte_app_context_t),
        SIZES(prte_node_t),
        SIZES(prte_proc_t),
        SIZES(prte_topology_t),
        SIZES(prte_schizo_base_active_module_t),
        {"prte_schizo_base_t", sizeof prte_schizo_base, variable_size(&prte_schizo_base)},
        {"prte_rmaps_base_t", sizeof prte_rmaps_base, variable_size(&prte_rmaps_base)},
        {"prte_process_info_t", sizeof prte_process_info, variable_size(&prte_process_info)}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i].built != sizes[i].runs)
            return sizes[i].name;
    return NULL;
}

/* From PRRTE 5 on: the structs of PRRTE 3 are those of its last release. */
#if PRTE_VERSION_MAJOR >= 5

/* ---- PRRTE's constructors and mapping functions, applied to a job of one rank on one node: the
 * members that the components write have to hold what PRRTE puts there, or to have their effect. */

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

#define EXPECT(condition, what)                                                                    \
    if (!(condition))                                                                              \
    return what

/* ---- constants, by their names ---- */

static const char *probe_constants(void)
{
    const char *policy =
        prte_rmaps_base_print_mapping(PRTE_MAPPING_BYSLOT | PRTE_MAPPING_NO_USE_LOCAL);
    const char *key = prte_attr_key_to_str(PRTE_JOB_LAUNCH_PROXY);
    EXPECT(0 == strcmp("BYSLOT:NO_USE_LOCAL", policy), "the numbers of mapping policies");
    EXPECT(0 == strcmp("JOB-LAUNCH-PROXY", key), "the keys of attributes");
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
    EXPECT(is_new_job(p->job), "prte_job_t");
    EXPECT(is_new_map(map), "prte_job_map_t");
    EXPECT(is_new_node(p->node), "prte_node_t");
    EXPECT(0 == p->app->idx && NULL == p->app->app && 0 == p->app->num_procs, "prte_app_context_t");
    PMIX_LOAD_NSPACE(p->job->nspace, "dla");
    p->job->map = map;
    p->app->app = strdup("dla");
    p->app->num_procs = 1;
    (void)pmix_pointer_array_add(p->job->apps, p->app);
    p->node->name = strdup("dla");
    p->node->slots = p->node->slots_available = 1;
    p->node->available = hwloc_bitmap_alloc();
    (void)hwloc_bitmap_set_range(p->node->available, 0, CPUS - 1);
    return NULL;
}

/* ---- what PRRTE's functions do with them ---- */

/* The last part uses memory that PRRTE allocates when it opens its mappers. */
static const char *probe_options(probe *p)
{
    prte_rmaps_options_t *options = &p->options;
    options->use_hwthreads = true;
    options->cpus_per_rank = 1;
    options->nprocs = CPUS + 1;
#if PRRTE_BY_CONTEXT /* which has this function */
    options->map = PRTE_MAPPING_BYSLOT;
    prte_binding_policy_t by_slot = prte_rmaps_base_derive_binding(options);
    options->map = PRTE_MAPPING_BYSLOT - 1;
    prte_binding_policy_t by_thread = prte_rmaps_base_derive_binding(options);
    EXPECT(by_slot != by_thread, "prte_rmaps_options_t, map");
#endif
    prte_rmaps_base_get_cpuset(p->job, p->node, options);
    EXPECT(NULL != options->job_cpuset &&
               hwloc_bitmap_isequal(options->job_cpuset, p->node->available),
           "prte_rmaps_options_t, job_cpuset");
    if (0 == prte_rmaps_base_framework.framework_refcnt)
        return NULL;
    EXPECT(is_object(&prte_rmaps_base.selected_modules, PMIX_CLASS(pmix_list_t)),
           "prte_rmaps_base_t");
    options->bind = PRTE_BIND_TO_NONE + 1;
    options->cpus_per_rank = CPUS;
    EXPECT(CPUS == prte_rmaps_base_get_ncpus(p->node, NULL, options) &&
               prte_rmaps_base_check_avail(p->job, p->app, p->node, NULL, NULL, options) &&
               CPUS == options->ncpus && 1 == options->nprocs && 1 == options->nnodes &&
               NULL != options->target && hwloc_bitmap_isequal(options->target, p->node->available),
           "prte_rmaps_options_t");
    EXPECT(PRTE_FLAG_TEST(p->node, PRTE_NODE_FLAG_MAPPED) && 1 == p->job->map->num_nodes &&
               p->node == pmix_pointer_array_get_item(p->job->map->nodes, 0),
           "prte_job_map_t");
    return NULL;
}

static const char *probe_rank(probe *p)
{
    p->options.bind = PRTE_BIND_TO_NONE;
    p->proc = prte_rmaps_base_setup_proc(p->job, p->app->idx, p->node, NULL, &p->options);
    EXPECT(NULL != p->proc && PMIX_RANK_INVALID == p->proc->name.rank &&
               PMIX_CHECK_NSPACE(p->proc->name.nspace, p->job->nspace),
           "prte_proc_t");
    EXPECT(1 == p->node->num_procs && 1 == p->node->slots_inuse &&
               (PRRTE_BY_CONTEXT ? 0 : 1) == p->node->slots_available &&
               p->proc == pmix_pointer_array_get_item(p->node->procs, 0),
           "prte_node_t");
    p->proc->name.rank = 0;
    (void)pmix_pointer_array_set_item(p->job->procs, 0, p->proc);
    p->job->num_procs = 1;
    EXPECT(PRTE_SUCCESS == prrte_rank_locally(p->job, &p->options),
           "prte_rmaps_options_t, userranked");
    return NULL;
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

/* The description of a rank has to change with its processors, on a machine of two. */
static const char *probe_binding(const probe *p)
{
    prte_topology_t *machine = PMIX_NEW(prte_topology_t);
    EXPECT(NULL != machine && NULL == machine->topo && NULL == p->proc->cpuset &&
               0 == hwloc_topology_init(&machine->topo) &&
               0 == hwloc_topology_set_synthetic(machine->topo, "package:1 core:2 pu:1") &&
               0 == hwloc_topology_load(machine->topo),
           "prte_topology_t");
    p->node->topology = machine;
    char *one = describe_bound(p, "0");
    char *other = describe_bound(p, "1");
    bool differ = NULL != one && NULL != other && 0 != strcmp(one, other);
    free(one);
    free(other);
    p->node->topology = NULL;
    EXPECT(differ, "prte_proc_t, cpuset");
    PMIX_RELEASE(machine);
    return NULL;
}

/* What a function or an object of PRRTE does not do as declared; NULL if there is nothing. Objects
 * that are not as declared are not released: the effect would be unknown. */
static const char *probe_functions(void)
{
    probe p = {.room = {0}};
    const char *other;
    if (NULL != (other = probe_constants()) || NULL != (other = construct(&p)) ||
        NULL != (other = probe_options(&p)) || NULL != (other = probe_rank(&p)) ||
        NULL != (other = probe_binding(&p)))
        return other;
    hwloc_bitmap_free(p.options.job_cpuset);
    hwloc_bitmap_free(p.options.target);
    PMIX_RELEASE(p.job);
    PMIX_RELEASE(p.node);
    return NULL;
}

#else

static const char *probe_functions(void)
{
    return NULL;
}

#endif

bool prrte_fits(char reason[PRRTE_REASON_SIZE])
{
    if (!release_fits()) {
        (void)snprintf(reason, PRRTE_REASON_SIZE,
                       "built for PRRTE %s (headers of %ld.%ld), but this is PRRTE %s",
                       PRRTE_BUILT_FOR, (long)PRTE_VERSION_MAJOR, (long)PRTE_VERSION_MINOR,
                       prte_version_string);
        return false;
    }
    const char *other = prrte_other_size();
    if (NULL == other)
        other = probe_functions();
    if (NULL != other)
        (void)snprintf(reason, PRRTE_REASON_SIZE,
                       "built for PRRTE %s, but this PRRTE %s differs in %s", PRRTE_BUILT_FOR,
                       prte_version_string, other);
    return NULL == other;
}
