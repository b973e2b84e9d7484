/* SPDX-License-Identifier: BSD-3-Clause */
/* record: collective accesses for the test of the recorder. Each rank logs
 * what it accesses, from its own bookkeeping, as lines "CALL WORLD-RANK OFFSET LENGTH" in
 * DIR/log.RANK; lines with one CALL belong to one collective call on one file. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "generate.h"
#include "layout.h"

#define ORDERED_BYTES 8

struct options;

struct scenario {
    const char *name;
    void (*run)(const struct options *o);
};

struct options {
    const char *program, *dir, *folder;
    const struct scenario *scenario;
    int seed, repeat, children;
    int killed;
};

/* A file that some ranks share. */
struct shared_file {
    int rank, ranks;
    MPI_File handle;
    char name[32], path[4096];
};

struct log_line {
    const char *call;
    int64_t disp;
};

static FILE *log_file;
static int world_rank, repetition;
static char buffer[1 << 16];

/* The access order of the SetMatch paper's example, by six ranks. */
static const int example[] = {0, 4, 1, 0, 4, 1, 5, 2, 3, 4, 1, 3, 2, 5, 4, 2, 5, 4, 0, 4, 1};
enum { EXAMPLE_TURNS = sizeof example / sizeof *example };

static void log_piece(void *context, int64_t offset, int64_t length)
{
    struct log_line *l = context;
    fprintf(log_file, "%s %d %" PRId64 " %" PRId64 "\n", l->call, world_rank, l->disp + offset,
            length);
}

static void log_access(const char *call, const struct view *v, int64_t first, int64_t etypes)
{
    struct log_line l = {call, v->disp};
    layout_walk(&v->file, first * v->etype.size, etypes * v->etype.size, log_piece, &l);
}

static struct shared_file open_file(const struct options *o, MPI_Comm comm, const char *name)
{
    struct shared_file f;
    MPI_Comm_rank(comm, &f.rank);
    MPI_Comm_size(comm, &f.ranks);
    snprintf(f.name, sizeof f.name, "%s", name);
    snprintf(f.path, sizeof f.path, "%s/%s", o->dir, name);
    MPI_File_open(comm, f.path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f.handle);
    return f;
}

static void close_file(struct shared_file *f)
{
    MPI_File_close(&f->handle);
    if (f->rank == 0)
        unlink(f->path);
}

static void set_view(struct shared_file *f, const struct view *v)
{
    MPI_File_set_view(f->handle, v->disp, v->etype.type, v->file.type, "native", MPI_INFO_NULL);
}

/* One call of a kind by number; every rank moves some etypes of its own view. */
static void random_call(struct shared_file *f, const struct view *v, int number, int kind,
                        int64_t offset, int etypes, int64_t *position)
{
    char call[64];
    int count = etypes * (int)v->etype.size;
    MPI_File file = f->handle;
    snprintf(call, sizeof call, "%s.%d.%d", f->name, number, repetition);
    switch (kind) {
    case 0: MPI_File_write_all(file, buffer, count, MPI_BYTE, MPI_STATUS_IGNORE); break;
    case 1: MPI_File_read_all(file, buffer, count, MPI_BYTE, MPI_STATUS_IGNORE); break;
    case 2: MPI_File_write_at_all(file, offset, buffer, count, MPI_BYTE, MPI_STATUS_IGNORE); break;
    default: MPI_File_read_at_all(file, offset, buffer, count, MPI_BYTE, MPI_STATUS_IGNORE); break;
    }
    log_access(call, v, kind >= 2 ? offset : *position, etypes);
    *position += kind >= 2 ? 0 : etypes;
}

/* Several calls under each of several views of one file. */
static void random_calls(struct shared_file *f, struct rng *r, int views)
{
    struct view *view = checked_alloc((size_t)f->ranks, sizeof *view);
    int number = 0;
    for (int v = 0; v < views; v++) {
        int64_t position = 0;
        generate_tiled(r, f->ranks, view);
        set_view(f, &view[f->rank]);
        for (int c = 0; c < 3; c++) {
            int kind = rng_below(r, 4), offset = rng_below(r, 20), etypes = 0;
            for (int i = 0; i < f->ranks; i++) {
                int drawn = rng_chance(r, 85) && view[i].file.size > 0 ? rng_below(r, 60) : 0;
                etypes = i == f->rank ? drawn : etypes;
            }
            random_call(f, &view[f->rank], number++, kind, offset, etypes, &position);
        }
        for (int i = 0; i < f->ranks; i++)
            view_free(&view[i]);
    }
    free(view);
}

