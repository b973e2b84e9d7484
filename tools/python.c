/* SPDX-License-Identifier: BSD-3-Clause */
#include "python.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static int find_program(const tool_python *python, char *program, size_t size)
{
    const char *folder = getenv(python->variable);
    int length =
        snprintf(program, size, "%s/__main__.py", folder != NULL ? folder : python->folder);
    if (length < 0 || (size_t)length >= size)
        return tool_fail("%s: the name is too long", python->variable);
    if (access(program, R_OK) != 0)
        return tool_fail("%s: %s; the environment variable %s may name its folder", program,
                         strerror(errno), python->variable);
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

static void execute(char *interpreter, char *program, char *tools, const tool_python *python,
                    int argc, char **argv)
{
    static char no_bytecode[] = "-B";
    char *first[] = {interpreter, no_bytecode, program, tools};
    size_t firsts = sizeof first / sizeof *first, given = 0;
    while (python->words[given] != NULL)
        given++;
    char **words = tool_allocate(firsts + given + (size_t)argc, sizeof *words);
    memcpy(words, first, sizeof first);
    for (size_t k = 0; k < given; k++)
        words[firsts + k] = tool_copy(python->words[k]);
    memcpy(words + firsts + given, argv + 1, (size_t)(argc - 1) * sizeof *words);
    execvp(interpreter, words);
    for (size_t k = 0; k < given; k++)
        free(words[firsts + k]);
    free(words);
}

int tool_run_python(const tool_python *python, int argc, char **argv)
{
    static char found[] = TATP_PYTHON3, any[] = "python3", program[4096], tools[4096];
    char *interpreter = found[0] != '\0' ? found : any;
    int status = find_program(python, program, sizeof program);
    if (status == 0)
        status = find_tools_folder(tools, sizeof tools);
    if (status != 0)
        return status;
    execute(interpreter, program, tools, python, argc, argv);
    return tool_fail("%s: %s; %s needs Python 3", interpreter, strerror(errno), argv[0]);
}
