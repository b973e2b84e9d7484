/* SPDX-License-Identifier: BSD-3-Clause */
/* Collection of the pending accesses in the record, on rank 0, all of them together.
 *
 * One reduction over all ranks; then each rank's accesses go to the ranks that count neighbours in
 * a part of the range; then these counts and each rank's row of the profile go to rank 0, by way of
 * the node leaders. Memory and messages do not grow with the square of the number of ranks, and no
 * rank sees the blocks of all others. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_job.h"

/* Parts of the range: one for each node, as long as messages to their owners are few. */
enum { MIN_PARTS = 8, MAX_PARTS = 256 };

/* Sums over all ranks: ranks with an error; bytes that are not collective; ranks that access each
 * part; then CALL_SUMS for each call. */
enum { SUM_ERRORS, SUM_INDIVIDUAL, SUM_SENDERS };
enum { CALL_MISSED = RECORD_SUMS, CALL_SUMS };

/* What a rank reports of a call, to rank 0: the lengths of its counts of neighbours and of its row
 * of the profile, which follow. */
enum { REPORT_RANK, REPORT_CALL, REPORT_NEIGHBOURS, REPORT_PROFILE, REPORT_HEAD };

/* Some of the pending accesses: all collective ones, or all others. */
typedef struct collection {
    tatp_record *record;
    tatp_comm *comm;
    const tatp_record_pending *call[TATP_RECORD_MAX_PENDING];
    size_t calls, parts;
    record_message *part; /* what this rank accesses, by parts */
    int64_t sum[SUM_SENDERS + MAX_PARTS + TATP_RECORD_MAX_PENDING * CALL_SUMS];
    int64_t unit[TATP_RECORD_MAX_PENDING]; /* bytes of a bin of the profile */
    tatp_message *received;                /* by the owner of a part */
    size_t senders;
    record_message report;                     /* of this rank; at a node leader, of the node */
    record_sums sums[TATP_RECORD_MAX_PENDING]; /* rank 0 */
} collection;

static int64_t *sums_of_call(collection *c, size_t call)
{
    return c->sum + SUM_SENDERS + c->parts + call * CALL_SUMS;
}

/* ---- all ranks: their accesses ---- */

static size_t count_parts(const collection *c)
{
    size_t ranks = (size_t)tatp_comm_size(c->comm), parts = c->record->options.nodes;
    parts = parts < MIN_PARTS ? MIN_PARTS : parts > MAX_PARTS ? MAX_PARTS : parts;
    return parts < ranks ? parts : ranks;
}

static int describe_recorded_call(collection *c, size_t k)
{
    const tatp_record_pending *call = c->call[k];
    int64_t *sum = sums_of_call(c, k);
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
        rc = describe_recorded_call(c, k);
    for (size_t j = 0; j < c->parts; j++)
        c->sum[SUM_SENDERS + j] = c->part[j].count > 0;
    return tatp_from_errno(rc);
}

/* rc: this rank's status so far; individual: its bytes that are not collective, noted or not. An
 * error of any rank becomes one of all. Collective. */
static int reduce_sums(collection *c, int rc, int64_t individual)
{
    c->sum[SUM_ERRORS] = OMPI_SUCCESS != rc;
    c->sum[SUM_INDIVIDUAL] = individual;
    int failed = tatp_allreduce(c->comm, c->sum,
                                (compat_count)(SUM_SENDERS + c->parts + c->calls * CALL_SUMS),
                                MPI_INT64_T, MPI_SUM);
    if (OMPI_SUCCESS == rc)
        rc = failed;
    return OMPI_SUCCESS == rc && c->sum[SUM_ERRORS] > 0 ? OMPI_ERR_OUT_OF_RESOURCE : rc;
}

/* ---- owners of parts: neighbours ---- */

