/* SPDX-License-Identifier: BSD-3-Clause */
/* tatp report: executes the Python program that draws the page. That program calls the tatp and dla
 * in the folder of this program. */
#include "tatp.h"
#include "tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the installed folder, or the one that the environment names. */
static int find_report_program(char *program, size_t size)
{
    const char *folder = getenv("TATP_REPORT_DIR");
    int length =
        snprintf(program, size, "%s/__main__.py", folder != NULL ? folder : TATP_REPORT_DIR);
    if (length < 0 || (size_t)length >= size)
        return tool_fail("TATP_REPORT_DIR: the name is too long");
    if (access(program, R_OK) != 0)
        return tool_fail("%s: %s; the environment variable TATP_REPORT_DIR may name its folder",
                         program, strerror(errno));
    return 0;
}

/* The folder of this program. */
static int find_tools_folder(char *tools, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", tools, size - 1);
    if (length < 0)
        return tool_fail("/proc/self/exe: %s", strerror(errno));
    tools[length] = '\0';
    char *slash = strrchr(tools, '/');
    if (slash != NULL)
        *slash = '\0';
    return 0;
}

int tatp_report(int argc, char **argv)
{
    static char found[] = TATP_PYTHON3, any[] = "python3", no_bytecode[] = "-B", program[4096],
                tools[4096];
    char *python = found[0] != '\0' ? found : any;
    char **words = tool_allocate((size_t)argc + 4, sizeof *words);
    int status = find_report_program(program, sizeof program);
    if (status == 0)
        status = find_tools_folder(tools, sizeof tools);
    if (status == 0) {
        char *first[] = {python, no_bytecode, program, tools};
        memcpy(words, first, sizeof first);
        memcpy(words + 4, argv + 1, (size_t)(argc - 1) * sizeof *words);
        execvp(python, words);
        status = tool_fail("%s: %s; the report needs Python 3", python, strerror(errno));
    }
    free(words);
    return status;
}
