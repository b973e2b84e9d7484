/* SPDX-License-Identifier: BSD-3-Clause */
/* faults: one fault after another in the calls of fcoll/tatp, each on one rank, in one job.
 * For each part of scene.h, each rank and each kind of call the nth
 * call has a fault, n = 1, 2, ... until there is none left.
 *
 * Prints a line for each part, and one for each fault that does not end as it should. A fault that
 * ends or hangs the job is the one in the file `current`; --after goes on behind it. */
#include "scene.h"

#include <argp.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "holdings.h"
#include "order.h"
#include "shim.h"

#define MOST_PARTS 32
#define NAME_ROOM 128
#define WARM_UP 26 /* more than there are orders of four ranks */

struct fault {
    int part, victim;
    enum shim_call call;
    enum shim_fault kind;
    long nth;
};

struct options {
    const char *dir, *beside, *segments, *after, *once;
    char **pattern;
    int patterns, limit, spawn;
    long sample;
    uint64_t seed;
};

struct tally {
    long faults, succeeded, failed, wrong;
};

struct run {
    struct options o;
    struct scene scene;
    MPI_Comm all;
    int rank, ranks, current;
    long segments;
    bool skipping; /* faults up to --after */
    long calls[MOST_PARTS][ORDER_MOST_RANKS][SHIM_CALLS];
    uint64_t left, wanted; /* of a sample */
    struct tally tally;    /* of a part */
    long total_wrong;
};

/* --- a hang --- */

/* All ranks write their stacks before the first of them ends the job. */
static void end_hang(int signal)
{
    static const char text[] = "hang: the stack of a rank\n";
    void *frame[64];
    (void)signal;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    backtrace_symbols_fd(frame, backtrace(frame, 64), STDERR_FILENO);
    sleep(3);
    _exit(124);
}

static void watch_for_hangs(void)
{
    void *frame[1];
    (void)backtrace(frame, 1); /* opens its library now */
    signal(SIGALRM, end_hang);
}

/* --- what is left --- */

/* What a series of faults must leave as it was. */
struct stock {
    struct holdings process;
    long blocks;
};

/* The record grows with the accesses that are new to it. */
static void compare_stock(struct run *run, const struct stock *before, const struct stock *now)
{
    enum { NOISE = 2 }; /* the heap's own mappings come and go */
    struct test *t = run->scene.t;
    long descriptors = now->process.descriptors - before->process.descriptors;
    long maps = now->process.maps - before->process.maps;
    if (now->blocks > before->blocks && run->o.beside == NULL)
        differ(t, "%ld blocks of memory more than before", now->blocks - before->blocks);
    if (descriptors > 0)
        differ(t, "%ld open files more than before", descriptors);
    if (maps > NOISE)
        differ(t, "%ld mappings more than before", maps);
}

/* No segments but Open MPI's, which were there before; beside the record nothing. */
static void find_leftovers(const struct run *run)
{
    struct test *t = run->scene.t;
    if (t->rank != 0)
        return;
    if (run->o.segments != NULL && count_entries(run->o.segments) > run->segments)
        differ(t, "something is left in %s", run->o.segments);
    if (run->o.beside != NULL && count_entries(run->o.beside) > 1)
        differ(t, "something is left in %s", run->o.beside);
}

/* --- one fault --- */

static void name_fault(const struct fault *f, char *name)
{
    snprintf(name, NAME_ROOM, "%s %d %s %s %ld", parts[f->part].name, f->victim,
             shim_call_names[f->call], shim_fault_names[f->kind], f->nth);
}

static void note_current(const struct run *run, const struct fault *f)
{
    char name[NAME_ROOM + 1];
    if (run->rank != 0)
        return;
    memset(name, ' ', sizeof name);
    name_fault(f, name);
    name[strlen(name)] = ' ';
    name[NAME_ROOM] = '\n';
    if (pwrite(run->current, name, sizeof name, 0) < 0)
        abort();
}

