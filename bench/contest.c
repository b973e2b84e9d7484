/* SPDX-License-Identifier: BSD-3-Clause */
/* contest: writes and reads an array, or a file by the calls of a kind of program, in several ways
 * in turn, all inside one set of processes, so that noise meets all of them alike; checks every
 * byte and prints times and their ratios. */
#include "contest.h"

#include <argp.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_CONTESTANTS 24
enum { WRITE, READ, OPERATIONS };
static const char *const operation_name[OPERATIONS] = {"write", "read"};

typedef struct options {
    run_options run;
    shape shape;
    const workload_kind *kind;
    char *contestants;
    const char *statistics; /* a path that the contestant's name is appended to; NULL: none */
    int rounds;
    int64_t megabytes;
    bool verify, ask, planned, warm_up, first;
} options;

typedef struct contestant {
    way way;
    bool right;
    int64_t extra_bytes;         /* peak memory of any rank over its size before; -1: not known */
    double *seconds[OPERATIONS]; /* of each counted sample, the slowest rank's */
    times times[OPERATIONS];
} contestant;

/* ---- options ---- */

enum {
    KEY_TILED = 256,
    KEY_HALO,
    KEY_NO_VERIFY,
    KEY_NO_WARM_UP,
    KEY_ASK,
    KEY_PLANNED,
    KEY_FIRST,
    KEY_STATISTICS,
    KEY_LIST,
    KEY_KIND
};

static const workload_kind *find_pattern(struct argp_state *state, const char *name)
{
    for (const workload_kind *k = workload_kinds; k->name != NULL; k++)
        if (strcmp(k->name, name) == 0)
            return k;
    argp_error(state, "--pattern: there is no '%s'; see --list", name);
    return NULL;
}

/* Without the array. */
static void list_patterns(void)
{
    for (const workload_kind *k = workload_kinds + 1; k->name != NULL; k++)
        printf("%-20s %s\n", k->name, k->note);
    exit(0);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case KEY_KIND: o->shape.kind = shape_parse_kind(state, text); break;
    case KEY_HALO: o->shape.halo = shape_parse_number(state, "--halo", text, 0); break;
    case KEY_TILED: o->shape.tiled = true; break;
    case 'p': o->kind = find_pattern(state, text); break;
    case 'm': o->megabytes = shape_parse_number(state, "--megabytes", text, 1); break;
    case 'n': o->rounds = (int)shape_parse_number(state, "--rounds", text, 0); break;
    case 'w': o->contestants = text; break;
    case KEY_STATISTICS: o->statistics = text; break;
    case KEY_NO_VERIFY: o->verify = false; break;
    case KEY_NO_WARM_UP: o->warm_up = false; break;
    case KEY_FIRST: o->first = true; break;
    case KEY_ASK: o->ask = true; break;
    case KEY_PLANNED: o->planned = true; break;
    case KEY_LIST: list_patterns(); break;
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
    {"pattern", 'p', "NAME", 0, "The calls of a kind of program in place of an array", 0},
    {"list", KEY_LIST, NULL, 0, "List these patterns and end", 0},
    {"megabytes", 'm', "N", 0, "MiB that all ranks access in a pattern, about (64)", 0},
    {"contestants", 'w', "LIST", 0,
     "Separated by blanks (tatp vulcan dynamic_gen2 two_phase romio hand hand_warm floor; also "
     "dynamic, individual and independent). tatp+num_aggregators=4,cycle_buffer_size=1048576 is "
     "tatp with other values of its fcoll_tatp_ parameters, or of those of io_ompio_",
     0},
    {"rounds", 'n', "N", 0,
     "Rounds that count, after one that does not (5); 0: only check and measure", 0},
    {"stats", KEY_STATISTICS, "FILE", 0,
     "At the end all rounds once more with fcoll_tatp_stats, in FILE.CONTESTANT; of the first use "
     "in FILE.CONTESTANT.first",
     0},
    {"no-verify", KEY_NO_VERIFY, NULL, 0, "Do not check the bytes of files and buffers", 0},
    {"first", KEY_FIRST, NULL, 0, "Only the first write and read of the processes, then the check",
     0},
    {"no-warm-up", KEY_NO_WARM_UP, NULL, 0,
     "All rounds count: what measures and checks has warmed up already", 0},
    {"ask", KEY_ASK, NULL, 0,
     "Before and after one write and one read of each contestant print '@CONTESTANT OPERATION "
     "begin' (or end) and wait for a line of input, so that a caller can count bytes on links; "
     "first around nothing, for contestant 'nothing': what asking costs",
     0},
    {"planned", KEY_PLANNED, NULL, 0,
     "With --ask: of the second write and read of the open file, for which tatp makes no plan", 0},
    {0},
};

