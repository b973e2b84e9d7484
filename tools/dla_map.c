/* SPDX-License-Identifier: BSD-3-Clause */
/* dla map: one placement, in the format of a launcher. */
#include "dla.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dla/arrange.h"
#include "dla_problem.h"
#include "tool.h"
#include "tool_json.h"
#include "topo/machine.h"

typedef struct placement {
    const problem *problem;
    const setmatch_method *method;
    size_t *node; /* of each rank */
    dla_benefit benefit;
    double seconds;
    topo_machine *machine; /* of the nodes; NULL: unknown */
} placement;

struct placement_format {
    const char *name;
    int (*print)(const placement *placed); /* 0, or TOOL_FAILURE after a message */
    bool bare;                             /* no room for remarks */
};

static size_t ranks_of(const placement *placed)
{
    return placed->problem->input.view->rows;
}

static const char *node_of(const placement *placed, size_t rank)
{
    return placed->problem->nodes->name[placed->node[rank]];
}

static const char *explain_stock(const placement *placed, char why[DLA_REPORT_SIZE])
{
    const problem *p = placed->problem;
    dla_benefit_format(&placed->benefit, &p->input, &p->data, why);
    return why;
}

/* ---- for people and programs ---- */

static void print_crossing_bytes(const problem *p, const size_t *node, const size_t *by_slot)
{
    int64_t bytes = problem_bytes(p);
    int64_t *crossing = problem_crossing(p, node);
    int64_t *before = problem_crossing(p, by_slot);
    printf("# bytes that leave their node: %" PRId64 " of %" PRId64 "; by slot %" PRId64 "\n",
           crossing[0], bytes, before[0]);
    for (size_t k = 1; k <= p->input.network->levels; k++)
        printf("# bytes that leave their group of nodes, level %zu: %" PRId64 "; by slot %" PRId64
               "\n",
               k, crossing[k], before[k]);
    free(before);
    free(crossing);
}

static int print_placement_table(const placement *placed)
{
    const problem *p = placed->problem;
    double seconds;
    char why[DLA_REPORT_SIZE];
    size_t *by_slot = problem_place(p, setmatch_find_method("byslot"), &seconds);
    problem_weight report = problem_judge(p, placed->node), before = problem_judge(p, by_slot);
    printf("# weight inside nodes: %" PRId64 " of %" PRId64 "; by slot %" PRId64 "\n",
           report.inside, report.total, before.inside);
    if (problem_has_bytes(p))
        print_crossing_bytes(p, placed->node, by_slot);
    if (placed->benefit.kept != DLA_STOCK_NONE)
        printf("# %s\n", explain_stock(placed, why));
    printf("# rank node\n");
    for (size_t rank = 0; rank < ranks_of(placed); rank++)
        printf("%zu %s\n", rank, node_of(placed, rank));
    free(by_slot);
    return 0;
}

static int print_placement_json(const placement *placed)
{
    const problem *p = placed->problem;
    tool_json json;
    json_writer *w = tool_json_begin(&json);
    json_begin_object(w, NULL);
    json_put_string(w, "method", placed->method->name);
    json_put_size(w, "ranks", ranks_of(placed));
    if (placed->benefit.kept != DLA_STOCK_NONE)
        json_put_string(w, "kept", dla_stock_name(placed->benefit.kept));
    problem_put_report(w, p, placed->node);
    json_put_real(w, "seconds", placed->seconds);
    json_begin_array(w, "node_of_rank");
    for (size_t rank = 0; rank < ranks_of(placed); rank++)
        json_put_string(w, NULL, node_of(placed, rank));
    json_end_array(w);
    json_end_object(w);
    tool_json_end(&json);
    return 0;
}

/* ---- for launchers ---- */

/* Ranks by node: those of node n are rank[first[n]] .. rank[first[n + 1] - 1], ascending. first[]
 * has nodes + 2 entries, the last for work. */
static void sort_by_node(const placement *placed, size_t *first, size_t *rank)
{
    size_t *end = first + 1, nodes = placed->problem->nodes->count;
    for (size_t r = 0; r < ranks_of(placed); r++)
        end[placed->node[r] + 1]++;
    for (size_t n = 0; n < nodes; n++)
        end[n + 1] += end[n];
    for (size_t r = 0; r < ranks_of(placed); r++)
        rank[end[placed->node[r]]++] = r;
}

