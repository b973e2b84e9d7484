/* SPDX-License-Identifier: BSD-3-Clause */
/* contest: writes and reads one array by several ways in turn, all inside one set of processes, so
 * that noise meets all of them alike; checks every byte and prints times and their ratios. */
#include "contest.h"
#include "measure.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_WAYS 24
#define CHECK_PIECE ((int64_t)1 << 20) /* bytes compared at a time */

enum { WRITE, READ, OPERATIONS };
static const char *const operation_name[OPERATIONS] = {"write", "read"};

struct options {
    pattern pattern;
    const char *file, *label;
    char *ways;
    const char *hint[MAX_HINTS];
    int hints, rounds, calls;
    bool verify, fresh, csv, ask;
};

struct result {
    double *seconds; /* of each counted round, the slowest rank's */
    double least, median;
};

struct entry {
    way way;
    bool right;
    int64_t extra_bytes; /* peak memory of any rank over its size before; -1: not known */
    struct result result[OPERATIONS];
    struct statistics statistics[OPERATIONS]; /* of later uses */
    struct statistics first[OPERATIONS];      /* of the first */
};

static int world_rank, world_size;

void fail(const char *what, const char *detail)
{
    fprintf(stderr, "contest: rank %d: %s: %s\n", world_rank, what, detail);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void check_mpi(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    fail(what, text);
}

void *take_memory(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL)
        fail("memory", strerror(ENOMEM));
    return memory;
}

/* ---- options ---- */

/* "256x256x256"; the number of dimensions, 0 when it is none of that. */
static int parse_dims(const char *text, int64_t value[PATTERN_DIMS])
{
    for (int d = 0; d < PATTERN_DIMS; d++) {
        char *end;
        errno = 0;
        value[d] = strtoll(text, &end, 10);
        if (end == text || errno != 0 || value[d] <= 0 || value[d] > INT_MAX)
            return 0;
        if (*end == '\0')
            return d + 1;
        if (*end != 'x')
            return 0;
        text = end + 1;
    }
    return 0;
}

static int64_t parse_number(struct argp_state *state, const char *option, const char *text, int64_t least)
{
    char *end;
    errno = 0;
    int64_t value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < least || value > INT_MAX)
        argp_error(state, "%s wants a number of at least %" PRId64 ", not '%s'", option, least, text);
    return value;
}