static options parse_options(int argc, char **argv)
{
    static char all[] = "tatp vulcan dynamic_gen2 two_phase romio hand hand_warm floor";
    static const struct argp_child children[] = {
        {&shape_argp, 0, "An array:", 1}, {&run_argp, 0, "How it is run:", 2}, {0}};
    static const struct argp parser = {
        .options = option_table,
        .parser = parse_option,
        .children = children,
        .doc = "Write and read a file collectively in several ways; compare the times."};
    options o = {.shape = {.kind = shape_find("array")},
                 .run = {.file = "/dev/shm/contest"},
                 .kind = workload_kinds,
                 .contestants = all,
                 .rounds = 5,
                 .megabytes = 64,
                 .verify = true,
                 .warm_up = true};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    if (o.run.label == NULL)
        o.run.label = o.kind->name;
    return o;
}

static int samples_of(const options *o)
{
    return o->rounds * o->kind->samples;
}

static int find_contestants(const options *o, const workload *w, contestant *list)
{
    char *rest = o->contestants, *name;
    int count = 0;
    while ((name = strsep(&rest, " ")) != NULL) {
        contestant c = {.right = true, .extra_bytes = -1};
        if (*name == '\0')
            continue;
        if (count == MOST_CONTESTANTS)
            fail("--contestants", "too many");
        if (mpiio_find(name, w, &c.way) || hand_find(name, w, &c.way)) {
            c.seconds[WRITE] = take_memory(OPERATIONS * (size_t)samples_of(o), sizeof(double));
            c.seconds[READ] = c.seconds[WRITE] + samples_of(o);
            list[count++] = c;
        } else if (world_rank == 0) {
            fprintf(stderr, "contest: %s is not possible here and left out\n", name);
        }
    }
    if (count == 0)
        fail("--contestants", "there are none");
    return count;
}

/* ---- one write and one read ---- */

static void *open_as(workload *w, const way *c, bool write)
{
    mpiio_select(c);
    if (write && w->run->fresh)
        remove_file(w->run->file);
    if (write && w->run->fresh && c->library->create != NULL)
        c->library->create(w, w->run->file);
    return c->library->open(w, w->run->file, write);
}

static void close_as(workload *w, const way *c, void *file)
{
    c->library->close(w, file);
    mpiio_select(NULL);
}

/* Sets the time of the slowest rank. */
static bool transfer(workload *w, const way *c, void *file, int op, bool ask, double *seconds)
{
    if (ask)
        ask_caller(c->name, operation_name[op], "begin");
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    bool right = c->library->transfer(w, file, op == WRITE, c->independent);
    *seconds = slowest(MPI_Wtime() - start);
    if (ask)
        ask_caller(c->name, operation_name[op], "end");
    return right;
}

/* By Open MPI's independent access. */
static bool read_back(workload *w, const char *who)
{
    way stock;
    double seconds;
    if (!mpiio_find("independent", w, &stock))
        fail("independent", "Open MPI lacks fcoll/individual");
    workload_spoil(w);
    void *file = open_as(w, &stock, false);
    bool right = transfer(w, &stock, file, READ, false, &seconds);
    close_as(w, &stock, file);
    return workload_check_data(w, who) && right;
}

/* A file over whose contents `old` was written, or a new one or that of a library, of which not
 * all bytes are known. */
static bool check_transfer(workload *w, const way *c, int op, uint64_t old)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (op == READ)
        return c->library->own_buffer || workload_check_data(w, c->name);
    bool known = c->library->plain && (workload_is_dense(w) || !w->run->fresh);
    return known ? workload_check_file(w, c->name, old) : read_back(w, c->name);
}

/* TIMED alone; MEASURED: the caller is asked; CHECKED: what was written, and what was read. */
enum purpose { TIMED, MEASURED, CHECKED };

