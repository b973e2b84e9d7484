/* SPDX-License-Identifier: BSD-3-Clause */
/* They are bound to no object, because not every tool can bind one to a file, and always counted:
 * that costs some additions for each access, and no clock is read for it. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_pvars.h"

#include <stddef.h>

#include "mpi.h"
#include "ompi/compat/compat.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_io.h"
#include "opal/mca/base/mca_base_pvar.h"

static struct {
    unsigned long long calls, bytes_written, bytes_read, crossing_bytes, plans_made, plans_reused;
    double hop_bytes;
    coll_times time;
} totals;

/* It guards `totals`: threads may access several files at the same time. */
static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;

typedef struct variable {
    const char *name, *help;
    int kind;
    mca_base_var_type_t type;
    void *storage;
} variable;

static const variable variables[] = {
    {"calls", "Operations of this process in collective calls", MCA_BASE_PVAR_CLASS_COUNTER,
     MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, &totals.calls},
    {"bytes_written", "Bytes that this process wrote in collective calls",
     MCA_BASE_PVAR_CLASS_AGGREGATE, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, &totals.bytes_written},
    {"bytes_read", "Bytes that this process read in collective calls",
     MCA_BASE_PVAR_CLASS_AGGREGATE, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, &totals.bytes_read},
    {"noncollective_bytes_written",
     "Bytes that this process wrote in calls that are not collective",
     MCA_BASE_PVAR_CLASS_AGGREGATE, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, &tatp_io_counted[true]},
    {"noncollective_bytes_read", "Bytes that this process read in calls that are not collective",
     MCA_BASE_PVAR_CLASS_AGGREGATE, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, &tatp_io_counted[false]},
    {"hop_bytes", "Hop-bytes between all ranks and their aggregators; on rank 0 of each file",
     MCA_BASE_PVAR_CLASS_AGGREGATE, MCA_BASE_VAR_TYPE_DOUBLE, &totals.hop_bytes},
    {"crossing_bytes",
     "Bytes whose rank and aggregator are on different nodes, of all ranks; on rank 0 of each file",
     MCA_BASE_PVAR_CLASS_AGGREGATE, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, &totals.crossing_bytes},
    {"plans_made", "Plans: file domains and their assignment to aggregators",
     MCA_BASE_PVAR_CLASS_COUNTER, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, &totals.plans_made},
    {"plans_reused", "Collective accesses by the plan of an earlier one",
     MCA_BASE_PVAR_CLASS_COUNTER, MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, &totals.plans_reused},
    {"st1", "Seconds of stage 1: view, accessed range, and waiting for ranks that come later",
     MCA_BASE_PVAR_CLASS_TIMER, MCA_BASE_VAR_TYPE_DOUBLE, &totals.time.of[COLL_ST1]},
    {"st2", "Seconds of stage 2: file domains and their assignment", MCA_BASE_PVAR_CLASS_TIMER,
     MCA_BASE_VAR_TYPE_DOUBLE, &totals.time.of[COLL_ST2]},
    {"st3", "Seconds of stage 3: exchange of the access requests", MCA_BASE_PVAR_CLASS_TIMER,
     MCA_BASE_VAR_TYPE_DOUBLE, &totals.time.of[COLL_ST3]},
    {"st4", "Seconds of stage 4: shuffle", MCA_BASE_PVAR_CLASS_TIMER, MCA_BASE_VAR_TYPE_DOUBLE,
     &totals.time.of[COLL_ST4]},
    {"st5", "Seconds of stage 5: file access", MCA_BASE_PVAR_CLASS_TIMER, MCA_BASE_VAR_TYPE_DOUBLE,
     &totals.time.of[COLL_ST5]},
};

int tatp_pvars_register(const mca_base_component_t *component)
{
    const mca_base_pvar_flag_t flags = MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS;
    int index = 0;
    for (size_t i = 0; i < sizeof variables / sizeof *variables && index >= 0; i++) {
        const variable *v = &variables[i];
        index = mca_base_component_pvar_register(
            component, v->name, v->help, OPAL_INFO_LVL_4, v->kind, v->type, NULL,
            MCA_BASE_VAR_BIND_NO_OBJECT, flags, NULL, NULL, NULL, v->storage);
    }
    return index < 0 ? index : OMPI_SUCCESS;
}

/* The costs of a plan are known on rank 0 only, and 0 on others. */
void tatp_pvars_add(const coll_observed *access)
{
    OPAL_THREAD_LOCK(&lock);
    totals.calls++;
    if (access->write)
        totals.bytes_written += (unsigned long long)access->moved;
    else
        totals.bytes_read += (unsigned long long)access->moved;
    if (NULL != access->plan) {
        const plan_draft *plan = &access->plan->draft;
        totals.hop_bytes += plan->hop_bytes;
        totals.crossing_bytes += (unsigned long long)plan->crossing_bytes;
    }
    totals.plans_made += access->makes_plan;
    totals.plans_reused += NULL != access->plan && !access->makes_plan;
    for (int i = 0; i < COLL_STAGES; i++)
        totals.time.of[i] += access->time.of[i];
    OPAL_THREAD_UNLOCK(&lock);
}
