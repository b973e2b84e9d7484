/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of runs as messages. */
#include "access/encoding.h"
#include "base/memory.h"
#include "failing_malloc.h"
#include "seeded.h"
#include "suite.h"

#include <errno.h>
#include <string.h>

enum { CASES = 2000, MOST_RUNS = 400, RUNS_PER_BYTE = 64 };

static uint64_t state;

static int64_t below(int64_t n)
{
    return pick(&state, 0, n - 1);
}

/* Of any magnitude up to 2^bits. */
static int64_t below_bits(int64_t bits)
{
    return below(INT64_C(1) << below(bits + 1));
}

/* ---- lists ---- */

/* Not merged with the last run. */
static void add_run(access_list *list, int64_t gap, int64_t length, int64_t stride, int64_t count)
{
    int64_t end = access_upper(list);
    ck_assert_int_eq(base_reserve(&list->run, &list->capacity, list->count + 1, sizeof *list->run),
                     0);
    list->run[list->count++] = (access_run){end + gap, length, stride, count, list->bytes};
    list->bytes += length * count;
}

/* The kinds of one list: magnitudes of gaps and lengths, how often runs are strided or repeated. */
typedef struct kind {
    int64_t unit, gap_bits, length_bits, strided, repeated;
} kind;

static void add_random(access_list *list, const kind *k)
{
    int64_t length = (1 + below_bits(k->length_bits)) * k->unit;
    int64_t gap = below_bits(k->gap_bits) * k->unit;
    if (below(10) < k->strided)
        add_run(list, gap, length, length + below_bits(k->gap_bits) * k->unit, 2 + below_bits(5));
    else
        add_run(list, gap, length, 0, 1);
}

/* Runs like those from `from` on. */
static void add_repeated(access_list *list, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++) {
        const access_run run = list->run[i];
        int64_t end = 0;
        if (i > 0) {
            const access_run *before = &list->run[i - 1];
            end = before->offset + (before->count - 1) * before->stride + before->length;
        }
        add_run(list, run.offset - end, run.length, run.stride, run.count);
    }
}

static access_list random_list(void)
{
    static const int64_t units[] = {1, 1, 2, 3, 4, 4, 8, 8, 12, 40, 512, 4096};
    const kind k = {units[below(12)], below(28), below(20), below(4) * below(4), below(8)};
    size_t runs = (size_t)(1 + below_bits(8) + below(MOST_RUNS / 4));
    access_list list = {0};
    add_random(&list, &k);
    list.run[0].offset += below_bits(40);
    while (list.count < runs) {
        size_t most = runs - list.count < 90 ? runs - list.count : 90;
        size_t from = (size_t)below((int64_t)list.count);
        if (below(10) < k.repeated && list.count > 1)
            add_repeated(&list, from, (size_t)(1 + below((int64_t)most)) % (list.count - from) + 1);
        else
            add_random(&list, &k);
    }
    ck_assert(access_is_ordered(&list));
    return list;
}

static void check_same(const access_list *a, const access_list *b, int64_t shift)
{
    ck_assert_uint_eq(a->count, b->count);
    ck_assert_int_eq(a->bytes, b->bytes);
    for (size_t i = 0; i < a->count; i++) {
        access_run moved = a->run[i];
        moved.offset += shift;
        ck_assert_mem_eq(&moved, &b->run[i], sizeof moved);
    }
}

/* ---- tests ---- */

/* What is accepted is an ordered list of a bounded number of runs. */
static int decode_any(const int64_t *element, size_t count)
{
    access_list list = {0};
    int rc = access_decode_runs(&list, element, count);
    if (rc == 0) {
        ck_assert(access_is_ordered(&list));
        ck_assert_int_ge(list.bytes, (int64_t)list.count);
        ck_assert_uint_le(list.count, RUNS_PER_BYTE * 8 * count);
        ck_assert_int_le(list.bytes, access_upper(&list));
    } else {
        ck_assert_int_eq(rc, -EINVAL);
        ck_assert_uint_eq(list.count, 0);
    }
    access_release(&list);
    return rc;
}

static void damage(int64_t *message, size_t count)
{
    for (size_t part = 1; part < count; part++)
        ck_assert_int_eq(decode_any(message, part), -EINVAL);
    for (int i = 0; i < 200; i++) {
        int64_t *element = &message[below((int64_t)count)];
        int64_t kept = *element, bits = below(2) ? 0 : (int64_t)next_random(&state);
        *element = (kept & bits) ^ (INT64_C(1) << below(63));
        decode_any(message, count);
        *element = kept ^ (INT64_C(1) << below(63));
        decode_any(message, count);
        *element = kept;
    }
}