static bool use_file(const options *o, workload *w, const way *c, enum purpose purpose,
                     double seconds[OPERATIONS])
{
    const uint64_t old = w->filling + 1;
    void *file = NULL;
    bool right = true, ask = purpose == MEASURED && o->ask;
    bool plan_first = ask && o->planned && mpiio_has_statistics(c);
    for (int op = 0; op < OPERATIONS; op++) {
        if (file == NULL)
            file = open_as(w, c, op == WRITE);
        for (int i = 0; i < OPERATIONS && op == WRITE && plan_first; i++)
            (void)transfer(w, c, file, i, false, seconds);
        if (op == READ && purpose == CHECKED)
            workload_spoil(w);
        right = transfer(w, c, file, op, ask, &seconds[op]) && right;
        if (op == READ || c->library->reopens) {
            close_as(w, c, file);
            file = NULL;
        }
        if (purpose == CHECKED)
            right = check_transfer(w, c, op, old) && right;
    }
    return right;
}

/* ---- all of them ---- */

/* With a filling of its own, so that bytes of the contestant before are seen to be wrong. */
static bool check_contestants(const options *o, workload *w, contestant *list, int count)
{
    bool right = true;
    double seconds[OPERATIONS];
    for (int i = 0; o->verify && i < count; i++) {
        workload_fill(w, 2 * (uint64_t)i + 10);
        if (list[i].way.library->plain && !workload_is_dense(w) && !o->run.fresh)
            workload_spoil_file(w, w->run->file, w->filling + 1);
        list[i].right = everywhere(use_file(o, w, &list[i].way, CHECKED, seconds));
        right = right && list[i].right;
    }
    workload_fill(w, 1);
    return right;
}

/* From now on, in a new file. False: none are taken. */
static bool begin_statistics(const options *o, const way *c, const char *suffix)
{
    static char path[PATH_MAX];
    if (o->statistics == NULL || !mpiio_has_statistics(c))
        return false;
    snprintf(path, sizeof path, "%s.%s%s", o->statistics, c->name, suffix);
    if (world_rank == 0)
        (void)unlink(path);
    mpiio_statistics(path);
    return true;
}

/* The first use: plans and buffers are not there yet. */
static void measure_contestants(const options *o, workload *w, contestant *list, int count)
{
    double seconds[OPERATIONS];
    if (o->ask) {
        ask_caller("nothing", operation_name[WRITE], "begin");
        ask_caller("nothing", operation_name[WRITE], "end");
    }
    for (int i = 0; i < count; i++) {
        bool taken = begin_statistics(o, &list[i].way, ".first");
        int64_t before = memory_mark();
        (void)use_file(o, w, &list[i].way, MEASURED, seconds);
        list[i].extra_bytes = memory_over(before);
        if (taken)
            mpiio_statistics(NULL);
    }
}

/* Each round begins with another contestant: the first may pay for what the last left behind. */
static void run_rounds(const options *o, workload *w, contestant *list, int count)
{
    bool warm_up = o->warm_up && !o->first;
    for (int round = warm_up ? -1 : 0; round < o->rounds && o->rounds > 0; round++)
        for (int i = 0; i < count * o->kind->samples; i++) {
            contestant *c = &list[(i + round + count) % count];
            int sample = round * o->kind->samples + i / count;
            double seconds[OPERATIONS];
            (void)use_file(o, w, &c->way, TIMED, seconds);
            for (int op = 0; op < OPERATIONS && round >= 0; op++)
                c->seconds[op][sample] = seconds[op];
        }
}

/* Statistics cost a call some microseconds, so that they are not taken in the rounds. */
static void observe_contestants(const options *o, workload *w, const contestant *list, int count)
{
    double seconds[OPERATIONS];
    for (int i = 0; i < count; i++) {
        if (!begin_statistics(o, &list[i].way, ""))
            continue;
        for (int r = 0; r < o->rounds; r++)
            (void)use_file(o, w, &list[i].way, TIMED, seconds);
        mpiio_statistics(NULL);
    }
}

/* ---- reporting ---- */

static const char *verdict(const options *o, const contestant *c)
{
    if (!o->verify)
        return "no";
    return c->right ? "yes" : "WRONG";
}

