/* SPDX-License-Identifier: BSD-3-Clause */
/* dla: shows and converts view files, and places ranks on nodes as the rmaps/dla component does. */
#include "dla.h"

#include "tool.h"

const char *argp_program_version = "dla (" PACKAGE_STRING ")";

int main(int argc, char **argv)
{
    static const tool_command commands[] = {
        {"map", dla_map},
        {"show", dla_show},
        {"compare", dla_compare},
        {"convert", dla_convert},
        {"pingpong", dla_pingpong},
        {"setup", dla_setup},
        {NULL, NULL},
    };
    return tool_run(commands,
                    "Places ranks on nodes by what they access in a file.\v"
                    "Commands:\n"
                    "  map       place ranks on nodes, for any launcher\n"
                    "  compare   place ranks by every method, and compare the placements\n"
                    "  show      print the contents of a view file\n"
                    "  convert   write a view file in other formats\n"
                    "  pingpong  measure the bandwidth between nodes (an MPI program)\n"
                    "  setup     print the setting by which mpirun finds --map-by dla\n"
                    "'dla COMMAND --help' lists the options of a command.",
                    argc, argv);
}
