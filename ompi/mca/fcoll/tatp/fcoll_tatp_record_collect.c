/* SPDX-License-Identifier: BSD-3-Clause */
/* From what each rank has noted to the record, on rank 0: one reduction over all ranks, then each
 * rank's accesses to those that count neighbours in a part of the file, then what these have
 * counted and each rank's row of the profile by way of the nodes. All calls that are noted go
 * together. Neighbours are found where the accesses are; nothing has the size of ranks squared, and
 * no rank sees all blocks. */
#include "fcoll_tatp_record.h"

#include <stdlib.h>
#include <string.h>

/* Parts of the range: one for each node, as far as messages to them stay few. */
enum { SOME_PARTS = 8, MOST_PARTS = 256 };

/* What all ranks add up: who is in trouble; bytes that are not collective; who sends to each part;
 * then CALL_SUMS for each call. */
enum { SUM_ERRORS, SUM_OTHERS, SUM_SENDERS };
enum { CALL_MISSED = RECORD_SUMS, CALL_SUMS };

/* What a rank says to rank 0 of a call: of neighbours in its part, and its row of the profile. */
enum { TOLD_RANK, TOLD_CALL, TOLD_NEIGHBOURS, TOLD_PROFILE, TOLD_WORDS };

/* Some of what is noted, all of it collective or none. */
typedef struct collection {
    tatp_pass pass; /* for messages */
    tatp_recording *recording;
    const tatp_noted *call[TATP_MOST_NOTED];
    size_t calls, parts;
    record_words *part; /* what this rank accesses, by parts */
    int64_t sum[SUM_SENDERS + MOST_PARTS + TATP_MOST_NOTED * CALL_SUMS];
    int64_t unit[TATP_MOST_NOTED];
    tatp_words *received; /* at the owner of a part */
    size_t senders;
    record_words told; /* what this rank says; at the lowest of a node, what all of it say */
    record_sums sums[TATP_MOST_NOTED]; /* rank 0 */
} collection;

static int64_t *sums_of(collection *c, size_t call)
{
    return c->sum + SUM_SENDERS + c->parts + call * CALL_SUMS;
}

/* ---- all ranks: what they access ---- */

static size_t count_parts(const tatp_pass *pass)
{
    size_t ranks = (size_t)pass->fh->f_size, parts = pass->module->where.nodes;
    parts = parts < SOME_PARTS ? SOME_PARTS : parts > MOST_PARTS ? MOST_PARTS : parts;
    return parts < ranks ? parts : ranks;
}

static int describe_call(collection *c, size_t k)
{
    const tatp_noted *call = c->call[k];
    int64_t *sum = sums_of(c, k);
    if (call->error != 0)
        return call->error;
    sum[CALL_MISSED] = call->missed;
    int rc = record_add_sums(&call->list, call->lo, call->hi, sum);
    return rc != 0 ? rc
                   : record_describe_access(&call->list, call->lo, call->hi, k, c->part, c->parts);
}

static int describe_calls(collection *c)
{
    int rc = 0;
    c->part = calloc(c->parts, sizeof *c->part);
    if (NULL == c->part)
        return OMPI_ERR_OUT_OF_RESOURCE;
    for (size_t k = 0; k < c->calls && rc == 0; k++)
        rc = describe_call(c, k);
    for (size_t j = 0; j < c->parts; j++)
        c->sum[SUM_SENDERS + j] = c->part[j].count > 0;
    return tatp_from_errno(rc);
}

/* `rc` is what this rank brings along, and `others` its bytes that are not collective. */
static int add_up(collection *c, int rc, int64_t others)
{
    c->sum[SUM_ERRORS] = OMPI_SUCCESS != rc;
    c->sum[SUM_OTHERS] = others;
    int failed =
        tatp_allreduce(c->pass.fh, c->sum, (int)(SUM_SENDERS + c->parts + c->calls * CALL_SUMS),
                       MPI_INT64_T, MPI_SUM);
    if (OMPI_SUCCESS == rc)
        rc = failed;
    return OMPI_SUCCESS == rc && c->sum[SUM_ERRORS] > 0 ? OMPI_ERR_OUT_OF_RESOURCE : rc;
}

