/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/files.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "collective/file.h"

enum { MOST_KEPT = 8 };

void coll_ranks_add(coll_ranks *ranks, uint64_t process)
{
    ranks->digest[0] = base_digest(ranks->digest[0], base_mix(process));
    ranks->digest[1] = base_mix(ranks->digest[1] ^ process);
}

/* Under the lock of the process, as the next. NULL if there is none. */
static coll_file *take_kept(coll_process *process, const coll_ranks *ranks, const coll_facts *facts)
{
    coll_file **best = NULL, *file = NULL;
    for (coll_file **at = &process->kept; *at != NULL; at = &(*at)->next) {
        if (memcmp(&(*at)->ranks, ranks, sizeof *ranks) != 0)
            continue;
        const bool fits = coll_file_has_settings(*at, facts);
        if (best == NULL || fits)
            best = at;
        if (fits)
            break;
    }
    if (best != NULL) {
        file = *best;
        *best = file->next;
    }
    return file;
}

/* Returns the file to be freed for it, or NULL. */
static coll_file *push_kept(coll_process *process, coll_file *file)
{
    coll_file **at = &process->kept;
    file->next = *at;
    *at = file;
    for (int n = 0; n < MOST_KEPT && *at != NULL; n++)
        at = &(*at)->next;
    coll_file *oldest = *at;
    *at = NULL;
    return oldest;
}

coll_file *coll_files_open(coll_process *process, const coll_ranks *ranks,
                           const coll_handle *handle, const coll_facts *facts)
{
    pthread_mutex_lock(&process->files_lock);
    coll_file *file = take_kept(process, ranks, facts);
    pthread_mutex_unlock(&process->files_lock);
    if (file == NULL)
        file = coll_file_new(process);
    if (file == NULL)
        return NULL;
    file->ranks = *ranks;
    coll_file_open(file, handle);
    return file;
}

void coll_files_close(coll_process *process, coll_file *file)
{
    coll_file_close(file);
    coll_file *out = file;
    pthread_mutex_lock(&process->files_lock);
    if (coll_file_is_reusable(file))
        out = push_kept(process, file);
    pthread_mutex_unlock(&process->files_lock);
    coll_file_free(out);
}

void coll_files_release(coll_process *process)
{
    for (coll_file *file; (file = process->kept) != NULL;) {
        process->kept = file->next;
        coll_file_free(file);
    }
    while (process->idle > 0)
        exchange_buffers_free(process->buffers[--process->idle]);
    free(process->buffers);
    process->buffers = NULL;
    process->capacity = 0;
}
