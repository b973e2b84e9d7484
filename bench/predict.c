/* SPDX-License-Identifier: BSD-3-Clause */
/* predict: what collective access moves, for an access pattern of any size on a model of a machine:
 * no data, no ranks, the same planning as fcoll/tatp's and rmaps/dla's. Prints comma-separated
 * values, a line for each placement and strategy. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include <argp.h>
#include <inttypes.h>

#include "must.h"
#include "shape.h"
#include "study.h"

struct options {
    shape shape;
    study study;
    char *placements, *strategies, *node_of_rank;
    size_t ranks, nodes;
};

/* ---- options ---- */

enum { KEY_KIND = 0x700, KEY_NODES, KEY_PER_NODE, KEY_STRIPE, KEY_NODE_OF_RANK };

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'm':
        if (!machine_parse(text, &o->study.machine))
            argp_error(state,
                       "--machine wants inspur, bluelight, crill or NODES,LEAF,CORES[,MBIT,MBIT], "
                       "not '%s'",
                       text);
        break;
    case KEY_KIND: o->shape.kind = shape_parse_kind(state, text); break;
    case 'p': o->ranks = (size_t)shape_parse_number(state, "--ranks", text, 1); break;
    case KEY_NODES: o->nodes = (size_t)shape_parse_number(state, "--nodes", text, 1); break;
    case KEY_PER_NODE:
        o->study.per_node = (size_t)shape_parse_number(state, "--per-node", text, 1);
        break;
    case KEY_STRIPE: o->study.stripe = shape_parse_number(state, "--stripe", text, 1); break;
    case 'P': o->placements = text; break;
    case KEY_NODE_OF_RANK: o->node_of_rank = text; break;
    case 'S': o->strategies = text; break;
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->shape; break;
    case ARGP_KEY_ARG: argp_usage(state); break;
    case ARGP_KEY_END:
        if (o->shape.kind == NULL || o->study.machine.name == NULL || o->ranks == 0)
            argp_error(state, "--kind, --machine and --ranks are needed");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option option_table[] = {
    {"kind", KEY_KIND, "NAME", 0, "What is accessed: cube, btio, tile, lattice, dump, array", 0},
    {"machine", 'm', "NAME", 0,
     "inspur, bluelight, crill, or NODES,LEAF,CORES[,NODE-MBIT,UPLINK-MBIT] as the test cluster",
     0},
    {"ranks", 'p', "P", 0, "Ranks of the job", 0},
    {"nodes", KEY_NODES, "N", 0, "Nodes of the job (as many as have cores for the ranks)", 0},
    {"per-node", KEY_PER_NODE, "M", 0, "Aggregators for each node of the job (1)", 0},
    {"stripe", KEY_STRIPE, "BYTES", 0,
     "The file system's stripes, which domains do not cut (not known)", 0},
    {"placements", 'P', "LIST", 0,
     "Separated by blanks: byslot, byslot:N (at most N ranks a node), bynode, dla, setmatch, "
     "mpipp, setmatch-cart, "
     "mpipp-cart, given (byslot bynode dla)",
     0},
    {"node-of-rank", KEY_NODE_OF_RANK, "N,N,...", 0,
     "The placement 'given': the node of each rank, from 0 on", 0},
    {"strategies", 'S', "LIST", 0,
     "Separated by blanks: otp, latp_volume, latp_count, tatp, fitted (tatp with fitted domains), "
     "segments (dynamic segmentation) (otp latp_volume latp_count tatp fitted)",
     0},
    {0},
};

static void parse_options(struct options *o, int argc, char **argv)
{
    static const struct argp_child children[] = {{&shape_argp, 0, "What is accessed:", 1}, {0}};
    static const struct argp parser = {
        .options = option_table,
        .parser = parse_option,
        .children = children,
        .doc = "Predict what collective access moves over the links of a machine."};
    argp_parse(&parser, argc, argv, 0, NULL, o);
}

/* ---- output ---- */

static void print_row(const struct options *o, const char *placement, const char *strategy,
                      const forecast *f)
{
    const study *s = &o->study;
    char size[SHAPE_DIMS_TEXT];
    shape_print_dims(s->array.size, s->array.dims, size);
    /* The name of a machine may hold commas. */
    printf("\"%s\",%s,%s,%d,%zu,%zu,%zu,%zu,%s,%s,%" PRId64 ",%" PRId64 ",%.15g,%" PRId64
           ",%.15g,%.15g,%.15g,%.6g,%.6g,%.6f\n",
           s->machine.name, o->shape.kind->name, size, o->shape.reorder, s->array.ranks, s->nodes,
           s->per_node, s->aggregators, placement, strategy, f->unit, s->array.bytes, f->hop_bytes,
           f->crossing_bytes, f->uplink_bytes, f->busiest_node_bytes, f->busiest_uplink_bytes,
           f->link_seconds, f->copy_seconds, s->inside);
    fflush(stdout);
}

static void place_given(struct options *o)
{
    size_t *node = o->study.node_of_rank, ranks = 0;
    char *rest = o->node_of_rank, *text, *end;
    while ((text = strsep(&rest, ",")) != NULL && ranks < o->ranks) {
        node[ranks] = strtoul(text, &end, 10);
        if (end == text || *end != '\0' || node[ranks++] >= o->study.nodes)
            refuse("--node-of-rank: not a node of the job", text);
    }
    if (text != NULL || ranks < o->ranks)
        refuse("--node-of-rank", "one node for each rank is wanted");
    study_measure(&o->study);
}

static void run_placement(struct options *o, const char *placement)
{
    char *list = strdup(o->strategies), *rest = list, *strategy;
    must(list == NULL ? -ENOMEM : 0, "memory");
    if (strcmp(placement, "given") == 0)
        place_given(o);
    else
        study_place(&o->study, placement);
    while ((strategy = strsep(&rest, " ")) != NULL) {
        if (*strategy == '\0')
            continue;
        forecast f = study_forecast(&o->study, strategy);
        print_row(o, placement, strategy, &f);
    }
    free(list);
}

static void start_study(struct options *o)
{
    study *s = &o->study;
    s->nodes = o->nodes > 0 ? o->nodes : (o->ranks + s->machine.cores - 1) / s->machine.cores;
    if (s->nodes > s->machine.leaves * s->machine.leaf)
        refuse("--nodes", "the machine has fewer");
    if (o->ranks > s->nodes * s->machine.cores)
        refuse("--nodes", "they have fewer cores than ranks");
    const char *wrong = shape_make(&o->shape, o->ranks, &s->array);
    if (wrong != NULL)
        refuse("--size, --grid", wrong);
    study_begin(s);
}

int main(int argc, char **argv)
{
    static char placements[] = "byslot bynode dla",
                strategies[] = "otp latp_volume latp_count tatp fitted";
    struct options o = {
        .placements = placements, .strategies = strategies, .study = {.per_node = 1}};
    char *placement;
    parse_options(&o, argc, argv);
    start_study(&o);
    printf("machine,kind,size,reorder,ranks,nodes,per_node,aggregators,placement,strategy,"
           "unit_bytes,file_bytes,hop_bytes,crossing_bytes,uplink_bytes,busiest_node_bytes,"
           "busiest_uplink_bytes,link_s,copy_s,inside\n");
    while ((placement = strsep(&o.placements, " ")) != NULL)
        if (*placement != '\0')
            run_placement(&o, placement);
    study_end(&o.study);
    return EXIT_SUCCESS;
}
