/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs as bytes: each by its distance from the end of the one before, in units of the largest power
 * of two that divides all distances and lengths; or as a repetition of earlier runs. */
#include "access/encoding.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

/* The first byte of a token is one of
 *     lllllll1  small: a second byte follows; of the 15 bits, 6 are the length, 9 the gap
 *     nnnnnn10  repetition of n + 1 runs, at the distance of the last repetition
 *     nnnnn100  repetition of n + 1 runs, at another distance, which follows less 1
 *     gggls000  literal: the gap's lower 3 bits, the others follow; l: length of the run before,
 * else the length follows; s: the hole between two blocks and the count less 2 follow and values
 * that follow have 7 bits a byte, the lowest first, 128 in all bytes but the last. */
enum {
    TOKEN_SMALL = 1,
    TOKEN_REPEAT = 2,
    TOKEN_REPEAT_FROM = 4,
    TOKEN_STRIDED = 8,
    TOKEN_SAME_LENGTH = 16
};
enum { SMALL_LENGTH_BITS = 6, SMALL_GAP_BITS = 9, LITERAL_GAP_BITS = 3 };
enum { MOST_REPEATED = 64, MOST_REPEATED_FROM = 32 };

/* A shorter repetition at another distance takes no fewer bytes than its runs. */
enum { LEAST_REPEATED_FROM = 4 };

/* A value has at most 9 bytes; the header five of them, and a literal a byte and four. */
enum { VALUE_BITS = 7, MOST_BYTES = 48, ELEMENT_BYTES = sizeof(int64_t) };

static int64_t end_of_run(const access_run *run)
{
    return run->offset + (run->count - 1) * run->stride + run->length;
}

/* Between a run and the one before; 0 for the first one, whose offset is in the header. */
static int64_t gap_before(const access_run *run, size_t i)
{
    return i > 0 ? run[i].offset - end_of_run(&run[i - 1]) : 0;
}

/* ---- encoding ---- */

/* The last run of a hash. Its other bits spare most accesses to a run that is out of the cache. */
typedef struct sighting {
    uint32_t other_bits, run; /* run: 1 + index; 0: none */
} sighting;

typedef struct encoder {
    const access_run *run;
    size_t runs;
    int64_t gap;       /* before the next run, in bytes */
    unsigned exponent; /* the unit is 2^exponent bytes */
    size_t distance;   /* of the last repetition, in runs */
    sighting *latest;  /* by hash; NULL: none */
    unsigned bits;     /* of the index of `latest` */
    access_message *message;
    size_t bytes; /* of the message */
} encoder;

/* The table of hashes stays in the processor's cache. */
enum { LEAST_HASH_BITS = 4, MOST_HASH_BITS = 13 };

static int make_room(encoder *e, size_t bytes)
{
    return base_reserve(&e->message->element, &e->message->capacity,
                        (e->bytes + bytes) / ELEMENT_BYTES + 1, ELEMENT_BYTES);
}

static void write_byte(encoder *e, uint64_t byte)
{
    ((unsigned char *)e->message->element)[e->bytes++] = (unsigned char)byte;
}

static void write_value(encoder *e, int64_t value)
{
    unsigned char *begin = (unsigned char *)e->message->element + e->bytes, *at = begin;
    uint64_t rest = (uint64_t)value;
    for (; rest >> VALUE_BITS > 0; rest >>= VALUE_BITS)
        *at++ = (unsigned char)(rest | 1 << VALUE_BITS);
    *at++ = (unsigned char)rest;
    e->bytes += (size_t)(at - begin);
}

/* The number of runs from i on that equal those from j < i on, gaps included. Runs of one shape
 * have equal gaps where their offsets differ by the same. */
static size_t count_repeated(const encoder *e, size_t i, size_t j)
{
    const access_run *x = &e->run[i], *y = &e->run[j], *end = e->run + e->runs;
    int64_t moved = x->offset - y->offset;
    if (x->length != y->length || e->gap != gap_before(e->run, j))
        return 0;
    while (x < end && x->offset - y->offset == moved && x->length == y->length &&
           x->stride == y->stride && x->count == y->count) {
        x++;
        y++;
    }
    return (size_t)(x - &e->run[i]);
}

/* Of the gap before a run, its length, and the places of the next ones, as many as are worth a
 * repetition. */
