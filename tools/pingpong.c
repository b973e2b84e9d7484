/* SPDX-License-Identifier: BSD-3-Clause */
/* dla-pingpong: measures the bandwidth within and between the nodes of a job, and writes it as a
 * Matrix Market file, nodes x nodes. Only one pair of ranks communicates at a time. */
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/version.h"
#include "tool.h"
#include "topo/topo.h"

const char *argp_program_version = "dla-pingpong (" TATP_VERSION_TEXT ")";

struct options {
    bool all;
    size_t bytes, rounds;
    const char *topology, *output;
};

/* Only rank 0 has them. Nodes are numbered in the order of their first ranks. */
struct nodes {
    size_t count;
    char (*name)[MPI_MAX_PROCESSOR_NAME];
    int *first, *second; /* ranks of each; of one with a single rank, this twice */
    size_t levels;
    size_t *group_of_node; /* [level * count + node]; NULL without levels */
    bool all;              /* each pair of nodes is measured */
};

/* All ranks know these: pairs of nodes, or one node twice, with one bandwidth. */
struct classes {
    size_t count;
    int (*talk)[2];    /* the two ranks that communicate; one rank twice: there are none */
    double *bandwidth; /* MB/s; 0: not measured */
};

/* ---- options ---- */

static error_t parse_pingpong_option(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'p':
        options->all = strcmp(arg, "all") == 0;
        if (!options->all && strcmp(arg, "class") != 0)
            argp_error(state, "the pairs are class or all, not '%s'", arg);
        return 0;
    case 'b':
        if (tool_number(arg, 1, 1 << 30, &options->bytes) != 0)
            argp_error(state, "a message is of 1 to 1073741824 bytes, not '%s'", arg);
        return 0;
    case 'r':
        if (tool_number(arg, 1, 1000000, &options->rounds) != 0)
            argp_error(state, "the rounds are 1 to 1000000, not '%s'", arg);
        return 0;
    case 'T': options->topology = arg; return 0;
    case 'o': options->output = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options =
        (const struct argp_option[]){
            {"pairs", 'p', "class|all", 0,
             "One pair within a node and one for each level of the network (default), or all pairs "
             "of nodes",
             0},
            {"topology", 'T', "FILE", 0, "The network, for its levels (default: one level)", 0},
            {"bytes", 'b', "BYTES", 0, "Size of a message (default 1048576)", 0},
            {"rounds", 'r', "COUNT", 0, "Round trips (default 20); the fastest of them counts", 0},
            {"output", 'o', "FILE", 0, "Write to a file instead of standard output", 0},
            {0},
        },
    .parser = parse_pingpong_option,
    .doc = "Measures the bandwidth within and between the nodes of an MPI job, started by mpirun "
           "or srun with at least "
           "two ranks on a node.",
};

/* ---- nodes (on rank 0) ---- */

static size_t find_node_name(const struct nodes *nodes, const char *name)
{
    size_t n = 0;
    while (n < nodes->count && strcmp(nodes->name[n], name) != 0)
        n++;
    return n;
}

/* Collective. */
static void gather_nodes(struct nodes *nodes)
{
    char mine[MPI_MAX_PROCESSOR_NAME] = "";
    int ranks, rank, length;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_processor_name(mine, &length);
    char(*all)[MPI_MAX_PROCESSOR_NAME] = tool_allocate(rank == 0 ? (size_t)ranks : 1, sizeof *all);
    MPI_Gather(mine, sizeof mine, MPI_CHAR, all, sizeof mine, MPI_CHAR, 0, MPI_COMM_WORLD);
    *nodes = (struct nodes){.name = all};
    nodes->first = tool_allocate((size_t)ranks, sizeof *nodes->first);
    nodes->second = tool_allocate((size_t)ranks, sizeof *nodes->second);
    for (int r = 0; rank == 0 && r < ranks; r++) {
        size_t n = find_node_name(nodes, all[r]);
        if (n == nodes->count) {
            memmove(nodes->name[nodes->count++], all[r], sizeof all[r]);
            nodes->first[n] = nodes->second[n] = r;
        } else if (nodes->second[n] == nodes->first[n]) {
            nodes->second[n] = r;
        }
    }
}

