/* SPDX-License-Identifier: BSD-3-Clause */
/* record: collective accesses for the test of the recorder. */
#include <argp.h>
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ORDERED_BYTES 8

struct options;

struct scenario {
    const char *name;
    void (*run)(const struct options *o);
};

struct options {
    const char *program, *dir, *folder;
    const struct scenario *scenario;
    int children, files, killed, reversed;
};

/* A file that some ranks share. */
struct shared_file {
    int rank, ranks;
    MPI_File handle;
    char path[4096];
};

static int world_rank;
static char buffer[1 << 12];

/* The access order of the SetMatch paper's example, by six ranks. */
static const int example[] = {0, 4, 1, 0, 4, 1, 5, 2, 3, 4, 1, 3, 2, 5, 4, 2, 5, 4, 0, 4, 1};
enum { EXAMPLE_TURNS = sizeof example / sizeof *example };

static struct shared_file open_file(const struct options *o, MPI_Comm comm, const char *name)
{
    struct shared_file f;
    MPI_Comm_rank(comm, &f.rank);
    MPI_Comm_size(comm, &f.ranks);
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

/* The example in one call; by a communicator in which the ranks are the other way round. */
static void scenario_order(const struct options *o)
{
    int length[EXAMPLE_TURNS], at[EXAMPLE_TURNS], count = 0;
    MPI_Datatype turns;
    MPI_Comm comm;
    for (int i = 0; i < EXAMPLE_TURNS; i++)
        if (example[i] == world_rank) {
            length[count] = 1;
            at[count++] = i;
        }
    MPI_Comm_split(MPI_COMM_WORLD, 0, o->reversed ? -world_rank : world_rank, &comm);
    struct shared_file f = open_file(o, comm, "order");
    MPI_Type_indexed(count, length, at, MPI_DOUBLE, &turns);
    MPI_Type_commit(&turns);
    MPI_File_set_view(f.handle, 0, MPI_DOUBLE, turns, "native", MPI_INFO_NULL);
    MPI_File_write_all(f.handle, buffer, count, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_Type_free(&turns);
    close_file(&f);
    MPI_Comm_free(&comm);
}

/* A block of each rank, one after the other, in one call. */
static void write_blocks(struct shared_file *f, MPI_Offset first)
{
    MPI_File_write_at_all(f->handle, first + f->rank * ORDERED_BYTES, buffer, ORDERED_BYTES,
                          MPI_BYTE, MPI_STATUS_IGNORE);
}

/* A file of each half of the ranks, which are the other way round in it, and write in turns. */
static void scenario_halves(const struct options *o)
{
    enum { TURNS = 4 };
    MPI_Comm half;
    MPI_Datatype turns;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half);
    struct shared_file f = open_file(o, half, world_rank % 2 ? "odd" : "even");
    MPI_Type_vector(TURNS, 1, f.ranks, MPI_DOUBLE, &turns);
    MPI_Type_commit(&turns);
    MPI_File_set_view(f.handle, f.rank * ORDERED_BYTES, MPI_DOUBLE, turns, "native", MPI_INFO_NULL);
    MPI_File_write_all(f.handle, buffer, TURNS, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_Type_free(&turns);
    close_file(&f);
    MPI_Comm_free(&half);
}

/* A file of each half of the ranks; the second half opens its own when DIR/go is there. */
static void scenario_late(const struct options *o)
{
    char go[4096];
    int ranks;
    MPI_Comm half;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool is_second = 2 * world_rank >= ranks;
    snprintf(go, sizeof go, "%s/go", o->dir);
    MPI_Comm_split(MPI_COMM_WORLD, is_second, 0, &half);
    while (is_second && access(go, F_OK) != 0)
        usleep(10000);
    struct shared_file f = open_file(o, half, is_second ? "second" : "first");
    write_blocks(&f, 0);
    close_file(&f);
    MPI_Comm_free(&half);
}

/* Opens a file, makes DIR/opened, and accesses the file when DIR/go is there, which it removes; for
 * each of --files. */
static void scenario_meet(const struct options *o)
{
    char opened[4096], go[4096];
    snprintf(opened, sizeof opened, "%s/opened", o->dir);
    snprintf(go, sizeof go, "%s/go", o->dir);
    for (int i = 0; i < o->files; i++) {
        struct shared_file f = open_file(o, MPI_COMM_WORLD, "meet");
        if (world_rank == 0) {
            fclose(fopen(opened, "w"));
            while (unlink(go) != 0)
                usleep(10000);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        write_blocks(&f, 0);
        close_file(&f);
    }
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

static const struct scenario scenarios[] = {{"order", scenario_order},
                                            {"halves", scenario_halves},
                                            {"late", scenario_late},
                                            {"meet", scenario_meet},
                                            {"spawn", scenario_spawn},
                                            {"far", scenario_far},
                                            {NULL, NULL}};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'd': o->dir = text; break;
    case 'f': o->folder = text; break;
    case 'c': o->children = atoi(text); break;
    case 'n': o->files = atoi(text); break;
    case 'k': o->killed = 1; break;
    case 'r': o->reversed = 1; break;
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
        {"dir", 'd', "DIR", 0, "Where files go (.)", 0},
        {"folder", 'f', "FOLDER", 0, "Change to this folder before all accesses", 0},
        {"children", 'c', "N", 0, "Processes that are spawned (1)", 0},
        {"files", 'n', "N", 0, "Files that meet opens (1)", 0},
        {"killed", 'k', NULL, 0, "End without MPI_Finalize", 0},
        {"reversed", 'r', NULL, 0, "The order's ranks are the other way round in its file", 0},
        {0},
    };
    static const struct argp parser = {
        .options = table,
        .parser = parse_option,
        .args_doc = "order|halves|late|meet|spawn|far",
        .doc = "Accesses for the test of the recorder.",
    };
    struct options o = {.program = argv[0], .dir = ".", .folder = ".", .children = 1, .files = 1};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    /* a failed call on a file ends the job, and says which it was */
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    if (chdir(o.folder) != 0) {
        fprintf(stderr, "record: %s: %s\n", o.folder, strerror(errno));
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    o.scenario->run(&o);
    if (o.killed) {
        MPI_Barrier(MPI_COMM_WORLD);
        _exit(EXIT_FAILURE);
    }
    MPI_Finalize();
    return 0;
}
