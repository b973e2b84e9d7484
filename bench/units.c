/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns of parallel programs as bytes of units on nodes. */
#include "units.h"
#include "lap/lap.h"
#include "tally.h"

#include "../tests/property/transport.h"
#include "../tests/unit/seeded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS = 4 };

const pattern patterns[] = {
    {"cube 256, 2x2x4 by slot", GRID, {256, 256, 256}, {2, 2, 4}, 8, 4, BY_SLOT},
    {"cube 256, 1x4x4 by slot", GRID, {256, 256, 256}, {1, 4, 4}, 8, 4, BY_SLOT},
    {"cube 256, 4x2x2 by slot", GRID, {256, 256, 256}, {4, 2, 2}, 8, 4, BY_SLOT},
    {"cube 256, 4x4x4 by slot", GRID, {256, 256, 256}, {4, 4, 4}, 8, 8, BY_SLOT},
    {"cube 256, 8x8x8 by slot", GRID, {256, 256, 256}, {8, 8, 8}, 8, 64, BY_SLOT},
    {"cube 256, 2x2x4 by node", GRID, {256, 256, 256}, {2, 2, 4}, 8, 4, BY_NODE},
    {"cube 256, 1x4x4 by node", GRID, {256, 256, 256}, {1, 4, 4}, 8, 4, BY_NODE},
    {"cube 256, 4x2x2 by node", GRID, {256, 256, 256}, {4, 2, 2}, 8, 4, BY_NODE},
    {"cube 256, 4x4x4 by node", GRID, {256, 256, 256}, {4, 4, 4}, 8, 8, BY_NODE},
    {"cube 256, 8x8x8 by node", GRID, {256, 256, 256}, {8, 8, 8}, 8, 64, BY_NODE},
    {"cube 256, 4x4x4 shuffled", GRID, {256, 256, 256}, {4, 4, 4}, 8, 8, SHUFFLED},
    {"cube 256, 8x8x8 shuffled", GRID, {256, 256, 256}, {8, 8, 8}, 8, 64, SHUFFLED},
    {"cube 250, 5x5x5 on 5 by slot", GRID, {250, 250, 250}, {5, 5, 5}, 8, 5, BY_SLOT},
    {"cube 250, 3x4x5 on 6 by slot", GRID, {250, 250, 250}, {3, 4, 5}, 8, 6, BY_SLOT},
    {"cube 250, 3x4x5 on 7, uneven", GRID, {250, 250, 250}, {3, 4, 5}, 8, 7, BY_SLOT},
    {"lattice 64x32, 4x4x2x2 by slot", GRID, {64, 32, 32, 32}, {4, 4, 2, 2}, 72, 16, BY_SLOT},
    {"lattice 64x32, 4x4x2x2 by node", GRID, {64, 32, 32, 32}, {4, 4, 2, 2}, 72, 16, BY_NODE},
    {"lattice 64x32, 2x2x4x4 by slot", GRID, {64, 32, 32, 32}, {2, 2, 4, 4}, 72, 16, BY_SLOT},
    {"tiles 4096x4096, 8x8 by slot", GRID, {4096, 4096}, {8, 8}, 8, 8, BY_SLOT},
    {"tiles 4096x4096, 8x8 by node", GRID, {4096, 4096}, {8, 8}, 8, 8, BY_NODE},
    {"tiles 4096x4096, 16x4 by slot", GRID, {4096, 4096}, {16, 4}, 8, 16, BY_SLOT},
    {"tiles 6000x5000, 12x20 on 20", GRID, {6000, 5000}, {12, 20}, 8, 20, BY_SLOT},
    {"tiles 6000x5000, 12x20 shuffled", GRID, {6000, 5000}, {12, 20}, 8, 20, SHUFFLED},
    {"tiles 512x65536, 4x16 by slot", GRID, {512, 65536}, {4, 16}, 8, 8, BY_SLOT},
    {"BT-IO 160, 8x8 by slot", MULTIPARTITION, {160}, {64}, 40, 8, BY_SLOT},
    {"BT-IO 160, 8x8 by node", MULTIPARTITION, {160}, {64}, 40, 8, BY_NODE},
    {"records 4 KB by slot", RECORDS, {4096, 32768}, {64}, 1, 8, BY_SLOT},
    {"records 100 KB by slot", RECORDS, {102400, 1400}, {64}, 1, 8, BY_SLOT},
    {"records 100 KB by node", RECORDS, {102400, 1400}, {64}, 1, 8, BY_NODE},
    {"records 1 MB by slot", RECORDS, {1048576, 256}, {32}, 1, 4, BY_SLOT},
    {"uneven contiguous by slot", UNEVEN, {134217728}, {64}, 1, 8, BY_SLOT},
    {"uneven contiguous shuffled", UNEVEN, {268435456}, {256}, 1, 32, SHUFFLED},
    {"random blocks of 100 KB on 16", RANDOM_BLOCKS, {102400, 2600}, {64}, 1, 16, BY_SLOT},
    {"random blocks of 30 KB on 8", RANDOM_BLOCKS, {30720, 4400}, {64}, 1, 8, BY_SLOT},
    {"two arrays, rows and columns", TWO_ARRAYS, {4096, 2048}, {64}, 8, 8, BY_SLOT},
};
const size_t pattern_count = sizeof patterns / sizeof patterns[0];

