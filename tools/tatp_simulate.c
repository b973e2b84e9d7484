/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp-simulate, which "tatp simulate" executes: what collective calls of a whole job do on a
 * machine, by the code that runs. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mix.h"
#include "base/version.h"
#include "dla/place.h"
#include "output.h"
#include "record/record.h"
#include "simulate/job.h"
#include "tatp_network.h"
#include "tool.h"

enum { DIMENSIONS = 3, MOST_RANKS = 1 << 20, OPTION_KEYS = 128 };
/* That a rank accesses in a call. */
#define MOST_BYTES (1 << 30)

const char *argp_program_version = "tatp (" TATP_VERSION_TEXT ")";

typedef struct simulate_options {
    tool_options common;
    /* What ranks access in each call: */
    const char *view;          /* a view file, or NULL */
    int64_t grid[DIMENSIONS];  /* else ranks in a grid, in C order */
    int64_t block[DIMENSIONS]; /* elements of a rank */
    int64_t chunk[DIMENSIONS]; /* elements that are stored together: all, or those of --chunk */
    int64_t element;           /* bytes */
    size_t record, count;      /* bytes of a record, and those of a rank: columns of a grid ... */
    bool is_random;            /* ... or in a random order */
    size_t ranks, per_node;    /* the former not of a view file */
    size_t times;              /* that the view file is accessed, by other ranks each time */
    /* The machine: */
    tatp_network_options network;
    machine_rate link, server;
    size_t servers;
    size_t uplinks; /* of a switch of Slurm */
    bool compare, romio;
    bool is_given[OPTION_KEYS];
} simulate_options;

/* What follows from the options. */
typedef struct simulation {
    const simulate_options *given;
    size_t ranks;
    access_list *list; /* of each rank */
    int64_t extent;    /* of the file that they access */
    int64_t bytes;     /* of a call, and those whose places the view file does not say */
    int64_t hidden;
    dla_data data; /* of the view file, or of what is accessed else */
    tatp_network places;
} simulation;

/* What a user can choose. */
typedef struct simulate_choice {
    const char *name;
    const size_t *node_of_rank;
    const char *strategy; /* or NULL: the default */
    size_t per_node;      /* aggregators; 0: the default */
    bool is_romio;
    job_phase phase[JOB_PHASES];
} simulate_choice;

/* ---- options ---- */

static const struct argp_option option_list[] = {
    {"view", 'v', "FILE", 0, "What a recorded run accessed in its largest calls", 0},
    {"times", 'T', "N", 0, "The view file N times, one behind the other, by as many more ranks", 0},
    {"cart", 'c', "XxYxZ", 0, "An array in C order, divided among a grid of ranks", 0},
    {"block", 'b', "XxYxZ", 0, "Elements of each rank (default: 16x16x16)", 0},
    {"element", 'e', "BYTES", 0, "Bytes of an element (default: 8)", 0},
    {"chunk", 'k', "XxYxZ", 0, "Elements of a chunk of the array, as HDF5 stores it", 0},
    {"records", 'r', "BYTES", 0, "Records of each rank, ranks in turn", 0},
    {"count", 'm', "N", 0, "Records of a rank (default: 32)", 0},
    {"random", 'x', NULL, 0, "Records in a random order instead", 0},
    {"ranks", 'p', "N", 0, "Ranks, for --records", 0},
    {"ranks-per-node", 'n', "N", 0, "Ranks of each node (default: 32)", 0},
    {"hosts", 'H', "LIST", 0, "Hosts of the ranks in rank order: n[0-3]:32,login or @FILE", 0},
    {"topology", 't', "FILE", 0, "The network, in any format that 'tatp topology' reads", 0},
    {"uplinks", 'u', "N", 0, "Cables above each switch of a tree of Slurm (default: 1)", 0},
    {"link", 'l', "RATE[:TIME]", 0, "Of each cable (default: 12.5GB/s:1us)", 0},
    {"servers", 's', "NxRATE[:TIME]", 0, "Of the file system (default: 16x2GB/s:50us)", 0},
    {"compare", 'C', NULL, 0, "Placements, aggregators, strategies and ROMIO, a line each", 0},
    {"romio", 'R', NULL, 0, "ROMIO's messages instead", 0},
    {0},
};

