/* SPDX-License-Identifier: BSD-3-Clause */
/* dla map: one placement, in the format of a launcher. */
#include "dla.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/groups.h"
#include "dla/arrange.h"
#include "dla/place.h"
#include "nodes.h"
#include "output.h"
#include "tool.h"
#include "topo/machine.h"

typedef struct placement {
    tool_options common;
    const struct placement_format *format;
    const char *machine_file;
    dla_spec spec;
    const char *hostfile;
    node_list nodes;
    dla_data data;
    dla_placement result;
    struct base_arena arena;
    struct base_groups by_node; /* ranks, in the arena */
    double seconds;
    topo_machine *machine; /* of the nodes; NULL if it is unknown */
} placement;

struct placement_format {
    const char *name;
    int (*print)(const placement *placed); /* 0, or TOOL_FAILURE after a message */
    bool bare;                             /* no room for remarks */
};

static size_t ranks_of(const placement *placed)
{
    return placed->data.file.view.rows;
}

static const char *node_of(const placement *placed, size_t rank)
{
    return placed->nodes.name[placed->result.node_of_rank[rank]];
}

static const char *explain_stock(const placement *placed, char why[DLA_REPORT_SIZE])
{
    dla_benefit_format(&placed->result, dla_spec_name(&placed->spec), why);
    return why;
}

/* ---- placing ---- */

static int fail_slots(const placement *placed, size_t ranks)
{
    size_t nodes = placed->nodes.count, least = ranks / nodes + (ranks % nodes > 0), slots = 0;
    for (size_t n = 0; n < nodes; n++)
        slots += placed->nodes.slots[n];
    return tool_fail("%zu ranks, but %zu slots: give each node %zu, by %s%zu", ranks, slots, least,
                     placed->hostfile != NULL ? "slots=" : "NAME:", least);
}

/* Before memory is taken for them: an extent may be mistyped. */
static void check_grid(const placement *placed)
{
    size_t ranks = 1, slots = 0;
    for (size_t i = 0; i < placed->spec.ndims; i++)
        ranks *= placed->spec.dims[i];
    for (size_t n = 0; n < placed->nodes.count && slots < ranks; n++)
        slots += placed->nodes.slots[n] < ranks - slots ? placed->nodes.slots[n] : ranks - slots;
    if (placed->spec.ndims > 0 && slots < ranks)
        exit(fail_slots(placed, ranks));
}

static FILE *open_item(const placement *placed, dla_item item)
{
    const char *file = placed->spec.text[item];
    FILE *stream = file == NULL ? NULL : tool_open_seekable(file);
    if (file != NULL && stream == NULL)
        exit(TOOL_FAILURE);
    return stream;
}

static void load_files(placement *placed)
{
    const dla_nodes nodes = {(const char *const *)placed->nodes.name, placed->nodes.count};
    char reason[DLA_REASON_SIZE];
    const dla_streams streams = {open_item(placed, DLA_FILE), open_item(placed, DLA_TOPOLOGY)};
    check_grid(placed);
    int rc = dla_data_read(&placed->data, &placed->spec, streams, 0, &nodes, reason);
    if (streams.record != NULL)
        fclose(streams.record);
    if (streams.topology != NULL)
        fclose(streams.topology);
    if (rc != 0)
        exit(tool_fail("%s", rc == -ENOMEM ? strerror(ENOMEM) : reason));
}

static void find_placement(placement *placed)
{
    const dla_room room = {.nodes = placed->nodes.count, .slots = placed->nodes.slots};
    double begin = tool_seconds();
    int rc = dla_place(&placed->data, &placed->spec, &room, &placed->result);
    placed->seconds = tool_seconds() - begin;
    if (rc == -ENOSPC)
        exit(fail_slots(placed, ranks_of(placed)));
    tool_check(rc, "placing");
}

static void check_sums(int rc)
{
    tool_check(rc, "the weights and bytes of the record");
}

/* ---- for people and programs ---- */

/* Bytes between nodes [0] and between groups of each level of the network. */
static int64_t *find_crossing(const placement *placed, const size_t *node)
{
    int64_t *crossing = tool_allocate(placed->data.network.levels + 1, sizeof *crossing);
    check_sums(dla_predict(&placed->result, node, crossing));
    return crossing;
}

static void print_crossing_bytes(const placement *placed)
{
    int64_t bytes, *crossing = find_crossing(placed, placed->result.node_of_rank);
    int64_t *before = find_crossing(placed, placed->result.by_slot);
    check_sums(dla_recorded_bytes(&placed->data.file, &bytes));
    printf("# bytes that leave their node: %" PRId64 " of %" PRId64 "; by slot %" PRId64 "\n",
           crossing[0], bytes, before[0]);
    for (size_t k = 1; k <= placed->data.network.levels; k++)
        printf("# bytes that leave their group of nodes, level %zu: %" PRId64 "; by slot %" PRId64
               "\n",
               k, crossing[k], before[k]);
    free(before);
    free(crossing);
}

