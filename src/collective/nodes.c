/* SPDX-License-Identifier: BSD-3-Clause */
/* The node of each rank: that of the node's leader, which its ranks know since launch. Rank 0 asks
 * all ranks for it once for a group of ranks, whatever files they open, and tells the leaders. No
 * other rank has memory for each rank or node.
 *
 * The hops between nodes come from a file that the user names, from the job's environment, or from
 * nowhere; rank 0 alone learns them, since it alone decides. How near the ranks of a node are to
 * its network devices follows from the locality strings that the launcher gave this node for ranks
 * that it bound. Where it gave none, each rank finds out with hwloc by the processors that it may
 * use, and tells its leader, which alone learns it. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "collective/nodes.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/mix.h"
#include "plan/division.h"
#include "topo/machine.h"

#define SLURM_ADDRESS "SLURM_TOPOLOGY_ADDR"
#define SLURM_PATTERN "SLURM_TOPOLOGY_ADDR_PATTERN"

void coll_nodes_release(coll_nodes *nodes)
{
    free(nodes->node_of_rank);
    free(nodes->ranks_on_node);
    for (size_t n = 0; nodes->host != NULL && n < nodes->count; n++)
        free(nodes->host[n]);
    free(nodes->host);
    topo_release(&nodes->topology);
    free(nodes->nearness);
    *nodes = (coll_nodes){0};
}

/* ---- the map ---- */

/* A node has the name of its first rank's host. */
static int name_nodes(coll_nodes *nodes, const coll_group *group)
{
    nodes->host = calloc(nodes->count, sizeof *nodes->host);
    if (nodes->host == NULL)
        return -ENOMEM;
    for (int r = 0; r < group->size; r++) {
        char **host = &nodes->host[nodes->node_of_rank[r]];
        if (*host == NULL)
            *host = group->runtime->host(group->runtime->context, r);
        if (*host == NULL)
            return -ENOMEM;
    }
    return 0;
}

/* What all ranks get of the map; the leader of each node, and its number of ranks, follow. */
enum { NODES, CAPACITY, HEAD };
/* Elements of a reduction at most: no rank takes memory for it. */
enum { MOST_ELEMENTS = 512 };

/* Rank 0 has the leader of each rank; *leader becomes that of each node. */
static int number_nodes(coll_nodes *nodes, size_t ranks, int64_t *leader)
{
    size_t count = 0;
    for (size_t r = 0; r < ranks; r++)
        count += leader[r] == (int64_t)r;
    nodes->node_of_rank = calloc(ranks, sizeof *nodes->node_of_rank);
    nodes->ranks_on_node = calloc(count, sizeof *nodes->ranks_on_node);
    if (nodes->node_of_rank == NULL || nodes->ranks_on_node == NULL)
        return -ENOMEM;
    for (size_t r = 0; r < ranks; r++) {
        size_t of = (size_t)leader[r];
        if (of == r)
            leader[nodes->count] = leader[r];
        nodes->node_of_rank[r] = of == r ? nodes->count++ : nodes->node_of_rank[of];
        nodes->ranks_on_node[nodes->node_of_rank[r]]++;
    }
    nodes->capacity = division_chosen_capacity(nodes->ranks_on_node, nodes->count);
    return 0;
}

static int allocate_leaders(coll_nodes *nodes, coll_group *group)
{
    free(group->leader);
    group->leader = base_alloc(nodes->count, sizeof *group->leader);
    if (group->rank != 0)
        nodes->ranks_on_node = calloc(nodes->count, sizeof *nodes->ranks_on_node);
    return group->leader == NULL || nodes->ranks_on_node == NULL ? -ENOMEM : 0;
}

static void keep_leader(coll_nodes *nodes, coll_group *group, size_t node, const int64_t *element)
{
    group->leader[node] = (int)element[0];
    nodes->ranks_on_node[node] = (size_t)element[1];
    if (group->leader[node] == group->rank)
        group->leader_index = (int)node;
}