/* Returns this rank's error. Collective. */
static int exchange_parts(collection *c)
{
    int rank = tatp_comm_rank(c->comm);
    size_t own = tatp_record_owned(c->comm, (size_t)rank, c->parts);
    size_t senders = own != SIZE_MAX ? (size_t)c->sum[SUM_SENDERS + own] : 0;
    bool is_sender = own != SIZE_MAX && c->part[own].count > 0;
    c->received = calloc(senders + 1, sizeof *c->received);
    if (NULL != c->received)
        c->senders = senders;
    if (NULL != c->received && is_sender) {
        c->received[senders - 1] = (tatp_message){rank, c->part[own].element, c->part[own].count};
        c->part[own] = (record_message){0};
    }
    return tatp_record_exchange(c->comm, c->part, c->parts, senders - is_sender, c->received);
}

/* The lists of one call among what was received. Pieces of a sender are in the order of calls;
 * those of sender s up to element at[s] have been read. */
typedef struct owned_call {
    access_list *list;
    size_t *rank, *at, count;
} owned_call;

static int read_lists(const collection *c, size_t k, owned_call *o)
{
    int rc = 0;
    for (size_t s = 0; s < c->senders && rc == 0; s++) {
        const tatp_message *from = &c->received[s];
        size_t call;
        if (o->at[s] >= from->count || from->element[o->at[s]] != (int64_t)k)
            continue;
        rc = record_read_access(from->element, from->count, &o->at[s], &call, &o->list[o->count]);
        o->rank[o->count++] = (size_t)from->from;
    }
    return rc;
}

static int report_neighbours(collection *c, size_t k, owned_call *o)
{
    int rc = read_lists(c, k, o);
    if (rc == 0 && o->count > 0)
        rc = record_describe_neighbours(o->list, o->rank, o->count, (size_t)tatp_comm_size(c->comm),
                                        &c->report);
    for (size_t i = 0; i < o->count; i++)
        access_release(&o->list[i]);
    memset(o->list, 0, (o->count + 1) * sizeof *o->list);
    o->count = 0;
    return rc;
}

/* ---- all ranks: their reports to rank 0 ---- */

static int report_call(collection *c, size_t k, owned_call *o)
{
    const tatp_record_pending *call = c->call[k];
    int64_t head[REPORT_HEAD] = {tatp_comm_rank(c->comm), (int64_t)k, 0, 0};
    size_t begin = c->report.count;
    int rc = record_message_append(&c->report, head, REPORT_HEAD);
    if (rc == 0)
        rc = report_neighbours(c, k, o);
    size_t middle = c->report.count;
    if (rc == 0 && !call->independent)
        rc = record_describe_profile(&call->list, call->lo, c->unit[k], &c->report);
    if (rc == 0) {
        c->report.element[begin + REPORT_NEIGHBOURS] = (int64_t)(middle - begin - REPORT_HEAD);
        c->report.element[begin + REPORT_PROFILE] = (int64_t)(c->report.count - middle);
    }
    return rc;
}

static int report_calls(collection *c)
{
    owned_call o = {calloc(c->senders + 1, sizeof *o.list), calloc(c->senders + 1, sizeof *o.rank),
                    calloc(c->senders + 1, sizeof *o.at), 0};
    int rc = NULL == o.list || NULL == o.rank || NULL == o.at ? -ENOMEM : 0;
    for (size_t k = 0; k < c->calls && rc == 0; k++)
        rc = report_call(c, k, &o);
    free(o.list);
    free(o.rank);
    free(o.at);
    return tatp_from_errno(rc);
}

/* ---- node leaders and rank 0: the sums of the reports ---- */

static int begin_sums(collection *c)
{
    int rc = 0;
    for (size_t k = 0; k < c->calls && rc == 0; k++)
        rc = record_sums_start(&c->sums[k], (size_t)tatp_comm_size(c->comm), c->call[k]->lo,
                               c->call[k]->hi, c->unit[k], c->parts);
    return tatp_from_errno(rc);
}

