/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a plan is made rank 0 collects what is accessed by it; calls that reuse the plan are
 * counted. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_record_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_job.h"

#include "collective/schedule.h"

struct tatp_record {
    const char *path;
    char *file; /* as the program named it; NULL: no file is recorded */
    record_entry entry[COLL_SLOTS];
    int64_t times[COLL_SLOTS]; /* accesses that were not appended to the record yet */
};

tatp_record *tatp_record_new(void)
{
    return calloc(1, sizeof(tatp_record));
}

void tatp_record_free(tatp_record *record)
{
    if (NULL == record)
        return;
    for (size_t slot = 0; slot < COLL_SLOTS; slot++)
        record_entry_release(&record->entry[slot]);
    free(record->file);
    free(record);
}

void tatp_record_begin(tatp_record *record, const char *path, const char *file)
{
    record->path = path;
    record->file = strdup(file);
    if (NULL == record->file)
        tatp_record_set_error(-ENOMEM);
}

void tatp_record_plan(tatp_record *record, size_t slot, coll_group *group,
                      const tatp_record_access *access)
{
    record_entry_release(&record->entry[slot]);
    int rc = tatp_record_collect(group, access, &record->entry[slot]);
    if (0 != rc && 0 == group->rank)
        tatp_record_set_error(rc);
}

void tatp_record_count(tatp_record *record, size_t slot)
{
    record->times[slot]++;
}

void tatp_record_reset(tatp_record *record, size_t slot)
{
    if (NULL != record->file && record->times[slot] > 0 && record->entry[slot].view.rows > 0)
        tatp_record_append(record->path, record->file, &record->entry[slot], record->times[slot],
                           false);
    record->times[slot] = 0;
}

/* So that there is a record of every program, also of one whose ranks access their files
 * themselves. */
static void append_file(const tatp_record *record)
{
    size_t ranks = tatp_job_size();
    record_entry none = {.view = {.rows = ranks, .cols = ranks}};
    none.view.row_start = calloc(ranks + 1, sizeof *none.view.row_start);
    if (NULL == none.view.row_start)
        tatp_record_set_error(-ENOMEM);
    else
        tatp_record_append(record->path, record->file, &none, 0, true);
    record_entry_release(&none);
}

/* The plans may be those of the next file. */
void tatp_record_end(tatp_record *record)
{
    for (size_t slot = 0; slot < COLL_SLOTS; slot++)
        tatp_record_reset(record, slot);
    if (NULL == record->file)
        return;
    append_file(record);
    tatp_record_flush();
    free(record->file);
    record->file = NULL;
}