/* "64x32x32", also with fewer numbers; the others are 1. */
static void parse_shape(struct argp_state *state, char *text, int64_t *shape)
{
    char *rest = text;
    bool is_valid = true;
    for (int d = 0; d < DIMENSIONS; d++) {
        shape[d] = d == 0 || *rest == 'x' ? strtoll(rest + (d > 0), &rest, 10) : 1;
        is_valid &= shape[d] > 0 && shape[d] <= MOST_RANKS;
    }
    if (!is_valid || *rest != '\0')
        argp_error(state, "'%s' is no shape, as 64x32x32 with numbers up to %d", text, MOST_RANKS);
}

/* Of the text, which it ends in; below 0: there is none. */
static double take_quantity(char **text, const char *unit)
{
    static const char prefixes[] = "num kMGT";
    double value = strtod(*text, text);
    const char *prefix = **text != *unit && **text != '\0' ? strchr(prefixes, **text) : NULL;
    *text += prefix != NULL;
    if (strncmp(*text, unit, strlen(unit)) != 0)
        return -1.0;
    *text += strlen(unit);
    return prefix == NULL ? value : value * pow(1e3, (double)(prefix - prefixes - 3));
}

/* "25GB/s" or "25GB/s:1us". */
static machine_rate parse_rate(struct argp_state *state, char *text, double latency)
{
    char *rest = text;
    machine_rate rate = {take_quantity(&rest, "B/s"), latency};
    if (*rest == ':') {
        rest++;
        rate.latency = take_quantity(&rest, "s");
    }
    if (!(rate.bandwidth > 0.0 && rate.bandwidth < 1e18) || *rest != '\0' ||
        !(rate.latency >= 0.0 && rate.latency < 1e6))
        argp_error(state, "'%s' is no rate above 0, as 25GB/s:1us", text);
    return rate;
}

static size_t parse_number(struct argp_state *state, const char *text, size_t most)
{
    size_t number = 1;
    if (tool_number(text, 1, most, &number) != 0)
        argp_error(state, "'%s' is no number from 1 to %zu", text, most);
    return number;
}

/* "32x2GB/s". */
static void parse_servers(struct argp_state *state, char *text, simulate_options *options)
{
    char *rate;
    options->servers = strtoul(text, &rate, 10);
    if (*rate != 'x' || options->servers < 1 || options->servers > MOST_RANKS)
        argp_error(state, "'%s' are no servers, as 32x2GB/s", text);
    options->server = parse_rate(state, rate + 1, options->server.latency);
}

static double volume_of(const int64_t *shape)
{
    return (double)shape[0] * (double)shape[1] * (double)shape[2];
}

static void check_bytes(struct argp_state *state, const char *what, double bytes)
{
    if (bytes > MOST_BYTES)
        argp_error(state, "%s too many bytes: at most %d", what, MOST_BYTES);
}

static void check_shapes(struct argp_state *state, simulate_options *a)
{
    if (volume_of(a->grid) > MOST_RANKS)
        argp_error(state, "--cart has %.0f ranks: at most %d", volume_of(a->grid), MOST_RANKS);
    a->ranks = (size_t)volume_of(a->grid);
    check_bytes(state, a->record > 0 ? "--records and --count have" : "--block has",
                volume_of(a->block) * (double)a->element);
    check_bytes(state, "--chunk has", volume_of(a->chunk) * (double)a->element);
    for (int d = DIMENSIONS; d-- > 0;)
        a->chunk[d] = a->chunk[0] > 0 ? a->chunk[d] : a->grid[d] * a->block[d];
}

