/* SPDX-License-Identifier: BSD-3-Clause */
/* record_bench: the recorder's part that is not communication, for more ranks than a machine can
 * run. What each rank, each owner of a part of the file and rank 0 do with one call is done here
 * one after the other, by the functions that fcoll/tatp calls; prints times, memory and sizes as
 * comma-separated values. */
#include "matrix/view_file.h"
#include "record/record.h"

#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Elements of 8 bytes in each direction of a rank's part of a cube; records of a rank, and their
 * bytes. */
enum { EDGE = 16, ELEMENT = 8, RECORDS = 64, RECORD = 1024, BLOCK = 1 << 20 };

struct options {
    size_t ranks, parts;
    const char *pattern;
    int no_header;
    double most_seconds, most_megabytes; /* of rank 0, and of the file; 0: any */
};

/* What rank 0 is sent. */
struct message {
    size_t from; /* an owner's part, or a rank */
    record_message message;
};

static void check(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "record_bench: %s: %s\n", what, strerror(-rc));
    exit(EXIT_FAILURE);
}

static void *allocate(size_t count, size_t size)
{
    void *array = calloc(count | 1, size);
    check(array == NULL ? -ENOMEM : 0, "memory");
    return array;
}

/* ---- who accesses what ---- */

/* Three factors, the last one largest. */
static void factors(size_t ranks, size_t grid[3])
{
    grid[0] = grid[1] = 1;
    for (size_t a = 1; a * a * a <= ranks; a++)
        grid[0] = ranks % a == 0 ? a : grid[0];
    size_t rest = ranks / grid[0];
    for (size_t b = 1; b * b <= rest; b++)
        grid[1] = rest % b == 0 ? b : grid[1];
    grid[2] = rest / grid[1];
}

static void add_run(access_list *list, int64_t offset, int64_t length, int64_t stride,
                    int64_t count)
{
    access_run run = {offset, length, count > 1 ? stride : 0, count, list->bytes};
    check(access_append_run(list, &run), "pattern");
}

static void add_cube(const struct options *o, size_t rank, access_list *list)
{
    size_t grid[3];
    factors(o->ranks, grid);
    int64_t row = (int64_t)grid[2] * EDGE * ELEMENT, plane = (int64_t)grid[1] * EDGE * row;
    int64_t x = (int64_t)(rank % grid[2]), y = (int64_t)(rank / grid[2] % grid[1]);
    int64_t z = (int64_t)(rank / grid[2] / grid[1]);
    for (int64_t k = 0; k < EDGE; k++)
        add_run(list, (z * EDGE + k) * plane + y * EDGE * row + x * EDGE * ELEMENT, EDGE * ELEMENT,
                row, EDGE);
}

/* blocks: one a rank; cube: an array in three dimensions; records: rank 0's, rank 1's, ... in turn.
 */
static access_list access_of(const struct options *o, size_t rank)
{
    access_list list = {0};
    int64_t r = (int64_t)rank;
    if (o->pattern[0] == 'b')
        add_run(&list, r * BLOCK, BLOCK, 0, 1);
    else if (o->pattern[0] == 'r')
        add_run(&list, r * RECORD, RECORD, (int64_t)o->ranks * RECORD, RECORDS);
    else
        add_cube(o, rank, &list);
    return list;
}

static int64_t end_of_file(const struct options *o)
{
    access_list last = access_of(o, o->ranks - 1);
    int64_t end = access_upper(&last);
    access_release(&last);
    return end;
}

/* ---- time and memory ---- */

/* Of the processor: one thread works, and the machine may be busy otherwise. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A line of /proc/self/status, in MB; 0 where there is none. */
static double status_megabytes(const char *name)
{
    char line[256];
    double kilobytes = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtod(line + strlen(name), NULL);
    if (f != NULL)
        fclose(f);
    return kilobytes * 1024 / 1e6;
}

/* From now on the peak counts from what is used now, which is the result. */
static double begin_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (f != NULL) {
        fputs("5", f);
        fclose(f);
    }
    return status_megabytes("VmRSS:");
}

/* ---- what is done where ---- */

struct run {
    const struct options *o;
    int64_t hi, unit, sum[RECORD_SUMS];
    record_message *part;             /* what owners are sent */
    struct message *neighbours, *row; /* by part; by rank */
    double rank_s, owner_s, root_s, write_s, root_mb, sent_mb;
};