/* The counts of the rank that has the fault; the others have none. */
static struct shim_counts run_scene(struct run *run, const struct fault *f)
{
    struct scene *s = &run->scene;
    const struct part *part = &parts[f->part];
    struct shim_counts counts = {.hits = 0};
    note_current(run, f);
    alarm((unsigned)run->o.limit);
    scene_prepare(s, part);
    s->t->failure[0] = '\0';
    bool is_victim = s->t->rank == f->victim;
    if (is_victim)
        shim_arm(f->call, f->kind, f->nth);
    scene_act(s, part);
    if (is_victim)
        counts = shim_disarm();
    scene_recover(s, part);
    alarm(0);
    return counts;
}

/* After accesses that are always the same, so that the same plans, files and segments are kept: the
 * first half replaces what is kept, the second half finds nothing of its own. */
static struct stock take_stock(struct run *run, int part)
{
    enum { KEPT = 9, PERIOD = 16 }; /* more than are kept; after which shapes repeat */
    enum { FILES = 16 }; /* the first half may take what is kept, the second replaces it */
    alarm((unsigned)run->o.limit);
    run->scene.round += PERIOD - run->scene.round % PERIOD;
    scene_fill(&run->scene, FILES);
    run->scene.round += PERIOD - run->scene.round % PERIOD;
    for (int i = 0; i < 2 * KEPT; i++) {
        run->scene.order = i < KEPT ? KEPT + i : i - KEPT;
        (void)run_scene(run, &(struct fault){.part = part});
    }
    return (struct stock){take_holdings(), shim_disarm().blocks};
}

/* Prints what the lowest rank has found wrong, if any has. */
static bool report_failure(struct run *run, const struct fault *f)
{
    struct test *t = run->scene.t;
    char name[NAME_ROOM];
    int own = t->failure[0] != '\0' ? run->rank : run->ranks, first;
    MPI_Allreduce(&own, &first, 1, MPI_INT, MPI_MIN, run->all);
    name_fault(f, name);
    if (first == run->rank)
        printf("wrong: %s: rank %d: %s\n", name, t->rank, t->failure);
    fflush(stdout);
    t->failure[0] = '\0';
    return first < run->ranks;
}

/* Whether there was a fault. Only those of SHIM_FAIL may be an error of the call. */
static bool try_fault(struct run *run, const struct fault *f)
{
    long hits = run_scene(run, f).hits;
    int error = run->scene.error;
    if (f->kind != SHIM_FAIL && error != MPI_SUCCESS)
        differ(run->scene.t, "error class %d", error);
    find_leftovers(run);
    MPI_Allreduce(MPI_IN_PLACE, &hits, 1, MPI_LONG, MPI_MAX, run->all);
    bool wrong = report_failure(run, f);
    run->tally.wrong += wrong;
    run->tally.faults += hits > 0;
    run->tally.succeeded += hits > 0 && !wrong && error == MPI_SUCCESS;
    run->tally.failed += hits > 0 && !wrong && error != MPI_SUCCESS;
    if (wrong)
        scene_restart(&run->scene);
    return hits > 0;
}

/* --- all faults --- */

/* Whether the next fault belongs to the sample: as many of those that are left as are wanted. */
static bool is_chosen(struct run *run)
{
    if (run->o.sample == 0)
        return true;
    bool chosen = mix(run->o.seed++) % run->left < run->wanted;
    run->left--;
    run->wanted -= chosen;
    return chosen;
}

static bool is_passed(struct run *run, const struct fault *f)
{
    char name[NAME_ROOM];
    if (!run->skipping)
        return false;
    name_fault(f, name);
    run->skipping = strcmp(name, run->o.after) != 0;
    return true;
}

static void run_series(struct run *run, struct fault f)
{
    enum { MISSES = 2 }; /* how many calls there are depends on the messages that wait */
    long known = run->calls[f.part][f.victim][f.call];
    int misses = 0;
    for (f.nth = 1; f.nth <= known || (run->o.sample == 0 && misses < MISSES); f.nth++)
        if (is_chosen(run) && !is_passed(run, &f))
            misses += !try_fault(run, &f);
        else
            misses += f.nth > known;
}