/* Two files of all ranks that are open together, then a file of each half, its ranks the
 * other way round. */
static void scenario_random(const struct options *o)
{
    MPI_Comm half;
    struct rng r = {(uint64_t)o->seed};
    struct shared_file a = open_file(o, MPI_COMM_WORLD, "a"), b = open_file(o, MPI_COMM_WORLD, "b");
    random_calls(&a, &r, 2);
    random_calls(&b, &r, 2);
    close_file(&a);
    close_file(&b);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
    a = open_file(o, half, world_rank % 2 ? "odd" : "even");
    random_calls(&a, &r, 2);
    close_file(&a);
    MPI_Comm_free(&half);
}

/* More views and calls on one file than plans are kept. */
static void scenario_views(const struct options *o)
{
    struct rng r = {(uint64_t)o->seed};
    struct shared_file f = open_file(o, MPI_COMM_WORLD, "views");
    random_calls(&f, &r, 9);
    close_file(&f);
}

/* The view of the ranks whose turns are `order[i] == rank`, each of ORDERED_BYTES. */
static struct view ordered_view(const int *order, int turns, int rank)
{
    struct view v = {layout_basic(MPI_DOUBLE, ORDERED_BYTES), {0}, 0};
    int *length = checked_alloc((size_t)turns, sizeof *length);
    int *at = checked_alloc((size_t)turns, sizeof *at);
    int count = 0;
    for (int i = 0; i < turns; i++)
        if (order[i] == rank) {
            length[count] = 1;
            at[count++] = i;
        }
    v.file =
        count > 0 ? layout_indexed(count, length, at, &v.etype) : layout_contiguous(0, &v.etype);
    free(at);
    free(length);
    return v;
}

/* The example in one call. */
static void scenario_order(const struct options *o)
{
    struct view v = ordered_view(example, EXAMPLE_TURNS, world_rank);
    struct shared_file f = open_file(o, MPI_COMM_WORLD, "order");
    int count = (int)v.file.size;
    set_view(&f, &v);
    MPI_File_write_all(f.handle, buffer, count, MPI_BYTE, MPI_STATUS_IGNORE);
    log_access("order", &v, 0, v.file.size / ORDERED_BYTES);
    close_file(&f);
    view_free(&v);
}

