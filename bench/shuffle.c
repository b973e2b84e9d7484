/* SPDX-License-Identifier: BSD-3-Clause */
/* shuffle_bench: the exchange of many ranks on modelled networks, with and without loads (what one
 * rank carries for others of its node). Records of all ranks in turn, so that every rank has a part
 * for every aggregator. Prints comma-separated values. */
#include "network.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/merge.h"
#include "exchange/load.h"
#include "plan/division.h"

/* Networks of the published measurements with InfiniBand's costs of messages, and the test cluster
 * on two cores: the headers of Open MPI's TCP transport (24 bytes), and of TCP, IP and Ethernet
 * (66); links that are token buckets as in tests/cluster/network. */
static const network_costs networks[] = {
    {"inspur", 12, 20, 1e-6, 2e-10, 2e-6, 4e9, .uplink = 2e9},
    {"crill", 48, 16, 1e-6, 2e-10, 2e-6, 2.1e9, .uplink = 0},
    {"bluelight", 16, 256, 1e-6, 4e-10, 2e-6, 4e9, .uplink = 0},
    {"cluster", 16, 2, 2.5e-5, 4e-10, 3e-5, 2.5e8, .uplink = 2.5e8, .cores = 2, .envelope = 24,
     .frame = 1448, .header = 66, .burst = 131072, .burst_time = .004},
};

enum { MESSAGE = 63 * 1024 };

typedef struct options {
    const char *network;
    int ranks, aggregators, per_node; /* ranks of a node; 0: the network's */
    double link, uplink;              /* bytes per second; 0: the network's */
    int64_t record, records;          /* bytes; of each rank */
    int64_t buffer;                   /* an aggregator's cycle buffers, bytes */
    bool messages;                    /* ranks of a node share no memory */
} options;

typedef struct load_of_node {
    access_list whole, *part;
    exchange_load load;
    exchange_member *member;
    exchange_window *window;
    exchange_flags *flags;
    char *data;
} load_of_node;

typedef struct world {
    options options;
    network_costs costs;
    bool loads;
    int nodes;
    file_domains domains;
    int64_t cycle_size, num_cycles;
    access_list *memory;  /* per rank */
    char *buffer;         /* of every rank: contents do not matter */
    domain_share **share; /* per rank: `aggregators` */
    exchange_target **target;
    exchange_contributor **contributor; /* per domain */
    size_t *contributors;
    exchange_window *window; /* EXCHANGE_DEPTH per domain */
    exchange_flags *flags;
    load_of_node *load; /* per domain and node */
    size_t pairs;       /* of a node and an aggregator of another one that exchange data */
    exchange **ex;
    exchange_buffers **buffers;
} world;

static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "shuffle_bench: %s\n", what);
    exit(EXIT_FAILURE);
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    check(memory != NULL, "no memory");
    return memory;
}

/* ---- who has what ---- */

static int node_of(const world *w, int rank)
{
    return rank / w->costs.per_node;
}

/* The first rank of nodes that are as far apart as possible, then the second ones. */
static int aggregator_of(const world *w, size_t domain)
{
    int64_t a = w->options.aggregators, per_node = (a - 1) / w->nodes + 1;
    int64_t node = (int64_t)domain / per_node * w->nodes / ((a - 1) / per_node + 1);
    return (int)(node * w->costs.per_node + (int64_t)domain % per_node);
}

static void divide(world *w)
{
    const options *o = &w->options;
    int64_t end = o->record * o->records * o->ranks;
    check(domains_even(&w->domains, 0, end, (size_t)o->aggregators,
                       domains_alignment(end, (size_t)o->aggregators, 0)) == 0,
          "no memory");
    const division_cycles cycles = {o->buffer, EXCHANGE_DEPTH, MESSAGE, 0, o->ranks};
    w->cycle_size = division_cycle_size(&w->domains, &cycles);
    w->num_cycles = division_num_cycles(&w->domains, w->cycle_size);
}

static void make_accesses(world *w)
{
    const options *o = &w->options;
    w->buffer = allocate((size_t)o->records, (size_t)o->record);
    w->share = allocate((size_t)o->ranks, sizeof *w->share);
    w->target = allocate((size_t)o->ranks, sizeof *w->target);
    w->memory = allocate((size_t)o->ranks, sizeof *w->memory);
    for (int r = 0; r < o->ranks; r++) {
        access_list list = {0};
        access_run run = {r * o->record, o->record, o->ranks * o->record, o->records, 0};
        if (run.count == 1)
            run.stride = 0;
        size_t shares;
        check(access_append_run(&list, &run) == 0 &&
                  access_append_memory(&w->memory[r], w->buffer, (size_t)list.bytes) == 0 &&
                  domains_cut(&w->domains, &list, &w->share[r], &shares) == 0,
              "no memory");
        check((int)shares == o->aggregators, "a rank has no part in a domain");
        access_release(&list);
        w->target[r] = allocate(shares, sizeof **w->target);
        for (size_t j = 0; j < shares; j++)
            w->target[r][j] =
                (exchange_target){.aggregator = aggregator_of(w, j), .list = &w->share[r][j].list};
    }
}

