/* SPDX-License-Identifier: BSD-3-Clause */
/* dla pingpong: executes dla-pingpong, an MPI program, so that dla does not depend on MPI. */
#include "dla.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

int dla_pingpong(int argc, char **argv)
{
    char folder[4096], name[] = "dla-pingpong", path[sizeof folder + sizeof name];
    (void)argc;
    argv[0] = name;
    if (tool_find_folder(folder, sizeof folder)) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        execv(path, argv);
    }
    execvp(name, argv);
    return tool_fail("%s: %s", name, strerror(errno));
}
