/* SPDX-License-Identifier: BSD-3-Clause */
/* scene: what the ranks do with a file while one of them has a fault, and afterwards.
 *
 * A part is a few collective calls. All of its outcomes are right or not by the same rules: every
 * call succeeds with the right bytes on all ranks, or has the same error class on all ranks, and
 * then the file can be written and read. */
#ifndef TESTS_FAULTS_SCENE_H
#define TESTS_FAULTS_SCENE_H

#include "mpi/conformance.h"

struct scene {
    MPI_Comm all;       /* in an order that never changes */
    struct test *t;     /* of the part: its ranks, its file, what was found */
    struct test kept;   /* of the file that is open all the time ... */
    MPI_File kept_file; /* ... MPI_FILE_NULL: not open */
    int kept_hints;     /* with which it was opened */
    struct test fresh; /* of a file that is opened by a part, by ranks in another order each time */
    MPI_File fresh_file;
    int order; /* of the ranks of the last fresh file */
    int round; /* of accesses, each with another shape and other contents */
    int error; /* class of the part's first error; MPI_SUCCESS: none */
};

struct part {
    const char *name;
    enum { OPEN, CLOSE, WRITE, REWRITE, READ } action;
    enum kind kind;
    enum pattern { STRIDED, APART, SPARSE, LARGE } pattern;
    enum hints { AGGREGATED, INDEPENDENT, AUTOMATIC } hints;
};
extern const struct part parts[]; /* ends with a name NULL */

enum { SCENE_MOST_FILES = 32 };

/* Files go to `dir`. Collective, as all that follows. */
void scene_begin(struct scene *s, MPI_Comm all, const char *dir);
void scene_end(struct scene *s);

/* Before the fault, with it, and after it; s->t->failure has the first thing found wrong. */
void scene_prepare(struct scene *s, const struct part *part);
void scene_act(struct scene *s, const struct part *part);
void scene_recover(struct scene *s, const struct part *part);
/* Forgets the file that is open all the time, which may be unusable. */
void scene_restart(struct scene *s);
/* So many files, at most SCENE_MOST_FILES, are open at the same time: afterwards the lists of what
 * the component keeps of closed files, which faults may have emptied, are full. */
void scene_fill(struct scene *s, int files);

#endif
