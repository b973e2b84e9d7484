/* SPDX-License-Identifier: BSD-3-Clause */
/* reorder HOW...: communicators with reorder. Whatever their order is, the coordinates, neighbours
 * and messages agree. Prints for each HOW the pairs of neighbours on two hosts. HOW: grid, none
 * (without reorder), some (ranks differ in it), half (a part of the processes), extra (more of them
 * than the grid has), periodic, graph, twice (a grid from a grid), write (a file of the grid),
 * shuffle (also that, of a communicator in an order of the program's own); dist, a distributed
 * graph, and with it in one word: adjacent, unweighted, empty (no edges), some, none; many, a
 * distributed graph with too many edges of one rank.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIMS = 3, HOST = 64, MOST = 256 };

static const char *how;
static int failures;

static void expect(int is_right, const char *what)
{
    if (!is_right && ++failures < 4)
        fprintf(stderr, "wrong: %s: %s\n", how, what);
}

/* The sum over all processes of those of these ranks that are on another host. */
static int count_pairs(MPI_Comm comm, const int *other, int others)
{
    int size, pairs = 0, sum = 0;
    char own[HOST] = "";
    MPI_Comm_size(comm, &size);
    char(*host)[HOST] = malloc(sizeof *host * (size_t)size);
    gethostname(own, sizeof own - 1);
    MPI_Allgather(own, HOST, MPI_CHAR, host, HOST, MPI_CHAR, comm);
    for (int i = 0; i < others; i++)
        pairs += other[i] >= 0 && strcmp(own, host[other[i]]) != 0;
    MPI_Allreduce(&pairs, &sum, 1, MPI_INT, MPI_SUM, comm);
    free(host);
    return sum;
}

static void print(MPI_Comm comm, int pairs)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        printf("%s %d between\n", how, pairs);
}

static void check_grid(MPI_Comm grid)
{
    int rank, at, coordinate[DIMS], extent[DIMS], periodic[DIMS], upper[DIMS], lower;
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_get(grid, DIMS, extent, periodic, coordinate);
    at = (coordinate[0] * extent[1] + coordinate[1]) * extent[2] + coordinate[2];
    expect(at == rank, "coordinates in C order");
    for (int d = 0; d < DIMS; d++) {
        int sent = rank, expected;
        MPI_Cart_shift(grid, d, 1, &lower, &upper[d]);
        expected = lower < 0 ? rank : lower;
        MPI_Sendrecv_replace(&sent, 1, MPI_INT, upper[d], 0, lower, 0, grid, MPI_STATUS_IGNORE);
        expect(sent == expected, "a message from the lower neighbour");
    }
    print(grid, count_pairs(grid, upper, DIMS));
}

/* Each process of the old communicator is in the new one, or is one of those that it has not. */
static void check_members(MPI_Comm old, MPI_Comm made, int ranks)
{
    int is_in = made != MPI_COMM_NULL, members;
    MPI_Allreduce(&is_in, &members, 1, MPI_INT, MPI_SUM, old);
    expect(members == ranks, "the number of processes");
}

static MPI_Comm make_grid(MPI_Comm old, int ranks, int is_periodic, int reorder)
{
    int extent[DIMS] = {0}, periodic[DIMS] = {is_periodic, is_periodic, is_periodic};
    MPI_Comm grid;
    MPI_Dims_create(ranks, DIMS, extent);
    MPI_Cart_create(old, DIMS, extent, periodic, reorder, &grid);
    check_members(old, grid, ranks);
    if (grid != MPI_COMM_NULL)
        check_grid(grid);
    return grid;
}

