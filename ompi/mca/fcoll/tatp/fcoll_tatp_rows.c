/* SPDX-License-Identifier: BSD-3-Clause */
/* C on rank 0, without the row of every rank: each rank tells the lowest rank of its node how many
 * bytes, in how many blocks, of which domains it accesses; that one tells rank 0 the node's sums,
 * and of its ranks only those that could serve the domain. */
#include "fcoll_tatp.h"

#include <stdlib.h>

/* A rank's word: such entries. */
enum { ENTRY_DOMAIN, ENTRY_BYTES, ENTRY_BLOCKS, ENTRY_WORDS };
/* A node's word on a domain; then RANK_WORDS for each of NODE_LISTED ranks. */
enum { NODE_DOMAIN, NODE_BYTES, NODE_BLOCKS, NODE_RANKS, NODE_LISTED, NODE_WORDS };
enum { RANK_NUMBER, RANK_BYTES, RANK_BLOCKS, RANK_WORDS };

/* What one rank of the node accesses of one domain. */
typedef struct part {
    size_t domain;
    int rank;
    int64_t bytes, blocks;
    int64_t weight; /* of the two the one that the strategy goes by */
} part;

typedef struct row_sums {
    bool by_blocks;
    /* of the node, at its lowest rank */
    part *part;
    size_t parts, capacity;
    size_t most; /* no node serves more domains */
    int low;     /* the last of so many of the node's lowest ranks */
    /* of all, on rank 0 */
    const size_t *node_of_rank;
    matrix_builder requests, blocks, node_bytes, node_blocks, node_ranks;
} row_sums;

/* ---- at the lowest rank of a node ---- */

static int reserve(row_sums *sums, size_t more)
{
    size_t capacity = sums->parts + more, size;
    if (capacity <= sums->capacity)
        return OMPI_SUCCESS;
    capacity = capacity > 2 * sums->capacity ? capacity : 2 * sums->capacity;
    if (__builtin_mul_overflow(capacity, sizeof *sums->part, &size))
        return OMPI_ERR_OUT_OF_RESOURCE;
    part *grown = realloc(sums->part, size);
    if (NULL == grown)
        return OMPI_ERR_OUT_OF_RESOURCE;
    sums->part = grown;
    sums->capacity = capacity;
    return OMPI_SUCCESS;
}

static int add_rank(void *sum, const tatp_words *words)
{
    row_sums *sums = sum;
    size_t entries = words->count / ENTRY_WORDS;
    int rc = reserve(sums, entries);
    for (size_t i = 0; i < entries && OMPI_SUCCESS == rc; i++) {
        const int64_t *entry = words->word + i * ENTRY_WORDS;
        sums->part[sums->parts++] = (part){
            .domain = (size_t)entry[ENTRY_DOMAIN],
            .rank = words->from,
            .bytes = entry[ENTRY_BYTES],
            .blocks = entry[ENTRY_BLOCKS],
            .weight = entry[sums->by_blocks ? ENTRY_BLOCKS : ENTRY_BYTES],
        };
    }
    return rc;
}