static uint64_t hash_runs(const encoder *e, size_t i)
{
    const access_run *run = &e->run[i];
    uint64_t gap = (uint64_t)e->gap, length = (uint64_t)run->length;
    uint64_t next = (uint64_t)(run[1].offset - run->offset);
    uint64_t last = (uint64_t)(run[LEAST_REPEATED_FROM - 1].offset - run->offset);
    uint64_t sum = (gap ^ length << 40) * UINT64_C(0x9e3779b97f4a7c15) +
                   (next ^ last << 32) * UINT64_C(0xbf58476d1ce4e5b9);
    return (sum ^ sum >> 32) * UINT64_C(0x94d049bb133111eb);
}

/* The number of runs from i on that are a repetition, at *distance. */
static size_t find_repetition(encoder *e, size_t i, size_t *distance)
{
    size_t best = i >= e->distance ? count_repeated(e, i, i - e->distance) : 0;
    *distance = e->distance;
    if (best >= LEAST_REPEATED_FROM || e->latest == NULL || e->runs - i < LEAST_REPEATED_FROM)
        return best;
    uint64_t hash = hash_runs(e, i);
    sighting *latest = &e->latest[hash >> (64 - e->bits)], here = {(uint32_t)hash, (uint32_t)i + 1};
    if (latest->other_bits == here.other_bits && latest->run > 0) {
        size_t from = latest->run - 1, found = count_repeated(e, i, from);
        if (found >= LEAST_REPEATED_FROM) {
            best = found;
            *distance = i - from;
        }
    }
    *latest = here;
    return best;
}

static void write_repetition(encoder *e, size_t runs, size_t distance)
{
    if (distance != e->distance) {
        size_t first = runs < MOST_REPEATED_FROM ? runs : MOST_REPEATED_FROM;
        write_byte(e, (first - 1) << 3 | TOKEN_REPEAT_FROM);
        write_value(e, (int64_t)distance - 1);
        e->distance = distance;
        runs -= first;
    }
    while (runs > 0) {
        size_t part = runs < MOST_REPEATED ? runs : MOST_REPEATED;
        write_byte(e, (part - 1) << 2 | TOKEN_REPEAT);
        runs -= part;
    }
}

static void write_run(encoder *e, size_t i)
{
    const access_run *run = &e->run[i];
    uint64_t gap = (uint64_t)e->gap >> e->exponent;
    uint64_t length = (uint64_t)run->length >> e->exponent;
    int strided = run->count > 1, same = i > 0 && run->length == run[-1].length;
    if (!strided && gap >> SMALL_GAP_BITS == 0 && length >> SMALL_LENGTH_BITS == 0) {
        uint64_t both = gap << SMALL_LENGTH_BITS | length;
        write_byte(e, both << 1 | TOKEN_SMALL);
        write_byte(e, both >> VALUE_BITS);
        return;
    }
    write_byte(e, gap << (8 - LITERAL_GAP_BITS) | (same ? TOKEN_SAME_LENGTH : 0) |
                      (strided ? TOKEN_STRIDED : 0));
    write_value(e, (int64_t)(gap >> LITERAL_GAP_BITS));
    if (!same)
        write_value(e, (int64_t)length);
    if (strided) {
        write_value(e, (run->stride - run->length) >> e->exponent);
        write_value(e, run->count - 2);
    }
}

/* The part of a length that the border of a domain left of an element, at the first and the last
 * run. */
static int64_t rest_of_length(const encoder *e, const access_run *run)
{
    return run->length & ((INT64_C(1) << e->exponent) - 1);
}

static void write_header(encoder *e, int64_t shift)
{
    write_value(e, (int64_t)e->runs);
    write_value(e, e->exponent);
    write_value(e, e->run[0].offset + shift);
    if (e->exponent > 0) {
        write_value(e, rest_of_length(e, &e->run[0]));
        write_value(e, rest_of_length(e, &e->run[e->runs - 1]));
    }
}

static int write_runs(encoder *e, int64_t shift)
{
    int rc = make_room(e, MOST_BYTES);
    if (rc == 0)
        write_header(e, shift);
    for (size_t i = 0; i < e->runs && rc == 0;) {
        size_t distance, repeated;
        e->gap = gap_before(e->run, i);
        repeated = find_repetition(e, i, &distance);
        rc = make_room(e, MOST_BYTES + repeated / MOST_REPEATED);
        if (rc == 0 && repeated > 0)
            write_repetition(e, repeated, distance);
        else if (rc == 0)
            write_run(e, i);
        i += repeated > 0 ? repeated : 1;
    }
    while (rc == 0 && e->bytes % ELEMENT_BYTES > 0)
        write_byte(e, 0);
    return rc;
}

