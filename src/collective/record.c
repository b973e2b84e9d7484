/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a plan is made rank 0 collects what is accessed by it; calls that reuse the plan are
 * counted. */
#include "collective/record_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct coll_record {
    coll_process *process;
    const char *path;
    char *file; /* as the program named it; NULL: no file is recorded */
};

coll_record *coll_record_new(void)
{
    return calloc(1, sizeof(coll_record));
}

void coll_record_free(coll_record *record)
{
    if (record == NULL)
        return;
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

void coll_record_plan(coll_recorded *recorded, coll_group *group, const coll_record_access *access)
{
    record_entry_release(&recorded->entry);
    int rc = coll_record_collect(group, access, &recorded->entry);
    if (rc != 0 && group->rank == 0)
        coll_record_set_error(group->runtime->process, rc);
}

void coll_record_settle(const coll_record *record, coll_recorded *recorded)
{
    if (record->file != NULL && recorded->times > 0 && recorded->entry.view.rows > 0)
        coll_record_append(record->process, record->path, record->file, &recorded->entry,
                           recorded->times, false);
    recorded->times = 0;
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

void coll_record_end(coll_record *record)
{
    if (record->file == NULL)
        return;
    append_file(record);
    coll_record_flush(record->process);
    free(record->file);
    record->file = NULL;
}
