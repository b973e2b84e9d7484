/* SPDX-License-Identifier: BSD-3-Clause */
/* checker: files that the ranks of several nodes write in many ways. Every rank knows what each
 * must hold: of each byte, which step of its case wrote it last.
 *
 * checker posix FOLDER: whether nodes see each other's plain pwrite: "WHAT right" or "WHAT stale"
 * checker write [-s] [-c] [-o] [-f FIRST] FOLDER: writes the files, from case FIRST on
 * checker read RANKS FOLDER: reads what so many ranks have left, without MPI-IO
 *
 * "NUMBER CASE RESULT [BYTES FIRST-BYTE WHEN]" for each case. The result is right; stale: wrong in
 * the job that wrote; lost: wrong in another one; error; hang. -s: not read after MPI_File_sync;
 * -c: not after close, and without MPI_MODE_APPEND; -o: also cases whose order MPI does not promise
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/conformance.h"
#include "storage/stripes.h"

enum { CASE_LIMIT = 60, MOST_BYTES = 1 << 20, BEYOND = 16 };

enum flag { ATOMIC = 1, GROUPS = 2, UNORDERED = 4, SIZED = 8 };

/* Runs of all ranks beside each other, again and again; or the parts of the ranks in an array of
 * two or three dimensions, so many runs wide in all but the last. */
struct pattern {
    char name;
    int dimensions, run, count;
};
static const struct pattern patterns[] = {
    {'F', 1, 6000, 1}, {'L', 1, 9000, 1}, {'R', 1, 64, 100}, {'M', 1, 1000, 8},
    {'P', 1, 4096, 3}, {'B', 2, 500, 17}, {'C', 3, 90, 10},
};

/* A step is =SIZE; !HINTS: closed and opened; >BYTES: each rank appends so many; or the letter of a
 * pattern with @FIRST-BYTE or $ (the end of the file), +SHIFT (rank r takes the part of r + SHIFT),
 * ~GAP (bytes behind the runs of all ranks), and ".CALL": p, o, s, r: by file pointer, offset,
 * begin and end, request, in three calls; w, x, i: individual calls by pointer, offset, request. */
struct step {
    char act, call; /* 0: a pattern; one blocking collective call */
    struct pattern pattern;
    int64_t first;
    int shift, gap;
    char *hints;
};

struct scenario {
    const char *name, *steps;
    enum flag flags;
};

/* Each two in turn, by other ranks, and the first again by yet others. */
static const char *const turns[] = {"L", "R@32", "M@5", "P", "B", "C@4000"};
enum { TURNS = sizeof turns / sizeof *turns, PAIRS = TURNS * (TURNS - 1) / 2 };

static const struct scenario scenarios[] = {
    {"append", "F F$ F$+1 F$+2", 0},
    {"append_records", "R M$ R$+1", 0},
    {"append_mode", "F >777 >64", SIZED},
    {"hole_at_start", "F@50001 R@100", 0},
    {"holes_small", "R~40 R+1~40", 0},
    {"holes_of_pages", "M~10000 M@200+1~10000", 0},
    {"holes_filled", "R~640 F@1000+1 R+2~640", 0},
    {"hole_before_end", "B F@300000 R@200001+1", 0},
    {"groups_64", "R R+1", GROUPS},
    {"groups_1000", "M M+1", GROUPS},
    {"groups_4096", "P@100 P+1", GROUPS},
    {"groups_contiguous", "F F@10+1", GROUPS},
    {"groups_blocks", "B B+1", GROUPS},
    {"groups_alone", "F.w F@10+1.x", GROUPS},
    {"grow", "F =222222 R@111111+1", 0},
    {"shrink", "F =5001 R+1 =3333", 0},
    {"shrink_and_grow", "F =999 =30000 F@8000+1", 0},
    {"shrink_and_append", "F =7777 R$+1 F@60001", 0},
    {"reopen", "R ! R+1 ! B+2", 0},
    {"reopen_unaligned", "F@1 ! F@333+1 ! M@7+2", 0},
    {"reopen_shrunk", "F =100 ! F@9999+1", 0},
    {"pointer_records", "R.p R+1.p", 0},
    {"pointer_blocks", "B.p M+1.p", 0},
    {"offset_records", "R.o R+1.o", 0},
    {"offset_contiguous", "F.o M+1.o", 0},
    {"split_records", "M.s R+1.s", 0},
    {"split_blocks", "B.s F+1.s", 0},
    {"request_records", "R.r M+1.r", 0},
    {"request_blocks", "B.r F+1.r", 0},
    {"atomic_records", "R R+1", ATOMIC},
    {"atomic_blocks", "B F+1 B+2", ATOMIC},
    {"atomic_alone", "F.w R+1 F+2.x", ATOMIC},
    {"aggregators", "R !cb_nodes=1 R+1 !cb_nodes=3 R+2", 0},
    {"aggregators_blocks", "B !cb_buffer_size=16384 B+1", 0},
    {"without_aggregators", "M !romio_cb_write=disable M+1 !romio_cb_write=enable F+2", 0},
    {"alone_contiguous", "F.w F@100+1.x F@3001+2.i", 0},
    {"alone_records", "M M+1.w R+2", 0},
    {"alone_blocks", "B.w B+1 F+2.i R+3", 0},
    {"unordered_records", "R R+1 R+2", UNORDERED},
    {"unordered_plans", "R B+1 F+2 M+3", UNORDERED},
    {"unordered_contiguous", "F F@6001+1 F@3000+2", UNORDERED},
    {"unordered_requests", "B.r R+1.r", UNORDERED},
};
enum { CASES = PAIRS + sizeof scenarios / sizeof *scenarios };