/* Many turns at random: all are written, half of them read, and then some. */
static void scenario_many(const struct options *o)
{
    enum { TURNS = 500000 };
    struct rng r = {(uint64_t)o->seed};
    struct shared_file f = open_file(o, MPI_COMM_WORLD, "many");
    int *order = checked_alloc(TURNS, sizeof *order);
    for (int i = 0; i < TURNS; i++)
        order[i] = rng_below(&r, f.ranks);
    struct view v = ordered_view(order, TURNS, world_rank);
    int64_t all = v.file.size / ORDERED_BYTES;
    const int64_t etypes[] = {all, all / 2, 10};
    char *data = checked_alloc((size_t)v.file.size + 1, 1);
    set_view(&f, &v);
    for (int call = 0; call < 3; call++) {
        char name[32];
        int bytes = (int)etypes[call] * ORDERED_BYTES;
        snprintf(name, sizeof name, "many.%d", call);
        if (call == 0)
            MPI_File_write_at_all(f.handle, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            MPI_File_read_at_all(f.handle, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        log_access(name, &v, 0, etypes[call]);
    }
    close_file(&f);
    view_free(&v);
    free(data);
    free(order);
}

/* A block of each rank, one after the other, in one call. */
static void write_blocks(struct shared_file *f, MPI_Offset first)
{
    MPI_File_write_at_all(f->handle, first + world_rank * ORDERED_BYTES, buffer, ORDERED_BYTES,
                          MPI_BYTE, MPI_STATUS_IGNORE);
}

/* Opens a file, makes DIR/opened, and accesses the file when DIR/go is there. */
static void scenario_meet(const struct options *o)
{
    struct shared_file f = open_file(o, MPI_COMM_WORLD, "meet");
    char path[4096];
    if (world_rank == 0) {
        snprintf(path, sizeof path, "%s/opened", o->dir);
        fclose(fopen(path, "w"));
        snprintf(path, sizeof path, "%s/go", o->dir);
        while (access(path, F_OK) != 0)
            usleep(10000);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    write_blocks(&f, 0);
    close_file(&f);
}

/* As many processes as --children says are started; they do the same on a file of their own, at
 * the same time. */
static void scenario_spawn(const struct options *o)
{
    MPI_Comm other;
    MPI_Comm_get_parent(&other);
    bool is_child = other != MPI_COMM_NULL;
    char *arguments[] = {(char *)"--dir", (char *)o->dir, (char *)"spawn", NULL};
    if (!is_child)
        MPI_Comm_spawn(o->program, arguments, o->children, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
                       MPI_ERRCODES_IGNORE);
    struct shared_file f = open_file(o, MPI_COMM_WORLD, is_child ? "child" : "parent");
    MPI_Barrier(other);
    write_blocks(&f, 0);
    close_file(&f);
    MPI_Comm_disconnect(&other);
}

/* An access whose last byte is the last one that an offset can have, before others. */
static void scenario_far(const struct options *o)
{
    struct shared_file f = open_file(o, MPI_COMM_WORLD, "far");
    MPI_Offset far = INT64_MAX - (f.ranks - world_rank) * 2 * ORDERED_BYTES;
    MPI_File_set_errhandler(f.handle, MPI_ERRORS_RETURN);
    MPI_File_read_at_all(f.handle, far, buffer, 2 * ORDERED_BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_set_errhandler(f.handle, MPI_ERRORS_ARE_FATAL);
    write_blocks(&f, 0);
    write_blocks(&f, 1000);
    close_file(&f);
}

static const struct scenario scenarios[] = {{"random", scenario_random}, {"order", scenario_order},
                                            {"views", scenario_views},   {"many", scenario_many},
                                            {"meet", scenario_meet},     {"spawn", scenario_spawn},
                                            {"far", scenario_far},       {NULL, NULL}};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'd': o->dir = text; break;
    case 's': o->seed = atoi(text); break;
    case 'n': o->repeat = atoi(text); break;
    case 'f': o->folder = text; break;
    case 'c': o->children = atoi(text); break;
    case 'k': o->killed = 1; break;
    case ARGP_KEY_ARG:
        o->scenario = scenarios;
        while (o->scenario->name != NULL && strcmp(o->scenario->name, text) != 0)
            o->scenario++;
        if (o->scenario->name == NULL)
            argp_error(state, "unknown scenario '%s'", text);
        break;
    case ARGP_KEY_NO_ARGS: argp_usage(state); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"dir", 'd', "DIR", 0, "Where files and logs go (.)", 0},
        {"seed", 's', "S", 0, "Seed of the random scenario (1)", 0},
        {"repeat", 'n', "N", 0, "How often to do it all (1)", 0},
        {"folder", 'f', "FOLDER", 0, "Change to this folder before all accesses", 0},
        {"children", 'c', "N", 0, "Processes that are spawned (1)", 0},
        {"killed", 'k', NULL, 0, "End without MPI_Finalize", 0},
        {0},
    };
    static const struct argp parser = {
        .options = table,
        .parser = parse_option,
        .args_doc = "random|order|views|many|meet|spawn|far",
        .doc = "Accesses for the test of the recorder.",
    };
    struct options o = {
        .program = argv[0], .dir = ".", .folder = ".", .seed = 1, .repeat = 1, .children = 1};
    char path[4096];
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    /* a failed call on a file ends the job, and says which it was */
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    snprintf(path, sizeof path, "%s/log.%d", o.dir, world_rank);
    log_file = fopen(path, "w");
    if (log_file == NULL || chdir(o.folder) != 0) {
        fprintf(stderr, "record: %s, or %s: %s\n", path, o.folder, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    for (repetition = 0; repetition < o.repeat; repetition++)
        o.scenario->run(&o);
    fclose(log_file);
    if (o.killed) {
        MPI_Barrier(MPI_COMM_WORLD);
        _exit(EXIT_FAILURE);
    }
    MPI_Finalize();
    return 0;
}
