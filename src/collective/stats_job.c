/* SPDX-License-Identifier: BSD-3-Clause */
/* Who runs what where, for the first line of the statistics. */
#define _GNU_SOURCE /* argz */
#include "collective/stats_internal.h"

#include <argz.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "collective/record.h"

/* Longer commands are cut, so that the line stays short. */
enum { LONGEST_COMMAND = 1024, LONGEST_NAME = 256 };

static void put_command(json_writer *w)
{
    char *text = NULL;
    size_t length = 0;
    if (coll_process_command(&text, &length) == 0) {
        argz_stringify(text, length, ' ');
        text[strnlen(text, LONGEST_COMMAND)] = '\0';
        json_put_string(w, "command", text);
    }
    free(text);
}

/* MPIs describe themselves at length; their name and release come first. */
static void put_mpi(json_writer *w, const char *description)
{
    char name[LONGEST_NAME];
    if (description == NULL)
        return;
    snprintf(name, sizeof name, "%s", description);
    name[strcspn(name, ",\n")] = '\0';
    json_put_string(w, "mpi", name);
}

static void put_record(json_writer *w, const coll_process *process, const char *record)
{
    if (*record == '\0' || coll_record_is_automatic(record))
        return;
    char *path = coll_job_path(process, record);
    if (path != NULL)
        json_put_string(w, "record", path);
    free(path);
}

void coll_stats_put_job(json_writer *w, const char *key, const coll_process *process,
                        const char *record)
{
    char user[COLL_NAME];
    struct utsname system;
    coll_process_user(user);
    json_begin_object(w, key);
    json_put_string(w, "user", user);
    json_put_string(w, "id", coll_process_job(process));
    if (uname(&system) == 0)
        json_put_string(w, "host", system.nodename);
    put_command(w);
    put_mpi(w, process->job.mpi);
    put_record(w, process, record);
    json_end_object(w);
}
