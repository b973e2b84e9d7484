/* SPDX-License-Identifier: BSD-3-Clause */
/* What the command-line programs share. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct chosen {
    const tool_command *commands, *command;
    int at; /* argv index of the command's name */
};

int tool_fail(const char *format, ...)
{
    va_list args;
    fprintf(stderr, "%s: ", program_invocation_short_name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return TOOL_FAILURE;
}

FILE *tool_open(const char *file)
{
    FILE *stream = fopen(file, "r");
    if (stream == NULL)
        tool_fail("%s: %s", file, strerror(errno));
    return stream;
}

int tool_fail_reading(const char *file, int rc, const matrix_error *error)
{
    int explained = error != NULL && (rc == -EBADMSG || rc == -EIO || rc == -ENXIO);
    if (explained && error->line > 0)
        return tool_fail("%s:%zu: %s", file, error->line, error->reason);
    return tool_fail("%s: %s", file, explained ? error->reason : strerror(-rc));
}

int tool_read(const char *file, int (*read)(FILE *stream, void *made, matrix_error *error),
              void *made)
{
    matrix_error error = {0, ""};
    FILE *stream = tool_open(file);
    if (stream == NULL)
        return TOOL_FAILURE;
    int rc = read(stream, made, &error);
    fclose(stream);
    return rc == 0 ? 0 : tool_fail_reading(file, rc, &error);
}

static int read_market(FILE *stream, void *made, matrix_error *error)
{
    return matrix_read_market(stream, made, NULL, error);
}

int tool_read_market(const char *file, matrix *m)
{
    return tool_read(file, read_market, m);
}

int tool_number(const char *text, size_t least, size_t most, size_t *number)
{
    char *end;
    if (*text < '0' || *text > '9')
        return -1;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (errno != 0 || *end != '\0' || n < least || n > most)
        return -1;
    *number = n;
    return 0;
}

static void *or_end(void *block)
{
    if (block == NULL)
        exit(tool_fail("out of memory"));
    return block;
}

void *tool_grow(void *array, size_t count, size_t size)
{
    return or_end(reallocarray(array, count + 1, size));
}

void *tool_room(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room == 0 ? 64 : *room * 2;
    return tool_grow(array, *room - 1, size);
}

void *tool_allocate(size_t count, size_t size)
{
    return or_end(calloc(count > 0 ? count : 1, size));
}

char *tool_copy(const char *text)
{
    return or_end(strdup(text));
}

error_t tool_refuse_argument(const char *arg, struct argp_state *state)
{
    argp_error(state, "'%s' is one argument too many", arg);
    return 0;
}

static error_t parse_file(int key, char *arg, struct argp_state *state)
{
    const char **file = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (*file != NULL)
            return tool_refuse_argument(arg, state);
        *file = arg;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "no file is given"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp tool_file_argp = {.parser = parse_file, .args_doc = "FILE"};

/* The first argument that is no option names the command; what follows is the command's. */
static error_t parse_command(int key, char *arg, struct argp_state *state)
{
    struct chosen *chosen = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        chosen->at = state->next - 1;
        for (chosen->command = chosen->commands; chosen->command->name != NULL; chosen->command++)
            if (strcmp(chosen->command->name, arg) == 0)
                break;
        if (chosen->command->name == NULL)
            argp_error(state, "'%s' is not a command", arg);
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "no command is given"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int run_command(const struct chosen *chosen, int argc, char **argv)
{
    char name[80];
    snprintf(name, sizeof name, "%s %s", program_invocation_short_name, chosen->command->name);
    argv[chosen->at] = name;
    return chosen->command->run(argc - chosen->at, argv + chosen->at);
}

int tool_run(const tool_command *commands, const char *doc, int argc, char **argv)
{
    const struct argp argp = {
        .parser = parse_command, .args_doc = "COMMAND [OPTION...]", .doc = doc};
    struct chosen chosen = {.commands = commands};
    argp_err_exit_status = TOOL_USAGE;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &chosen) != 0)
        return tool_fail("out of memory");
    int status = run_command(&chosen, argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0)
        status = tool_fail("standard output: %s", strerror(errno));
    return status;
}
