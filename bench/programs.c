/* SPDX-License-Identifier: BSD-3-Clause */
/* programs: writes and reads a file by the calls of a kind of program, with several collective I/O
 * components in turn inside one set of processes; checks every byte, and prints times. */
#include "measure.h"
#include "shape.h"
#include "workload.h"

#include <argp.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_CONTESTANTS 16
enum { WRITE, READ, OPERATIONS };
static const char *const operation_name[OPERATIONS] = {"write", "read"};

/* OMPIO's independent access: by independent calls of the program where it calls MPI-IO itself. */
static const char independent_name[] = "independent";

typedef struct options {
    run_options run;
    const workload_kind *kind;
    char *contestants;
    const char *statistics; /* a path that the contestant's name is appended to; NULL: none */
    int rounds;
    int64_t megabytes;
    bool verify, ask;
} options;

typedef struct contestant {
    way way;
    const char *name;
    bool independent, right;
    double *seconds[OPERATIONS]; /* of each counted sample, the slowest rank's */
} contestant;

/* The way that has to have opened a file; NULL: none. */
static const way *selected;

/* Also of the files that libraries open. */
int MPI_File_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file)
{
    int rc = PMPI_File_open(comm, path, mode, info, file);
    if (rc == MPI_SUCCESS && selected != NULL)
        mpiio_check(*file, selected);
    return rc;
}

/* ---- options ---- */

enum { KEY_NO_VERIFY = 256, KEY_ASK, KEY_STATISTICS, KEY_LIST };

static const workload_kind *find_kind(struct argp_state *state, const char *name)
{
    const workload_kind *k = workload_kinds;
    while (k->name != NULL && strcmp(k->name, name) != 0)
        k++;
    if (k->name == NULL)
        argp_error(state, "--pattern: there is no '%s'; see --list", name);
    return k;
}