/* The locality of each core, as far as the machine has it. */
static char **core_localities(topo_machine *machine, size_t cores)
{
    char **locality = tool_allocate(cores, sizeof *locality);
    int rc = 0;
    for (unsigned core = 0; rc == 0 && core < cores; core++)
        rc = topo_machine_core_locality(machine, core, &locality[core]);
    if (rc == -ENOMEM)
        exit(tool_fail("out of memory"));
    return locality;
}

/* The slot of each rank: its index among the ranks of its node or, if the machine is known, a core
 * that is near those of its neighbours. */
static void find_slots(const placement *placed, const size_t *first, const size_t *rank,
                       size_t *slot)
{
    size_t ranks = ranks_of(placed), *place = tool_allocate(ranks, sizeof *place);
    char **locality = placed->machine == NULL ? NULL : core_localities(placed->machine, ranks);
    dla_inside sum = {0};
    char text[DLA_INSIDE_SIZE];
    for (size_t n = 0; n < placed->problem->nodes->count; n++) {
        const dla_bound_ranks node = {first[n + 1] - first[n], rank + first[n], locality};
        for (size_t i = 0; i < node.count; i++)
            place[i] = i;
        int rc =
            locality == NULL ? 0 : dla_arrange(placed->problem->input.view, &node, place, &sum);
        if (rc != 0)
            exit(tool_fail("placing inside nodes: %s", strerror(-rc)));
        for (size_t i = 0; i < node.count; i++)
            slot[node.rank[i]] = place[i];
    }
    if (locality != NULL) {
        dla_inside_format(&sum, text);
        tool_note("%s", text);
    }
    for (size_t core = 0; locality != NULL && core < ranks; core++)
        free(locality[core]);
    free(locality);
    free(place);
}

/* Open MPI: a slot is the number of a core. */
static int print_rankfile(const placement *placed)
{
    size_t ranks = ranks_of(placed), *slot = tool_allocate(ranks, sizeof *slot);
    size_t *first = tool_allocate(placed->problem->nodes->count + 2, sizeof *first);
    size_t *by_node = tool_allocate(ranks, sizeof *by_node);
    sort_by_node(placed, first, by_node);
    find_slots(placed, first, by_node, slot);
    for (size_t rank = 0; rank < ranks; rank++)
        printf("rank %zu=%s slot=%zu\n", rank, node_of(placed, rank), slot[rank]);
    free(by_node);
    free(first);
    free(slot);
    return 0;
}

/* Hydra: HOST:COUNT for each run of consecutive ranks on one node. */
static int print_hostfile(const placement *placed)
{
    size_t ranks = ranks_of(placed);
    for (size_t rank = 0, end; rank < ranks; rank = end) {
        end = rank + 1;
        while (end < ranks && placed->node[end] == placed->node[rank])
            end++;
        printf("%s:%zu\n", node_of(placed, rank), end - rank);
    }
    return 0;
}

/* One host per rank: Open MPI's mapper seq, and SLURM_HOSTFILE of --distribution=arbitrary. */
static int print_hosts(const placement *placed)
{
    for (size_t rank = 0; rank < ranks_of(placed); rank++)
        printf("%s\n", node_of(placed, rank));
    return 0;
}

/* The launcher puts the same number of ranks on each node except the last, and ignores nodes
 * without slots. Sets *begin to the first node with slots and *uneven to the first node with
 * another number of ranks; false: there is none. */
static bool find_uneven(const size_t *first, const node_list *nodes, size_t *begin, size_t *uneven)
{
    size_t last = nodes->count, n = 0;
    while (last > 0 && first[last] == first[last - 1])
        last--;
    while (n < last && nodes->slots[n] == 0)
        n++;
    *begin = n;
    for (size_t most = first[n + 1] - first[n]; n < last; n++) {
        size_t ranks = first[n + 1] - first[n];
        if (ranks > most || (ranks < most && n + 1 < last && nodes->slots[n] > 0)) {
            *uneven = n;
            return true;
        }
    }
    return false;
}