static void run_victim(struct run *run, int part, int victim)
{
    struct fault f = {.part = part, .victim = victim};
    for (int call = 0; call < SHIM_CALLS; call++)
        for (int kind = 0; kind < SHIM_FAULTS; kind++) {
            if (run->calls[part][victim][call] == 0 || !shim_can(call, kind))
                continue;
            f.call = call;
            f.kind = kind;
            run_series(run, f);
        }
}

static void run_part(struct run *run, int part)
{
    struct tally *tally = &run->tally;
    *tally = (struct tally){0};
    const struct stock before = take_stock(run, part);
    for (int victim = 0; victim < run->ranks; victim++)
        run_victim(run, part, victim);
    const struct stock now = take_stock(run, part);
    compare_stock(run, &before, &now);
    tally->wrong += report_failure(run, &(struct fault){.part = part});
    if (run->rank == 0)
        printf("part %s: %ld faults, %ld succeeded, %ld failed on all ranks, %ld wrong\n",
               parts[part].name, tally->faults, tally->succeeded, tally->failed, tally->wrong);
    fflush(stdout);
    run->total_wrong += tally->wrong;
}

static bool is_wanted(const struct run *run, const char *name)
{
    for (int i = 0; i < run->o.patterns; i++)
        if (strcmp(run->o.pattern[i], name) == 0)
            return true;
    return run->o.patterns == 0;
}

/* The calls of a part that has no fault. */
static void count_part(struct run *run, int part)
{
    for (int victim = 0; victim < run->ranks; victim++) {
        struct fault f = {.part = part, .victim = victim};
        struct shim_counts counts = run_scene(run, &f);
        MPI_Allreduce(counts.calls, run->calls[part][victim], SHIM_CALLS, MPI_LONG, MPI_MAX,
                      run->all);
        run->total_wrong += report_failure(run, &f);
        for (int call = 0; call < SHIM_CALLS; call++)
            for (int kind = 0; kind < SHIM_FAULTS; kind++)
                if (shim_can(call, kind))
                    run->left += (uint64_t)run->calls[part][victim][call];
    }
}

static void run_parts(struct run *run)
{
    /* Half of it without shared memory, for the buffers that are then kept. */
    for (int i = 0; i < 2 * WARM_UP; i++)
        (void)run_scene(run, &(struct fault){.call = SHIM_SEGMENT, .nth = i < WARM_UP});
    scene_fill(&run->scene, SCENE_MOST_FILES); /* never as many again, beside those that are kept */
    for (int part = 0; parts[part].name != NULL; part++)
        if (is_wanted(run, parts[part].name))
            count_part(run, part);
    run->wanted = (uint64_t)run->o.sample < run->left ? (uint64_t)run->o.sample : run->left;
    for (int part = 0; parts[part].name != NULL; part++)
        if (is_wanted(run, parts[part].name))
            run_part(run, part);
}

/* --- a fault while the job begins, or ends: one a job --- */

static void print_counts(const struct shim_counts *counts)
{
    printf("hits %ld", counts->hits);
    for (int call = 0; call < SHIM_CALLS; call++)
        for (int kind = 0; kind < SHIM_FAULTS && counts->calls[call] > 0; kind++)
            if (shim_can(call, kind))
                printf(", %s %s %ld", shim_call_names[call], shim_fault_names[kind],
                       counts->calls[call]);
    printf("\n");
    fflush(stdout);
}

/* Files in quick succession, which are recorded when the job ends. Open MPI opens the component
 * with the first one. */
static void run_once(struct run *run)
{
    enum { FILES = 10 };
    struct scene *s = &run->scene;
    struct shim_counts counts = {.hits = 0};
    bool at_end = strcmp(run->o.once, "end") == 0;
    alarm((unsigned)run->o.limit);
    for (int i = 0; i < FILES; i++) {
        scene_prepare(s, &parts[0]);
        scene_act(s, &parts[0]);
        if (i == 0)
            counts = shim_disarm();
        else if (s->error != MPI_SUCCESS)
            differ(s->t, "error class %d without a fault", s->error);
        run->total_wrong += report_failure(run, &(struct fault){0});
    }
    scene_end(s);
    if (at_end && shim_is_chosen())
        (void)shim_arm_by_name(getenv("SHIM_FAULT"));
    MPI_Finalize();
    if (at_end)
        counts = shim_disarm();
    if (shim_is_chosen())
        print_counts(&counts);
}

