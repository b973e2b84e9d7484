/* SPDX-License-Identifier: BSD-3-Clause */
/* View files with a profile: read, written, refused, added up. */
#include "matrix/view_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

/* Three ranks; ranks 0 and 2 access a file twice. */
#define VIEW "FILEVIEW\n% program: ring\n% ranks: 3\n2 4\n1 0\n5 5\n1 2 3 3\n"
#define SECTION "ACCESS 2 4096 1024 8 2 3 out.dat\n0 2 0 2048 3 10\n2 1 7 99\n"
#define TEXT VIEW SECTION

static int read_text(const char *text, size_t length, view_file *f, matrix_error *error)
{
    FILE *stream =
        length > 0 ? fmemopen((void *)(uintptr_t)text, length, "r") : fopen("/dev/null", "r");
    ck_assert_ptr_nonnull(stream);
    int rc = view_file_read(stream, f, error);
    fclose(stream);
    return rc;
}

static view_file read_good(const char *text)
{
    view_file f;
    matrix_error error = {0};
    int rc = read_text(text, strlen(text), &f, &error);
    ck_assert_msg(rc == 0, "%s\nrefused: %zu: %s", text, error.line, error.reason);
    return f;
}

static int write_text(const view_file *f, char **text)
{
    size_t length;
    FILE *stream = open_memstream(text, &length);
    int rc = view_file_write(stream, f);
    ck_assert_int_eq(fclose(stream), 0);
    return rc;
}

/* The file is written, with these sections behind the view. */
static void check_sections(const view_file *f, const char *sections)
{
    char *text = NULL;
    ck_assert_int_eq(write_text(f, &text), 0);
    const char *begin = strstr(text, "ACCESS");
    ck_assert_pstr_eq(begin, sections);
    free(text);
}

/* Nothing is written then. */
static void check_not_written(const view_file *f)
{
    char *text = NULL;
    ck_assert_int_eq(write_text(f, &text), -EINVAL);
    ck_assert_str_eq(text, "");
    free(text);
}

/* --- reading and writing --- */

START_TEST(files_of_others_have_no_profile)
{
    static const char wide[] = "%%MatrixMarket matrix coordinate integer general\n3 2 0\n";
    view_file f = read_good("FILEVIEW\n2 3\n1 0 \n4 4 \n1 2 3 \n");
    matrix_error error;
    ck_assert_uint_eq(f.patterns, 0);
    ck_assert_str_eq(f.comments, "");
    ck_assert_uint_eq(f.view.rows, 2);
    view_file_release(&f);
    f = read_good("%%MatrixMarket matrix coordinate integer symmetric\n% by hand\n3 3 1\n3 1 7\n");
    ck_assert_uint_eq(f.patterns, 0);
    ck_assert_str_eq(f.comments, "by hand\n");
    ck_assert_int_eq(matrix_get(&f.view, 0, 2), 7);
    view_file_release(&f);
    ck_assert_int_eq(read_text(wide, strlen(wide), &f, &error), -EBADMSG);
}
END_TEST

#define DIVISION "DIVISION 3 8 65536 4 0\n"

START_TEST(divisions_are_read_and_written)
{
    view_file f = read_good(TEXT DIVISION SECTION "ACCESS 1 0 1 1 0 0 \n");
    const access_division *d = &f.pattern[0].division;
    ck_assert_uint_eq(f.patterns, 3);
    ck_assert_int_eq(d->kind, 3);
    ck_assert_int_eq(d->aggregators, 8);
    ck_assert_int_eq(d->stripe, 65536);
    ck_assert_int_eq(d->targets, 4);
    ck_assert_int_eq(f.pattern[1].division.kind, 0);
    ck_assert_str_eq(f.pattern[2].file, "");
    check_sections(&f, SECTION DIVISION SECTION "ACCESS 1 0 1 1 0 0 \n");
    view_file_release(&f);
    f = read_good(TEXT "ORDER 2 0 1\n");
    ck_assert_mem_eq(f.order, ((size_t[]){2, 0, 1}), 3 * sizeof *f.order);
    check_sections(&f, SECTION "ORDER 2 0 1\n");
    view_file_release(&f);
    f = read_good(VIEW DIVISION);
    ck_assert_uint_eq(f.patterns, 0);
    view_file_release(&f);
    f = read_good(TEXT "DIVISION 3 8 65536 4 1024\n"); /* of release 1.0 */
    ck_assert_int_eq(f.pattern[0].division.targets, 4);
    view_file_release(&f);
}
END_TEST

