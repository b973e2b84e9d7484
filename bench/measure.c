/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a rank as Linux counts it; waiting for the caller. */
#include "contest.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define MOST_WARM_BYTES ((int64_t)256 << 10) /* to each rank */

void connect_all(const workload *w)
{
    int64_t bytes = w->all_bytes / world_size / world_size;
    bytes = bytes > MOST_WARM_BYTES ? MOST_WARM_BYTES : bytes;
    char *from = take_memory((size_t)world_size, (size_t)bytes + 1);
    char *to = take_memory((size_t)world_size, (size_t)bytes + 1);
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
    int done = 0;
    /* Many ranks would keep the processors busy by looking. */
    pause.tv_nsec += world_size / 16 * pause.tv_nsec;
    /* The test cluster's ranks may oversleep by much more. */
    (void)prctl(PR_SET_TIMERSLACK, (unsigned long)pause.tv_nsec);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
        nanosleep(&pause, NULL);
}

void ask_caller(const char *contestant, const char *operation, const char *moment)
{
    char line[64];
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0) {
        printf("@%s %s %s\n", contestant, operation, moment);
        fflush(stdout);
        if (fgets(line, sizeof line, stdin) == NULL)
            fail("--ask", "the caller gives no line of input");
    }
    sleep_until_all();
}