/* The exponent of the unit. The first and the last length need not be a multiple of it. -EINVAL:
 * the list is not ordered. */
static int find_unit(const access_list *list, unsigned *exponent)
{
    const access_run *run = list->run;
    uint64_t bits = 0, wrong = 0;
    for (size_t i = 0; i < list->count; i++) {
        int64_t gap = gap_before(run, i);
        int single = run[i].count == 1;
        bits |= (uint64_t)gap | (uint64_t)run[i].stride;
        bits |= single && (i == 0 || i == list->count - 1) ? 0 : (uint64_t)run[i].length;
        wrong |= (uint64_t)gap | (uint64_t)(single ? 0 : run[i].stride - run[i].length);
    }
    *exponent = bits > 0 ? (unsigned)__builtin_ctzll(bits) : 0;
    return wrong >> 63 ? -EINVAL : 0;
}

static int make_hash_table(encoder *e)
{
    for (e->bits = LEAST_HASH_BITS; e->bits < MOST_HASH_BITS && e->runs >> e->bits > 0;)
        e->bits++;
    if (e->runs <= LEAST_REPEATED_FROM || e->runs >= UINT32_MAX)
        return 0;
    e->latest = calloc((size_t)1 << e->bits, sizeof *e->latest);
    return e->latest == NULL ? -ENOMEM : 0;
}

int access_encode_runs(const access_list *list, int64_t shift, access_message *message)
{
    encoder e = {.run = list->run,
                 .runs = list->count,
                 .distance = 1,
                 .message = message,
                 .bytes = message->count * ELEMENT_BYTES};
    int64_t lower, upper;
    if (list->count == 0)
        return 0;
    if (__builtin_add_overflow(access_lower(list), shift, &lower) || lower < 0 ||
        __builtin_add_overflow(access_upper(list), shift, &upper))
        return -EINVAL;
    int rc = find_unit(list, &e.exponent);
    if (rc == 0)
        rc = make_hash_table(&e);
    if (rc == 0)
        rc = write_runs(&e, shift);
    free(e.latest);
    if (rc == 0)
        message->count = e.bytes / ELEMENT_BYTES;
    return rc;
}

/* ---- decoding ---- */

typedef struct decoder {
    const unsigned char *at, *end;
    int malformed;
    size_t runs;
    unsigned exponent;
    int64_t first_rest, last_rest; /* of lengths */
    size_t distance;
    int64_t upper; /* end of the last run */
    access_list *list;
} decoder;

static uint64_t read_byte(decoder *d)
{
    if (d->at < d->end)
        return *d->at++;
    d->malformed = 1;
    return 0;
}

/* Below 2^63. */
static int64_t read_value(decoder *d)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += VALUE_BITS) {
        uint64_t byte = read_byte(d);
        value |= (byte & 127) << shift;
        if (byte >> VALUE_BITS == 0)
            return (int64_t)value;
    }
    d->malformed = 1;
    return 0;
}

static int64_t units_to_bytes(decoder *d, uint64_t units)
{
    if (units <= (uint64_t)INT64_MAX >> d->exponent)
        return (int64_t)(units << d->exponent);
    d->malformed = 1;
    return 0;
}

static void read_header(decoder *d)
{
    d->runs = (size_t)read_value(d);
    int64_t exponent = read_value(d);
    d->upper = read_value(d);
    d->exponent = exponent < 63 ? (unsigned)exponent : 0;
    if (exponent > 0) {
        d->first_rest = read_value(d);
        d->last_rest = read_value(d);
    }
    d->malformed |= exponent > 62 || d->runs == 0 || d->first_rest >> d->exponent > 0 ||
                    d->last_rest >> d->exponent > 0;
}

/* There is room for all runs of the header. Fields are passed one by one: a copy of a struct waits
 * for them. */