static int pingpong_read_levels(struct nodes *nodes, const char *file)
{
    matrix_error error;
    topo t;
    FILE *stream = tool_open_seekable(file);
    if (stream == NULL)
        return TOOL_FAILURE;
    const char **name = tool_allocate(nodes->count, sizeof *name);
    for (size_t n = 0; n < nodes->count; n++)
        name[n] = nodes->name[n];
    int rc = topo_read(stream, name, nodes->count, &t, &error);
    fclose(stream);
    free(name);
    if (rc != 0)
        return tool_fail_reading(file, rc, &error);
    rc = topo_levels(&t, &nodes->levels, &nodes->group_of_node);
    topo_release(&t);
    return rc == 0 ? 0 : tool_fail("%s: %s", file, strerror(-rc));
}

static size_t count_classes(const struct nodes *nodes)
{
    return nodes->all ? nodes->count * nodes->count : nodes->levels + 2;
}

/* 0: one node; 1 + level: one group of that level, the lowest; 1 + levels: no common group. Where
 * all pairs are measured, each is a class. */
static size_t class_of_pair(const struct nodes *nodes, size_t a, size_t b)
{
    size_t level = 0;
    if (nodes->all)
        return a * nodes->count + b;
    if (a == b)
        return 0;
    while (level < nodes->levels && nodes->group_of_node[level * nodes->count + a] !=
                                        nodes->group_of_node[level * nodes->count + b])
        level++;
    return 1 + level;
}

/* The first pair of each class. */
static void select_pairs(struct classes *classes, const struct nodes *nodes)
{
    for (size_t a = 0; a < nodes->count; a++)
        for (size_t b = a; b < nodes->count; b++) {
            int *talk = classes->talk[class_of_pair(nodes, a, b)];
            if (talk[0] != talk[1])
                continue;
            talk[0] = nodes->first[a];
            talk[1] = a == b ? nodes->second[a] : nodes->first[b];
        }
}

/* ---- measuring ---- */

static void exchange_messages(bool begins, int other, void *buffer, const struct options *options)
{
    int bytes = (int)options->bytes;
    if (begins) {
        MPI_Send(buffer, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(buffer, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }
}

/* Returns MB/s. The first round trip, which opens the connection, does not count. */
static double measure_pair(bool begins, int other, void *buffer, const struct options *options)
{
    double least = 1e300;
    exchange_messages(begins, other, buffer, options);
    for (size_t k = 0; k < options->rounds; k++) {
        double begin = MPI_Wtime();
        exchange_messages(begins, other, buffer, options);
        double seconds = MPI_Wtime() - begin;
        least = seconds < least ? seconds : least;
    }
    return 2e-6 * (double)options->bytes / (least > 0 ? least : MPI_Wtick());
}

/* Collective. The result is valid on rank 0. */
static void measure_classes(const struct classes *classes, const struct options *options)
{
    void *buffer = tool_allocate(options->bytes, 1);
    double *bandwidth = classes->bandwidth;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t k = 0; k < classes->count; k++) {
        const int *talk = classes->talk[k];
        if (talk[0] == talk[1])
            continue;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == talk[0])
            bandwidth[k] = measure_pair(true, talk[1], buffer, options);
        else if (rank == talk[1])
            measure_pair(false, talk[0], buffer, options);
    }
    free(buffer);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : bandwidth, bandwidth, (int)classes->count, MPI_DOUBLE,
               MPI_MAX, 0, MPI_COMM_WORLD);
}

/* ---- writing (on rank 0) ---- */