static int print_placement_table(const placement *placed)
{
    int64_t inside, total, before;
    char why[DLA_REPORT_SIZE];
    const dla_placement *p = &placed->result;
    check_sums(setmatch_weight(&placed->data.file.view, p->by_slot, &before, &total));
    check_sums(setmatch_weight(&placed->data.file.view, p->node_of_rank, &inside, &total));
    printf("# weight inside nodes: %" PRId64 " of %" PRId64 "; by slot %" PRId64 "\n", inside,
           total, before);
    if (dla_has_bytes(&placed->data.file))
        print_crossing_bytes(placed);
    if (placed->result.benefit.kept != DLA_STOCK_NONE)
        printf("# %s\n", explain_stock(placed, why));
    printf("# rank node\n");
    for (size_t rank = 0; rank < ranks_of(placed); rank++)
        printf("%zu %s\n", rank, node_of(placed, rank));
    return 0;
}

static void put_report(json_writer *w, const placement *placed)
{
    int64_t inside, total;
    check_sums(
        setmatch_weight(&placed->data.file.view, placed->result.node_of_rank, &inside, &total));
    json_put_int64(w, "weight_inside", inside);
    json_put_int64(w, "weight_total", total);
    json_put_real(w, "cost", setmatch_cost(&placed->result.input, placed->result.node_of_rank));
    if (dla_has_bytes(&placed->data.file)) {
        int64_t bytes, *crossing = find_crossing(placed, placed->result.node_of_rank);
        check_sums(dla_recorded_bytes(&placed->data.file, &bytes));
        json_put_int64(w, "crossing_bytes", crossing[0]);
        json_put_int64s(w, "crossing_by_level", crossing, placed->data.network.levels + 1);
        json_put_int64(w, "total_bytes", bytes);
        free(crossing);
    }
}

static int print_placement_json(const placement *placed)
{
    char why[DLA_REPORT_SIZE];
    tool_json json;
    json_writer *w = tool_json_begin(&json);
    json_put_string(w, "method", dla_spec_method(&placed->spec)->name);
    json_put_size(w, "ranks", ranks_of(placed));
    if (placed->result.benefit.kept != DLA_STOCK_NONE) {
        json_put_string(w, "kept",
                        placed->result.benefit.kept == DLA_STOCK_BY_NODE ? "node" : "slot");
        json_put_string(w, "why", explain_stock(placed, why));
    }
    put_report(w, placed);
    json_put_real(w, "seconds", placed->seconds);
    json_begin_array(w, "node_of_rank");
    for (size_t rank = 0; rank < ranks_of(placed); rank++)
        json_put_string(w, NULL, node_of(placed, rank));
    json_end_array(w);
    tool_json_end(&json);
    return 0;
}

/* ---- for launchers ---- */

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

static void check_cores(const placement *placed, char *const *locality)
{
    const size_t *first = placed->by_node.start;
    size_t cores = 0;
    while (cores < ranks_of(placed) && locality[cores] != NULL)
        cores++;
    for (size_t n = 0; n < placed->nodes.count; n++)
        if (first[n + 1] - first[n] > cores)
            exit(tool_fail("%s gets %zu ranks, but has %zu cores by the file of --machine: give it "
                           "%zu slots",
                           placed->nodes.name[n], first[n + 1] - first[n], cores, cores));
}

/* The slot of each rank: its index among the ranks of its node or, if the machine is known, a core
 * that is near those of its neighbours. */
