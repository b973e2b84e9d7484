/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways to choose the rank that serves each file domain. */
#include "plan/input.h"
#include "plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- tatp ---- */

static int solve(const plan_input *in, const lap_solver *solver, const double *workload,
                 size_t *rank_of_domain)
{
    lap_problem problem = {
        .rows = in->requests->rows,
        .cols = in->requests->cols,
        .cost = workload,
        .group = in->per_node > 0 ? in->node_of_rank : NULL,
        .groups = in->topology->nodes,
        .group_capacity = in->per_node,
    };
    lap_solution solution = { .row_of_col = rank_of_domain };
    int rc = solver->solve(&problem, &solution);
    return rc == LAP_INFEASIBLE ? -EINVAL : rc;
}

static int assign_tatp(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain)
{
    size_t pairs;
    if (in->requests->cols > in->requests->rows) {
        return -EINVAL;
    }
    if (__builtin_mul_overflow(in->requests->rows, in->requests->cols, &pairs)) {
        return -ENOMEM;
    }
    double *workload = calloc(pairs | 1, sizeof *workload);
    if (workload == NULL) {
        return -ENOMEM;
    }
    int rc = plan_workload(in, workload);
    if (rc == 0) {
        rc = solve(in, solver, workload, rank_of_domain);
    }
    free(workload);
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
    if (x->turn != y->turn) {
        return x->turn < y->turn ? -1 : 1;
    }
    return (x->first > y->first) - (x->first < y->first);
}

/* Lists the ranks in the order in which they get domains. */
static void list_turns(const plan_input *in, size_t *ranks_so_far, size_t *first_of_node,
                       struct turn *turns)
{
    size_t ranks = in->requests->rows;
    for (size_t i = 0; i < ranks; i++) {
        size_t n = in->node_of_rank[i];
        if (ranks_so_far[n] == 0) {
            first_of_node[n] = i;
        }
        turns[i] = (struct turn){ ranks_so_far[n]++, first_of_node[n], i };
    }
    qsort(turns, ranks, sizeof *turns, compare_turns);
}

static int take_turns(const plan_input *in, const struct turn *turns, size_t *rank_of_domain)
{
    size_t domains = in->requests->cols;
    if (domains > 0 && in->per_node > 0 && turns[domains - 1].turn >= in->per_node) {
        return -EINVAL;
    }
    for (size_t j = 0; j < domains; j++) {
        rank_of_domain[j] = turns[j].rank;
    }
    return 0;
}

static int assign_otp(const plan_input *in, const lap_solver *solver, size_t *rank_of_domain)
{
    (void)solver;
    size_t nodes = in->topology->nodes, ranks = in->requests->rows;
    if (in->requests->cols > ranks || plan_check_nodes(in) != 0) {
        return -EINVAL;
    }
    size_t *ranks_so_far = calloc(nodes | 1, sizeof *ranks_so_far);
    size_t *first_of_node = calloc(nodes | 1, sizeof *first_of_node);
    struct turn *turns = calloc(ranks | 1, sizeof *turns);
    int rc = -ENOMEM;
    if (ranks_so_far != NULL && first_of_node != NULL && turns != NULL) {
        list_turns(in, ranks_so_far, first_of_node, turns);
        rc = take_turns(in, turns, rank_of_domain);
    }
    free(turns);
    free(first_of_node);
    free(ranks_so_far);
    return rc;
}

/* ---- the table ---- */

const plan_strategy plan_strategies[] = {
    { "tatp", assign_tatp, "least hop-bytes, by linear assignment" },
    { "otp", assign_otp, "the lowest rank of each node in turn, as two-phase I/O does by default" },
    { NULL, NULL, NULL },
};

const plan_strategy *plan_find_strategy(const char *name)
{
    for (const plan_strategy *s = plan_strategies; name != NULL && s->name != NULL; s++) {
        if (strcmp(s->name, name) == 0) {
            return s;
        }
    }
    return NULL;
}
