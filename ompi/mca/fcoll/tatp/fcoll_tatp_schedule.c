/* SPDX-License-Identifier: BSD-3-Clause */
/* Reuse of a plan, which most calls of a program allow: each rank accesses what it did in the call
 * before, all of them moved by one distance (the next time step, most often). Then one reduction is
 * all that precedes the data. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan_internal.h"

bool tatp_plan_repeats(const tatp_plan *plan, const tatp_plan_access *access)
{
    const tatp_plan_access *last = &plan->access;
    return plan->reusable && last->view == access->view && last->bytes == access->bytes &&
           !access->atomic && (access->bytes == 0 || last->used == access->used);
}

/* What the ranks agree on, by maxima: whether all repeat an access by one plan, at one distance;
 * the accessed range (a rank without data does not lower it to 0); the number of layers; errors. */
enum { FARTHEST, NEAREST, NEWEST, OLDEST, CHANGED, LOW, HIGH, LAYERS, ERROR, VALUES };

static void put_range(int64_t *value, int64_t lo, int64_t hi)
{
    value[LOW] = hi > 0 ? -lo : -ACCESS_END;
    value[HIGH] = hi;
}

static void put_new_access(const tatp_plan_access *access, int64_t *value)
{
    value[CHANGED] = 1;
    value[LAYERS] = (int64_t)access->layers;
    if (access->layers > 0)
        put_range(value, access_lower(access->layer), access_upper(access->layer));
}

static void put_repeated_access(const tatp_plan *plan, const tatp_plan_access *access,
                                int64_t *value)
{
    int64_t distance = access->offset - plan->access.offset;
    value[LAYERS] = 1;
    if (access->bytes == 0)
        return;
    value[FARTHEST] = distance;
    value[NEAREST] = -distance;
    put_range(value, plan->own_lo + distance, plan->own_hi + distance);
}

/* Where no access has changed, every rank has a plan, whose period is known. */
static bool allows_reuse(const tatp_plan *plan, const int64_t *value)
{
    return !value[CHANGED] && value[FARTHEST] == -value[NEAREST] &&
           value[NEWEST] == -value[OLDEST] && value[FARTHEST] % plan->draft.division.period == 0;
}

int tatp_plan_agree(const tatp_plan *plan, tatp_comm *comm, const tatp_plan_access *access,
                    bool repeats, int rc, tatp_plan_agreement *agreement)
{
    int64_t value[VALUES] = {
        [FARTHEST] = -INT64_MAX,         [NEAREST] = -INT64_MAX, [NEWEST] = plan->draft.view.id,
        [OLDEST] = -plan->draft.view.id, [LOW] = -ACCESS_END,    [ERROR] = tatp_error_class(rc),
    };
    if (OMPI_SUCCESS == rc && repeats)
        put_repeated_access(plan, access, value);
    else if (OMPI_SUCCESS == rc)
        put_new_access(access, value);
    rc = tatp_agree_max(comm, value, VALUES);
    if (OMPI_SUCCESS == rc)
        rc = (int)value[ERROR];
    *agreement = (tatp_plan_agreement){0};
    if (OMPI_SUCCESS != rc)
        return rc;
    agreement->reuse = allows_reuse(plan, value);
    agreement->shift = agreement->reuse ? value[FARTHEST] : 0;
    agreement->lo = -value[LOW];
    agreement->hi = value[HIGH];
    agreement->layers = value[LAYERS];
    return OMPI_SUCCESS;
}

void tatp_plan_remember(tatp_plan *plan, const tatp_plan_access *access)
{
    bool has_data = access->layers > 0 && access->layer->count > 0;
    plan->access = *access;
    plan->access.layer = NULL;
    plan->access.layers = 0;
    plan->own_lo = has_data ? access_lower(access->layer) : 0;
    plan->own_hi = has_data ? access_upper(access->layer) : 0;
    plan->reusable = !access->atomic;
}

void tatp_plan_forbid_reuse(tatp_plan *plan)
{
    plan->reusable = false;
}