START_TEST(bytes_without_aggregators_are_a_comment)
{
    view_file f = read_good(VIEW);
    ck_assert_int_eq(view_file_independent(&f), 0);
    free(f.comments);
    f.comments = strdup("bytes: 9\nindependent: 77\nmissed: 5\n");
    ck_assert_int_eq(view_file_independent(&f), 77);
    free(f.comments);
    f.comments = strdup("independent: many\n");
    ck_assert_int_eq(view_file_independent(&f), 0);
    view_file_release(&f);
    ck_assert_int_eq(view_file_independent(&f), 0);
}
END_TEST

START_TEST(names_of_all_kinds)
{
    static const char *const names[] = {
        "a b  c",
        " begins",
        "ends ",
        "100%",
        "%41",
        "two\nlines\r",
        "ACCESS 1 0 1 1 0 0",
        "\x7f\x01",
        "gr\xc3\xbc\xc3\x9f",
        " ",
        "% x",
    };
    view_file f = read_good(TEXT);
    for (size_t k = 0; k < LENGTH(names); k++) {
        char *text = NULL;
        free(f.pattern[0].file);
        f.pattern[0].file = strdup(names[k]);
        ck_assert_int_eq(write_text(&f, &text), 0);
        view_file back = read_good(text);
        ck_assert_str_eq(back.pattern[0].file, names[k]);
        free(text);
        view_file_release(&back);
    }
    view_file_release(&f);
}
END_TEST

/* --- refusing --- */

/* "refused, line N" */
static void check_refused(const char *head, const char *text, size_t length)
{
    view_file f = {.patterns = 99};
    matrix_error error = {0};
    size_t line = 0;
    ck_assert_int_eq(sscanf(head, "refused, line %zu", &line), 1);
    ck_assert_int_eq(read_text(text, length, &f, &error), -EBADMSG);
    ck_assert_msg(error.line == line, "%.*s\n%s: %zu: %s", (int)length, text, head, error.line,
                  error.reason);
    ck_assert_uint_eq(f.patterns, 99);
}

START_TEST(bad_sections)
{
    check_cases("profile", check_refused);
}
END_TEST

/* Cut anywhere it is refused, or read without the section. */
START_TEST(truncated)
{
    size_t view = strlen(VIEW), all = strlen(TEXT);
    for (size_t length = 0; length < all; length++) {
        view_file f;
        matrix_error error;
        int rc = read_text(TEXT, length, &f, &error);
        int whole_view = length == view - 1 || length == view;
        int section_begun = length > view && length < view + 6; /* a section of another name */
        int number_cut = length >= all - 2;                     /* 9 for 99; without the newline */
        ck_assert_msg(rc == (whole_view || section_begun || number_cut ? 0 : -EBADMSG),
                      "%zu bytes: %d", length, rc);
        if (rc == 0)
            ck_assert_uint_eq(f.patterns, number_cut ? 1 : 0);
        if (rc == 0)
            view_file_release(&f);
    }
}
END_TEST

START_TEST(sections_without_end)
{
    char text[200 + 70 * 30] = VIEW;
    view_file f;
    matrix_error error;
    for (int k = 0; k < VIEW_FILE_MOST_PATTERNS; k++)
        strcat(text, "ACCESS 1 0 1 1 0 0 f\n");
    f = read_good(text);
    ck_assert_uint_eq(f.patterns, VIEW_FILE_MOST_PATTERNS);
    view_file_release(&f);
    strcat(text, "ACCESS 1 0 1 1 0 0 f\n");
    ck_assert_int_eq(read_text(text, strlen(text), &f, &error), -EBADMSG);
}
END_TEST

/* Also what is escaped counts. */
START_TEST(names_that_are_too_long)
{
    enum { LIMIT = 32767 };
    char *text = NULL;
    view_file f = read_good(TEXT);
    free(f.pattern[0].file);
    f.pattern[0].file = malloc(LIMIT + 2);
    memset(f.pattern[0].file, 'n', LIMIT + 2);
    f.pattern[0].file[LIMIT + 1] = '\0';
    check_not_written(&f);
    f.pattern[0].file[LIMIT] = '\0';
    ck_assert_int_eq(write_text(&f, &text), 0);
    view_file back = read_good(text);
    ck_assert_str_eq(back.pattern[0].file, f.pattern[0].file);
    f.pattern[0].file[LIMIT - 1] = '\n';
    check_not_written(&f);
    free(text);
    view_file_release(&back);
    view_file_release(&f);
}
END_TEST