/* A rank's sums and accesses, to the owners. */
static double describe(struct run *r, size_t rank, record_message *own)
{
    const struct options *o = r->o;
    access_list list = access_of(o, rank);
    double begun = now();
    check(record_add_sums(&list, 0, r->hi, r->sum), "sums");
    check(record_describe_access(&list, 0, r->hi, rank, own, o->parts), "accesses");
    double seconds = now() - begun;
    for (size_t j = 0; j < o->parts; j++) {
        check(record_message_append(&r->part[j], own[j].element, own[j].count), "accesses");
        free(own[j].element);
        own[j] = (record_message){0};
    }
    access_release(&list);
    return seconds;
}

/* Every rank; then its row. The slowest counts. */
static void ranks(struct run *r)
{
    const struct options *o = r->o;
    record_message *own = allocate(o->parts, sizeof *own);
    for (size_t i = 0; i < o->ranks; i++) {
        double seconds = describe(r, i, own);
        r->rank_s = seconds > r->rank_s ? seconds : r->rank_s;
    }
    free(own);
    r->unit = record_choose_unit(0, r->hi, r->sum);
    for (size_t i = 0; i < o->ranks; i++) {
        access_list list = access_of(o, i);
        r->row[i].from = i;
        check(record_describe_profile(&list, 0, r->unit, &r->row[i].message), "profile");
        r->sent_mb += (double)r->row[i].message.count * 8e-6;
        access_release(&list);
    }
}

/* An owner: the pieces, which carry the rank in the place of the call, to neighbours. */
static void own(struct run *r, size_t j)
{
    access_list *list = allocate(r->o->ranks, sizeof *list);
    size_t *rank = allocate(r->o->ranks, sizeof *rank), n = 0;
    double begun = now();
    for (size_t at = 0; at < r->part[j].count; n++)
        check(record_read_access(r->part[j].element, r->part[j].count, &at, &rank[n], &list[n]),
              "pieces");
    r->neighbours[j].from = j;
    check(record_describe_neighbours(list, rank, n, r->o->ranks, &r->neighbours[j].message),
          "neighbours");
    r->owner_s = now() - begun > r->owner_s ? now() - begun : r->owner_s;
    r->sent_mb += (double)r->neighbours[j].message.count * 8e-6;
    for (size_t i = 0; i < n; i++)
        access_release(&list[i]);
    free(list);
    free(rank);
}

/* Rank 0: all messages to one view file. */
static void sum_up(struct run *r, view_file *file)
{
    const struct options *o = r->o;
    record_sums sums;
    access_pattern pattern = {.file = (char *)"file", .unit = r->unit};
    matrix bytes;
    double before = begin_peak(), begun = now();
    check(record_sums_start(&sums, o->ranks, 0, r->hi, r->unit, o->parts), "sums");
    for (size_t j = 0; j < o->parts; j++)
        if (r->neighbours[j].message.count > 0)
            check(record_sums_add_neighbours(&sums, j, r->neighbours[j].message.element,
                                             r->neighbours[j].message.count),
                  "sums");
    for (size_t i = 0; i < o->ranks; i++)
        check(record_sums_add_profile(&sums, i, r->row[i].message.element, r->row[i].message.count),
              "sums");
    check(record_sums_finish(&sums, &file->view, &bytes), "sums");
    record_sums_release(&sums);
    check(view_file_add_calls(file, &pattern, &bytes, 1), "profile");
    matrix_release(&bytes);
    r->root_s = now() - begun;
    r->root_mb = status_megabytes("VmHWM:") - before;
}

static double write_megabytes(struct run *r, const view_file *file)
{
    FILE *f = tmpfile();
    check(f == NULL ? -errno : 0, "a temporary file");
    double begun = now();
    check(view_file_write(f, file), "writing");
    r->write_s = now() - begun;
    double megabytes = (double)ftell(f) / 1e6;
    fclose(f);
    return megabytes;
}

/* Every byte is in the profile, and the view has both directions of all pairs of blocks. */
static bool is_right(const struct run *r, const view_file *file)
{
    const matrix *profile = &file->bytes[0], *view = &file->view;
    int64_t bytes = 0, lower = 0, upper = 0;
    for (size_t i = 0; i < profile->row_start[profile->rows]; i++)
        bytes += profile->value[i];
    for (size_t i = 0; i < view->rows; i++)
        for (size_t k = view->row_start[i]; k < view->row_start[i + 1]; k++)
            *(view->col[k] < i ? &lower : &upper) += view->value[k];
    return bytes == r->sum[RECORD_SUM_BYTES] && lower == upper && lower >= (int64_t)r->o->ranks - 1;
}

