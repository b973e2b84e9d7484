/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp run: starts an MPI program whose collective I/O fcoll/tatp carries out, or libtatp-mpiio.so,
 * and places its ranks: sets the environment, and executes the launcher. */
#define _GNU_SOURCE /* asprintf */
#include "tatp.h"

#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/unknown.h"
#include "cache/cache.h"
#include "collective/parameters.h"
#include "collective/record.h"
#include "launch.h"
#include "tool.h"

#define COMPONENT_VARIABLE "OMPI_MCA_fcoll_tatp_"
#define COMPONENT_PRIORITY "101" /* above Open MPI's own, also with one or two ranks */

typedef struct run_options {
    const char *library; /* NULL: where it is installed */
    char **command;      /* of the launcher; NULL if there is none */
    bool records, is_automatic;
    const char *hostfile;
    launch launch;
} run_options;

/* ---- parameters ---- */

/* A value that cannot be used is found before the job starts. */
static void set_parameter(const char *name, const char *value)
{
    char variable[PARAMETER_NAME_BYTES], valid[PARAMETER_VALID_BYTES];
    char message[BASE_UNKNOWN_BYTES];
    const char *known[PARAMETERS + 1];
    base_settings settings = parameter_settings(known);
    int64_t parsed;
    enum parameter i = 0;
    known[PARAMETER_VERSION] = known[PARAMETER_PRIORITY] = known[i]; /* for Open MPI alone */
    while (i < PARAMETERS && strcmp(known[i], name) != 0)
        i++;
    if (i == PARAMETERS) {
        settings.prefix = "";
        base_describe_unknown(&settings, name, message);
        tool_fail("there is no parameter %s", message);
        exit(TOOL_USAGE);
    }
    if (!parameter_parse(i, value, &parsed)) {
        parameter_list_valid(i, valid);
        tool_fail("%s=%s cannot be used. Valid values: %s", name, value, valid);
        exit(TOOL_USAGE);
    }
    parameter_write_name(i, PARAMETER_VARIABLE, true, variable);
    setenv(variable, value, 1);
}

/* NAME=VALUE */
static void set_named(const char *text)
{
    char *name = tool_copy(text), *value = strchr(name, '=');
    if (value == NULL) {
        tool_fail("--set %s: expected NAME=VALUE", text);
        exit(TOOL_USAGE);
    }
    *value = '\0';
    set_parameter(name, value + 1);
    free(name);
}

/* ---- options ---- */

