/* SPDX-License-Identifier: BSD-3-Clause */
/* Accesses as messages to the owners of the parts of a range. */
#include "record/record.h"

#include "access/cut.h"

/* Of the borders of parts in the file. Smaller parts are not worth a message. */
#define ALIGNMENT 4096

enum { RANKS_OF_PART = 16, LEAST_PARTS = 8 };

size_t record_count_parts(size_t ranks)
{
    size_t parts = ranks / RANKS_OF_PART;
    parts = parts < LEAST_PARTS ? LEAST_PARTS : parts;
    parts = parts > RECORD_MOST_PARTS ? RECORD_MOST_PARTS : parts;
    return parts < ranks ? parts : ranks;
}

size_t record_owner_of_part(size_t part, size_t parts, size_t ranks)
{
    return part * ranks / parts;
}

size_t record_part_of_rank(size_t rank, size_t parts, size_t ranks)
{
    size_t part = (rank * parts + ranks - 1) / ranks;
    return part < parts && record_owner_of_part(part, parts, ranks) == rank ? part : SIZE_MAX;
}

int record_describe_access(const access_list *list, int64_t lo, int64_t hi, access_message *part,
                           size_t parts)
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
        rc = access_encode_runs(&share[i].list, range->lo - range->position, &part[j]);
    }
    domains_free_shares(share, shares);
    domains_release(&domains);
    return rc;
}