static void make_windows(world *w)
{
    size_t count = w->domains.count * EXCHANGE_DEPTH;
    w->window = allocate(count, sizeof *w->window);
    w->flags = allocate(count, sizeof *w->flags);
    for (size_t i = 0; i < count; i++)
        w->window[i] = (exchange_window){&w->flags[i], allocate((size_t)w->cycle_size, 1)};
}

/* ---- loads ---- */

static void describe_load(world *w, load_of_node *load, size_t domain, int first, size_t ranks,
                          int64_t slot)
{
    size_t carrier = domain % ranks;
    load->window = allocate(ranks * EXCHANGE_DEPTH, sizeof *load->window);
    load->flags = allocate(EXCHANGE_DEPTH, sizeof *load->flags);
    load->data = allocate(ranks * EXCHANGE_DEPTH, (size_t)slot);
    load->member = allocate(ranks, sizeof *load->member);
    load->load = (exchange_load){&load->part[carrier], load->member, 0};
    for (size_t i = 0; i < ranks; i++) {
        exchange_target *target = &w->target[first + (int)i][domain];
        exchange_window *window = &load->window[i * EXCHANGE_DEPTH];
        for (size_t d = 0; d < EXCHANGE_DEPTH; d++)
            window[d] = (exchange_window){&load->flags[d],
                                          load->data + (i * EXCHANGE_DEPTH + d) * (size_t)slot};
        if (i == carrier) {
            target->list = &load->whole;
            target->load = &load->load;
            continue;
        }
        target->window = window;
        target->is_carried = true;
        load->member[load->load.members++] = (exchange_member){&load->part[i], window};
    }
}

/* By the rule of the component. */
static void make_load(world *w, size_t domain, int node)
{
    load_of_node *load = &w->load[domain * (size_t)w->nodes + (size_t)node];
    int first = node * w->costs.per_node, end = first + w->costs.per_node;
    end = end < w->options.ranks ? end : w->options.ranks;
    size_t ranks = (size_t)(end - first);
    const access_list **list = allocate(ranks, sizeof *list);
    int64_t sum = 0, slot = 0;
    for (size_t i = 0; i < ranks; i++) {
        list[i] = &w->share[first + (int)i][domain].list;
        int64_t bytes = exchange_largest_chunk(list[i], w->cycle_size);
        slot = bytes > slot ? bytes : slot;
        sum += bytes;
    }
    w->pairs++;
    if (w->loads && exchange_load_pays(ranks, sum, w->num_cycles, MESSAGE)) {
        load->part = allocate(ranks, sizeof *load->part);
        check(access_union_parts(list, ranks, &load->whole, load->part) == 0, "no memory");
        describe_load(w, load, domain, first, ranks, slot);
    }
    free(list);
}

static void make_loads(world *w)
{
    w->load = allocate(w->domains.count * (size_t)w->nodes, sizeof *w->load);
    for (size_t j = 0; j < w->domains.count; j++)
        for (int node = 0; node < w->nodes; node++)
            if (node != node_of(w, aggregator_of(w, j)))
                make_load(w, j, node);
}

/* ---- exchanges ---- */

static void find_contributors(world *w, size_t domain)
{
    int aggregator = aggregator_of(w, domain);
    exchange_contributor *list = allocate((size_t)w->options.ranks, sizeof *list);
    w->contributor[domain] = list;
    for (int r = 0; r < w->options.ranks; r++) {
        exchange_target *target = &w->target[r][domain];
        if (target->is_carried)
            continue;
        bool shared =
            !w->options.messages && r != aggregator && node_of(w, r) == node_of(w, aggregator);
        if (shared)
            target->window = &w->window[domain * EXCHANGE_DEPTH];
        list[w->contributors[domain]++] = (exchange_contributor){r, shared, *target->list};
    }
}

static void make_exchange(world *w, int rank, size_t *aggregates)
{
    exchange_task task = {
        .rank = rank,
        .cycle_size = w->cycle_size,
        .num_cycles = w->num_cycles,
        .message_size = MESSAGE,
        .short_error = 1,
        .targets = w->domains.count,
        .target = w->target[rank],
        .domains = &w->domains,
    };
    if (*aggregates < w->domains.count && aggregator_of(w, *aggregates) == rank) {
        task.domain = (*aggregates)++;
        task.contributors = w->contributors[task.domain];
        task.contributor = w->contributor[task.domain];
        task.window = &w->window[task.domain * EXCHANGE_DEPTH];
    }
    w->ex[rank] = exchange_new(&task);
    w->buffers[rank] = exchange_buffers_new();
    check(w->ex[rank] != NULL && w->buffers[rank] != NULL &&
              exchange_reserve(w->ex[rank], w->buffers[rank]) == 0,
          "no memory");
}

