/* SPDX-License-Identifier: BSD-3-Clause */
/* contest: writes and reads one array by several ways in turn, all inside one set of processes, so
 * that noise meets all of them alike; checks every byte and prints times and their ratios. */
#include "contest.h"
#include "measure.h"
#include "shape.h"

#include <argp.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WAYS 24
enum { WRITE, READ, OPERATIONS };
static const char *const operation_name[OPERATIONS] = {"write", "read"};

struct options {
    run_options run;
    shape shape;
    part_form form;
    char *ways;
    int rounds, calls;
    bool verify, ask, planned, warm_up, first;
};

struct result {
    double *seconds; /* of each counted round, the slowest rank's */
    times times;
};

struct entry {
    way way;
    bool right;
    int64_t extra_bytes; /* peak memory of any rank over its size before; -1: not known */
    struct result result[OPERATIONS];
    struct statistics statistics[OPERATIONS]; /* of later uses */
    struct statistics first[OPERATIONS];      /* of the first */
};

/* ---- options ---- */

enum {
    KEY_CALLS = 256,
    KEY_TILED,
    KEY_HALO,
    KEY_NO_VERIFY,
    KEY_NO_WARM_UP,
    KEY_ASK,
    KEY_PLANNED,
    KEY_FIRST,
    KEY_KIND
};

