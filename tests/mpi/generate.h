/* SPDX-License-Identifier: BSD-3-Clause */
/* generate: random etypes, file views and memory types, and the run of random cases that use them.
 * The same seed gives the same types on every rank. */
#ifndef TESTS_MPI_GENERATE_H
#define TESTS_MPI_GENERATE_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "layout.h"

struct rng {
    uint64_t state;
};

uint64_t rng_mix(uint64_t a, uint64_t b);
uint64_t rng_next(struct rng *r);
int rng_below(struct rng *r, int n);               /* 0 .. n - 1 */
int rng_between(struct rng *r, int low, int high); /* low .. high */
bool rng_chance(struct rng *r, int percent);

/* What one rank sees of the file. Data byte q of the view lies at disp + the place of
 * byte q in an endless row of `file`. */
struct view {
    struct layout etype, file;
    int64_t disp;
};

void view_free(struct view *v);

/* One view a rank, all of one tile cut among the ranks: no two share a byte, pieces of
 * different ranks interleave. Some ranks may get a view of size zero. */
void generate_tiled(struct rng *r, int ranks, struct view *view);

/* One view a rank, each of any type; rank i's is [base, base + span) for its first
 * `etypes` etypes, spans one after another, so that no two share a byte. */
void generate_regions(struct rng *r, int ranks, int64_t etypes, struct view *view);

/* As above, but all of them begin near the same place. */
void generate_overlapping(struct rng *r, int ranks, struct view *view);

/* What MPI_File_open leaves: bytes from 0. */
void generate_default(int ranks, struct view *view);

/* A memory type whose data are `*etypes` etypes of the view and which may be used up to
 * `*most` times in a row without overlapping itself. */
struct layout generate_memory(struct rng *r, const struct layout *etype, int *etypes, int *most);

/* --- programs of random cases. A failure prints the command that replays it --- */

struct cases {
    const char *program, *command; /* its name, and what mpirun gets to replay a case */
    uint64_t seed;
    int first, cases;
    int large; /* per cent of the cases */
    int forms; /* of a call: 1 to 3; 4: all of them, by several threads */
    const char *dir;
};
/* The options of all these programs. Their input is a struct cases, with defaults for all but
 * `dir`. */
extern const struct argp_child cases_options[];

enum { FAILURE_ROOM = 256 };
/* Runs the cases until one puts what it found into `failure` on any rank. Returns the exit status.
 * Collective. */
int cases_run(const struct cases *c,
              void (*run)(const struct cases *c, int number, char failure[FAILURE_ROOM]));

/* A hint; 0: none. */
void set_number(MPI_Info info, const char *key, int64_t number);

#endif
