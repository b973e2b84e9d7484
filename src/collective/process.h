/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the files of a process share: who it is among the processes of its job, messages to the
 * user, and what is counted over all files. The caller's, for as long as any file is open.
 */
#ifndef COLLECTIVE_PROCESS_H
#define COLLECTIVE_PROCESS_H

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/parameters.h"
#include "collective/texts.h"

/* The number of programs in a job, as far as is known: not all launchers say, and a script may
 * start another one on each rank. The lock of the process guards it. */
enum coll_programs { COLL_PROGRAMS_UNKNOWN, COLL_PROGRAMS_ONE, COLL_PROGRAMS_SEVERAL };

/* The job, and where it was started. */
typedef struct coll_job {
    /* The same in all processes of the job, and other than that of every other job: that of the
     * parents of spawned processes, too. */
    const char *id;
    int64_t started; /* when this process was, in nanoseconds since 1970; 0: not known */
    size_t size;     /* number of its processes */
    bool is_first;   /* this process has rank 0 in it */
    enum coll_programs programs;
    const char *folder; /* for relative names: that of the start, as the front end knows it; NULL */
    const char *script; /* of an interpreter: coll_process_script; else NULL */
    const char *mpi;    /* text of MPI_Get_library_version; NULL if it is unknown */
} coll_job;

/* Fewer bytes are 0.0 MB, and not told of. */
#define COLL_TOLD_BYTES 50000

/* Messages that are shown once, at most. */
enum { COLL_SHOWN = 64 };

typedef struct coll_process {
    void *context;
    coll_job job;
    /* What a parameter is called, for people, and what its name begins with; settings of the MPI.
     */
    const char *parameter, *prefix, *mpi_setting[2];
    bool in_capitals;               /* names of parameters */
    double (*clock)(void *context); /* seconds */
    /* hwloc's description of the machine (src/topo/machine.h); NULL if there is none. */
    struct hwloc_topology *(*machine)(void *context);
    /* Each is NULL where nobody is to be told. */
    void (*show)(const char *text); /* a message for the user: base_show_message */
    /* A line for who asked for lines of this level; 0: for all. */
    void (*log)(void *context, int level, const char *format, va_list arguments);

    /* ---- of src/collective; zero at first ---- */

    pthread_mutex_t lock;              /* PTHREAD_MUTEX_INITIALIZER; guards ... */
    struct coll_recorder *recorder;    /* ... what it records; NULL if there is nothing yet */
    pthread_mutex_t files_lock;        /* likewise; guards ... */
    struct coll_file *kept;            /* ... closed files (files.h), the latest first ... */
    struct exchange_buffers **buffers; /* ... and those of runs, for the next of any file */
    size_t idle, capacity;             /* of them */
    _Atomic int64_t plans, lines;      /* made by this process as rank 0; of statistics, ... */
    _Atomic int plan_lines, timelines; /* ... of them with a plan, and with a time line */
    _Atomic int64_t opens, opening;    /* files with statistics that it has opened as rank 0, ... */
    _Atomic int64_t closes, closing;   /* ... and closed; nanoseconds that this has taken */
    _Atomic uint64_t shown[COLL_SHOWN]; /* digests of messages that are shown once */
} coll_process;

void coll_log(coll_process *process, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Shows a text of texts.h to the user: what one rank reports for all. */
void coll_show(coll_process *process, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What a parameter is called, for people; the text is valid in the block that names it. */
#define COLL_NAMED(process, parameter)                                                             \
    coll_name_parameter(process, parameter, (char[COLL_NAME_BYTES]){""})
enum { COLL_NAME_BYTES = 2 * PARAMETER_NAME_BYTES };
const char *coll_name_parameter(const coll_process *process, enum parameter parameter,
                                char name[COLL_NAME_BYTES]);
/* Whether the process shows this topic for the first time, about `what`: then the caller does. */
bool coll_is_first(coll_process *process, const char *topic, const char *what);

/* A parameter whose value, or the file that it names, cannot be used. */
typedef struct coll_refusal {
    enum parameter parameter;
    bool strict; /* collective I/O fails with ... */
    int error;
    const char *otherwise; /* what happens where the user is not strict, for people */
} coll_refusal;
/* Shows a text of texts.h, and what follows from it, once a process. Returns refusal->error where
 * the user is strict, and 0 otherwise. */
int coll_refuse(coll_process *process, const coll_refusal *refusal, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* When this process was started, in nanoseconds since 1970; 0: not known. Linux only. */
int64_t coll_process_start(void);

/* Appends the command of this process, its arguments, each with its NUL, to *text, which the caller
 * frees, after an error, too. Negative errno; -ENOEXEC: there are none. Linux only. */
int coll_process_command(char **text, size_t *length);

/* The name of the script that this process, an interpreter as python, executes; relative names
 * count from the folder, which may be NULL. NULL: another program, or no memory; the caller frees
 * it. */
char *coll_process_script(const char *folder);
/* What the program is called: by its script, if there is one. */
const char *coll_process_program(const coll_process *process);

/* The user's name, or the number if the user database does not know it. */
enum { COLL_NAME = 256 };
void coll_process_user(char user[COLL_NAME]);
/* The batch system's number of the job, or else the MPI's name for it. */
const char *coll_process_job(const coll_process *process);

/* The name of a file that the user named: %u, %j, %s and %x in the pattern become the
 * user, the job, its step and the program, %% becomes %, and relative names count from the job's
 * folder, if it is known. NULL: no memory; the caller frees it. */
char *coll_job_path(const coll_process *process, const char *pattern);

#endif