/* A case as it goes on. */
struct scene {
    struct test t; /* its path, and the first error */
    int number, ranks;
    enum flag flags;
    char name[64], steps[96], *rest; /* steps that are not taken yet */
    unsigned char last[MOST_BYTES];  /* the step that wrote the byte; 0: none did */
    int64_t size;
    int step;
    MPI_Comm comm; /* of those who have the file open together */
    MPI_File file;
};

static struct scene scene;

/* Bytes that are not right, on the rank that found most. */
struct found {
    int64_t bytes, first;
};

static void set_scene(struct scene *s, int number, const char *folder)
{
    const int of = number - PAIRS;
    int a = 0, b = number;
    if (of >= 0) {
        s->flags = scenarios[of].flags;
        snprintf(s->name, sizeof s->name, "%s", scenarios[of].name);
        snprintf(s->steps, sizeof s->steps, "%s", scenarios[of].steps);
    } else {
        for (; a + 1 + b >= TURNS; a++)
            b -= TURNS - 1 - a;
        b += a + 1;
        s->flags = 0;
        snprintf(s->name, sizeof s->name, "turns_%c_%c", *turns[a], *turns[b]);
        snprintf(s->steps, sizeof s->steps, "%s %s+1 %s+2", turns[a], turns[b], turns[a]);
    }
    s->number = number;
    s->rest = s->steps;
    s->size = s->step = 0;
    s->t.failure[0] = '\0';
    memset(s->last, 0, sizeof s->last);
    snprintf(s->t.path, sizeof s->t.path, "%s/%s", folder, s->name);
}

/* False behind the last. */
static bool next_step(struct scene *s, struct step *step)
{
    char *word = strsep(&s->rest, " "), key = word == NULL ? '\0' : *word++;
    *step = (struct step){.hints = word};
    if (key == '\0')
        return false;
    s->step++;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (patterns[i].name == key)
            step->pattern = patterns[i];
    if (step->pattern.run == 0) {
        step->act = key;
        step->first = key == '=' ? atol(word) : s->size;
        step->pattern = (struct pattern){'F', 1, atoi(word), 1};
        return true;
    }
    while ((key = *word++) != '\0')
        switch (key) {
        case '$': step->first = s->size; break;
        case '.': step->call = *word++; break;
        case '@': step->first = strtol(word, &word, 10); break;
        case '+': step->shift = (int)strtol(word, &word, 10); break;
        default: step->gap = (int)strtol(word, &word, 10); break;
        }
    return true;
}

/* ---- the model ---- */

/* Of one byte each step writes another value. */
static unsigned char value_of(const struct scene *s, int64_t offset, int step)
{
    uint64_t random = mix((uint64_t)offset << 8 ^ (uint64_t)s->number);
    return step == 0 ? 0 : (unsigned char)(1 + (random + 37 * (uint64_t)step) % 255);
}

