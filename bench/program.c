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
#include "shape.h"

/* How the file is accessed: by collective calls through a view, or run after run by each rank. */
typedef enum variant { FULL, SIMPLE } variant;

typedef struct options {
    run_options run;
    shape shape;
    variant variant;
    int repeat, steps;
    bool verify, read, write;
} options;

typedef struct job {
    const options *o;
    decomposition array;
    part own;
    part_types types;
    char *data;
} job;

/* ---- options ---- */

enum { KEY_STEPS = 0x600, KEY_VARIANT };

static void take_variant(struct argp_state *state, const char *text, variant *v)
{
    if (strcmp(text, "full") != 0 && strcmp(text, "simple") != 0)
        argp_error(state, "--variant wants full or simple, not '%s'", text);
    *v = strcmp(text, "full") == 0 ? FULL : SIMPLE;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case 'n': o->repeat = (int)shape_parse_number(state, "--repeat", text, 1); break;
    case KEY_STEPS: o->steps = (int)shape_parse_number(state, "--steps", text, 1); break;
    case KEY_VARIANT: take_variant(state, text, &o->variant); break;
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

/* The last write always leaves the same file, and one that was lost shows. */
static uint64_t filling_of(const options *o, int repetition)
{
    return (uint64_t)(o->repeat - 1 - repetition);
}

static MPI_File open_file(const job *j, int mode)
{
    MPI_File file;
    MPI_Info info = make_hints(&j->o->run);
    check_mpi(MPI_File_open(MPI_COMM_WORLD, j->o->run.file, mode, info, &file), j->o->run.file);
    if (j->o->variant == FULL)
        check_mpi(MPI_File_set_view(file, 0, j->types.element, j->types.view, "native", info),
                  "MPI_File_set_view");
    MPI_Info_free(&info);
    return file;
}

static void require_count(MPI_Status *status, MPI_Datatype type, int64_t wanted,
                          const char *operation)
{
    int count;
    MPI_Get_count(status, type, &count);
    if (count != wanted)
        fail(operation, "fewer elements transferred than asked for");
}

/* The view goes on behind the array: the next call's data follow. */
static void access_collectively(const job *j, MPI_File file, bool write)
{
    MPI_Status status;
    const char *name = write ? "MPI_File_write_all" : "MPI_File_read_all";
    int code = write ? MPI_File_write_all(file, j->data, j->types.count, j->types.memory, &status)
                     : MPI_File_read_all(file, j->data, j->types.count, j->types.memory, &status);
    check_mpi(code, name);
    require_count(&status, j->types.memory, j->types.count, name);
}

static void access_run_by_run(const job *j, MPI_File file, int64_t base, bool write)
{
    access_cursor cursor;
    access_piece piece;
    MPI_Status status;
    const char *name = write ? "MPI_File_write_at" : "MPI_File_read_at";
    access_cursor_init(&cursor, &j->own.file);
    while (access_take_piece(&cursor, ACCESS_END, &piece)) {
        char *data = j->data + piece.stream;
        int count = (int)(piece.length / j->array.element);
        MPI_Offset at = base + piece.offset;
        check_mpi(write ? MPI_File_write_at(file, at, data, count, j->types.element, &status)
                        : MPI_File_read_at(file, at, data, count, j->types.element, &status),
                  name);
        require_count(&status, j->types.element, count, name);
    }
}

static double timed_access(const job *j, MPI_File file, int64_t base, bool write)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime();
    if (j->o->variant == FULL)
        access_collectively(j, file, write);
    else
        access_run_by_run(j, file, base, write);
    return slowest(MPI_Wtime() - seconds);
}

static double write_steps(const job *j, uint64_t filling)
{
    double seconds = 0;
    MPI_File file = open_file(j, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    for (int step = 0; step < j->o->steps; step++) {
        fill_list(&j->own.file, j->data, step * j->array.bytes, filling);
        seconds += timed_access(j, file, step * j->array.bytes, true);
    }
    check_mpi(MPI_File_close(&file), "MPI_File_close");
    return seconds;
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

static double read_steps(const job *j)
{
    double seconds = 0;
    MPI_File file = open_file(j, MPI_MODE_RDONLY);
    for (int step = 0; step < j->o->steps; step++) {
        memset(j->data, 0xff, (size_t)j->own.bytes);
        seconds += timed_access(j, file, step * j->array.bytes, false);
        if (j->o->verify)
            check_read(j, step * j->array.bytes);
    }
    check_mpi(MPI_File_close(&file), "MPI_File_close");
    return seconds;
}

/* ---- all of them ---- */

static int64_t file_bytes(const job *j)
{
    int64_t bytes;
    if (__builtin_mul_overflow(j->array.bytes, (int64_t)j->o->steps, &bytes))
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
        seconds[i] = write_steps(j, filling_of(j->o, i));
        if (j->o->verify &&
            !check_file(j->o->run.file, "write", file_bytes(j), filling_of(j->o, i), -1))
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
    shape_print_dims(j->array.size, j->array.dims, size);
    shape_print_dims(j->array.cells, j->array.dims, cells);
    if (j->o->run.csv)
        printf("%s,%s,%s,%d,%" PRId64 ",%d", j->o->run.label, size, cells, world_size,
               file_bytes(j), j->o->repeat);
    print_times(j, "write", j->o->write, write);
    print_times(j, "read", j->o->read, read);
    if (j->o->run.csv)
        printf(",%s\n", j->o->verify ? "yes" : "no");
}

static void start_job(job *j)
{
    const char *wrong = shape_make(&j->o->shape, (size_t)world_size, &j->array);
    if (wrong != NULL)
        refuse("--size, --grid", wrong);
    wrong = part_make(&j->own, &j->array, (size_t)world_rank, (part_form){0});
    if (wrong != NULL)
        fail("--size, --grid", wrong);
    (void)file_bytes(j);
    j->types = part_make_types(&j->own);
    j->data = take_memory((size_t)j->own.bytes, 1);
}

static void end_job(job *j)
{
    free(j->data);
    part_free_types(&j->types);
    part_release(&j->own);
    decomposition_release(&j->array);
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
    start_job(&j);
    double *write = take_memory((size_t)o.repeat, sizeof *write);
    double *read = take_memory((size_t)o.repeat, sizeof *read);
    if (o.write)
        repeat_write(&j, write);
    for (int i = 0; o.read && i < o.repeat; i++)
        read[i] = read_steps(&j);
    /* The result is printed only when no rank has failed a check. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        report(&j, write, read);
    free(read);
    free(write);
    end_job(&j);
    MPI_Finalize();
    return 0;
}
