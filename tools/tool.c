/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* program_invocation_short_name, asprintf */
#include "tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "base/unknown.h"

enum { MOST_NAMES = 32, MOST_COPIED = 1 << 30 };

struct chosen {
    const char *doc;
    const tool_command *commands, *command;
    int index; /* of the command's name in argv */
    bool help; /* the command shall only print its help */
};

int tool_fail(const char *format, ...)
{
    char message[8192], shown[2 * sizeof message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    base_escape(shown, sizeof shown, message);
    fprintf(stderr, "%.*s: %s\n", (int)strcspn(program_invocation_short_name, " "),
            program_invocation_short_name, shown);
    return TOOL_FAILURE;
}

void tool_check(int rc, const char *what)
{
    if (rc != 0)
        exit(tool_fail("%s: %s", what, strerror(-rc)));
}

FILE *tool_open(const char *file)
{
    FILE *stream = strcmp(file, "-") == 0 ? stdin : fopen(file, "r");
    if (stream == NULL)
        tool_fail("%s: %s", file, strerror(errno));
    return stream;
}

/* to: NULL with errno where there is none. */
static int copy_pipe(const char *file, FILE *from, FILE *to)
{
    char block[BUFSIZ];
    size_t got = to != NULL, copied = 0;
    for (; got > 0 && copied < MOST_COPIED; copied += got) {
        got = fread(block, 1, sizeof block, from);
        if (ferror(from) || fwrite(block, 1, got, to) < got)
            break;
    }
    if (copied >= MOST_COPIED)
        return tool_fail("%s: more than %d bytes from a pipe: write them to a file, and name that",
                         file, MOST_COPIED);
    if (to == NULL || ferror(from) || fflush(to) != 0 || ferror(to))
        return tool_fail("%s: cannot be copied to a temporary file: %s", file, strerror(errno));
    rewind(to);
    return 0;
}

FILE *tool_open_seekable(const char *file)
{
    FILE *stream = tool_open(file);
    if (stream == NULL || ftello(stream) >= 0 || errno != ESPIPE)
        return stream;
    FILE *copy = tmpfile();
    int status = copy_pipe(file, stream, copy);
    fclose(stream);
    if (status != 0 && copy != NULL)
        fclose(copy);
    return status == 0 ? copy : NULL;
}

int tool_fail_reading(const char *file, int rc, const matrix_error *error)
{
    bool explained = rc == -EBADMSG || rc == -EIO || rc == -ENXIO;
    if (explained && error->line > 0)
        return tool_fail("%s:%zu: %s", file, error->line, error->reason);
    return tool_fail("%s: %s", file, explained ? error->reason : strerror(-rc));
}

void tool_read(const char *file, int (*read)(FILE *stream, void *object, matrix_error *error),
               void *object)
{
    matrix_error error = {0, ""};
    FILE *stream = tool_open_seekable(file);
    if (stream == NULL)
        exit(TOOL_FAILURE);
    int rc = read(stream, object, &error);
    fclose(stream);
    if (rc != 0)
        exit(tool_fail_reading(file, rc, &error));
}

static int read_view_stream(FILE *stream, void *object, matrix_error *error)
{
    return view_file_read(stream, object, error);
}

void tool_read_view(const char *name, view_file *file)
{
    tool_read(name, read_view_stream, file);
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

static void *tool_require(void *block)
{
    if (block == NULL)
        exit(tool_fail("out of memory"));
    return block;
}

void tool_reserve(void *array, size_t *capacity, size_t count, size_t size)
{
    if (base_reserve(array, capacity, count, size) != 0)
        exit(tool_fail("out of memory"));
}

void *tool_allocate(size_t count, size_t size)
{
    return tool_require(calloc(count > 0 ? count : 1, size));
}

char *tool_copy(const char *text)
{
    return tool_require(strdup(text));
}

void tool_append_choice(char **list, int width, const char *name, const char *note)
{
    char *shorter = *list;
    if (asprintf(list, "%s  %-*s %s\n", shorter, width, name, note) < 0)
        exit(tool_fail("out of memory"));
    free(shorter);
}

bool tool_is_trial(bool *crashes)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        (void)!freopen("/dev/null", "w", stderr);
        return true;
    }
    *crashes = child > 0 && waitpid(child, &status, 0) == child && status != 0;
    return false;
}

bool tool_find_folder(char *folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        *slash = '\0';
    return length > 0;
}

int tool_execute(const char *name, char **argv)
{
    char folder[4096], path[sizeof folder + 80];
    if (tool_find_folder(folder, sizeof folder)) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        execv(path, argv);
    }
    execvp(name, argv);
    return tool_fail("%s: %s", name, strerror(errno));
}

double tool_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void tool_check_input(const struct argp_state *state, const char *const *file, size_t count)
{
    size_t inputs = 0;
    for (size_t k = 0; k < count; k++)
        inputs += file[k] != NULL && strcmp(file[k] + (*file[k] == '@'), "-") == 0;
    if (inputs > 1)
        argp_error(state, "'-', standard input, can be one of the files only");
}

static void collect_options(const struct argp *argp, const char **known, size_t *count)
{
    const struct argp_option *o = argp->options;
    for (; o != NULL && (o->name != NULL || o->key != 0 || o->doc != NULL); o++)
        if (o->name != NULL && *count < MOST_NAMES)
            known[(*count)++] = o->name;
    for (const struct argp_child *c = argp->children; c != NULL && c->argp != NULL; c++)
        collect_options(c->argp, known, count);
}