static bool measure(const struct options *o)
{
    struct run r = {.o = o, .hi = end_of_file(o)};
    view_file file = {0};
    r.part = allocate(o->parts, sizeof *r.part);
    r.neighbours = allocate(o->parts, sizeof *r.neighbours);
    r.row = allocate(o->ranks, sizeof *r.row);
    ranks(&r);
    for (size_t j = 0; j < o->parts; j++)
        own(&r, j);
    sum_up(&r, &file);
    double megabytes = write_megabytes(&r, &file);
    bool right = is_right(&r, &file);
    bool over = (o->most_seconds > 0 && r.root_s + r.write_s > o->most_seconds) ||
                (o->most_megabytes > 0 && r.root_mb > o->most_megabytes);
    if (!o->no_header)
        printf("pattern,ranks,parts,file_bytes,bin_bytes,view_entries,profile_entries,rank_s,owner_"
               "s,root_s,write_s,"
               "sent_mb,root_mb,view_file_mb,right\n");
    printf("%s,%zu,%zu,%lld,%lld,%zu,%zu,%.6f,%.4f,%.3f,%.3f,%.1f,%.1f,%.2f,%s\n", o->pattern,
           o->ranks, o->parts, (long long)r.hi, (long long)file.pattern[0].unit,
           file.view.row_start[o->ranks], file.bytes[0].row_start[o->ranks], r.rank_s, r.owner_s,
           r.root_s, r.write_s, r.sent_mb, r.root_mb, megabytes,
           over    ? "OVER"
           : right ? "yes"
                   : "WRONG");
    view_file_release(&file);
    for (size_t j = 0; j < o->parts; j++) {
        free(r.part[j].element);
        free(r.neighbours[j].message.element);
    }
    for (size_t i = 0; i < o->ranks; i++)
        free(r.row[i].message.element);
    free(r.part);
    free(r.neighbours);
    free(r.row);
    return right && !over;
}

/* ---- options ---- */

static size_t positive(struct argp_state *state, const char *text)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno != 0 || *end != '\0' || text[0] < '1' || text[0] > '9')
        argp_error(state, "'%s': expected a whole number from 1 on", text);
    return value;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'n': o->ranks = positive(state, text); break;
    case 'd': o->parts = positive(state, text); break;
    case 'p':
        if (strcmp(text, "blocks") != 0 && strcmp(text, "cube") != 0 &&
            strcmp(text, "records") != 0)
            argp_error(state, "--pattern wants blocks, cube or records, not '%s'", text);
        o->pattern = text;
        break;
    case 'q': o->no_header = 1; break;
    case 's': o->most_seconds = strtod(text, NULL); break;
    case 'm': o->most_megabytes = strtod(text, NULL); break;
    case ARGP_KEY_ARG: argp_usage(state); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"ranks", 'n', "N", 0, "How many (100000)", 0},
        {"parts", 'd', "N", 0, "Of the file, each with an owner (256)", 0},
        {"pattern", 'p', "NAME", 0,
         "blocks (one a rank), cube (16x16x16 doubles a rank), records (64 of 1 KiB a rank, "
         "in turn); without, all three",
         0},
        {"most-seconds", 's', "S", 0, "What rank 0 may take", 0},
        {"most-megabytes", 'm', "M", 0, "What rank 0 may need beside the messages", 0},
        {"no-header", 'q', NULL, 0, "Only the figures", 0},
        {0},
    };
    static const struct argp parser = {
        .options = table,
        .parser = parse_option,
        .doc = "Measure the recorder without communication, as if for many ranks."};
    static const char *const patterns[] = {"blocks", "cube", "records"};
    struct options o = {.ranks = 100000, .parts = 256};
    bool well = true, all;
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    all = o.pattern == NULL;
    for (size_t i = 0; i < (all ? 3 : 1); i++) {
        o.pattern = all ? patterns[i] : o.pattern;
        well = measure(&o) && well;
        o.no_header = 1;
    }
    return well ? 0 : 1;
}