/* Two messages, one behind the other: what is decoded is the list, moved by a shift; what is
 * damaged is refused, or a list. */
START_TEST(random_lists)
{
    for_random_seeds (seed, CASES) {
        state = seed;
        access_list list = random_list();
        access_message message = {0};
        int64_t shifts[] = {0, below(2) ? below_bits(40) : -below(list.run[0].offset + 1)};
        for (int i = 0; i < 2; i++) {
            access_list copy = {0};
            size_t begin = message.count;
            ck_assert_int_eq(access_encode_runs(&list, shifts[i], &message), 0);
            size_t count = message.count - begin;
            ck_assert_int_eq(access_decode_runs(&copy, message.element + begin, count), 0);
            check_same(&list, &copy, shifts[i]);
            ck_assert_uint_le(list.count, RUNS_PER_BYTE * 8 * count);
            if (seed % 8 == 0)
                damage(message.element + begin, count);
            access_release(&copy);
        }
        access_release(&list);
        free(message.element);
    }
}
END_TEST

START_TEST(empty_lists_are_empty_messages)
{
    access_list list = {0}, copy = {0};
    access_message message = {0};
    ck_assert_int_eq(access_encode_runs(&list, 0, &message), 0);
    ck_assert_uint_eq(message.count, 0);
    ck_assert_int_eq(access_decode_runs(&copy, NULL, 0), 0);
    ck_assert_uint_eq(copy.count, 0);
}
END_TEST

START_TEST(limits_are_kept)
{
    static const access_run runs[] = {
        {ACCESS_END - 1, 1, 0, 1, 0},   {0, ACCESS_END, 0, 1, 0},
        {0, 1, ACCESS_END - 1, 2, 0},   {0, 1, 1, ACCESS_END, 0},
        {7, 1, INT64_C(1) << 61, 3, 0}, {0, INT64_C(1) << 61, INT64_C(1) << 61, 3, 0},
    };
    for (size_t i = 0; i < LENGTH(runs); i++) {
        access_run run = runs[i];
        access_list list = {&run, 1, 1, run.count * run.length}, copy = {0};
        access_message message = {0};
        int64_t room = ACCESS_END - access_upper(&list);
        ck_assert_int_eq(access_encode_runs(&list, room + 1, &message), -EINVAL);
        ck_assert_int_eq(access_encode_runs(&list, -run.offset - 1, &message), -EINVAL);
        ck_assert_uint_eq(message.count, 0);
        ck_assert_int_eq(access_encode_runs(&list, room, &message), 0);
        ck_assert_int_eq(access_decode_runs(&copy, message.element, message.count), 0);
        check_same(&list, &copy, room);
        access_release(&copy);
        free(message.element);
    }
}
END_TEST

START_TEST(refused_lists)
{
    access_run descending[] = {{10, 4, 0, 1, 0}, {13, 4, 0, 1, 4}};
    access_run overlapping[] = {{0, 4, 3, 2, 0}};
    access_list list = {0};
    access_message message = {0};
    ck_assert_int_eq(access_encode_runs(&(access_list){descending, 2, 2, 8}, 0, &message), -EINVAL);
    ck_assert_int_eq(access_encode_runs(&(access_list){overlapping, 1, 1, 8}, 0, &message),
                     -EINVAL);
    ck_assert_uint_eq(message.count, 0);
    add_run(&list, 3, 5, 0, 1);
    ck_assert_int_eq(access_encode_runs(&list, 0, &message), 0);
    ck_assert_int_eq(access_decode_runs(&list, message.element, message.count), -EINVAL);
    access_release(&list);
    free(message.element);
}
END_TEST

/* ---- sizes ---- */

/* 100 variables of 20 levels of an irregular pattern of 40 runs. */
START_TEST(repeated_patterns_take_next_to_nothing)
{
    access_list list = {0};
    access_message message = {0};
    state = first_seed();
    for (int i = 0; i < 40; i++)
        add_run(&list, 4 * (1 + below(90)), 4 * (1 + below(4)), 0, 1);
    for (int i = 0; i < 2000; i++)
        add_repeated(&list, 0, 40);
    ck_assert_int_eq(access_encode_runs(&list, 0, &message), 0);
    ck_assert_uint_lt(400 * message.count, list.count);
    access_release(&list);
    free(message.element);
}
END_TEST

/* ---- malformed messages ---- */

START_TEST(random_bytes_are_refused_or_lists)
{
    for_random_seeds (seed, 10 * CASES) {
        int64_t element[4];
        state = seed;
        for (size_t i = 0; i < 4; i++)
            element[i] = (int64_t)next_random(&state);
        unsigned char header[] = {(unsigned char)(1 + below(9)), (unsigned char)below(5), 1};
        memcpy(element, header, sizeof header);
        decode_any(element, 1 + (size_t)below(4));
    }
}
END_TEST

