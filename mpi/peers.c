/* SPDX-License-Identifier: BSD-3-Clause */
/* Each process that a launcher has started has its rank in its environment, as have the programs
 * that it starts, for example the MPI program of a shell script. Those of a job have the same
 * launcher above them, which has none. */
#define _GNU_SOURCE
#include "mpi/peers.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NULL if no launcher has set one. */
static const char *rank_variable(void)
{
    static const char *const variables[] = {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]) != NULL)
            return variables[i];
    return NULL;
}

bool front_peers_may_be_first(void)
{
    const char *variable = rank_variable();
    return variable == NULL || strcmp(getenv(variable), "0") == 0;
}

/* ---- /proc ---- */

static FILE *open_file(long process, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", process, name);
    return fopen(path, "re");
}

/* The value of a variable as the process was started with it. Returns NULL if it has none, or may
 * not be asked; else to be freed. */
static char *read_variable(long process, const char *name)
{
    FILE *stream = open_file(process, "environ");
    char *entry = NULL, *value = NULL;
    size_t capacity = 0, length = strlen(name);
    while (stream != NULL && value == NULL && getdelim(&entry, &capacity, '\0', stream) > 0)
        if (strncmp(entry, name, length) == 0 && entry[length] == '=')
            value = strdup(entry + length + 1);
    free(entry);
    if (stream != NULL)
        fclose(stream);
    return value;
}

/* Returns 0 if there is none. */
static long read_parent(long process)
{
    FILE *stream = open_file(process, "stat");
    char text[512];
    long parent = 0;
    size_t length = stream != NULL ? fread(text, 1, sizeof text - 1, stream) : 0;
    text[length] = '\0';
    const char *behind_name = strrchr(text, ')');
    if (behind_name != NULL && sscanf(behind_name, ") %*c %ld", &parent) != 1)
        parent = 0;
    if (stream != NULL)
        fclose(stream);
    return parent;
}

/* The name of the library's file behind its last slash, as maps have it: without links. */
static void find_own_file(char name[PATH_MAX])
{
    Dl_info object = {.dli_fname = ""};
    char path[PATH_MAX];
    (void)dladdr((const void *)find_own_file, &object);
    const char *file = realpath(object.dli_fname, path);
    strcpy(name, basename(file != NULL ? file : object.dli_fname));
}

/* It may also where that cannot be found out, as without memory. */
static bool may_have_file(long process, const char *name)
{
    FILE *stream = open_file(process, "maps");
    char *line = NULL;
    size_t capacity = 0;
    bool has = stream == NULL;
    while (!has && getline(&line, &capacity, stream) > 0)
        has = strstr(line, name) != NULL;
    has = has || !feof(stream);
    free(line);
    if (stream != NULL)
        fclose(stream);
    return has;
}

/* ---- peers ---- */

typedef struct job {
    const char *variable; /* of ranks */
    char *space;          /* the launcher's name of the job; NULL: none */
    long launcher;
    char library[PATH_MAX];
    int ranks;
    enum peer { ABSENT, WITHOUT, WITH } * peer; /* per rank */
} job;

static long find_launcher(long process, const char *variable)
{
    for (char *value; process > 1 && (value = read_variable(process, variable)) != NULL;
         process = read_parent(process))
        free(value);
    return process;
}

static bool is_in_job(const job *j, long process)
{
    char *space = read_variable(process, "PMIX_NAMESPACE");
    bool is_same =
        space == NULL || j->space == NULL ? space == j->space : strcmp(space, j->space) == 0;
    free(space);
    return is_same && find_launcher(process, j->variable) == j->launcher;
}

static void add_process(job *j, long process)
{
    char *value = read_variable(process, j->variable);
    int rank = value != NULL ? atoi(value) : -1;
    free(value);
    if (rank < 0 || rank >= j->ranks || j->peer[rank] == WITH || !is_in_job(j, process))
        return;
    j->peer[rank] = may_have_file(process, j->library) ? WITH : WITHOUT;
}

static void find_peers(job *j)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name))
            add_process(j, atol(entry->d_name));
    if (folder != NULL)
        closedir(folder);
}

bool front_peers_have_library(int ranks, bool *is_first)
{
    job j = {.variable = rank_variable(), .ranks = ranks};
    bool is_complete = true;
    *is_first = true;
    if (j.variable == NULL || (j.peer = calloc((size_t)ranks, sizeof *j.peer)) == NULL)
        return true;
    const int own = atoi(getenv(j.variable));
    j.space = read_variable((long)getpid(), "PMIX_NAMESPACE");
    j.launcher = find_launcher((long)getpid(), j.variable);
    find_own_file(j.library);
    find_peers(&j);
    for (int i = 0; i < ranks; i++) {
        is_complete = is_complete && j.peer[i] != WITHOUT;
        if (i < own && j.peer[i] == WITH)
            *is_first = false;
    }
    free(j.peer);
    free(j.space);
    return is_complete;
}
