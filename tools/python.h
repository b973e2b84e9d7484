/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Commands that are programs in Python, which call the tatp and dla in the folder of this program.
 */
#ifndef TOOLS_PYTHON_H
#define TOOLS_PYTHON_H

typedef struct tool_python {
    const char *folder;       /* where the program is installed */
    const char *variable;     /* in the environment: another folder */
    const char *const *words; /* arguments behind the folder of the tools; ends with NULL */
} tool_python;

/* Executes the program with the arguments of the command. Returns only if it cannot be executed,
 * the exit status after a message. */
int tool_run_python(const tool_python *python, int argc, char **argv);

#endif
