/* SPDX-License-Identifier: BSD-3-Clause */
/* What whole jobs do: figures that a commit changes knowingly. The plan of the largest one has more
 * domains than a message of a plan holds; of many nodes no rank hears from
 * all, nor posts receives for all messages of many ranks. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/parameters.h"
#include "simulate/job.h"

enum { MOST_RANKS = 16384, BLOCK = 16, ELEMENT = 8 };

static int compare_places(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Of N x 8 x 8 cubes of 16^3 elements, one for each rank. */
static void view_cube(int ranks, int rank, access_list *period)
{
    const int64_t y = rank / 8 % 8, x = rank / 64, z = rank % 8, line = 8 * BLOCK;
    (void)ranks;
    for (int64_t i = 0; i < BLOCK * BLOCK; i++) {
        int64_t row = (x * BLOCK + i / BLOCK) * line + y * BLOCK + i % BLOCK;
        if (access_append(period, (row * line + z * BLOCK) * ELEMENT, BLOCK * ELEMENT,
                          i * BLOCK * ELEMENT) != 0)
            abort();
    }
}

/* Pieces of one size at random places, so that each node accesses more domains than it lists. */
static void view_pieces(int ranks, int rank, access_list *period)
{
    enum { PIECES = BLOCK * BLOCK * BLOCK * ELEMENT / 512 };
    int64_t place[PIECES];
    for (int64_t i = 0; i < PIECES; i++) /* 40,503 shares no factor with powers of two */
        place[i] = (rank * (int64_t)PIECES + i) * 40503 % (PIECES * (int64_t)ranks);
    qsort(place, PIECES, sizeof *place, compare_places);
    for (int64_t i = 0; i < PIECES; i++)
        if (access_append(period, place[i] * 512, 512, i * 512) != 0)
            abort();
}

/* Messages between nodes; most sent, received and posted by a rank; KiB of any but rank 0, at most,
 * of which 1,024 are touched by independent accesses only. */
typedef struct figures {
    int64_t far, sent, received, posted, kib;
} figures;

static bool has_figures(const char *name, enum job_phase_kind kind, const job_phase *p,
                        const figures *wanted)
{
    const double *f = p->figure;
    const figures is = {(int64_t)f[JOB_FAR_MESSAGES], (int64_t)f[JOB_MOST_SENT],
                        (int64_t)f[JOB_MOST_RECEIVED], (int64_t)f[JOB_MOST_POSTED],
                        (int64_t)f[JOB_MOST_BYTES] >> 10};
    bool equal = is.far == wanted->far && is.sent == wanted->sent &&
                 is.received == wanted->received && is.posted == wanted->posted &&
                 is.kib <= wanted->kib;
    printf("%sok - %s: %s\n", equal ? "" : "not ", name, job_phase_name[kind]);
    if (!equal)
        printf("# {%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "}\n", is.far,
               is.sent, is.received, is.posted, is.kib);
    return equal;
}

typedef struct whole_job {
    const char *name;
    int ranks, per_node;
    const char *shared_memory, *aggregators;
    void (*view)(int ranks, int rank, access_list *period);
    figures wanted[3];
} whole_job;

static bool run(const whole_job *job)
{
    static const char *parameter[PARAMETERS];
    static size_t node[MOST_RANKS];
    static access_list view[MOST_RANKS];
    const char *name = job->name;
    int ranks = job->ranks;
    topo nodes;
    topo_flat(&nodes, (size_t)(ranks / job->per_node));
    for (int i = 0; i < ranks; i++) {
        access_clear(&view[i]);
        job->view(ranks, i, &view[i]);
        node[i] = (size_t)(i / job->per_node);
    }
    parameter[PARAMETER_SHARED_MEMORY] = job->shared_memory;
    parameter[PARAMETER_NUM_AGGREGATORS] = job->aggregators;
    const job_settings settings = {
        .ranks = ranks,
        .node_of_rank = node,
        .machine = {&nodes, {1e10, 2e-6}, {2e9, 2e-6}, 8},
        .parameters = parameter,
        .view = view,
        .extent = (int64_t)ranks * BLOCK * BLOCK * BLOCK * ELEMENT,
    };
    job_phase phase[JOB_PHASES];
    char *failure = job_run(&settings, phase);
    bool is_good = failure == NULL;
    printf("%sok - %s: the job ends (%s)\n", is_good ? "" : "not ", name,
           is_good ? "no failure" : failure);
    free(failure);
    for (int k = JOB_OPEN; k <= JOB_SECOND_WRITE; k++)
        is_good &= has_figures(name, (enum job_phase_kind)k, &phase[k], &job->wanted[k]);
    return is_good;
}

int main(void)
{
    static const whole_job jobs[] = {
        /* clang-format off */
        {"1,024 ranks", 1024, 32, "true", NULL, view_cube,
         {{0, 0, 0, 0, 1080}, {796, 147, 241, 1, 1110}, {448, 46, 46, 1, 1160}}},
        {"1,024 nodes", 1024, 1, "true", NULL, view_cube,
         {{0, 0, 0, 0, 1090}, {79870, 90, 169, 31, 1260}, {46592, 46, 61, 31, 1260}}},
        {"1,024 ranks by messages", 1024, 32, "false", "4", view_cube,
         {{0, 0, 0, 0, 1080}, {4318, 93, 1136, 128, 8720}, {3136, 49, 811, 128, 8720}}},
        {"2,560 aggregators", 2560, 32, "true", "2560", view_cube,
         {{0, 0, 0, 0, 1080}, {2716, 203, 190, 1, 1360}, {1600, 52, 52, 1, 1310}}},
        {"pieces of 1,024 ranks", 1024, 4, "true", NULL, view_pieces,
         {{0, 0, 0, 0, 1090}, {134142, 194, 583, 128, 1380}, {65536, 84, 262, 128, 1340}}},
        /* the last, in `make check-long` only */
        {"16,384 ranks", 16384, 32, "true", NULL, view_cube,
         {{0, 0, 0, 0, 1100}, {30188, 641, 315, 1, 1160}, {13312, 58, 58, 1, 1160}}},
        /* clang-format on */
    };
    const char *level = getenv("CHECK_LEVEL");
    int count = sizeof jobs / sizeof *jobs - (level == NULL || strcmp(level, "full") != 0);
    bool is_good = true;
    for (int i = 0; i < count; i++)
        is_good &= run(&jobs[i]);
    printf("1..%d\n", 4 * count);
    return is_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
