/* SPDX-License-Identifier: BSD-3-Clause */
/* The flags of shared windows under real concurrency: ranks that share all of their windows are
 * threads, which run many exchanges at the same time and check every byte. For ThreadSanitizer,
 * which sees each access to windows and flags; the simulation interrupts ranks at calls only. */
#include "exchange/exchange.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 4, BYTES = 1 << 16, CYCLE = 1 << 10, BLOCK = 64, OWN = BYTES / RANKS, ROUNDS = 50 };

static char file[BYTES];
static pthread_barrier_t barrier;

static struct {
    file_domains domains;
    access_list list[RANKS];
    access_memory memory[RANKS];
    domain_share *share[RANKS];
    exchange_target target[RANKS][RANKS];
    exchange_contributor contributor[RANKS][RANKS];
    char data[RANKS][OWN];
    exchange_windows windows[RANKS];
    exchange_flags flags[RANKS][EXCHANGE_DEPTH];
    char window_data[RANKS][EXCHANGE_DEPTH][CYCLE];
} world;

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "threads: %s\n", what);
    exit(1);
}

/* ---- the file; no message is sent ---- */

static int write_file(void *context, const access_extent *extent, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        memcpy(file + extent[i].offset, extent[i].data, (size_t)extent[i].bytes);
    return 0;
}

static int read_file(void *context, int64_t offset, char *data, int64_t bytes, int64_t *done)
{
    (void)context;
    memcpy(data, file + offset, (size_t)bytes);
    *done = bytes;
    return 0;
}

static int give_way(void *context)
{
    (void)context;
    sched_yield();
    return 0;
}

static int lock_file(void *context, int64_t offset, int64_t bytes)
{
    (void)context, (void)offset, (void)bytes;
    return 0;
}

static int unlock_file(void *context)
{
    (void)context;
    return 0;
}

static const exchange_store store = {
    .write = write_file, .read = read_file, .lock = lock_file, .unlock = unlock_file};
static const exchange_transport transport = {.progress = give_way};

/* ---- the ranks: each owns a domain and has blocks in all of them ---- */

static void make_rank(int rank)
{
    size_t shares;
    const access_run run = {rank * BLOCK, BLOCK, RANKS * BLOCK, OWN / BLOCK, 0};
    int rc = access_append_run(&world.list[rank], &run);
    rc |= access_append_memory(&world.memory[rank].list, world.data[rank], OWN);
    rc |= domains_cut(&world.domains, &world.list[rank], false, &world.share[rank], &shares);
    must(rc == 0 && shares == RANKS, "no memory");
    for (int a = 0; a < RANKS; a++)
        world.windows[a] = (exchange_windows){world.flags[a], world.window_data[a][0], CYCLE};
    for (int a = 0; a < RANKS; a++) {
        const access_list *list = &world.share[rank][a].list;
        world.target[rank][a] = (exchange_target){.aggregator = a, .list = list};
        if (a != rank)
            world.target[rank][a].windows = world.windows[a];
        world.contributor[a][rank] =
            (exchange_contributor){.rank = rank, .shared = a != rank, .list = *list};
    }
}

static void fill(int rank, int round)
{
    for (int i = 0; i < OWN; i++)
        world.data[rank][i] = (char)(rank * 31 + round * 7 + i / 3);
}

static void run_both_ways(exchange *ex, int rank, int round)
{
    char expected[OWN];
    exchange_result result;
    exchange_run run = {
        .write = true, .memory = &world.memory[rank], .transport = &transport, .store = &store};
    fill(rank, round);
    memcpy(expected, world.data[rank], OWN);
    must(exchange_execute(ex, &run, &result) == 0 && result.moved == OWN, "a write fails");
    pthread_barrier_wait(&barrier);
    memset(world.data[rank], 0, OWN);
    run.write = false;
    must(exchange_execute(ex, &run, &result) == 0 && result.moved == OWN, "a read fails");
    must(memcmp(world.data[rank], expected, OWN) == 0, "a read returns other data");
    must(result.messages == 0, "a message was sent");
    pthread_barrier_wait(&barrier);
}

static void *run_rank(void *argument)
{
    int rank = (int)((char *)argument - file);
    const exchange_task task = {.rank = rank,
                                .layout.cycle_size = CYCLE,
                                .layout.num_cycles = OWN / CYCLE,
                                .layout.message_size = CYCLE,
                                .short_error = 1,
                                .targets = RANKS,
                                .contributors = RANKS,
                                .target = world.target[rank],
                                .layout.domains = &world.domains,
                                .layout.domain = (size_t)rank,
                                .contributor = world.contributor[rank],
                                .windows = world.windows[rank]};
    exchange_buffers *buffers = exchange_buffers_new();
    exchange *ex = exchange_new(&task);
    must(ex != NULL && buffers != NULL && exchange_reserve(ex, buffers) == 0, "no memory");
    pthread_barrier_wait(&barrier);
    for (int round = 0; round < ROUNDS; round++)
        run_both_ways(ex, rank, round);
    exchange_free(ex);
    exchange_buffers_free(buffers);
    return NULL;
}

int main(void)
{
    pthread_t thread[RANKS];
    must(pthread_barrier_init(&barrier, NULL, RANKS) == 0, "no barrier");
    must(domains_even(&world.domains, 0, BYTES, RANKS, 1) == 0, "no memory");
    for (int rank = 0; rank < RANKS; rank++)
        make_rank(rank);
    for (int rank = 0; rank < RANKS; rank++)
        must(pthread_create(&thread[rank], NULL, run_rank, file + rank) == 0, "no thread");
    for (int rank = 0; rank < RANKS; rank++)
        pthread_join(thread[rank], NULL);
    for (int rank = 0; rank < RANKS; rank++) {
        access_release(&world.list[rank]);
        access_release(&world.memory[rank].list);
        domains_free_shares(world.share[rank], RANKS);
    }
    domains_release(&world.domains);
    printf("%d runs of %d threads\n", 2 * ROUNDS, RANKS);
    return 0;
}
