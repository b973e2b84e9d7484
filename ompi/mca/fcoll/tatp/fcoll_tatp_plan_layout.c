/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a file that has no data yet (src/plan/layouts.h): rank 0 chooses it by what a plan
 * would cost. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_plan_internal.h"

#include <errno.h>
#include <stdlib.h>

#include "opal/util/output.h"
#include "ompi/mca/fcoll/base/base.h"

static int find_stored(const void *storage, const file_striping *striping,
                       const file_domains *domains, const matrix *node_bytes,
                       layouts_stored *stored)
{
    return tatp_storage_bytes_with(storage, striping, domains, node_bytes, &stored->bytes,
                                   &stored->most);
}

/* Negative errno. */
static int choose_by_bytes(const tatp_planning *planning, const tatp_gathered *all,
                           const tatp_draft *draft, const matrix *bytes, layouts_choice *choice)
{
    const tatp_plan_settings *settings = planning->in->settings;
    const file_striping_limits limits = tatp_storage_limits(planning->in->storage);
    const layouts_servers servers = {find_stored, planning->in->storage, limits.targets};
    const plan_input problem = tatp_pose_problem(planning, &all->c, &(matrix){0});
    const layouts_input in = {
        .problem = &problem,
        .strategy = settings->strategy,
        .solver = settings->solver,
        .domains = &draft->division.domains,
        .servers = &servers,
        .smallest = &planning->smallest,
        .bytes = bytes,
        .settings = &planning->division,
    };
    file_striping *candidate = NULL;
    size_t count = 0;
    int rc = layouts_list(&planning->smallest, bytes, &limits, &candidate, &count);
    if (0 == rc)
        rc = layouts_choose(&in, candidate, count, choice);
    free(candidate);
    if (0 != rc)
        return rc;
    opal_output_verbose(10, ompi_fcoll_base_framework.framework_output,
                        "fcoll:tatp: the best of %lu layouts: %.15g hop-bytes, %.15g with the "
                        "present one",
                        (unsigned long)count,
                        choice->changes ? choice->better.hop_bytes : choice->present.hop_bytes,
                        choice->present.hop_bytes);
    return 0;
}

/* Negative errno. */
static int choose_on_root(const tatp_planning *planning, tatp_gathered *all,
                          const tatp_draft *draft, layouts_choice *choice)
{
    matrix bytes;
    int rc = matrix_from_entries(&bytes, planning->smallest.count, all->c.node_bytes.rows,
                                 all->units.entry, all->units.count);
    if (0 != rc)
        return rc;
    rc = choose_by_bytes(planning, all, draft, &bytes, choice);
    matrix_release(&bytes);
    return rc;
}

/* A first access of few bytes says little of those that follow. Stripes that the user has named are
 * the borders of domains, and stay. */
static bool is_telling(const tatp_planning *planning)
{
    return planning->in->hi - planning->in->lo >= DOMAIN_WORTHWHILE && !planning->smallest.columns;
}

int tatp_plans_choose_layout(tatp_plans *plans, const tatp_plan_input *in, int rc,
                             layouts_choice *choice)
{
    tatp_planning planning = tatp_start_planning(plans, in);
    tatp_draft draft = {0};
    tatp_gathered all;
    *choice = (layouts_choice){.changes = false};
    if (!is_telling(&planning))
        return rc;
    planning.may_fit = true; /* units are counted in any case */
    if (OMPI_SUCCESS == rc)
        rc = tatp_divide_range(&planning, &draft);
    rc = tatp_gather_requests(&planning, &draft, rc, &all);
    if (OMPI_SUCCESS == rc && 0 == tatp_comm_rank(in->comm) && !all.units.too_many) {
        int failed = choose_on_root(&planning, &all, &draft, choice);
        rc = -ENOENT != failed ? tatp_from_errno(failed) : OMPI_SUCCESS;
    }
    tatp_gathered_release(&all);
    tatp_release_draft(&draft);
    return rc;
}
