/* SPDX-License-Identifier: BSD-3-Clause */
/* cube: writes and reads a 3-D array of doubles, cut into blocks over a process grid, by
 * collective MPI-IO; times every operation and, on request, checks every byte. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_HINTS 32
#define CHECK_PIECE ((size_t)1 << 17) /* doubles compared at a time */

struct options {
    int size[3];
    int grid[3]; /* all 0: MPI_Dims_create decides */
    const char *file;
    const char *label;
    const char *hint[MAX_HINTS];
    int hints;
    int repeat;
    bool verify, read, write, fresh, csv;
};

/* This rank's part of the array: the half-open box start .. start + count. */
struct block {
    int start[3], count[3];
    int elements;
};

struct times {
    double *seconds; /* of each repetition, the slowest rank's */
    double least, median;
};

static int world_rank, world_size;

static void fail(const char *what, const char *detail)
{
    fprintf(stderr, "cube: rank %d: %s: %s\n", world_rank, what, detail);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void check_mpi(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    fail(what, text);
}

static bool parse_three(const char *text, int three[3])
{
    char rest;
    return sscanf(text, "%dx%dx%d%c", &three[0], &three[1], &three[2], &rest) == 3 && three[0] > 0 &&
           three[1] > 0 && three[2] > 0;
}

static bool parse_positive(const char *text, int *number)
{
    char rest;
    return sscanf(text, "%d%c", number, &rest) == 1 && *number > 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 's':
        if (parse_positive(text, &o->size[0]))
            o->size[1] = o->size[2] = o->size[0];
        else if (!parse_three(text, o->size))
            argp_error(state, "--size wants N or NxNxN, not '%s'", text);
        break;
    case 'g':
        if (!parse_three(text, o->grid))
            argp_error(state, "--grid wants AxBxC, not '%s'", text);
        break;
    case 'n':
        if (!parse_positive(text, &o->repeat))
            argp_error(state, "--repeat wants a positive number, not '%s'", text);
        break;
    case 'H':
        if (strchr(text, '=') == NULL || text[0] == '=' || o->hints == MAX_HINTS)
            argp_error(state, "--hint wants KEY=VALUE, at most %d times, not '%s'", MAX_HINTS, text);
        o->hint[o->hints++] = text;
        break;
    case 'f': o->file = text; break;
    case 'l': o->label = text; break;
    case 'v': o->verify = true; break;
    case 'r': o->write = false; break;
    case 'w': o->read = false; break;
    case 'F': o->fresh = true; break;
    case 'c': o->csv = true; break;
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
    {"size", 's', "N|NxNxN", 0, "Elements of the array in each dimension, slowest first (256)", 0},
    {"grid", 'g', "AxBxC", 0, "Process grid, ranks in C order (MPI_Dims_create)", 0},
    {"file", 'f', "FILE", 0, "File to write and read (cube.out)", 0},
    {"repeat", 'n', "R", 0, "Repetitions of each operation (1)", 0},
    {"verify", 'v', NULL, 0, "Check every byte of the file and of every buffer", 0},
    {"read-only", 'r', NULL, 0, "Only read a file that an earlier run wrote", 0},
    {"write-only", 'w', NULL, 0, "Only write", 0},
    {"fresh", 'F', NULL, 0, "Remove the file before each write (else overwrite it)", 0},
    {"hint", 'H', "KEY=VALUE", 0, "MPI-IO hint for opening the file; may be repeated", 0},
    {"csv", 'c', NULL, 0,
     "One line: label,size,grid,ranks,bytes,repeat,write_min_s,write_median_s,write_MB/s,"
     "read_min_s,read_median_s,read_MB/s,verified; MB/s (1e6 bytes) of the shortest time, "
     "empty where not run", 0},
    {"label", 'l', "TEXT", 0, "First column of the output (cube)", 0},
    {0},
};

static struct options parse_options(int argc, char **argv)
{
    static const struct argp parser = {
        option_table, parse_option, NULL,
        "Write and read a 3-D array of doubles collectively, time it and check it.", NULL, NULL, NULL};
    struct options o = {.size = {256, 256, 256}, .file = "cube.out", .label = "cube",
                        .repeat = 1, .read = true, .write = true};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    return o;
}

static void complete_grid(struct options *o)
{
    if (o->grid[0] == 0)
        MPI_Dims_create(world_size, 3, o->grid);
    if ((int64_t)o->grid[0] * o->grid[1] * o->grid[2] != world_size)
        fail("--grid", "its product is not the number of ranks");
    for (int d = 0; d < 3; d++)
        if (o->size[d] < o->grid[d])
            fail("--size", "fewer elements than ranks in a dimension");
}

static int64_t array_elements(const struct options *o)
{
    int64_t elements;
    if (__builtin_mul_overflow((int64_t)o->size[0] * o->size[1], (int64_t)o->size[2], &elements) ||
        elements > INT64_MAX / (int64_t)sizeof(double))
        fail("--size", "the array is too large");
    return elements;
}

static struct block own_block(const struct options *o)
{
    int coordinate[3] = {world_rank / (o->grid[1] * o->grid[2]), world_rank / o->grid[2] % o->grid[1],
                         world_rank % o->grid[2]};
    struct block b;
    int64_t elements = 1;
    for (int d = 0; d < 3; d++) {
        int64_t n = o->size[d], parts = o->grid[d], c = coordinate[d];
        b.start[d] = (int)(n * c / parts);
        b.count[d] = (int)(n * (c + 1) / parts) - b.start[d];
        elements *= b.count[d];
        if (elements > INT_MAX)
            fail("--size", "a rank's block has more elements than an int counts; use more ranks");
    }
    b.elements = (int)elements;
    return b;
}

/* What the element holds after the write that `writes_left` more writes follow, so that a
 * write that was lost shows, and the last write always leaves the same file. The third
 * fills all bytes of the mantissa; neighbours stay distinct up to 2^52. */
static double element_value(int64_t index, int64_t elements, int writes_left)
{
    return (double)(index + 1 + elements * writes_left) / 3.0;
}

static int64_t block_row_start(const struct options *o, const struct block *b, int i, int j)
{
    return ((int64_t)(b->start[0] + i) * o->size[1] + b->start[1] + j) * o->size[2] + b->start[2];
}

static void fill_block(const struct options *o, const struct block *b, double *data, int writes_left)
{
    int64_t elements = array_elements(o);
    for (int i = 0; i < b->count[0]; i++)
        for (int j = 0; j < b->count[1]; j++) {
            int64_t first = block_row_start(o, b, i, j);
            for (int k = 0; k < b->count[2]; k++)
                *data++ = element_value(first + k, elements, writes_left);
        }
}

/* Bit for bit, as == would take -0 for 0. */
static void compare_element(double got, int64_t index, int64_t elements, int writes_left, const char *where)
{
    double want = element_value(index, elements, writes_left);
    if (memcmp(&got, &want, sizeof got) == 0)
        return;
    char detail[160];
    snprintf(detail, sizeof detail, "element %" PRId64 " (byte %" PRId64 ") is %.17g, not %.17g", index,
             index * (int64_t)sizeof got, got, want);
    fail(where, detail);
}

static void check_block(const struct options *o, const struct block *b, const double *data)
{
    int64_t elements = array_elements(o);
    for (int i = 0; i < b->count[0]; i++)
        for (int j = 0; j < b->count[1]; j++) {
            int64_t first = block_row_start(o, b, i, j);
            for (int k = 0; k < b->count[2]; k++)
                compare_element(*data++, first + k, elements, 0, "wrong data read");
        }
}

static void read_fully(int fd, void *buffer, size_t bytes, int64_t offset)
{
    char *to = buffer;
    while (bytes > 0) {
        ssize_t got = pread(fd, to, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            fail("cannot read the file back", got < 0 ? strerror(errno) : "unexpected end of file");
        to += got;
        offset += got;
        bytes -= (size_t)got;
    }
}

/* Each rank its p-th contiguous part, without MPI-IO. */
static void check_file(const struct options *o, int writes_left)
{
    int64_t elements = array_elements(o);
    int64_t index = elements / world_size * world_rank;
    int64_t end = world_rank == world_size - 1 ? elements : index + elements / world_size;
    double *piece = malloc(CHECK_PIECE * sizeof *piece);
    int fd = open(o->file, O_RDONLY);
    struct stat status;
    if (piece == NULL || fd < 0 || fstat(fd, &status) != 0)
        fail(o->file, strerror(errno));
    if (status.st_size != (off_t)(elements * (int64_t)sizeof *piece))
        fail(o->file, "the file has the wrong size");
    while (index < end) {
        size_t count = end - index < (int64_t)CHECK_PIECE ? (size_t)(end - index) : CHECK_PIECE;
        read_fully(fd, piece, count * sizeof *piece, index * (int64_t)sizeof *piece);
        for (size_t i = 0; i < count; i++)
            compare_element(piece[i], index + (int64_t)i, elements, writes_left, "wrong data in the file");
        index += (int64_t)count;
    }
    close(fd);
    free(piece);
}

static MPI_Info make_hints(const struct options *o)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (int h = 0; h < o->hints; h++) {
        char key[MPI_MAX_INFO_KEY + 1];
        const char *equals = strchr(o->hint[h], '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - o->hint[h]), o->hint[h]);
        MPI_Info_set(info, key, equals + 1);
    }
    return info;
}

static MPI_File open_view(const struct options *o, const struct block *b, int mode)
{
    MPI_File file;
    MPI_Datatype filetype;
    MPI_Info info = make_hints(o);
    MPI_Type_create_subarray(3, o->size, b->count, b->start, MPI_ORDER_C, MPI_DOUBLE, &filetype);
    MPI_Type_commit(&filetype);
    check_mpi(MPI_File_open(MPI_COMM_WORLD, o->file, mode, info, &file), o->file);
    check_mpi(MPI_File_set_view(file, 0, MPI_DOUBLE, filetype, "native", info), "MPI_File_set_view");
    MPI_Type_free(&filetype);
    MPI_Info_free(&info);
    return file;
}

static void require_count(MPI_Status *status, int wanted, const char *operation)
{
    int count;
    MPI_Get_count(status, MPI_DOUBLE, &count);
    if (count != wanted)
        fail(operation, "fewer elements transferred than asked for");
}

static double slowest(double seconds)
{
    double most;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static double timed_write(const struct options *o, const struct block *b, const double *data)
{
    MPI_Status status;
    MPI_File file = open_view(o, b, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime();
    int code = MPI_File_write_all(file, data, b->elements, MPI_DOUBLE, &status);
    seconds = MPI_Wtime() - seconds;
    check_mpi(code, "MPI_File_write_all");
    require_count(&status, b->elements, "MPI_File_write_all");
    check_mpi(MPI_File_close(&file), "MPI_File_close");
    return slowest(seconds);
}

static double timed_read(const struct options *o, const struct block *b, double *data)
{
    MPI_Status status;
    MPI_File file = open_view(o, b, MPI_MODE_RDONLY);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime();
    int code = MPI_File_read_all(file, data, b->elements, MPI_DOUBLE, &status);
    seconds = MPI_Wtime() - seconds;
    check_mpi(code, "MPI_File_read_all");
    require_count(&status, b->elements, "MPI_File_read_all");
    check_mpi(MPI_File_close(&file), "MPI_File_close");
    return slowest(seconds);
}

static void remove_file(const struct options *o)
{
    if (world_rank == 0 && unlink(o->file) != 0 && errno != ENOENT)
        fail(o->file, strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A longer file of an earlier run would keep its tail. */
static void shorten_file(const struct options *o)
{
    off_t bytes = (off_t)(array_elements(o) * (int64_t)sizeof(double));
    struct stat status;
    if (world_rank == 0 && stat(o->file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > bytes &&
        truncate(o->file, bytes) != 0)
        fail(o->file, strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
}

static void repeat_write(const struct options *o, const struct block *b, double *data, struct times *t)
{
    shorten_file(o);
    for (int i = 0; i < o->repeat; i++) {
        int writes_left = o->repeat - 1 - i;
        fill_block(o, b, data, writes_left);
        if (o->fresh)
            remove_file(o);
        t->seconds[i] = timed_write(o, b, data);
        if (o->verify)
            check_file(o, writes_left);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void repeat_read(const struct options *o, const struct block *b, double *data, struct times *t)
{
    for (int i = 0; i < o->repeat; i++) {
        memset(data, 0xff, (size_t)b->elements * sizeof *data);
        t->seconds[i] = timed_read(o, b, data);
        if (o->verify)
            check_block(o, b, data);
    }
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void summarise(struct times *t, int repeat)
{
    qsort(t->seconds, (size_t)repeat, sizeof *t->seconds, compare_doubles);
    t->least = t->seconds[0];
    t->median = (t->seconds[(repeat - 1) / 2] + t->seconds[repeat / 2]) / 2;
}

static void print_times(const struct options *o, const char *operation, const struct times *t, double bytes)
{
    if (o->csv)
        printf(",%.6f,%.6f,%.1f", t->least, t->median, bytes / t->least / 1e6);
    else
        printf("%-12s %-5s min %.6f s  median %.6f s  %.1f MB/s\n", o->label, operation, t->least, t->median,
               bytes / t->least / 1e6);
}

static void report(const struct options *o, struct times *write, struct times *read)
{
    double bytes = (double)array_elements(o) * sizeof(double);
    if (o->csv)
        printf("%s,%dx%dx%d,%dx%dx%d,%d,%.0f,%d", o->label, o->size[0], o->size[1], o->size[2], o->grid[0],
               o->grid[1], o->grid[2], world_size, bytes, o->repeat);
    if (o->write)
        print_times(o, "write", write, bytes);
    else if (o->csv)
        printf(",,,");
    if (o->read)
        print_times(o, "read", read, bytes);
    else if (o->csv)
        printf(",,,");
    if (o->csv)
        printf(",%s\n", o->verify ? "yes" : "no");
}

static void run(const struct options *o)
{
    struct block b = own_block(o);
    struct times write = {0}, read = {0};
    double *data = malloc((size_t)b.elements * sizeof *data);
    write.seconds = calloc((size_t)o->repeat, sizeof(double));
    read.seconds = calloc((size_t)o->repeat, sizeof(double));
    if (data == NULL || write.seconds == NULL || read.seconds == NULL)
        fail("the block", strerror(ENOMEM));
    if (o->write)
        repeat_write(o, &b, data, &write);
    if (o->read)
        repeat_read(o, &b, data, &read);
    summarise(&write, o->repeat);
    summarise(&read, o->repeat);
    /* The result is printed only when no rank has failed a check. */
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        report(o, &write, &read);
    free(read.seconds);
    free(write.seconds);
    free(data);
}

int main(int argc, char **argv)
{
    struct options o = parse_options(argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    complete_grid(&o);
    array_elements(&o);
    run(&o);
    MPI_Finalize();
    return 0;
}
