/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs as bytes: each by its distance from the end of the one before, or as a repetition of earlier
 * runs. */
#include "access/encoding.h"
#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* The first byte of a token is one of
 *     nnnnnnd1  repetition of n + 1 runs; d: at another distance than the last one, which follows
 *               less 1
 *     gggggms0  a run: the lower 5 bits of the gap; m: the others follow, otherwise they are 0; the
 *               length follows; s: the hole between two blocks and the count less 2, too
 * Values that follow have 7 bits a byte, the lowest first, 128 in all bytes but the last. */
enum { TOKEN_REPEAT = 1, TOKEN_OTHER_DISTANCE = 2, TOKEN_STRIDED = 2, TOKEN_MORE_GAP = 4 };
enum { GAP_SHIFT = 3, GAP_BITS = 5, REPEAT_SHIFT = 2, MOST_REPEATED = 64 };

/* A shorter repetition at another distance takes no fewer bytes than its runs. */
enum { LEAST_REPEATED_FROM = 4 };

/* A value has at most 9 bytes; the header two of them, and a run a byte and four. */
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

int access_message_append(access_message *message, const int64_t *more, size_t count)
{
    int rc =
        base_reserve(&message->element, &message->capacity, message->count + count, sizeof *more);
    if (rc != 0 || count == 0)
        return rc;
    memcpy(message->element + message->count, more, count * sizeof *more);
    message->count += count;
    return 0;
}

/* ---- encoding ---- */

/* The last run of a hash. Its other bits spare most accesses to a run that is out of the cache. */
typedef struct sighting {
    uint32_t other_bits, run; /* run: 1 + index; 0: none */
} sighting;

typedef struct encoder {
    const access_run *run;
    size_t runs;
    int64_t gap;      /* before the next run */
    size_t distance;  /* of the last repetition, in runs */
    sighting *latest; /* by hash; NULL if there is none */
    unsigned bits;    /* of the index of `latest` */
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
    assert(value >= 0);
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

/* Hashes the gap before a run, its length, and the places of the next ones, as many as are worth a
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
    while (runs > 0) {
        size_t part = runs < MOST_REPEATED ? runs : MOST_REPEATED;
        int other = distance != e->distance;
        write_byte(e,
                   (part - 1) << REPEAT_SHIFT | (other ? TOKEN_OTHER_DISTANCE : 0) | TOKEN_REPEAT);
        if (other)
            write_value(e, (int64_t)distance - 1);
        e->distance = distance;
        runs -= part;
    }
}

static void write_run(encoder *e, size_t i)
{
    const access_run *run = &e->run[i];
    uint64_t gap = (uint64_t)e->gap, more = gap >> GAP_BITS;
    int strided = run->count > 1;
    write_byte(e,
               gap << GAP_SHIFT | (more > 0 ? TOKEN_MORE_GAP : 0) | (strided ? TOKEN_STRIDED : 0));
    if (more > 0)
        write_value(e, (int64_t)more);
    write_value(e, run->length);
    if (strided) {
        write_value(e, run->stride - run->length);
        write_value(e, run->count - 2);
    }
}

static int write_runs(encoder *e, int64_t shift)
{
    int rc = make_room(e, MOST_BYTES);
    if (rc == 0) {
        write_value(e, (int64_t)e->runs);
        write_value(e, e->run[0].offset + shift);
    }
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
    int rc = access_is_ordered(list) ? make_hash_table(&e) : -EINVAL;
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

static void read_run(decoder *d, uint64_t token)
{
    uint64_t low = token >> GAP_SHIFT, more = 0;
    int64_t stride = 0, count = 1;
    if (token & TOKEN_MORE_GAP)
        more = (uint64_t)read_value(d);
    d->malformed |= more > (uint64_t)INT64_MAX >> GAP_BITS;
    int64_t gap = (int64_t)(more << GAP_BITS | low), length = read_value(d);
    if (token & TOKEN_STRIDED) {
        d->malformed |= __builtin_add_overflow(length, read_value(d), &stride) ||
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
    if (!(token & TOKEN_REPEAT)) {
        read_run(d, token);
        return;
    }
    if (token & TOKEN_OTHER_DISTANCE)
        d->distance = (size_t)read_value(d) + 1;
    read_repetition(d, (size_t)(token >> REPEAT_SHIFT) + 1);
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
    d.runs = (size_t)read_value(&d);
    d.upper = read_value(&d);
    if (d.malformed || d.runs == 0 || (d.runs - 1) / MOST_REPEATED >= bytes || list->count > 0)
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
