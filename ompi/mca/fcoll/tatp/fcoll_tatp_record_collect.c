/* SPDX-License-Identifier: BSD-3-Clause */
/* Collection of an access in the record, on rank 0.
 *
 * One reduction over all ranks; then each rank's accesses go to the ranks that count neighbours in
 * a part of the range; then these counts and each rank's row of the profile go to rank 0. Memory
 * and messages do not grow with the square of the number of ranks, and no rank sees the blocks of
 * all others. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_job.h"

/* Parts of the range: one for so many ranks, as long as messages to their owners are few. */
enum { RANKS_OF_PART = 16, MIN_PARTS = 8, MAX_PARTS = 256 };

/* Ranges that end beyond this offset are not recorded, so that bins, which may be twice as large,
 * end within RECORD_FILE_MOST_OFFSET. */
#define MOST_OFFSET (RECORD_FILE_MOST_OFFSET / 4)

/* Sums over all ranks: ranks with an error; those of the profile; ranks that access each part. */
enum { SUM_ERRORS, SUM_PROFILE, SUM_SENDERS = SUM_PROFILE + RECORD_SUMS };

typedef struct collection {
    tatp_comm *comm;
    const tatp_record_access *access;
    size_t parts;
    record_message part[MAX_PARTS]; /* what this rank accesses, by parts */
    int64_t sum[SUM_SENDERS + MAX_PARTS];
    int64_t unit; /* bytes of a bin of the profile */
    /* Of the ranks that access the part that this one owns. */
    access_list *list;
    size_t *rank, senders; /* of the world */
    record_message report; /* the length of the counts of neighbours; these; a row of the profile */
    record_sums sums;      /* rank 0 */
} collection;

/* ---- parts and their owners ---- */

static size_t count_parts(const tatp_comm *comm)
{
    size_t ranks = (size_t)tatp_comm_size(comm), parts = ranks / RANKS_OF_PART;
    parts = parts < MIN_PARTS ? MIN_PARTS : parts > MAX_PARTS ? MAX_PARTS : parts;
    return parts < ranks ? parts : ranks;
}

static size_t owner_of(const collection *c, size_t part)
{
    return part * (size_t)tatp_comm_size(c->comm) / c->parts;
}

/* The part that a rank owns; SIZE_MAX: none. */
static size_t part_of(const collection *c, size_t rank)
{
    size_t ranks = (size_t)tatp_comm_size(c->comm), part = (rank * c->parts + ranks - 1) / ranks;
    return part < c->parts && owner_of(c, part) == rank ? part : SIZE_MAX;
}

/* ---- all ranks: what they access ---- */

static int describe_access(collection *c)
{
    const tatp_record_access *a = c->access;
    if (SIZE_MAX == tatp_job_rank(c->comm, (size_t)tatp_comm_rank(c->comm)))
        return OMPI_SUCCESS;
    int rc = record_add_sums(a->list, a->lo, a->hi, c->sum + SUM_PROFILE);
    if (0 == rc)
        rc = record_describe_access(a->list, a->lo, a->hi, c->part, c->parts);
    for (size_t j = 0; j < c->parts; j++)
        c->sum[SUM_SENDERS + j] = c->part[j].count > 0;
    return tatp_from_errno(rc);
}

/* rc: this rank's status so far. An error of any rank becomes one of all. Collective. */
static int reduce_sums(collection *c, int rc)
{
    c->sum[SUM_ERRORS] = OMPI_SUCCESS != rc;
    int failed = tatp_allreduce(c->comm, c->sum, (compat_count)(SUM_SENDERS + c->parts),
                                MPI_INT64_T, MPI_SUM);
    if (OMPI_SUCCESS == rc)
        rc = failed;
    return OMPI_SUCCESS == rc && c->sum[SUM_ERRORS] > 0 ? OMPI_ERR_OUT_OF_RESOURCE : rc;
}

/* ---- owners of parts: what others access there ---- */

static int take_part(void *context, tatp_message *message)
{
    collection *c = context;
    if (NULL == c->list || NULL == c->rank)
        return OMPI_ERR_OUT_OF_RESOURCE;
    c->rank[c->senders] = tatp_job_rank(c->comm, (size_t)message->from);
    return tatp_from_errno(
        access_decode_runs(&c->list[c->senders++], message->element, message->count));
}

/* Returns this rank's error. Collective. */
static int exchange_parts(collection *c)
{
    int rank = tatp_comm_rank(c->comm), first = OMPI_SUCCESS;
    size_t own = part_of(c, (size_t)rank), sends = 0;
    size_t senders = own != SIZE_MAX ? (size_t)c->sum[SUM_SENDERS + own] : 0;
    tatp_arrivals arrivals = {
        .tag = TATP_TAG_RECORD, .expected = senders, .take = take_part, .context = c};
    ompi_request_t *request[MAX_PARTS];
    c->list = calloc(senders + 1, sizeof *c->list);
    c->rank = calloc(senders + 1, sizeof *c->rank);
    for (size_t j = 0; j < c->parts; j++) {
        tatp_message part = {rank, c->part[j].element, c->part[j].count};
        int rc = OMPI_SUCCESS;
        if (part.count > 0 && j == own) {
            arrivals.expected--;
            rc = take_part(c, &part);
        } else if (part.count > 0) {
            rc = tatp_message_isend(c->comm, part.element, part.count, (int)owner_of(c, j),
                                    TATP_TAG_RECORD, &request[sends]);
            sends += OMPI_SUCCESS == rc;
        }
        first = OMPI_SUCCESS == first ? rc : first;
    }
    return tatp_message_complete(c->comm, &arrivals, request, sends, first);
}

