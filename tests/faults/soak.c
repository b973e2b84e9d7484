/* SPDX-License-Identifier: BSD-3-Clause */
/* soak: opens, writes, reads and closes files for groups of ranks that change each time, and
 * compares what the process holds after a twentieth of that and at the end. */
#include "mpi/conformance.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "holdings.h"
#include "order.h"

#define BYTES 1200

struct options {
    const char *dir, *segments;
    int opens, calls;
    long growth;
    bool may_grow;
};

struct stock {
    struct holdings process;
    long segments;
};

/* In turn: all ranks, halves, each rank alone; in another order each time. */
static MPI_Comm choose_group(int nth)
{
    MPI_Comm group;
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int sizes[] = {ranks, (ranks + 1) / 2, 1};
    int place = order_place(rank, ranks, nth);
    MPI_Comm_split(MPI_COMM_WORLD, place / sizes[nth % 3], place, &group);
    return group;
}

static void write_and_read(struct test *t, MPI_File file, int round)
{
    const int64_t block = 40 + 4 * (round % 13);
    const struct deal deal = {0, block, block, 0, 4};
    const struct data d = {RESIZED, 4, 0, BYTES, (uint64_t)(round + t->rank), true};
    set_dealt_view(t, file, &deal);
    must(t, "write", write_data(t, round % 5 == 0 ? I_ALL : ALL, file, &d));
    MPI_Barrier(t->comm);
    must(t, "read", read_data(t, AT_ALL, file, &d));
    MPI_Barrier(t->comm);
}

/* One file of a group, with so many calls at least. */
static void use_file(struct test *t, const struct options *o, int nth, int calls)
{
    MPI_Comm group = choose_group(nth);
    int leader;
    MPI_Comm_rank(MPI_COMM_WORLD, &leader);
    MPI_Comm_rank(group, &t->rank);
    MPI_Comm_size(group, &t->ranks);
    MPI_Bcast(&leader, 1, MPI_INT, 0, group);
    snprintf(t->path, sizeof t->path, "%s/soak.%d", o->dir, leader);
    t->comm = group;
    MPI_File file = open_file(t, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE);
    for (int i = 0; i < calls; i += 2)
        write_and_read(t, file, nth + i);
    close_file(t, &file);
    MPI_Comm_free(&group);
}

/* The largest of all ranks, once all have closed their files: Open MPI has a semaphore in the
 * folder of segments for each open one. */
static struct stock take_stock(const struct options *o)
{
    MPI_Barrier(MPI_COMM_WORLD);
    struct stock own = {take_holdings(), o->segments != NULL ? count_entries(o->segments) : 0}, all;
    MPI_Allreduce(&own, &all, sizeof own / sizeof(long), MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

static void print_stock(const char *when, const struct stock *s)
{
    const struct holdings *h = &s->process;
    printf("%s: %ld KiB of memory, %ld descriptors, %ld maps, %ld segments\n", when, h->kilobytes,
           h->descriptors, h->maps, s->segments);
    fflush(stdout);
}

/* Whether nothing has grown, but for so many KiB of memory. */
static bool is_flat(const struct stock *early, const struct stock *late, long growth)
{
    const struct holdings *e = &early->process, *l = &late->process;
    return l->kilobytes <= e->kilobytes + growth && l->descriptors <= e->descriptors &&
           l->maps <= e->maps + 2 && late->segments <= early->segments;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'd': o->dir = text; return 0;
    case 'm': o->segments = text; return 0;
    case 'o': o->opens = atoi(text); return 0;
    case 'c': o->calls = atoi(text); return 0;
    case 'g': o->growth = atol(text); return 0;
    case 'n': o->may_grow = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static struct options parse_options(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"dir", 'd', "DIR", 0, "Where the files go (/tmp)", 0},
        {"segments", 'm', "DIR", 0, "Counts what is in this folder, as /dev/shm", 0},
        {"opens", 'o', "COUNT", 0, "Files opened one after another (10000)", 0},
        {"calls", 'c', "COUNT", 0, "Collective calls, all together (100000)", 0},
        {"growth", 'g', "KIB", 0, "Memory that a process may gain (1024, for Open MPI's own)", 0},
        {"no-comparison", 'n', NULL, 0, "The process may grow: so few files are not enough", 0},
        {0},
    };
    static const struct argp parser = {table, parse_option, NULL, NULL, NULL, NULL, NULL};
    struct options o = {"/tmp", NULL, 10000, 100000, 1024, false};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    return o;
}

/* For those who send signals. */
static void print_process(void)
{
    printf("process %ld\n", (long)getpid());
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static struct test t;
    struct options o = parse_options(argc, argv);
    struct stock early = {0}, late;
    print_process();
    MPI_Init(&argc, &argv);
    for (int i = 0; i < o.opens; i++) {
        if (i == o.opens / 20)
            early = take_stock(&o);
        use_file(&t, &o, i, o.calls / o.opens);
    }
    late = take_stock(&o);
    t.comm = MPI_COMM_WORLD;
    bool well = all_well(&t), flat = o.may_grow || is_flat(&early, &late, o.growth);
    if (t.failure[0] != '\0')
        printf("%s\n", t.failure);
    MPI_Comm_rank(MPI_COMM_WORLD, &t.rank);
    if (t.rank == 0) {
        print_stock("after a twentieth", &early);
        print_stock("at the end", &late);
    }
    MPI_Finalize();
    return well && flat ? 0 : 1;
}
