// SPDX-License-Identifier: BSD-3-Clause
// Solves a problem that lap_bench wrote to a file by another library, and prints the processor time of the solution
// alone and the total. lap_compare compiles this, with what is there of WITH_LEMON and WITH_LAPJV.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <vector>

#ifdef WITH_LEMON
#include <lemon/cost_scaling.h>
#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>
#endif
#ifdef WITH_LAPJV
#include "lapjv.h"
#endif

namespace {

// Pairs in the order of columns; those that are not allowed are omitted. `whole`: all of a dense problem, in place.
struct problem {
    uint64_t rows = 0, cols = 0, listed = 0, integer = 0;
    std::vector<uint64_t> start, row;
    std::vector<double> cost;
};

struct result {
    double seconds = 0, total = 0;
};

[[noreturn]] void give_up(const char *what) {
    fprintf(stderr, "lap_peers: %s\n", what);
    exit(2);
}

double now() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

template <class T> std::vector<T> read_array(FILE *file, size_t count) {
    std::vector<T> array(count);
    if (fread(array.data(), sizeof(T), count, file) != count)
        give_up("the file ends early");
    return array;
}

std::vector<double> read_costs(FILE *file, bool integer, size_t count) {
    if (!integer)
        return read_array<double>(file, count);
    std::vector<int64_t> costs = read_array<int64_t>(file, count);
    return std::vector<double>(costs.begin(), costs.end());
}

problem read_problem(const char *path) {
    problem p;
    FILE *file = fopen(path, "rb");
    if (!file)
        give_up("the file cannot be read");
    std::vector<uint64_t> head = read_array<uint64_t>(file, 4);
    p.rows = head[0], p.cols = head[1], p.listed = head[2], p.integer = head[3];
    size_t pairs = p.listed ? p.listed : p.rows * p.cols;
    if (p.listed) {
        p.start = read_array<uint64_t>(file, p.cols + 1);
        p.row = read_array<uint64_t>(file, pairs);
    }
    p.cost = read_costs(file, p.integer, pairs);
    fclose(file);
    return p;
}

#ifdef WITH_LAPJV
result by_lapmod(const problem &p) {
    if (p.rows != p.cols)
        give_up("lapmod solves square problems only");
    std::vector<uint_t> start(p.start.begin(), p.start.end()), row(p.row.begin(), p.row.end());
    std::vector<double> cost = p.cost;
    std::vector<int_t> x(p.cols), y(p.cols);
    result r;
    double begin = now();
    if (lapmod_internal(uint_t(p.cols), cost.data(), start.data(), row.data(), x.data(), y.data(), FP_DYNAMIC) != 0)
        give_up("lapmod failed");
    r.seconds = now() - begin;
    r.total = std::numeric_limits<double>::quiet_NaN();
    double total = 0;
    for (size_t j = 0; j < p.cols; j++) {
        bool found = false;
        for (size_t k = p.start[j]; k < p.start[j + 1]; k++)
            if (int_t(p.row[k]) == x[j])
                total += p.cost[k], found = true;
        if (!found)
            return r;
    }
    r.total = total;
    return r;
}

result by_lapjv(const problem &p) {
    if (p.listed)
        return by_lapmod(p);
    size_t n = p.rows > p.cols ? p.rows : p.cols;
    if (n * n > 4 * p.rows * p.cols)
        give_up("lapjv solves square problems only");
    result r;
    double begin = now();
    std::vector<double> square; // rows of zeros, or zeros after each row, as the package itself adds
    const double *cost = p.cost.data();
    if (p.rows != p.cols) {
        square.assign(n * n, 0.0);
        for (size_t j = 0; j < p.cols; j++)
            memcpy(&square[j * n], &cost[j * p.rows], p.rows * sizeof *cost);
        cost = square.data();
    }
    std::vector<double *> line(n);
    for (size_t j = 0; j < n; j++)
        line[j] = const_cast<double *>(cost + j * n);
    std::vector<int_t> x(n), y(n);
    if (lapjv_internal(uint_t(n), line.data(), x.data(), y.data()) != 0)
        give_up("lapjv failed");
    r.seconds = now() - begin;
    for (size_t j = 0; j < p.cols; j++)
        if (size_t(x[j]) < p.rows)
            r.total += p.cost[j * p.rows + size_t(x[j])];
    return r;
}
#endif

#ifdef WITH_LEMON
// Only the solution is timed, not the making of the graph.
template <class Solver, class Cost> result by_lemon(const problem &p) {
    using lemon::SmartDigraph;
    SmartDigraph graph;
    bool turned = p.cols > p.rows; // the fewer ones supply
    std::vector<SmartDigraph::Node> row, col;
    for (size_t i = 0; i < p.rows; i++)
        row.push_back(graph.addNode());
    for (size_t j = 0; j < p.cols; j++)
        col.push_back(graph.addNode());
    SmartDigraph::ArcMap<Cost> cost(graph);
    graph.reserveArc(int(p.cost.size()));
    for (size_t j = 0, k = 0; j < p.cols; j++)
        for (size_t end = p.listed ? p.start[j + 1] : k + p.rows, first = k; k < end; k++) {
            size_t i = p.listed ? p.row[k] : k - first;
            cost[turned ? graph.addArc(row[i], col[j]) : graph.addArc(col[j], row[i])] = Cost(p.cost[k]);
        }
    SmartDigraph::NodeMap<int> supply(graph);
    for (size_t i = 0; i < p.rows; i++)
        supply[row[i]] = turned ? 1 : -1;
    for (size_t j = 0; j < p.cols; j++)
        supply[col[j]] = turned ? -1 : 1;
    Solver solver(graph);
    solver.costMap(cost).supplyMap(supply);
    result r;
    double begin = now();
    if (solver.run() != Solver::OPTIMAL)
        give_up("LEMON failed");
    r.seconds = now() - begin;
    r.total = double(solver.template totalCost<double>());
    return r;
}

result by_network_simplex(const problem &p) {
    using lemon::SmartDigraph;
    return p.integer ? by_lemon<lemon::NetworkSimplex<SmartDigraph, int, int64_t>, int64_t>(p)
                     : by_lemon<lemon::NetworkSimplex<SmartDigraph, int, double>, double>(p);
}

result by_cost_scaling(const problem &p) {
    if (!p.integer)
        give_up("LEMON's cost scaling solves integers only");
    return by_lemon<lemon::CostScaling<lemon::SmartDigraph, int, int64_t>, int64_t>(p);
}
#endif

const struct {
    const char *name;
    result (*solve)(const problem &);
} solvers[] = {
#ifdef WITH_LAPJV
    {"lapjv", by_lapjv},
#endif
#ifdef WITH_LEMON
    {"simplex", by_network_simplex},
    {"scaling", by_cost_scaling},
#endif
};

} // namespace

int main(int argc, char **argv) {
    for (const auto &solver : solvers)
        if (argc == 3 && strcmp(argv[1], solver.name) == 0) {
            result r = solver.solve(read_problem(argv[2]));
            printf("%.9f %.17g\n", r.seconds, r.total);
            return 0;
        }
    give_up("usage: lap_peers SOLVER FILE");
}