/* Returns the number of elements of the report. */
static size_t add_report(collection *c, const int64_t *element, int *rc)
{
    record_sums *sums = &c->sums[element[REPORT_CALL]];
    size_t rank = (size_t)element[REPORT_RANK], neighbours = (size_t)element[REPORT_NEIGHBOURS];
    size_t profile = (size_t)element[REPORT_PROFILE];
    if (neighbours > 0)
        *rc = record_sums_add_neighbours(sums, tatp_record_owned(c->comm, rank, c->parts),
                                         element + REPORT_HEAD, neighbours);
    if (*rc == 0)
        *rc = record_sums_add_profile(sums, rank, element + REPORT_HEAD + neighbours, profile);
    return REPORT_HEAD + neighbours + profile;
}

static int add_node_reports(void *sum, const tatp_message *message)
{
    int rc = 0;
    for (size_t at = 0; at < message->count && rc == 0;)
        at += add_report(sum, message->element + at, &rc);
    return tatp_from_errno(rc);
}

/* The leader's own report is there already. */
static int add_rank_report(void *sum, const tatp_message *message)
{
    collection *c = sum;
    return message->element == c->report.element
               ? OMPI_SUCCESS
               : tatp_from_errno(
                     record_message_append(&c->report, message->element, message->count));
}

static int hand_over_reports(void *sum, tatp_message *message)
{
    collection *c = sum;
    message->element = c->report.element;
    message->count = c->report.count;
    c->report = (record_message){0};
    return OMPI_SUCCESS;
}

/* ---- rank 0: the record ---- */

/* Renumbers the rows, and of a square matrix the columns as well, from ranks of the communicator to
 * world ranks. Entries about processes of other jobs are dropped. */
static int renumber_ranks(const tatp_comm *comm, matrix *m, bool square)
{
    size_t world = tatp_job_size();
    matrix_builder builder = {.rows = world, .cols = square ? world : m->cols};
    matrix renumbered;
    int rc = 0;
    for (size_t r = 0; r < m->rows; r++) {
        size_t row = tatp_job_rank(comm, r);
        for (size_t k = m->row_start[r]; k < m->row_start[r + 1] && row != SIZE_MAX && rc == 0;
             k++) {
            size_t col = square ? tatp_job_rank(comm, m->col[k]) : m->col[k];
            rc = col == SIZE_MAX ? 0 : matrix_builder_add(&builder, row, col, m->value[k]);
        }
    }
    if (rc == 0)
        rc = matrix_builder_finish(&builder, &renumbered);
    matrix_builder_clear(&builder);
    if (rc != 0)
        return rc;
    matrix_release(m);
    *m = renumbered;
    return 0;
}

static int make_entry(collection *c, size_t k, record_entry *entry)
{
    const int64_t *sum = sums_of_call(c, k);
    *entry = (record_entry){
        .pattern = {.first = c->call[k]->lo, .unit = c->unit[k], .division = c->call[k]->division},
        .totals = {.bytes = sum[RECORD_SUM_BYTES],
                   .independent = c->call[k]->independent ? sum[RECORD_SUM_BYTES] : 0,
                   .missed = sum[CALL_MISSED]}};
    int rc = record_sums_finish(&c->sums[k], &entry->view, &entry->bytes);
    if (rc == 0)
        rc = renumber_ranks(c->comm, &entry->view, true);
    if (rc == 0 && entry->bytes.rows > 0)
        rc = renumber_ranks(c->comm, &entry->bytes, false);
    return rc;
}

static int append_entry(collection *c, size_t k)
{
    tatp_record *record = c->record;
    record_entry entry;
    int rc = make_entry(c, k, &entry);
    if (rc == 0) {
        tatp_record_append(&record->options, record->file, &entry, c->call[k]->times,
                           !record->counted);
        record->counted = true;
    }
    if (rc == 0 && c->call[k]->collective) {
        record_entry_release(&record->entry);
        record->entry = entry;
    } else {
        record_entry_release(&entry);
    }
    return tatp_from_errno(rc);
}

/* ---- all steps ---- */

