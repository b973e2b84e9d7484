/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp: solves assignment problems, and plans file domain assignments as the fcoll/tatp component
 * does. */
#include "tatp.h"

#include "tool.h"

const char *argp_program_version = "tatp (" PACKAGE_STRING ")";

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