/* Rank 0 informs all leaders by maxima: messages need leaders that know each other. rc: this rank's
 * status so far. Collective. */
static int share_leaders(coll_nodes *nodes, coll_group *group, const int64_t *leader, int rc)
{
    int64_t element[MOST_ELEMENTS];
    enum { STEP = MOST_ELEMENTS / 2 };
    for (size_t from = 0; from < nodes->count; from += STEP) {
        size_t count = nodes->count - from < STEP ? nodes->count - from : STEP;
        memset(element, 0, sizeof element);
        for (size_t n = 0; n < count && group->rank == 0; n++) {
            element[2 * n] = leader[from + n];
            element[2 * n + 1] = (int64_t)nodes->ranks_on_node[from + n];
        }
        int failed = coll_reduce(group, element, 2 * count, COLL_MAX);
        rc = rc != 0 ? rc : failed;
        for (size_t n = 0; n < count && rc == 0 && group->is_leader; n++)
            keep_leader(nodes, group, from + n, element + 2 * n);
    }
    return rc;
}

/* leader: on rank 0, room for that of each rank. Collective. */
static int share_map(coll_nodes *nodes, coll_group *group, int64_t *leader)
{
    int64_t own = group->local[0];
    int rc = coll_gather(group, &own, 1, leader);
    if (rc == 0 && group->rank == 0)
        rc = number_nodes(nodes, (size_t)group->size, leader);
    int64_t head[HEAD] = {(int64_t)nodes->count, nodes->capacity};
    int failed = coll_reduce(group, head, HEAD, COLL_MAX);
    if (failed != 0)
        return failed;
    nodes->count = (size_t)head[NODES];
    nodes->capacity = head[CAPACITY];
    group->leaders = (int)nodes->count;
    if (rc == 0 && group->is_leader)
        rc = allocate_leaders(nodes, group);
    return share_leaders(nodes, group, leader, rc);
}

/* Collective. */
static int make_map(coll_nodes *nodes, coll_group *group)
{
    int rc = 0;
    int64_t *leader =
        group->rank == 0 ? base_zeroed((size_t)group->size, sizeof *leader, &rc) : NULL;
    int64_t error = group->runtime->error_class(rc);
    rc = coll_reduce(group, &error, 1, COLL_MAX);
    if (rc == 0)
        rc = (int)error;
    if (rc == 0)
        rc = share_map(nodes, group, leader);
    free(leader);
    return rc;
}

/* ---- hops ---- */

static const char *const *hosts_of(const coll_nodes *nodes)
{
    return (const char *const *)nodes->host;
}

static void report_source(const coll_nodes *nodes, coll_process *process, const char *origin)
{
    coll_log(process, 10, "hops between %zu nodes from %s (%s)", nodes->count, origin,
             nodes->topology.source);
}

static void distances_report_flat(const coll_nodes *nodes, coll_process *process)
{
    coll_log(process, 10, "%zu nodes, all equally far apart", nodes->count);
}

/* ---- hops from a file ---- */

static int refuse_topology(coll_process *process, parameter_texts text, const matrix_error *error)
{
    char line[32] = "";
    if (error->line > 0)
        snprintf(line, sizeof line, ", line %zu", error->line);
    const coll_refusal refusal = {PARAMETER_TOPOLOGY, parameter_is_strict(text), -EINVAL,
                                  "The run continues as if all nodes were equally far apart."};
    return coll_refuse(process, &refusal, COLL_TEXT_TOPOLOGY,
                       COLL_NAMED(process, PARAMETER_TOPOLOGY), text[PARAMETER_TOPOLOGY], line,
                       error->reason);
}

static int read_topology_file(coll_nodes *nodes, coll_process *process, parameter_texts text)
{
    const char *path = text[PARAMETER_TOPOLOGY];
    matrix_error error = {0, ""};
    const char *cause;
    FILE *stream = base_open_regular(path, &cause);
    int rc = stream != NULL
                 ? topo_read(stream, hosts_of(nodes), nodes->count, &nodes->topology, &error)
                 : matrix_refuse(&error, 0, "%s", cause);
    if (stream != NULL)
        fclose(stream);
    if (rc == 0)
        report_source(nodes, process, path);
    if (rc == 0 || rc == -ENOMEM)
        return rc;
    return refuse_topology(process, text, &error);
}

