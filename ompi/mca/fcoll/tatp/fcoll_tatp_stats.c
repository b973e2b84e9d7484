/* SPDX-License-Identifier: BSD-3-Clause */
/* A line of statistics for each collective call: a JSON object, appended to a file by rank 0. */
#include "fcoll_tatp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of the keys in fcoll_tatp(7): changes when one of them changes its meaning. */
#define FORMAT 1
/* So many lines of a process have a plan, and so many a time line, no more than MOST_CALLS by one
 * plan: the file stays small however many calls there are. */
#define MOST_PLANS 64
#define MOST_TIMELINES 64
#define MOST_CALLS 8

bool tatp_stats_wanted(void)
{
    const char *path = mca_fcoll_tatp_component.stats_file;
    return NULL != path && path[0] != '\0';
}

/* Standard error is for people. */
static bool wants_details(void)
{
    return tatp_stats_wanted() && strcmp(mca_fcoll_tatp_component.stats_file, "-") != 0;
}

static _Atomic int plans; /* that are written */

void tatp_stats_keep(tatp_schedule *schedule, tatp_rows *rows)
{
    if (!wants_details() || plans >= MOST_PLANS)
        return;
    matrix_release(&schedule->even_requests);
    matrix_release(&schedule->blocks);
    schedule->even_requests = schedule->requests;
    schedule->requests = rows->requests;
    schedule->blocks = rows->blocks;
    rows->requests = rows->blocks = (matrix){0};
}

/* ---- text ---- */

void tatp_put_text(FILE *out, const char *text)
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

/* There may be a hundred thousand of them in a line: printf takes three times as long. */
void tatp_put_number(FILE *out, int64_t value)
{
    char text[24], *first = text + sizeof text;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do {
        *--first = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        *--first = '-';
    fwrite(first, 1, (size_t)(text + sizeof text - first), out);
}

void tatp_put_sizes(FILE *out, const size_t *value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            fputc(',', out);
        tatp_put_number(out, (int64_t)value[i]);
    }
}

/* ---- the line ---- */

/* Over all ranks. */
typedef struct summary {
    tatp_times time; /* the slowest rank's of each stage, but the last comer's st1 */
    double waited;   /* how long the first comer waited for the last */
    bool timeline;   /* aggregators tell theirs */
    int64_t bytes, messages, metadata; /* sums */
} summary;

static const char *kind_of_domains(const tatp_schedule *schedule)
{
    if (schedule->fitted)
        return tatp_domains_names[TATP_DOMAINS_FITTED].name;
    return tatp_domains_names[schedule->domains.stripe > 0 ? TATP_DOMAINS_STRIPE
                                                           : TATP_DOMAINS_EVEN]
        .name;
}

static void put_summary(FILE *out, const tatp_pass *pass, const summary *all)
{
    const tatp_times *t = &all->time;
    double seconds = t->st1 + t->st2 + t->st3 + t->st4 + t->st5;
    fprintf(out, "{\"op\": \"%s\", \"file\": \"", pass->write ? "write" : "read");
    tatp_put_text(out, pass->fh->f_filename);
    fprintf(out,
            "\", \"ranks\": %d, \"nodes\": %zu, \"aggregators\": %zu, \"domains\": \"%s\", "
            "\"unit\": %lld, \"cycles\": %lld, "
            "\"bytes\": %lld, \"messages\": %lld, \"metadata_bytes\": %lld, \"seconds\": %.6f, "
            "\"waited\": %.6f, \"st1\": %.6f, \"st2\": %.6f, \"st3\": %.6f, "
            "\"st4\": %.6f, \"st5\": %.6f, \"strategy\": \"%s\", \"hop_bytes\": %.15g, "
            "\"hop_bytes_otp\": %.15g, \"crossing_bytes\": %lld",
            pass->fh->f_size, pass->module->where.nodes, pass->schedule->domains.count,
            kind_of_domains(pass->schedule),
            (long long)(pass->schedule->fitted ? pass->schedule->units.unit
                                               : pass->schedule->domains.stripe),
            (long long)tatp_window_count(pass->schedule), (long long)all->bytes,
            (long long)all->messages, (long long)all->metadata, seconds, all->waited, t->st1,
            t->st2, t->st3, t->st4, t->st5, pass->module->settings.strategy->name,
            pass->schedule->decision.hop_bytes, pass->schedule->decision.hop_bytes_otp,
            (long long)pass->schedule->decision.crossing_bytes);
}