static void print_csv(const options *o, const workload *w, const contestant *list, int count,
                      int nodes)
{
    printf("case,contestant,operation,ranks,nodes,bytes,steps,samples,rounds,min_s,median_s,"
           "MB_per_s,verified,extra_bytes\n");
    for (int i = 0; i < OPERATIONS * count; i++) {
        const contestant *c = &list[i / OPERATIONS];
        const times *t = &c->times[i % OPERATIONS];
        /* A contestant's name may hold commas. */
        printf("%s,\"%s\",%s,%d,%d,%" PRId64 ",%zu,%d,%d,%.6f,%.6f,%.1f,%s,", o->run.label,
               c->way.name, operation_name[i % OPERATIONS], world_size, nodes, w->all_bytes,
               w->step_count, samples_of(o), o->rounds, t->least, t->median,
               t->median > 0 ? (double)w->all_bytes / t->median / 1e6 : 0, verdict(o, c));
        if (c->extra_bytes >= 0)
            printf("%" PRId64, c->extra_bytes);
        printf("\n");
    }
}

static void print_row(const options *o, const contestant *c, const contestant *first)
{
    printf("%-24s", c->way.name);
    for (int op = 0; op < OPERATIONS; op++) {
        const times *t = &c->times[op];
        printf(" %8.1f %8.1f", t->least * 1e3, t->median * 1e3);
        if (t->median > 0)
            printf(" %7.2f", first->times[op].median / t->median);
        else
            printf(" %7s", "-");
    }
    if (c->extra_bytes >= 0)
        printf(" %8.1f %6s\n", (double)c->extra_bytes / 1e6, verdict(o, c));
    else
        printf(" %8s %6s\n", "-", verdict(o, c));
}

static void print_table(const options *o, const workload *w, const contestant *list, int count,
                        int nodes)
{
    printf("%s: %.1f MB, %d ranks on %d nodes, %d rounds; milliseconds (least, median); ratio: "
           "median of %s over this one\n",
           o->run.label, (double)w->all_bytes / 1e6, world_size, nodes, o->rounds,
           list[0].way.name);
    printf("%-24s %8s %8s %7s %8s %8s %7s %8s %6s\n", "contestant", "write", "median", "ratio",
           "read", "median", "ratio", "MB extra", "right");
    for (int i = 0; i < count; i++)
        print_row(o, &list[i], &list[0]);
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

static void report(const options *o, const workload *w, contestant *list, int count, int nodes)
{
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            list[i].times[op] = summarise(list[i].seconds[op], samples_of(o));
    if (world_rank == 0)
        (o->run.csv ? print_csv : print_table)(o, w, list, count, nodes);
}

/* ---- the program ---- */

/* Open MPI's variables, and the file to overwrite. */
static void prepare_run(const options *o, workload *w)
{
    workload_make(w);
    workload_fill(w, 1);
    remove_file(w->run->file);
    mpiio_start(w->run->file);
    if (!o->first)
        connect_all(w);
    if (w->kind->library->create != NULL)
        w->kind->library->create(w, w->run->file);
}

/* Whether all bytes were right. */
static bool measure_all(const options *o, workload *w, contestant *list, int count)
{
    if (o->first) {
        run_rounds(o, w, list, count);
        return check_contestants(o, w, list, count);
    }
    measure_contestants(o, w, list, count);
    bool right = check_contestants(o, w, list, count);
    run_rounds(o, w, list, count);
    observe_contestants(o, w, list, count);
    return right;
}

static bool run_contest(const options *o)
{
    static contestant list[MOST_CONTESTANTS];
    workload w = {.kind = o->kind, .run = &o->run, .megabytes = o->megabytes, .shape = &o->shape};
    prepare_run(o, &w);
    int count = find_contestants(o, &w, list), nodes = count_nodes();
    bool right = measure_all(o, &w, list, count);
    report(o, &w, list, count, nodes);
    for (int i = 0; i < count; i++)
        free(list[i].seconds[WRITE]);
    remove_file(o->run.file);
    workload_release(&w);
    return right;
}

int main(int argc, char **argv)
{
    options o = parse_options(argc, argv);
    parallel_start(&argc, &argv);
    bool right = run_contest(&o);
    MPI_Finalize();
    return right ? 0 : 1;
}
