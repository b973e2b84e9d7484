/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* asprintf */
#include "mpi/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mix.h"
#include "base/text.h"
#include "base/unknown.h"
#include "collective/files.h"
#include "collective/parameters.h"
#include "collective/record.h"
#include "mpi/calls.h"
#include "mpi/peers.h"
#include "topo/machine.h"

/* ---- parameters ---- */

void front_process_parameters(const char *text[PARAMETERS])
{
    for (enum parameter i = 0; i < PARAMETERS; i++) {
        char variable[PARAMETER_NAME_BYTES];
        parameter_write_name(i, PARAMETER_VARIABLE, true, variable);
        text[i] = getenv(variable);
    }
}

static void report_unknown(const char *message)
{
    front_log(0, "there is no environment variable %s", message);
}

/* The names of the tools are known, too. Version and priority are for Open MPI alone. */
static void check_names(void)
{
    char name[PARAMETERS][PARAMETER_NAME_BYTES];
    const char *known[PARAMETERS + 7] = {NULL};
    base_settings settings = parameter_settings(known);
    settings.variable = "";
    settings.prefix = PARAMETER_VARIABLE;
    settings.report = report_unknown;
    for (enum parameter i = 0; i < PARAMETERS; i++) {
        parameter_write_name(i, "", true, name[i]);
        known[i] = name[i];
    }
    known[PARAMETER_VERSION] = "VERBOSE";
    known[PARAMETER_PRIORITY] = "REORDER";
    known[PARAMETERS] = "STRIPES";
    known[PARAMETERS + 1] = "REPORT_DIR";
    known[PARAMETERS + 2] = "DOCTOR_DIR";
    known[PARAMETERS + 3] = "COMPARE_DIR";
    known[PARAMETERS + 4] = "COMPONENT_PATH";
    known[PARAMETERS + 5] = "PLACED";
    base_check_environment(&settings);
}

static const char *read_stripes(void)
{
    const char *text = getenv(PARAMETER_VARIABLE "STRIPES");
    return text != NULL ? text : "auto";
}

bool front_process_sets_stripes(void)
{
    return strcmp(read_stripes(), "auto") == 0;
}

static void check_stripes(void)
{
    if (!front_process_sets_stripes() && strcmp(read_stripes(), "keep") != 0)
        front_log(0,
                  "TATP_STRIPES is \"%s\", neither auto nor keep: new files are left as they are",
                  read_stripes());
}

/* ---- messages ---- */

static void log_line(void *context, int level, const char *format, va_list arguments)
{
    const char *verbose = getenv(PARAMETER_VARIABLE "VERBOSE");
    char *line;
    (void)context;
    if (level > (verbose != NULL ? atoi(verbose) : 0) || vasprintf(&line, format, arguments) < 0)
        return;
    fprintf(stderr, "tatp: %s\n", line);
    free(line);
}

void front_log(int level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_line(NULL, level, format, arguments);
    va_end(arguments);
}

/* ---- the process ---- */

static double get_seconds(void *context)
{
    (void)context;
    return mpi.Wtime();
}

static topo_machine *machine;

static void load_machine(void)
{
    if (topo_machine_load(&machine) != 0)
        machine = NULL;
}

static topo_machine *find_machine(void *context)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)context;
    pthread_once(&once, load_machine);
    return machine;
}

static coll_process process = {
    .parameter = "environment variable",
    .prefix = PARAMETER_VARIABLE,
    .in_capitals = true,
    .mpi_setting = {"default size of cycle buffers", "default number of aggregators"},
    .clock = get_seconds,
    .machine = find_machine,
    .show = base_show_message,
    .log = log_line,
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .files_lock = PTHREAD_MUTEX_INITIALIZER,
};

coll_process *front_process(void)
{
    return &process;
}

/* ---- the node ---- */

static char host[FRONT_HOST];
static int64_t node;

static void find_node(void)
{
    char boot[64] = "";
    FILE *stream = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (stream != NULL) {
        if (fgets(boot, sizeof boot, stream) == NULL)
            boot[0] = '\0';
        fclose(stream);
    }
    (void)gethostname(host, sizeof host - 1);
    node = (int64_t)base_digest_text(base_digest_text(0, boot), host);
}

const char *front_process_host(void)
{
    return host;
}

int64_t front_process_node(void)
{
    return node;
}

/* ---- MPI_Finalize ---- */

static int finish(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)state;
    coll_files_release(&process);
    coll_record_finish(&process);
    return MPI_SUCCESS;
}

/* It deletes the attributes of MPI_COMM_SELF before anything else; the key goes with the attribute.
 */