void *allocate(size_t count, size_t size)
{
    void *array = calloc(count | 1, size);
    if (array == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(EXIT_FAILURE);
    }
    return array;
}

int64_t pattern_ranks(const pattern *p)
{
    int64_t ranks = 1;
    for (int d = 0; d < DIMENSIONS && p->grid[d] > 0; d++)
        ranks *= p->grid[d];
    return ranks;
}

static int64_t elements(const pattern *p)
{
    int64_t product = 1;
    for (int d = 0; d < DIMENSIONS && p->size[d] > 0; d++)
        product *= p->size[d];
    return product;
}

int64_t pattern_bytes(const pattern *p)
{
    switch (p->shape) {
    case MULTIPARTITION: return p->size[0] * p->size[0] * p->size[0] * p->element;
    case TWO_ARRAYS: return 2 * elements(p) * p->element;
    default: return elements(p) * p->element;
    }
}

/* ---- files ---- */

static void need(const char *wrong)
{
    if (wrong != NULL) {
        fprintf(stderr, "%s\n", wrong);
        exit(EXIT_FAILURE);
    }
}

static decomposition make_grid(const pattern *p, const int64_t *cells)
{
    array_grid grid = {.element = p->element};
    decomposition d;
    while (grid.dims < DIMENSIONS && cells[grid.dims] > 0) {
        grid.size[grid.dims] = p->size[grid.dims];
        grid.cells[grid.dims] = cells[grid.dims];
        grid.dims++;
    }
    need(decomposition_grid(&d, &grid));
    return d;
}

/* Cells of a cube on the diagonals of q x q processes: BT-IO. */
static decomposition make_multipartition(const pattern *p)
{
    size_t q = 1;
    while (q * q < (size_t)p->grid[0])
        q++;
    int64_t cells = (int64_t)q;
    pattern cube = *p;
    cube.size[1] = cube.size[2] = p->size[0];
    decomposition d = make_grid(&cube, (const int64_t[DIMENSIONS]){cells, cells, cells});
    for (size_t cell = 0; cell < q * q * q; cell++) {
        size_t z = cell / q / q, y = cell / q % q, x = cell % q;
        d.owner[cell] = (z + y) % q * q + (z + x) % q;
    }
    d.ranks = q * q;
    return d;
}

static decomposition make_uneven(const pattern *p)
{
    uint64_t state = 1;
    int64_t *weight = allocate((size_t)p->grid[0], sizeof *weight), sum = 0;
    decomposition d;
    for (int64_t k = 0; k < p->grid[0]; k++)
        sum += weight[k] = pick(&state, 1, 100);
    for (int64_t k = 0; k < p->grid[0]; k++)
        weight[k] *= p->size[0] / sum;
    need(decomposition_unequal(&d, weight, (size_t)p->grid[0], 1, p->element));
    free(weight);
    return d;
}

static decomposition make_blocks(const pattern *p)
{
    uint64_t state = 2;
    const pattern blocks = {.size = {p->size[1]}, .element = p->size[0]};
    decomposition d = make_grid(&blocks, blocks.size);
    for (int64_t k = 0; k < p->size[1]; k++) {
        d.owner[k] =
            (size_t)(p->shape == RECORDS ? k % p->grid[0] : pick(&state, 0, p->grid[0] - 1));
    }
    d.ranks = (size_t)p->grid[0];
    return d;
}

/* One after the other in the file: up to two arrays. */
static size_t make_files(const pattern *p, decomposition file[2])
{
    switch (p->shape) {
    case GRID: file[0] = make_grid(p, p->grid); return 1;
    case MULTIPARTITION: file[0] = make_multipartition(p); return 1;
    case UNEVEN: file[0] = make_uneven(p); return 1;
    case TWO_ARRAYS:
        file[0] = make_grid(p, (const int64_t[DIMENSIONS]){p->grid[0], 1});
        file[1] = make_grid(p, (const int64_t[DIMENSIONS]){1, p->grid[0]});
        return 2;
    default: file[0] = make_blocks(p); return 1;
    }
}

/* ---- ranks on nodes ---- */

