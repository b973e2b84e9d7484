/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp: solves assignment problems, and plans file domain assignments as the fcoll/tatp component
 * does. */
#include "tatp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/version.h"
#include "tool.h"

const char *argp_program_version = "tatp (" TATP_VERSION_TEXT ")";

/* ---- programs in Python, which call the tatp and dla in the folder of this program ---- */

/* folder: where it is installed; variable: in the environment, another folder. */
static int find_program(const char *folder, const char *variable, char *program, size_t size)
{
    const char *other = getenv(variable);
    int length = snprintf(program, size, "%s/__main__.py", other != NULL ? other : folder);
    if (length < 0 || (size_t)length >= size)
        return tool_fail("%s: the name is too long", variable);
    if (access(program, R_OK) != 0)
        return tool_fail("%s: %s; the environment variable %s may name its folder", program,
                         strerror(errno), variable);
    return 0;
}

/* The program gets the folder of this one, and what is known of the build, before the arguments of
 * the command. */
static int run_python(const char *folder, const char *variable, int argc, char **argv)
{
    const char *interpreter = *TATP_PYTHON3 != '\0' ? TATP_PYTHON3 : "python3";
    const char *components = *TATP_OMPI_VERSION != '\0' ? TATP_COMPONENT_DIR : TATP_LIBRARY;
    char program[4096], tools[4096];
    const char *const first[] = {interpreter,       "-B",        program,   tools,
                                 TATP_OMPI_VERSION, TATP_MPIRUN, components};
    const size_t firsts = sizeof first / sizeof *first;
    int status = find_program(folder, variable, program, sizeof program);
    if (status == 0 && !tool_find_folder(tools, sizeof tools))
        status = tool_fail("/proc/self/exe: %s", strerror(errno));
    if (status != 0)
        return status;
    char **words = tool_allocate(firsts + (size_t)argc, sizeof *words);
    memcpy(words, first, sizeof first);
    memcpy(words + firsts, argv + 1, (size_t)(argc - 1) * sizeof *words);
    execvp(interpreter, words);
    status = tool_fail("%s: %s; %s needs Python 3", interpreter, strerror(errno), argv[0]);
    free(words);
    return status;
}

static int tatp_compare(int argc, char **argv)
{
    return run_python(TATP_COMPARE_DIR, "TATP_COMPARE_DIR", argc, argv);
}

static int tatp_doctor(int argc, char **argv)
{
    return run_python(TATP_DOCTOR_DIR, "TATP_DOCTOR_DIR", argc, argv);
}

static int tatp_report(int argc, char **argv)
{
    return run_python(TATP_REPORT_DIR, "TATP_REPORT_DIR", argc, argv);
}

/* ---- commands ---- */

/* A program whose memory is counted. */
static int tatp_simulate(int argc, char **argv)
{
    (void)argc;
    return tool_execute("tatp-simulate", argv);
}

int main(int argc, char **argv)
{
    static const tool_command commands[] = {
        {"assign", tatp_assign},     {"compare", tatp_compare},   {"doctor", tatp_doctor},
        {"plan", tatp_plan},         {"report", tatp_report},     {"run", tatp_run},
        {"simulate", tatp_simulate}, {"topology", tatp_topology}, {NULL, NULL},
    };
    return tool_run(commands,
                    "Assigns file domains to ranks by the topology of the network.\n"
                    "\nFirst steps:\n"
                    "  tatp doctor                           is everything usable?\n"
                    "  tatp compare -- mpirun ./program      is it faster here?\n"
                    "  mpirun --mca fcoll tatp --mca fcoll_tatp_record view.crs ./program\n"
                    "                                        record a run\n"
                    "  mpirun --map-by dla:file=view.crs --mca fcoll tatp ./program\n"
                    "                                        place later runs by the record\n"
                    "  mpirun --mca fcoll tatp --mca fcoll_tatp_stats run.json ./program\n"
                    "  tatp report run.json                  explain a run\v"
                    "Commands:\n"
                    "  assign    solve an assignment problem\n"
                    "  compare   time a program with and without these components\n"
                    "  doctor    examine the installation with the mpirun of PATH\n"
                    "  plan      select the rank that owns each file domain\n"
                    "  report    draw the statistics of a run as a page\n"
                    "  run       run a program of another MPI with libtatp-mpiio.so\n"
                    "  simulate  predict what a job of up to thousands of ranks does\n"
                    "  topology  print the network of a file, or of this job\n"
                    "'tatp help COMMAND' lists the options of a command.",
                    argc, argv);
}