START_TEST(not_written)
{
    view_file f = read_good(TEXT "ORDER 2 0 1\n");
    struct {
        int64_t *value, bad;
    } cases[] = {
        {&f.pattern[0].unit, 1000}, {&f.pattern[0].calls, 0}, {&f.pattern[0].division.targets, -1},
        {&f.bytes[0].value[1], 0},  {&f.view.value[0], -1},   {&f.bytes[0].value[1], INT64_MAX},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        int64_t good = *cases[i].value;
        *cases[i].value = cases[i].bad;
        check_not_written(&f);
        *cases[i].value = good;
    }
    f.bytes[0].cols = VIEW_FILE_MOST_BINS + 1;
    check_not_written(&f);
    f.bytes[0].cols = 8;
    f.order[1] = 2;
    check_not_written(&f);
    f.order[1] = 0;
    FILE *full = fopen("/dev/full", "w");
    if (full != NULL) {
        ck_assert_int_eq(view_file_write(full, &f), -ENOSPC);
        fclose(full);
    }
    view_file_release(&f);
}
END_TEST

/* --- adding up --- */

static matrix random_bytes(uint64_t *state, size_t ranks, size_t bins)
{
    matrix_builder b = {.rows = ranks, .cols = bins};
    matrix m;
    for (size_t k = 0; k < 3 * ranks; k++)
        matrix_builder_add(&b, (size_t)pick(state, 0, (int64_t)ranks - 1),
                           (size_t)pick(state, 0, (int64_t)bins - 1), pick(state, 1, 1000));
    ck_assert_int_eq(matrix_builder_finish(&b, &m), 0);
    matrix_builder_clear(&b);
    return m;
}

START_TEST(coarser_bins_hold_the_sums)
{
    uint64_t state = first_seed() + (uint64_t)_i;
    size_t bins = (size_t)pick(&state, 1, 40);
    unsigned doublings = (unsigned)pick(&state, 0, 7);
    matrix fine = random_bytes(&state, 5, bins), coarse;
    ck_assert_int_eq(view_file_coarsen(&fine, doublings, &coarse), 0);
    ck_assert_uint_eq(coarse.cols, (bins + (1u << doublings) - 1) >> doublings);
    for (size_t r = 0; r < 5; r++) {
        for (size_t b = 0; b < coarse.cols; b++) {
            int64_t sum = 0;
            for (size_t k = b << doublings; k < (b + 1) << doublings && k < bins; k++)
                sum += matrix_get(&fine, r, k);
            ck_assert_int_eq(matrix_get(&coarse, r, b), sum);
        }
    }
    matrix_release(&fine);
    matrix_release(&coarse);
}
END_TEST

static void add_good(view_file *f, const char *file, int64_t unit, const matrix *bytes,
                     int64_t times)
{
    const access_pattern pattern = {
        .file = (char *)(uintptr_t)file, .calls = 77, .first = 512, .unit = unit};
    ck_assert_int_eq(view_file_add_calls(f, &pattern, bytes, times), 0);
}