/* ---- all ranks: their reports to rank 0 ---- */

static int make_report(collection *c)
{
    int64_t head = 0;
    size_t ranks = 0;
    for (size_t s = 0; s < c->senders; s++)
        ranks = c->rank[s] >= ranks ? c->rank[s] + 1 : ranks;
    int rc = record_message_append(&c->report, &head, 1);
    if (0 == rc && c->senders > 0)
        rc = record_describe_neighbours(c->list, c->rank, c->senders, ranks, &c->report);
    if (0 == rc) {
        c->report.element[0] = (int64_t)c->report.count - 1;
        rc = record_describe_profile(c->access->list, c->access->lo, c->unit, &c->report);
    }
    return tatp_from_errno(rc);
}

/* Without elements: the sender had no memory for them. Ranks of another job have no row. */
static int take_report(void *context, tatp_message *message)
{
    collection *c = context;
    size_t from = (size_t)message->from, rank = tatp_job_rank(c->comm, from);
    if (0 == message->count)
        return OMPI_ERR_OUT_OF_RESOURCE;
    size_t neighbours = (size_t)message->element[0];
    const int64_t *profile = message->element + 1 + neighbours;
    int rc = 0;
    if (neighbours > 0)
        rc = record_sums_add_neighbours(&c->sums, part_of(c, from), message->element + 1,
                                        neighbours);
    if (0 == rc && SIZE_MAX != rank)
        rc = record_sums_add_profile(&c->sums, rank, profile, message->count - 1 - neighbours);
    return tatp_from_errno(rc);
}

/* rc: this rank's status so far. Returns its error, of rank 0 that of any rank. Collective. */
static int gather_reports(collection *c, int rc)
{
    const tatp_record_access *a = c->access;
    bool is_root = 0 == tatp_comm_rank(c->comm);
    const tatp_arrivals arrivals = {.tag = TATP_TAG_ROWS,
                                    .expected = is_root ? (size_t)tatp_comm_size(c->comm) - 1 : 0,
                                    .take = take_report,
                                    .context = c};
    ompi_request_t *request;
    if (OMPI_SUCCESS == rc && is_root)
        rc = tatp_from_errno(
            record_sums_start(&c->sums, tatp_job_size(), a->lo, a->hi, c->unit, c->parts));
    if (OMPI_SUCCESS == rc)
        rc = make_report(c);
    tatp_message own = {0, c->report.element, c->report.count};
    bool sends = OMPI_SUCCESS == rc && !is_root;
    if (sends)
        rc = tatp_message_isend(c->comm, own.element, own.count, 0, TATP_TAG_ROWS, &request);
    else if (!is_root)
        rc = tatp_message_send_empty(c->comm, 0, TATP_TAG_ROWS);
    else if (OMPI_SUCCESS == rc)
        rc = take_report(c, &own);
    return tatp_message_complete(c->comm, &arrivals, &request, sends && OMPI_SUCCESS == rc, rc);
}

/* ---- rank 0: the record ---- */

static int make_entry(collection *c, record_entry *entry)
{
    const division_settings *d = c->access->division;
    *entry = (record_entry){.pattern = {.first = c->access->lo,
                                        .unit = c->unit,
                                        .division = {.kind = d->kind,
                                                     .aggregators = d->aggregators,
                                                     .stripe = d->stripe,
                                                     .targets = d->targets < VIEW_FILE_MOST_TARGETS
                                                                    ? d->targets
                                                                    : VIEW_FILE_MOST_TARGETS}},
                            .accessed = c->sum[SUM_PROFILE + RECORD_SUM_BYTES]};
    return tatp_from_errno(record_sums_finish(&c->sums, &entry->view, &entry->bytes));
}

static void release_collection(collection *c)
{
    for (size_t j = 0; j < c->parts; j++)
        free(c->part[j].element);
    for (size_t s = 0; s < c->senders; s++)
        access_release(&c->list[s]);
    free(c->list);
    free(c->rank);
    free(c->report.element);
    record_sums_release(&c->sums);
}

int tatp_record_collect(tatp_comm *comm, const tatp_record_access *access, record_entry *entry)
{
    collection c = {.comm = comm, .access = access, .parts = count_parts(comm)};
    if (access->hi > MOST_OFFSET)
        return -ERANGE;
    int rc = reduce_sums(&c, describe_access(&c));
    if (OMPI_SUCCESS == rc) {
        c.unit = record_choose_unit(access->lo, access->hi, c.sum + SUM_PROFILE);
        rc = gather_reports(&c, exchange_parts(&c));
    }
    if (OMPI_SUCCESS == rc && 0 == tatp_comm_rank(comm))
        rc = make_entry(&c, entry);
    release_collection(&c);
    return OMPI_ERR_OUT_OF_RESOURCE == rc ? -ENOMEM : OMPI_SUCCESS == rc ? 0 : -EIO;
}
