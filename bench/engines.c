/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "engines.h"

#include "../tests/unit/seeded.h"
#include "lap/lap.h"
#include "machine.h"
#include "must.h"
#include "plan/auction.h"

#include <math.h>
#include <time.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* Of the processor: one thread solves, and the machine may be busy otherwise. */
double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_wanted(const engine_options *o, size_t problem)
{
    return o->problem == ALL_PROBLEMS || o->problem == (long)problem;
}

/* ---- assignments ---- */

/* A pair of a row and a column, which have places in the unit square. */
struct pair {
    const double *of_row, *of_col;
    double drawn; /* 0 to 1 */
};

static double uniform_cost(const struct pair *p)
{
    return 1e6 * p->drawn;
}

static double integer_cost(const struct pair *p)
{
    return floor(1e6 * p->drawn);
}

static double distance_cost(const struct pair *p)
{
    return 1e6 * hypot(p->of_row[0] - p->of_col[0], p->of_row[1] - p->of_col[1]);
}

/* Pareto's distribution with exponent 1, in hundredths. */
static double pareto_cost(const struct pair *p)
{
    return floor(100.0 * p->drawn / (1.0 - p->drawn));
}

static double tied_cost(const struct pair *p)
{
    return floor(100.0 * p->drawn);
}

static double difference_cost(const struct pair *p)
{
    return 1e6 * fabs(p->of_row[0] - p->of_col[0]);
}

/* The same order of columns for all rows. */
static double product_cost(const struct pair *p)
{
    return 1e6 * p->of_row[0] * p->of_col[0];
}

static double equal_cost(const struct pair *p)
{
    (void)p;
    return 1.0;
}

static const struct assignment {
    const char *kind, *costs;
    size_t rows, cols;
    double (*cost)(const struct pair *pair);
} assignments[] = {
    {"usual", "uniform", 1000, 1000, uniform_cost},
    {"usual", "uniform", 2000, 2000, uniform_cost},
    {"usual", "uniform", 2000, 1000, uniform_cost},
    {"usual", "integers", 2000, 2000, integer_cost},
    {"heavy", "pareto", 1000, 1000, pareto_cost},
    {"heavy", "pareto", 2000, 2000, pareto_cost},
    {"heavy", "ties", 2500, 2500, tied_cost},
    {"heavy", "differences", 1500, 1500, difference_cost},
    {"heavy", "equal", 2000, 2000, equal_cost},
    {"ordered", "distances", 1000, 1000, distance_cost},
    {"ordered", "products", 600, 600, product_cost},
};

static double draw(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static double *draw_costs(const struct assignment *a)
{
    uint64_t state = 1;
    size_t sides = a->rows + a->cols;
    double *cost = allocate(a->rows * a->cols, sizeof *cost);
    double *place = allocate(2 * sides, sizeof *place);
    for (size_t k = 0; k < 2 * sides; k++)
        place[k] = draw(&state);
    for (size_t k = 0; k < a->rows * a->cols; k++) {
        size_t i = k % a->rows, j = k / a->rows;
        struct pair pair = {place + 2 * i, place + 2 * (a->rows + j), draw(&state)};
        cost[k] = a->cost(&pair);
    }
    free(place);
    return cost;
}

static void dump_costs(const char *path, const double *cost, size_t count)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(cost, sizeof *cost, count, file) != count || fclose(file) != 0)
        refuse(path, strerror(errno));
}

static void measure_assignment(const engine_options *o, const struct assignment *a)
{
    lap_problem problem = {.rows = a->rows, .cols = a->cols, .cost = draw_costs(a)};
    lap_solution solution = {.row_of_col = allocate(a->cols, sizeof *solution.row_of_col)};
    double least = INFINITY;
    for (long k = 0; k < o->repetitions; k++) {
        double begin = processor_seconds();
        must(lap_solvers->solve(&problem, &solution), a->costs);
        least = fmin(least, processor_seconds() - begin);
    }
    printf("%s,%s,%zu,%zu,%.5f,%.12g\n", a->kind, a->costs, a->rows, a->cols, least,
           solution.total);
    fflush(stdout);
    if (o->dump != NULL)
        dump_costs(o->dump, problem.cost, a->rows * a->cols);
    free(solution.row_of_col);
    free((void *)problem.cost);
}

bool measure_assignments(const engine_options *o)
{
    printf("kind,costs,rows,cols,seconds,total\n");
    for (size_t k = 0; k < LENGTH(assignments); k++)
        if (is_wanted(o, k))
            measure_assignment(o, &assignments[k]);
    return true;
}

