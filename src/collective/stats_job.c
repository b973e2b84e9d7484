/* SPDX-License-Identifier: BSD-3-Clause */
/* Who runs what where, for the name of the statistics file and its first line. */
#define _GNU_SOURCE /* argz, program_invocation_short_name */
#include "collective/stats_internal.h"

#include <argz.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "collective/record.h"

/* Longer commands are cut, so that the line stays short. */
enum { LONGEST_COMMAND = 1024, LONGEST_NAME = 256 };

/* The number, if the user database does not know the user. */
static void find_user(char user[LONGEST_NAME])
{
    char text[4096];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(geteuid(), &entry, text, sizeof text, &found) == 0 && found != NULL)
        snprintf(user, LONGEST_NAME, "%s", found->pw_name);
    else
        snprintf(user, LONGEST_NAME, "%lu", (unsigned long)geteuid());
}

/* The batch system's number, or else the MPI's name. */
static const char *find_job(const coll_process *process)
{
    static const char *const variables[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL && *value != '\0')
            return value;
    }
    return process->job.id;
}

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
    char user[LONGEST_NAME];
    struct utsname system;
    find_user(user);
    json_begin_object(w, key);
    json_put_string(w, "user", user);
    json_put_string(w, "id", find_job(process));
    if (uname(&system) == 0)
        json_put_string(w, "host", system.nodename);
    put_command(w);
    put_mpi(w, process->job.mpi);
    put_record(w, process, record);
    json_end_object(w);
}

/* ---- the name of the file ---- */

/* What is put in may not lead to another folder. */
static void put_part(FILE *out, const char *part)
{
    for (; *part != '\0'; part++)
        fputc(*part == '/' ? '_' : *part, out);
}

/* Writes what the character after % stands for; false: nothing special. */
static bool put_special(FILE *out, char c, const coll_process *process)
{
    char user[LONGEST_NAME];
    switch (c) {
    case 'u':
        find_user(user);
        put_part(out, user);
        return true;
    case 'j': put_part(out, find_job(process)); return true;
    case 'x': put_part(out, program_invocation_short_name); return true;
    case '%': fputc('%', out); return true;
    default: return false;
    }
}

char *coll_stats_expand(const coll_process *process, const char *pattern)
{
    char *name = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&name, &length);
    if (out == NULL)
        return NULL;
    for (const char *c = pattern; *c != '\0'; c++)
        if (*c == '%' && put_special(out, c[1], process))
            c++;
        else
            fputc(*c, out);
    if (fclose(out) == 0)
        return name;
    free(name);
    return NULL;
}