static void find_slots(const placement *placed, size_t *slot)
{
    const size_t *first = placed->by_node.start;
    size_t ranks = ranks_of(placed), *place = tool_allocate(ranks, sizeof *place);
    char **locality = placed->machine == NULL ? NULL : core_localities(placed->machine, ranks);
    dla_inside sum = {0};
    char text[DLA_INSIDE_SIZE];
    if (locality != NULL)
        check_cores(placed, locality);
    for (size_t n = 0; n < placed->nodes.count; n++) {
        const dla_bound_ranks node = {first[n + 1] - first[n], placed->by_node.item + first[n],
                                      locality};
        for (size_t i = 0; i < node.count; i++)
            place[i] = i;
        if (locality != NULL)
            tool_check(dla_arrange(&placed->data.file.view, &node, place, &sum),
                       "placing inside nodes");
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
    find_slots(placed, slot);
    for (size_t rank = 0; rank < ranks; rank++)
        printf("rank %zu=%s slot=%zu\n", rank, node_of(placed, rank), slot[rank]);
    free(slot);
    return 0;
}

/* Hydra: HOST:COUNT for each run of consecutive ranks on one node. */
static int print_hostfile(const placement *placed)
{
    const size_t *node = placed->result.node_of_rank;
    size_t ranks = ranks_of(placed), used;
    size_t lines = nodes_count_runs(node, ranks, placed->nodes.count, &used);
    for (size_t rank = 0, end; rank < ranks; rank = end) {
        end = rank + 1;
        while (end < ranks && node[end] == node[rank])
            end++;
        printf("%s:%zu\n", node_of(placed, rank), end - rank);
    }
    if (lines > used)
        tool_note("MPICH takes these %zu lines for as many nodes, not %zu: see \"Placement\" in "
                  "other-mpi.md",
                  lines, used);
    return 0;
}

/* Hydra of MPICH 5.0.2 and later: the node of each rank, as its place in the list of nodes. */
static int print_rankmap(const placement *placed)
{
    for (size_t rank = 0; rank < ranks_of(placed); rank++)
        printf("%s%zu", rank > 0 ? "," : "", placed->result.node_of_rank[rank]);
    putchar('\n');
    return 0;
}

/* One host per rank: Open MPI's mapper seq, and SLURM_HOSTFILE of --distribution=arbitrary. */
static int print_hosts(const placement *placed)
{
    for (size_t rank = 0; rank < ranks_of(placed); rank++)
        printf("%s\n", node_of(placed, rank));
    return 0;
}

/* Cray: MPICH_RANK_ORDER, the ranks in the order of the slots. The launcher puts the same number of
 * ranks on each node except the last, and ignores nodes without slots. */
static int print_cray(const placement *placed)
{
    const size_t *first = placed->by_node.start;
    size_t most = SIZE_MAX, left = ranks_of(placed);
    for (size_t n = 0; n < placed->nodes.count; n++) {
        size_t ranks = first[n + 1] - first[n];
        if (placed->nodes.slots[n] == 0)
            continue;
        most = most == SIZE_MAX ? ranks : most;
        if (ranks != (left < most ? left : most))
            return tool_fail("%s gets %zu ranks, and nodes before it %zu: an order of ranks needs "
                             "the same number on each node except the last; change the slots",
                             placed->nodes.name[n], ranks, most);
        left -= ranks;
    }
    for (size_t n = 0; n < placed->nodes.count; n++) {
        if (first[n] < first[n + 1])
            printf("# %s\n", placed->nodes.name[n]);
        for (size_t k = first[n]; k < first[n + 1]; k++)
            printf("%zu%s", placed->by_node.item[k], k + 1 < first[n + 1] ? "," : "\n");
    }
    return 0;
}

/* Ends with a NULL name; the first is the default. */
static const struct placement_format formats[] = {
    {"table", print_placement_table, false},
    {"json", print_placement_json, false},
    {"rankfile", print_rankfile, true},
    {"hostfile", print_hostfile, true},
    {"rankmap", print_rankmap, true},
    {"seq", print_hosts, true},
    {"slurm", print_hosts, true},
    {"cray", print_cray, true},
    {NULL, NULL, false},
};

/* ---- the command ---- */

/* More than any machine has. */
enum { MOST_XML = 1 << 28 };

static int read_machine(FILE *stream, void *object, matrix_error *error)
{
    char *text = NULL;
    size_t used = 0, capacity = 0, got;
    bool crashes;
    do {
        tool_reserve(&text, &capacity, used + BUFSIZ, 1);
        got = fread(text + used, 1, BUFSIZ, stream);
        used += got;
    } while (got > 0 && used < MOST_XML);
    (void)setenv("HWLOC_HIDE_ERRORS", "2", false); /* hwloc 2.15 prints a message of its own */
    if (tool_is_trial(&crashes)) {
        (void)topo_machine_read(text, used, object);
        _exit(0);
    }
    int rc = crashes ? -EBADMSG : topo_machine_read(text, used, object);
    free(text);
    return rc == -EBADMSG
               ? matrix_refuse(error, 0,
                               "no machine that hwloc can load; 'lstopo FILE.xml' writes one")
               : rc;
}

/* Options have the names of the items of --map-by dla: that they set. */
static const struct argp_option option_table[] = {
    {"file", 'f', "FILE", 0, "View file, as recorded", 0},
    {"cart", 'c', "AxB[xC...]", 0, "The view of a process grid instead of a file", 0},
    {"order", 'O', "C|Fortran", 0,
     "Dimension that is contiguous in the file: the last (C, default) or the first", 0},
    {"nodes", 'n', "NAME[:SLOTS],...", 0, "The nodes, as n0:4,n[1-3]:8; default 1 slot", 0},
    {"hostfile", 'H', "FILE", 0, "The nodes, as an Open MPI hostfile", 0},
    {"topology", 'T', "FILE", 0,
     "The network, or its bandwidths as 'dla pingpong' measured them: ranks that do not fit on one "
     "node are placed under one switch",
     0},
    {"method", 'm', "METHOD", 0, "Placement method: auto (default), setmatch, ...; see dla(1)", 0},
    {"objective", 'o', "OBJECTIVE", 0,
     "Objective to minimise: neighbours, profile or auto (default)", 0},
    {"format", 'F', "FORMAT", 0,
     "table (default), json, rankfile, hostfile, rankmap, seq, slurm or cray", 0},
    {"machine", 'M', "FILE", 0,
     "The nodes, as lstopo writes them in XML: neighbours get near cores (rankfile)", 0},
    {0},
};

static error_t set_item(dla_spec *spec, int key, const char *value, const struct argp_state *state)
{
    char reason[DLA_REASON_SIZE];
    const struct argp_option *option = option_table;
    dla_item item = 0;
    while (option->name != NULL && option->key != key)
        option++;
    while (item < DLA_ITEMS && (option->name == NULL || strcmp(dla_items[item].key, option->name)))
        item++;
    if (item == DLA_ITEMS)
        return ARGP_ERR_UNKNOWN;
    int rc = dla_spec_set(spec, item, value, reason);
    if (rc == -EINVAL)
        argp_error(state, "%s", reason);
    return rc == -ENOMEM ? ENOMEM : 0;
}

static void check_options(placement *placed, const struct argp_state *state)
{
    const char *const files[] = {placed->spec.text[DLA_FILE], placed->spec.text[DLA_TOPOLOGY],
                                 placed->hostfile, placed->machine_file};
    tool_check_input(state, files, sizeof files / sizeof *files);
    if ((placed->spec.text[DLA_FILE] != NULL) + (placed->spec.ndims > 0) != 1)
        argp_error(state, "one of a view file and --cart is needed");
    if (placed->hostfile != NULL && placed->nodes.count > 0)
        argp_error(state, "--nodes and --hostfile exclude each other");
    if (!nodes_find(&placed->nodes, placed->hostfile))
        argp_error(
            state,
            "one of --nodes and --hostfile is needed outside an allocation of Slurm, PBS or LSF");
    if (placed->spec.text[DLA_ORDER] != NULL && placed->spec.ndims == 0)
        argp_error(state, "--order is that of --cart");
    if (placed->machine_file != NULL && placed->format->print != print_rankfile)
        argp_error(state, "--machine is for --format rankfile");
}

static error_t parse_map_option(int key, char *arg, struct argp_state *state)
{
    placement *placed = state->input;
    error_t rc = 0;
    switch (key) {
    case 'F':
        placed->format = tool_choose(state, "format", arg, formats, sizeof *formats);
        return 0;
    case 'M': placed->machine_file = arg; return 0;
    case 'H':
        if (placed->hostfile != NULL)
            argp_error(state, "hostfile is given twice");
        placed->hostfile = arg;
        return 0;
    case 'n':
        if (nodes_parse(&placed->nodes, arg) != 0)
            exit(TOOL_USAGE);
        return 0;
    case ARGP_KEY_END:
        if (placed->common.file != NULL)
            rc = set_item(&placed->spec, 'f', placed->common.file, state);
        check_options(placed, state);
        return rc;
    default: return set_item(&placed->spec, key, arg, state);
    }
}

static const struct argp map_argp = {
    .options = option_table,
    .parser = parse_map_option,
    .args_doc = "[FILE]",
    .doc = "Places ranks on nodes so that ranks that access neighbouring regions of a file share a "
           "node.",
};

int dla_map(int argc, char **argv)
{
    placement placed = {.format = formats};
    char why[DLA_REPORT_SIZE];
    tool_parse(&map_argp, 0, argc, argv, &placed);
    load_files(&placed);
    if (placed.machine_file != NULL)
        tool_read(placed.machine_file, read_machine, &placed.machine);
    find_placement(&placed);
    if (placed.format->bare && placed.result.benefit.kept != DLA_STOCK_NONE)
        tool_note("%s", explain_stock(&placed, why));
    tool_check(base_group_items(&placed.arena, placed.result.node_of_rank, ranks_of(&placed),
                                placed.nodes.count, &placed.by_node),
               "placing");
    int status = placed.format->print(&placed);
    base_arena_release(&placed.arena);
    dla_placement_release(&placed.result);
    topo_machine_free(placed.machine);
    dla_data_release(&placed.data);
    dla_spec_release(&placed.spec);
    nodes_release(&placed.nodes);
    return status;
}
