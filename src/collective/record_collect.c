/* SPDX-License-Identifier: BSD-3-Clause */
/* Collection of an access in the record, on rank 0.
 *
 * One reduction over all ranks; then each rank's accesses go to the ranks that count neighbours in
 * a part of the range; then these counts and each rank's row of the profile go to rank 0. Memory
 * and messages do not grow with the square of the number of ranks, and no rank sees the blocks of
 * all others. */
#include "collective/record.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "record/record.h"

/* Ranges that end beyond this offset are not recorded, so that bins, which may be twice as large,
 * end within RECORD_FILE_MOST_OFFSET. */
#define MOST_OFFSET (RECORD_FILE_MOST_OFFSET / 4)

/* Sums over all ranks: ranks with an error; those of the profile; ranks that access each part. */
enum { SUM_ERRORS, SUM_PROFILE, SUM_SENDERS = SUM_PROFILE + RECORD_SUMS };

typedef struct collection {
    coll_group *group;
    const coll_observed *access;
    size_t parts;
    access_message part[RECORD_MOST_PARTS]; /* what this rank accesses, by parts */
    int64_t sum[SUM_SENDERS + RECORD_MOST_PARTS];
    int64_t unit; /* bytes of a bin of the profile */
    /* This rank owns a part, and gets what others access of it. */
    record_received received;
    access_message report; /* the length of the counts of neighbours; these; a row of the profile */
    record_sums sums;      /* rank 0 */
} collection;

static size_t ranks_of(const collection *c)
{
    return (size_t)c->group->size;
}

/* SIZE_MAX for a process of another job. */
static size_t job_rank(const collection *c, int rank)
{
    const coll_runtime *runtime = c->group->runtime;
    return runtime->job_rank != NULL ? runtime->job_rank(runtime->context, rank) : (size_t)rank;
}

/* ---- all ranks: what they access ---- */

static int describe_access(collection *c)
{
    const coll_observed *a = c->access;
    if (job_rank(c, c->group->rank) == SIZE_MAX)
        return 0;
    int rc = record_add_sums(a->list, a->lo, a->hi, c->sum + SUM_PROFILE);
    if (rc == 0)
        rc = record_describe_access(a->list, a->lo, a->hi, c->part, c->parts);
    for (size_t j = 0; j < c->parts; j++)
        c->sum[SUM_SENDERS + j] = c->part[j].count > 0;
    return rc;
}

/* rc: this rank's status so far. An error of any rank becomes one of all. Collective. */
static int reduce_sums(collection *c, int rc)
{
    c->sum[SUM_ERRORS] = rc != 0;
    int failed = coll_reduce(c->group, c->sum, SUM_SENDERS + c->parts, COLL_SUM);
    if (rc == 0)
        rc = failed;
    return rc == 0 && c->sum[SUM_ERRORS] > 0 ? -ENOMEM : rc;
}

/* ---- owners of parts: what others access there ---- */

static int take_part(void *context, coll_message *message)
{
    collection *c = context;
    if (c->received.list == NULL || c->received.rank == NULL)
        return -ENOMEM;
    c->received.rank[c->received.count] = job_rank(c, message->from);
    return access_decode_runs(&c->received.list[c->received.count++], message->element,
                              message->count);
}

/* Returns this rank's error. Collective. */
static int exchange_parts(collection *c)
{
    int rank = c->group->rank, first = 0;
    size_t own = record_part_of_rank((size_t)rank, c->parts, ranks_of(c)), sends = 0;
    size_t senders = own != SIZE_MAX ? (size_t)c->sum[SUM_SENDERS + own] : 0;
    coll_arrivals arrivals = {
        .tag = COLL_TAG_RECORD, .expected = senders, .take = take_part, .context = c};
    exchange_request request[RECORD_MOST_PARTS];
    c->received.list = calloc(senders + 1, sizeof *c->received.list);
    c->received.rank = calloc(senders + 1, sizeof *c->received.rank);
    for (size_t j = 0; j < c->parts; j++) {
        coll_message part = {rank, c->part[j].element, c->part[j].count};
        int rc = 0;
        if (part.count > 0 && j == own) {
            arrivals.expected--;
            rc = take_part(c, &part);
        } else if (part.count > 0) {
            size_t owner = record_owner_of_part(j, c->parts, ranks_of(c));
            rc = coll_message_isend(c->group, part.element, part.count, (int)owner, COLL_TAG_RECORD,
                                    &request[sends]);
            sends += rc == 0;
        }
        first = first == 0 ? rc : first;
    }
    return coll_message_complete(c->group, &arrivals, request, sends, first);
}