static void append_decoded(decoder *d, int64_t gap, int64_t length, int64_t stride, int64_t count)
{
    access_list *list = d->list;
    access_run *run = &list->run[list->count];
    int64_t offset, last, upper;
    if (d->malformed || length < 1 || __builtin_add_overflow(d->upper, gap, &offset) ||
        __builtin_mul_overflow(count - 1, stride, &last) ||
        __builtin_add_overflow(offset, last, &last) ||
        __builtin_add_overflow(last, length, &upper)) {
        d->malformed = 1;
        return;
    }
    run->offset = offset;
    run->length = length;
    run->stride = stride;
    run->count = count;
    run->stream = list->bytes;
    list->bytes += count * length;
    list->count++;
    d->upper = upper;
}

/* A length in units, of the run that is next. */
static int64_t read_length(decoder *d, uint64_t units)
{
    int64_t rest = 0;
    if (d->list->count == 0)
        rest = d->first_rest;
    else if (d->list->count == d->runs - 1)
        rest = d->last_rest;
    return units_to_bytes(d, units) + rest;
}

static void read_small(decoder *d, uint64_t token)
{
    uint64_t both = token >> 1 | read_byte(d) << VALUE_BITS;
    uint64_t length = both & ((1 << SMALL_LENGTH_BITS) - 1);
    int64_t gap = units_to_bytes(d, both >> SMALL_LENGTH_BITS);
    append_decoded(d, gap, read_length(d, length), 0, 1);
}

static void read_literal(decoder *d, uint64_t token)
{
    access_list *list = d->list;
    uint64_t high = (uint64_t)read_value(d), units = high << LITERAL_GAP_BITS | token >> 5;
    int64_t gap = units_to_bytes(d, units), length = 0, stride = 0, count = 1;
    d->malformed |= high > (uint64_t)INT64_MAX >> LITERAL_GAP_BITS;
    if (!(token & TOKEN_SAME_LENGTH))
        length = read_length(d, (uint64_t)read_value(d));
    else if (list->count > 0)
        length = list->run[list->count - 1].length;
    if (token & TOKEN_STRIDED) {
        int64_t hole = units_to_bytes(d, (uint64_t)read_value(d));
        d->malformed |= __builtin_add_overflow(length, hole, &stride) ||
                        __builtin_add_overflow(read_value(d), 2, &count);
    }
    append_decoded(d, gap, length, stride, count);
}

static void read_repetition(decoder *d, size_t runs)
{
    access_list *list = d->list;
    if (d->distance > list->count || runs > d->runs - list->count) {
        d->malformed = 1;
        return;
    }
    size_t from = list->count - d->distance;
    for (size_t j = from; j < from + runs && !d->malformed; j++) {
        const access_run *run = &list->run[j];
        append_decoded(d, gap_before(list->run, j), run->length, run->stride, run->count);
    }
}

static void read_token(decoder *d)
{
    uint64_t token = read_byte(d);
    if (token & TOKEN_SMALL) {
        read_small(d, token);
    } else if (token & TOKEN_REPEAT) {
        read_repetition(d, (size_t)(token >> 2) + 1);
    } else if (token & TOKEN_REPEAT_FROM) {
        d->distance = (size_t)read_value(d) + 1;
        read_repetition(d, (size_t)(token >> 3) + 1);
    } else {
        read_literal(d, token);
    }
}

/* 1 when less than an element remains, and it is zero. */
static int is_padding(const unsigned char *at, const unsigned char *end)
{
    int zero = end - at < ELEMENT_BYTES;
    while (zero && at < end)
        zero = *at++ == 0;
    return zero;
}

int access_decode_runs(access_list *list, const int64_t *element, size_t count)
{
    size_t bytes = count * ELEMENT_BYTES;
    decoder d = {.at = (const unsigned char *)element, .distance = 1, .list = list};
    if (count == 0)
        return list->count > 0 ? -EINVAL : 0;
    d.end = d.at + bytes;
    read_header(&d);
    if (d.malformed || (d.runs - 1) / MOST_REPEATED >= bytes || list->count > 0)
        return -EINVAL;
    int rc = base_reserve(&list->run, &list->capacity, d.runs, sizeof *list->run);
    while (rc == 0 && !d.malformed && list->count < d.runs)
        read_token(&d);
    if (rc == 0 && (d.malformed || !is_padding(d.at, d.end)))
        rc = -EINVAL;
    if (rc != 0)
        access_clear(list);
    return rc;
}