static double seconds_since_epoch(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void put_origin(FILE *out, const tatp_pass *pass)
{
    static _Atomic int64_t calls;
    fprintf(out, ", \"format\": %d, \"program\": \"", FORMAT);
    tatp_put_text(out, program_invocation_short_name);
    fputs("\", \"run\": \"", out);
    tatp_put_text(out, tatp_run_id());
    fprintf(out, "\", \"call\": %lld, \"ended\": %.3f, \"schedule\": %lld", (long long)++calls,
            seconds_since_epoch(), (long long)pass->schedule->id);
}

/* Takes in what aggregators have sent, also where it is not written. */
static int put_timeline(FILE *out, const tatp_pass *pass)
{
    static _Atomic int timelines;
    if (NULL == out || timelines++ >= MOST_TIMELINES)
        return tatp_timeline_put(NULL, pass);
    fputs(", \"timeline\": [", out);
    int rc = tatp_timeline_put(out, pass);
    fputc(']', out);
    return rc;
}

static int put_line(FILE *out, const tatp_pass *pass, const summary *all)
{
    int rc = OMPI_SUCCESS;
    if (NULL != out) {
        put_summary(out, pass, all);
        put_origin(out, pass);
    }
    if (NULL != out && NULL != pass->schedule->requests.row_start) {
        fputs(", \"plan\": ", out);
        tatp_put_plan(out, pass);
        plans++;
    }
    if (all->timeline)
        rc = put_timeline(out, pass);
    if (NULL != out)
        fputs("}\n", out);
    matrix_release(&pass->schedule->requests);
    matrix_release(&pass->schedule->even_requests);
    matrix_release(&pass->schedule->blocks);
    return rc;
}

/* ---- the file ---- */

/* A whole line at once, so that those of several processes do not mix. */
static bool write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        ssize_t written = write(fd, text, length);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            text += written;
            length -= (size_t)written;
        }
    }
    return true;
}

static bool append(const char *path, const char *text, size_t length)
{
    if (strcmp(path, "-") == 0)
        return write_all(STDERR_FILENO, text, length);
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    bool written = write_all(fd, text, length);
    int error = errno;
    bool closed = close(fd) == 0;
    if (!written)
        errno = error;
    return written && closed;
}

static int append_line(const tatp_pass *pass, const summary *all)
{
    static bool told; /* once a process, not at every call */
    const char *path = mca_fcoll_tatp_component.stats_file;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    int rc = put_line(out, pass, all);
    bool whole = NULL != out && fclose(out) == 0;
    if ((!whole || !append(path, text, length)) && !told) {
        tatp_show_help("stats", path, strerror(errno));
        told = true;
    }
    free(text);
    return rc;
}

/* What each rank tells, times in nanoseconds. */
enum { ST1, ST2, ST3, ST4, ST5, BYTES, MESSAGES, METADATA, WORDS };
_Static_assert(WORDS == TATP_TOLD_WORDS, "rank 0 has room for that of each rank");

static int64_t nanoseconds(double seconds)
{
    return (int64_t)(seconds * 1e9);
}

static void put_words(const tatp_pass *pass, int64_t *word)
{
    const tatp_times *t = &pass->time;
    const int64_t all[WORDS] = {
        nanoseconds(t->st1), nanoseconds(t->st2), nanoseconds(t->st3), nanoseconds(t->st4),
        nanoseconds(t->st5), pass->moved,         pass->messages,      pass->metadata,
    };
    memcpy(word, all, sizeof all);
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Ranks that make the call early wait in its first reduction: that is the program's time. What the
 * last one spends there is the call's. */
static summary sum_up(const int64_t *word, int ranks)
{
    int64_t least = INT64_MAX, stage[BYTES] = {0};
    summary all = {.bytes = 0};
    for (int r = 0; r < ranks; r++, word += WORDS) {
        for (int i = 0; i < BYTES; i++)
            stage[i] = most(stage[i], word[i]);
        least = tatp_least(least, word[ST1]);
        all.bytes += word[BYTES];
        all.messages += word[MESSAGES];
        all.metadata += word[METADATA];
    }
    all.time =
        (tatp_times){1e-9 * (double)least, 1e-9 * (double)stage[ST2], 1e-9 * (double)stage[ST3],
                     1e-9 * (double)stage[ST4], 1e-9 * (double)stage[ST5]};
    all.waited = 1e-9 * (double)(stage[ST1] - least);
    return all;
}

/* The file's data are safe by now, so that a line that cannot be written is told by its message and
 * does not fail the call. */
int tatp_stats_report(const tatp_pass *pass)
{
    int64_t word[WORDS];
    if (!tatp_stats_wanted())
        return OMPI_SUCCESS;
    put_words(pass, word);
    int rc = tatp_gather_equal(pass->fh, word, WORDS, MPI_INT64_T, pass->module->where.told);
    bool timeline = wants_details() && pass->schedule->told < MOST_CALLS;
    pass->schedule->told += timeline;
    if (OMPI_SUCCESS != rc)
        return rc;
    if (pass->fh->f_rank != 0)
        return timeline ? tatp_timeline_send(pass) : OMPI_SUCCESS;
    summary all = sum_up(pass->module->where.told, pass->fh->f_size);
    all.timeline = timeline;
    return append_line(pass, &all);
}
