/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The mapper: reads the view matrix, places the ranks, and writes the placement into the
 * job's map as an exact one, which the daemons take as it is.
 */
#include "rmaps_dla.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "opal/class/opal_list.h"
#include "opal/class/opal_pointer_array.h"
#include "opal/mca/hwloc/base/base.h"
#include "opal/util/output.h"
#include "orte/constants.h"
#include "orte/mca/rmaps/base/base.h"
#include "orte/mca/rmaps/base/rmaps_private.h"
#include "orte/runtime/orte_globals.h"
#include "orte/util/attr.h"
#include "orte/util/name_fns.h"
#include "orte/util/show_help.h"

#include "matrix/matrix.h"
#include "rmaps_dla_place.h"
#include "rmaps_dla_spec.h"
#include "setmatch/setmatch.h"

/* Tells the user why there will be no job. */
#define REFUSE(topic, ...) \
    ((void) orte_show_help(RMAPS_DLA_HELP_FILE, topic, true, __VA_ARGS__))

/* What to place by: from --map-by and, where that is silent, from the parameters. */
typedef struct placement_request {
    dla_spec spec;
    char cart[64];   /* spec.dims, to be shown */
} placement_request;

/* The job as the placer sees it, and the nodes behind its indices. */
typedef struct layout {
    dla_job job;
    orte_node_t **node;   /* job.nodes of them, each with a reference */
    size_t *index;        /* of each node of the pool in node[]; SIZE_MAX: not in it */
    size_t *by_slot;      /* node of each rank, as mapped by slot */
    size_t *node_of_rank;
} layout;

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

    return (NULL != c->file || NULL != c->cart)
           && !(ORTE_MAPPING_GIVEN & ORTE_GET_MAPPING_DIRECTIVE(jdata->map->mapping));
}

/* The request is for the job that mpirun was started with. Spawned jobs are left to the
 * stock mappers, unless there are none (--mca rmaps dla). */
static bool is_ours(orte_job_t *jdata)
{
    if (ORTE_FLAG_TEST(jdata, ORTE_JOB_FLAG_RESTART)
        || ORTE_FLAG_TEST(jdata, ORTE_JOB_FLAG_DEBUGGER_DAEMON)) {
        return false;
    }
    if (NULL != jdata->map->req_mapper) {
        return named(jdata);
    }
    return !spawned(jdata)
           && (NULL != mca_rmaps_dla_component.map_by || given_by_parameter(jdata));
}

/* ---- the request ---- */

static int read_map_by(const char *map_by, dla_spec *spec)
{
    char reason[DLA_SPEC_REASON_SIZE];
    int rc = dla_spec_parse(map_by, spec, reason);

    if (-EINVAL == rc) {
        REFUSE("bad-map-by", map_by, reason);
        return ORTE_ERR_SILENT;
    }
    return 0 == rc ? ORTE_SUCCESS : ORTE_ERR_OUT_OF_RESOURCE;
}

static int add_threshold_parameter(dla_spec *spec)
{
    int threshold = mca_rmaps_dla_component.threshold;
    char text[32];

    if (0 > threshold || 100 < threshold) {
        snprintf(text, sizeof(text), "%d", threshold);
        REFUSE("bad-parameter", "rmaps_dla_threshold", text,
               "it is not a whole number of per cent from 0 to 100");
        return ORTE_ERR_SILENT;
    }
    spec->has_threshold = true;
    spec->threshold = (unsigned) threshold;
    return ORTE_SUCCESS;
}

