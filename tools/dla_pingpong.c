/* SPDX-License-Identifier: BSD-3-Clause */
/* dla pingpong: executes dla-pingpong, an MPI program, so that dla does not depend on MPI. */
#include "dla.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static const char program[] = "dla-pingpong";

/* The program in the folder of this one; an empty path if that folder is unknown. */
static void find_sibling(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - sizeof program);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        strcpy(slash + 1, program);
}

int dla_pingpong(int argc, char **argv)
{
    char path[4096], name[] = "dla-pingpong";
    (void)argc;
    argv[0] = name;
    find_sibling(path, sizeof path);
    if (*path != '\0')
        execv(path, argv);
    execvp(program, argv);
    return tool_fail("%s: %s", program, strerror(errno));
}