/* What one rank writes: runs, in two directions. */
struct part {
    int64_t first, run, count[2], stride[2];
};

static struct part part_of(const struct scene *s, const struct step *step, int rank)
{
    const int64_t run = step->pattern.run, count = step->pattern.count;
    const int64_t role = (rank + step->shift) % s->ranks, dimensions = step->pattern.dimensions;
    int d[3] = {dimensions == 3 ? 0 : 1, dimensions == 1, 0};
    MPI_Dims_create(s->ranks, 3, d);
    const int64_t row = d[2] * run + step->gap, plane = d[1] * count * row;
    const int64_t z = role / (d[1] * d[2]), y = role / d[2] % d[1], x = role % d[2];
    return (struct part){step->first + z * count * plane + y * count * row + x * run,
                         run,
                         {dimensions == 3 ? count : 1, count},
                         {plane, row}};
}

static int64_t bytes_of(const struct part *p)
{
    return p->run * p->count[0] * p->count[1];
}

static int64_t place(const struct part *p, int64_t k)
{
    int64_t run = k / p->run;
    return p->first + run / p->count[1] * p->stride[0] + run % p->count[1] * p->stride[1] +
           k % p->run;
}

static void resize_model(struct scene *s, int64_t size)
{
    if (size > MOST_BYTES)
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (size < s->size)
        memset(s->last + size, 0, (size_t)(s->size - size));
    s->size = size;
}

static void step_model(struct scene *s, const struct step *step)
{
    if (step->act == '=')
        resize_model(s, step->first);
    for (int rank = 0; rank < s->ranks && (step->act == '\0' || step->act == '>'); rank++) {
        const struct part p = part_of(s, step, rank);
        for (int64_t k = 0; k < bytes_of(&p); k++) {
            int64_t at = place(&p, k);
            if (at >= s->size)
                resize_model(s, at + 1);
            s->last[at] = (unsigned char)s->step;
        }
    }
}

