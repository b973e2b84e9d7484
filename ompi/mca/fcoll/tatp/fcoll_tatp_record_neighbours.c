/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's view matrix: who follows whom in an aggregator's domain, on its way to rank 0. */
#include "fcoll_tatp_record.h"

#include <errno.h>
#include <stdlib.h>

/* What an aggregator says: its domain and how many blocks stand at its ends; these blocks; then the
 * pairs it has counted, as entries of the view matrix. */
enum { HEAD_DOMAIN, HEAD_ENDS, HEAD_WORDS };
enum { BLOCK_OWNER, BLOCK_OFFSET, BLOCK_LENGTH, BLOCK_WORDS };
enum { ENTRY_ROW, ENTRY_COL, ENTRY_VALUE, ENTRY_WORDS };

/* The contributors that are of this job, as parallel arrays for the count. */
static int count_in_domain(const tatp_pass *pass, matrix_builder *counts, access_ends *ends)
{
    size_t n = 0, all = pass->schedule->contributors;
    access_list *list = calloc(all + 1, sizeof *list);
    size_t *owner = calloc(all + 1, sizeof *owner);
    int rc = list == NULL || owner == NULL ? -ENOMEM : 0;
    for (size_t i = 0; i < all && rc == 0; i++) {
        size_t rank = tatp_world_rank(pass->fh, pass->schedule->contributor[i].rank);
        if (rank == SIZE_MAX)
            continue;
        list[n] = pass->schedule->contributor[i].list;
        owner[n++] = rank;
    }
    if (rc == 0)
        rc = access_count_neighbours(list, owner, n, mca_fcoll_tatp_component.record_weight, counts, ends);
    free(list);
    free(owner);
    return rc;
}

/* Blocks are at positions of the domain; those of two domains touch where they do in the file. */
static int add_ends(const tatp_pass *pass, const access_ends *ends, tatp_account *words)
{
    int64_t contiguous, head[HEAD_WORDS] = {(int64_t)pass->schedule->domain, (int64_t)ends->count};
    int rc = tatp_account_add(words, head, HEAD_WORDS);
    for (size_t k = 0; k < ends->count && rc == 0; k++) {
        const access_block *block = &ends->block[k];
        int64_t word[BLOCK_WORDS] = {(int64_t)block->owner,
                                     domains_position_to_file(&pass->schedule->domains,
                                                              pass->schedule->domain, block->offset,
                                                              &contiguous),
                                     block->length};
        rc = tatp_account_add(words, word, BLOCK_WORDS);
    }
    return rc;
}

static int add_entries(const matrix *m, tatp_account *words)
{
    int rc = 0;
    for (size_t i = 0; i < m->rows; i++) {
        for (size_t k = m->row_start[i]; k < m->row_start[i + 1] && rc == 0; k++) {
            int64_t word[ENTRY_WORDS] = {(int64_t)i, (int64_t)m->col[k], m->value[k]};
            rc = tatp_account_add(words, word, ENTRY_WORDS);
        }
    }
    return rc;
}

int tatp_describe_neighbours(const tatp_pass *pass, tatp_account *words)
{
    matrix_builder counts = {.rows = tatp_world_size(), .cols = tatp_world_size()};
    access_ends ends;
    matrix m;
    int rc = count_in_domain(pass, &counts, &ends);
    if (rc == 0)
        rc = add_ends(pass, &ends, words);
    if (rc == 0)
        rc = matrix_builder_finish(&counts, &m);
    if (rc == 0) {
        rc = add_entries(&m, words);
        matrix_release(&m);
    }
    matrix_builder_clear(&counts);
    return rc;
}

int tatp_add_neighbours(const int64_t *word, size_t count, matrix_builder *counts, access_ends *ends,
                        size_t domains)
{
    int rc = 0;
    if (count == 0)
        return 0;
    if ((size_t)word[HEAD_DOMAIN] >= domains)
        return -EINVAL;
    access_ends *here = &ends[word[HEAD_DOMAIN]];
    const int64_t *end = word + count, *block = word + HEAD_WORDS;
    here->count = (size_t)word[HEAD_ENDS];
    for (size_t k = 0; k < here->count; k++, block += BLOCK_WORDS)
        here->block[k] = (access_block){(size_t)block[BLOCK_OWNER], block[BLOCK_OFFSET], block[BLOCK_LENGTH]};
    for (const int64_t *entry = block; entry < end && rc == 0; entry += ENTRY_WORDS)
        rc = matrix_builder_add(counts, (size_t)entry[ENTRY_ROW], (size_t)entry[ENTRY_COL],
                                entry[ENTRY_VALUE]);
    return rc;
}
