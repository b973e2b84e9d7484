/* SPDX-License-Identifier: BSD-3-Clause */
/* btio, cube, dump, lattice, tile: each writes and reads access patterns of one kind, KIND, by
 * MPI-IO, in one or several steps that follow each other in the file; times every operation and, on
 * request, checks every byte. */
#define _GNU_SOURCE /* asprintf */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "parallel.h"
#include "part.h"

typedef struct options {
    run_options run;
    shape shape;
    bool simple; /* run after run by each rank, not by collective calls through a view */
    int repeat, steps;
    bool verify, read, write;
} options;

typedef struct job {
    const options *o;
    part own;
    char *data;
} job;

/* ---- options ---- */

enum { KEY_STEPS = 0x600, KEY_VARIANT };

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case 'n': o->repeat = (int)shape_parse_number(state, "--repeat", text, 1); break;
    case KEY_STEPS: o->steps = (int)shape_parse_number(state, "--steps", text, 1); break;
    case KEY_VARIANT:
        o->simple = strcmp(text, "simple") == 0;
        if (!o->simple && strcmp(text, "full") != 0)
            argp_error(state, "--variant wants full or simple, not '%s'", text);
        break;
    case 'v': o->verify = true; break;
    case 'r': o->write = false; break;
    case 'w': o->read = false; break;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->shape;
        state->child_inputs[1] = &o->run;
        break;
    case ARGP_KEY_ARG: argp_usage(state); break;
    case ARGP_KEY_END:
        if (!o->read && !o->write)
            argp_error(state, "--read-only and --write-only exclude each other");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option option_table[] = {
    {"repeat", 'n', "R", 0, "Repetitions of each operation (1)", 0},
    {"steps", KEY_STEPS, "N", 0,
     "Calls in each, one array after the other in the file (1; BT-IO: 40 or 250)", 0},
    {"variant", KEY_VARIANT, "full|simple", 0,
     "By collective calls through a view, or by each rank alone, one call for each contiguous run "
     "(full)",
     0},
    {"verify", 'v', NULL, 0, "Check every byte of the file and of every buffer", 0},
    {"read-only", 'r', NULL, 0, "Only read a file that an earlier run wrote", 0},
    {"write-only", 'w', NULL, 0, "Only write", 0},
    {0},
};

static const char csv_columns[] =
    "\v--csv prints one line: "
    "label,size,grid,ranks,bytes,repeat,write_min_s,write_median_s,write_MB/s,"
    "read_min_s,read_median_s,read_MB/s,verified; bytes of all steps, size and cells of one; MB/s "
    "(1e6 bytes) "
    "of the shortest time, empty where not run.";

static void parse_options(options *o, int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&shape_argp, 0, "What is accessed:", 1}, {&run_argp, 0, "How it is run:", 2}, {0}};
    char *doc;
    if (asprintf(&doc, "Write and read %s.%s", o->shape.kind->note, csv_columns) < 0)
        fail("memory", strerror(ENOMEM));
    const struct argp parser = {
        .options = option_table, .parser = parse_option, .doc = doc, .children = children};
    argp_parse(&parser, argc, argv, 0, NULL, o);
    free(doc);
}

/* ---- one operation ---- */

static MPI_File open_file(const job *j, int mode)
{
    MPI_File file;
    MPI_Info info = make_hints(&j->o->run);
    check_mpi(MPI_File_open(MPI_COMM_WORLD, j->o->run.file, mode, info, &file), j->o->run.file);
    if (!j->o->simple)
        check_mpi(
            MPI_File_set_view(file, 0, j->own.types.element, j->own.types.view, "native", info),
            "MPI_File_set_view");
    MPI_Info_free(&info);
    return file;
}

static void require(int code, const char *operation, MPI_Status *status, MPI_Datatype type,
                    int wanted)
{
    int count;
    check_mpi(code, operation);
    MPI_Get_count(status, type, &count);
    if (count != wanted)
        fail(operation, "fewer elements transferred than asked for");
}

/* The view goes on behind the array: the next call's data follow. */
static void access_collectively(const job *j, MPI_File file, bool write)
{
    MPI_Status status;
    int count = j->own.types.count;
    MPI_Datatype type = j->own.types.memory;
    int code = write ? MPI_File_write_all(file, j->data, count, type, &status)
                     : MPI_File_read_all(file, j->data, count, type, &status);
    require(code, write ? "MPI_File_write_all" : "MPI_File_read_all", &status, type, count);
}

static void access_run_by_run(const job *j, MPI_File file, int64_t base, bool write)
{
    access_cursor cursor;
    access_piece piece;
    MPI_Status status;
    MPI_Datatype type = j->own.types.element;
    access_cursor_init(&cursor, &j->own.file);
    while (access_take_piece(&cursor, ACCESS_END, &piece)) {
        char *data = j->data + piece.stream;
        int count = (int)(piece.length / j->own.array.element);
        MPI_Offset at = base + piece.offset;
        int code = write ? MPI_File_write_at(file, at, data, count, type, &status)
                         : MPI_File_read_at(file, at, data, count, type, &status);
        require(code, write ? "MPI_File_write_at" : "MPI_File_read_at", &status, type, count);
    }
}

