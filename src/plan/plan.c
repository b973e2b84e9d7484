/* SPDX-License-Identifier: BSD-3-Clause */
/* The strategies of aggregator selection. */
#include "base/memory.h"
#include "plan/plan.h"
#include "plan/costs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Domains to nodes first, then to the ranks of each node, by what each has of them in `rows`. */
static int assign_by_held(const plan_input *in, const struct held *held, const matrix *rows,
                          size_t *rank_of_domain)
{
    struct costs costs;
    if (rows->cols > rows->rows || rows->rows != in->requests->rows ||
        rows->cols != in->requests->cols)
        return -EINVAL;
    int rc = costs_init(&costs, in, held);
    if (rc == 0)
        rc = assign_in_two_steps(&costs, rows, rank_of_domain);
    costs_release(&costs);
    return rc;
}

/* ---- tatp ---- */

int plan_least_hop_bytes(const plan_input *in, size_t *rank_of_domain)
{
    const struct held held = held_bytes(in);
    return assign_by_held(in, &held, in->requests, rank_of_domain);
}

/* Of ranks that cost a domain the same, the nearest to the network. */
static int assign_tatp(const plan_input *in, size_t *rank_of_domain)
{
    int rc = 0;
    if (in->nearness == NULL)
        return plan_least_hop_bytes(in, rank_of_domain);
    size_t *made = base_zeroed(in->requests->cols, sizeof *made, &rc);
    if (rc == 0)
        rc = plan_least_hop_bytes(in, made);
    if (rc == 0)
        rc = prefer_near_ranks(in, made);
    for (size_t j = 0; j < in->requests->cols && rc == 0; j++)
        rank_of_domain[j] = made[j];
    free(made);
    return rc;
}

/* ---- latp: the node that accesses most of a domain, then its best rank; all other bytes are 1 hop
 * away ---- */

static int assign_latp_volume(const plan_input *in, size_t *rank_of_domain)
{
    const struct held held = {.by_rank = in->requests, .by_node = in->node_bytes, .apart = 1};
    return assign_by_held(in, &held, in->requests, rank_of_domain);
}

/* Without blocks each entry that is not 0 counts as one. */
static int assign_latp_count(const plan_input *in, size_t *rank_of_domain)
{
    const matrix *rows = in->blocks != NULL ? in->blocks : in->requests;
    matrix counted = *rows;
    struct held held = {.by_rank = &counted, .by_node = in->node_blocks, .apart = 1};
    int rc = 0;
    counted.value = base_zeroed(matrix_entries(rows), sizeof *counted.value, &rc);
    for (size_t k = 0; k < matrix_entries(rows) && rc == 0; k++)
        counted.value[k] = in->blocks != NULL ? rows->value[k] : rows->value[k] != 0;
    if (rc == 0)
        rc = assign_by_held(in, &held, rows, rank_of_domain);
    free(counted.value);
    return rc;
}

/* ---- otp ---- */

/* `turn` is the number of lower ranks on the rank's node, `first` the lowest of them. */
struct turn {
    size_t turn, first, rank;
};

static int compare_turns(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int assign_otp(const plan_input *in, size_t *rank_of_domain)
{
    struct base_arena arena = {0};
    size_t nodes = in->topology->nodes, ranks = in->requests->rows, domains = in->requests->cols;
    size_t *ranks_so_far = base_arena_alloc(&arena, nodes, sizeof *ranks_so_far);
    size_t *first_of_node = base_arena_alloc(&arena, nodes, sizeof *first_of_node);
    struct turn *turns = base_arena_alloc(&arena, ranks, sizeof *turns);
    int rc = domains > ranks ? -EINVAL : plan_check_nodes(in);
    if (rc == 0 && arena.failed)
        rc = -ENOMEM;
    for (size_t i = 0; i < ranks && rc == 0; i++) {
        size_t n = in->node_of_rank[i];
        if (ranks_so_far[n] == 0)
            first_of_node[n] = i;
        turns[i] = (struct turn){ranks_so_far[n]++, first_of_node[n], i};
    }
    if (rc == 0)
        qsort(turns, ranks, sizeof *turns, compare_turns);
    if (rc == 0 && domains > 0 && in->per_node > 0 && turns[domains - 1].turn >= in->per_node)
        rc = -EINVAL;
    for (size_t j = 0; j < domains && rc == 0; j++)
        rank_of_domain[j] = turns[j].rank;
    base_arena_release(&arena);
    return rc;
}

/* ---- the table ---- */

const plan_strategy plan_strategies[] = {
    {"tatp", assign_tatp, "least hop-bytes, by linear assignment", 0},
    {"latp_volume", assign_latp_volume, "the node that accesses most bytes of the domain", 0},
    {"latp_count", assign_latp_count, "the node that accesses most contiguous blocks of the domain",
     1},
    {"otp", assign_otp, "the lowest rank of each node in turn, as two-phase I/O does by default",
     0},
    {NULL, NULL, NULL, 0},
};

const plan_strategy *plan_find_strategy(const char *name)
{
    for (const plan_strategy *s = plan_strategies; name != NULL && s->name != NULL; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}