enum { MOST_ELEMENTS = 5 };

#define FULL 255, 255, 255, 255, 255, 255, 255, 255, 127 /* 2^63 - 1 */
#define MESSAGE(...)                                                                               \
    sizeof((unsigned char[]){__VA_ARGS__}),                                                        \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* The header is: runs, offset. */
static const struct {
    const char *what;
    int rc;
    size_t count;
    unsigned char byte[8 * MOST_ELEMENTS];
} messages[] = {
    /* clang-format off */
    {"one run", 0, MESSAGE(1, 0, 0, 1)},
    {"a repetition", 0, MESSAGE(3, 0, 8, 1, 1 | 1 << 2)},
    {"the largest length", 0, MESSAGE(1, 0, 0, FULL)},
    {"no runs", -EINVAL, MESSAGE(0, 0)},
    {"more runs", -EINVAL, MESSAGE(2, 0, 0, 1)},
    {"fewer runs", -EINVAL, MESSAGE(1, 0, 8, 1, 8, 1)},
    {"runs without bytes", -EINVAL, MESSAGE(FULL, 0)},
    {"length of 0", -EINVAL, MESSAGE(1, 0, 0, 0)},
    {"value of 10 bytes", -EINVAL,
     MESSAGE(1, 0, 0, 128, 128, 128, 128, 128, 128, 128, 128, 128, 1)},
    {"length beyond int64", -EINVAL, MESSAGE(1, 1, 0, FULL)},
    {"gap beyond int64", -EINVAL, MESSAGE(1, 0, 4, FULL, 1)},
    {"gap and offset beyond int64", -EINVAL, MESSAGE(1, FULL, 8, 1)},
    {"stride beyond int64", -EINVAL, MESSAGE(1, 0, 2, 1, FULL, 0)},
    {"blocks beyond int64", -EINVAL,
     MESSAGE(1, 0, 2, 1, 255, 255, 255, 255, 255, 255, 255, 255, 63, 3)},
    {"count beyond int64", -EINVAL, MESSAGE(1, 0, 2, 1, 0, FULL)},
    {"repetition of nothing", -EINVAL, MESSAGE(1, 0, 1)},
    {"repetition of more than there is", -EINVAL, MESSAGE(2, 0, 8, 1, 3, 1)},
    {"repetition at a huge distance", -EINVAL, MESSAGE(2, 0, 8, 1, 3, FULL)},
    {"repetition of too many runs", -EINVAL, MESSAGE(2, 0, 8, 1, 1 | 63 << 2)},
    {"repetition beyond int64", -EINVAL,
     MESSAGE(3, 0, 0, 128, 128, 128, 128, 128, 128, 128, 128, 64, 1 | 1 << 2)},
    {"bytes behind the runs", -EINVAL, MESSAGE(1, 0, 0, 1, 0, 1)},
    {"an element behind the runs", -EINVAL, MESSAGE(1, 0, 0, 1, 0, 0, 0, 0, 0)},
    /* clang-format on */
};

START_TEST(malformed_messages_are_refused)
{
    for (size_t i = 0; i < LENGTH(messages); i++) {
        int64_t element[MOST_ELEMENTS] = {0};
        memcpy(element, messages[i].byte, messages[i].count);
        ck_assert_msg(decode_any(element, (messages[i].count + 7) / 8) == messages[i].rc, "%s",
                      messages[i].what);
    }
}
END_TEST

static int encode_and_decode(const access_list *list)
{
    access_message message = {0};
    access_list copy = {0};
    int rc = access_encode_runs(list, 0, &message);
    if (rc != 0 && message.count > 0)
        rc = -EIO;
    if (rc == 0)
        rc = access_decode_runs(&copy, message.element, message.count);
    free(message.element);
    access_release(&copy);
    return rc;
}

START_TEST(failed_allocations_are_errors)
{
    access_list list = {0};
    state = first_seed();
    for (int i = 0; i < 300; i++)
        add_run(&list, below(1 << 20), 1 + below(1 << 20), 0, 1);
    fail_each_allocation(encode_and_decode(&list));
    access_release(&list);
}
END_TEST

int main(void)
{
    return run_tests("encoding", ONCE(random_lists), ONCE(empty_lists_are_empty_messages),
                     ONCE(limits_are_kept), ONCE(refused_lists),
                     ONCE(failed_allocations_are_errors),
                     ONCE(repeated_patterns_take_next_to_nothing),
                     ONCE(random_bytes_are_refused_or_lists), ONCE(malformed_messages_are_refused));
}