/* Rank 0 reads the topology that the parameter names, or makes a flat one. *is_open: it names none,
 * and the job's environment decides. Reports errors. */
static int distances_read(coll_nodes *nodes, coll_process *process, parameter_texts text,
                          bool *is_open)
{
    const char *source = parameter_text(text, PARAMETER_TOPOLOGY);
    const bool is_auto = source[0] == '\0' || strcmp(source, "auto") == 0,
               is_none = strcmp(source, "none") == 0;
    int rc = is_auto || is_none ? 0 : read_topology_file(nodes, process, text);
    if (nodes->topology.nodes == 0)
        topo_flat(&nodes->topology, nodes->count);
    *is_open = is_auto && nodes->count > 1;
    if (is_none)
        distances_report_flat(nodes, process);
    return rc;
}

/* ---- hops from the job's environment ---- */

/* Whether this rank is the leader of its node, and the environment has the node's address. The
 * pattern, "switch.switch.node", decides whether an address has switches: the name of a node may
 * have dots. */
static bool has_address(const coll_group *group)
{
    const char *address = getenv(SLURM_ADDRESS), *pattern = getenv(SLURM_PATTERN);
    return group->is_leader && address != NULL &&
           strchr(pattern != NULL ? pattern : address, '.') != NULL;
}

/* These are the texts of all nodes. */
typedef struct node_texts {
    char **text; /* the caller frees it and each string; NULL if memory is exhausted */
    const coll_nodes *nodes;
} node_texts;

static int add_text(void *context, int leader, const int64_t *element, size_t count)
{
    const node_texts *texts = context;
    char *text = strndup((const char *)element, count * sizeof *element);
    texts->text[texts->nodes->node_of_rank[leader]] = text;
    return text == NULL ? -ENOMEM : 0;
}

/* Leaders send their addresses to rank 0. */
static int gather_addresses(coll_group *group, node_texts *all)
{
    const char *text = getenv(SLURM_ADDRESS);
    size_t bytes = text != NULL ? strlen(text) + 1 : 0;
    coll_message own = {.from = group->rank};
    int rc = 0;
    own.count = (bytes + sizeof *own.element - 1) / sizeof *own.element;
    own.element = base_zeroed(own.count, sizeof *own.element, &rc);
    if (group->rank == 0)
        all->text = base_zeroed(all->nodes->count, sizeof *all->text, &rc);
    if (rc == 0 && bytes > 0)
        memcpy(own.element, text, bytes);
    rc = coll_gather_leaders(group, COLL_TAG_ROWS, &own, &(coll_message){0}, add_text, all, rc);
    free(own.element);
    return rc;
}

/* These distances were not asked for by name: the run continues without them. */
static void use_addresses(coll_nodes *nodes, coll_process *process, char *const *address,
                          bool *is_open)
{
    matrix_error error = {0, "there is no memory for them"};
    int rc = topo_from_addresses((const char *const *)address, hosts_of(nodes), nodes->count,
                                 &nodes->topology, &error);
    if (rc == 0) {
        *is_open = false;
        report_source(nodes, process, "the job's environment");
    } else if (rc != -ENODATA && coll_is_first(process, "environment", "")) {
        coll_show(process, COLL_TEXT_ENVIRONMENT, error.reason,
                  COLL_NAMED(process, PARAMETER_TOPOLOGY));
    }
}

/* Hops from the addresses of all nodes; *is_open becomes false on rank 0 if it could use them. An
 * unusable address is reported, and is no error. Collective. */
