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

/* Over all ranks. */
typedef struct summary {
    tatp_times time; /* the slowest rank's of each stage, but the last comer's st1 */
    double waited;   /* how long the first comer waited for the last */
    int64_t bytes, messages, metadata; /* sums */
} summary;

static const char *kind_of_domains(const tatp_schedule *schedule)
{
    if (schedule->fitted)
        return tatp_domains_names[TATP_DOMAINS_FITTED].name;
    return tatp_domains_names[schedule->domains.stripe > 0 ? TATP_DOMAINS_STRIPE
                                                           : TATP_DOMAINS_EVEN].name;
}

static void put_line(FILE *out, const tatp_pass *pass, const summary *all)
{
    const tatp_times *t = &all->time;
    double seconds = t->st1 + t->st2 + t->st3 + t->st4 + t->st5;
    fprintf(out, "{\"op\": \"%s\", \"file\": \"", pass->write ? "write" : "read");
    put_text(out, pass->fh->f_filename);
    fprintf(out,
            "\", \"ranks\": %d, \"nodes\": %zu, \"aggregators\": %zu, \"domains\": \"%s\", "
            "\"unit\": %lld, \"cycles\": %lld, "
            "\"bytes\": %lld, \"messages\": %lld, \"metadata_bytes\": %lld, \"seconds\": %.6f, \"waited\": %.6f, \"st1\": %.6f, \"st2\": %.6f, \"st3\": %.6f, "
            "\"st4\": %.6f, \"st5\": %.6f, \"strategy\": \"%s\", \"hop_bytes\": %.15g, "
            "\"hop_bytes_otp\": %.15g, \"crossing_bytes\": %lld}\n",
            pass->fh->f_size, pass->module->where.nodes, pass->schedule->domains.count,
            kind_of_domains(pass->schedule),
            (long long)(pass->schedule->fitted ? pass->schedule->units.unit
                                               : pass->schedule->domains.stripe),
            (long long)tatp_window_count(pass->schedule), (long long)all->bytes, (long long)all->messages, (long long)all->metadata, seconds, all->waited, t->st1, t->st2, t->st3, t->st4,
            t->st5, mca_fcoll_tatp_component.strategy->name, pass->schedule->decision.hop_bytes,
            pass->schedule->decision.hop_bytes_otp, (long long)pass->schedule->decision.crossing_bytes);
}

static void append_line(const tatp_pass *pass, const summary *all)
{
    static bool told; /* once a process, not at every call */
    const char *path = mca_fcoll_tatp_component.stats_file;
    FILE *out = strcmp(path, "-") == 0 ? stderr : fopen(path, "a");
    if (out != NULL)
        put_line(out, pass, all);
    bool failed = out == NULL || fflush(out) != 0 || ferror(out);
    int error = errno;
    if (out != NULL && out != stderr)
        fclose(out);
    if (failed && !told)
        tatp_show_help("stats", path, strerror(error));
    told |= failed;
}

/* Ranks that make the call early wait in its first reduction: that is the program's time. What the
 * last one spends there is the call's. */
static int summarise(const tatp_pass *pass, summary *all)
{
    enum { EARLIEST, LATEST, ST2, ST3, ST4, ST5, TIMES };
    enum { BYTES, MESSAGES, METADATA, SUMS };
    int64_t sum[SUMS] = {pass->moved, pass->messages, pass->metadata};
    double most[TIMES] = {pass->time.st1, -pass->time.st1, pass->time.st2,
                          pass->time.st3, pass->time.st4,  pass->time.st5};
    int rc = tatp_allreduce(pass->fh, most, TIMES, MPI_DOUBLE, MPI_MAX);
    if (rc == OMPI_SUCCESS)
        rc = tatp_allreduce(pass->fh, sum, SUMS, MPI_INT64_T, MPI_SUM);
    all->bytes = sum[BYTES];
    all->messages = sum[MESSAGES];
    all->metadata = sum[METADATA];
    all->time = (tatp_times){-most[LATEST], most[ST2], most[ST3], most[ST4], most[ST5]};
    all->waited = most[EARLIEST] + most[LATEST];
    return rc;
}

/* The file's data are safe by now, so that a line that cannot be written is told by its message and
 * does not fail the call. */
int tatp_stats_report(const tatp_pass *pass)
{
    summary all;
    if (!wanted())
        return OMPI_SUCCESS;
    int rc = summarise(pass, &all);
    if (rc == OMPI_SUCCESS && pass->fh->f_rank == 0)
        append_line(pass, &all);
    return rc;
}
