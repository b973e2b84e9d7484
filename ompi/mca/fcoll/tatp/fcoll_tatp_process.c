/* SPDX-License-Identifier: BSD-3-Clause */
/* The job, the machine, and messages to the user. */
#include "ompi_config.h"

#include "ompi/mca/fcoll/tatp/fcoll_tatp_process.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi.h"
#include "ompi/compat/compat.h"
#include "ompi/compat/compat_info.h"
#include "ompi/info/info.h"
#include "ompi/mca/fcoll/base/base.h"
#include "ompi/proc/proc.h"
#include "opal/util/output.h"

#include "base/text.h"
#include "collective/files.h"
#include "collective/record.h"

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
static void process_make_id(void)
{
    const char *key = environment("OMPI_MCA_orte_precondition_transports");
    const char *job = environment("PMIX_NAMESPACE");
    unsigned long number = OMPI_PROC_MY_NAME->jobid;
    int length = snprintf(id, sizeof id, "%s%s%s.%lx", key, *key && *job ? "." : "", job, number);
    if ((0 == *key && 0 == *job) || (size_t)length >= sizeof id)
        snprintf(id, sizeof id, "%s.%ld.%lld", ompi_process_info.nodename,
                 (long)ompi_process_info.pid, (long long)time(NULL));
}

/* ---- folder ---- */

/* Without a launcher it is where the program is at its first file. */
static char *find_folder(void)
{
    char folder[PATH_MAX];
    bool found = compat_info_get(&MPI_INFO_ENV->super, "wdir", folder, sizeof folder);
    return found && '/' == folder[0] ? strdup(folder) : getcwd(NULL, 0);
}

/* Only mpirun says how many there are. */
static enum coll_programs process_count_programs(void)
{
    char programs[16];
    if (!compat_info_get(&MPI_INFO_ENV->super, "ompi_num_apps", programs, sizeof programs))
        return COLL_PROGRAMS_UNKNOWN;
    return 0 == strcmp(programs, "1") ? COLL_PROGRAMS_ONE : COLL_PROGRAMS_SEVERAL;
}

/* ---- messages ---- */

static void process_log_line(void *context, int level, const char *format, va_list arguments)
{
    int stream = 0 == level ? 0 : ompi_fcoll_base_framework.framework_output;
    char *line;
    (void)context;
    if (opal_output_get_verbosity(stream) < level || vasprintf(&line, format, arguments) < 0)
        return;
    opal_output_verbose(level, stream, "fcoll:tatp: %s", line);
    free(line);
}

/* ---- the process ---- */

static double process_get_seconds(void *context)
{
    (void)context;
    return MPI_Wtime();
}

/* Open MPI may load it only now, which two threads must not do at once. */
static struct hwloc_topology *process_find_machine(void *context)
{
    static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
    (void)context;
    OPAL_THREAD_LOCK(&lock);
    struct hwloc_topology *machine = compat_machine();
    OPAL_THREAD_UNLOCK(&lock);
    return machine;
}

static coll_process process = {
    .parameter = "MCA parameter",
    .prefix = "fcoll_tatp_",
    .mpi_setting = {"MCA parameter io_ompio_bytes_per_agg",
                    "MCA parameter io_ompio_num_aggregators"},
    .clock = process_get_seconds,
    .machine = process_find_machine,
    /* Open MPI's own path through mpirun, which folds equal messages of many ranks into one, now
     * and then loses a message of an application process (4.1 with PMIx 4). */
    .show = base_show_message,
    .log = process_log_line,
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .files_lock = PTHREAD_MUTEX_INITIALIZER,
};

static void find_job(void)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    process_make_id();
    (void)MPI_Get_library_version(version, &length);
    process.job = (coll_job){
        .id = id,
        .started = coll_process_start(),
        .size = (size_t)ompi_process_info.num_procs,
        .is_first = 0 == OMPI_PROC_MY_NAME->vpid,
        .programs = process_count_programs(),
        .folder = find_folder(),
        .mpi = version,
    };
    process.job.script = coll_process_script(process.job.folder);
}

coll_process *tatp_process(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_job);
    return &process;
}

/* ---- MPI_Finalize ---- */

static int delete_attribute(MPI_Comm group, int keyval, void *value, void *state)
{
    (void)group;
    (void)keyval;
    (void)value;
    (void)state;
    coll_record_finish(&process);
    return MPI_SUCCESS;
}

/* Open MPI 4.1 does not close fcoll components in MPI_Finalize, which deletes the attributes of
 * MPI_COMM_SELF before anything else; the key goes with the attribute. */
static void process_register_at_finalize(void)
{
    int keyval;
    if (MPI_SUCCESS !=
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &keyval, NULL))
        return;
    (void)MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &process);
    (void)MPI_Comm_free_keyval(&keyval);
}

void tatp_process_release(void)
{
    coll_files_release(&process);
}

void tatp_process_records(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, process_register_at_finalize);
}