/* ---- owners of parts: neighbours ---- */

/* Sends and receives. A failure is local. */
static int exchange(collection *c)
{
    int rank = c->pass.fh->f_rank;
    size_t own = tatp_owned(c->pass.fh, (size_t)rank, c->parts);
    size_t senders = own != SIZE_MAX ? (size_t)c->sum[SUM_SENDERS + own] : 0;
    bool is_sender = own != SIZE_MAX && c->part[own].count > 0;
    c->received = calloc(senders + 1, sizeof *c->received);
    if (NULL != c->received)
        c->senders = senders;
    if (NULL != c->received && is_sender) {
        c->received[senders - 1] = (tatp_words){rank, c->part[own].word, c->part[own].count};
        c->part[own] = (record_words){0};
    }
    return tatp_exchange_parts(&c->pass, c->part, c->parts, senders - is_sender, c->received);
}

/* The lists of one call among what was received; at[s] stands behind the pieces of sender s that
 * were taken. Pieces of a sender are in the order of calls. */
typedef struct owned_call {
    access_list *list;
    size_t *rank, *at, count;
} owned_call;

static int take_lists(const collection *c, size_t k, owned_call *o)
{
    int rc = 0;
    for (size_t s = 0; s < c->senders && rc == 0; s++) {
        const tatp_words *from = &c->received[s];
        size_t call;
        if (o->at[s] >= from->count || from->word[o->at[s]] != (int64_t)k)
            continue;
        rc = record_read_access(from->word, from->count, &o->at[s], &call, &o->list[o->count]);
        o->rank[o->count++] = (size_t)from->from;
    }
    return rc;
}

static int tell_neighbours(collection *c, size_t k, owned_call *o)
{
    int rc = take_lists(c, k, o);
    if (rc == 0 && o->count > 0)
        rc = record_describe_neighbours(o->list, o->rank, o->count, (size_t)c->pass.fh->f_size,
                                        mca_fcoll_tatp_component.record_weight, &c->told);
    for (size_t i = 0; i < o->count; i++)
        access_release(&o->list[i]);
    memset(o->list, 0, (o->count + 1) * sizeof *o->list);
    o->count = 0;
    return rc;
}

/* ---- all ranks: what they say to rank 0 ---- */

static int tell_call(collection *c, size_t k, owned_call *o)
{
    const tatp_noted *call = c->call[k];
    int64_t head[TOLD_WORDS] = {c->pass.fh->f_rank, (int64_t)k, 0, 0};
    size_t begin = c->told.count;
    int rc = record_add_words(&c->told, head, TOLD_WORDS);
    if (rc == 0)
        rc = tell_neighbours(c, k, o);
    size_t middle = c->told.count;
    if (rc == 0 && call->collective)
        rc = record_describe_profile(&call->list, call->lo, c->unit[k], &c->told);
    if (rc == 0) {
        c->told.word[begin + TOLD_NEIGHBOURS] = (int64_t)(middle - begin - TOLD_WORDS);
        c->told.word[begin + TOLD_PROFILE] = (int64_t)(c->told.count - middle);
    }
    return rc;
}

static int tell_calls(collection *c)
{
    owned_call o = {calloc(c->senders + 1, sizeof *o.list), calloc(c->senders + 1, sizeof *o.rank),
                    calloc(c->senders + 1, sizeof *o.at), 0};
    int rc = NULL == o.list || NULL == o.rank || NULL == o.at ? -ENOMEM : 0;
    for (size_t k = 0; k < c->calls && rc == 0; k++)
        rc = tell_call(c, k, &o);
    free(o.list);
    free(o.rank);
    free(o.at);
    return tatp_from_errno(rc);
}

/* ---- rank 0: the sum ---- */