/* --- the program --- */

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'd': o->dir = text; return 0;
    case 'b': o->beside = text; return 0;
    case 'm': o->segments = text; return 0;
    case 'a': o->after = text; return 0;
    case 'o': o->once = text; return 0;
    case 'l': o->limit = atoi(text); return 0;
    case 'n': o->sample = atol(text); return 0;
    case 's': o->seed = strtoull(text, NULL, 10); return 0;
    case 'p': o->spawn = atoi(text); return 0;
    case ARGP_KEY_ARGS:
        o->pattern = state->argv + state->next;
        o->patterns = state->argc - state->next;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static struct options parse_options(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"dir", 'd', "DIR", 0, "Where the files go (/tmp)", 0},
        {"beside", 'b', "DIR", 0, "Has the record, and must have nothing else", 0},
        {"segments", 'm', "DIR", 0, "Nothing must be added to this folder, as /dev/shm", 0},
        {"after", 'a', "FAULT", 0, "Goes on behind this fault", 0},
        {"once", 'o', "WHEN", 0, "SHIM_FAULT is while the job begins (begin), or ends (end)", 0},
        {"limit", 'l', "SECONDS", 0, "What a fault may take before it counts as a hang (120)", 0},
        {"sample", 'n', "COUNT", 0, "Takes so many faults at random", 0},
        {"seed", 's', "NUMBER", 0, "Of the sample (1)", 0},
        {"spawn", 'p', "COUNT", 0, "So many ranks more, by MPI_Comm_spawn", 0},
        {0},
    };
    static const struct argp parser = {table, parse_option, "[PART...]", NULL, NULL, NULL, NULL};
    struct options o = {.dir = "/tmp", .limit = 120, .seed = 1};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    return o;
}

/* This job's ranks, and those that they spawn; *between: the two jobs, or MPI_COMM_NULL. */
static MPI_Comm join_ranks(const struct options *o, char **argv, MPI_Comm *between)
{
    MPI_Comm all = MPI_COMM_WORLD;
    MPI_Comm_get_parent(between);
    bool is_child = *between != MPI_COMM_NULL;
    if (!is_child && o->spawn > 0)
        MPI_Comm_spawn(argv[0], argv + 1, o->spawn, MPI_INFO_NULL, 0, MPI_COMM_WORLD, between,
                       MPI_ERRCODES_IGNORE);
    if (*between != MPI_COMM_NULL)
        MPI_Intercomm_merge(*between, is_child, &all);
    return all;
}

static void part_ranks(MPI_Comm all, MPI_Comm between)
{
    if (between == MPI_COMM_NULL)
        return;
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&between);
}

static void open_current(struct run *run)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/current", run->o.dir);
    run->current = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (run->current < 0)
        abort();
}

int main(int argc, char **argv)
{
    static struct run run;
    MPI_Comm between;
    run.o = parse_options(argc, argv);
    run.skipping = run.o.after != NULL;
    MPI_Init(&argc, &argv);
    shim_begin();
    watch_for_hangs();
    run.all = join_ranks(&run.o, argv, &between);
    MPI_Comm_rank(run.all, &run.rank);
    MPI_Comm_size(run.all, &run.ranks);
    if (run.rank == 0)
        open_current(&run);
    if (run.o.segments != NULL)
        run.segments = count_entries(run.o.segments);
    scene_begin(&run.scene, run.all, run.o.dir);
    if (run.o.once != NULL) {
        run_once(&run);
    } else {
        run_parts(&run);
        scene_end(&run.scene);
        if (run.rank == 0)
            puts("faults are done");
        part_ranks(run.all, between);
        MPI_Finalize();
    }
    return run.total_wrong > 0;
}
