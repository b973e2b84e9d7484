/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer entry: any bytes as a message. As an encoded list of runs: what is accepted is ordered,
 * has a bounded number of runs, and is the same after encoding it again. As the requests of a rank,
 * of a node, and what nodes have unlisted: without a fault of memory. */
#include "access/encoding.h"
#include "plan/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(const access_list *list, size_t bytes)
{
    if (!access_is_ordered(list) || list->count > 64 * bytes || access_lower(list) < 0)
        abort();
    int64_t stream = 0;
    for (size_t i = 0; i < list->count; i++) {
        const access_run *run = &list->run[i];
        if (run->length < 1 || run->count < 1 || run->stream != stream ||
            (run->count == 1 && run->stride != 0))
            abort();
        stream += run->count * run->length;
    }
    if (stream != list->bytes)
        abort();
}

static void check_round_trip(const access_list *list)
{
    access_message message = {0};
    access_list back = {0};
    if (access_encode_runs(list, 0, &message) != 0 ||
        access_decode_runs(&back, message.element, message.count) != 0)
        abort();
    if (back.count != list->count || back.bytes != list->bytes ||
        memcmp(back.run, list->run, list->count * sizeof *list->run) != 0)
        abort();
    free(message.element);
    access_release(&back);
}

enum { RANKS = 2, DOMAINS = 3, UNITS = 4 };

/* Twice, so that sums grow. */
static void add_requests(const int64_t *element, size_t count)
{
    static const size_t node_of_rank[RANKS] = {0, 0};
    pieces_bytes units = {0};
    request_sums sums = {.units = UNITS,
                         .most_units = UNITS,
                         .node = {.most = 1, .domains = DOMAINS, .most_domains = 1},
                         .all = rows_builder_new(RANKS, 1, DOMAINS, true),
                         .all_units = &units,
                         .node_of_rank = node_of_rank};
    access_message made = {0};
    rows_matrices c = {.nearness = NULL};
    for (int rank = 0; rank < RANKS; rank++) {
        (void)requests_add_rank(&sums, rank, element, count);
        (void)requests_add_node(&sums, rank, element, count);
    }
    (void)requests_add_node(&sums, -1, element, count);
    if (requests_sum_node(&sums, &made.element, &made.count) == 0)
        (void)requests_add_node(&sums, 0, made.element, made.count);
    if (rows_builder_finish(&sums.all, &c) == 0)
        rows_release(&c);
    free(made.element);
    free(units.entry);
    requests_release(&sums);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t count = size / sizeof(int64_t);
    int64_t *element = calloc(count + 1, sizeof *element);
    access_list list = {0};
    if (element == NULL)
        return 0;
    memcpy(element, data, count * sizeof *element);
    int rc = access_decode_runs(&list, element, count);
    if (rc == 0 && list.count > 0) {
        check_list(&list, size);
        check_round_trip(&list);
    } else if (rc != 0 && (rc != -EINVAL || list.count > 0)) {
        abort();
    }
    access_release(&list);
    add_requests(element, count);
    free(element);
    return 0;
}