/* rc: this rank's status so far. */
static int gather_reports(collection *c, int rc)
{
    static const tatp_node_gather gather = {TATP_TAG_ROWS, TATP_TAG_NODE_ROWS, add_rank_report,
                                            hand_over_reports, add_node_reports};
    int rank = tatp_comm_rank(c->comm);
    if (OMPI_SUCCESS == rc && rank == 0)
        rc = begin_sums(c);
    if (OMPI_SUCCESS == rc)
        rc = report_calls(c);
    tatp_message own = {rank, c->report.element, c->report.count};
    rc = tatp_gather_by_node(c->comm, &gather, c, &own, rc);
    for (size_t k = 0; k < c->calls && OMPI_SUCCESS == rc && rank == 0; k++)
        rc = append_entry(c, k);
    return rc;
}

static void release_collection(collection *c)
{
    for (size_t j = 0; j < c->parts && NULL != c->part; j++)
        free(c->part[j].element);
    free(c->part);
    for (size_t s = 0; s < c->senders; s++)
        free(c->received[s].element);
    free(c->received);
    free(c->report.element);
    for (size_t k = 0; k < c->calls; k++)
        record_sums_release(&c->sums[k]);
}

/* *individual: this rank's bytes that are not collective; becomes those of all ranks. */
static int collect_calls(collection *c, int64_t *individual)
{
    c->parts = count_parts(c);
    int rc = reduce_sums(c, describe_calls(c), *individual);
    for (size_t k = 0; k < c->calls; k++)
        c->unit[k] = c->call[k]->independent
                         ? 0
                         : record_choose_unit(c->call[k]->lo, c->call[k]->hi, sums_of_call(c, k));
    *individual = OMPI_SUCCESS == rc ? c->sum[SUM_INDIVIDUAL] : 0;
    if (OMPI_SUCCESS == rc && c->calls > 0)
        rc = gather_reports(c, exchange_parts(c));
    release_collection(c);
    return rc;
}

static void select_calls(tatp_record *record, bool collective, collection *c)
{
    memset(c, 0, sizeof *c);
    c->record = record;
    c->comm = record->options.comm;
    for (size_t k = 0; k < record->count; k++) {
        const tatp_record_pending *pending = &record->pending[k];
        if (pending->collective == collective && (collective || pending->hi > 0))
            c->call[c->calls++] = pending;
    }
}

/* The ranges of accesses that are not collective; hi is 0 where no rank has any. What is missing
 * has no place: it counts as the first byte. Collective. */
static int agree_ranges(tatp_record *record)
{
    int64_t value[2 * TATP_RECORD_MAX_PENDING] = {0};
    for (size_t k = 0; k < record->count; k++) {
        const access_list *list = &record->pending[k].list;
        bool is_missing = record->pending[k].missed > 0 && list->count == 0;
        value[2 * k] = is_missing ? 0 : -access_lower(list);
        value[2 * k + 1] = is_missing ? 1 : access_upper(list);
    }
    int rc = tatp_agree_max(record->options.comm, value, (int)(2 * record->count));
    for (size_t k = 0; k < record->count; k++) {
        tatp_record_pending *pending = &record->pending[k];
        if (!pending->collective) {
            pending->lo = -value[2 * k];
            pending->hi = value[2 * k + 1];
        }
    }
    return rc;
}

int tatp_record_collect(tatp_record *record)
{
    collection c;
    int64_t individual = 0;
    for (size_t k = 0; k < record->count; k++)
        if (!record->pending[k].collective)
            individual += record->pending[k].list.bytes + record->pending[k].missed;
    if (record->count == 0)
        return OMPI_SUCCESS;
    select_calls(record, true, &c);
    if (c.calls > 0)
        record_entry_release(&record->entry);
    int rc = collect_calls(&c, &individual);
    if (individual > 0) {
        int first = OMPI_SUCCESS != rc ? rc : agree_ranges(record);
        select_calls(record, false, &c);
        individual = 0;
        rc = collect_calls(&c, &individual);
        rc = OMPI_SUCCESS != first ? first : rc;
    }
    return rc;
}
