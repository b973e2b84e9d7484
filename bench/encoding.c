/* SPDX-License-Identifier: BSD-3-Clause */
/* encoding_bench: sizes of access requests as messages, and the time to encode and decode them.
 * Each family is the list of one rank. Prints comma-separated values. */
#include "access/encoding.h"
#include "tests/unit/seeded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Processor seconds of a measurement, and how many of them; the fastest counts. */
#define SECONDS .05
enum { TRIES = 5 };

static void check(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "encoding_bench: %s: %s\n", what, strerror(-rc));
    exit(EXIT_FAILURE);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void add_block(access_list *list, int64_t offset, int64_t length)
{
    check(access_append(list, offset, length, list->bytes), "list");
}

/* ---- unstructured decompositions, one variable after another ---- */

enum { RANKS = 16, FLOATS = 4, MOST_COLUMNS = 96 * 144 };

/* The columns of rank 0: those of `columns` that some rank owns, in pieces of 1 to `most` columns.
 */
static void deal_columns(char *mine, size_t columns, int64_t most, int64_t unowned_in_ten)
{
    uint64_t state = 1;
    for (size_t c = 0; c < columns;) {
        int64_t length = pick(&state, 1, most), owner = pick(&state, 0, RANKS - 1);
        if (pick(&state, 0, 9) < unowned_in_ten)
            owner = -1;
        for (; length > 0 && c < columns; length--)
            mine[c++] = owner == 0;
    }
}

static int64_t add_variable(access_list *list, int64_t begin, const char *mine, size_t columns,
                            int64_t levels)
{
    for (int64_t level = 0; level < levels; level++, begin += (int64_t)columns * FLOATS)
        for (size_t c = 0; c < columns; c++)
            if (mine[c])
                add_block(list, begin + (int64_t)c * FLOATS, FLOATS);
    return begin;
}

/* An atmosphere of 866 columns: 323 variables of one level, 63 of 72. */
static void add_f_case(access_list *list)
{
    char mine[866];
    int64_t begin = 10000;
    deal_columns(mine, sizeof mine, 4, 0);
    for (int v = 0; v < 386; v++)
        begin = add_variable(list, begin, mine, sizeof mine, v % 6 == 5 ? 72 : 1);
}

static void add_f_variable(access_list *list)
{
    char mine[866];
    deal_columns(mine, sizeof mine, 4, 0);
    add_variable(list, 10000, mine, sizeof mine, 72);
}

/* Land on a grid of 96 by 144: 465 variables of one level, 75 of 15. */
static void add_i_case(access_list *list)
{
    static char mine[MOST_COLUMNS];
    int64_t begin = 10000;
    deal_columns(mine, sizeof mine, 9, 6);
    for (int v = 0; v < 540; v++)
        begin = add_variable(list, begin, mine, sizeof mine, v % 7 == 6 ? 15 : 1);
}

/* A large grid, and one variable: nothing repeats. */
static void add_i_variable(access_list *list)
{
    enum { COLUMNS = 360 * 720 * 8 };
    char *mine = calloc(COLUMNS, 1);
    check(mine == NULL ? -ENOMEM : 0, "columns");
    deal_columns(mine, COLUMNS, 9, 6);
    add_variable(list, 10000, mine, COLUMNS, 1);
    free(mine);
}

/* ---- regular and random ---- */

/* A rank's part of a cube of doubles, 64 in each direction, by rows. */
static void add_cube(access_list *list)
{
    for (int64_t plane = 0; plane < 64; plane++)
        check(access_append_run(
                  list, &(access_run){plane * 128 * 128 * 8, 64 * 8, 128 * 8, 64, list->bytes}),
              "list");
}

static void add_records(access_list *list)
{
    check(access_append_run(list, &(access_run){0, 64, 16 * 64, 1 << 16, 0}), "list");
}

static void add_random(access_list *list, int64_t gap, int64_t least, int64_t most, int64_t element)
{
    uint64_t state = 1;
    for (int64_t i = 0, at = 0; i < 200000; i++) {
        int64_t length = pick(&state, least, most) * element;
        at += pick(&state, 1, gap) * element;
        add_block(list, at, length);
        at += length;
    }
}

static void add_particles(access_list *list)
{
    add_random(list, 4000, 1, 40, 8);
}

static void add_odd_bytes(access_list *list)
{
    add_random(list, 100000, 1, 300, 1);
}

static void add_pieces_of_512(access_list *list)
{
    add_random(list, 100000, 512, 520, 1);
}

static void add_far_pieces_of_512(access_list *list)
{
    add_random(list, INT64_C(1) << 42, 512, 4096, 1);
}

/* Lines of an offset and a length in elements of 4 bytes, ascending. */
static void add_file(const char *path, access_list *list)
{
    long long offset, length;
    FILE *f = fopen(path, "r");
    check(f == NULL ? -errno : 0, path);
    while (fscanf(f, "%lld %lld", &offset, &length) == 2)
        add_block(list, offset * FLOATS, length * FLOATS);
    fclose(f);
}

/* ---- measuring ---- */

typedef struct result {
    access_message message;
    double encode, decode; /* seconds */
} result;

static void measure_once(const access_list *list, result *r)
{
    access_list decoded = {0};
    double encode = 0, decode = 0;
    int64_t times = 0;
    for (; encode + decode < SECONDS; times++) {
        free(r->message.element);
        r->message = (access_message){0};
        double begun = now();
        check(access_encode_runs(list, 0, &r->message), "encoding");
        encode += now() - begun;
        access_clear(&decoded);
        begun = now();
        check(access_decode_runs(&decoded, r->message.element, r->message.count), "decoding");
        decode += now() - begun;
        check(decoded.bytes == list->bytes && decoded.count == list->count ? 0 : -EINVAL, "bytes");
    }
    encode /= (double)times;
    decode /= (double)times;
    r->encode = r->encode == 0 || encode < r->encode ? encode : r->encode;
    r->decode = r->decode == 0 || decode < r->decode ? decode : r->decode;
    access_release(&decoded);
}

static void print_family(const char *name, const access_list *list)
{
    result r = {0};
    for (int i = 0; i < TRIES; i++)
        measure_once(list, &r);
    double runs = (double)list->count, bytes = (double)r.message.count * 8;
    printf("%s,%zu,%lld,%.0f,%.3f,%.5f,%.2f,%.2f\n", name, list->count, (long long)list->bytes,
           bytes, bytes / runs, bytes / (double)list->bytes, r.encode * 1e9 / runs,
           r.decode * 1e9 / runs);
    free(r.message.element);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*add)(access_list *list);
    } families[] = {
        {"f_case", add_f_case},
        {"f_variable", add_f_variable},
        {"i_case", add_i_case},
        {"i_variable", add_i_variable},
        {"cube", add_cube},
        {"records", add_records},
        {"particles", add_particles},
        {"odd_bytes", add_odd_bytes},
        {"pieces_of_512", add_pieces_of_512},
        {"far_pieces_of_512", add_far_pieces_of_512},
    };
    printf("family,runs,data_bytes,message_bytes,bytes_per_run,of_data,encode_ns_per_run,"
           "decode_ns_per_run\n");
    for (size_t i = 0; i < sizeof families / sizeof *families && argc == 1; i++) {
        access_list list = {0};
        families[i].add(&list);
        print_family(families[i].name, &list);
        access_release(&list);
    }
    for (int i = 1; i < argc; i++) {
        access_list list = {0};
        add_file(argv[i], &list);
        print_family(argv[i], &list);
        access_release(&list);
    }
    return 0;
}
