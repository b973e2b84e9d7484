/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf */
#include "collective/process.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/mix.h"

/* ---- messages ---- */

void coll_log(coll_process *process, int level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    process->log(process->context, level, format, arguments);
    va_end(arguments);
}

void coll_show(coll_process *process, const char *topic, ...)
{
    va_list arguments;
    va_start(arguments, topic);
    process->show(process->context, topic, arguments);
    va_end(arguments);
}

/* Not 0. */
static uint64_t digest_of(const char *topic, const char *what)
{
    return base_digest_text(base_digest(base_digest_text(0, topic), 0), what) | 1;
}

bool coll_is_first(coll_process *process, const char *topic, const char *what)
{
    const uint64_t digest = digest_of(topic, what);
    for (int i = 0; i < COLL_SHOWN; i++) {
        uint64_t known = 0;
        if (atomic_compare_exchange_strong(&process->shown[i], &known, digest))
            return true;
        if (known == digest)
            return false;
    }
    return false;
}

int coll_refuse(coll_process *process, bool strict, int error)
{
    if (strict && coll_is_first(process, "strict", ""))
        coll_show(process, "strict");
    return strict ? error : 0;
}

/* ---- names of files ---- */

char *coll_job_path(const coll_process *process, const char *name)
{
    const char *folder = process->job.folder;
    char *path;
    if (name[0] == '/' || folder == NULL)
        return strdup(name);
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}