static int start_sums(collection *c)
{
    int rc = 0;
    for (size_t k = 0; k < c->calls && rc == 0; k++)
        rc = record_sums_start(&c->sums[k], (size_t)c->pass.fh->f_size, c->call[k]->lo,
                               c->call[k]->hi, c->unit[k], c->parts);
    return tatp_from_errno(rc);
}

/* Returns the words. */
static size_t add_told(collection *c, const int64_t *word, int *rc)
{
    record_sums *sums = &c->sums[word[TOLD_CALL]];
    size_t rank = (size_t)word[TOLD_RANK], neighbours = (size_t)word[TOLD_NEIGHBOURS];
    size_t profile = (size_t)word[TOLD_PROFILE];
    if (neighbours > 0)
        *rc = record_sums_add_neighbours(sums, tatp_owned(c->pass.fh, rank, c->parts),
                                         word + TOLD_WORDS, neighbours);
    if (*rc == 0)
        *rc = record_sums_add_profile(sums, rank, word + TOLD_WORDS + neighbours, profile);
    return TOLD_WORDS + neighbours + profile;
}

static int add_node(void *sum, const tatp_words *words)
{
    int rc = 0;
    for (size_t at = 0; at < words->count && rc == 0;)
        at += add_told(sum, words->word + at, &rc);
    return tatp_from_errno(rc);
}

static int add_rank(void *sum, const tatp_words *words)
{
    collection *c = sum;
    bool is_own = words->word == c->told.word;
    return is_own ? OMPI_SUCCESS
                  : tatp_from_errno(record_add_words(&c->told, words->word, words->count));
}

static int sum_up(void *sum, tatp_words *words)
{
    collection *c = sum;
    words->word = c->told.word;
    words->count = c->told.count;
    c->told = (record_words){0};
    return OMPI_SUCCESS;
}

/* Rows, and columns too if the matrix is square, by ranks of the communicator become rows by those
 * of the world; what is about processes of other jobs goes. */
static int rename_ranks(ompio_file_t *fh, matrix *m, bool square)
{
    matrix_builder world = {.rows = tatp_world_size(),
                            .cols = square ? tatp_world_size() : m->cols};
    matrix renamed;
    int rc = 0;
    for (size_t r = 0; r < m->rows; r++) {
        size_t row = tatp_world_rank(fh, (int)r);
        for (size_t k = m->row_start[r]; k < m->row_start[r + 1] && row != SIZE_MAX && rc == 0;
             k++) {
            size_t col = square ? tatp_world_rank(fh, (int)m->col[k]) : m->col[k];
            rc = col == SIZE_MAX ? 0 : matrix_builder_add(&world, row, col, m->value[k]);
        }
    }
    if (rc == 0)
        rc = matrix_builder_finish(&world, &renamed);
    matrix_builder_clear(&world);
    if (rc != 0)
        return rc;
    matrix_release(m);
    *m = renamed;
    return 0;
}

static int finish_call(collection *c, size_t k, tatp_kind *kind)
{
    const int64_t *sum = sums_of(c, k);
    *kind = (tatp_kind){.pattern = {.first = c->call[k]->lo, .unit = c->unit[k]},
                        .moved = sum[RECORD_SUM_BYTES],
                        .missed = sum[CALL_MISSED]};
    int rc = record_sums_finish(&c->sums[k], mca_fcoll_tatp_component.record_weight, &kind->view,
                                &kind->bytes);
    if (rc == 0)
        rc = rename_ranks(c->pass.fh, &kind->view, true);
    if (rc == 0 && kind->bytes.rows > 0)
        rc = rename_ranks(c->pass.fh, &kind->bytes, false);
    return rc;
}

static int keep_call(collection *c, size_t k)
{
    tatp_recording *recording = c->recording;
    tatp_kind kind;
    int rc = finish_call(c, k, &kind);
    if (rc == 0) {
        tatp_record_keep(recording->file, &kind, c->call[k]->times, !recording->counted);
        recording->counted = true;
    }
    if (rc == 0 && c->call[k]->collective) {
        tatp_kind_release(&recording->kind);
        recording->kind = kind;
    } else {
        tatp_kind_release(&kind);
    }
    return tatp_from_errno(rc);
}