START_TEST(calls_that_look_alike_are_one)
{
    uint64_t state = 5;
    view_file f = {0};
    matrix one = random_bytes(&state, 4, 16), other = random_bytes(&state, 4, 16), coarse;
    add_good(&f, "a", 64, &one, 3);
    add_good(&f, "a", 64, &one, 2);
    ck_assert_uint_eq(f.patterns, 1);
    ck_assert_int_eq(f.pattern[0].calls, 5);
    ck_assert_int_eq(f.pattern[0].first, 512);
    for (size_t i = 0; i < one.row_start[4]; i++)
        ck_assert_int_eq(f.bytes[0].value[i], 5 * one.value[i]);
    add_good(&f, "a", 64, &other, 1);
    ck_assert_uint_eq(f.patterns, 2);
    add_good(&f, "b", 64, &one, 1);
    ck_assert_uint_eq(f.patterns, 3);
    ck_assert_int_eq(view_file_coarsen(&one, 2, &coarse), 0);
    add_good(&f, "b", 256, &coarse, 4);
    ck_assert_uint_eq(f.patterns, 3);
    ck_assert_int_eq(f.pattern[2].calls, 5);
    ck_assert_int_eq(f.pattern[2].unit, 256);
    add_good(&f, "b", 64, &one, 1);
    ck_assert_int_eq(f.pattern[2].calls, 6);
    ck_assert_int_eq(matrix_get(&f.bytes[2], 0, 1), 6 * matrix_get(&coarse, 0, 1));
    access_pattern pattern = {.file = f.pattern[0].file, .calls = 1, .unit = 64};
    ck_assert_int_eq(view_file_add_calls(&f, &pattern, &one, 0), -EINVAL);
    ck_assert_int_eq(view_file_add_calls(&f, &pattern, &one, INT64_MAX), -ERANGE);
    pattern.division.stripe = 65536;
    ck_assert_int_eq(view_file_add_calls(&f, &pattern, &one, 1), 0);
    ck_assert_uint_eq(f.patterns, 4);
    matrix_release(&one);
    one = random_bytes(&state, 5, 16);
    ck_assert_int_eq(view_file_add_calls(&f, &pattern, &one, 1), -EINVAL);
    matrix_release(&one);
    matrix_release(&other);
    matrix_release(&coarse);
    view_file_release(&f);
}
END_TEST

/* Calls, bytes and entries of all patterns. */
struct sums {
    int64_t calls, bytes;
    size_t entries;
};

static struct sums sum_patterns(const view_file *f)
{
    struct sums sums = {0};
    for (size_t k = 0; k < f->patterns; k++) {
        int64_t bytes;
        ck_assert_int_eq(matrix_sum(&f->bytes[k], &bytes), 0);
        sums.bytes += bytes;
        sums.calls += f->pattern[k].calls;
        sums.entries += matrix_entries(&f->bytes[k]);
    }
    return sums;
}

/* A range that grows from call to call. */
START_TEST(many_shapes_become_few)
{
    view_file f = {0};
    int64_t bytes = 0;
    for (size_t call = 1; call <= 200; call++) {
        matrix_entry entry[] = {{0, 0, 10}, {1, call / 2, (int64_t)call}};
        matrix m;
        ck_assert_int_eq(matrix_from_entries(&m, 2, call, entry, 2), 0);
        add_good(&f, call % 3 == 0 ? "x" : "y", call < 100 ? 64 : 128, &m, 1);
        bytes += 10 + (int64_t)call;
        matrix_release(&m);
    }
    ck_assert_uint_le(f.patterns, VIEW_FILE_MOST_PATTERNS);
    ck_assert_int_eq(sum_patterns(&f).bytes, bytes);
    ck_assert_int_eq(sum_patterns(&f).calls, 200);
    view_file_release(&f);
}
END_TEST

/* Files of one shape each, a time step for one. */
START_TEST(files_that_look_alike_become_one)
{
    uint64_t state = 9;
    view_file f = {0};
    matrix step = random_bytes(&state, 4, 16), other = random_bytes(&state, 4, 16);
    char name[20];
    add_good(&f, "input", 64, &other, 1);
    for (int k = 0; k < 100; k++) {
        snprintf(name, sizeof name, "step.%d", k);
        add_good(&f, name, 64, &step, 1);
    }
    ck_assert_uint_le(f.patterns, VIEW_FILE_MOST_PATTERNS);
    ck_assert_int_eq(f.pattern[0].calls, 1);
    ck_assert_str_eq(f.pattern[0].file, "input");
    ck_assert_str_eq(f.pattern[1].file, "step.0");
    for (size_t k = 1; k < f.patterns; k++)
        ck_assert_int_eq(matrix_get(&f.bytes[k], 0, f.bytes[k].col[0]),
                         f.pattern[k].calls * step.value[0]);
    matrix_release(&step);
    matrix_release(&other);
    view_file_release(&f);
}
END_TEST