/* By domain; then the largest weight first, and among equal ones the lowest rank. */
static int compare_parts(const void *a, const void *b)
{
    const part *x = a, *y = b;
    if (x->domain != y->domain)
        return x->domain < y->domain ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static size_t same_domain(const row_sums *sums, size_t i)
{
    size_t end = i;
    while (end < sums->parts && sums->part[end].domain == sums->part[i].domain)
        end++;
    return end - i;
}

/* Sums, and the ranks that could serve the domain. A node serves at most `most`, so that a plan
 * needs no others than the domain's `most` best ranks: where it had another, one of those would be
 * free, and as good (src/plan/plan.h). The lowest are those that two-phase I/O takes without
 * knowing the network. Returns the words. */
static size_t put_domain(const row_sums *sums, const part *first, size_t ranks, int64_t *word)
{
    size_t listed = 0;
    int64_t bytes = 0, blocks = 0;
    for (size_t i = 0; i < ranks; i++) {
        bytes += first[i].bytes;
        blocks += first[i].blocks;
        if (i < sums->most || first[i].rank <= sums->low) {
            int64_t *rank = word + NODE_WORDS + listed++ * RANK_WORDS;
            rank[RANK_NUMBER] = first[i].rank;
            rank[RANK_BYTES] = first[i].bytes;
            rank[RANK_BLOCKS] = first[i].blocks;
        }
    }
    word[NODE_DOMAIN] = (int64_t)first->domain;
    word[NODE_BYTES] = bytes;
    word[NODE_BLOCKS] = blocks;
    word[NODE_RANKS] = (int64_t)ranks;
    word[NODE_LISTED] = (int64_t)listed;
    return NODE_WORDS + listed * RANK_WORDS;
}

static int sum_up(void *sum, tatp_words *words)
{
    row_sums *sums = sum;
    size_t size;
    if (sums->parts == 0)
        return OMPI_SUCCESS;
    if (__builtin_mul_overflow(sums->parts, (NODE_WORDS + RANK_WORDS) * sizeof *words->word, &size))
        return OMPI_ERR_OUT_OF_RESOURCE;
    words->word = malloc(size);
    if (NULL == words->word)
        return OMPI_ERR_OUT_OF_RESOURCE;
    qsort(sums->part, sums->parts, sizeof *sums->part, compare_parts);
    for (size_t i = 0, ranks; i < sums->parts; i += ranks) {
        ranks = same_domain(sums, i);
        words->count += put_domain(sums, &sums->part[i], ranks, words->word + words->count);
    }
    return OMPI_SUCCESS;
}

/* ---- on rank 0 ---- */

static int add_listed(row_sums *sums, size_t domain, const int64_t *word)
{
    size_t rank = (size_t)word[RANK_NUMBER];
    int rc = matrix_builder_add(&sums->requests, rank, domain, word[RANK_BYTES]);
    if (rc == 0 && sums->by_blocks)
        rc = matrix_builder_add(&sums->blocks, rank, domain, word[RANK_BLOCKS]);
    return rc;
}

/* Returns the words. */
static size_t add_domain(row_sums *sums, size_t node, const int64_t *word, int *rc)
{
    size_t domain = (size_t)word[NODE_DOMAIN], listed = (size_t)word[NODE_LISTED];
    *rc = matrix_builder_add(&sums->node_bytes, node, domain, word[NODE_BYTES]);
    if (*rc == 0 && sums->by_blocks)
        *rc = matrix_builder_add(&sums->node_blocks, node, domain, word[NODE_BLOCKS]);
    if (*rc == 0)
        *rc = matrix_builder_add(&sums->node_ranks, node, domain, word[NODE_RANKS]);
    for (size_t i = 0; i < listed && *rc == 0; i++)
        *rc = add_listed(sums, domain, word + NODE_WORDS + i * RANK_WORDS);
    return NODE_WORDS + listed * RANK_WORDS;
}

static int add_node(void *sum, const tatp_words *words)
{
    row_sums *sums = sum;
    int rc = 0;
    for (size_t at = 0; at < words->count && rc == 0;)
        at += add_domain(sums, sums->node_of_rank[words->from], words->word + at, &rc);
    return tatp_from_errno(rc);
}

static int finish(row_sums *sums, tatp_rows *rows)
{
    int rc = matrix_builder_finish(&sums->requests, &rows->requests);
    if (rc == 0)
        rc = matrix_builder_finish(&sums->node_bytes, &rows->node_bytes);
    if (rc == 0 && sums->by_blocks)
        rc = matrix_builder_finish(&sums->blocks, &rows->blocks);
    if (rc == 0 && sums->by_blocks)
        rc = matrix_builder_finish(&sums->node_blocks, &rows->node_blocks);
    if (rc == 0)
        rc = matrix_builder_finish(&sums->node_ranks, &rows->node_ranks);
    return tatp_from_errno(rc);
}

/* ---- the whole ---- */

/* At least the per_node of the plan, which rank 0 alone can tell. */
static size_t most_on_node(const tatp_nodes *where, size_t domains, size_t locals)
{
    for (int k = 0; k < TATP_ROOMS; k++)
        if (where->room[k] >= (int64_t)domains)
            return (size_t)1 << k;
    return locals;
}

static row_sums start(const tatp_pass *pass)
{
    const tatp_module *module = pass->module;
    const tatp_nodes *where = &module->where;
    size_t domains = tatp_domain_count(module, pass->schedule), ranks = (size_t)pass->fh->f_size;
    size_t locals = (size_t)module->locals;
    /* statistics tell the whole of C */
    size_t most = tatp_stats_wanted() ? locals : most_on_node(where, domains, locals);
    return (row_sums){
        .by_blocks = module->settings.strategy->by_blocks,
        .most = most,
        .low = module->local[(most < locals ? most : locals) - 1],
        .node_of_rank = where->node_of_rank,
        .requests = {.rows = ranks, .cols = domains},
        .blocks = {.rows = ranks, .cols = domains},
        .node_bytes = {.rows = where->nodes, .cols = domains},
        .node_blocks = {.rows = where->nodes, .cols = domains},
        .node_ranks = {.rows = where->nodes, .cols = domains},
    };
}

static int own_row(const tatp_pass *pass, tatp_words *own)
{
    size_t entries = pass->schedule->shares, size;
    if (__builtin_mul_overflow(entries + 1, ENTRY_WORDS * sizeof *own->word, &size))
        return OMPI_ERR_OUT_OF_RESOURCE;
    own->from = pass->fh->f_rank;
    own->word = malloc(size);
    if (NULL == own->word)
        return OMPI_ERR_OUT_OF_RESOURCE;
    own->count = entries * ENTRY_WORDS;
    for (size_t i = 0; i < entries; i++) {
        const domain_share *share = &pass->schedule->share[i];
        int64_t *entry = own->word + i * ENTRY_WORDS;
        entry[ENTRY_DOMAIN] = (int64_t)share->domain;
        entry[ENTRY_BYTES] = share->list.bytes;
        entry[ENTRY_BLOCKS] = access_blocks(&share->list);
    }
    return OMPI_SUCCESS;
}

int tatp_gather_rows(tatp_pass *pass, int rc, tatp_rows *rows)
{
    static const tatp_by_node way = {TATP_TAG_ROWS, TATP_TAG_NODE_ROWS, add_rank, sum_up, add_node};
    row_sums sums = start(pass);
    tatp_words own = {0};
    *rows = (tatp_rows){0};
    if (OMPI_SUCCESS == rc)
        rc = own_row(pass, &own);
    rc = tatp_gather_by_node(pass, &way, &sums, &own, rc);
    if (OMPI_SUCCESS == rc && pass->fh->f_rank == 0)
        rc = finish(&sums, rows);
    free(own.word);
    free(sums.part);
    matrix_builder_clear(&sums.requests);
    matrix_builder_clear(&sums.blocks);
    matrix_builder_clear(&sums.node_bytes);
    matrix_builder_clear(&sums.node_blocks);
    matrix_builder_clear(&sums.node_ranks);
    return rc;
}

void tatp_rows_release(tatp_rows *rows)
{
    matrix_release(&rows->requests);
    matrix_release(&rows->blocks);
    matrix_release(&rows->node_bytes);
    matrix_release(&rows->node_blocks);
    matrix_release(&rows->node_ranks);
}
