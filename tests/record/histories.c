/* SPDX-License-Identifier: BSD-3-Clause */
/* Histories of several writers of one record, in orders that seeds determine. A failure prints the
 * command that repeats it. */
#include "history.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/seeded.h"

enum { HANG_SECONDS = 300, MOST_STEPS = 1000000, LONGEST_BURST = 60 };

struct options {
    uint64_t histories, seed;
};

struct totals {
    uint64_t writers, killed, steps, versions, left;
};

/* ---- one history ---- */

static void draw_history(struct history *h, uint64_t seed, uint64_t *state)
{
    memset(h, 0, sizeof *h);
    h->seed = *state = seed;
    h->writers = (int)pick(state, 2, WRITERS);
    int runs = (int)pick(state, 1, RUNS);
    for (int r = 0; r < RUNS; r++)
        h->ranks[r] = 2 + (pick(state, 0, 3) == 0);
    for (int w = 0; w < h->writers; w++) {
        h->writer[w].run = (int)pick(state, 0, runs - 1);
        h->writer[w].additions = (int)pick(state, 1, ADDITIONS);
    }
}

/* Waits until the writer that runs stops before a call, or ends. */
static void wait_for_stop(struct history *h)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += HANG_SECONDS;
    while (sem_timedwait(&h->stopped, &end) != 0) {
        if (errno == EINTR)
            continue;
        printf("Bail out! a writer of the history of --seed=%" PRIu64 " hangs\n", h->seed);
        exit(1);
    }
}

static void start_writer(struct history *h, int writer)
{
    fflush(NULL);
    pid_t process = fork();
    if (process == 0)
        run_writer(h, writer);
    h->writer[writer].process = process;
    wait_for_stop(h);
}

static bool is_alive(const struct writer *w)
{
    return w->process > 0 && !w->done && !w->killed;
}

static void end_writer(struct writer *w, bool by_kill)
{
    if (by_kill)
        kill(w->process, SIGKILL);
    w->killed = by_kill;
    waitpid(w->process, NULL, 0);
}

/* Lets a writer go on for some calls, or kills it. kills: one of that number of bursts; 0: none. */
static uint64_t run_burst(struct history *h, struct writer *w, int64_t kills, uint64_t *state)
{
    int64_t steps = pick(state, 1, pick(state, 1, LONGEST_BURST));
    bool is_last = kills > 0 && pick(state, 1, kills) == 1;
    for (int64_t i = 0; i < steps && !w->done; i++) {
        sem_post(&w->go);
        wait_for_stop(h);
    }
    if (w->done || is_last)
        end_writer(w, !w->done);
    return (uint64_t)steps;
}

/* The writers from `first` on, to their ends. Returns the number of calls. */
static uint64_t run_writers(struct history *h, int first, int end, int64_t kills, uint64_t *state)
{
    uint64_t steps = 0;
    int alive = end - first;
    for (int w = first; w < end; w++)
        start_writer(h, w);
    while (alive > 0 && steps < MOST_STEPS) {
        int w = (int)pick(state, first, end - 1);
        if (!is_alive(&h->writer[w]))
            continue;
        steps += run_burst(h, &h->writer[w], kills, state);
        alive -= !is_alive(&h->writer[w]);
    }
    for (int w = first; w < end; w++)
        if (is_alive(&h->writer[w])) {
            h->writer[w].failure = "there is no end";
            end_writer(&h->writer[w], true);
        }
    return steps;
}

/* Whether there was a file beside the record and those that are kept. */
static bool remove_files(const struct history *h)
{
    char path[512];
    bool other = false;
    DIR *stream = opendir(h->dir);
    name_record(h, path, sizeof path);
    unlink(path);
    for (const struct dirent *entry = readdir(stream); entry != NULL; entry = readdir(stream)) {
        snprintf(path, sizeof path, "%s/%s", h->dir, entry->d_name);
        bool is_kept = path[strlen(path) - 1] == '~';
        other = (unlink(path) == 0 && !is_kept) || other;
    }
    closedir(stream);
    rmdir(h->dir);
    return other;
}

static void make_dir(char dir[64])
{
    const char *folder = getenv("TMPDIR");
    snprintf(dir, 64, "%s/histories.XXXXXX",
             folder != NULL && strlen(folder) < 40 ? folder : "/tmp");
    if (mkdtemp(dir) == NULL) {
        printf("Bail out! %s: %s\n", dir, strerror(errno));
        exit(1);
    }
}

static void add_to_totals(struct totals *t, const struct history *h)
{
    t->writers += (uint64_t)h->writers;
    for (int w = 0; w < h->writers; w++)
        t->killed += h->writer[w].killed;
    for (int i = 0; i < h->events; i++)
        t->versions += h->event[i].kind == REPLACED;
}

/* Returns what is wrong, or NULL. */
static const char *run_history(struct history *h, uint64_t seed, struct totals *t)
{
    uint64_t state;
    draw_history(h, seed, &state);
    make_dir(h->dir);
    sem_init(&h->stopped, 1, 0);
    for (int w = 0; w < h->writers; w++)
        sem_init(&h->writer[w].go, 1, 0);
    /* Of three histories one begins with a record of a run that has ended. */
    int first = pick(&state, 1, 3) == 1;
    int64_t kills = pick(&state, 0, 2) * 20;
    if (first > 0)
        t->steps += run_writers(h, 0, first, 0, &state);
    t->steps += run_writers(h, first, h->writers, kills, &state);
    uint64_t killed = t->killed;
    add_to_totals(t, h);
    const char *wrong = check_history(h);
    bool left = remove_files(h);
    t->left += left;
    if (wrong == NULL && left && t->killed == killed)
        wrong = "a file is left, and no writer was killed";
    return wrong;
}

/* ---- the program ---- */

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'n': o->histories = strtoull(text, NULL, 10); break;
    case 's': o->seed = strtoull(text, NULL, 10); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp_option table[] = {
        {"histories", 'n', "N", 0, "How many (200)", 0},
        {"seed", 's', "S", 0, "Seed of the first one, others follow (1, or of TEST_SEED)", 0},
        {0},
    };
    static const struct argp parser = {
        table, parse_option, NULL, "Writers of one record, in random orders.", NULL, NULL, NULL};
    struct options o = {random_cases(200), first_seed()};
    struct totals t = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    struct history *h =
        mmap(NULL, sizeof *h, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (h == MAP_FAILED)
        return EXIT_FAILURE;
    const char *wrong = NULL;
    uint64_t seed = o.seed;
    for (; seed < o.seed + o.histories && wrong == NULL; seed++)
        wrong = run_history(h, seed, &t);
    if (wrong != NULL)
        printf("# %s: %s --histories=1 --seed=%" PRIu64 "\n", wrong, argv[0], seed - 1);
    printf("# %" PRIu64 " writers, %" PRIu64 " killed, %" PRIu64 " system calls in turn, %" PRIu64
           " versions, %" PRIu64 " files left\n",
           t.writers, t.killed, t.steps, t.versions, t.left);
    printf("1..1\n%sok 1 - %" PRIu64 " histories of a record, each as if its writers took turns\n",
           wrong != NULL ? "not " : "", seed - o.seed);
    return wrong != NULL ? EXIT_FAILURE : EXIT_SUCCESS;
}