static void register_at_finalize(void)
{
    int keyval;
    if (mpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finish, &keyval, NULL) != MPI_SUCCESS)
        return;
    mpi.Comm_set_attr(MPI_COMM_SELF, keyval, &process);
    mpi.Comm_free_keyval(&keyval);
}

/* ---- MPI_Init ---- */

static atomic_bool is_ready;
static bool prefers_romio;

/* Before MPI_Init, in a job of many ranks, as mpirun or srun says. A priority leaves what the user
 * selects. */
static __attribute__((constructor)) void prefer_romio(void)
{
#if defined OPEN_MPI && OMPI_MAJOR_VERSION < 6
    const char *text[PARAMETERS], *size = getenv("OMPI_COMM_WORLD_SIZE");
    const char *ranks = size != NULL ? size : getenv("SLURM_STEP_NUM_TASKS");
    if (ranks == NULL || getenv("OMPI_MCA_io") != NULL)
        return;
    front_process_parameters(text);
    const int64_t many = parameter_value(PARAMETER_ROMIO_RANKS, text[PARAMETER_ROMIO_RANKS]);
    if (many == 0 || atoi(ranks) < many)
        return;
    setenv("OMPI_MCA_io_romio321_priority", "100", 0); /* Open MPI 4.1 */
    setenv("OMPI_MCA_io_romio341_priority", "100", 0); /* 5.0 */
    prefers_romio = true;
#endif
}

/* Programs differ in the numbers of MPI_APPNUM, or in the commands of the processes. */
static enum coll_programs count_programs(void)
{
    const char *text[PARAMETERS];
    int *number, is_known;
    front_process_parameters(text);
    mpi.Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &is_known);
    int64_t program = coll_record_program(text[PARAMETER_RECORD]);
    int64_t least[] = {is_known ? *number : 0, is_known ? -*number : 0, program, -program};
    mpi.Allreduce(MPI_IN_PLACE, least, 4, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    return least[0] == -least[1] && least[2] == -least[3] ? COLL_PROGRAMS_ONE
                                                          : COLL_PROGRAMS_SEVERAL;
}

/* The id is the same on all ranks, and differs from that of every other job. */
static const char *make_id(void)
{
    static char id[320];
    snprintf(id, sizeof id, "%s.%ld.%lld", host, (long)getpid(), (long long)time(NULL));
    mpi.Bcast(id, sizeof id, MPI_CHAR, 0, MPI_COMM_WORLD);
    return id;
}

/* TATP_REORDER: "1", or a view file. */
static char record[4096];
static bool is_reordering;

static void read_reorder(void)
{
    const char *text = getenv(PARAMETER_VARIABLE "REORDER");
    if (text != NULL && strcmp(text, "0") != 0)
        snprintf(record, sizeof record, "%s", text);
    mpi.Bcast(record, sizeof record, MPI_CHAR, 0, MPI_COMM_WORLD);
    is_reordering = *record != '\0';
    if (strcmp(record, "1") == 0)
        *record = '\0';
}

const char *front_process_record(void)
{
    return is_reordering ? record : NULL;
}

/* Whether the processes of this node have the library; else one of them says so. */
static bool check_peers(int ranks, int rank)
{
    bool is_first;
    if (front_peers_have_library(ranks, &is_first))
        return true;
    if (is_first)
        front_log(0,
                  "not all processes of the job have libtatp-mpiio.so, which rank %d has: "
                  "it is not used. Preload it into all of them",
                  rank);
    return false;
}

static void start_job(int ranks, int rank)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (rank == 0) {
        check_names();
        check_stripes();
        if (prefers_romio)
            front_log(0, COLL_TEXT_OMPIO ": ROMIO opens files; TATP_ROMIO_RANKS=0 prevents that",
                      COLL_OMPIO_MEGABYTES(ranks), ranks);
    }
    find_node();
    mpi.Get_library_version(version, &length);
    process.job = (coll_job){
        .id = make_id(),
        .started = coll_process_start(),
        .size = (size_t)ranks,
        .is_first = rank == 0,
        .programs = count_programs(),
        .folder = getcwd(NULL, 0),
        .mpi = version,
    };
    process.job.script = coll_process_script(process.job.folder);
    read_reorder();
    register_at_finalize();
    is_ready = true;
}

void front_process_start(void)
{
    const char *reason = front_calls_find();
    int rank, ranks;
    if (reason != NULL) {
        if (front_peers_may_be_first())
            front_log(0, "%s: the library is not used", reason);
        return;
    }
    mpi.Comm_rank(MPI_COMM_WORLD, &rank);
    mpi.Comm_size(MPI_COMM_WORLD, &ranks);
    if (check_peers(ranks, rank))
        start_job(ranks, rank);
}

bool front_process_is_ready(void)
{
    return is_ready;
}