static void list_kinds(void)
{
    for (const workload_kind *k = workload_kinds; k->name != NULL; k++)
        printf("%-20s %s\n", k->name, k->note);
    exit(0);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case 'p': o->kind = find_kind(state, text); break;
    case 'm': o->megabytes = shape_parse_number(state, "--megabytes", text, 1); break;
    case 'n': o->rounds = (int)shape_parse_number(state, "--rounds", text, 0); break;
    case 'w': o->contestants = text; break;
    case KEY_STATISTICS: o->statistics = text; break;
    case KEY_NO_VERIFY: o->verify = false; break;
    case KEY_ASK: o->ask = true; break;
    case KEY_LIST: list_kinds(); break;
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->run; break;
    case ARGP_KEY_ARG: argp_usage(state); break;
    case ARGP_KEY_END:
        if (o->kind == NULL)
            argp_error(state, "--pattern is missing");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option option_table[] = {
    {"pattern", 'p', "NAME", 0, "What is written and read", 0},
    {"list", KEY_LIST, NULL, 0, "List the patterns and end", 0},
    {"megabytes", 'm', "N", 0, "MiB of all ranks, about (64)", 0},
    {"contestants", 'w', "LIST", 0,
     "Separated by blanks (tatp vulcan romio independent; also dynamic_gen2, dynamic, two_phase, "
     "individual, and tatp+NAME=VALUE,... as of contest)",
     0},
    {"rounds", 'n', "N", 0,
     "Rounds that count, after one that does not (5); 0: only check and count bytes", 0},
    {"stats", KEY_STATISTICS, "FILE", 0,
     "At the end once more with fcoll_tatp_stats, in FILE.CONTESTANT", 0},
    {"no-verify", KEY_NO_VERIFY, NULL, 0, "Do not check the bytes of files and buffers", 0},
    {"ask", KEY_ASK, NULL, 0,
     "Print '@CONTESTANT OPERATION begin' (or end) around one write and one read of each "
     "contestant, "
     "and wait for a line of input, so that a caller can count bytes on links; first around "
     "nothing, "
     "for contestant 'nothing'",
     0},
    {0},
};

static options parse_options(int argc, char **argv)
{
    static char all[] = "tatp vulcan romio independent";
    static const struct argp_child children[] = {{&run_argp, 0, "How it is run:", 2}, {0}};
    static const struct argp parser = {
        .options = option_table,
        .parser = parse_option,
        .children = children,
        .doc = "Write and read a file as a kind of program does, by several collective I/O "
               "components; compare the times."};
    options o = {.run = {.file = "/dev/shm/programs"},
                 .contestants = all,
                 .rounds = 5,
                 .megabytes = 64,
                 .verify = true};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    if (o.run.label == NULL)
        o.run.label = o.kind->name;
    return o;
}

static int find_contestants(const options *o, contestant *list)
{
    char *rest = o->contestants, *name;
    int count = 0;
    while ((name = strsep(&rest, " ")) != NULL) {
        contestant c = {.name = name, .right = true};
        if (*name == '\0')
            continue;
        if (count == MOST_CONTESTANTS)
            fail("--contestants", "too many");
        c.independent = strcmp(name, independent_name) == 0;
        if (mpiio_find(c.independent ? "individual" : name, &c.way))
            list[count++] = c;
        else if (world_rank == 0)
            fprintf(stderr, "programs: %s is not possible here and left out\n", name);
    }
    return count;
}

/* ---- one operation ---- */

static void *open_as(workload *w, const contestant *c, bool write, mpiio_selection **selection)
{
    *selection = mpiio_select(&c->way);
    selected = &c->way;
    if (write && w->run->fresh)
        remove_file(w->run->file);
    if (write && w->run->fresh && w->kind->library->create != NULL)
        w->kind->library->create(w, w->run->file);
    return w->kind->library->open(w, w->run->file, write);
}

static void close_as(workload *w, void *file, mpiio_selection *selection)
{
    w->kind->library->close(w, file);
    selected = NULL;
    mpiio_deselect(selection);
}

/* Opens, transfers, closes. Sets the time of the transfer. */
static bool operate(const options *o, workload *w, const contestant *c, int op, double *seconds)
{
    mpiio_selection *selection;
    void *file = open_as(w, c, op == WRITE, &selection);
    if (o->ask)
        ask_caller(c->name, operation_name[op], "begin");
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    bool right = w->kind->library->transfer(w, file, op == WRITE, c->independent);
    *seconds = slowest(MPI_Wtime() - start);
    if (o->ask)
        ask_caller(c->name, operation_name[op], "end");
    close_as(w, file, selection);
    return right;
}

static bool operate_untimed(workload *w, const contestant *c, int op)
{
    const options quiet = {.ask = false};
    double seconds;
    return operate(&quiet, w, c, op, &seconds);
}

/* ---- checking ---- */

static bool read_back(workload *w, const contestant *by, const char *who, uint64_t filling)
{
    memset(w->data, 0xa5, (size_t)w->bytes);
    bool right = operate_untimed(w, by, READ);
    return workload_check_data(w, who, filling) && right;
}

/* With a filling of its own, so that bytes of the contestant before are seen to be wrong. Of a
 * library's file, Open MPI's independent access reads what the contestant wrote. */
static bool check_contestant(workload *w, const contestant *c, const contestant *stock,
                             uint64_t filling)
{
    const char *path = w->run->file;
    const uint64_t old = filling + 1;
    bool plain = w->kind->library->plain;
    if (plain && !w->run->fresh)
        workload_spoil_file(w, path, old);
    workload_fill(w, filling);
    bool right = operate_untimed(w, c, WRITE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (plain && !w->run->fresh)
        right = workload_check_file(w, path, c->name, old, filling) && right;
    else
        right = read_back(w, stock, c->name, filling) && right;
    return everywhere(read_back(w, c, c->name, filling) && right);
}

static bool check_contestants(const options *o, workload *w, contestant *list, int count)
{
    contestant stock = {.name = independent_name, .independent = true};
    bool right = true;
    if (!o->verify)
        return true;
    if (!mpiio_find("individual", &stock.way))
        fail(independent_name, "Open MPI lacks fcoll/individual");
    for (int i = 0; i < count; i++) {
        list[i].right = check_contestant(w, &list[i], &stock, 2 * (uint64_t)i + 10);
        right = right && list[i].right;
    }
    workload_fill(w, 1);
    return right;
}

/* ---- measuring ---- */

static int samples_of(const options *o)
{
    return o->rounds * o->kind->samples;
}

/* The first use of each contestant: its plans and buffers are not there yet. */
static void count_bytes(const options *o, workload *w, const contestant *list, int count)
{
    double seconds;
    if (o->ask) {
        ask_caller("nothing", operation_name[WRITE], "begin");
        ask_caller("nothing", operation_name[WRITE], "end");
    }
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            (void)operate(o, w, &list[i], op, &seconds);
}

/* Each round begins with another contestant: the first may pay for what the last left behind. */
static void run_rounds(const options *o, workload *w, contestant *list, int count)
{
    const options timed = {.ask = false};
    for (int round = -1; round < o->rounds && o->rounds > 0; round++)
        for (int i = 0; i < count * o->kind->samples; i++) {
            contestant *c = &list[(i + round + count) % count];
            int sample = round * o->kind->samples + i / count;
            for (int op = 0; op < OPERATIONS; op++) {
                double seconds;
                (void)operate(&timed, w, c, op, &seconds);
                if (round >= 0)
                    c->seconds[op][sample] = seconds;
            }
        }
}

/* Statistics take one collective operation a call, so that the rounds are without. */
static void observe_contestant(const options *o, workload *w, const contestant *c)
{
    char path[PATH_MAX];
    if (o->statistics == NULL || !mpiio_has_statistics(&c->way))
        return;
    snprintf(path, sizeof path, "%s.%s", o->statistics, c->name);
    if (world_rank == 0)
        (void)unlink(path);
    mpiio_statistics(path);
    for (int op = 0; op < OPERATIONS; op++)
        (void)operate_untimed(w, c, op);
    mpiio_statistics(NULL);
}

/* ---- reporting ---- */

static void print_line(const options *o, const workload *w, const contestant *c, int op)
{
    times t = summarise(c->seconds[op], samples_of(o));
    const char *verdict = !o->verify ? "no" : c->right ? "yes" : "WRONG";
    double rate = t.median > 0 ? (double)w->all_bytes / t.median / 1e6 : 0;
    if (o->run.csv)
        printf("%s,\"%s\",%s,%d,%" PRId64 ",%zu,%d,%.6f,%.6f,%.1f,%s\n", o->run.label, c->name,
               operation_name[op], w->ranks, w->all_bytes, w->step_count, samples_of(o), t.least,
               t.median, rate, verdict);
    else
        printf("%-24s %-6s %10.2f %10.2f %10.1f %6s\n", c->name, operation_name[op], t.least * 1e3,
               t.median * 1e3, rate, verdict);
}

static void report(const options *o, const workload *w, const contestant *list, int count)
{
    if (o->run.csv)
        printf("case,contestant,operation,ranks,bytes,steps,samples,min_s,median_s,MB_per_s,"
               "verified\n");
    else
        printf("%s: %.1f MB in %zu steps, %d ranks, %d samples; ms\n%-24s %-6s %10s %10s %10s "
               "%6s\n",
               o->run.label, (double)w->all_bytes / 1e6, w->step_count, w->ranks, samples_of(o),
               "contestant", "", "least", "median", "MB/s", "right");
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            print_line(o, w, &list[i], op);
}

/* ---- all ---- */

/* Before anything is counted: connections, Open MPI's variables, and the file to overwrite. */
static void prepare_run(workload *w)
{
    problem connections = {
        .array = {.bytes = w->all_bytes}, .run = w->run, .rank = w->rank, .ranks = w->ranks};
    remove_file(w->run->file);
    mpiio_start(&connections);
    connect_all(&connections);
    if (w->kind->library->create != NULL)
        w->kind->library->create(w, w->run->file);
}

static bool run_contest(const options *o)
{
    static contestant list[MOST_CONTESTANTS];
    workload w = {.kind = o->kind,
                  .megabytes = o->megabytes,
                  .rank = world_rank,
                  .ranks = world_size,
                  .run = &o->run};
    workload_make(&w);
    workload_fill(&w, 1);
    prepare_run(&w);
    int count = find_contestants(o, list);
    if (count == 0)
        fail("--contestants", "there are none");
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            list[i].seconds[op] = take_memory((size_t)samples_of(o), sizeof(double));
    count_bytes(o, &w, list, count);
    bool right = check_contestants(o, &w, list, count);
    run_rounds(o, &w, list, count);
    for (int i = 0; i < count; i++)
        observe_contestant(o, &w, &list[i]);
    if (world_rank == 0)
        report(o, &w, list, count);
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            free(list[i].seconds[op]);
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