static int distances_ask(coll_nodes *nodes, coll_group *group, bool *is_open)
{
    node_texts all = {.nodes = nodes};
    int rc = group->is_leader ? gather_addresses(group, &all) : 0;
    rc = coll_agree_error(group, rc);
    if (rc == 0 && group->rank == 0)
        use_addresses(nodes, group->runtime->process, all.text, is_open);
    for (size_t n = 0; all.text != NULL && n < nodes->count; n++)
        free(all.text[n]);
    free(all.text);
    return rc;
}

/* ---- nearness ---- */

static topo_machine *find_machine(const coll_group *group)
{
    const coll_process *process = group->runtime->process;
    return process->machine(process->context);
}

/* ---- nearness from the launcher ---- */

/* How near the ranks of this node are to its network devices, from the localities that the launcher
 * gives. *nearness stays where none is bound, or the machine is not known. *given: it gives that
 * of any rank, or the node has one rank. */
static int nearness_read(const coll_group *group, unsigned char **nearness, bool *given)
{
    const coll_runtime *runtime = group->runtime;
    size_t ranks = (size_t)group->locals;
    bool is_bound = false;
    int rc = 0;
    char **locality = calloc(ranks, sizeof *locality);
    if (locality == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < ranks; i++) {
        locality[i] = runtime->locality(runtime->context, group->local[i]);
        is_bound = is_bound || locality[i] != NULL;
    }
    *given = ranks < 2 || is_bound;
    topo_machine *machine = ranks > 1 && is_bound ? find_machine(group) : NULL;
    if (machine != NULL)
        *nearness = base_zeroed(ranks, 1, &rc);
    if (machine != NULL && rc == 0)
        rc = topo_machine_near_network(machine, locality, ranks, *nearness);
    for (size_t i = 0; i < ranks; i++)
        free(locality[i]);
    free(locality);
    return rc;
}

/* ---- nearness from hwloc ---- */

/* Whether this rank may use fewer processors than there are. Where there are more than the set has
 * room for, hwloc finds out. */
static bool may_be_bound(void)
{
    cpu_set_t usable;
    return sched_getaffinity(0, sizeof usable, &usable) != 0 ||
           CPU_COUNT(&usable) < sysconf(_SC_NPROCESSORS_ONLN);
}

/* 0 where it is not bound, or the machine is not known. */
static int find_own_nearness(const coll_group *group, int64_t *nearness)
{
    topo_machine *machine = find_machine(group);
    char *own = NULL;
    unsigned char found = 0;
    int rc = machine == NULL ? 0 : topo_machine_own_locality(machine, &own);
    if (rc == 0 && own != NULL)
        rc = topo_machine_near_network(machine, &own, 1, &found);
    free(own);
    *nearness = found;
    return rc;
}

typedef struct peer_nearness {
    const coll_group *group;
    unsigned char *of_local; /* NULL if memory is exhausted */
} peer_nearness;

static int add_nearness(void *context, int rank, const int64_t *element, size_t count)
{
    const peer_nearness *all = context;
    if (all->of_local != NULL && count > 0)
        all->of_local[coll_local_index(all->group, rank)] = (unsigned char)*element;
    return 0;
}

/* The same from what each rank's own hwloc says; *nearness changes on leaders only, and there
 * unless `given`. Collective. */
static int nearness_ask(coll_group *group, bool given, unsigned char **nearness)
{
    int64_t own[2] = {0}; /* one element would be an error */
    int rc = find_own_nearness(group, own);
    peer_nearness all = {.group = group};
    const coll_message message = {group->rank, own, 2};
    if (group->is_leader)
        all.of_local = base_zeroed((size_t)group->locals, 1, &rc);
    rc = coll_gather_node(group, COLL_TAG_ROWS, &message, add_nearness, &all, rc);
    if (!given && all.of_local != NULL)
        *nearness = all.of_local;
    else
        free(all.of_local);
    return coll_agree_error(group, rc);
}

/* The leader of a node reports whether the launcher gave localities, or each rank's hwloc was
 * asked. */
static void nearness_report(const coll_group *group, bool given, bool asked)
{
    const char *source = "all equal, because ranks are not bound";
    if (group->locals < 2)
        return;
    if (given)
        source = "from the launcher";
    else if (asked)
        source = "from hwloc";
    coll_log(group->runtime->process, 10, "localities of the ranks of a node: %s", source);
}