/* ---- all ranks: their reports to rank 0 ---- */

/* Ranks of another job have no row. */
static int add_report(void *context, int from, const int64_t *element, size_t count)
{
    collection *c = context;
    return record_sums_add_report(&c->sums,
                                  record_part_of_rank((size_t)from, c->parts, ranks_of(c)),
                                  job_rank(c, from), element, count);
}

/* rc: this rank's status so far. Returns its error, of rank 0 that of any rank. Collective. */
static int gather_reports(collection *c, int rc)
{
    const coll_observed *a = c->access;
    const coll_runtime *runtime = c->group->runtime;
    if (rc == 0 && c->group->rank == 0)
        rc = record_sums_start(&c->sums, runtime->process->job.size, a->lo, a->hi, c->unit,
                               c->parts);
    if (rc == 0)
        rc = record_make_report(&c->received, a->list, a->lo, c->unit, &c->report);
    const coll_message own = {c->group->rank, c->report.element, c->report.count};
    rc = coll_gather_ranks(c->group, COLL_TAG_REPORTS, &own, add_report, c, rc);
    return rc == runtime->error_class(-ENOMEM) ? -ENOMEM : rc;
}

/* ---- rank 0: the record ---- */

/* The ranks that the processes of the job have in the file's communicator; NULL: the same, not all
 * are in it, or memory is exhausted. */
static size_t *list_order(const collection *c)
{
    const size_t ranks = ranks_of(c);
    bool differs = false, is_whole = ranks == c->group->runtime->process->job.size;
    size_t *order = is_whole ? base_alloc(ranks, sizeof *order) : NULL;
    for (size_t i = 0; order != NULL && i < ranks && is_whole; i++) {
        size_t rank = job_rank(c, (int)i);
        is_whole = rank < ranks;
        differs = differs || rank != i;
        if (is_whole)
            order[rank] = i;
    }
    if (is_whole && differs)
        return order;
    free(order);
    return NULL;
}

static int make_entry(collection *c, record_entry *entry)
{
    const division_settings *d = &c->access->settings->division;
    *entry = (record_entry){.pattern = {.first = c->access->lo,
                                        .unit = c->unit,
                                        .division = {.kind = d->kind,
                                                     .aggregators = d->aggregators,
                                                     .stripe = d->stripe,
                                                     .targets = d->targets < VIEW_FILE_MOST_TARGETS
                                                                    ? d->targets
                                                                    : VIEW_FILE_MOST_TARGETS}},
                            .accessed = c->sum[SUM_PROFILE + RECORD_SUM_BYTES],
                            .order = list_order(c)};
    return record_sums_finish(&c->sums, &entry->view, &entry->bytes);
}

static void release_collection(collection *c)
{
    for (size_t j = 0; j < c->parts; j++)
        free(c->part[j].element);
    for (size_t s = 0; s < c->received.count; s++)
        access_release(&c->received.list[s]);
    free(c->received.list);
    free(c->received.rank);
    free(c->report.element);
    record_sums_release(&c->sums);
}

int coll_record_collect(const coll_observed *access, record_entry *entry)
{
    coll_group *group = access->group;
    collection c = {
        .group = group, .access = access, .parts = record_count_parts((size_t)group->size)};
    if (access->hi > MOST_OFFSET)
        return -ERANGE;
    int rc = reduce_sums(&c, describe_access(&c));
    if (rc == 0) {
        c.unit = record_choose_unit(access->lo, access->hi, c.sum + SUM_PROFILE);
        rc = gather_reports(&c, exchange_parts(&c));
    }
    if (rc == 0 && group->rank == 0)
        rc = make_entry(&c, entry);
    release_collection(&c);
    return rc > 0 ? -EIO : rc;
}
