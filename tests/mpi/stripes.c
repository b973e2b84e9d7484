/* SPDX-License-Identifier: BSD-3-Clause */
/* stripes: random views written and read collectively on files whose stripes are told by hints or
 * parameters. What each rank did to the file is noted (inject.c) and compared with the rules
 * (rules.c), the bytes with a model. A case is a function of its seed, its number and the number
 * of ranks. */
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generate.h"
#include "inject.h"
#include "layout.h"
#include "rules.h"

enum { CALLS = 4 };

struct options {
    struct cases cases;
    const char *domains;
    bool several_nodes, locked, locked_whole;
    /* Given by parameters of the run in place of hints; stripe 0: hints are given. */
    struct striping given;
};
static struct options options;

/* One case. Everything but `rank` is the same on all ranks. */
struct test {
    struct rng rng;
    int rank, ranks;
    struct striping given;
    bool large; /* as many bytes as a chosen number of aggregators depends on */
    struct view *view;
    int64_t etypes; /* a rank moves in a call */
    bool apart;     /* a call moves all ranks on, as their views are the same */
    int calls;
    char path[4096];
    MPI_File file;
    unsigned char *model; /* what the file must be */
    int64_t size, room;
    char *failure;
};

static void fail(struct test *t, int call, const char *what)
{
    if (t->failure[0] == '\0')
        snprintf(t->failure, FAILURE_ROOM,
                 "call %d: %s (stripe %" PRId64 ", %d targets, %d aggregators, cycle %" PRId64 ")",
                 call, what, t->given.stripe, t->given.targets, t->given.aggregators,
                 t->given.cycle);
}

/* --- what a case is --- */

/* Blocks of whole stripes, which a rank has at one place of each step: steps move by a distance
 * that now and then permits the same schedule again. */
static void generate_steps(struct test *t)
{
    int64_t block = t->given.stripe * rng_between(&t->rng, 1, 3), step = block * t->ranks;
    for (int r = 0; r < t->ranks; r++) {
        struct view *v = &t->view[r];
        v->etype = layout_basic(MPI_BYTE, 1);
        struct layout one = layout_contiguous((int)block, &v->etype);
        v->file = layout_resized(0, step, &one);
        layout_free(&one);
        v->disp = r * block;
    }
    t->etypes = block * rng_between(&t->rng, 1, 4);
}

static void draw_views(struct test *t)
{
    int kind = t->large ? 0 : rng_below(&t->rng, 4);
    t->etypes = rng_between(&t->rng, 1, rng_chance(&t->rng, 30) ? 20000 : 700);
    if (t->large)
        t->etypes = rng_between(&t->rng, 1 << 18, 2 << 18);
    t->apart = kind == 0;
    if (kind == 0)
        generate_default(t->ranks, t->view);
    else if (kind == 1)
        generate_tiled(&t->rng, t->ranks, t->view);
    else if (kind == 2)
        generate_regions(&t->rng, t->ranks, t->etypes * t->calls, t->view);
    else
        generate_steps(t);
}

static void draw_striping(struct test *t)
{
    static const int stripes[] = {16, 64, 100, 1000, 4096, 5000};
    static const double cycles[] = {0.5, 1, 1.5, 3, 1000};
    const char *domains = options.domains;
    struct striping *s = &t->given;
    s->stripe = stripes[rng_below(&t->rng, 6)];
    s->targets = rng_chance(&t->rng, 10) ? 0 : rng_between(&t->rng, 1, 9);
    s->aggregators = rng_chance(&t->rng, 10) ? 0 : rng_between(&t->rng, 1, t->ranks + 1);
    s->cycle = (int64_t)((double)s->stripe * cycles[rng_below(&t->rng, 5)]);
    if (t->large) {
        s->stripe = 1 << rng_between(&t->rng, 12, 14);
        s->aggregators = 0;
    }
    if (options.given.stripe > 0)
        *s = options.given;
    s->ranks = t->ranks;
    if (s->aggregators > t->ranks)
        s->aggregators = t->ranks;
    s->fitted = strcmp(domains, "auto") == 0 && options.several_nodes;
    s->dealt =
        s->targets > (strcmp(domains, "stripe") == 0 ? 0 : 1) && strcmp(domains, "even") != 0;
}

