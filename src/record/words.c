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

/* A piece: the call, the number of runs, and the runs. */
enum { PIECE_CALL, PIECE_RUNS, PIECE_WORDS };

static int reserve_words(record_words *words, size_t more)
{
    return base_reserve(&words->word, &words->capacity, words->count + more, sizeof(int64_t));
}

int record_add_words(record_words *words, const int64_t *more, size_t count)
{
    int rc = reserve_words(words, count);
    if (rc != 0 || count == 0)
        return rc;
    memcpy(words->word + words->count, more, count * sizeof *more);
    words->count += count;
    return 0;
}

static int append_runs(const access_list *list, int64_t shift, record_words *words)
{
    int rc = reserve_words(words, list->count * ACCESS_RUN_WORDS);
    if (rc != 0)
        return rc;
    access_to_words(list, shift, words->word + words->count);
    words->count += list->count * ACCESS_RUN_WORDS;
    return 0;
}

int record_describe_access(const access_list *list, int64_t lo, int64_t hi, size_t call,
                           record_words *part, size_t parts)
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
        int64_t head[PIECE_WORDS] = {(int64_t)call, (int64_t)share[i].list.count};
        rc = record_add_words(&part[j], head, PIECE_WORDS);
        if (rc == 0)
            rc = append_runs(&share[i].list, range->lo - range->position, &part[j]);
    }
    domains_free_shares(share, shares);
    domains_release(&domains);
    return rc;
}

int record_read_access(const int64_t *word, size_t count, size_t *at, size_t *call,
                       access_list *list)
{
    size_t left = count - *at;
    if (left < PIECE_WORDS)
        return -EINVAL;
    const int64_t *head = word + *at;
    if (head[PIECE_RUNS] < 0 || (size_t)head[PIECE_RUNS] > (left - PIECE_WORDS) / ACCESS_RUN_WORDS)
        return -EINVAL;
    size_t runs = (size_t)head[PIECE_RUNS];
    int rc = access_append_words(list, head + PIECE_WORDS, runs);
    *call = (size_t)head[PIECE_CALL];
    *at += PIECE_WORDS + runs * ACCESS_RUN_WORDS;
    return rc;
}