/* Cray: MPICH_RANK_ORDER, the ranks in the order of the slots. */
static int print_cray(const placement *placed)
{
    const node_list *nodes = placed->problem->nodes;
    size_t *first = tool_allocate(nodes->count + 2, sizeof *first);
    size_t *rank = tool_allocate(ranks_of(placed), sizeof *rank);
    int status = 0;
    sort_by_node(placed, first, rank);
    size_t begin = 0, uneven = 0;
    if (find_uneven(first, nodes, &begin, &uneven))
        status =
            tool_fail("%s gets %zu ranks and %s %zu: an order of ranks needs the same number on "
                      "each node except the last; change the slots of the nodes",
                      nodes->name[begin], first[begin + 1] - first[begin], nodes->name[uneven],
                      first[uneven + 1] - first[uneven]);
    for (size_t n = 0; status == 0 && n < nodes->count; n++) {
        if (first[n] == first[n + 1])
            continue;
        printf("# %s\n", nodes->name[n]);
        for (size_t k = first[n]; k < first[n + 1]; k++)
            printf("%zu%s", rank[k], k + 1 < first[n + 1] ? "," : "\n");
    }
    free(first);
    free(rank);
    return status;
}

/* Ends with a NULL name; the first is the default. */
static const struct placement_format formats[] = {
    {"table", print_placement_table, false},
    {"json", print_placement_json, false},
    {"rankfile", print_rankfile, true},
    {"hostfile", print_hostfile, true},
    {"seq", print_hosts, true},
    {"slurm", print_hosts, true},
    {"cray", print_cray, true},
    {NULL, NULL, false},
};

/* ---- the command ---- */

struct map_options {
    problem_options problem;
    const struct placement_format *format;
    const char *machine; /* file */
};

static void parse_placement_format(struct map_options *options, const char *arg,
                                   struct argp_state *state)
{
    for (options->format = formats; options->format->name != NULL; options->format++)
        if (strcmp(options->format->name, arg) == 0)
            return;
    argp_error(state, "'%s' is not a format: table, json, rankfile, hostfile, seq, slurm or cray",
               arg);
}

static error_t parse_map_option(int key, char *arg, struct argp_state *state)
{
    struct map_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = state->child_inputs[1] = &options->problem;
        return 0;
    case 'F': parse_placement_format(options, arg, state); return 0;
    case 'M': options->machine = arg; return 0;
    case ARGP_KEY_ARG: return tool_refuse_argument(arg, state);
    case ARGP_KEY_END:
        problem_check_options(&options->problem, state);
        if (options->machine != NULL && options->format->print != print_rankfile)
            argp_error(state, "--machine is for --format rankfile");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* More than any machine has. */
enum { MOST_XML = 1 << 28 };

static int read_machine(FILE *stream, void *object, matrix_error *error)
{
    char *text = NULL;
    size_t used = 0, capacity = 0, got;
    do {
        tool_reserve(&text, &capacity, used + BUFSIZ, 1);
        got = fread(text + used, 1, BUFSIZ, stream);
        used += got;
    } while (got > 0 && used < MOST_XML);
    (void)setenv("HWLOC_HIDE_ERRORS", "2", false); /* hwloc 2.15 prints a message of its own */
    int rc = topo_machine_read(text, used, object);
    free(text);
    return rc == -EBADMSG ? matrix_refuse(error, 0, "no machine in hwloc's XML") : rc;
}

static const struct argp map_argp = {
    .options =
        (const struct argp_option[]){
            {"format", 'F', "FORMAT", 0,
             "table (default), json, rankfile, hostfile, seq, slurm or cray", 0},
            {"machine", 'M', "FILE", 0,
             "The nodes, as lstopo writes them in XML: neighbours get near cores (rankfile)", 0},
            {0},
        },
    .parser = parse_map_option,
    .doc = "Places ranks on nodes so that ranks that access neighbouring regions of a file share a "
           "node.",
    .children = (const struct argp_child[]){{&problem_method_argp, 0, NULL, 0},
                                            {&problem_argp, 0, NULL, 0},
                                            {0}},
};

int dla_map(int argc, char **argv)
{
    struct map_options options = {.format = formats};
    problem p;
    char why[DLA_REPORT_SIZE];
    tool_parse(&map_argp, argc, argv, &options);
    problem_load(&p, &options.problem);
    placement placed = {.problem = &p, .method = dla_spec_method(&options.problem.spec)};
    if (options.machine != NULL)
        tool_read(options.machine, read_machine, &placed.machine);
    placed.node = problem_place(&p, placed.method, &placed.seconds);
    placed.benefit = problem_keep_stock(&p, &options.problem.spec, placed.node);
    if (options.format->bare && placed.benefit.kept != DLA_STOCK_NONE)
        tool_note("placed %s", explain_stock(&placed, why));
    int status = options.format->print(&placed);
    free(placed.node);
    topo_machine_free(placed.machine);
    problem_release(&p, &options.problem);
    return status;
}
