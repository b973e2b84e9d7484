/* SPDX-License-Identifier: BSD-3-Clause */
/* dla: shows and converts view files, and places ranks on nodes as the rmaps/dla component does. */
#include "dla.h"

#include <stddef.h>

#include "base/version.h"
#include "tool.h"

const char *argp_program_version = "dla (" TATP_VERSION_TEXT ")";

/* An MPI program. */
static int dla_pingpong(int argc, char **argv)
{
    char name[] = "dla-pingpong";
    (void)argc;
    argv[0] = name;
    return tool_execute(name, argv);
}

int main(int argc, char **argv)
{
    static const tool_command commands[] = {
        {"map", dla_map},           {"show", dla_show},   {"convert", dla_convert},
        {"pingpong", dla_pingpong}, {"setup", dla_setup}, {"list", dla_list},
        {"forget", dla_forget},     {NULL, NULL},
    };
    return tool_run(commands,
                    "Places ranks on nodes by what they access in a file.\n"
                    "\nFirst steps:\n"
                    "  mpirun --mca fcoll tatp --mca fcoll_tatp_record view.crs ./program\n"
                    "                                        record a run\n"
                    "  mpirun --map-by dla:file=view.crs --mca fcoll tatp ./program\n"
                    "                                        place later runs by the record\n"
                    "  dla show view.crs                     explain the record\v"
                    "Commands:\n"
                    "  map       place ranks on nodes, for any launcher\n"
                    "  show      print the contents of a view file\n"
                    "  convert   write a view file in other formats\n"
                    "  pingpong  measure the bandwidth between nodes (an MPI program)\n"
                    "  setup     print the setting by which mpirun finds --map-by dla\n"
                    "  list      list the records in your cache, of file=auto\n"
                    "  forget    remove records from it\n"
                    "'dla help COMMAND' lists the options of a command.",
                    argc, argv);
}
