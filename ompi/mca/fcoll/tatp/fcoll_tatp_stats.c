/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of statistics for each collective call: a JSON object, appended to a file by rank 0. */
#include "fcoll_tatp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>


static bool wanted(void)
{
    const char *path = mca_fcoll_tatp_component.stats_file;
    return path != NULL && path[0] != '\0';
}

/* The text as the inside of a JSON string. */
static void put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
}

static void put_line(FILE *out, const tatp_pass *pass, const tatp_times *t, int64_t bytes)
{
    double seconds = t->st1 + t->st2 + t->st3 + t->st4 + t->st5;
    fprintf(out, "{\"op\": \"%s\", \"file\": \"", pass->write ? "write" : "read");
    put_text(out, pass->fh->f_filename);
    fprintf(out,
            "\", \"ranks\": %d, \"nodes\": %zu, \"aggregators\": %zu, \"cycles\": %lld, "
            "\"bytes\": %lld, \"seconds\": %.6f, \"st1\": %.6f, \"st2\": %.6f, \"st3\": %.6f, "
            "\"st4\": %.6f, \"st5\": %.6f, \"strategy\": \"%s\", \"hop_bytes\": %.15g, "
            "\"hop_bytes_otp\": %.15g, \"crossing_bytes\": %lld}\n",
            pass->fh->f_size, pass->module->where.nodes, pass->schedule->domains.count,
            (long long)tatp_window_count(pass->schedule), (long long)bytes, seconds, t->st1, t->st2, t->st3, t->st4,
            t->st5, mca_fcoll_tatp_component.strategy->name, pass->schedule->decision.hop_bytes,
            pass->schedule->decision.hop_bytes_otp, (long long)pass->schedule->decision.crossing_bytes);
}

static void append_line(const tatp_pass *pass, const tatp_times *slowest, int64_t bytes)
{
    static bool told; /* once a process, not at every call */
    const char *path = mca_fcoll_tatp_component.stats_file;
    FILE *out = strcmp(path, "-") == 0 ? stderr : fopen(path, "a");
    if (out != NULL)
        put_line(out, pass, slowest, bytes);
    bool failed = out == NULL || fflush(out) != 0 || ferror(out);
    int error = errno;
    if (out != NULL && out != stderr)
        fclose(out);
    if (failed && !told)
        tatp_show_help("stats", path, strerror(error));
    told |= failed;
}

/* The slowest rank's time of each stage, and everybody's bytes. The file's data are safe by now, so
 * that a line that cannot be written is told by its message and does not fail the call. */
int tatp_stats_report(const tatp_pass *pass)
{
    tatp_times slowest = pass->time;
    int64_t bytes = pass->moved;
    if (!wanted())
        return OMPI_SUCCESS;
    int rc = tatp_allreduce(pass->fh, &slowest, (int)(sizeof slowest / sizeof(double)), MPI_DOUBLE,
                            MPI_MAX);
    if (rc == OMPI_SUCCESS)
        rc = tatp_allreduce(pass->fh, &bytes, 1, MPI_INT64_T, MPI_SUM);
    if (rc == OMPI_SUCCESS && pass->fh->f_rank == 0)
        append_line(pass, &slowest, bytes);
    return rc;
}
