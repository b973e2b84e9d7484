/* SPDX-License-Identifier: BSD-3-Clause */
/* The identity of the job, and where it was started. */
#include "ompi_config.h"

#include "ompi/mca/fcoll/tatp/fcoll_tatp_job.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/compat/compat_info.h"
#include "ompi/info/info.h"
#include "ompi/proc/proc.h"

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return NULL != value ? value : "";
}

/* ---- identity ---- */

static char id[256];

/* The launcher's name for the job; the mpirun of Open MPI 4.1 draws a random key besides. A process
 * that was started alone may have neither. Spawned processes inherit the environment of their
 * parents, but not the number of the job. */
static void make_id(void)
{
    const char *key = environment("OMPI_MCA_orte_precondition_transports");
    const char *job = environment("PMIX_NAMESPACE");
    unsigned long number = OMPI_PROC_MY_NAME->jobid;
    int length = snprintf(id, sizeof id, "%s%s%s.%lx", key, *key && *job ? "." : "", job, number);
    if ((0 == *key && 0 == *job) || (size_t)length >= sizeof id)
        snprintf(id, sizeof id, "%s.%ld.%lld", ompi_process_info.nodename,
                 (long)ompi_process_info.pid, (long long)time(NULL));
}

const char *tatp_job_id(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_id);
    return id;
}

/* ---- start ---- */

#define NANOSECONDS 1000000000

static int64_t read_clock(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NANOSECONDS + now.tv_nsec;
}

/* Field 22 of /proc/self/stat: clock ticks since the system was booted. The name of the program,
 * field 2, is in brackets and may hold anything. */
static int64_t read_start(void)
{
    char text[1024] = "";
    unsigned long long ticks = 0;
    FILE *stream = fopen("/proc/self/stat", "r");
    if (NULL == stream)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[length] = '\0';
    const char *end = strrchr(text, ')');
    if (NULL == end || 1 != sscanf(end + 1,
                                   " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                                   "%*s %*s %*s %*s %llu",
                                   &ticks))
        return 0;
    return (int64_t)ticks * (NANOSECONDS / sysconf(_SC_CLK_TCK));
}

int64_t tatp_job_started(void)
{
    int64_t start = read_start();
    return 0 == start ? 0 : read_clock(CLOCK_REALTIME) - read_clock(CLOCK_BOOTTIME) + start;
}

/* ---- ranks ---- */

size_t tatp_job_size(void)
{
    return (size_t)ompi_process_info.num_procs;
}

size_t tatp_job_rank(const coll_group *group, size_t rank)
{
    struct ompi_communicator_t *c = tatp_communicator_of(group);
    const opal_process_name_t root = ompi_comm_peer_lookup(c, 0)->super.proc_name;
    const opal_process_name_t name = ompi_comm_peer_lookup(c, (int)rank)->super.proc_name;
    return name.jobid == root.jobid ? name.vpid : SIZE_MAX;
}

/* ---- folder ---- */

static char *start;

static char *folder_of_launcher(void)
{
    char folder[PATH_MAX];
    bool found = compat_info_get(&MPI_INFO_ENV->super, "wdir", folder, sizeof folder);
    return found && '/' == folder[0] ? strdup(folder) : NULL;
}

/* Without a launcher: where the program is at its first file. */
static void find_start(void)
{
    start = folder_of_launcher();
    if (NULL == start)
        start = getcwd(NULL, 0);
}

const char *tatp_job_folder(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_start);
    return start;
}

char *tatp_job_path(const char *name)
{
    char *path;
    if ('/' == name[0] || NULL == tatp_job_folder())
        return strdup(name);
    return asprintf(&path, "%s/%s", tatp_job_folder(), name) < 0 ? NULL : path;
}

/* ---- programs ---- */

bool tatp_job_has_one_program(void)
{
    char programs[16];
    bool found = compat_info_get(&MPI_INFO_ENV->super, "ompi_num_apps", programs, sizeof programs);
    return !found || 0 == strcmp(programs, "1");
}