/* A row: an option, and another one that it needs, or that excludes it. */
static const struct {
    int option, other;
    bool excludes;
} combinations[] = {
    {'v', 'c', true},  {'v', 'r', true},  {'c', 'r', true},  {'T', 'v', false}, {'b', 'c', false},
    {'e', 'c', false}, {'k', 'c', false}, {'r', 'p', false}, {'p', 'r', false}, {'m', 'r', false},
    {'x', 'r', false}, {'H', 'n', true},  {'t', 'H', false}, {'u', 't', false}, {'R', 'C', true},
};

static const char *name_of(int key)
{
    const struct argp_option *o = option_list;
    while (o->key != key)
        o++;
    return o->name;
}

static void check_combinations(const struct argp_state *state, const bool *is_given)
{
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++) {
        int option = combinations[i].option, other = combinations[i].other;
        bool excludes = combinations[i].excludes;
        if (is_given[option] && is_given[other] == excludes)
            argp_error(state, excludes ? "--%s and --%s exclude each other" : "--%s needs --%s",
                       name_of(option), name_of(other));
    }
}

static void check_options(struct argp_state *state, simulate_options *a)
{
    const char *const files[] = {a->view, a->network.topology, a->network.hosts};
    tool_check_input(state, files, sizeof files / sizeof *files);
    check_combinations(state, a->is_given);
    if (a->view == NULL && !a->is_given['c'] && a->record == 0)
        argp_error(state, "one of --view, --cart and --records is needed");
    if (a->record > 0) {
        a->element = (int64_t)a->record;
        memcpy(a->grid, (int64_t[]){1, (int64_t)a->ranks, 1}, sizeof a->grid);
        memcpy(a->block, (int64_t[]){(int64_t)a->count, 1, 1}, sizeof a->block);
    }
    if (a->view == NULL)
        check_shapes(state, a);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    simulate_options *a = state->input;
    if (key > 0 && key < OPTION_KEYS)
        a->is_given[key] = true;
    switch (key) {
    case 'v': a->view = arg; return 0;
    case 'c': parse_shape(state, arg, a->grid); return 0;
    case 'b': parse_shape(state, arg, a->block); return 0;
    case 'k': parse_shape(state, arg, a->chunk); return 0;
    case 'm': a->count = parse_number(state, arg, MOST_RANKS); return 0;
    case 'x': a->is_random = true; return 0;
    case 'e': a->element = (int64_t)parse_number(state, arg, 1 << 20); return 0;
    case 'r': a->record = parse_number(state, arg, MOST_BYTES); return 0;
    case 'p': a->ranks = parse_number(state, arg, MOST_RANKS); return 0;
    case 'T': a->times = parse_number(state, arg, MOST_RANKS); return 0;
    case 'n': a->per_node = parse_number(state, arg, MOST_RANKS); return 0;
    case 'H': a->network.hosts = arg; return 0;
    case 't': a->network.topology = arg; return 0;
    case 'u': a->uplinks = parse_number(state, arg, MOST_RANKS); return 0;
    case 'l': a->link = parse_rate(state, arg, a->link.latency); return 0;
    case 's': parse_servers(state, arg, a); return 0;
    case 'C': a->compare = true; return 0;
    case 'R': a->romio = true; return 0;
    case ARGP_KEY_END: check_options(state, a); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp simulate_argp = {
    .options = option_list,
    .parser = parse_option,
    .doc = "Simulates collective writes and reads of a whole job in this process.",
};

/* ---- what is accessed ---- */

/* Of a rank: what follows in the file. */
static void append(simulation *s, size_t rank, int64_t offset, int64_t bytes)
{
    access_list *list = &s->list[rank];
    tool_check(access_append(list, offset, bytes, list->bytes), "the accesses of all ranks");
}

/* The chunk that begins at element o[] and at the end of the file. */
static void append_chunk(simulation *s, const int64_t *o)
{
    const int64_t *g = s->given->grid, *b = s->given->block, *c = s->given->chunk;
    int64_t element = s->given->element, end[DIMENSIONS], next;
    for (int d = 0; d < DIMENSIONS; d++)
        end[d] = access_least(o[d] + c[d], g[d] * b[d]);
    for (int64_t x = o[0]; x < end[0]; x++)
        for (int64_t y = o[1]; y < end[1]; y++)
            for (int64_t z = o[2]; z < end[2]; z = next) {
                int64_t rank = (x / b[0] * g[1] + y / b[1]) * g[2] + z / b[2];
                int64_t at = ((x - o[0]) * c[1] + y - o[1]) * c[2] + z - o[2];
                next = access_least((z / b[2] + 1) * b[2], end[2]);
                append(s, (size_t)rank, s->extent + at * element, (next - z) * element);
            }
    s->extent += c[0] * c[1] * c[2] * element;
}

/* Chunks, and elements of a chunk, in C order; the last chunks may reach beyond the array. */
static void access_cart(simulation *s)
{
    const int64_t *g = s->given->grid, *b = s->given->block, *c = s->given->chunk;
    int64_t o[DIMENSIONS];
    for (o[0] = 0; o[0] < g[0] * b[0]; o[0] += c[0])
        for (o[1] = 0; o[1] < g[1] * b[1]; o[1] += c[1])
            for (o[2] = 0; o[2] < g[2] * b[2]; o[2] += c[2])
                append_chunk(s, o);
}

/* The same ones in each run. */
static void access_at_random(simulation *s)
{
    size_t count = s->given->count, all = s->ranks * count;
    size_t *place = tool_allocate(all, sizeof *place), *owner = tool_allocate(all, sizeof *owner);
    for (size_t i = 0; i < all; i++) {
        size_t other = base_mix(i) % (i + 1);
        place[i] = place[other];
        place[other] = i;
    }
    for (size_t i = 0; i < all; i++)
        owner[place[i]] = i / count;
    for (size_t i = 0; i < all; i++, s->extent += s->given->element)
        append(s, owner[i], s->extent, s->given->element);
    free(place);
    free(owner);
}

/* The calls that move most bytes. */
static void access_recorded(simulation *s)
{
    const view_file *file = &s->data.file;
    size_t largest = 0;
    int64_t most = 0, bytes = 0;
    for (size_t k = 0; k < file->patterns; k++)
        if (matrix_sum(&file->bytes[k], &bytes) == 0 && bytes > most) {
            most = bytes;
            largest = k;
        }
    if (most == 0)
        exit(tool_fail("%s: no calls are recorded in it: record a run by --mca fcoll_tatp_record",
                       s->given->view));
    tool_check(record_deal(file, largest, s->list, &s->hidden), "the accesses of all ranks");
    s->extent = (int64_t)file->bytes[largest].cols * file->pattern[largest].unit;
}

/* As of an array that is longer in its slowest dimension. */
static void repeat_accesses(simulation *s)
{
    size_t ranks = s->ranks / s->given->times;
    for (size_t rank = ranks; rank < s->ranks; rank++) {
        const access_list *list = &s->list[rank % ranks];
        int64_t shift = (int64_t)(rank / ranks) * s->extent;
        for (size_t i = 0; i < list->count; i++) {
            access_run run = list->run[i];
            run.offset += shift;
            tool_check(access_append_run(&s->list[rank], &run), "the accesses of all ranks");
        }
    }
    s->extent *= (int64_t)s->given->times;
    s->hidden *= (int64_t)s->given->times;
    view_file_release(&s->data.file);
    s->data.file = (view_file){.patterns = 0};
}

static void list_accesses(simulation *s)
{
    const simulate_options *a = s->given;
    s->list = tool_allocate(s->ranks, sizeof *s->list);
    (a->view != NULL ? access_recorded : a->is_random ? access_at_random : access_cart)(s);
    if (a->times > 1)
        repeat_accesses(s);
    for (size_t rank = 0; rank < s->ranks; rank++)
        s->bytes += s->list[rank].bytes;
}

/* ---- the machine ---- */

/* A tree of Slurm does not say how many cables are above a switch. */
static bool has_unknown_cables(const topo *t)
{
    return t->tree.vertices > t->nodes + 1 && strncmp(t->source, "Slurm", 5) == 0;
}

static void set_uplinks(const simulate_options *a, topo *t)
{
    bool is_unknown = has_unknown_cables(t);
    if (a->is_given['u'] && !is_unknown)
        exit(tool_fail("%s: --uplinks is for trees of Slurm with several switches; this is: %s",
                       a->network.topology, t->source));
    for (size_t v = t->nodes; is_unknown && v < t->tree.vertices; v++)
        t->tree.width[v] = a->uplinks;
}

static void read_network(simulation *s)
{
    const simulate_options *a = s->given;
    const char *who = a->view != NULL ? a->view : a->record > 0 ? "--ranks" : "--cart";
    if (a->network.hosts != NULL) {
        tatp_network_read(&a->network, who, s->ranks, &s->places);
        set_uplinks(a, &s->places.topology);
        return;
    }
    size_t per_node = a->per_node > 0 ? a->per_node : 32;
    topo_flat(&s->places.topology, (s->ranks + per_node - 1) / per_node);
    s->places.node_of_rank = tool_allocate(s->ranks, sizeof *s->places.node_of_rank);
    for (size_t i = 0; i < s->ranks; i++)
        s->places.node_of_rank[i] = i / per_node;
}

/* Bytes that the ranks of a node share and have in buffers, at most. */
#define NODE_WINDOWS 32e6

/* The simulation ends by a signal where memory does not suffice. Also before it is known what is
 * accessed. */
static void check_memory(const simulation *s)
{
    double p = (double)s->ranks, runs = (double)(s->given->block[0] * s->given->block[1]);
    double windows = fmin((double)s->extent, (double)s->places.topology.nodes * NODE_WINDOWS);
    double needed = p * (100e3 + 1.0 * p + 64.0 * runs) + 3.0 * windows;
    double there = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (needed > there)
        exit(tool_fail("%zu ranks take about %.0f GB of memory, and this machine has %.0f GB: "
                       "simulate fewer",
                       s->ranks, needed / 1e9, there / 1e9));
}

/* ---- placements ---- */

static void check(int rc)
{
    tool_check(rc, "placing");
}

/* What a run would have recorded, with rank 0 as the owner of all of the file. */
static void record_accesses(const simulation *s, view_file *file)
{
    size_t ranks = s->ranks, *rank = tool_allocate(ranks, sizeof *rank);
    int64_t sum[RECORD_SUMS] = {0};
    for (size_t i = 0; i < ranks; i++) {
        rank[i] = i;
        check(record_add_sums(&s->list[i], 0, s->extent, sum));
    }
    access_pattern pattern = {tool_copy(""), 1, 0, record_choose_unit(0, s->extent, sum), {0}};
    record_sums sums;
    access_message message = {0};
    matrix bytes;
    check(record_sums_start(&sums, ranks, 0, s->extent, pattern.unit, 1));
    for (size_t i = 0; i < ranks; i++) {
        const record_received received = {s->list, rank, i == 0 ? ranks : 0};
        message.count = 0;
        check(record_make_report(&received, &s->list[i], 0, pattern.unit, &message));
        check(record_sums_add_report(&sums, 0, i, message.element, message.count));
    }
    check(record_sums_finish(&sums, &file->view, &bytes));
    check(view_file_append(file, &pattern, &bytes));
    record_sums_release(&sums);
    free(message.element);
    free(rank);
}

/* As it is simulated, whatever it was in the run of a view file. */
static access_division division_of(const simulate_options *a)
{
    access_division striped = {.stripe = MACHINE_STRIPE, .targets = (int64_t)a->servers};
    return a->servers > 1 ? striped : (access_division){0};
}

/* As "dla map" does, on as many slots of each node as it has ranks. */
static void place_ranks(simulation *s, dla_placement *placed)
{
    const topo *topology = &s->places.topology;
    view_file *file = &s->data.file;
    size_t *slots = tool_allocate(topology->nodes, sizeof *slots);
    const dla_room room = {.nodes = topology->nodes, .slots = slots};
    for (size_t i = 0; i < s->ranks; i++)
        slots[s->places.node_of_rank[i]]++;
    if (file->patterns == 0)
        record_accesses(s, file);
    for (size_t k = 0; k < file->patterns; k++)
        file->pattern[k].division = division_of(s->given);
    s->data.topology = *topology;
    check(topo_levels(topology, &s->data.network.levels, &s->data.network.group_of_node));
    check(dla_place(&s->data, &(dla_spec){.ndims = 0}, &room, placed));
    s->data.topology = (topo){0};
    free(slots);
}

/* ---- results ---- */

static void print_phases(const job_phase *phase)
{
    tool_table table = {.align = "lrrrrrrrrr"};
    tool_table_add(&table, "\nseconds\nmessages\nbetween nodes\nbytes\nof a link\nsent\nreceived\n"
                           "posted\nMB");
    for (int k = 0; k < JOB_PHASES && phase[k].is_over; k++) {
        const double *f = phase[k].figure;
        tool_table_add(&table, "%s\n%.6f", job_phase_name[k], f[JOB_SECONDS]);
        for (int i = JOB_MESSAGES; i <= JOB_MOST_POSTED; i++)
            tool_table_add(&table, "%.0f", f[i]);
        tool_table_add(&table, "%.1f", fmax(f[JOB_ROOT_BYTES], f[JOB_MOST_BYTES]) / 1e6);
    }
    tool_table_print(&table);
    printf("bytes: between nodes. of a link: the most, in one direction. sent, received, posted at "
           "a time,\nMB: the most of any rank.\n");
}

/* Of the third write but for seconds and memory. */
static void print_choices(const simulate_choice *choice, size_t count, size_t ranks)
{
    tool_table table = {.align = "lrrrrrrrrrrr"};
    tool_table_add(&table, "\nfirst write\nwrite\nfirst read\nread\nmessages\nmost\nposted\n"
                           "MB of a link\nbetween nodes\nMB of rank 0\nmost");
    for (const simulate_choice *c = choice; c < choice + count && c->phase[JOB_WRITE].is_over;
         c++) {
        const double *f = c->phase[JOB_WRITE].figure;
        double root = 0.0, most = 0.0;
        tool_table_add(&table, "%s", c->name);
        for (int k = JOB_FIRST_WRITE; k <= JOB_READ; k++) {
            const job_phase *p = &c->phase[k];
            root = fmax(root, p->figure[JOB_ROOT_BYTES]);
            most = fmax(most, p->figure[JOB_MOST_BYTES]);
            if (k != JOB_SECOND_WRITE)
                tool_table_add(&table, p->is_over ? "%.6f" : "-", p->figure[JOB_SECONDS]);
        }
        tool_table_add(&table, "%.2f\n%.0f\n%.0f\n%.3f\n%.3f\n%.1f\n%.1f",
                       f[JOB_MESSAGES] / (double)ranks,
                       fmax(f[JOB_MOST_SENT], f[JOB_MOST_RECEIVED]), f[JOB_MOST_POSTED],
                       f[JOB_BUSIEST_BYTES] / 1e6, f[JOB_FAR_BYTES] / 1e6, root / 1e6, most / 1e6);
    }
    tool_table_print(&table);
    printf("Seconds of four calls. Of the third write: messages a rank, the most that one sends or "
           "receives and\nthat it waits for at a time, MB of the busiest link and between nodes. "
           "Memory: the most of all calls.\n");
}

/* What the view file does not say, where it is more than a hundredth, nor the network's, and what
 * is not simulated. */
static void print_assumptions(const simulation *s)
{
    if (s->hidden > s->bytes / 100)
        printf("The view file does not say where in its bins %.0f %% of the bytes are: ranks take "
               "turns there, with\npieces of mean length.\n",
               100.0 * (double)s->hidden / (double)s->bytes);
    if (has_unknown_cables(&s->places.topology))
        printf(
            "Cables above each switch: %zu; a tree of Slurm does not say how many (--uplinks).\n",
            s->given->uplinks);
    printf("Not simulated: processor time, other jobs, caches, pages and locks of the file system, "
           "messages\ninside collective operations of MPI.\n"
           "OMPIO itself allocates %.0f MB more on each rank at an opening and at a view.\n",
           4e-6 * (double)s->ranks * (double)s->ranks);
}

static void put_phases(json_writer *w, const job_phase *phase)
{
    json_begin_array(w, "phases");
    for (int k = 0; k < JOB_PHASES && phase[k].is_over; k++) {
        json_begin_object(w, NULL);
        json_put_string(w, "phase", job_phase_name[k]);
        for (int i = 0; i < JOB_FIGURES; i++)
            if (i == JOB_SECONDS || i == JOB_BUSIEST_BYTES)
                json_put_real(w, job_key[i], phase[k].figure[i]);
            else
                json_put_int64(w, job_key[i], (int64_t)phase[k].figure[i]);
        json_end_object(w);
    }
    json_end_array(w);
}

static void print_json(const simulation *s, const simulate_choice *choice, size_t count)
{
    const topo *topology = &s->places.topology;
    tool_json json;
    json_writer *w = tool_json_begin(&json);
    json_put_size(w, "ranks", s->ranks);
    json_put_size(w, "nodes", topology->nodes);
    if (has_unknown_cables(topology))
        json_put_size(w, "uplinks", s->given->uplinks);
    json_put_int64(w, "bytes", s->bytes);
    json_put_int64(w, "hidden_bytes", s->hidden);
    if (s->given->compare) {
        json_begin_array(w, "choices");
        for (size_t i = 0; i < count; i++) {
            json_begin_object(w, NULL);
            json_put_string(w, "choice", choice[i].name);
            put_phases(w, choice[i].phase);
            json_end_object(w);
        }
        json_end_array(w);
    } else {
        put_phases(w, choice->phase);
    }
    tool_json_end(&json);
}

/* ---- the command ---- */

static volatile sig_atomic_t is_stopped;
static const char *running;

/* A second signal ends the program at once. */
static void stop(int number)
{
    is_stopped = number;
    (void)signal(number, SIG_DFL);
}

static void show_progress(enum job_phase_kind kind)
{
    fprintf(stderr, "\r%s: %s\033[K", running, job_phase_name[kind]);
}

static void run_job(const simulation *s, simulate_choice *choice)
{
    const simulate_options *options = s->given;
    const topo *nodes = &s->places.topology;
    char aggregators[24], servers[24], stripe[24];
    bool is_striped = options->servers > 1;
    const char *parameter[PARAMETERS] = {
        [PARAMETER_SHARED_MEMORY] = "true",
        [PARAMETER_STRATEGY] = choice->strategy,
        [PARAMETER_TOPOLOGY] = options->network.topology,
        [PARAMETER_NUM_AGGREGATORS] = choice->per_node > 0 ? aggregators : NULL,
        [PARAMETER_STRIPE_SIZE] = is_striped ? stripe : NULL,
        [PARAMETER_STRIPE_COUNT] = is_striped ? servers : NULL,
    };
    snprintf(aggregators, sizeof aggregators, "%zu", choice->per_node * nodes->nodes);
    snprintf(servers, sizeof servers, "%zu", options->servers);
    snprintf(stripe, sizeof stripe, "%d", MACHINE_STRIPE);
    const job_settings settings = {
        .ranks = (int)s->ranks,
        .node_of_rank = choice->node_of_rank,
        .node_name = s->places.hosts.nodes.name,
        .machine = {nodes, options->link, options->server, options->servers},
        .parameters = parameter,
        .is_romio = choice->is_romio,
        .view = s->list,
        .extent = s->extent,
        .begins = isatty(STDERR_FILENO) ? show_progress : NULL,
        .stop = &is_stopped,
    };
    running = choice->name;
    char *failure = job_run(&settings, choice->phase);
    if (settings.begins != NULL)
        fputs("\r\033[K", stderr);
    if (failure != NULL)
        exit(tool_fail("the simulation failed: %s", failure));
}

static void run_choices(const simulate_options *options, simulation *s)
{
    dla_placement placed = {.by_slot = NULL};
    const size_t *given = s->places.node_of_rank;
    if (options->compare)
        place_ranks(s, &placed);
    simulate_choice choice[] = {
        {"as given", given, NULL, 0, options->romio && !options->compare, {{0}}},
        {"ranks by slot", placed.by_slot, NULL, 0, false, {{0}}},
        {"ranks by node", placed.by_node, NULL, 0, false, {{0}}},
        {"ranks by dla", placed.node_of_rank, NULL, 0, false, {{0}}},
        {"1 aggregator a node", given, NULL, 1, false, {{0}}},
        {"2 aggregators a node", given, NULL, 2, false, {{0}}},
        {"4 aggregators a node", given, NULL, 4, false, {{0}}},
        {"strategy otp", given, "otp", 0, false, {{0}}},
        {"ROMIO", given, NULL, 0, true, {{0}}},
    };
    /* By slot is how they are given. */
    size_t first = options->compare && options->network.hosts == NULL ? 1 : 0;
    size_t count = options->compare ? sizeof choice / sizeof *choice - first : 1;
    for (size_t i = first; i < first + count && is_stopped == 0; i++)
        run_job(s, &choice[i]);
    if (options->common.json)
        print_json(s, choice + first, count);
    else if (options->compare)
        print_choices(choice + first, count, s->ranks);
    else
        print_phases(choice->phase);
    if (!options->common.json)
        print_assumptions(s);
    dla_placement_release(&placed);
}

/* The ranks, and what a view file has of them. */
static void read_view(simulation *s)
{
    const simulate_options *a = s->given;
    s->ranks = a->ranks;
    if (a->view == NULL)
        return;
    tool_read_view(a->view, &s->data.file);
    if (s->data.file.view.rows > MOST_RANKS / a->times)
        exit(tool_fail("%s: %zu times %zu ranks: at most %d", a->view, a->times,
                       s->data.file.view.rows, MOST_RANKS));
    s->ranks = s->data.file.view.rows * a->times;
}

int main(int argc, char **argv)
{
    simulate_options options = {
        .block = {16, 16, 16},
        .element = 8,
        .count = 32,
        .times = 1,
        .uplinks = 1,
        .link = {12.5e9, 1e-6},
        .server = {2e9, 50e-6},
        .servers = 16,
    };
    simulation s = {.given = &options};
    argp_err_exit_status = TOOL_USAGE;
    tool_parse(&simulate_argp, TOOL_JSON, argc, argv, &options);
    read_view(&s);
    check_memory(&s);
    read_network(&s);
    list_accesses(&s);
    check_memory(&s);
    (void)signal(SIGINT, stop);
    run_choices(&options, &s);
    for (size_t i = 0; i < s.ranks; i++)
        access_release(&s.list[i]);
    free(s.list);
    dla_data_release(&s.data);
    tatp_network_release(&s.places);
    return tool_finish(is_stopped == 0 ? 0 : 128 + SIGINT);
}