/* ---- the whole ---- */

static int gather(collection *c, int rc)
{
    static const tatp_by_node way = {TATP_TAG_ROWS, TATP_TAG_NODE_ROWS, add_rank, sum_up, add_node};
    bool root = c->pass.fh->f_rank == 0;
    if (OMPI_SUCCESS == rc && root)
        rc = start_sums(c);
    if (OMPI_SUCCESS == rc)
        rc = tell_calls(c);
    tatp_words own = {c->pass.fh->f_rank, c->told.word, c->told.count};
    rc = tatp_gather_by_node(&c->pass, &way, c, &own, rc);
    for (size_t k = 0; k < c->calls && OMPI_SUCCESS == rc && root; k++)
        rc = keep_call(c, k);
    return rc;
}

static void release(collection *c)
{
    for (size_t j = 0; j < c->parts && NULL != c->part; j++)
        free(c->part[j].word);
    free(c->part);
    for (size_t s = 0; s < c->senders; s++)
        free(c->received[s].word);
    free(c->received);
    free(c->told.word);
    for (size_t k = 0; k < c->calls; k++)
        record_sums_release(&c->sums[k]);
}

/* *others: bytes that are not collective; becomes those of all ranks. */
static int collect(collection *c, int64_t *others)
{
    c->parts = count_parts(&c->pass);
    int rc = add_up(c, describe_calls(c), *others);
    for (size_t k = 0; k < c->calls; k++)
        c->unit[k] = c->call[k]->collective
                         ? record_choose_unit(c->call[k]->lo, c->call[k]->hi, sums_of(c, k))
                         : 0;
    *others = OMPI_SUCCESS == rc ? c->sum[SUM_OTHERS] : 0;
    if (OMPI_SUCCESS == rc && c->calls > 0)
        rc = gather(c, exchange(c));
    release(c);
    return rc;
}

static void choose(tatp_recording *recording, ompio_file_t *fh, bool collective, collection *c)
{
    memset(c, 0, sizeof *c);
    c->pass.fh = fh;
    c->pass.module = recording->module;
    c->recording = recording;
    for (size_t k = 0; k < recording->count; k++) {
        const tatp_noted *noted = &recording->noted[k];
        if (noted->collective == collective && (collective || noted->hi > 0))
            c->call[c->calls++] = noted;
    }
}

/* The ranges of what is not collective; hi is 0 where there is nothing. */
static int agree_ranges(ompio_file_t *fh, tatp_recording *recording)
{
    int64_t value[2 * TATP_MOST_NOTED] = {0};
    for (size_t k = 0; k < recording->count; k++) {
        const access_list *list = &recording->noted[k].list;
        value[2 * k] = list->count > 0 ? -access_lower(list) : -ACCESS_END;
        value[2 * k + 1] = access_upper(list);
    }
    int rc = tatp_agree_max(fh, value, (int)(2 * recording->count));
    for (size_t k = 0; k < recording->count; k++) {
        tatp_noted *noted = &recording->noted[k];
        if (!noted->collective) {
            noted->lo = -value[2 * k];
            noted->hi = value[2 * k + 1];
        }
    }
    return rc;
}

int tatp_collect(ompio_file_t *fh, tatp_recording *recording)
{
    collection c;
    int64_t others = 0;
    for (size_t k = 0; k < recording->count; k++)
        others += recording->noted[k].collective ? 0 : recording->noted[k].list.bytes;
    if (recording->count == 0)
        return OMPI_SUCCESS;
    choose(recording, fh, true, &c);
    if (c.calls > 0)
        tatp_kind_release(&recording->kind);
    int rc = collect(&c, &others);
    if (others > 0) {
        int first = OMPI_SUCCESS != rc ? rc : agree_ranges(fh, recording);
        choose(recording, fh, false, &c);
        others = 0;
        rc = collect(&c, &others);
        rc = OMPI_SUCCESS != first ? first : rc;
    }
    return rc;
}