/* ---- auctions ---- */

enum { NODES = 1024, UNIT = 65536, MOST_NODES = 32 };

/* What nodes access, unit after unit. */
struct access {
    matrix bytes; /* of the units so far */
    size_t units; /* of all */
    uint64_t state;
};

/* Of the unit that is made: the same bytes for so many nodes. */
static void add_nodes(struct access *a, size_t first, size_t stride, size_t count, int64_t bytes)
{
    size_t *end = &a->bytes.row_start[a->bytes.rows + 1];
    for (size_t k = 0; k < count; k++, ++*end) {
        a->bytes.col[*end] = first + k * stride;
        a->bytes.value[*end] = bytes;
    }
}

static size_t block_of(const struct access *a, size_t unit)
{
    return unit * NODES / a->units;
}

/* Eight neighbouring nodes, the first of them this one if there are so many. */
static void add_neighbours(struct access *a, size_t node, int64_t first)
{
    node = node < NODES - 8 ? node : NODES - 8;
    add_nodes(a, node, 1, 1, first);
    add_nodes(a, node + 1, 1, 7, (UNIT - first) / 7);
}

static void add_block(struct access *a, size_t unit)
{
    add_neighbours(a, block_of(a, unit), UNIT / 8);
}

static size_t any_node(struct access *a)
{
    return (size_t)pick(&a->state, 0, NODES - 1);
}

static void add_block_anywhere(struct access *a, size_t unit)
{
    (void)unit;
    add_neighbours(a, any_node(a), UNIT / 8);
}

static void add_skewed(struct access *a, size_t unit)
{
    (void)unit;
    add_neighbours(a, any_node(a), UNIT - 7 * 1024);
}

static void add_entry(struct access *a, size_t unit)
{
    (void)unit;
    add_nodes(a, any_node(a), 1, 1, UNIT);
}

static void add_cyclic(struct access *a, size_t unit)
{
    add_neighbours(a, unit % NODES, UNIT / 8);
}

/* A cube of 8-byte elements, divided in each dimension among 16 ranks: a unit is a part of a plane,
 * accessed by a row of 16 ranks. Returns the number of the row. */
static size_t cube_row(const struct access *a, size_t unit)
{
    size_t plane = a->units / (size_t)lround(cbrt((double)a->units * UNIT / 8));
    return unit * 16 / a->units * 16 + unit % plane * 16 / plane;
}

static void add_cube_by_slot(struct access *a, size_t unit)
{
    add_nodes(a, cube_row(a, unit) * 4, 1, 4, UNIT / 4);
}

static void add_cube_by_node(struct access *a, size_t unit)
{
    add_nodes(a, cube_row(a, unit) * 16 % NODES, 1, 16, UNIT / 16);
}

/* Blocks, and an eighth of a block on either side of them. */
static void add_halo(struct access *a, size_t unit)
{
    size_t size = a->units / NODES, first = block_of(a, unit), last = first;
    if (first > 0 && unit % size < size / 8)
        first--;
    if (last < NODES - 1 && unit % size >= size - size / 8)
        last++;
    add_nodes(a, first, 1, last - first + 1, UNIT);
}

static void add_shared(struct access *a, size_t unit)
{
    add_nodes(a, unit % MOST_NODES, NODES / MOST_NODES, MOST_NODES, UNIT / MOST_NODES);
}

static void add_block_or_none(struct access *a, size_t unit)
{
    if (unit % 2 == 0)
        add_block(a, unit);
}

static const struct pattern {
    const char *name;
    void (*add)(struct access *a, size_t unit);
} patterns[] = {
    {"blocks in order", add_block},
    {"blocks at random nodes", add_block_anywhere},
    {"skewed at random nodes", add_skewed},
    {"one random node", add_entry},
    {"cyclic", add_cyclic},
    {"cube by slot", add_cube_by_slot},
    {"cube by node", add_cube_by_node},
    {"halo rows", add_halo},
    {"equal for 32 nodes", add_shared},
    {"every second unit", add_block_or_none},
};

