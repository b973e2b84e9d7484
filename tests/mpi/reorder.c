/* SPDX-License-Identifier: BSD-3-Clause */
/* reorder HOW: communicators with reorder. Whatever their order is, the coordinates, neighbours and
 * messages agree. Prints the pairs of neighbours on two hosts. HOW: grid, none (without reorder),
 * some (ranks differ in it), half (a part of the processes), extra (more of them than the grid
 * has), periodic, graph, twice (a grid from a grid). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIMS = 3, HOST = 64 };

static int failures;

static void expect(int is_right, const char *what)
{
    if (!is_right && ++failures < 4)
        fprintf(stderr, "wrong: %s\n", what);
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
        printf("%d between\n", pairs);
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

/* A ring over the ranks in steps of a half, so that all edges of the old order are between halves.
 */
static void make_graph(int ranks)
{
    int *index = malloc(sizeof *index * (size_t)ranks),
        *edge = malloc(sizeof *edge * (size_t)ranks);
    int rank, next, count;
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
    free(index);
    free(edge);
}

int main(int argc, char **argv)
{
    int rank, ranks, sum;
    MPI_Init(&argc, &argv);
    const char *how = argc > 1 ? argv[1] : "grid";
    MPI_Comm part = MPI_COMM_WORLD, grid = MPI_COMM_NULL, second = MPI_COMM_NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (strcmp(how, "half") == 0) {
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part);
        ranks = (ranks + 1 - rank % 2) / 2;
    }
    if (strcmp(how, "graph") == 0)
        make_graph(ranks);
    else
        grid =
            make_grid(part, ranks - 2 * (strcmp(how, "extra") == 0), strcmp(how, "periodic") == 0,
                      strcmp(how, "some") == 0 ? rank % 3 == 0 : strcmp(how, "none") != 0);
    if (strcmp(how, "twice") == 0)
        second = make_grid(grid, ranks, 0, 1);
    if (second != MPI_COMM_NULL)
        MPI_Comm_free(&second);
    if (grid != MPI_COMM_NULL)
        MPI_Comm_free(&grid);
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum > 0;
}