static double timed_access(const job *j, MPI_File file, int64_t base, bool write)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime();
    if (j->o->simple)
        access_run_by_run(j, file, base, write);
    else
        access_collectively(j, file, write);
    return slowest(MPI_Wtime() - seconds);
}

/* What the last write left. */
static void check_read(const job *j, int64_t base)
{
    char *wanted = take_memory((size_t)j->own.bytes, 1);
    fill_list(&j->own.file, wanted, base, 0);
    if (!check_bytes("read", "buffer", j->data, wanted, j->own.bytes, 0))
        MPI_Abort(MPI_COMM_WORLD, 1);
    free(wanted);
}

/* All steps; the seconds of their accesses. */
static double write_or_read(const job *j, bool write, uint64_t filling)
{
    double seconds = 0;
    MPI_File file = open_file(j, write ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY);
    for (int step = 0; step < j->o->steps; step++) {
        int64_t base = step * j->own.array.bytes;
        memset(j->data, 0xff, (size_t)j->own.bytes);
        if (write)
            fill_list(&j->own.file, j->data, base, filling);
        seconds += timed_access(j, file, base, write);
        if (!write && j->o->verify)
            check_read(j, base);
    }
    check_mpi(MPI_File_close(&file), "MPI_File_close");
    return seconds;
}

/* ---- all of them ---- */

static int64_t file_bytes(const job *j)
{
    int64_t bytes;
    if (__builtin_mul_overflow(j->own.array.bytes, (int64_t)j->o->steps, &bytes))
        fail("--steps", "the file is too large");
    return bytes;
}

/* A longer file of an earlier run would keep its tail. */
static void shorten_file(const job *j)
{
    struct stat status;
    const char *path = j->o->run.file;
    if (world_rank == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size > (off_t)file_bytes(j) && truncate(path, (off_t)file_bytes(j)) != 0)
        fail(path, strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void repeat_write(const job *j, double *seconds)
{
    shorten_file(j);
    for (int i = 0; i < j->o->repeat; i++) {
        if (j->o->run.fresh)
            remove_file(j->o->run.file);
        /* The last write always leaves the same file, and one that was lost shows. */
        uint64_t filling = (uint64_t)(j->o->repeat - 1 - i);
        seconds[i] = write_or_read(j, true, filling);
        if (j->o->verify && !check_file(j->o->run.file, "write", file_bytes(j), filling, -1))
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void print_times(const job *j, const char *operation, bool ran, double *seconds)
{
    const run_options *run = &j->o->run;
    times t = summarise(seconds, j->o->repeat);
    double bytes = (double)file_bytes(j);
    if (!ran)
        printf("%s", run->csv ? ",,," : "");
    else if (run->csv)
        printf(",%.6f,%.6f,%.1f", t.least, t.median, bytes / t.least / 1e6);
    else
        printf("%-12s %-5s min %.6f s  median %.6f s  %.1f MB/s\n", run->label, operation, t.least,
               t.median, bytes / t.least / 1e6);
}

static void report(const job *j, double *write, double *read)
{
    char size[SHAPE_DIMS_TEXT], cells[SHAPE_DIMS_TEXT];
    shape_print_dims(j->own.array.size, j->own.array.dims, size);
    shape_print_dims(j->own.array.cells, j->own.array.dims, cells);
    if (j->o->run.csv)
        printf("%s,%s,%s,%d,%" PRId64 ",%d", j->o->run.label, size, cells, world_size,
               file_bytes(j), j->o->repeat);
    print_times(j, "write", j->o->write, write);
    print_times(j, "read", j->o->read, read);
    if (j->o->run.csv)
        printf(",%s\n", j->o->verify ? "yes" : "no");
}

int main(int argc, char **argv)
{
    options o = {.shape = {.kind = shape_find(KIND)},
                 .run = {.file = KIND ".out", .label = KIND},
                 .repeat = 1,
                 .steps = 1,
                 .read = true,
                 .write = true};
    job j = {.o = &o};
    parse_options(&o, argc, argv);
    parallel_start(&argc, &argv);
    part_make(&j.own, &o.shape);
    j.data = take_memory((size_t)j.own.bytes, 1);
    (void)file_bytes(&j);
    double *write = take_memory((size_t)o.repeat, sizeof *write);
    double *read = take_memory((size_t)o.repeat, sizeof *read);
    if (o.write)
        repeat_write(&j, write);
    for (int i = 0; o.read && i < o.repeat; i++)
        read[i] = write_or_read(&j, false, 0);
    /* The result is printed only when no rank has failed a check. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        report(&j, write, read);
    free(read);
    free(write);
    free(j.data);
    part_release(&j.own);
    MPI_Finalize();
    return 0;
}
