/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of int64, and accesses as messages to the owners of the parts of a range. */
#include "record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "access/domain.h"
#include "base/memory.h"

/* Of the borders of parts in the file. Smaller parts are not worth a message. */
#define ALIGNMENT 4096

/* A piece: the call, the number of elements of its runs, and these. */
enum { PIECE_CALL, PIECE_ELEMENTS, PIECE_HEAD };

int record_message_append(record_message *message, const int64_t *more, size_t count)
{
    int rc =
        base_reserve(&message->element, &message->capacity, message->count + count, sizeof *more);
    if (rc != 0 || count == 0)
        return rc;
    memcpy(message->element + message->count, more, count * sizeof *more);
    message->count += count;
    return 0;
}

/* A list whose offsets move by `shift`. */
static int append_piece(const access_list *list, int64_t shift, size_t call,
                        record_message *message)
{
    size_t begin = message->count;
    int64_t head[PIECE_HEAD] = {(int64_t)call};
    int rc = record_message_append(message, head, PIECE_HEAD);
    if (rc == 0)
        rc = access_encode_runs(list, shift, message);
    if (rc == 0)
        message->element[begin + PIECE_ELEMENTS] = (int64_t)(message->count - begin - PIECE_HEAD);
    return rc;
}

int record_describe_access(const access_list *list, int64_t lo, int64_t hi, size_t call,
                           record_message *part, size_t parts)
{
    file_domains domains;
    domain_share *share = NULL;
    size_t shares = 0;
    int rc = domains_even(&domains, lo, hi, parts, ALIGNMENT);
    if (rc != 0)
        return rc;
    rc = domains_cut(&domains, list, &share, &shares);
    for (size_t i = 0; rc == 0 && i < shares; i++) {
        size_t j = share[i].domain;
        const domain_range *range = &domains.range[domains.by_domain[domains.first[j]]];
        rc = append_piece(&share[i].list, range->lo - range->position, call, &part[j]);
    }
    domains_free_shares(share, shares);
    domains_release(&domains);
    return rc;
}

int record_read_access(const int64_t *element, size_t count, size_t *at, size_t *call,
                       access_list *list)
{
    size_t left = count - *at;
    if (left < PIECE_HEAD)
        return -EINVAL;
    const int64_t *head = element + *at;
    if (head[PIECE_ELEMENTS] < 1 || (size_t)head[PIECE_ELEMENTS] > left - PIECE_HEAD)
        return -EINVAL;
    size_t encoded = (size_t)head[PIECE_ELEMENTS];
    int rc = access_decode_runs(list, head + PIECE_HEAD, encoded);
    *call = (size_t)head[PIECE_CALL];
    *at += PIECE_HEAD + encoded;
    return rc;
}