static void open_file(struct test *t)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (options.given.stripe == 0) {
        set_number(info, "striping_unit", t->given.stripe);
        set_number(info, "striping_factor", t->given.targets);
        set_number(info, "cb_nodes", t->given.aggregators);
        set_number(info, "cb_buffer_size", t->given.cycle);
    }
    const struct view *v = &t->view[t->rank];
    int code =
        MPI_File_open(MPI_COMM_WORLD, t->path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &t->file);
    if (code == MPI_SUCCESS)
        code = MPI_File_set_view(t->file, v->disp, v->etype.type, v->file.type, "native",
                                 MPI_INFO_NULL);
    MPI_Info_free(&info);
    if (code != MPI_SUCCESS) {
        fprintf(stderr, "stripes: cannot open %s\n", t->path);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

/* --- the model --- */

static int64_t first_etype(const struct test *t, int rank, int call)
{
    return t->etypes * (t->apart ? call * t->ranks + rank : call);
}

static unsigned char value_at(int64_t offset, int call)
{
    return (unsigned char)(rng_mix((uint64_t)offset, (uint64_t)call) >> 32 | 1);
}

/* A walk along a view: the bytes are marked in `wanted`, put into the model, or into `data`. */
struct stream {
    struct test *test;
    int64_t disp;
    int call;
    unsigned char *wanted, *data;
};

static void reach(void *context, int64_t offset, int64_t length)
{
    struct stream *s = context;
    int64_t end = s->disp + offset + length;
    if (end > s->test->size)
        s->test->size = end;
}

static void mark(void *context, int64_t offset, int64_t length)
{
    struct stream *s = context;
    memset(s->wanted + s->disp + offset, 1, (size_t)length);
}

static void put(void *context, int64_t offset, int64_t length)
{
    struct stream *s = context;
    for (int64_t b = s->disp + offset; b < s->disp + offset + length; b++)
        s->test->model[b] = value_at(b, s->call);
}

static void take(void *context, int64_t offset, int64_t length)
{
    struct stream *s = context;
    memcpy(s->data, s->test->model + s->disp + offset, (size_t)length);
    s->data += length;
}

static int64_t bytes_of(const struct test *t, int rank)
{
    return t->view[rank].file.size == 0 ? 0 : t->etypes * t->view[rank].etype.size;
}

static void walk(struct test *t, int rank, int call, struct stream s,
                 void (*visit)(void *context, int64_t offset, int64_t length))
{
    const struct view *v = &t->view[rank];
    s.test = t;
    s.disp = v->disp;
    s.call = call;
    layout_walk(&v->file, first_etype(t, rank, call) * v->etype.size, bytes_of(t, rank), visit, &s);
}

static void walk_all(struct test *t, int call, struct stream s,
                     void (*visit)(void *context, int64_t offset, int64_t length))
{
    for (int r = 0; r < t->ranks; r++)
        walk(t, r, call, s, visit);
}

/* --- calls --- */

/* All ranks' notes on rank 0, which frees them. */
static struct logged *gather_log(struct test *t, size_t *count)
{
    size_t own;
    struct seen_access *seen = inject_seen(&own);
    struct logged *mine = checked_alloc(own, sizeof *mine), *all = NULL;
    int words = (int)(own * sizeof *mine / sizeof(int64_t)), total = 0;
    int *part = checked_alloc((size_t)t->ranks, sizeof *part),
        *start = checked_alloc((size_t)t->ranks, sizeof *start);
    for (size_t i = 0; i < own; i++)
        mine[i] = (struct logged){t->rank, seen[i].write, seen[i].offset, seen[i].length};
    MPI_Gather(&words, 1, MPI_INT, part, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int r = 0; r < t->ranks; r++) {
        start[r] = total;
        total += part[r];
    }
    *count = (size_t)total * sizeof(int64_t) / sizeof *all;
    all = checked_alloc(*count, sizeof *all);
    MPI_Gatherv(mine, words, MPI_INT64_T, all, part, start, MPI_INT64_T, 0, MPI_COMM_WORLD);
    free(seen);
    free(mine);
    free(part);
    free(start);
    return all;
}

static void check_log(struct test *t, bool write, int call)
{
    size_t count;
    struct logged *log = gather_log(t, &count);
    if (t->rank == 0) {
        unsigned char *wanted = checked_alloc((size_t)t->size, 1);
        walk_all(t, call, (struct stream){.wanted = wanted}, mark);
        /* By each rank for itself: a trial, or a read before others have told that they need
         * aggregators. */
        bool alone = t->given.aggregators == 0 && (call >= 3 || !write);
        struct wanted w = {write, alone, wanted, t->size};
        while (w.size > 0 && !wanted[w.size - 1])
            w.size--;
        const char *rule = broken_rule(&t->given, &w, log, count);
        if (rule != NULL)
            fail(t, call, rule);
        free(wanted);
    }
    free(log);
}

/* Of this rank: one for each cycle, which is a quarter of the buffer where OMPIO locks the whole
 * file. Otherwise few contributors make it shorter, but not below 256 KiB, and half of that where
 * it is rounded to stripes. Since Open MPI 5 OMPIO locks all files. */
static void check_locks(struct test *t, int call)
{
    struct seen_locks locks = inject_seen_locks();
    bool may_lock = options.locked || OMPI_MAJOR_VERSION >= 5;
    if (options.locked && (locks.outside > 0 || locks.held))
        fail(t, call, "an access without a lock, or a lock that stays");
    int64_t cycle = t->given.cycle / 4;
    if (!options.locked_whole && cycle > 128 << 10)
        cycle = 128 << 10;
    if (locks.taken > (may_lock ? t->size / cycle + 1 : 0))
        fail(t, call, "more locks than cycles");
}

static void operate(struct test *t, bool write, int call)
{
    int64_t bytes = bytes_of(t, t->rank);
    unsigned char *data = checked_alloc((size_t)bytes, 1),
                  *buffer = checked_alloc((size_t)bytes, 1);
    if (write)
        walk_all(t, call, (struct stream){0}, put);
    walk(t, t->rank, call, (struct stream){.data = data}, take);
    if (write && bytes > 0)
        memcpy(buffer, data, (size_t)bytes);
    inject_watch(t->path);
    MPI_Offset at = first_etype(t, t->rank, call);
    int code =
        write ? MPI_File_write_at_all(t->file, at, buffer, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE)
              : MPI_File_read_at_all(t->file, at, buffer, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        fail(t, call, "it returned an error");
    if (bytes > 0 && memcmp(buffer, data, (size_t)bytes) != 0)
        fail(t, call, "the buffer is wrong");
    check_locks(t, call);
    check_log(t, write, call);
    free(buffer);
    free(data);
}

static void check_file(struct test *t)
{
    unsigned char *content = checked_alloc((size_t)t->size + 1, 1);
    FILE *f = fopen(t->path, "r");
    size_t bytes = f == NULL ? 0 : fread(content, 1, (size_t)t->size + 1, f);
    if (f != NULL)
        fclose(f);
    if (bytes != (size_t)t->size || memcmp(content, t->model, bytes) != 0)
        fail(t, t->calls, "the file is wrong");
    free(content);
    unlink(t->path);
}

static void run_test(struct test *t)
{
    t->view = checked_alloc((size_t)t->ranks, sizeof *t->view);
    t->large = rng_chance(&t->rng, options.cases.large);
    t->calls = t->large ? 1 : rng_between(&t->rng, 1, CALLS);
    draw_striping(t);
    draw_views(t);
    for (int c = 0; c < t->calls; c++)
        walk_all(t, c, (struct stream){0}, reach);
    t->model = checked_alloc((size_t)t->size, 1);
    open_file(t);
    for (int c = 0; c < t->calls; c++)
        operate(t, true, c);
    MPI_File_sync(t->file);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int c = 0; c < t->calls; c++)
        operate(t, false, c);
    MPI_File_close(&t->file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (t->rank == 0)
        check_file(t);
    for (int r = 0; r < t->ranks; r++)
        view_free(&t->view[r]);
    free(t->view);
    free(t->model);
}

static void run_case(const struct cases *c, int number, char failure[FAILURE_ROOM])
{
    struct test t = {.rng = {rng_mix(c->seed, (uint64_t)number)}, .failure = failure};
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t.ranks);
    snprintf(t.path, sizeof t.path, "%s/stripes.%d", c->dir, number);
    run_test(&t);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct striping *given = &options.given;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options.cases; return 0;
    case 'm': options.domains = text; return 0;
    case 'u': given->stripe = atol(text); return 0;
    case 't': given->targets = atoi(text); return 0;
    case 'a': given->aggregators = atoi(text); return 0;
    case 'c': given->cycle = atol(text); return 0;
    case 'l':
        options.locked = true;
        options.locked_whole = strcmp(text, "whole") == 0;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void parse_options(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"domains", 'm', "NAME", 0, "The run's fcoll_tatp_domains (auto)", 0},
        {"stripe", 'u', "BYTES", 0, "The run's stripe size; no hints are given then", 0},
        {"targets", 't', "N", 0, "The run's stripe count", 0},
        {"aggregators", 'a', "N", 0, "The run's number of aggregators", 0},
        {"cycle", 'c', "BYTES", 0, "The run's cycle buffer size", 0},
        {"locked", 'l', "whole|bytes", 0, "What the run has OMPIO lock of the file", 0},
        {0},
    };
    static const struct argp parser = {
        .options = table,
        .parser = parse_option,
        .doc = "Which rank accesses which stripe of a file, against the rules.",
        .children = cases_options,
    };
    static char command[128];
    options = (struct options){.cases = {"stripes", command, .seed = 1, .cases = 100, .large = 3},
                               .domains = "auto"};
    argp_parse(&parser, argc, argv, 0, NULL, NULL);
    snprintf(command, sizeof command, "--mca fcoll_tatp_domains %s stripes --domains %s",
             options.domains, options.domains);
}

static bool has_several_nodes(void)
{
    MPI_Comm node;
    int here, all;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_free(&node);
    return here < all;
}

int main(int argc, char **argv)
{
    parse_options(argc, argv);
    MPI_Init(&argc, &argv);
    options.several_nodes = has_several_nodes();
    inject_file_system(NFS_SUPER_MAGIC); /* all writes are to be seen */
    int status = cases_run(&options.cases, run_case);
    MPI_Finalize();
    return status;
}
