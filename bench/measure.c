/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a rank as Linux counts it; waiting for the caller; fcoll/tatp's statistics. */
#include "measure.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define MOST_WARM_BYTES ((int64_t)256 << 10) /* to each rank */

void connect_all(const problem *p)
{
    int64_t bytes = p->array.bytes / p->ranks / p->ranks;
    bytes = bytes > MOST_WARM_BYTES ? MOST_WARM_BYTES : bytes;
    char *from = take_memory((size_t)p->ranks, (size_t)bytes + 1);
    char *to = take_memory((size_t)p->ranks, (size_t)bytes + 1);
    check_mpi(MPI_Alltoall(from, (int)bytes, MPI_BYTE, to, (int)bytes, MPI_BYTE, MPI_COMM_WORLD),
              "MPI_Alltoall");
    free(from);
    free(to);
}

/* A line like "VmHWM:     1234 kB" of /proc/self/status, in bytes; -1: there is none. */
static int64_t own_status(const char *name)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    int64_t kilobytes = -1;
    size_t length = strlen(name);
    if (status == NULL)
        return -1;
    while (kilobytes < 0 && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, name, length) == 0)
            kilobytes = strtoll(line + length, NULL, 10);
    fclose(status);
    return kilobytes < 0 ? -1 : kilobytes * 1024;
}

int64_t memory_mark(void)
{
    (void)malloc_trim(0);
    FILE *clear = fopen("/proc/self/clear_refs", "w");
    /* 5 sets the peak back to the present size */
    bool cleared = clear != NULL && fputs("5", clear) != EOF;
    if (clear != NULL)
        cleared = fclose(clear) == 0 && cleared;
    return cleared ? own_status("VmRSS:") : -1;
}

int64_t memory_over(int64_t mark)
{
    int64_t peak = own_status("VmHWM:");
    int64_t over = mark < 0 || peak < 0 ? -1 : peak - mark;
    MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    return over;
}

/* A barrier that leaves the processors to the caller, who would otherwise have to share them with
 * ranks that wait in a loop. */
static void sleep_until_all(void)
{
    struct timespec pause = {.tv_nsec = 1000000};
    MPI_Request request;
    int done = 0, ranks;
    /* Many ranks would keep the processors busy by looking. */
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    pause.tv_nsec += ranks / 16 * pause.tv_nsec;
    /* The test cluster's ranks may oversleep by much more. */
    (void)prctl(PR_SET_TIMERSLACK, (unsigned long)pause.tv_nsec);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nanosleep(&pause, NULL);
    }
}

void ask_caller(const char *contestant, const char *operation, const char *moment)
{
    char line[64];
    int rank;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        printf("@%s %s %s\n", contestant, operation, moment);
        fflush(stdout);
        if (fgets(line, sizeof line, stdin) == NULL)
            fail("--ask", "the caller gives no line of input");
    }
    sleep_until_all();
}

static double value_of(const char *line, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    return at == NULL ? 0 : strtod(at + strlen(quoted), NULL);
}

/* Of each call that is looked at. */
enum { MOST_LINES = 1024 };
struct call_times {
    double share[MOST_LINES]; /* of stages 1 to 3 */
    double stage[STAGES][MOST_LINES];
};

static void note_call(const char *line, double seconds, int at, struct call_times *t)
{
    for (int i = 0; i < STAGES; i++) {
        char key[8];
        snprintf(key, sizeof key, "st%d", i + 1);
        t->stage[i][at] = value_of(line, key);
    }
    t->share[at] = (t->stage[0][at] + t->stage[1][at] + t->stage[2][at]) / seconds;
}

static void note_last(const char *line, statistics *s)
{
    s->crossing_bytes = value_of(line, "crossing_bytes");
    s->messages = value_of(line, "messages");
    s->metadata_bytes = value_of(line, "metadata_bytes");
    s->hop_bytes = value_of(line, "hop_bytes");
    s->aggregators = value_of(line, "aggregators");
}

statistics read_statistics(const char *path, const char *operation)
{
    static struct call_times t;
    statistics s = {0};
    char wanted[64], *line = NULL;
    size_t size = 0;
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return s;
    snprintf(wanted, sizeof wanted, "{\"op\": \"%s\"", operation);
    while (s.lines < MOST_LINES && getline(&line, &size, in) > 0) {
        double seconds = value_of(line, "seconds");
        if (strncmp(line, wanted, strlen(wanted)) != 0 || seconds <= 0)
            continue;
        note_last(line, &s);
        note_call(line, seconds, s.lines++, &t);
    }
    free(line);
    fclose(in);
    s.planning_share = summarise(t.share, s.lines).median;
    for (int i = 0; i < STAGES; i++)
        s.stage[i] = summarise(t.stage[i], s.lines).median;
    return s;
}
