/* SPDX-License-Identifier: BSD-3-Clause */
/* setmatch_bench: places access patterns by every method, and prints what is cut, what would cross
 * between nodes, and the times, as comma-separated values. Ends with failure when a bar is missed.
 */
#include "matrix/view_file.h"
#include "plan/fitted.h"
#include "setmatch/setmatch.h"

#include <argp.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../tools/scotch.h"
#include "views.h"

struct options {
    const char *only;
    bool is_short;
    unsigned repeat;
    double mpipp_seconds;
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count | 1, size);
    if (memory == NULL) {
        fprintf(stderr, "setmatch_bench: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

/* Of this process: what others do to the machine is not counted. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A pattern on nodes of equal slots. */
struct problem {
    const char *name;
    size_t slots, nodes;
    matrix view;
    size_t *slots_of_node, *node;
};

static void begin(struct problem *p, const char *name, size_t slots)
{
    *p = (struct problem){.name = name, .slots = slots};
    pattern_view(name, &p->view);
    p->nodes = (p->view.rows + slots - 1) / slots;
    p->slots_of_node = allocate(p->nodes, sizeof *p->slots_of_node);
    p->node = allocate(p->view.rows, sizeof *p->node);
    for (size_t n = 0; n < p->nodes; n++)
        p->slots_of_node[n] = slots;
}

static void end(struct problem *p)
{
    free(p->slots_of_node);
    free(p->node);
    matrix_release(&p->view);
}

static setmatch_input input_of(const struct problem *p)
{
    return (setmatch_input){.view = &p->view,
                            .slots = p->slots_of_node,
                            .nodes = p->nodes,
                            .threshold = SETMATCH_DEFAULT_THRESHOLD,
                            .refine = true};
}

static size_t most_on_a_node(const struct problem *p)
{
    size_t *count = allocate(p->nodes, sizeof *count), most = 0;
    for (size_t rank = 0; rank < p->view.rows; rank++)
        if (++count[p->node[rank]] > most)
            most = count[p->node[rank]];
    free(count);
    return most;
}

/* ---- the cut ---- */

struct outcome {
    int64_t cut;
    double seconds;
};

static struct outcome report(const struct problem *p, const char *method, double seconds)
{
    const setmatch_input input = input_of(p);
    int64_t inside, total;
    double cost;
    if (setmatch_weight(&p->view, p->node, &inside, &total) != 0 ||
        setmatch_cost(&input, p->node, &cost) != 0)
        exit(EXIT_FAILURE);
    printf("%s,%zu,%zu,%zu,%s,%lld,%.6f,%.6g,%zu,%.6f\n", p->name, p->view.rows, p->nodes, p->slots,
           method, (long long)(total - inside), total > 0 ? (double)inside / (double)total : 1,
           cost, most_on_a_node(p), seconds);
    fflush(stdout);
    return (struct outcome){total - inside, seconds};
}

static struct outcome run_method(struct problem *p, const char *name, unsigned repeat)
{
    const setmatch_method *method = setmatch_find_method(name);
    const setmatch_input input = input_of(p);
    double least = INFINITY;
    for (unsigned k = 0; k < repeat; k++) {
        double begun = cpu_seconds();
        if (method->place(&input, p->node) != 0)
            exit(EXIT_FAILURE);
        least = fmin(least, cpu_seconds() - begun);
    }
    return report(p, name, least);
}

static struct outcome run_peer(struct problem *p, unsigned repeat)
{
    double least = INFINITY;
    for (unsigned k = 0; k < repeat; k++) {
        double begun = cpu_seconds();
        if (peer_place(&p->view, p->nodes, p->node) != 0)
            exit(EXIT_FAILURE);
        least = fmin(least, cpu_seconds() - begun);
    }
    return report(p, peer_name, least);
}

/* From one random start after the other until the time is up; the best of them by `view` counts,
 * which is the problem's own or what one may know without recording. */
static struct outcome run_mpipp(struct problem *p, const char *name, const matrix *view,
                                double seconds)
{
    setmatch_input input = input_of(p);
    input.view = view;
    size_t *best = allocate(p->view.rows, sizeof *best);
    double begun = cpu_seconds();
    int64_t most = -1, inside, total;
    for (uint64_t seed = 1; seed == 1 || cpu_seconds() - begun < seconds; seed++) {
        if (setmatch_mpipp_from(&input, seed, SIZE_MAX, p->node) != 0 ||
            setmatch_weight(view, p->node, &inside, &total) != 0)
            exit(EXIT_FAILURE);
        if (inside > most) {
            most = inside;
            memcpy(best, p->node, p->view.rows * sizeof *best);
        }
    }
    memcpy(p->node, best, p->view.rows * sizeof *best);
    free(best);
    return report(p, name, cpu_seconds() - begun);
}

/* The grid of ranks of a pattern whose ranks are numbered along it, "KIND:AxB[xC...]:..."; 0
 * dimensions: it has none. */
static size_t read_grid(const char *name, size_t dims[8])
{
    static const char *const kinds[] = {"array:", "mesh:", "torus:"};
    size_t ndims = 0;
    const char *at = strchr(name, ':');
    int known = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        known |= strncmp(name, kinds[k], strlen(kinds[k])) == 0;
    for (char *end; known && ndims < 8 && (ndims == 0 ? *at == ':' : *at == 'x'); at = end)
        dims[ndims++] = strtoul(at + 1, &end, 10);
    return ndims;
}

static void run_mpipp_on_grid(struct problem *p, double seconds)
{
    size_t dims[8], ndims = read_grid(p->name, dims);
    matrix grid;
    if (ndims == 0)
        return;
    if (setmatch_cartesian(dims, ndims, SETMATCH_ORDER_C, &grid) != 0)
        exit(EXIT_FAILURE);
    run_mpipp(p, "mpipp_cart", &grid, seconds);
    matrix_release(&grid);
}

/* ---- bars ---- */

/* Seconds that a launcher may take; the bar for 256 ranks. */
#define NO_MATTER .3

struct tally {
    double log_battery, worst_battery, log_peer, worst_peer, worst_time;
    size_t battery, peers;
    unsigned missed;
};

static void require(struct tally *t, bool met, const char *bar, double figure)
{
    printf("# %s: %.4f%s\n", bar, figure, met ? "" : "  MISSED");
    t->missed += !met;
}

struct pattern_case {
    const char *name;
    size_t slots;
    int64_t least; /* the least cut known; 0: not known */
};

static const struct pattern_case regular[] = {
    {"array:4x4x4:16x16x16", 8, 127},  {"array:4x4x4:16x16x16", 12, 125},
    {"array:5x5x5:16x16x16", 25, 4},   {"array:2x8x8:24x24x24", 16, 191},
    {"array:4x4x4x2:8x8x8x8", 16, 63}, {"array:16x16:16x16", 16, 15},
    {"array:12x20:20x20", 48, 120},    {"array:8x8x8:8x8x8", 32, 127},
};

static const struct pattern_case others[] = {
    {"bt:8x64", 8, 0},
    {"bt:12x162", 16, 0},
    {"bt:16x320", 32, 0},
    {"bt:32x128", 64, 0},
    {"array:8x8:40x15", 16, 0},
    {"array:32x32:768x1", 32, 0},
    {"shuffled-array:16x16:40x15", 16, 0},
    {"shuffled-array:64x64:15x1", 32, 0},
    {"noisy-array:8x8x8:8x8x8", 32, 0},
    {"noisy-shuffled-array:4x4x4:16x16x16", 8, 0},
    {"noisy-shuffled-array:16x16x16:8x8x8", 64, 0},
    {"mesh:64x64:1x1", 32, 0},
    {"shuffled-mesh:16x16x16:1x1x1", 64, 0},
    {"mesh:16x16x16:1x2x4", 24, 0},
    {"torus:16x16x16:1x1x1", 64, 0},
    {"random:64x4", 8, 0},
    {"random:256x4", 16, 0},
    {"random:1024x6", 32, 0},
    {"random:4096x4", 64, 0},
    {"clusters:64x4", 8, 0},
    {"clusters:512x6", 16, 0},
    {"clusters:4096x6", 32, 0},
    {"uneven:128", 16, 0},
    {"uneven:1024", 32, 0},
};

static void compare_with_peer(struct tally *t, const struct problem *p, struct outcome ours,
                              struct outcome peer)
{
    double ratio = peer.cut > 0 ? (double)ours.cut / (double)peer.cut : ours.cut > 0 ? INFINITY : 1;
    if (ratio > 1)
        printf("# %s: %.4f of %s's cut\n", p->name, ratio, peer_name);
    t->log_peer += log(ratio);
    t->worst_peer = fmax(t->worst_peer, ratio);
    if (ours.seconds > NO_MATTER)
        t->worst_time = fmax(t->worst_time, ours.seconds / peer.seconds);
    t->peers++;
}

static void compare_with_mpipp(struct tally *t, struct outcome ours, struct outcome mpipp)
{
    require(t, ours.cut <= mpipp.cut, "cut against mpipp's",
            (double)ours.cut / fmax(1, (double)mpipp.cut));
}

static void run_case(const struct options *o, struct tally *t, const char *name,
                     const struct pattern_case *c)
{
    struct problem p;
    if (strstr(name, o->only) == NULL)
        return;
    begin(&p, name, c->slots);
    run_method(&p, "byslot", 1);
    run_method(&p, "bynode", 1);
    run_method(&p, "setmatch", 1);
    struct outcome ours = run_method(&p, "auto", o->repeat);
    if (peer_name != NULL)
        compare_with_peer(t, &p, ours, run_peer(&p, o->repeat));
    if (p.view.rows <= 512 && o->mpipp_seconds > 0)
        compare_with_mpipp(t, ours, run_mpipp(&p, "mpipp", &p.view, o->mpipp_seconds));
    if (p.view.rows <= 512 && o->mpipp_seconds > 0)
        run_mpipp_on_grid(&p, o->mpipp_seconds);
    if (c->least > 0) {
        double ratio = (double)ours.cut / (double)c->least;
        t->log_battery += log(ratio);
        t->worst_battery = fmax(t->worst_battery, ratio);
        t->battery++;
    }
    end(&p);
}

static void run_cuts(const struct options *o, struct tally *t)
{
    static const char *const orders[] = {"", "shuffled-", "reversed-"};
    char name[100];
    for (size_t k = 0; k < sizeof regular / sizeof *regular; k++) {
        for (size_t i = 0; i < 3; i++) {
            snprintf(name, sizeof name, "%s%s", orders[i], regular[k].name);
            run_case(o, t, name, &regular[k]);
        }
    }
    for (size_t k = 0; k < (o->is_short ? 4 : sizeof others / sizeof *others); k++)
        run_case(o, t, others[k].name, &others[k]);
    if (t->battery > 0) {
        double mean = exp(t->log_battery / (double)t->battery);
        require(t, mean <= 1.02, "cut against the least known, geometric mean", mean);
        require(t, t->worst_battery <= 1.10, "cut against the least known, worst",
                t->worst_battery);
    }
}

static void judge_peer(struct tally *t)
{
    if (t->peers == 0)
        return;
    printf("# cut against %s, geometric mean: %.4f\n", peer_name,
           exp(t->log_peer / (double)t->peers));
    require(t, t->worst_peer <= 1, "cut against the peer, worst", t->worst_peer);
    require(t, t->worst_time <= 2, "time against the peer, worst beyond 300 ms", t->worst_time);
}

/* ---- time ---- */

/* The share of the grid's weight that the best box of `slots` ranks in a grid keeps inside nodes.
 */
static double best_box(const size_t dims[3], const int64_t weight[3], size_t slots)
{
    double best = 0, total = 0;
    for (int d = 0; d < 3; d++)
        total += (double)weight[d] * (double)(dims[d] - 1) / (double)dims[d];
    for (size_t a = 1; a <= slots; a *= 2) {
        for (size_t b = 1; a * b <= slots; b *= 2) {
            size_t box[3] = {a, b, slots / a / b};
            double cut = 0;
            for (int d = 0; d < 3; d++)
                cut += (double)weight[d] * ((double)dims[d] / (double)box[d] - 1) / (double)dims[d];
            if (box[2] <= dims[2] && box[1] <= dims[1] && box[0] <= dims[0])
                best = fmax(best, 1 - cut / total);
        }
    }
    return best;
}

static void run_million(const struct options *o, struct tally *t)
{
    static const size_t dims[3] = {128, 64, 128};
    static const int64_t weight[3] = {1, 32, 1024};
    const char *name = "shuffled-mesh:128x64x128:1x32x1024";
    struct problem p;
    int64_t inside, total;
    if (o->is_short || strstr(name, o->only) == NULL)
        return;
    begin(&p, name, 64);
    struct outcome ours = run_method(&p, "auto", 1);
    setmatch_weight(&p.view, p.node, &inside, &total);
    double box = best_box(dims, weight, 64), share = (double)inside / (double)total;
    require(t, share >= box - 1e-9 && share >= .96,
            "a million ranks, inside (the best box or more)", share);
    require(t, ours.seconds <= 10, "a million ranks, seconds", ours.seconds);
    end(&p);
}

static void run_times(const struct options *o, struct tally *t)
{
    static const struct {
        const char *name;
        size_t slots;
        double bar;
    } cases[] = {
        {"array:16x16:16x16", 16, NO_MATTER},
        {"shuffled-array:4x8x8:16x16x16", 16, NO_MATTER},
        {"shuffled-mesh:16x16x16x16:1x2x4x8", 32, .5},
    };
    for (size_t k = 0; k < (o->is_short ? 2 : sizeof cases / sizeof *cases); k++) {
        struct problem p;
        if (strstr(cases[k].name, o->only) == NULL)
            continue;
        begin(&p, cases[k].name, cases[k].slots);
        struct outcome ours = run_method(&p, "auto", o->repeat);
        /* A short run is one under load, and may be one under an emulator. */
        if (!o->is_short)
            require(t, ours.seconds <= cases[k].bar, cases[k].name, ours.seconds);
        end(&p);
    }
    run_million(o, t);
}

/* ---- profiles ---- */

/* What each call of a case does: in the units that a file is divided by, and in the bins that the
 * recorder would have kept. */
struct profiles {
    size_t calls;
    matrix units[2], bins[2];
};

/* As fcoll/tatp records: one entry for 4,096 bytes, 4,096 in any case, no more than the file may
 * have. */
static size_t most_entries(const matrix *units)
{
    int64_t bytes;
    if (matrix_sum(units, &bytes) != 0)
        exit(EXIT_FAILURE);
    size_t most = (size_t)bytes / 4096;
    if (most < 4096)
        most = 4096;
    return most < VIEW_FILE_ENTRIES ? most : VIEW_FILE_ENTRIES;
}

static void record(const matrix *units, matrix *bins)
{
    size_t most = most_entries(units);
    unsigned doublings = 0;
    if (view_file_coarsen(units, 0, bins) != 0)
        exit(EXIT_FAILURE);
    while (bins->row_start[bins->rows] > most && bins->cols > 1) {
        matrix_release(bins);
        if (view_file_coarsen(units, ++doublings, bins) != 0)
            exit(EXIT_FAILURE);
    }
}

static int64_t crossing(const struct problem *p, const setmatch_profile *profile,
                        setmatch_domains domains)
{
    int64_t bytes, total;
    if (setmatch_crossing(profile, p->nodes, p->node, domains, &bytes, &total) != 0)
        exit(EXIT_FAILURE);
    return bytes;
}

/* The bytes of units (rows) on nodes (columns). */
static matrix on_nodes(const struct problem *p, const matrix *units)
{
    matrix_builder b = {.rows = units->cols, .cols = p->nodes};
    matrix m;
    int rc = 0;
    for (size_t r = 0; r < units->rows; r++)
        for (size_t i = units->row_start[r]; i < units->row_start[r + 1] && rc == 0; i++)
            rc = matrix_builder_add(&b, units->col[i], p->node[r], units->value[i]);
    if (rc != 0 || matrix_builder_finish(&b, &m) != 0)
        exit(EXIT_FAILURE);
    matrix_builder_clear(&b);
    return m;
}

/* The part that crosses when fcoll/tatp fits domains of these units, by one aggregator a node. */
static double part_with_fitted_units(const struct problem *p, const struct profiles *f)
{
    double crosses = 0, bytes = 0;
    size_t *node_of_aggregator = allocate(p->nodes, sizeof *node_of_aggregator);
    topo flat;
    topo_flat(&flat, p->nodes);
    for (size_t n = 0; n < p->nodes; n++)
        node_of_aggregator[n] = n;
    for (size_t c = 0; c < f->calls; c++) {
        matrix units = on_nodes(p, &f->units[c]);
        size_t *of = allocate(units.rows, sizeof *of);
        const fitted_input in = {&units, &flat, node_of_aggregator, p->nodes};
        fitted_report report;
        if (fitted_assign(&in, NULL, of, &report) != 0)
            exit(EXIT_FAILURE);
        crosses += report.crossing;
        bytes += report.bytes;
        free(of);
        matrix_release(&units);
    }
    free(node_of_aggregator);
    topo_release(&flat);
    return crosses / bytes;
}

struct profile_case {
    const char *name;   /* of the view, and of the first call */
    const char *second; /* call; NULL: none */
    size_t element, unit, slots;
    double most_fitted;  /* bar for the part that crosses with fitted units; 0: none */
    double most_of_view; /* bar for profile / neighbours with even domains; otherwise it is 1 */
};

static const struct profile_case profile_cases[] = {
    {"array:4x4x4:64x64x64", NULL, 8, 65536, 8, 0, 1},
    {"shuffled-array:8x8x8:32x32x32", NULL, 8, 65536, 8, 0, 1},
    {"array:12x20:20x20", NULL, 8, 1024, 48, 0, 1},
    {"array:16x16:40x15", NULL, 8, 1024, 32, 0, 1},
    {"blocks:64", NULL, 1024, 65536, 8, 0, .5},
    {"blocks:512", NULL, 1024, 65536, 32, 0, .5},
    {"array:8x8x1:1x4x256", "reversed-array:1x8x8:256x1x4", 8, 2048, 16, 0, .5},
    {"bt:16x64", NULL, 40, 8192, 32, 0, 1},
    {"bt:16x320", NULL, 40, 65536, 32, .04, 1},
    {"shuffled-array:8x8x8:128x128x128", NULL, 8, 1048576, 8, .001, 1},
};

/* What a placement by one objective is worth: Sum V / P, bytes of the profile that cross, the part
 * of them, and the part with fitted units. */
struct worth {
    double cost;
    int64_t crossing;
    double part, fitted;
};

static struct worth judge(const struct problem *p, const struct profiles *f,
                          const setmatch_profile *profile, setmatch_domains domains)
{
    setmatch_input input = input_of(p);
    setmatch_report report;
    input.profile = profile;
    input.domains = domains;
    if (setmatch_judge(&input, p->node, &report) != 0)
        exit(EXIT_FAILURE);
    return (struct worth){report.cost, report.crossing,
                          (double)report.crossing / (double)report.bytes,
                          part_with_fitted_units(p, f)};
}

static struct worth place_by(struct problem *p, const struct profiles *f,
                             setmatch_objective objective, setmatch_domains domains)
{
    const setmatch_profile profile = {f->calls, f->bins};
    setmatch_input input = input_of(p);
    input.profile = &profile;
    input.objective = objective;
    input.domains = domains;
    double begun = cpu_seconds();
    if (setmatch_auto(&input, p->node) != 0)
        exit(EXIT_FAILURE);
    double seconds = cpu_seconds() - begun;
    struct worth w = judge(p, f, &profile, domains);
    printf("# %s, %s domains, by %s: sum V/P %.6g, crossing %lld bytes (%.4f), with fitted units "
           "%.4f, "
           "%.3f s\n",
           p->name, setmatch_domains_names[domains], setmatch_objective_names[objective], w.cost,
           (long long)w.crossing, w.part, w.fitted, seconds);
    return w;
}

static void run_domains(struct tally *t, struct problem *p, const struct profile_case *c,
                        const struct profiles *f, setmatch_domains domains)
{
    struct worth by_view = place_by(p, f, SETMATCH_OBJECTIVE_NEIGHBOURS, domains);
    struct worth by_profile = place_by(p, f, SETMATCH_OBJECTIVE_PROFILE, domains);
    double bar = domains == SETMATCH_DOMAINS_EVEN ? c->most_of_view : 1;
    require(t, (double)by_profile.crossing <= bar * (double)by_view.crossing,
            "profile against neighbours",
            by_view.crossing > 0 ? (double)by_profile.crossing / (double)by_view.crossing : 1);
    if (domains != SETMATCH_DOMAINS_EVEN && c->most_fitted > 0)
        require(t, by_profile.fitted <= c->most_fitted, "crossing with fitted units",
                by_profile.fitted);
}

/* A recorder sums the views of all calls. */
static void add_view(struct problem *p, const char *name)
{
    matrix view;
    matrix_builder sum = {.rows = p->view.rows, .cols = p->view.rows};
    pattern_view(name, &view);
    if (matrix_builder_add_matrix(&sum, &p->view, 1) != 0 ||
        matrix_builder_add_matrix(&sum, &view, 1) != 0)
        exit(EXIT_FAILURE);
    matrix_release(&view);
    matrix_release(&p->view);
    if (matrix_builder_finish(&sum, &p->view) != 0)
        exit(EXIT_FAILURE);
    matrix_builder_clear(&sum);
}

static void run_profile_case(struct tally *t, const struct profile_case *c)
{
    struct problem p;
    struct profiles f = {.calls = c->second != NULL ? 2 : 1};
    begin(&p, c->name, c->slots);
    if (c->second != NULL)
        add_view(&p, c->second);
    for (size_t call = 0; call < f.calls; call++) {
        pattern_profile(call == 0 ? c->name : c->second, c->element, c->unit, &f.units[call]);
        record(&f.units[call], &f.bins[call]);
    }
    const setmatch_profile profile = {f.calls, f.bins};
    run_method(&p, "byslot", 1);
    printf("# %s: %zu units, %zu bins; by slot crossing %lld bytes with even, %lld with fitted "
           "domains, "
           "%.4f with fitted units\n",
           c->name, f.units[0].cols, f.bins[0].cols,
           (long long)crossing(&p, &profile, SETMATCH_DOMAINS_EVEN),
           (long long)crossing(&p, &profile, SETMATCH_DOMAINS_FITTED),
           part_with_fitted_units(&p, &f));
    run_domains(t, &p, c, &f, SETMATCH_DOMAINS_EVEN);
    run_domains(t, &p, c, &f, SETMATCH_DOMAINS_FITTED);
    run_domains(t, &p, c, &f, SETMATCH_DOMAINS_AUTO);
    for (size_t call = 0; call < f.calls; call++) {
        matrix_release(&f.units[call]);
        matrix_release(&f.bins[call]);
    }
    end(&p);
}

static void run_profiles(const struct options *o, struct tally *t)
{
    for (size_t k = 0; k < sizeof profile_cases / sizeof *profile_cases - (o->is_short ? 2 : 0);
         k++)
        if (strstr(profile_cases[k].name, o->only) != NULL)
            run_profile_case(t, &profile_cases[k]);
}

/* ---- main ---- */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'o': o->only = arg; return 0;
    case 's':
        o->is_short = true;
        o->repeat = 1;
        return 0;
    case 'r': o->repeat = (unsigned)strtoul(arg, NULL, 10); return o->repeat > 0 ? 0 : EINVAL;
    case 'm': o->mpipp_seconds = strtod(arg, NULL); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"short", 's', NULL, 0, "A few patterns once, without bars on time", 0},
        {"only", 'o', "TEXT", 0, "Patterns whose names contain this", 0},
        {"repeat", 'r', "N", 0, "Take the least time of N runs (default 5)", 0},
        {"mpipp", 'm', "SECONDS", 0,
         "Let MPIPP try so long, up to 512 ranks (default 0: not at all)", 0},
        {0},
    };
    static const struct argp argp = {
        table, parse, NULL, "Places access patterns by every method and compares them.",
        NULL,  NULL,  NULL};
    struct options options = {"", false, 5, 0};
    struct tally tally = {0};
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    printf("pattern,ranks,nodes,slots,method,cut,inside,cost,most_on_a_node,cpu_seconds\n");
    run_cuts(&options, &tally);
    if (!options.is_short)
        judge_peer(&tally);
    run_times(&options, &tally);
    run_profiles(&options, &tally);
    return tally.missed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
