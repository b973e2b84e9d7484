/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* argz, program_invocation_short_name */
#include "collective/process.h"

#include <argz.h>
#include <errno.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/mix.h"
#include "cache/program.h"

/* ---- messages ---- */

void coll_log(coll_process *process, int level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (process->log != NULL)
        process->log(process->context, level, format, arguments);
    va_end(arguments);
}

void coll_show(coll_process *process, const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    if (process->show != NULL && vasprintf(&text, format, arguments) >= 0) {
        process->show(text);
        free(text);
    }
    va_end(arguments);
}

const char *coll_name_parameter(const coll_process *process, enum parameter parameter,
                                char name[COLL_NAME_BYTES])
{
    char own[PARAMETER_NAME_BYTES];
    parameter_write_name(parameter, process->prefix, process->in_capitals, own);
    snprintf(name, COLL_NAME_BYTES, "%s %s", process->parameter, own);
    return name;
}

/* It is never 0. */
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

int coll_refuse(coll_process *process, const coll_refusal *refusal, const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    if (coll_is_first(process, "refused", parameter_table[refusal->parameter].name) &&
        vasprintf(&text, format, arguments) >= 0) {
        if (refusal->strict)
            coll_show(process, "%s" COLL_TEXT_STRICT, text, COLL_NAMED(process, PARAMETER_STRICT));
        else
            coll_show(process, "%s%s\n", text, refusal->otherwise);
        free(text);
    }
    va_end(arguments);
    return refusal->strict ? refusal->error : 0;
}

/* ---- the start of this process ---- */

#define NANOSECONDS 1000000000

static int64_t read_clock(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NANOSECONDS + now.tv_nsec;
}

/* Field 22 of /proc/self/stat: clock ticks since the system was booted. The name of the program,
 * field 2, is in brackets and may hold anything. 0: not known. */
static int64_t read_start(void)
{
    char text[1024] = "";
    unsigned long long ticks = 0;
    FILE *stream = fopen("/proc/self/stat", "r");
    if (stream == NULL)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[length] = '\0';
    const char *end = strrchr(text, ')');
    if (end == NULL || sscanf(end + 1,
                              " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                              "%*s %*s %*s %*s %llu",
                              &ticks) != 1)
        return 0;
    return (int64_t)ticks * (NANOSECONDS / sysconf(_SC_CLK_TCK));
}

int64_t coll_process_start(void)
{
    int64_t start = read_start();
    if (start == 0)
        return 0;
    return read_clock(CLOCK_REALTIME) - read_clock(CLOCK_BOOTTIME) + start;
}

/* ---- its command ---- */

int coll_process_command(char **text, size_t *length)
{
    FILE *stream = fopen("/proc/self/cmdline", "re");
    char *argument = NULL;
    size_t capacity = 0;
    int rc = stream == NULL ? -errno : 0;
    while (rc == 0 && getdelim(&argument, &capacity, '\0', stream) > 0)
        rc = -argz_add(text, length, argument);
    if (rc == 0 && !feof(stream))
        rc = -ENOMEM;
    free(argument);
    if (stream != NULL)
        fclose(stream);
    return rc == 0 && *length == 0 ? -ENOEXEC : rc;
}

char *coll_process_script(const char *folder)
{
    char *text = NULL, **argument = NULL, *script = NULL;
    size_t length = 0;
    int rc = coll_process_command(&text, &length);
    if (rc == 0)
        argument = base_zeroed(argz_count(text, length) + 1, sizeof *argument, &rc);
    if (rc == 0) {
        const cache_program program = {"/proc/self/exe", argument, folder != NULL ? folder : "/"};
        argz_extract(text, length, argument);
        const char *name = cache_find_script_name(&program);
        script = name != NULL ? strdup(name) : NULL;
    }
    free(argument);
    free(text);
    return script;
}

const char *coll_process_program(const coll_process *process)
{
    return process->job.script != NULL ? process->job.script : program_invocation_short_name;
}

/* ---- who runs it ---- */

void coll_process_user(char user[COLL_NAME])
{
    char text[4096];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(geteuid(), &entry, text, sizeof text, &found) == 0 && found != NULL)
        snprintf(user, COLL_NAME, "%s", found->pw_name);
    else
        snprintf(user, COLL_NAME, "%lu", (unsigned long)geteuid());
}

const char *coll_process_job(const coll_process *process)
{
    static const char *const variables[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL && *value != '\0')
            return value;
    }
    return process->job.id;
}

/* Slurm's number of the step whose tasks the ranks are, or else the MPI's name for the job: the
 * daemons of an mpirun are tasks of a step, too, but not on the node of mpirun. */
static const char *find_step(const coll_process *process)
{
    const char *step = getenv("SLURM_STEP_ID"), *tasks = getenv("SLURM_STEP_NUM_TASKS");
    bool has_ranks = step != NULL && *step != '\0' && tasks != NULL &&
                     strtoull(tasks, NULL, 10) == process->job.size;
    return has_ranks ? step : process->job.id;
}

/* ---- names of files ---- */

/* What is put in may not lead to another folder. */
static void put_part(FILE *out, const char *part)
{
    for (; *part != '\0'; part++)
        fputc(*part == '/' ? '_' : *part, out);
}

/* Writes what the character after % stands for; false: nothing special. */
static bool put_special(FILE *out, char c, const coll_process *process)
{
    char user[COLL_NAME];
    switch (c) {
    case 'u':
        coll_process_user(user);
        put_part(out, user);
        return true;
    case 'j': put_part(out, coll_process_job(process)); return true;
    case 's': put_part(out, find_step(process)); return true;
    case 'x': put_part(out, coll_process_program(process)); return true;
    case '%': fputc('%', out); return true;
    default: return false;
    }
}

char *coll_job_path(const coll_process *process, const char *pattern)
{
    char *name = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&name, &length);
    if (out == NULL)
        return NULL;
    if (pattern[0] != '/' && process->job.folder != NULL)
        fprintf(out, "%s/", process->job.folder);
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