enum { KEY_CALLS = 256, KEY_TILED, KEY_HALO, KEY_NO_VERIFY, KEY_ASK };

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    int64_t grid[PATTERN_DIMS];
    switch (key) {
    case 's':
        o->pattern.dims = parse_dims(text, o->pattern.size);
        if (o->pattern.dims == 0)
            argp_error(state, "--size wants up to four numbers like 64x64x64, not '%s'", text);
        break;
    case 'g':
        if (parse_dims(text, grid) != o->pattern.dims)
            argp_error(state, "--grid comes after --size and has as many numbers, not '%s'", text);
        memcpy(o->pattern.grid, grid, sizeof grid);
        break;
    case 'e': o->pattern.element = parse_number(state, "--element", text, 1); break;
    case KEY_HALO: o->pattern.halo = parse_number(state, "--halo", text, 0); break;
    case KEY_TILED: o->pattern.tiled = true; break;
    case 'n': o->rounds = (int)parse_number(state, "--rounds", text, 0); break;
    case KEY_CALLS: o->calls = (int)parse_number(state, "--calls", text, 1); break;
    case 'H':
        if (strchr(text, '=') == NULL || text[0] == '=' || o->hints == MAX_HINTS)
            argp_error(state, "--hint wants KEY=VALUE, at most %d times, not '%s'", MAX_HINTS, text);
        o->hint[o->hints++] = text;
        break;
    case 'w': o->ways = text; break;
    case 'f': o->file = text; break;
    case 'l': o->label = text; break;
    case KEY_NO_VERIFY: o->verify = false; break;
    case 'F': o->fresh = true; break;
    case 'c': o->csv = true; break;
    case KEY_ASK: o->ask = true; break;
    case ARGP_KEY_ARG: argp_usage(state); break;
    case ARGP_KEY_END:
        if (o->pattern.grid[0] == 0)
            argp_error(state, "--grid is missing");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option option_table[] = {
    {"size", 's', "AxBx...", 0, "Elements of the array in each dimension, slowest first (256x256x256)", 0},
    {"grid", 'g', "AxBx...", 0, "Ranks in each dimension", 0},
    {"element", 'e', "BYTES", 0, "Bytes of an element (8, as doubles)", 0},
    {"tiled", KEY_TILED, NULL, 0, "The first dimension is made by repeating the file type", 0},
    {"halo", KEY_HALO, "N", 0, "Elements around the block in memory (0)", 0},
    {"contestants", 'w', "LIST", 0,
     "Separated by blanks (tatp vulcan dynamic_gen2 two_phase romio hand hand_warm floor; also "
     "dynamic and individual). tatp+num_aggregators=4,cycle_buffer_size=1048576 is tatp with other "
     "values of its fcoll_tatp_ parameters", 0},
    {"rounds", 'n', "N", 0, "Rounds that count, after one that does not (5); 0: only check and measure", 0},
    {"calls", KEY_CALLS, "N", 0, "Writes, then reads, in each round on the open file; their mean counts (1)", 0},
    {"file", 'f', "FILE", 0, "File to write and read (/dev/shm/contest)", 0},
    {"fresh", 'F', NULL, 0, "Remove the file before each contestant (else it is overwritten)", 0},
    {"hint", 'H', "KEY=VALUE", 0, "MPI-IO hint for all contestants that are MPI-IO; may be repeated", 0},
    {"no-verify", KEY_NO_VERIFY, NULL, 0, "Do not check the bytes of files and buffers", 0},
    {"csv", 'c', NULL, 0, "Comma-separated values with a header line in place of the table", 0},
    {"ask", KEY_ASK, NULL, 0,
     "Before and after one write and one read of each contestant print '@CONTESTANT OPERATION "
     "begin' (or end) and wait for a line of input, so that a caller can count bytes on links", 0},
    {"label", 'l', "TEXT", 0, "First column of the output (contest)", 0},
    {0},
};

static struct options parse_options(int argc, char **argv)
{
    static char all[] = "tatp vulcan dynamic_gen2 two_phase romio hand hand_warm floor";
    static const struct argp parser = {
        option_table, parse_option, NULL,
        "Write and read an array collectively in several ways; compare the times.", NULL, NULL, NULL};
    struct options o = {.pattern = {.dims = 3, .size = {256, 256, 256}, .element = 8}, .ways = all,
                        .file = "/dev/shm/contest", .label = "contest", .rounds = 5, .calls = 1,
                        .verify = true};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    return o;
}

/* ---- the problem ---- */

static void make_problem(const struct options *o, problem *p)
{
    *p = (problem){.pattern = o->pattern, .rank = world_rank, .ranks = world_size, .file = o->file,
                   .hints = o->hints, .filling = 1};
    memcpy(p->hint, o->hint, sizeof p->hint);
    const char *wrong = pattern_complete(&p->pattern, world_size);
    if (wrong == NULL)
        wrong = pattern_block(&p->pattern, world_rank, &p->own);
    if (wrong != NULL)
        fail("--size, --grid", wrong);
    pattern_types(&p->pattern, &p->own, &p->element, &p->view, &p->memory, &p->count);
    p->data = take_memory((size_t)p->own.memory_bytes, 1);
    fill_block(&p->pattern, &p->own, p->data, p->filling);
}

static void free_problem(problem *p)
{
    MPI_Type_free(&p->element);
    MPI_Type_free(&p->view);
    MPI_Type_free(&p->memory);
    free(p->data);
}

static void remove_file(const problem *p)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (p->rank == 0 && unlink(p->file) != 0 && errno != ENOENT)
        fail(p->file, strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
}

static int find_ways(const struct options *o, struct entry *entries)
{
    char *rest = o->ways, *name;
    int count = 0;
    while ((name = strsep(&rest, " ")) != NULL) {
        struct entry e = {.right = true, .extra_bytes = -1};
        if (*name == '\0')
            continue;
        if (count == MAX_WAYS)
            fail("--contestants", "too many");
        if (mpiio_find(name, &e.way) || hand_find(name, &e.way))
            entries[count++] = e;
        else if (world_rank == 0)
            fprintf(stderr, "contest: %s is not possible here and left out\n", name);
    }
    return count;
}

/* ---- checking ---- */

static bool everywhere(bool right)
{
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
    return right;
}

static bool say_wrong(const char *name, const char *where, int64_t offset)
{
    fprintf(stderr, "contest: %s: rank %d: wrong byte in the %s at offset %" PRId64 "\n", name, world_rank,
            where, offset);
    return false;
}

static bool same_bytes(const char *name, const char *where, const char *got, const char *wanted, int64_t bytes,
                       int64_t offset)
{
    int64_t i = 0;
    if (memcmp(got, wanted, (size_t)bytes) == 0)
        return true;
    while (got[i] == wanted[i])
        i++;
    return say_wrong(name, where, offset + i);
}

/* Each rank its contiguous part, without MPI-IO. */
static bool check_file(const problem *p, const char *name)
{
    char *got = take_memory((size_t)CHECK_PIECE, 1), *wanted = take_memory((size_t)CHECK_PIECE, 1);
    int fd = file_open(p->file, O_RDONLY);
    struct stat status;
    bool right = fstat(fd, &status) == 0 && status.st_size == (off_t)p->pattern.bytes;
    if (!right)
        fprintf(stderr, "contest: %s: rank %d: the file has the wrong size\n", name, p->rank);
    int64_t end = slab_start(p, p->rank + 1);
    for (int64_t at = slab_start(p, p->rank); right && at < end; at += CHECK_PIECE) {
        int64_t bytes = end - at < CHECK_PIECE ? end - at : CHECK_PIECE;
        file_read(fd, got, (size_t)bytes, at);
        fill_bytes(wanted, at, bytes, p->filling);
        right = same_bytes(name, "file", got, wanted, bytes, at);
    }
    close(fd);
    free(got);
    free(wanted);
    return right;
}

/* Also what lies between and around: a read may touch the access and nothing else. */
static bool check_memory(const problem *p, const char *name, int rest)
{
    char *wanted = take_memory((size_t)p->own.memory_bytes, 1);
    memset(wanted, rest, (size_t)p->own.memory_bytes);
    fill_block(&p->pattern, &p->own, wanted, p->filling);
    bool right = same_bytes(name, "buffer", p->data, wanted, p->own.memory_bytes, 0);
    free(wanted);
    return right;
}

/* With a filling of its own, so that bytes of the contestant before are seen to be wrong. */
static bool check_way(const struct options *o, problem *p, const way *w)
{
    const int rest = 0xa5;
    p->filling++;
    if (o->fresh)
        remove_file(p);
    fill_block(&p->pattern, &p->own, p->data, p->filling);
    void *opened = w->open(p, w);
    bool right = w->write(p, opened);
    MPI_Barrier(MPI_COMM_WORLD);
    right = check_file(p, w->name) && right;
    memset(p->data, rest, (size_t)p->own.memory_bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    right = w->read(p, opened) && right;
    w->close(p, opened);
    right = (w->own_buffer || check_memory(p, w->name, rest)) && right;
    return everywhere(right);
}

static bool check_ways(const struct options *o, problem *p, struct entry *entries, int count)
{
    bool right = true;
    for (int i = 0; o->verify && i < count; i++) {
        entries[i].right = check_way(o, p, &entries[i].way);
        right = right && entries[i].right;
    }
    fill_block(&p->pattern, &p->own, p->data, p->filling);
    return right;
}

/* ---- measuring ---- */

static double slowest(double seconds)
{
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

static double timed(problem *p, bool (*operation)(problem *, void *), void *opened, int calls)
{
    double sum = 0;
    for (int i = 0; i < calls; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double seconds = MPI_Wtime();
        (void)operation(p, opened);
        sum += slowest(MPI_Wtime() - seconds);
    }
    return sum / calls;
}

static void run_way(const struct options *o, problem *p, const way *w, double seconds[OPERATIONS])
{
    if (o->fresh)
        remove_file(p);
    void *opened = w->open(p, w);
    seconds[WRITE] = timed(p, w->write, opened, o->calls);
    seconds[READ] = timed(p, w->read, opened, o->calls);
    MPI_Barrier(MPI_COMM_WORLD);
    w->close(p, opened);
}

/* Each round begins with another contestant: the first may pay for what the last left behind. */
static void run_rounds(const struct options *o, problem *p, struct entry *entries, int count)
{
    for (int round = -1; round < o->rounds && o->rounds > 0; round++)
        for (int i = 0; i < count; i++) {
            struct entry *e = &entries[(i + round + count) % count];
            double seconds[OPERATIONS];
            run_way(o, p, &e->way, seconds);
            for (int op = 0; op < OPERATIONS && round >= 0; op++)
                e->result[op].seconds[round] = seconds[op];
        }
}

/* Statistics from now on, in a new file, or (the path as it was) no longer: they are read. */
static void begin_statistics(const struct options *o, const problem *p, const way *w, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%s.statistics", o->file);
    if (!mpiio_has_statistics(w))
        return;
    if (p->rank == 0)
        (void)unlink(path);
    mpiio_statistics(path);
}

static void end_statistics(const problem *p, const way *w, const char *path, struct statistics *s)
{
    if (!mpiio_has_statistics(w))
        return;
    mpiio_statistics(NULL);
    for (int op = 0; op < OPERATIONS && p->rank == 0; op++)
        s[op] = read_statistics(path, operation_name[op]);
    if (p->rank == 0)
        (void)unlink(path);
}

/* The first use of each contestant: its buffers are not there yet. */
static void measure_way(const struct options *o, problem *p, struct entry *e)
{
    const way *w = &e->way;
    char path[PATH_MAX];
    begin_statistics(o, p, w, path);
    int64_t before = memory_mark();
    void *opened = w->open(p, w);
    if (o->ask)
        ask_caller(w->name, operation_name[WRITE], "begin");
    (void)w->write(p, opened);
    if (o->ask)
        ask_caller(w->name, operation_name[WRITE], "end");
    MPI_Barrier(MPI_COMM_WORLD);
    if (o->ask)
        ask_caller(w->name, operation_name[READ], "begin");
    (void)w->read(p, opened);
    if (o->ask)
        ask_caller(w->name, operation_name[READ], "end");
    e->extra_bytes = memory_over(before);
    w->close(p, opened);
    end_statistics(p, w, path, e->first);
}

/* Statistics cost a call some microseconds, so that they are not taken in the rounds. */
static void observe_way(const struct options *o, problem *p, struct entry *e)
{
    char path[PATH_MAX];
    double seconds[OPERATIONS];
    if (!mpiio_has_statistics(&e->way) || o->rounds == 0)
        return;
    begin_statistics(o, p, &e->way, path);
    for (int i = 0; i < o->rounds; i++)
        run_way(o, p, &e->way, seconds);
    end_statistics(p, &e->way, path, e->statistics);
}

/* ---- reporting ---- */

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void summarise(struct result *r, int rounds)
{
    if (rounds == 0)
        return;
    qsort(r->seconds, (size_t)rounds, sizeof *r->seconds, compare_doubles);
    r->least = r->seconds[0];
    r->median = (r->seconds[(rounds - 1) / 2] + r->seconds[rounds / 2]) / 2;
}

static const char *verdict(const struct options *o, const struct entry *e)
{
    if (!o->verify)
        return "no";
    return e->right ? "yes" : "WRONG";
}

static void print_csv_line(const struct options *o, const problem *p, const struct entry *e, int op, int nodes)
{
    const struct result *r = &e->result[op];
    const struct statistics *s = &e->statistics[op];
    /* A contestant's name may hold commas. */
    printf("%s,\"%s\",%s,%d,%d,%" PRId64 ",%d,%.6f,%.6f,%.1f,%s,", o->label, e->way.name, operation_name[op],
           p->ranks, nodes, p->pattern.bytes, o->rounds, r->least, r->median,
           r->median > 0 ? (double)p->pattern.bytes / r->median / 1e6 : 0, verdict(o, e));
    if (e->extra_bytes >= 0)
        printf("%" PRId64, e->extra_bytes);
    if (s->lines > 0)
        printf(",%.0f,%.5f,%.5f,%.0f,%.0f\n", s->crossing_bytes, s->planning_share,
               e->first[op].planning_share, s->messages, e->first[op].metadata_bytes);
    else
        printf(",,,,,\n");
}

static void print_csv(const struct options *o, const problem *p, const struct entry *entries, int count, int nodes)
{
    printf("case,contestant,operation,ranks,nodes,bytes,rounds,min_s,median_s,MB_per_s,verified,"
           "extra_bytes,crossing_bytes,planning_share,first_planning_share,messages,metadata_bytes\n");
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            print_csv_line(o, p, &entries[i], op, nodes);
}

static void print_ratio(double part, double of)
{
    if (of > 0)
        printf(" %7.2f", part / of);
    else
        printf(" %7s", "-");
}

static void print_row(const struct options *o, const struct entry *e, const struct entry *first)
{
    printf("%-24s", e->way.name);
    for (int op = 0; op < OPERATIONS; op++) {
        printf(" %8.1f %8.1f", e->result[op].least * 1e3, e->result[op].median * 1e3);
        print_ratio(first->result[op].median, e->result[op].median);
    }
    if (e->extra_bytes >= 0)
        printf(" %8.1f %6s\n", (double)e->extra_bytes / 1e6, verdict(o, e));
    else
        printf(" %8s %6s\n", "-", verdict(o, e));
}

static void print_table(const struct options *o, const problem *p, const struct entry *entries, int count, int nodes)
{
    printf("%s: %.1f MB, %d ranks on %d nodes, %d rounds; milliseconds (least, median); ratio: "
           "median of %s over this one\n",
           o->label, (double)p->pattern.bytes / 1e6, p->ranks, nodes, o->rounds, entries[0].way.name);
    printf("%-24s %8s %8s %7s %8s %8s %7s %8s %6s\n", "contestant", "write", "median", "ratio", "read", "median",
           "ratio", "MB extra", "right");
    for (int i = 0; i < count; i++)
        print_row(o, &entries[i], &entries[0]);
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            if (entries[i].statistics[op].lines > 0)
                printf("%s %s: %.1f MB change nodes, %.0f messages, planning is %.1f %% of the call; in the "
                       "first %.1f %%, by %.1f kB of metadata\n",
                       entries[i].way.name, operation_name[op],
                       entries[i].statistics[op].crossing_bytes / 1e6, entries[i].statistics[op].messages,
                       entries[i].statistics[op].planning_share * 100, entries[i].first[op].planning_share * 100,
                       entries[i].first[op].metadata_bytes / 1e3);
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

static void report(const struct options *o, const problem *p, struct entry *entries, int count, int nodes)
{
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            summarise(&entries[i].result[op], o->rounds);
    if (p->rank == 0 && o->csv)
        print_csv(o, p, entries, count, nodes);
    else if (p->rank == 0)
        print_table(o, p, entries, count, nodes);
}

static bool run(const struct options *o)
{
    static struct entry entries[MAX_WAYS];
    problem p;
    make_problem(o, &p);
    remove_file(&p);
    mpiio_start(&p);
    hand_start(&p);
    int count = find_ways(o, entries);
    if (count == 0)
        fail("--contestants", "there are none");
    int nodes = count_nodes();
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            entries[i].result[op].seconds = take_memory((size_t)o->rounds, sizeof(double));
    connect_all(&p);
    for (int i = 0; i < count; i++)
        measure_way(o, &p, &entries[i]);
    bool right = check_ways(o, &p, entries, count);
    run_rounds(o, &p, entries, count);
    for (int i = 0; i < count; i++)
        observe_way(o, &p, &entries[i]);
    report(o, &p, entries, count, nodes);
    for (int i = 0; i < count; i++)
        for (int op = 0; op < OPERATIONS; op++)
            free(entries[i].result[op].seconds);
    remove_file(&p);
    free_problem(&p);
    return right;
}

int main(int argc, char **argv)
{
    struct options o = parse_options(argc, argv);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    bool right = run(&o);
    MPI_Finalize();
    return right ? 0 : 1;
}
