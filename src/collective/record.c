/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a plan is made rank 0 collects what is accessed by it; calls that reuse the plan are
 * counted. */
#include "collective/record_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collective/schedule.h"

struct coll_record {
    coll_process *process;
    const char *path;
    char *file; /* as the program named it; NULL: no file is recorded */
    record_entry entry[COLL_SLOTS];
    int64_t times[COLL_SLOTS]; /* accesses that were not appended to the record yet */
};

coll_record *coll_record_new(void)
{
    return calloc(1, sizeof(coll_record));
}

void coll_record_free(coll_record *record)
{
    if (record == NULL)
        return;
    for (size_t slot = 0; slot < COLL_SLOTS; slot++)
        record_entry_release(&record->entry[slot]);
    free(record->file);
    free(record);
}

void coll_record_begin(coll_record *record, coll_process *process, const char *path,
                       const char *file)
{
    record->process = process;
    record->path = path;
    record->file = strdup(file);
    if (record->file == NULL)
        coll_record_set_error(process, -ENOMEM);
}

void coll_record_plan(coll_record *record, size_t slot, coll_group *group,
                      const coll_record_access *access)
{
    record_entry_release(&record->entry[slot]);
    int rc = coll_record_collect(group, access, &record->entry[slot]);
    if (rc != 0 && group->rank == 0)
        coll_record_set_error(group->runtime->process, rc);
}

void coll_record_count(coll_record *record, size_t slot)
{
    record->times[slot]++;
}

void coll_record_reset(coll_record *record, size_t slot)
{
    if (record->file != NULL && record->times[slot] > 0 && record->entry[slot].view.rows > 0)
        coll_record_append(record->process, record->path, record->file, &record->entry[slot],
                           record->times[slot], false);
    record->times[slot] = 0;
}

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

/* The plans may be those of the next file. */
void coll_record_end(coll_record *record)
{
    for (size_t slot = 0; slot < COLL_SLOTS; slot++)
        coll_record_reset(record, slot);
    if (record->file == NULL)
        return;
    append_file(record);
    coll_record_flush(record->process);
    free(record->file);
    record->file = NULL;
}
