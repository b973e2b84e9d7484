/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the command-line programs share: commands, messages, reading of arguments and files.
 * Messages go to stderr as "PROGRAM: FILE:LINE: REASON". Exit status: 0; TOOL_FAILURE; TOOL_USAGE;
 * and where the answer is that there is no solution, TOOL_INFEASIBLE.
 */
#ifndef TOOLS_TOOL_H
#define TOOLS_TOOL_H

#include "matrix/matrix.h"

#include <argp.h>

enum { TOOL_FAILURE = 1, TOOL_USAGE = 2, TOOL_INFEASIBLE = 3 };

typedef struct tool_command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is "PROGRAM NAME"; returns the exit status */
} tool_command;

/* Runs the command that argv names, out of a table closed by a NULL name; `doc` is argp's text
 * for --help. Returns the exit status, which also tells whether stdout could be written. */
int tool_run(const tool_command *commands, const char *doc, int argc, char **argv);

/* A child of a command's argp for the one argument FILE; its input is a const char **, NULL at
 * first. */
extern const struct argp tool_file_argp;

/* A parser's answer to an argument where there are to be none: a message, and the end. */
error_t tool_refuse_argument(const char *arg, struct argp_state *state);

/* Prints the message with the program's name in front; returns TOOL_FAILURE. */
int tool_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Opens a file to read; NULL after a message. */
FILE *tool_open(const char *file);

/* The message for a reader's or solver's return code, where `error` (or NULL) has more to say
 * about -EBADMSG, -EIO and -ENXIO; returns TOOL_FAILURE. */
int tool_fail_reading(const char *file, int rc, const matrix_error *error);

/* Has a file read by one of the readers of src/; 0, or TOOL_FAILURE after a message. */
int tool_read(const char *file, int (*read)(FILE *stream, void *made, matrix_error *error),
              void *made);

/* Reads a Matrix Market file; 0, or TOOL_FAILURE after a message. */
int tool_read_market(const char *file, matrix *m);

/* A whole number and nothing else, from least to most. Returns 0 or -1. */
int tool_number(const char *text, size_t least, size_t most, size_t *number);

/* As malloc'ed arrays go: room for one more element; ends the program when out of memory. */
void *tool_grow(void *array, size_t count, size_t size);

/* As tool_grow, in steps that double. */
void *tool_room(void *array, size_t count, size_t *room, size_t size);

/* Zeroed memory for at least one element; ends the program when out of memory. */
void *tool_allocate(size_t count, size_t size);

/* A copy; ends the program when out of memory. */
char *tool_copy(const char *text);

#endif