/* An array of the processes' blocks in Fortran order, in a file that they open as the grid. */
static void write_array(MPI_Comm grid)
{
    int extent[DIMS], periodic[DIMS], first[DIMS], size[DIMS], part[DIMS], data[64] = {0};
    MPI_Datatype type;
    MPI_File file;
    MPI_Comm copy;
    MPI_Cart_get(grid, DIMS, extent, periodic, first);
    for (int d = 0; d < DIMS; d++) {
        size[d] = extent[d] * (part[d] = 4);
        first[d] *= part[d];
    }
    MPI_Type_create_subarray(DIMS, size, part, first, MPI_ORDER_FORTRAN, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Comm_dup(grid, &copy);
    MPI_File_open(copy, "array", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, data, 64, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Comm_free(&copy);
    MPI_Type_free(&type);
}

/* A ring over the ranks in steps of a half, so that all edges of the old order are between halves.
 */
static void make_graph(int ranks)
{
    int index[MOST], edge[MOST], rank, next, count;
    MPI_Comm graph;
    for (int i = 0; i < ranks; i++) {
        index[i] = i + 1;
        edge[i] = (i + ranks / 2 + (i >= ranks / 2)) % ranks;
    }
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edge, 1, &graph);
    MPI_Comm_rank(graph, &rank);
    MPI_Graph_neighbors_count(graph, rank, &count);
    MPI_Graph_neighbors(graph, rank, 1, &next);
    expect(count == 1 && next == edge[rank], "the neighbour in the graph");
    print(graph, count_pairs(graph, &next, 1));
    MPI_Comm_free(&graph);
}

/* ---- distributed graphs ---- */

typedef struct edges {
    int count, from[MOST], to[MOST], weight[MOST];
} edges;

/* The ring of make_graph, with some edges twice and some from a rank to itself, and without edges
 * of every eighth rank. */
static edges list_edges(int ranks)
{
    edges e = {0};
    for (int i = 0; i < 2 * ranks; i++) {
        int r = i / 2, other = (r + ranks / 2 + (r >= ranks / 2)) % ranks;
        if ((i % 2 == 1 && r % 4 > 1) || r % 8 == 7 || other % 8 == 7)
            continue;
        e.from[e.count] = r;
        e.to[e.count] = i % 2 == 1 && r % 4 == 0 ? r : other;
        e.weight[e.count++] = 1 + i % 5;
    }
    return e;
}

/* Those of a rank, in their order. */
static edges choose_edges(const edges *all, const int *end, int rank)
{
    edges e = {0};
    for (int i = 0; i < all->count; i++)
        if (end[i] == rank) {
            e.from[e.count] = all->from[i];
            e.to[e.count] = all->to[i];
            e.weight[e.count++] = all->weight[i];
        }
    return e;
}

/* The same for any order of these neighbours. */
static long long add_up(const int *other, const int *weight, int count)
{
    long long sum = 0;
    for (int i = 0; i < count; i++)
        sum += (100LL * other[i] + weight[i]) * (100LL * other[i] + weight[i]);
    return sum;
}

static void expect_neighbors(const int *other, const int *weight, int count, const int *expected,
                             const edges *e, int is_in_order)
{
    expect(count == e->count, "a degree");
    expect(add_up(other, weight, count) == add_up(expected, e->weight, e->count), "neighbours");
    for (int i = 0; is_in_order && i < count && i < e->count; i++)
        expect(other[i] == expected[i] && weight[i] == e->weight[i], "the order of neighbours");
}

static void check_dist_graph(MPI_Comm graph, const edges *all, int is_weighted, int is_in_order)
{
    int in, out, weighted, from[MOST], to[MOST], rank;
    int from_weight[MOST] = {0}, to_weight[MOST] = {0}, sent[MOST], received[MOST];
    MPI_Comm_rank(graph, &rank);
    const edges into = choose_edges(all, all->to, rank),
                out_of = choose_edges(all, all->from, rank);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    MPI_Dist_graph_neighbors(graph, in, from, from_weight, out, to, to_weight);
    expect(!weighted == !is_weighted, "whether there are weights");
    expect_neighbors(from, from_weight, in, into.from, &into, is_in_order);
    expect_neighbors(to, to_weight, out, out_of.to, &out_of, is_in_order);
    for (int i = 0; i < out; i++)
        sent[i] = 1000 * rank + to[i];
    MPI_Neighbor_alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, graph);
    for (int i = 0; i < in; i++)
        expect(received[i] == 1000 * from[i] + rank, "data from a neighbour");
    print(graph, count_pairs(graph, to, out));
}

