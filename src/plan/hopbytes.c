/* SPDX-License-Identifier: BSD-3-Clause */
/* The assignment of minimum hop-bytes. */
#include "base/memory.h"
#include "plan/plan.h"
#include "plan/steps.h"

#include <errno.h>
#include <stdlib.h>

int plan_least_hop_bytes(const plan_input *in, size_t *rank_of_domain)
{
    struct costs costs = {0};
    struct held held = held_bytes(in);
    int rc = in->requests->cols > in->requests->rows ? -EINVAL : 0;
    size_t *made = base_zeroed(in->requests->cols, sizeof *made, &rc);
    if (rc == 0)
        rc = costs_init(&costs, in, &held);
    if (rc == 0)
        rc = assign_in_two_steps(&costs, plan_savings(in), made);
    for (size_t j = 0; j < in->requests->cols && rc == 0; j++)
        rank_of_domain[j] = made[j];
    costs_release(&costs);
    free(made);
    return rc;
}