static size_t *place_ranks(const pattern *p)
{
    size_t ranks = (size_t)pattern_ranks(p), *node = allocate(ranks, sizeof *node);
    uint64_t state = 3;
    for (size_t k = 0; k < ranks; k++)
        node[k] = p->placing == BY_NODE ? k % p->nodes : k * p->nodes / ranks;
    for (size_t k = ranks; p->placing == SHUFFLED && k > 1; k--) {
        size_t other = (size_t)pick(&state, 0, (int64_t)k - 1), moved = node[k - 1];
        node[k - 1] = node[other];
        node[other] = moved;
    }
    return node;
}

/* ranks x units */
static matrix units_by_rank(const pattern *p, int64_t unit)
{
    decomposition file[2];
    size_t files = make_files(p, file);
    matrix_builder builder = {.rows = (size_t)pattern_ranks(p),
                              .cols = units_of(pattern_bytes(p), unit)};
    matrix units;
    int64_t base = 0;
    int rc = 0;
    for (size_t i = 0; i < files; i++) {
        rc = rc != 0 ? rc : decomposition_index(&file[i]);
        rc = rc != 0 ? rc : add_units(&file[i], base, unit, &builder);
        base += file[i].bytes;
        decomposition_release(&file[i]);
    }
    need(rc != 0 || matrix_builder_finish(&builder, &units) != 0 ? "out of memory" : NULL);
    matrix_builder_clear(&builder);
    return units;
}

matrix pattern_units(const pattern *p, int64_t unit)
{
    size_t *node_of_rank = place_ranks(p);
    matrix units = units_by_rank(p, unit), by_node;
    need(units_by_node(&units, node_of_rank, p->nodes, &by_node) != 0 ? "out of memory" : NULL);
    matrix_release(&units);
    free(node_of_rank);
    return by_node;
}

size_t *spread_aggregators(size_t aggregators, size_t nodes)
{
    size_t *node = allocate(aggregators, sizeof *node);
    for (size_t j = 0; j < aggregators; j++)
        node[j] = j * nodes / aggregators;
    return node;
}

/* ---- to compare with ---- */

/* cost[u * nodes + n], over the units with bytes only; *loaded of them. */
static double *dense_costs(const fitted_input *in, size_t *loaded)
{
    const matrix *m = in->bytes;
    double *cost = allocate(m->rows * m->cols, sizeof *cost);
    *loaded = 0;
    for (size_t u = 0; u < m->rows; u++) {
        int64_t bytes = 0;
        double *row = cost + *loaded * m->cols;
        for (size_t e = m->row_start[u]; e < m->row_start[u + 1]; e++) {
            bytes += m->value[e];
            for (size_t n = 0; n < m->cols; n++)
                row[n] += topo_hops(in->topology, n, m->col[e], 0) * (double)m->value[e];
        }
        *loaded += bytes > 0;
    }
    return cost;
}

double exact_hop_bytes(const fitted_input *in)
{
    size_t units, nodes = in->topology->nodes;
    double *cost = dense_costs(in, &units), total = 0.0;
    size_t *least = allocate(nodes, sizeof *least), *most = allocate(nodes, sizeof *most);
    size_t *node_of_unit = allocate(units, sizeof *node_of_unit);
    for (size_t j = 0; j < in->aggregators; j++) {
        least[in->node_of_aggregator[j]] += units / in->aggregators;
        most[in->node_of_aggregator[j]] += (units + in->aggregators - 1) / in->aggregators;
    }
    transport problem = {units, nodes, cost, least, most};
    if (transport_solve(&problem, node_of_unit, &total) != 0) {
        fprintf(stderr, "no exact answer\n");
        exit(EXIT_FAILURE);
    }
    free(node_of_unit);
    free(most);
    free(least);
    free(cost);
    return total;
}

void assign_even(const fitted_input *in, size_t *aggregator_of_unit)
{
    const matrix *m = in->bytes;
    size_t a = in->aggregators;
    double *cost = allocate(a * a, sizeof *cost);
    size_t *aggregator_of_domain = allocate(a, sizeof *aggregator_of_domain);
    for (size_t u = 0; u < m->rows; u++) {
        double *column = cost + u * a / m->rows * a;
        for (size_t e = m->row_start[u]; e < m->row_start[u + 1]; e++) {
            for (size_t j = 0; j < a; j++) {
                column[j] += topo_hops(in->topology, in->node_of_aggregator[j], m->col[e], 0) *
                             (double)m->value[e];
            }
        }
    }
    lap_problem problem = {.rows = a, .cols = a, .cost = cost};
    lap_solution solution = {.row_of_col = aggregator_of_domain};
    if (lap_jv(&problem, &solution) != 0) {
        fprintf(stderr, "no even assignment\n");
        exit(EXIT_FAILURE);
    }
    for (size_t u = 0; u < m->rows; u++)
        aggregator_of_unit[u] = aggregator_of_domain[u * a / m->rows];
    free(aggregator_of_domain);
    free(cost);
}