static int *weights(edges *e, int are_there)
{
    return !are_there ? MPI_UNWEIGHTED : e->count == 0 ? MPI_WEIGHTS_EMPTY : e->weight;
}

static void make_dist_graph(int ranks)
{
    edges all = list_edges(ranks), in, out;
    int rank, degree[MOST], is_weighted = strstr(how, "unweighted") == NULL;
    int is_adjacent = strstr(how, "adjacent") != NULL;
    MPI_Comm graph;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int reorder = strstr(how, "some") != NULL ? rank % 3 == 0 : strstr(how, "none") == NULL;
    if (strstr(how, "empty") != NULL)
        all.count = 0;
    for (int i = 0; i < all.count; i++) {
        degree[i] = 1;
        all.weight[i] *= is_weighted;
    }
    in = choose_edges(&all, all.to, rank);
    out = choose_edges(&all, all.from, rank);
    if (is_adjacent)
        MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in.count, in.from, weights(&in, is_weighted),
                                       out.count, out.to, weights(&out, is_weighted), MPI_INFO_NULL,
                                       reorder, &graph);
    else /* each rank gives edges of others */
        MPI_Dist_graph_create(MPI_COMM_WORLD, in.count, in.from, degree, in.to,
                              weights(&in, is_weighted), MPI_INFO_NULL, reorder, &graph);
    check_dist_graph(graph, &all, is_weighted, is_adjacent);
    MPI_Comm_free(&graph);
}

/* All edges lead from rank 0 to the last rank. */
static void make_large_graph(int ranks)
{
    const int edges = (1 << 23) / ranks + 1;
    int rank, in, out, weighted, other, *to = malloc(sizeof *to * (size_t)edges);
    MPI_Comm graph;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < edges; i++)
        to[i] = ranks - 1;
    MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0, (int[]){0}, &edges, to, MPI_UNWEIGHTED,
                          MPI_INFO_NULL, 1, &graph);
    MPI_Comm_rank(graph, &other);
    expect(other == rank, "the order is kept");
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    expect(in == (rank == ranks - 1 ? edges : 0), "edges that end here");
    expect(out == (rank == 0 ? edges : 0), "edges that begin here");
    print(graph, count_pairs(graph, to, rank == 0));
    MPI_Comm_free(&graph);
    free(to);
}

static bool is_how(const char *name)
{
    return strcmp(how, name) == 0;
}

static void make_grids(int rank, int ranks)
{
    MPI_Comm part = MPI_COMM_WORLD, grid, second = MPI_COMM_NULL;
    if (is_how("half")) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part);
        ranks = (ranks + 1 - rank % 2) / 2;
    }
    if (is_how("shuffle"))
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank ^ (rank >> 1), &part);
    grid = make_grid(part, ranks - 2 * is_how("extra"), is_how("periodic"),
                     is_how("some") ? rank % 3 == 0 : !is_how("none"));
    if (is_how("write") || is_how("shuffle"))
        write_array(grid);
    if (is_how("twice"))
        second = make_grid(grid, ranks, 0, 1);
    if (second != MPI_COMM_NULL)
        MPI_Comm_free(&second);
    if (grid != MPI_COMM_NULL)
        MPI_Comm_free(&grid);
    if (part != MPI_COMM_WORLD)
        MPI_Comm_free(&part);
}

int main(int argc, char **argv)
{
    int rank, ranks, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < argc; i++) {
        how = argv[i];
        if (is_how("graph"))
            make_graph(ranks);
        else if (strncmp(how, "dist", 4) == 0)
            make_dist_graph(ranks);
        else if (is_how("many"))
            make_large_graph(ranks);
        else
            make_grids(rank, ranks);
    }
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum > 0;
}
