/* SPDX-License-Identifier: BSD-3-Clause */
/* dla pingpong: hands over to dla-pingpong, an MPI program, so that dla itself needs no MPI. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "dla.h"

static const char program[] = "dla-pingpong";

/* Where this program is; an empty path where that cannot be told. */
static void find_beside(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - sizeof program);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash != NULL)
        strcpy(slash + 1, program);
}

int run_pingpong(int argc, char **argv)
{
    char path[4096], name[] = "dla-pingpong";
    (void)argc;
    argv[0] = name;
    find_beside(path, sizeof path);
    if (*path != '\0')
        execv(path, argv);
    execvp(program, argv);
    return tool_fail("%s: %s", program, strerror(errno));
}
