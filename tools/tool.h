/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the command-line programs: commands, messages, arguments, input files, memory.
 * Messages go to stderr as "PROGRAM: FILE:LINE: REASON". Exit status: 0; TOOL_FAILURE; TOOL_USAGE;
 * TOOL_INFEASIBLE if the problem has no solution.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include "matrix/view_file.h"

#include <argp.h>
#include <stdbool.h>

enum { TOOL_FAILURE = 1, TOOL_USAGE = 2, TOOL_INFEASIBLE = 3 };

typedef struct tool_command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is "PROGRAM NAME"; returns the exit status */
} tool_command;

/* Runs the command named in argv. `commands` ends with a NULL name; `doc` is argp's text for
 * --help. Returns the exit status, which is TOOL_FAILURE also if stdout cannot be written. */
int tool_run(const tool_command *commands, const char *doc, int argc, char **argv);

/* Ends the output of a program without commands; the exit status, as that of tool_run. */
int tool_finish(int status);

/* Executes a program that is installed beside this one, or that of PATH. Returns, TOOL_FAILURE
 * after a message, only if that fails. */
int tool_execute(const char *name, char **argv);

/* What the options of most commands begin with. */
typedef struct tool_options {
    const char *file; /* the argument of a command whose args_doc is FILE or [FILE]; NULL: none */
    bool json;        /* of one that is parsed with TOOL_JSON */
} tool_options;

/* Ends the program after a message if several of the files are "-" or "@-". NULL if it is not
 * given. */
void tool_check_input(const struct argp_state *state, const char *const *file, size_t count);

/* Prints the message with the program's name in front, without its command and without control
 * characters; returns TOOL_FAILURE. */
int tool_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the program after a message, "WHAT: REASON", if rc, a negative errno value, is not 0. */
void tool_check(int rc, const char *what);

/* tool_note is for what is no error. */
#define tool_note (void)tool_fail

enum { TOOL_JSON = 1 << 16 };

/* Parses the arguments of a command into `options`, the input of the argp, and a tool_options
 * unless its parser takes arguments. -h is --help. flags: TOOL_JSON for --json, and argp's; by
 * ARGP_IN_ORDER options behind an argument may belong to it. Arguments that nobody takes are
 * refused. */
void tool_parse(const struct argp *argp, unsigned flags, int argc, char **argv, void *options);

/* The row of that name in a table, whose rows, of `size` bytes, begin with a name, the last one
 * with NULL; `what` is what they name. Ends the program after a message where there is none, with
 * the nearest one, or with all. */
const void *tool_choose(const struct argp_state *state, const char *what, const char *name,
                        const void *table, size_t size);

/* Opens a file for reading; "-" is standard input. NULL after a message. */
FILE *tool_open(const char *file);

/* The same for what rewinds or asks for the length: of a pipe, a copy. */
FILE *tool_open_seekable(const char *file);

/* Prints the message for a reader's return code; `error` explains -EBADMSG, -EIO and -ENXIO.
 * Returns TOOL_FAILURE. */
int tool_fail_reading(const char *file, int rc, const matrix_error *error);

/* Passes the opened file to `read`, which fills *object and returns 0 or a negative errno value.
 * Ends the program after a message on failure. */
void tool_read(const char *file, int (*read)(FILE *stream, void *object, matrix_error *error),
               void *object);

/* The same of a view file. */
void tool_read_view(const char *name, view_file *file);

/* Parses a decimal integer from least to most. Returns 0, or -1 for anything else. */
int tool_number(const char *text, size_t least, size_t most, size_t *number);

/* base_reserve of base/memory.h; ends the program when out of memory. */
void tool_reserve(void *array, size_t *capacity, size_t count, size_t size);

/* calloc of at least one element; ends the program when out of memory. */
void *tool_allocate(size_t count, size_t size);

/* A copy; ends the program when out of memory. */
char *tool_copy(const char *text);

/* Appends a line for one value of an option to malloc'ed text, for the end of --help. */
void tool_append_choice(char **list, int width, const char *name, const char *note);

/* True in a process of its own, which prints no errors, and ends by _exit(0); then false, and
 * whether that process has crashed. */
bool tool_is_trial(bool *crashes);

/* The folder of this program. false, with errno: it is not known. */
bool tool_find_folder(char *folder, size_t size);

/* Seconds on a monotonic clock. */
double tool_seconds(void);

#endif