static void take_kind(struct argp_state *state, const char *text, shape *s)
{
    s->kind = shape_find(text);
    if (s->kind == NULL)
        argp_error(state, "--kind wants array, cube, btio, tile, lattice or dump, not '%s'", text);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case KEY_KIND: take_kind(state, text, &o->shape); break;
    case KEY_HALO: o->form.halo = shape_parse_number(state, "--halo", text, 0); break;
    case KEY_TILED: o->form.tiled = true; break;
    case 'n': o->rounds = (int)shape_parse_number(state, "--rounds", text, 0); break;
    case KEY_CALLS: o->calls = (int)shape_parse_number(state, "--calls", text, 1); break;
    case 'w': o->ways = text; break;
    case KEY_NO_VERIFY: o->verify = false; break;
    case KEY_NO_WARM_UP: o->warm_up = false; break;
    case KEY_FIRST:
        o->first = true;
        o->warm_up = false;
        break;
    case KEY_ASK: o->ask = true; break;
    case KEY_PLANNED: o->planned = true; break;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->shape;
        state->child_inputs[1] = &o->run;
        break;
    case ARGP_KEY_ARG: argp_usage(state); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option option_table[] = {
    {"kind", KEY_KIND, "NAME", 0,
     "What is accessed: array (the default), cube, btio, tile, lattice, dump", 0},
    {"tiled", KEY_TILED, NULL, 0, "The first dimension is made by repeating the file type", 0},
    {"halo", KEY_HALO, "N", 0, "Elements around the block in memory (0)", 0},
    {"contestants", 'w', "LIST", 0,
     "Separated by blanks (tatp vulcan dynamic_gen2 two_phase romio hand hand_warm floor; also "
     "dynamic and individual). tatp+num_aggregators=4,cycle_buffer_size=1048576 is tatp with other "
     "values of its fcoll_tatp_ parameters, or of those of io_ompio_",
     0},
    {"rounds", 'n', "N", 0,
     "Rounds that count, after one that does not (5); 0: only check and measure", 0},
    {"calls", KEY_CALLS, "N", 0,
     "Writes, then reads, in each round on the open file; their mean counts (1)", 0},
    {"no-verify", KEY_NO_VERIFY, NULL, 0, "Do not check the bytes of files and buffers", 0},
    {"first", KEY_FIRST, NULL, 0, "Only the first write and read of the processes, then the check",
     0},
    {"no-warm-up", KEY_NO_WARM_UP, NULL, 0,
     "All rounds count: what measures and checks has warmed up already", 0},
    {"ask", KEY_ASK, NULL, 0,
     "Before and after one write and one read of each contestant print '@CONTESTANT OPERATION "
     "begin' (or end) and wait for a line of input, so that a caller can count bytes on links; "
     "first "
     "around nothing, for contestant 'nothing': what asking costs",
     0},
    {"planned", KEY_PLANNED, NULL, 0,
     "With --ask: of the second write and read of the open file, for which tatp makes no plan", 0},
    {0},
};

static struct options parse_options(int argc, char **argv)
{
    static char all[] = "tatp vulcan dynamic_gen2 two_phase romio hand hand_warm floor";
    static const struct argp_child children[] = {
        {&shape_argp, 0, "What is accessed:", 1}, {&run_argp, 0, "How it is run:", 2}, {0}};
    static const struct argp parser = {
        .options = option_table,
        .parser = parse_option,
        .children = children,
        .doc = "Write and read an array collectively in several ways; compare the times."};
    struct options o = {.shape = {.kind = shape_find("array")},
                        .run = {.file = "/dev/shm/contest", .label = "contest"},
                        .ways = all,
                        .rounds = 5,
                        .calls = 1,
                        .verify = true,
                        .warm_up = true};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    return o;
}

/* ---- the problem ---- */

static void make_problem(const struct options *o, problem *p)
{
    *p = (problem){.run = &o->run, .rank = world_rank, .ranks = world_size, .filling = 1};
    const char *wrong = shape_make(&o->shape, (size_t)world_size, &p->array);
    if (wrong != NULL)
        refuse("--size, --grid", wrong);
    wrong = part_make(&p->own, &p->array, (size_t)world_rank, o->form);
    if (wrong != NULL)
        fail("--size, --grid", wrong);
    p->types = part_make_types(&p->own);
    p->data = take_memory((size_t)p->own.memory_bytes, 1);
    part_fill(&p->own, p->data, 0, p->filling);
}

static void free_problem(problem *p)
{
    part_free_types(&p->types);
    part_release(&p->own);
    decomposition_release(&p->array);
    free(p->data);
}

static int find_ways(const struct options *o, struct entry *entries)
{
    char *rest = o->ways, *name;
    int count = 0;
    while ((name = strsep(&rest, " ")) != NULL) {
        struct entry e = {.right = true, .extra_bytes = -1};
        if (*name == '\0')
            continue;
        if (count == MAX_WAYS)
            fail("--contestants", "too many");
        if (mpiio_find(name, &e.way) || hand_find(name, &e.way))
            entries[count++] = e;
        else if (world_rank == 0)
            fprintf(stderr, "contest: %s is not possible here and left out\n", name);
    }
    return count;
}

/* ---- checking ---- */

/* With a filling of its own, so that bytes of the contestant before are seen to be wrong. */
static bool check_way(const struct options *o, problem *p, const way *w)
{
    const int rest = 0xa5;
    p->filling++;
    if (o->run.fresh)
        remove_file(p->run->file);
    part_fill(&p->own, p->data, 0, p->filling);
    void *opened = w->open(p, w);
    bool right = w->write(p, opened);
    MPI_Barrier(MPI_COMM_WORLD);
    right = check_file(p->run->file, w->name, p->array.bytes, p->filling) && right;
    memset(p->data, rest, (size_t)p->own.memory_bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    right = w->read(p, opened) && right;
    w->close(p, opened);
    right =
        (w->own_buffer || part_check_memory(&p->own, w->name, p->data, rest, p->filling)) && right;
    return everywhere(right);
}

static bool check_ways(const struct options *o, problem *p, struct entry *entries, int count)
{
    bool right = true;
    for (int i = 0; o->verify && i < count; i++) {
        entries[i].right = check_way(o, p, &entries[i].way);
        right = right && entries[i].right;
    }
    part_fill(&p->own, p->data, 0, p->filling);
    return right;
}

/* ---- measuring ---- */

static double timed(problem *p, bool (*operation)(problem *, void *), void *opened, int calls)
{
    double sum = 0;
    for (int i = 0; i < calls; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double seconds = MPI_Wtime();
        (void)operation(p, opened);
        sum += slowest(MPI_Wtime() - seconds);
    }
    return sum / calls;
}

static void run_way(const struct options *o, problem *p, const way *w, double seconds[OPERATIONS])
{
    if (o->run.fresh)
        remove_file(p->run->file);
    void *opened = w->open(p, w);
    seconds[WRITE] = timed(p, w->write, opened, o->calls);
    seconds[READ] = timed(p, w->read, opened, o->calls);
    MPI_Barrier(MPI_COMM_WORLD);
    w->close(p, opened);
}

/* Each round begins with another contestant: the first may pay for what the last left behind. */
static void run_rounds(const struct options *o, problem *p, struct entry *entries, int count)
{
    for (int round = o->warm_up ? -1 : 0; round < o->rounds && o->rounds > 0; round++)
        for (int i = 0; i < count; i++) {
            struct entry *e = &entries[(i + round + count) % count];
            double seconds[OPERATIONS];
            run_way(o, p, &e->way, seconds);
            for (int op = 0; op < OPERATIONS && round >= 0; op++)
                e->result[op].seconds[round] = seconds[op];
        }
}

/* Statistics from now on, in a new file, or (the path as it was) no longer: they are read. */
static void begin_statistics(const struct options *o, const problem *p, const way *w,
                             char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s.statistics", o->run.file);
    if (!mpiio_has_statistics(w))
        return;
    if (p->rank == 0)
        (void)unlink(path);
    mpiio_statistics(path);
}

static void end_statistics(const problem *p, const way *w, const char *path, struct statistics *s)
{
    if (!mpiio_has_statistics(w))
        return;
    mpiio_statistics(NULL);
    for (int op = 0; op < OPERATIONS && p->rank == 0; op++)
        s[op] = read_statistics(path, operation_name[op]);
    if (p->rank == 0)
        (void)unlink(path);
}

/* The first use of each contestant: its buffers are not there yet. */
static void measure_way(const struct options *o, problem *p, struct entry *e)
{
    const way *w = &e->way;
    char path[PATH_MAX];
    begin_statistics(o, p, w, path);
    int64_t before = memory_mark();
    void *opened = w->open(p, w);
    if (o->planned && mpiio_has_statistics(w)) {
        (void)w->write(p, opened);
        (void)w->read(p, opened);
    }
    if (o->ask)
        ask_caller(w->name, operation_name[WRITE], "begin");
    (void)w->write(p, opened);
    if (o->ask)
        ask_caller(w->name, operation_name[WRITE], "end");
    MPI_Barrier(MPI_COMM_WORLD);
    if (o->ask)
        ask_caller(w->name, operation_name[READ], "begin");
    (void)w->read(p, opened);
    if (o->ask)
        ask_caller(w->name, operation_name[READ], "end");
    e->extra_bytes = memory_over(before);
    w->close(p, opened);
    end_statistics(p, w, path, e->first);
}

/* Statistics cost a call some microseconds, so that they are not taken in the rounds. */
static void observe_way(const struct options *o, problem *p, struct entry *e)
{
    char path[PATH_MAX];
    double seconds[OPERATIONS];
    if (!mpiio_has_statistics(&e->way) || o->rounds == 0)
        return;
    begin_statistics(o, p, &e->way, path);
    for (int i = 0; i < o->rounds; i++)
        run_way(o, p, &e->way, seconds);
    end_statistics(p, &e->way, path, e->statistics);
}

/* ---- reporting ---- */

static const char *verdict(const struct options *o, const struct entry *e)
{
    if (!o->verify)
        return "no";
    return e->right ? "yes" : "WRONG";
}

static void print_csv_statistics(const struct statistics *s, const struct statistics *first)
{
    printf(",%.0f,%.5f,%.5f,%.0f,%.0f,%.0f,%.0f", s->crossing_bytes, s->planning_share,
           first->planning_share, s->messages, first->metadata_bytes, s->hop_bytes, s->aggregators);
    for (int i = 0; i < STAGES; i++)
        printf(",%.6f", s->stage[i]);
    printf("\n");
}

static void print_csv_line(const struct options *o, const problem *p, const struct entry *e, int op,
                           int nodes)
{
    const struct result *r = &e->result[op];
    const struct statistics *s = &e->statistics[op];
    /* A contestant's name may hold commas. */
    printf("%s,\"%s\",%s,%d,%d,%" PRId64 ",%d,%.6f,%.6f,%.1f,%s,", o->run.label, e->way.name,
           operation_name[op], p->ranks, nodes, p->array.bytes, o->rounds, r->times.least,
           r->times.median,
           r->times.median > 0 ? (double)p->array.bytes / r->times.median / 1e6 : 0, verdict(o, e));
    if (e->extra_bytes >= 0)
        printf("%" PRId64, e->extra_bytes);
    if (s->lines > 0)
        print_csv_statistics(s, &e->first[op]);
    else
        printf(",,,,,,,,,,,,\n");
}

static void print_csv(const struct options *o, const problem *p, const struct entry *entries,
                      int count, int nodes)
{
    printf("case,contestant,operation,ranks,nodes,bytes,rounds,min_s,median_s,MB_per_s,verified,"
           "extra_bytes,crossing_bytes,planning_share,first_planning_share,messages,metadata_bytes,"
           "hop_bytes,aggregators,st1_s,st2_s,st3_s,st4_s,st5_s\n");
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            print_csv_line(o, p, &entries[i], op, nodes);
}

static void print_ratio(double some, double of)
{
    if (of > 0)
        printf(" %7.2f", some / of);
    else
        printf(" %7s", "-");
}

static void print_row(const struct options *o, const struct entry *e, const struct entry *first)
{
    printf("%-24s", e->way.name);
    for (int op = 0; op < OPERATIONS; op++) {
        printf(" %8.1f %8.1f", e->result[op].times.least * 1e3, e->result[op].times.median * 1e3);
        print_ratio(first->result[op].times.median, e->result[op].times.median);
    }
    if (e->extra_bytes >= 0)
        printf(" %8.1f %6s\n", (double)e->extra_bytes / 1e6, verdict(o, e));
    else
        printf(" %8s %6s\n", "-", verdict(o, e));
}

static void print_table(const struct options *o, const problem *p, const struct entry *entries,
                        int count, int nodes)
{
    printf("%s: %.1f MB, %d ranks on %d nodes, %d rounds; milliseconds (least, median); ratio: "
           "median of %s over this one\n",
           o->run.label, (double)p->array.bytes / 1e6, p->ranks, nodes, o->rounds,
           entries[0].way.name);
    printf("%-24s %8s %8s %7s %8s %8s %7s %8s %6s\n", "contestant", "write", "median", "ratio",
           "read", "median", "ratio", "MB extra", "right");
    for (int i = 0; i < count; i++)
        print_row(o, &entries[i], &entries[0]);
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            if (entries[i].statistics[op].lines > 0)
                printf("%s %s: %.1f MB change nodes, %.0f messages, planning is %.1f %% of the "
                       "call; in the "
                       "first %.1f %%, by %.1f kB of metadata\n",
                       entries[i].way.name, operation_name[op],
                       entries[i].statistics[op].crossing_bytes / 1e6,
                       entries[i].statistics[op].messages,
                       entries[i].statistics[op].planning_share * 100,
                       entries[i].first[op].planning_share * 100,
                       entries[i].first[op].metadata_bytes / 1e3);
}

static int count_nodes(void)
{
    MPI_Comm node;
    int rank, first, nodes;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    first = rank == 0;
    MPI_Allreduce(&first, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&node);
    return nodes;
}

static void report(const struct options *o, const problem *p, struct entry *entries, int count,
                   int nodes)
{
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            entries[i].result[op].times = summarise(entries[i].result[op].seconds, o->rounds);
    if (p->rank == 0 && o->run.csv)
        print_csv(o, p, entries, count, nodes);
    else if (p->rank == 0)
        print_table(o, p, entries, count, nodes);
}

/* For what asking itself costs. */
static void ask_about_nothing(const struct options *o)
{
    static const char *const moments[] = {"begin", "end"};
    for (size_t i = 0; i < 2 && o->ask; i++)
        ask_caller("nothing", operation_name[WRITE], moments[i]);
}

/* Whether all bytes were right. */
static bool measure_ways(const struct options *o, problem *p, struct entry *entries, int count)
{
    if (o->first) {
        run_rounds(o, p, entries, count);
        return check_ways(o, p, entries, count);
    }
    connect_all(p);
    ask_about_nothing(o);
    for (int i = 0; i < count; i++)
        measure_way(o, p, &entries[i]);
    bool right = check_ways(o, p, entries, count);
    run_rounds(o, p, entries, count);
    for (int i = 0; i < count; i++)
        observe_way(o, p, &entries[i]);
    return right;
}

static bool run(const struct options *o)
{
    static struct entry entries[MAX_WAYS];
    problem p;
    make_problem(o, &p);
    remove_file(p.run->file);
    mpiio_start(&p);
    hand_start(&p);
    int count = find_ways(o, entries);
    if (count == 0)
        fail("--contestants", "there are none");
    int nodes = count_nodes();
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            entries[i].result[op].seconds = take_memory((size_t)o->rounds, sizeof(double));
    bool right = measure_ways(o, &p, entries, count);
    report(o, &p, entries, count, nodes);
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            free(entries[i].result[op].seconds);
    remove_file(p.run->file);
    free_problem(&p);
    return right;
}

int main(int argc, char **argv)
{
    struct options o = parse_options(argc, argv);
    parallel_start(&argc, &argv);
    bool right = run(&o);
    MPI_Finalize();
    return right ? 0 : 1;
}
