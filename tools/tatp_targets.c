/* SPDX-License-Identifier: BSD-3-Clause */
#include "tatp_targets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/query.h"
#include "tool.h"

/* For the answer of the file system. */
enum { MILLISECONDS = 10000 };

/* ---- options ---- */

static void parse_striping(const char *option, const char *arg, size_t *number,
                           struct argp_state *state)
{
    if (tool_number(arg, 1, INT32_MAX, number) != 0)
        argp_error(state, "%s is a number from 1 to %d, not '%s'", option, INT32_MAX, arg);
}

static error_t parse_targets_option(int key, char *arg, struct argp_state *state)
{
    tatp_targets_options *options = state->input;
    switch (key) {
    case 'T': options->targets = arg; return 0;
    case 'u': parse_striping("--striping-unit", arg, &options->unit, state); return 0;
    case 'f': parse_striping("--striping-factor", arg, &options->factor, state); return 0;
    case ARGP_KEY_END:
        if (options->unit > 0 && options->targets == NULL)
            argp_error(state, "--striping-unit needs --targets");
        if (options->factor > 0 && options->unit == 0)
            argp_error(state, "--striping-factor needs --striping-unit");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp tatp_targets_argp = {
    .options =
        (const struct argp_option[]){
            {"targets", 'T', "FILE", 0,
             "Hosts of targets, or locations of blocks (default: what the file system says)", 0},
            {"striping-unit", 'u', "BYTES", 0,
             "The targets of --targets take stripes of this size in turn", 0},
            {"striping-factor", 'f', "N", 0, "Only the first N of them (default: all)", 0},
            {0},
        },
    .parser = parse_targets_option,
};

/* ---- the layout ---- */

static int open_file(const char *file, int64_t *size)
{
    struct stat status;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) != 0)
        exit(tool_fail("%s: %s", file, strerror(errno)));
    if (!S_ISREG(status.st_mode))
        exit(tool_fail("%s: not a regular file", file));
    *size = status.st_size;
    return fd;
}

static storage_layout *ask_file_system(const char *file, int fd, int64_t size)
{
    storage_layout *layout = NULL;
    matrix_error error = {0, ""};
    int rc = storage_query(fd, 0, size, MILLISECONDS, &layout, &error);
    if (rc == -ENOMEM)
        exit(tool_fail("out of memory"));
    if (rc != 0)
        exit(tool_fail("%s: %s%s", file, error.reason,
                       rc == -ENOTSUP || rc == -EACCES ? "; see --targets" : ""));
    return layout;
}

static int read_targets(FILE *stream, void *object, matrix_error *error)
{
    return storage_read_targets(stream, object, error);
}

/* A table of blocks contains the layout, the hosts of targets need stripes. */
static storage_layout *find_layout(const tatp_targets_options *options, int fd, int64_t size)
{
    storage_layout *given = NULL;
    matrix_error error = {0, ""};
    if (options->targets != NULL)
        tool_read(options->targets, read_targets, &given);
    if (given != NULL && storage_extents(given) > 0) {
        if (options->unit > 0)
            exit(tool_fail("%s: blocks, which have no stripe unit", options->targets));
        return given;
    }
    if (options->unit > 0) {
        int rc = storage_stripe(given, (int64_t)options->unit, options->factor, &error);
        if (rc != 0)
            exit(tool_fail_reading(options->targets, rc, &error));
        return given;
    }
    if (options->file == NULL)
        exit(tool_fail("%s: targets, which need --striping-unit or a file that has them",
                       options->targets));
    storage_layout *layout = ask_file_system(options->file, fd, size);
    int rc = given == NULL ? 0 : storage_copy_hosts(layout, given, &error);
    if (rc != 0)
        exit(tool_fail_reading(options->targets, rc, &error));
    storage_free(given);
    return layout;
}

storage_layout *tatp_targets_read(const tatp_targets_options *options, int64_t *size)
{
    int fd = options->file != NULL ? open_file(options->file, size) : -1;
    storage_layout *layout = find_layout(options, fd, *size);
    if (fd >= 0)
        close(fd);
    return layout;
}