/* Every rank in every bin of a large file, three times: less than that is kept. */
START_TEST(entries_are_limited)
{
    enum { RANKS = 1024, BINS = 400 };
    matrix m;
    view_file f = {0};
    ck_assert_int_eq(matrix_allocate(&m, RANKS, BINS, (size_t)RANKS * BINS), 0);
    for (size_t i = 0; i < (size_t)RANKS * BINS; i++) {
        m.col[i] = i % BINS;
        m.value[i] = (int64_t)(i % 7) + 1;
    }
    for (size_t r = 0; r <= RANKS; r++)
        m.row_start[r] = r * BINS;
    int64_t one;
    ck_assert_int_eq(matrix_sum(&m, &one), 0);
    for (int k = 0; k < 3; k++) {
        m.value[0] += k;
        add_good(&f, (const char *[]){"a", "b", "c"}[k], 4096, &m, 1);
    }
    for (size_t k = 0; k < f.patterns; k++)
        ck_assert_int_ge(f.pattern[k].unit * (int64_t)f.bytes[k].cols, 4096 * BINS);
    struct sums sums = sum_patterns(&f);
    ck_assert_uint_le(sums.entries, VIEW_FILE_ENTRIES);
    ck_assert_uint_ge(sums.entries, VIEW_FILE_ENTRIES / 4);
    ck_assert_int_eq(sums.bytes, 3 * one + 1 + 3);
    ck_assert_int_eq(sums.calls, 3);
    matrix_release(&m);
    view_file_release(&f);
}
END_TEST

START_TEST(whole_files_are_added)
{
    view_file f = {0}, more = read_good(TEXT), other = read_good("FILEVIEW\n0 3\n1 1 1\n");
    view_file later = read_good(TEXT "ORDER 2 0 1\n");
    ck_assert_int_eq(view_file_add(&f, &more), 0);
    ck_assert_int_eq(view_file_add(&f, &later), 0);
    ck_assert_int_eq(matrix_get(&f.view, 0, 1), 10);
    ck_assert_uint_eq(f.patterns, 1);
    ck_assert_int_eq(f.pattern[0].calls, 4);
    ck_assert_int_eq(matrix_get(&f.bytes[0], 2, 7), 198);
    ck_assert_uint_eq(f.order[0], 2);
    ck_assert_int_eq(view_file_add(&f, &other), -EINVAL);
    view_file_release(&f);
    view_file_release(&more);
    view_file_release(&other);
    view_file_release(&later);
}
END_TEST

/* --- memory --- */

START_TEST(memory_runs_out)
{
    long nth = 0;
    for (int rc = -ENOMEM; rc != 0; nth++) {
        view_file f = {.patterns = 99};
        matrix_error error;
        FILE *stream = fmemopen((void *)(uintptr_t)(TEXT), strlen(TEXT), "r");
        fail_allocation(nth);
        rc = view_file_read(stream, &f, &error);
        stop_failing();
        fclose(stream);
        ck_assert_int_eq(rc, allocations.failed ? -ENOMEM : 0);
        if (rc == 0)
            view_file_release(&f);
        else
            ck_assert(f.patterns == 99 && allocations.live <= 0);
    }
    ck_assert_int_gt(nth, 6);
}
END_TEST

START_TEST(memory_runs_out_when_adding)
{
    view_file more = read_good(TEXT);
    long nth = 0;
    for (int rc = -ENOMEM; rc != 0; nth++) {
        view_file f = {0};
        fail_allocation(nth);
        rc = view_file_add(&f, &more);
        if (rc == 0)
            rc = view_file_add(&f, &more);
        view_file_release(&f);
        stop_failing();
        ck_assert_int_eq(rc, allocations.failed ? -ENOMEM : 0);
        ck_assert_int_le(allocations.live, 0);
    }
    ck_assert_int_gt(nth, 10);
    view_file_release(&more);
}
END_TEST

int main(void)
{
    return run_tests(
        "view_file", ONCE(bad_sections), TIMES(coarser_bins_hold_the_sums, random_cases(30)),
        ONCE(files_of_others_have_no_profile), ONCE(names_of_all_kinds),
        ONCE(divisions_are_read_and_written), ONCE(bytes_without_aggregators_are_a_comment),
        ONCE(truncated), ONCE(sections_without_end), ONCE(not_written),
        ONCE(names_that_are_too_long), ONCE(calls_that_look_alike_are_one),
        ONCE(many_shapes_become_few), ONCE(files_that_look_alike_become_one),
        ONCE(entries_are_limited), ONCE(whole_files_are_added), ONCE(memory_runs_out),
        ONCE(memory_runs_out_when_adding));
}