static void make_world(world *w)
{
    w->nodes = (w->options.ranks - 1) / w->costs.per_node + 1;
    divide(w);
    make_accesses(w);
    make_windows(w);
    make_loads(w);
    w->contributor = allocate(w->domains.count, sizeof *w->contributor);
    w->contributors = allocate(w->domains.count, sizeof *w->contributors);
    for (size_t j = 0; j < w->domains.count; j++)
        find_contributors(w, j);
    w->ex = allocate((size_t)w->options.ranks, sizeof(exchange *));
    w->buffers = allocate((size_t)w->options.ranks, sizeof(exchange_buffers *));
    size_t aggregates = 0;
    for (int r = 0; r < w->options.ranks; r++)
        make_exchange(w, r, &aggregates);
}

/* The process ends with its world. */
static void run_world(world *w)
{
    network *net = network_new(&w->costs, w->options.ranks);
    check(net != NULL, "no memory");
    for (int write = 1; write >= 0; write--) {
        const exchange_run run = {.write = write > 0};
        int64_t messages;
        double seconds = network_run(net, w->ex, run, w->memory, &messages);
        check(seconds >= 0, "no memory, or deadlock");
        printf("%s,%d,%d,%d,%jd,%jd,%s,%s,%jd,%jd,%.2f,%.6f\n", w->costs.name, w->options.ranks,
               w->nodes, w->options.aggregators, (intmax_t)w->options.record,
               (intmax_t)w->options.records, w->loads ? "with" : "without",
               write ? "write" : "read", (intmax_t)w->num_cycles, (intmax_t)messages,
               (double)messages / (double)w->pairs / (double)w->num_cycles, seconds);
    }
    network_free(net);
}

/* ---- the command ---- */

enum { KEY_LINK = 256, KEY_UPLINK, KEY_BUFFER, KEY_MESSAGES };

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    world *w = state->input;
    options *o = &w->options;
    switch (key) {
    case 'n': o->network = arg; return 0;
    case 'p': o->ranks = atoi(arg); return 0;
    case 'a': o->aggregators = atoi(arg); return 0;
    case 'm': o->per_node = atoi(arg); return 0;
    case 'r': o->record = atoll(arg); return 0;
    case 'c': o->records = atoll(arg); return 0;
    case 'l': w->loads = true; return 0;
    case KEY_LINK: o->link = atof(arg); return 0;
    case KEY_UPLINK: o->uplink = atof(arg); return 0;
    case KEY_BUFFER: o->buffer = atoll(arg); return 0;
    case KEY_MESSAGES: o->messages = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static network_costs choose_costs(const options *o)
{
    network_costs costs = {0};
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if (strcmp(networks[i].name, o->network) == 0)
            costs = networks[i];
    check(costs.name != NULL, "unknown network");
    costs.per_node = o->per_node > 0 ? o->per_node : costs.per_node;
    costs.link = o->link > 0 ? o->link : costs.link;
    costs.uplink = o->uplink > 0 ? o->uplink : costs.uplink;
    return costs;
}

static const struct argp_option option_table[] = {
    {"network", 'n', "NAME", 0, "inspur (default), crill, bluelight or cluster", 0},
    {"link", KEY_LINK, "RATE", 0, "Bytes per second of a node's link (the network's)", 0},
    {"uplink", KEY_UPLINK, "RATE", 0, "Bytes per second of a switch's uplink (the network's)", 0},
    {"per-node", 'm', "N", 0, "Ranks of a node (the network's)", 0},
    {"ranks", 'p', "N", 0, "Ranks (4096)", 0},
    {"aggregators", 'a', "N", 0, "Aggregators (56)", 0},
    {"buffer", KEY_BUFFER, "BYTES", 0, "Cycle buffers of an aggregator (32 MiB)", 0},
    {"record", 'r', "BYTES", 0, "Bytes of a record (64)", 0},
    {"records", 'c', "N", 0, "Records of each rank (64)", 0},
    {"loads", 'l', NULL, 0, "With loads", 0},
    {"messages", KEY_MESSAGES, NULL, 0, "Ranks of a node share no memory", 0},
    {0},
};

int main(int argc, char **argv)
{
    const struct argp argp = {.options = option_table,
                              .parser = parse_option,
                              .doc = "Times an exchange on a modelled network."};
    world w = {.options = {.network = "inspur",
                           .ranks = 4096,
                           .aggregators = 56,
                           .record = 64,
                           .records = 64,
                           .buffer = 32 << 20}};
    argp_parse(&argp, argc, argv, 0, NULL, &w);
    w.costs = choose_costs(&w.options);
    make_world(&w);
    run_world(&w);
    return EXIT_SUCCESS;
}
