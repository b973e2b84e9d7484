/* SPDX-License-Identifier: BSD-3-Clause */
/* What rank 0 broadcasts of a plan, a stream of elements in messages of one size, so that no rank
 * has memory for all of it: a head, and then
 * - with a unit: the units of fitted domains, a run of them in an element;
 * - otherwise the aggregator of each domain with the number of ranks that access it, and the units
 *   once more if the domains are fitted, of which an aggregator keeps those of its domain. */
#include "collective/plan_internal.h"

#include <errno.h>

enum { COUNT_BITS = 31 }; /* a rank and a number of ranks in one element */

static void flush(const coll_planning *planning)
{
    coll_stream *s = planning->in->stream;
    int count = (int)s->count;
    if (s->rc == 0 && count > 0)
        s->rc = coll_bcast(planning->in->group, s->element, &count);
    s->count = 0;
}

static void put(const coll_planning *planning, int64_t element)
{
    coll_stream *s = planning->in->stream;
    if (s->count == COLL_STREAM_ELEMENTS)
        flush(planning);
    s->element[s->count++] = element;
}

/* Returns 0 after an error. */
static int64_t take(const coll_planning *planning)
{
    coll_stream *s = planning->in->stream;
    if (s->rc == 0 && s->at == s->count) {
        int count = COLL_STREAM_ELEMENTS;
        s->rc = coll_bcast(planning->in->group, s->element, &count);
        s->count = (size_t)count;
        s->at = 0;
    }
    return s->rc == 0 && s->at < s->count ? s->element[s->at++] : 0;
}

/* Returns the number of the plan, which files of other threads increase, too. */
static int64_t put_head(const coll_planning *planning, int rc, int64_t unit)
{
    const coll_runtime *runtime = planning->in->group->runtime;
    int64_t id = ++runtime->process->plans;
    planning->in->stream->count = 0;
    put(planning, runtime->error_class(rc));
    put(planning, id);
    put(planning, unit);
    return id;
}

static void put_runs(const coll_planning *planning, const pieces *units)
{
    for (size_t at = 0; at < units->count;) {
        int64_t element = pieces_put_run(units, at);
        put(planning, element);
        at += pieces_take_run(units, at, element, planning->planner.domains).count;
    }
}

int coll_put_units(const coll_planning *planning, const pieces *units)
{
    (void)put_head(planning, 0, units->unit);
    put_runs(planning, units);
    flush(planning);
    return planning->in->stream->rc;
}

static void note_aggregator(const coll_planning *planning, const file_domains *domains,
                            size_t domain, int64_t element, domain_layout *layout)
{
    int64_t contributors = element & (((int64_t)1 << COUNT_BITS) - 1);
    layout->aggregator[domain] = (int)(element >> COUNT_BITS);
    if (contributors > layout->most_contributors)
        layout->most_contributors = contributors;
    if (domains->size[domain] > 0 && layout->aggregator[domain] == planning->in->group->rank) {
        layout->aggregates = true;
        layout->domain = domain;
        layout->contributors = (size_t)contributors;
    }
}

int coll_put_aggregators(const coll_planning *planning, const plan_draft *draft, int rc,
                         domain_layout *layout)
{
    layout->id = put_head(planning, rc, 0);
    for (size_t j = 0; j < planning->planner.domains && rc == 0; j++) {
        int64_t rank = (int64_t)draft->rank_of_domain[j];
        int64_t element = rank << COUNT_BITS | matrix_get(&draft->c.accessing, 0, j);
        put(planning, element);
        note_aggregator(planning, &draft->division.domains, j, element, layout);
    }
    if (rc == 0 && draft->units.unit > 0 && !draft->units.columns)
        put_runs(planning, &draft->units);
    flush(planning);
    return planning->in->stream->rc;
}

int coll_take_head(const coll_planning *planning, coll_plan_head *head)
{
    coll_stream *s = planning->in->stream;
    s->at = s->count = 0;
    head->error = (int)take(planning);
    head->id = take(planning);
    head->unit = take(planning);
    return s->rc;
}

bool coll_take_run(const coll_planning *planning, const pieces *units, pieces_run *run)
{
    coll_stream *s = planning->in->stream;
    size_t next = run->first + run->count;
    if (next == units->count || s->rc != 0)
        return false;
    *run = pieces_take_run(units, next, take(planning), planning->planner.domains);
    if (run->count == 0 && s->rc == 0)
        s->rc = -EINVAL;
    return s->rc == 0;
}

int coll_take_aggregators(const coll_planning *planning, const file_domains *domains,
                          domain_layout *layout)
{
    for (size_t j = 0; j < planning->planner.domains; j++)
        note_aggregator(planning, domains, j, take(planning), layout);
    return planning->in->stream->rc;
}
