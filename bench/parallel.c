/* SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI programs of this folder share. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int world_rank, world_size;

void parallel_start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
}

void fail(const char *what, const char *detail)
{
    fprintf(stderr, "%s: rank %d: %s: %s\n", program_invocation_short_name, world_rank, what,
            detail);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void refuse(const char *what, const char *detail)
{
    if (world_rank == 0)
        fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, detail);
    MPI_Finalize();
    exit(2);
}

void check_mpi(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    fail(what, text);
}

void *take_memory(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);
    if (memory == NULL)
        fail("memory", strerror(ENOMEM));
    return memory;
}

/* ---- plain file access ---- */

int file_open(const char *path, int flags)
{
    int fd = open(path, flags, 0666);
    if (fd < 0)
        fail(path, strerror(errno));
    return fd;
}

/* One call may transfer a part. */
static void transfer_bytes(int fd, char *data, size_t bytes, int64_t offset, bool write)
{
    while (bytes > 0) {
        ssize_t done =
            write ? pwrite(fd, data, bytes, (off_t)offset) : pread(fd, data, bytes, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            fail(write ? "pwrite" : "pread", done < 0 ? strerror(errno)
                                             : write  ? "nothing written"
                                                      : "unexpected end of file");
        data += done;
        offset += done;
        bytes -= (size_t)done;
    }
}

void file_write(int fd, const char *from, size_t bytes, int64_t offset)
{
    transfer_bytes(fd, (char *)from, bytes, offset, true);
}

void file_read(int fd, char *to, size_t bytes, int64_t offset)
{
    transfer_bytes(fd, to, bytes, offset, false);
}

void remove_file(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0 && unlink(path) != 0 && errno != ENOENT)
        fail(path, strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- times ---- */

double slowest(double seconds)
{
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

bool everywhere(bool right)
{
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_C_BOOL, MPI_LAND, MPI_COMM_WORLD);
    return right;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

times summarise(double *seconds, int count)
{
    if (count == 0)
        return (times){0, 0};
    qsort(seconds, (size_t)count, sizeof *seconds, compare_doubles);
    return (times){seconds[0], (seconds[(count - 1) / 2] + seconds[count / 2]) / 2};
}

/* ---- options ---- */

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    run_options *o = state->input;
    switch (key) {
    case 'f': o->file = text; break;
    case 'l': o->label = text; break;
    case 'F': o->fresh = true; break;
    case 'c': o->csv = true; break;
    case 'H':
        if (strchr(text, '=') == NULL || text[0] == '=' || o->hints == MAX_HINTS)
            argp_error(state, "--hint wants KEY=VALUE, at most %d times, not '%s'", MAX_HINTS,
                       text);
        o->hint[o->hints++] = text;
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option option_table[] = {
    {"file", 'f', "FILE", 0, "File to write and read", 0},
    {"fresh", 'F', NULL, 0, "Remove the file before it is written (else it is overwritten)", 0},
    {"hint", 'H', "KEY=VALUE", 0, "MPI-IO hint for opening the file; may be repeated", 0},
    {"csv", 'c', NULL, 0, "Comma-separated values", 0},
    {"label", 'l', "TEXT", 0, "First column of the output", 0},
    {0},
};

const struct argp run_argp = {.options = option_table, .parser = parse_option};

MPI_Info make_hints(const run_options *o)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (int h = 0; h < o->hints; h++) {
        char key[MPI_MAX_INFO_KEY + 1];
        const char *equals = strchr(o->hint[h], '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - o->hint[h]), o->hint[h]);
        MPI_Info_set(info, key, equals + 1);
    }
    return info;
}
