/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a plan is made rank 0 collects what is accessed by it; calls that reuse the plan are
 * counted. */
#include "collective/record_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* On rank 0: what is accessed by a plan, and how often that was done. */
typedef struct recorded {
    record_entry entry;
    int64_t times; /* accesses that were not appended to the record yet */
} recorded;

void coll_record_begin(coll_record *record, bool records, coll_process *process, const char *path,
                       const char *file)
{
    record->records = records;
    record->process = process;
    record->path = path;
    record->file = process != NULL ? strdup(file) : NULL;
    if (process != NULL && record->file == NULL)
        coll_record_set_error(process, -ENOMEM);
}

/* ---- the observer ---- */

static void collect_plan(void *context, const coll_observed *access, void **state)
{
    const coll_record *record = context;
    record_entry entry = {.accessed = 0};
    if (!record->records)
        return;
    recorded *r = *state;
    int rc = coll_record_collect(access, &entry);
    if (access->group->rank != 0)
        return;
    if (r == NULL)
        *state = r = calloc(1, sizeof *r);
    if (r != NULL) {
        record_entry_release(&r->entry);
        r->entry = entry;
    } else {
        record_entry_release(&entry);
        rc = -ENOMEM;
    }
    if (rc != 0)
        coll_record_set_error(record->process, rc);
}

static int count_access(void *context, const coll_observed *access, void **state)
{
    recorded *r = *state;
    (void)context;
    if (r != NULL)
        r->times += access->counts_as_planned;
    return 0;
}

static void append_accesses(void *context, void **state, bool is_released)
{
    const coll_record *record = context;
    recorded *r = *state;
    if (r == NULL)
        return;
    if (record->file != NULL && r->times > 0 && r->entry.view.rows > 0)
        coll_record_append(record->process, record->path, record->file, &r->entry, r->times, false);
    r->times = 0;
    if (!is_released)
        return;
    record_entry_release(&r->entry);
    free(r);
    *state = NULL;
}

coll_observer coll_record_observer(coll_record *record)
{
    return (coll_observer){.context = record,
                           .planned = collect_plan,
                           .moved = count_access,
                           .settle = append_accesses};
}

/* ---- the end ---- */

/* So that there is a record of every program, also of one whose ranks access their files
 * themselves. */
static void append_file(const coll_record *record)
{
    size_t ranks = record->process->job.size;
    record_entry none = {.view = {.rows = ranks, .cols = ranks}};
    none.view.row_start = calloc(ranks + 1, sizeof *none.view.row_start);
    if (none.view.row_start == NULL)
        coll_record_set_error(record->process, -ENOMEM);
    else
        coll_record_append(record->process, record->path, record->file, &none, 0, true);
    record_entry_release(&none);
}

void coll_record_end(coll_record *record, int64_t noncollective)
{
    if (record->file == NULL)
        return;
    append_file(record);
    coll_record_flush(record->process, noncollective);
    free(record->file);
    record->file = NULL;
}