/* The measured pair of a class represents all pairs of the class. */
static int fill_bandwidths(matrix *m, const struct nodes *nodes, const double *bandwidth)
{
    matrix_builder b = {.rows = nodes->count, .cols = nodes->count};
    int rc = 0;
    for (size_t i = 0; i < nodes->count; i++)
        for (size_t k = i; rc == 0 && k < nodes->count; k++) {
            double measured = bandwidth[class_of_pair(nodes, i, k)];
            int64_t value = measured < 1 ? measured > 0 : (int64_t)(measured + .5);
            rc = matrix_builder_add(&b, i, k, value);
            if (rc == 0 && i != k)
                rc = matrix_builder_add(&b, k, i, value);
        }
    if (rc == 0)
        rc = matrix_builder_finish(&b, m);
    matrix_builder_clear(&b);
    return rc;
}

static char *format_comments(const struct nodes *nodes, const struct options *options)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        exit(tool_fail("out of memory"));
    fprintf(stream, TOPO_BANDWIDTH " in MB/s of messages of %zu bytes, %s\n", options->bytes,
            nodes->all ? "all pairs" : "one pair of each class");
    for (size_t n = 0; n < nodes->count; n++)
        fprintf(stream, "hosts %s\n", nodes->name[n]);
    if (fclose(stream) != 0)
        exit(tool_fail("out of memory"));
    return text;
}

static int write_bandwidths(const struct nodes *nodes, const struct classes *classes,
                            const struct options *options)
{
    matrix m;
    const char *name = options->output == NULL ? "standard output" : options->output;
    if (options->output != NULL && freopen(options->output, "w", stdout) == NULL)
        return tool_fail("%s: %s", name, strerror(errno));
    char *comments = format_comments(nodes, options);
    int rc = fill_bandwidths(&m, nodes, classes->bandwidth);
    if (rc == 0) {
        rc = matrix_write_market(stdout, &m, comments);
        matrix_release(&m);
    }
    free(comments);
    if (rc == 0 && options->output != NULL && fclose(stdout) != 0)
        rc = -errno;
    return rc == 0 ? 0 : tool_fail("%s: %s", name, strerror(-rc));
}

/* Collective. Returns the exit status. */
static int share_classes(struct classes *classes, struct nodes *nodes,
                         const struct options *options)
{
    int rank, left[2] = {0, 0}; /* the status, and the number of classes */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && options->topology != NULL)
        left[0] = pingpong_read_levels(nodes, options->topology);
    if (rank == 0)
        left[1] = (int)count_classes(nodes);
    MPI_Bcast(left, 2, MPI_INT, 0, MPI_COMM_WORLD);
    classes->count = (size_t)left[1];
    classes->talk = tool_allocate(classes->count, sizeof *classes->talk);
    classes->bandwidth = tool_allocate(classes->count, sizeof *classes->bandwidth);
    if (rank == 0)
        select_pairs(classes, nodes);
    MPI_Bcast(classes->talk, 2 * left[1], MPI_INT, 0, MPI_COMM_WORLD);
    return left[0];
}

static int measure_job(const struct options *options)
{
    struct nodes nodes;
    struct classes classes;
    int ranks, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    gather_nodes(&nodes);
    nodes.all = options->all;
    int status = share_classes(&classes, &nodes, options);
    if (status == 0 && ranks == 1)
        status = tool_fail("there is nothing to measure: one rank only");
    if (status == 0)
        measure_classes(&classes, options);
    if (status == 0 && rank == 0)
        status = write_bandwidths(&nodes, &classes, options);
    free(nodes.name);
    free(nodes.first);
    free(nodes.second);
    free(nodes.group_of_node);
    free(classes.talk);
    free(classes.bandwidth);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.bytes = 1 << 20, .rounds = 20};
    argp_err_exit_status = TOOL_USAGE;
    tool_parse(&argp, 0, argc, argv, &options);
    MPI_Init(&argc, &argv);
    int status = measure_job(&options);
    MPI_Finalize();
    return status;
}