/* Units, and a network: flat, or with switches of `leaf` and of `pod` nodes, or a torus. */
static const struct setting {
    size_t units;
    const char *network;
    size_t levels, leaf, pod, side;
} settings[] = {
    {16384, "flat", 0, 0, 0, 0},          {16384, "32 x 32", 1, 32, 0, 0},
    {16384, "16 x 8 x 8", 2, 8, 64, 0},   {16384, "torus of 32 x 32", 0, 0, 0, 32},
    {1048576, "flat", 0, 0, 0, 0},        {1048576, "32 x 32", 1, 32, 0, 0},
    {1048576, "16 x 8 x 8", 2, 8, 64, 0},
};

static void make_accesses(const struct pattern *pattern, size_t units, struct access *a)
{
    *a = (struct access){.units = units, .state = 1};
    must(matrix_allocate(&a->bytes, units, NODES, units * MOST_NODES), "memory");
    for (a->bytes.rows = 0; a->bytes.rows < units; a->bytes.rows++) {
        size_t unit = a->bytes.rows, *start = a->bytes.row_start;
        start[unit + 1] = start[unit];
        pattern->add(a, unit);
    }
}

static size_t hops_on_ring(size_t a, size_t b, size_t size)
{
    size_t apart = a > b ? a - b : b - a;
    return apart < size - apart ? apart : size - apart;
}

static void make_torus(size_t side, topo *t)
{
    uint16_t *hops = allocate(NODES * NODES, sizeof *hops);
    for (size_t k = 0; k < NODES * NODES; k++) {
        size_t n = k / NODES, m = k % NODES;
        size_t apart =
            hops_on_ring(n / side, m / side, side) + hops_on_ring(n % side, m % side, side);
        hops[k] = (uint16_t)(1 + apart);
    }
    must(topo_from_hops(t, NODES, hops), "torus");
    free(hops);
}

static void make_topology(const struct setting *s, topo *t)
{
    size_t group[2 * NODES];
    for (size_t n = 0; n < NODES && s->levels > 0; n++) {
        group[n] = n / s->leaf;
        group[NODES + n] = s->levels > 1 ? n / s->pod : 0;
    }
    if (s->side > 0)
        make_torus(s->side, t);
    else if (s->levels > 0)
        switched_topology(t, NODES, s->levels, group);
    else
        topo_flat(t, NODES);
}

/* One aggregator on each node. */
static size_t capacity_of_node(const matrix *bytes)
{
    size_t used = 0;
    for (size_t u = 0; u < bytes->rows; u++)
        used += bytes->row_start[u + 1] > bytes->row_start[u];
    return (used + NODES - 1) / NODES;
}

/* Negative: a node has too many units, or a unit no node. */
static double hop_bytes(const matrix *bytes, const topo *t, size_t capacity, const size_t *node)
{
    size_t load[NODES] = {0};
    double sum = 0.0;
    for (size_t u = 0; u < bytes->rows; u++) {
        size_t begin = bytes->row_start[u], end = bytes->row_start[u + 1];
        if (end > begin && (node[u] >= NODES || ++load[node[u]] > capacity))
            return -1.0;
        for (size_t e = begin; e < end; e++)
            sum += topo_hops(t, node[u], bytes->col[e], 0) * (double)bytes->value[e];
    }
    return sum;
}

static bool measure_auction(const engine_options *o, const struct pattern *pattern,
                            const struct setting *setting)
{
    struct access a;
    topo t;
    make_accesses(pattern, setting->units, &a);
    make_topology(setting, &t);
    size_t capacity[NODES], *node = allocate(setting->units, sizeof *node);
    for (size_t n = 0; n < NODES; n++)
        capacity[n] = capacity_of_node(&a.bytes);
    double least = INFINITY;
    for (long k = 0; k < o->repetitions; k++) {
        double begin = processor_seconds();
        must(auction_solve(&a.bytes, &t, capacity, node), pattern->name);
        least = fmin(least, processor_seconds() - begin);
    }
    double sum = hop_bytes(&a.bytes, &t, capacity[0], node);
    printf("%s,%zu,%s,%.4f,%.12g\n", pattern->name, setting->units, setting->network, least, sum);
    fflush(stdout);
    free(node);
    topo_release(&t);
    matrix_release(&a.bytes);
    return sum >= 0.0;
}

bool measure_auctions(const engine_options *o)
{
    bool well = true;
    printf("pattern,units,network,seconds,hop_bytes\n");
    for (size_t k = 0; k < LENGTH(patterns) * LENGTH(settings); k++)
        if (is_wanted(o, k))
            well = measure_auction(o, &patterns[k / LENGTH(settings)],
                                   &settings[k % LENGTH(settings)]) &&
                   well;
    return well;
}