static int add_cart_parameter(dla_spec *spec)
{
    const char *cart = mca_rmaps_dla_component.cart;
    char reason[DLA_SPEC_REASON_SIZE];

    if (0 != dla_spec_parse_cart(cart, spec->dims, &spec->ndims, reason)) {
        REFUSE("bad-parameter", "rmaps_dla_cart", cart, reason);
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}

static int add_parameters(dla_spec *spec)
{
    const orte_rmaps_dla_component_t *c = &mca_rmaps_dla_component;
    int rc = ORTE_SUCCESS;

    if (NULL == spec->file && NULL != c->file && NULL == (spec->file = strdup(c->file))) {
        rc = ORTE_ERR_OUT_OF_RESOURCE;
    }
    if (ORTE_SUCCESS == rc && !spec->has_threshold) {
        rc = add_threshold_parameter(spec);
    }
    if (ORTE_SUCCESS == rc && 0 == spec->ndims && NULL != c->cart) {
        rc = add_cart_parameter(spec);
    }
    return rc;
}

static void show_cart(placement_request *r)
{
    size_t used = 0;

    for (size_t i = 0; i < r->spec.ndims && used < sizeof(r->cart); i++) {
        used += (size_t) snprintf(r->cart + used, sizeof(r->cart) - used, "%s%zu",
                                  0 == i ? "" : "x", r->spec.dims[i]);
    }
}

static int read_request(placement_request *r)
{
    int rc = ORTE_SUCCESS;

    memset(r, 0, sizeof(*r));
    if (NULL != mca_rmaps_dla_component.map_by) {
        rc = read_map_by(mca_rmaps_dla_component.map_by, &r->spec);
    }
    if (ORTE_SUCCESS == rc) {
        rc = add_parameters(&r->spec);
    }
    if (ORTE_SUCCESS == rc && NULL == r->spec.file && 0 == r->spec.ndims) {
        REFUSE("nothing-to-place-by", orte_basename, orte_basename);
        rc = ORTE_ERR_SILENT;
    }
    if (ORTE_SUCCESS != rc) {
        dla_spec_release(&r->spec);
    }
    show_cart(r);
    return rc;
}

/* ---- the view matrix ---- */

/* A FIFO would block, and a folder opens but does not read: only files are opened. */
static FILE *open_view(const char *path)
{
    const char *cause = NULL;
    FILE *stream = NULL;
    struct stat status;

    if (0 != stat(path, &status)) {
        cause = strerror(errno);
    } else if (!S_ISREG(status.st_mode)) {
        cause = S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file";
    } else if (NULL == (stream = fopen(path, "r"))) {
        cause = strerror(errno);
    }
    if (NULL == stream) {
        REFUSE("unreadable-view", path, cause);
    }
    return stream;
}

static int parse_view(FILE *stream, const char *path, matrix *view)
{
    matrix_error error;
    int rc = matrix_read_fileview(stream, view, &error);

    if (-ENOMEM == rc) {
        return ORTE_ERR_OUT_OF_RESOURCE;
    }
    if (0 != rc) {
        char line[32] = "";

        if (0 != error.line) {
            snprintf(line, sizeof(line), ", line %zu", error.line);
        }
        REFUSE("bad-view", path, line, error.reason);
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}

static int read_view(const char *path, size_t ranks, matrix *view)
{
    FILE *stream = open_view(path);
    int rc;

    if (NULL == stream) {
        return ORTE_ERR_SILENT;
    }
    rc = parse_view(stream, path, view);
    fclose(stream);
    if (ORTE_SUCCESS == rc && view->rows != ranks) {
        REFUSE("wrong-size", path, view->rows, ranks);
        matrix_release(view);
        rc = ORTE_ERR_SILENT;
    }
    return rc;
}

static int check_cart(const placement_request *r, size_t ranks)
{
    size_t product = 1;

    for (size_t i = 0; i < r->spec.ndims; i++) {
        product *= r->spec.dims[i];
    }
    if (0 != r->spec.ndims && product != ranks) {
        REFUSE("wrong-cart", r->cart, product, ranks);
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}

static int get_view(const placement_request *r, size_t ranks, matrix *view)
{
    int rc = check_cart(r, ranks);

    if (ORTE_SUCCESS != rc) {
        return rc;
    }
    if (NULL != r->spec.file) {
        return read_view(r->spec.file, ranks, view);
    }
    rc = setmatch_cartesian(r->spec.dims, r->spec.ndims, view);
    if (0 != rc) {
        REFUSE("failed", r->cart, strerror(-rc));
        return ORTE_ERR_SILENT;
    }
    return ORTE_SUCCESS;
}

/* ---- the job and its nodes ---- */

static void layout_release(layout *l)
{
    for (size_t a = 0; NULL != l->job.app && a < l->job.apps; a++) {
        free(l->job.app[a].node);
    }
    for (size_t n = 0; n < l->job.nodes; n++) {
        OBJ_RELEASE(l->node[n]);
    }
    free(l->job.app);
    free(l->job.node);
    free(l->node);
    free(l->index);
    free(l->by_slot);
    free(l->node_of_rank);
}

/* --npernode and its kin bound every node, as they bound the stock policy "slot". */
static size_t per_node_limit(const orte_node_t *node)
{
    if (orte_rmaps_base_pernode) {
        return 1;
    }
    if (0 < orte_rmaps_base_n_pernode) {
        return (size_t) orte_rmaps_base_n_pernode;
    }
    if (0 < orte_rmaps_base_n_persocket && NULL != node->topology) {
        return (size_t) orte_rmaps_base_n_persocket
               * opal_hwloc_base_get_nbobjs_by_type(node->topology->topo, HWLOC_OBJ_PACKAGE, 0,
                                                    OPAL_HWLOC_AVAILABLE);
    }
    return SIZE_MAX;
}

static size_t room(int slots, int in_use)
{
    return slots > in_use ? (size_t) (slots - in_use) : 0;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* max_slots is a limit also for those who may oversubscribe. */
static dla_node node_capacity(const orte_node_t *node)
{
    size_t limit = per_node_limit(node);
    size_t most = 0 == node->slots_max ? SIZE_MAX : room(node->slots_max, node->slots_inuse);

    limit = smaller(limit, most);
    return (dla_node) { smaller(room(node->slots, node->slots_inuse), limit), limit };
}

/* Takes over the reference to a node; its index. */
static size_t adopt_node(layout *l, orte_node_t *node)
{
    size_t *index = &l->index[node->index];

    if (SIZE_MAX == *index) {
        *index = l->job.nodes;
        l->node[l->job.nodes] = node;
        l->job.node[l->job.nodes] = node_capacity(node);
        l->job.nodes++;
    } else {
        OBJ_RELEASE(node);
    }
    return *index;
}

/* The nodes an application context may use, by its hosts and host files. */
static int gather_nodes(layout *l, orte_job_t *jdata, orte_app_context_t *context, dla_app *app)
{
    orte_std_cntr_t slots;
    opal_list_t list;
    int rc;

    OBJ_CONSTRUCT(&list, opal_list_t);
    rc = orte_rmaps_base_get_target_nodes(&list, &slots, context, jdata->map->mapping,
                                          0 == l->job.nodes, false);
    if (ORTE_SUCCESS == rc) {
        app->node = calloc(opal_list_get_size(&list) + 1, sizeof(*app->node));
        rc = NULL == app->node ? ORTE_ERR_OUT_OF_RESOURCE : ORTE_SUCCESS;
    }
    while (ORTE_SUCCESS == rc && !opal_list_is_empty(&list)) {
        app->node[app->nodes++] = adopt_node(l, (orte_node_t *) opal_list_remove_first(&list));
    }
    OPAL_LIST_DESTRUCT(&list);
    return rc;
}

static int gather_apps(layout *l, orte_job_t *jdata)
{
    for (int i = 0; i < jdata->apps->size; i++) {
        orte_app_context_t *context = opal_pointer_array_get_item(jdata->apps, i);
        dla_app *app = &l->job.app[l->job.apps];
        int rc;

        if (NULL == context) {
            continue;
        }
        l->job.apps++;
        app->ranks = (size_t) context->num_procs;
        l->job.ranks += app->ranks;
        rc = gather_nodes(l, jdata, context, app);
        if (ORTE_SUCCESS != rc) {
            return rc;
        }
    }
    l->by_slot = calloc(l->job.ranks + 1, sizeof(*l->by_slot));
    l->node_of_rank = calloc(l->job.ranks + 1, sizeof(*l->node_of_rank));
    return NULL == l->by_slot || NULL == l->node_of_rank ? ORTE_ERR_OUT_OF_RESOURCE : ORTE_SUCCESS;
}

static int layout_init(layout *l, orte_job_t *jdata)
{
    size_t pool = (size_t) orte_node_pool->size;
    int rc = ORTE_ERR_OUT_OF_RESOURCE;

    *l = (layout) {
        .job = {
            .app = calloc((size_t) jdata->apps->size + 1, sizeof(*l->job.app)),
            .node = calloc(pool + 1, sizeof(*l->job.node)),
            .oversubscribe = !(ORTE_MAPPING_NO_OVERSUBSCRIBE
                               & ORTE_GET_MAPPING_DIRECTIVE(jdata->map->mapping)),
        },
        .node = calloc(pool + 1, sizeof(*l->node)),
        .index = calloc(pool + 1, sizeof(*l->index)),
    };
    if (NULL != l->job.app && NULL != l->job.node && NULL != l->node && NULL != l->index) {
        memset(l->index, 0xff, pool * sizeof(*l->index));
        rc = gather_apps(l, jdata);
    }
    if (ORTE_SUCCESS != rc) {
        layout_release(l);
    }
    return rc;
}

/* ---- placing ---- */

static orte_app_context_t *nth_context(orte_job_t *jdata, size_t n)
{
    for (int i = 0; i < jdata->apps->size; i++) {
        orte_app_context_t *context = opal_pointer_array_get_item(jdata->apps, i);

        if (NULL != context && 0 == n--) {
            return context;
        }
    }
    return NULL;
}

static int place_by_slot(layout *l, orte_job_t *jdata)
{
    size_t app = 0;
    int rc = dla_place_by_slot(&l->job, l->by_slot, &app);

    if (-ENOSPC == rc) {
        orte_app_context_t *context = nth_context(jdata, app);

        orte_show_help("help-orte-rmaps-base.txt", "orte-rmaps-base:alloc-error", true,
                       context->num_procs, context->app, orte_process_info.nodename);
        return ORTE_ERR_SILENT;
    }
    return 0 == rc ? ORTE_SUCCESS : ORTE_ERR_OUT_OF_RESOURCE;
}

static void report(const layout *l, orte_job_t *jdata, const placement_request *r,
                   const matrix *view)
{
    int64_t before, after, total;

    if (0 >= mca_rmaps_dla_component.verbose
        && 2 > opal_output_get_verbosity(orte_rmaps_base_framework.framework_output)) {
        return;
    }
    if (0 != setmatch_weight(view, l->by_slot, &before, &total)
        || 0 != setmatch_weight(view, l->node_of_rank, &after, &total)) {
        return;
    }
    opal_output(0, "rmaps:dla: job %s: %zu ranks on %zu nodes by %s, threshold %u %%: weight "
                "inside nodes %" PRId64 " of %" PRId64 " by slot, %" PRId64 " of %" PRId64 " placed",
                ORTE_JOBID_PRINT(jdata->jobid), l->job.ranks, l->job.nodes,
                NULL == r->spec.file ? r->cart : r->spec.file, r->spec.threshold,
                before, total, after, total);
}

static int place_by_view(layout *l, orte_job_t *jdata, const placement_request *r)
{
    matrix view;
    int rc = get_view(r, l->job.ranks, &view);

    if (ORTE_SUCCESS != rc) {
        return rc;
    }
    rc = dla_place_by_view(&l->job, &view, r->spec.threshold, l->by_slot, l->node_of_rank);
    if (0 == rc) {
        report(l, jdata, r, &view);
    } else {
        REFUSE("failed", NULL == r->spec.file ? r->cart : r->spec.file, strerror(-rc));
    }
    matrix_release(&view);
    return 0 == rc ? ORTE_SUCCESS : ORTE_ERR_SILENT;
}

/* ---- the map ---- */

/* Nodes enter the map in their own order, as the stock mappers have it. */
static int map_nodes(const layout *l, orte_job_t *jdata)
{
    bool *used = calloc(l->job.nodes + 1, sizeof(*used));

    if (NULL == used) {
        return ORTE_ERR_OUT_OF_RESOURCE;
    }
    for (size_t rank = 0; rank < l->job.ranks; rank++) {
        used[l->node_of_rank[rank]] = true;
    }
    for (size_t n = 0; n < l->job.nodes; n++) {
        if (used[n]) {
            ORTE_FLAG_SET(l->node[n], ORTE_NODE_FLAG_MAPPED);
            OBJ_RETAIN(l->node[n]);
            opal_pointer_array_add(jdata->map->nodes, l->node[n]);
            ++jdata->map->num_nodes;
        }
    }
    free(used);
    return ORTE_SUCCESS;
}

/* mpirun crashes at exit when a node holds more than its slots without these flags. */
static void flag_oversubscribed(orte_job_t *jdata, orte_node_t *node)
{
    if (node->slots < (int) node->num_procs) {
        ORTE_FLAG_SET(node, ORTE_NODE_FLAG_OVERSUBSCRIBED);
        ORTE_FLAG_SET(jdata, ORTE_JOB_FLAG_OVERSUBSCRIBED);
    }
}

static int map_rank(orte_job_t *jdata, orte_node_t *node, orte_app_context_t *context, size_t rank)
{
    orte_proc_t *proc = orte_rmaps_base_setup_proc(jdata, node, context->idx);

    if (NULL == proc) {
        return ORTE_ERR_OUT_OF_RESOURCE;
    }
    flag_oversubscribed(jdata, node);
    proc->name.vpid = (orte_vpid_t) rank;
    if (NULL != node->topology && NULL != node->topology->topo) {
        orte_set_attribute(&proc->attributes, ORTE_PROC_HWLOC_LOCALE, ORTE_ATTR_LOCAL,
                           hwloc_get_root_obj(node->topology->topo), OPAL_PTR);
    }
    ++jdata->num_procs;
    return opal_pointer_array_set_item(jdata->procs, (int) rank, proc);
}

static int map_ranks(const layout *l, orte_job_t *jdata)
{
    size_t rank = 0;
    int rc = ORTE_SUCCESS;

    for (size_t a = 0; a < l->job.apps; a++) {
        orte_app_context_t *context = nth_context(jdata, a);

        context->first_rank = (orte_vpid_t) rank;
        for (size_t end = rank + l->job.app[a].ranks; ORTE_SUCCESS == rc && rank < end; rank++) {
            rc = map_rank(jdata, l->node[l->node_of_rank[rank]], context, rank);
        }
    }
    return rc;
}

/* ---- binding ---- */

static bool topology_known(const orte_job_t *jdata)
{
    for (int i = 0; i < jdata->map->nodes->size; i++) {
        const orte_node_t *node = opal_pointer_array_get_item(jdata->map->nodes, i);

        if (NULL != node && (NULL == node->topology || NULL == node->topology->topo)) {
            return false;
        }
    }
    return true;
}

/* Open MPI forgets how many ranks are bound to each object before it binds those of another
 * node, for nodes of one kind share one topology; but since hwloc 2 it does not find the
 * NUMA nodes. */
static void clear_numa_usage(const orte_node_t *node)
{
    hwloc_obj_t numa = NULL;

    while (NULL != (numa = hwloc_get_next_obj_by_type(node->topology->topo, HWLOC_OBJ_NUMANODE, numa))) {
        if (NULL != numa->userdata) {
            ((opal_hwloc_obj_data_t *) numa->userdata)->num_bound = 0;
        }
    }
}

/* As the daemon of that node would, for the ranks of that node alone. */
static int bind_node(orte_job_t *jdata, orte_node_t *node)
{
    opal_pointer_array_t *nodes = jdata->map->nodes;
    opal_pointer_array_t alone;
    bool no_vm = orte_no_vm;
    int rc;

    OBJ_CONSTRUCT(&alone, opal_pointer_array_t);
    opal_pointer_array_add(&alone, node);
    clear_numa_usage(node);
    jdata->map->nodes = &alone;
    orte_no_vm = true;   /* lifts the restriction to mpirun's own node */
    rc = orte_rmaps_base_compute_bindings(jdata);
    orte_no_vm = no_vm;
    jdata->map->nodes = nodes;
    OBJ_DESTRUCT(&alone);
    return rc;
}

/* Binds the ranks of all nodes but those marked. A node that cannot carry a binding that
 * nobody asked for is marked; Open MPI then unbinds the whole job and drops the policy, which
 * is kept here for the other nodes. */
static int bind_nodes(orte_job_t *jdata, bool *unbound, bool *lost)
{
    const opal_binding_policy_t binding = jdata->map->binding;
    int rc = ORTE_SUCCESS;

    *lost = false;
    for (int i = 0; ORTE_SUCCESS == rc && i < jdata->map->nodes->size; i++) {
        orte_node_t *node = opal_pointer_array_get_item(jdata->map->nodes, i);

        if (NULL == node || unbound[i]) {
            continue;
        }
        rc = bind_node(jdata, node);
        if (binding != jdata->map->binding) {
            jdata->map->binding = binding;
            unbound[i] = *lost = true;
        }
    }
    return rc;
}

/* The daemons of a fully described job compute no bindings, and mpirun computes those of its
 * own node only. Here it computes all of them, and they travel with the job. As with the
 * stock mappers, oversubscribed nodes are bound only when binding was asked for. */
static int bind_ranks(orte_job_t *jdata)
{
    bool *unbound;
    bool lost;
    int rc;

    if (!topology_known(jdata) || (ORTE_FLAG_TEST(jdata, ORTE_JOB_FLAG_OVERSUBSCRIBED)
                                   && !OPAL_BINDING_POLICY_IS_SET(jdata->map->binding))) {
        return ORTE_SUCCESS;
    }
    unbound = calloc((size_t) jdata->map->nodes->size + 1, sizeof(*unbound));
    if (NULL == unbound) {
        return ORTE_ERR_OUT_OF_RESOURCE;
    }
    /* a cpu list is dealt out by local rank */
    rc = orte_rmaps_base_compute_local_ranks(jdata);
    if (ORTE_SUCCESS == rc) {
        rc = bind_nodes(jdata, unbound, &lost);
    }
    if (ORTE_SUCCESS == rc && lost) {
        rc = bind_nodes(jdata, unbound, &lost);
    }
    free(unbound);
    /* bindings are given: nobody shall compute them again */
    ORTE_SET_MAPPING_POLICY(jdata->map->mapping, ORTE_MAPPING_BYUSER);
    return rc;
}

/* ---- the module ---- */

static int place_job(layout *l, orte_job_t *jdata, const placement_request *r)
{
    int rc = place_by_slot(l, jdata);

    if (ORTE_SUCCESS == rc && NULL != r) {
        return place_by_view(l, jdata, r);
    }
    memcpy(l->node_of_rank, l->by_slot, l->job.ranks * sizeof(*l->by_slot));
    return rc;
}

/* The policies of this job as they now stand. Ranks are numbered here, so no ranking policy
 * may renumber them; bound is downwards from the node. */
static void set_policies(orte_job_t *jdata, const placement_request *r)
{
    free(jdata->map->last_mapper);
    jdata->map->last_mapper = strdup("dla");
    ORTE_SET_MAPPING_POLICY(jdata->map->mapping, ORTE_MAPPING_BYSLOT);
    ORTE_SET_RANKING_POLICY(jdata->map->ranking, ORTE_RANK_BY_SLOT);
    if (NULL != r && r->spec.no_local) {
        ORTE_SET_MAPPING_DIRECTIVE(jdata->map->mapping, ORTE_MAPPING_NO_USE_LOCAL);
    }
}

static int map_layout(const layout *l, orte_job_t *jdata)
{
    int rc;

    jdata->num_procs = 0;
    rc = map_nodes(l, jdata);
    if (ORTE_SUCCESS == rc) {
        rc = map_ranks(l, jdata);
    }
    if (ORTE_SUCCESS == rc) {
        /* otherwise the daemons number the ranks anew, from how many each node has */
        orte_set_attribute(&jdata->attributes, ORTE_JOB_FULLY_DESCRIBED, ORTE_ATTR_GLOBAL,
                           NULL, OPAL_BOOL);
        rc = bind_ranks(jdata);
    }
    return rc;
}

static int map_by_request(orte_job_t *jdata, const placement_request *r)
{
    layout l;
    int rc;

    set_policies(jdata, r);
    rc = layout_init(&l, jdata);
    if (ORTE_SUCCESS != rc) {
        return rc;
    }
    rc = place_job(&l, jdata, r);
    if (ORTE_SUCCESS == rc) {
        rc = map_layout(&l, jdata);
    }
    layout_release(&l);
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
    placement_request request;
    int rc;

    if (!is_ours(jdata)) {
        return ORTE_ERR_TAKE_NEXT_OPTION;
    }
    if (spawned(jdata)) {
        return map_by_request(jdata, NULL);
    }
    rc = read_request(&request);
    if (ORTE_SUCCESS == rc) {
        rc = map_by_request(jdata, &request);
        dla_spec_release(&request.spec);
    }
    if (ORTE_SUCCESS != rc) {
        fail_mpirun();
    }
    return rc;
}

/* map_job has set the locations. */
static int rmaps_dla_assign_locations(orte_job_t *jdata)
{
    if (NULL != jdata->map->last_mapper && 0 == strcmp(jdata->map->last_mapper, "dla")) {
        return ORTE_SUCCESS;
    }
    return ORTE_ERR_TAKE_NEXT_OPTION;
}

orte_rmaps_base_module_t orte_rmaps_dla_module = {
    .map_job = rmaps_dla_map_job,
    .assign_locations = rmaps_dla_assign_locations,
};