/* An option may be abbreviated. */
static void check_option(const struct argp_state *state, const char *const *known, const char *arg)
{
    char name[BASE_SETTING_BYTES + 1];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(arg, "="), arg);
    for (size_t k = 0; known[k] != NULL; k++)
        if (strncmp(known[k], name, strlen(name)) == 0)
            return;
    const char *nearest = base_nearest_name(name, known);
    if (nearest != NULL)
        argp_error(state, "'--%s' is not an option; did you mean '--%s'?", name, nearest);
}

/* argp ends the program at an unknown option without naming the nearest one. */
static void tool_check_options(const struct argp_state *state)
{
    const char *known[MOST_NAMES + 1] = {NULL};
    size_t count = 0;
    collect_options(state->root_argp, known, &count);
    for (int i = 1; i < state->argc && strcmp(state->argv[i], "--") != 0; i++)
        if (strncmp(state->argv[i], "--", 2) == 0)
            check_option(state, known, state->argv[i] + 2);
        else if ((state->flags & ARGP_IN_ORDER) != 0 && state->argv[i][0] != '-')
            return;
}

/* A command: its argp, and the input of that. */
struct parsed {
    const struct argp *argp;
    void *options;
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    const struct parsed *parsed = state->input;
    const char *wanted = parsed->argp->args_doc;
    bool is_file = wanted != NULL && strstr(wanted, "FILE") != NULL;
    tool_options *common = parsed->options;
    switch (key) {
    case ARGP_KEY_INIT:
        state->name = basename(state->argv[0]); /* argp sets it later */
        tool_check_options(state);
        return 0;
    case 'h': argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP); return 0;
    case 'j': common->json = true; return 0;
    case ARGP_KEY_ARG:
        if (!is_file || common->file != NULL)
            argp_error(state, "'%s' is one argument too many", arg);
        common->file = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        if (is_file && *wanted != '[')
            argp_error(state, "no file is given");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static error_t share_input(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    struct parsed *parsed = state->input;
    state->child_inputs[0] = parsed->options;
    state->child_inputs[1] = parsed;
    return 0;
}

void tool_parse(const struct argp *argp, unsigned flags, int argc, char **argv, void *options)
{
    static const struct argp_option common_options[] = {
        {"json", 'j', NULL, 0, "Print JSON", 0}, {NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0}, {0}};
    const struct argp common = {.options = common_options + ((flags & TOOL_JSON) == 0),
                                .parser = parse_common};
    const struct argp_child children[] = {{argp, 0, NULL, 0}, {&common, 0, NULL, 0}, {0}};
    const struct argp both = {.parser = share_input, .children = children};
    struct parsed parsed = {argp, options};
    if (argp_parse(&both, argc, argv, flags & ~(unsigned)TOOL_JSON, NULL, &parsed) != 0)
        exit(tool_fail("out of memory"));
}

const void *tool_choose(const struct argp_state *state, const char *what, const char *name,
                        const void *table, size_t size)
{
    const char *known[MOST_NAMES + 1] = {NULL};
    char list[512] = "";
    for (size_t k = 0; k < MOST_NAMES; k++) {
        const char *row = (const char *)table + k * size;
        memcpy(&known[k], row, sizeof *known);
        if (known[k] == NULL)
            break;
        if (strcmp(known[k], name) == 0)
            return row;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", k > 0 ? ", " : "", known[k]);
    }
    const char *nearest = base_nearest_name(name, known);
    if (nearest != NULL)
        argp_error(state, "'%s' is not a %s; did you mean '%s'?", name, what, nearest);
    argp_error(state, "'%s' is not a %s: %s", name, what, list);
    return NULL;
}

/* ---- commands ---- */

static void show_first_steps(const char *doc)
{
    tool_fail("no command is given; '%s help' lists them", program_invocation_short_name);
    fprintf(stderr, "\n%.*s\n", (int)strcspn(doc, "\v"), doc);
    exit(TOOL_USAGE);
}

/* The first non-option argument names the command, which parses the rest; "help" may precede it. */
static error_t parse_command(int key, char *arg, struct argp_state *state)
{
    struct chosen *chosen = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        chosen->help = strcmp(arg, "help") == 0;
        if (chosen->help && state->next == state->argc)
            argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
        chosen->index = chosen->help ? state->next : state->next - 1;
        chosen->command = tool_choose(state, "command", state->argv[chosen->index],
                                      chosen->commands, sizeof *chosen->commands);
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS: show_first_steps(chosen->doc); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static int run_command(const struct chosen *chosen, int argc, char **argv)
{
    char name[80], option[] = "--help", *help[] = {name, option, NULL};
    snprintf(name, sizeof name, "%s %s", program_invocation_short_name, chosen->command->name);
    argv[chosen->index] = name;
    return chosen->help ? chosen->command->run(2, help)
                        : chosen->command->run(argc - chosen->index, argv + chosen->index);
}

int tool_run(const tool_command *commands, const char *doc, int argc, char **argv)
{
    const struct argp argp = {
        .parser = parse_command, .args_doc = "COMMAND [OPTION...]", .doc = doc};
    struct chosen chosen = {.doc = doc, .commands = commands};
    argp_err_exit_status = TOOL_USAGE;
    tool_parse(&argp, ARGP_IN_ORDER, argc, argv, &chosen);
    return tool_finish(run_command(&chosen, argc, argv));
}

int tool_finish(int status)
{
    bool failed = ferror(stdout);
    errno = failed ? EIO : 0; /* the cause of an earlier failure is not known any more */
    failed = fflush(stdout) != 0 || failed;
    failed = (close(STDOUT_FILENO) != 0 && errno != EBADF) || failed; /* a full file on NFS */
    if (failed && status == 0)
        status = tool_fail("standard output: %s", strerror(errno));
    return status;
}