static struct found compare(const struct scene *s, const unsigned char *got, int64_t bytes)
{
    struct found found = {0, INT64_MAX};
    for (int64_t i = 0; i < bytes || i < s->size; i++)
        if (i >= bytes || i >= s->size || got[i] != value_of(s, i, s->last[i])) {
            found.first = found.bytes == 0 ? i : found.first;
            found.bytes++;
        }
    MPI_Allreduce(MPI_IN_PLACE, &found.bytes, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &found.first, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    return found;
}

/* ---- writing ---- */

/* Closes it before, but for the first step. */
static void open_scene(struct scene *s, int amode, const char *hints)
{
    if (s->step > 0) {
        must(&s->t, "close", MPI_File_close(&s->file));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    s->file = open_path(s->comm, s->t.path, amode, hints);
    if ((s->flags & ATOMIC) != 0)
        must(&s->t, "set_atomicity", MPI_File_set_atomicity(s->file, 1));
}

/* As MPI orders accesses of different ranks, and files that are open twice. */
static void order(struct scene *s)
{
    for (int i = 0; i < 2; i++) {
        if ((s->flags & ATOMIC) == 0)
            must(&s->t, "sync", MPI_File_sync(s->file));
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static int write_some(MPI_File file, char call, int64_t at, const unsigned char *data, int bytes)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int rc;
    switch (call) {
    case 'o': return MPI_File_write_at_all(file, at, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    case 's':
        rc = MPI_File_write_all_begin(file, data, bytes, MPI_BYTE);
        return rc != MPI_SUCCESS ? rc : MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE);
    case 'w': return MPI_File_write(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    case 'x': return MPI_File_write_at(file, at, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    case 'r': rc = MPI_File_iwrite_all(file, data, bytes, MPI_BYTE, &request); break;
    case 'i': rc = MPI_File_iwrite(file, data, bytes, MPI_BYTE, &request); break;
    default: return MPI_File_write_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    return rc != MPI_SUCCESS ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void set_part(struct scene *s, const struct part *p)
{
    MPI_Datatype runs, all;
    MPI_Type_create_hvector((int)p->count[1], (int)p->run, p->stride[1], MPI_BYTE, &runs);
    MPI_Type_create_hvector((int)p->count[0], 1, p->stride[0], runs, &all);
    MPI_Type_commit(&all);
    must(&s->t, "set_view",
         MPI_File_set_view(s->file, p->first, MPI_BYTE, all, "native", MPI_INFO_NULL));
    MPI_Type_free(&runs);
    MPI_Type_free(&all);
}

/* In one call or three, those with an offset from the end of the data to its begin. */
static void write_part(struct scene *s, char call, const struct part *p)
{
    const bool backward = call == 'o' || call == 'x';
    const int64_t bytes = bytes_of(p), calls = call == '\0' ? 1 : 3;
    unsigned char *data = checked_alloc((size_t)bytes, 1);
    for (int64_t k = 0; k < bytes; k++)
        data[k] = value_of(s, place(p, k), s->step);
    for (int64_t i = 0; i < calls; i++) {
        int64_t piece = backward ? calls - 1 - i : i, from = bytes * piece / calls;
        int64_t length = bytes * (piece + 1) / calls - from;
        must(&s->t, "write", write_some(s->file, call, from, data + from, (int)length));
    }
    free(data);
}

static void take_step(struct scene *s, const struct step *step)
{
    const struct part p = part_of(s, step, s->t.rank);
    switch (step->act) {
    case '=': must(&s->t, "set_size", MPI_File_set_size(s->file, step->first)); return;
    case '!': open_scene(s, MPI_MODE_RDWR, step->hints); return;
    case '>':
        open_scene(s, MPI_MODE_RDWR | MPI_MODE_APPEND, "");
        must(&s->t, "seek", MPI_File_seek(s->file, p.first - s->size, MPI_SEEK_CUR));
        break;
    default: set_part(s, &p); break;
    }
    write_part(s, step->call, &p);
}

static void take_steps(struct scene *s)
{
    for (struct step step; next_step(s, &step); step_model(s, &step)) {
        if (s->step > 1 && (s->flags & UNORDERED) == 0)
            order(s);
        take_step(s, &step);
    }
}

/* ---- reading ---- */

/* Not beyond the end, where stock components count too much. */
static struct found read_by_mpi(struct scene *s)
{
    unsigned char *got = checked_alloc((size_t)s->size, 1);
    order(s);
    must(&s->t, "set_view",
         MPI_File_set_view(s->file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    must(&s->t, "read",
         MPI_File_read_at_all(s->file, 0, got, (int)s->size, MPI_BYTE, MPI_STATUS_IGNORE));
    struct found found = compare(s, got, s->size);
    free(got);
    return found;
}

static struct found read_by_posix(struct scene *s)
{
    unsigned char *got = checked_alloc((size_t)s->size + BEYOND, 1);
    int fd = open(s->t.path, O_RDONLY);
    struct found found = compare(s, got, pread(fd, got, (size_t)s->size + BEYOND, 0));
    close(fd);
    free(got);
    return found;
}

/* ---- the modes ---- */

static void tell(const struct scene *s, const char *result, struct found found, const char *when)
{
    if (s->t.rank == 0 && found.bytes > 0)
        printf("%d %s %s %" PRId64 " %" PRId64 " %s\n", s->number, s->name, result, found.bytes,
               found.first, when);
    else if (s->t.rank == 0)
        printf("%d %s right\n", s->number, s->name);
    fflush(stdout);
}

/* The others are ended with this rank. */
static void end_hang(int signal)
{
    char text[128];
    (void)signal;
    int length = snprintf(text, sizeof text, "%d %s hang\n", scene.number, scene.name);
    (void)!write(STDOUT_FILENO, text, (size_t)length);
    sleep(1);
    _exit(3);
}

/* Two groups open the file one after the other: OMPIO's shared file pointers want that. */
static void open_groups(struct scene *s, int groups)
{
    MPI_Comm_split(MPI_COMM_WORLD, s->t.rank % groups, 0, &s->comm);
    for (int group = 0; group < groups; group++) {
        if (s->t.rank % groups == group)
            open_scene(s, MPI_MODE_RDWR | MPI_MODE_CREATE, "");
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void write_case(struct scene *s, bool after_sync, bool after_close)
{
    struct found synced = {0, 0}, closed = {0, 0};
    alarm(CASE_LIMIT);
    open_groups(s, (s->flags & GROUPS) != 0 ? 2 : 1);
    take_steps(s);
    if (after_sync)
        synced = read_by_mpi(s);
    must(&s->t, "close", MPI_File_close(&s->file));
    MPI_Comm_free(&s->comm);
    MPI_Barrier(MPI_COMM_WORLD);
    if (after_close)
        closed = read_by_posix(s);
    if (s->t.failure[0] != '\0')
        printf("%d %s error %s (rank %d)\n", s->number, s->name, s->t.failure, s->t.rank);
    if (all_well(&s->t))
        tell(s, "stale", synced.bytes > 0 ? synced : closed, synced.bytes > 0 ? "sync" : "close");
    alarm(0);
}

static void write_cases(const char *folder, int from, const bool leave_out[])
{
    if (scene.t.rank == 0)
        mkdir(folder, 0777);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = from; i < CASES; i++) {
        set_scene(&scene, i, folder);
        if ((scene.flags & UNORDERED && leave_out['o']) || (scene.flags & SIZED && leave_out['c']))
            continue;
        write_case(&scene, !leave_out['s'], !leave_out['c']);
    }
}

static void read_cases(const char *folder)
{
    for (int i = 0; i < CASES; i++) {
        set_scene(&scene, i, folder);
        for (struct step step; next_step(&scene, &step);)
            step_model(&scene, &step);
        tell(&scene, "lost", read_by_posix(&scene), "read");
    }
}

/* ---- what nodes see of each other without MPI ---- */

enum { ROUNDS = 8, PLAIN_BYTES = 9000 };

static int open_anew(int fd)
{
    close(fd);
    return open(scene.t.path, O_RDWR);
}

/* Rank 0 writes over what all have read, and makes the file longer; whether all see that. */
static int is_seen(int *fd, int round, bool closes)
{
    static unsigned char data[ROUNDS * PLAIN_BYTES], got[sizeof data];
    const ssize_t size = (ssize_t)(round + 1) * PLAIN_BYTES;
    int seen = 1;
    (void)!pread(*fd, got, sizeof got, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(data, round + 1, (size_t)size);
    if (scene.t.rank == 0) {
        seen = pwrite(*fd, data, (size_t)size, 0) == size && fsync(*fd) == 0;
        *fd = closes ? open_anew(*fd) : *fd;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!closes)
        storage_refresh(*fd);
    else if ((*fd = open_anew(*fd)) < 0 || lseek(*fd, 0, SEEK_END) != size)
        seen = 0;
    if (pread(*fd, got, sizeof got, 0) != size || memcmp(got, data, (size_t)size) != 0)
        seen = 0;
    MPI_Allreduce(MPI_IN_PLACE, &seen, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return seen;
}

static void check_posix(const char *folder)
{
    for (int closes = 0; closes < 2; closes++) {
        int seen = 0, fd;
        snprintf(scene.t.path, sizeof scene.t.path, "%s.posix%d", folder, closes);
        if (scene.t.rank == 0)
            close(open(scene.t.path, O_RDWR | O_CREAT, 0666));
        MPI_Barrier(MPI_COMM_WORLD);
        fd = open(scene.t.path, O_RDWR);
        for (int round = 0; round < ROUNDS; round++)
            seen += is_seen(&fd, round, closes);
        close(fd);
        MPI_Barrier(MPI_COMM_WORLD);
        if (scene.t.rank == 0) {
            unlink(scene.t.path);
            printf("%s %s\n", closes ? "close" : "sync", seen == ROUNDS ? "right" : "stale");
        }
    }
}

int main(int argc, char **argv)
{
    bool leave_out[256] = {['o'] = true};
    int option, from = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &scene.t.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &scene.ranks);
    scene.t.comm = MPI_COMM_WORLD;
    signal(SIGALRM, end_hang);
    while ((option = getopt(argc, argv, "scof:")) != -1)
        if (option == 'f')
            from = atoi(optarg);
        else
            leave_out[option] = option != 'o';
    const char *mode = argc > optind + 1 ? argv[optind] : "", *folder = argv[argc - 1];
    if (strcmp(mode, "posix") == 0) {
        check_posix(folder);
    } else if (strcmp(mode, "write") == 0) {
        write_cases(folder, from, leave_out);
    } else {
        scene.ranks = atoi(argv[argc - 2]);
        read_cases(folder);
    }
    MPI_Finalize();
    return 0;
}