/* ---- all of it ---- */

/* What has to be asked for once the nodes are known, by maxima: whether rank 0 finds the distances
 * between nodes in the environment, and any node has an address; whether any launcher gives no
 * localities of the ranks of a node, and any rank may be bound; errors. */
enum { OPEN, ADDRESS, NO_LOCALITIES, BOUND, ERROR, VALUES };

static int find_nodes(coll_nodes *nodes, coll_group *group, parameter_texts text)
{
    coll_process *process = group->runtime->process;
    bool is_root = group->rank == 0, is_open = false, given = true;
    int rc = make_map(nodes, group);
    if (rc == 0 && is_root)
        rc = name_nodes(nodes, group);
    if (rc == 0 && is_root)
        rc = distances_read(nodes, process, text, &is_open);
    if (rc == 0 && group->is_leader)
        rc = nearness_read(group, &nodes->nearness, &given);
    int64_t value[VALUES] = {is_open, has_address(group), !given, may_be_bound(),
                             group->runtime->error_class(rc)};
    rc = coll_reduce(group, value, VALUES, COLL_MAX);
    if (rc == 0)
        rc = (int)value[ERROR];
    bool asks_ranks = value[NO_LOCALITIES] && value[BOUND];
    if (rc == 0 && asks_ranks)
        rc = nearness_ask(group, given, &nodes->nearness);
    if (rc == 0 && value[OPEN] && value[ADDRESS])
        rc = distances_ask(nodes, group, &is_open);
    if (rc == 0 && is_open)
        distances_report_flat(nodes, process);
    if (rc == 0 && is_root)
        nearness_report(group, given, asks_ranks);
    return rc;
}

int coll_nodes_find(coll_nodes *nodes, coll_group *group, parameter_texts text)
{
    coll_nodes_release(nodes);
    int rc = find_nodes(nodes, group, text);
    nodes->is_known = rc == 0;
    return rc;
}

/* ---- where tatp run has placed the ranks ---- */

uint64_t coll_nodes_digest(const size_t *node_of_rank, size_t ranks)
{
    uint64_t digest = 0;
    for (size_t rank = 0; rank < ranks; rank++)
        for (size_t before = 1; before <= rank; before *= 2)
            digest = base_digest(digest, node_of_rank[rank] == node_of_rank[rank - before]);
    return digest;
}

/* Whether the ranks of a file are those of the job, in its order. */
static bool has_all_ranks(const coll_group *group)
{
    const coll_runtime *runtime = group->runtime;
    int rank = 0;
    while (runtime->job_rank != NULL && rank < group->size &&
           runtime->job_rank(runtime->context, rank) == (size_t)rank)
        rank++;
    return (size_t)group->size == runtime->process->job.size &&
           (rank == group->size || runtime->job_rank == NULL);
}

void coll_nodes_check_placement(const coll_nodes *nodes, const coll_group *group)
{
    coll_process *process = group->runtime->process;
    const char *told = getenv(COLL_PLACED);
    size_t ranks = 0;
    uint64_t digest = 0;
    if (group->rank != 0 || told == NULL || !has_all_ranks(group) ||
        !coll_is_first(process, COLL_PLACED, ""))
        return;
    bool is_placed = sscanf(told, "%zu:%" SCNx64, &ranks, &digest) == 2;
    if (is_placed && ranks != process->job.size)
        coll_log(process, 0, "not placed: the record is of %zu ranks, and this job has %zu", ranks,
                 process->job.size);
    else if (is_placed && digest != coll_nodes_digest(nodes->node_of_rank, ranks))
        coll_log(process, 0,
                 "not placed: the launcher has started the ranks on other nodes than tatp run has "
                 "told it, as by options of its own");
    else if (!is_placed && getenv("OMPI_COMM_WORLD_SIZE") == NULL) /* else the mapper has told */
        coll_log(process, 0, "not placed: %s", told);
}