static const struct argp_option options[] = {
    {"auto", 'a', NULL, 0,
     "Record the first run of this command, and place the ranks of later ones", 0},
    {"record", 'r', "FILE", 0, "Record the accesses of this run in FILE, for --place", 0},
    {"place", 'P', "FILE", 0, "Place the ranks by a record", 0},
    {"nodes", 'n', "NAME[:SLOTS],...", 0,
     "The nodes, as n0:4,n[1-3]:8; default: of the allocation of Slurm, PBS or LSF", 0},
    {"hostfile", 'H', "FILE", 0, "The nodes, as an Open MPI hostfile", 0},
    {"stats", 's', "FILE", 0, "Write statistics to FILE, for tatp report; '-': standard error", 0},
    {"set", 'p', "NAME=VALUE", 0, "Set another parameter of fcoll_tatp(7), as domains=fitted", 0},
    {"verbose", 'v', NULL, 0, "Say which files are left to the MPI, and why", 0},
    {"library", 'l', "FILE", 0, "The library, where it is not " TATP_LIBRARY, 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static void check_run_options(const run_options *run, const struct argp_state *state)
{
    if (run->records + run->is_automatic + (run->launch.file != NULL) > 1)
        argp_error(state, "--record, --place and --auto exclude each other");
    if (run->launch.nodes.count > 0 && run->hostfile != NULL)
        argp_error(state, "--nodes and --hostfile exclude each other");
}

/* Options behind the launcher's name are the launcher's. */
static error_t parse_run_option(int key, char *arg, struct argp_state *state)
{
    run_options *run = state->input;
    switch (key) {
    case 'a': run->is_automatic = true; break;
    case 'P': run->launch.file = arg; break;
    case 'n':
        if (nodes_parse(&run->launch.nodes, arg) != 0)
            exit(TOOL_USAGE);
        break;
    case 'H': run->hostfile = arg; break;
    case 'r':
        run->records = true;
        set_parameter("record", arg);
        break;
    case 's': set_parameter("stats", arg); break;
    case 'p': set_named(arg); break;
    case 'v': setenv(PARAMETER_VARIABLE "VERBOSE", "1", 1); break;
    case 'l': run->library = arg; break;
    case ARGP_KEY_ARG:
        run->command = &state->argv[state->next - 1];
        state->next = state->argc;
        break;
    case ARGP_KEY_NO_ARGS: argp_error(state, "the launcher is missing, as mpiexec"); break;
    case ARGP_KEY_END: check_run_options(run, state); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- the environment ---- */

/* Why ld.so would not load the file, or NULL. It would say so in every process, and go on. */
static const char *examine(const char *path)
{
    ElfW(Ehdr) head;
    const char *cause;
    FILE *stream = base_open_regular(path, &cause);
    if (stream == NULL)
        return cause;
    bool is_library = fread(&head, sizeof head, 1, stream) == 1 &&
                      memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_type == ET_DYN;
    fclose(stream);
    return is_library ? NULL : "it is no shared library";
}

/* Behind what is preloaded already: a profiling library sees the calls of the program. Links are
 * not resolved: one may lead to a name that LD_PRELOAD cannot have. */
static void preload(const char *library)
{
    char *path = *library == '/' ? tool_copy(library) : realpath(library, NULL), *list;
    const char *cause = path != NULL ? examine(path) : strerror(errno), *before;
    if (cause != NULL)
        exit(tool_fail("%s: %s. configure --with-mpi=PREFIX builds the library for an MPI", library,
                       cause));
    if (strpbrk(path, " :") != NULL)
        exit(tool_fail("%s: LD_PRELOAD separates names by blanks and colons. Give --library the "
                       "absolute name of a link to the file, without these",
                       path));
    before = getenv("LD_PRELOAD");
    bool is_first = before == NULL || *before == '\0';
    if (asprintf(&list, "%s%s%s", is_first ? "" : before, is_first ? "" : ":", path) < 0)
        exit(tool_fail("out of memory"));
    setenv("LD_PRELOAD", list, 1);
    free(list);
    free(path);
}

/* Other launchers pass all variables on to other nodes; Open MPI's mpirun only those that are in a
 * list. */
static void name_for_open_mpi(void)
{
    extern char **environ;
    char list[1024] = "LD_PRELOAD";
    for (char **v = environ; *v != NULL; v++) {
        size_t used = strlen(list), length = strcspn(*v, "=");
        if ((strncmp(*v, PARAMETER_VARIABLE, strlen(PARAMETER_VARIABLE)) == 0 ||
             strncmp(*v, CACHE_FOLDER "=", sizeof CACHE_FOLDER) == 0) &&
            used + length + 2 < sizeof list)
            snprintf(list + used, sizeof list - used, ";%.*s", (int)length, *v);
    }
    setenv("OMPI_MCA_mca_base_env_list", list, 0);
}

/* What the library finds in variables of its own. It alone knows what it has reordered. */
static void set_for_component(void)
{
    char variable[PARAMETER_NAME_BYTES];
    for (enum parameter i = 0; i < PARAMETERS; i++) {
        parameter_write_name(i, PARAMETER_VARIABLE, true, variable);
        const char *value = getenv(variable);
        parameter_write_name(i, COMPONENT_VARIABLE, false, variable);
        if (value != NULL)
            setenv(variable, value, 1);
    }
    if (getenv(PARAMETER_VARIABLE "REORDER") == NULL)
        setenv(COMPONENT_VARIABLE "priority", COMPONENT_PRIORITY, 0);
}

/* ---- the placement ---- */

static void place(run_options *run)
{
    char record[sizeof COLL_RECORD_COMMAND + CACHE_PROGRAM_LENGTH];
    launch *l = &run->launch;
    l->is_given = l->nodes.count > 0 || run->hostfile != NULL;
    (void)nodes_find(&l->nodes, run->hostfile);
    if (l->file == NULL) {
        launch_name_command(l, run->command);
        snprintf(record, sizeof record, COLL_RECORD_COMMAND "%s", l->command);
        set_parameter("record", record);
    }
    launch_place(l);
}

int tatp_run(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse_run_option,
        .args_doc = "LAUNCHER [ARGUMENT...]",
        .doc = "Runs an MPI program whose collective I/O fcoll/tatp or libtatp-mpiio.so carries "
               "out, and places its ranks.\v"
               "  tatp run --auto srun -n 16 ./program\n"
               "  tatp run --record view.crs mpiexec -n 16 ./program",
    };
    run_options run = {.library = NULL};
    tool_parse(&argp, ARGP_IN_ORDER, argc, argv, &run);
    run.launch.has_library = run.library != NULL || access(TATP_LIBRARY, F_OK) == 0;
    if (run.launch.has_library)
        preload(run.library != NULL ? run.library : TATP_LIBRARY);
    bool places = run.is_automatic || run.launch.file != NULL;
    if (places)
        place(&run);
    if (!run.launch.has_library)
        tool_note("%s is not there: only programs of Open MPI are served%s", TATP_LIBRARY,
                  places && getenv("SLURM_JOB_ID") != NULL ? ", and only mpirun places ranks" : "");
    set_for_component();
    name_for_open_mpi();
    execvp(run.command[0], run.command);
    return tool_fail("%s: %s", run.command[0], strerror(errno));
}
