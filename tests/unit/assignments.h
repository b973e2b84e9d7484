/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Random assignment problems whose costs have some structure, and what must hold of solutions.
 */
#ifndef TESTS_ASSIGNMENTS_H
#define TESTS_ASSIGNMENTS_H

#include "base/arena.h"
#include "lap/lap.h"

#include <stdbool.h>

/* What the costs of rows and columns have in common. Rows and columns have places on lines. */
enum structure {
    UNIFORM,
    TIES,
    EQUAL,
    SQUARE,    /* of the difference of the places */
    GEOMETRIC, /* the distance in a plane */
    PRODUCT,   /* of the places */
    HOPS,      /* 0 or 2, by node */
    BLOCKS,    /* 15 columns are cheap on the same 16 rows */
    STEPS,     /* column j is expensive beyond row j + 1 */
    DIAGONAL,  /* row j and column j are the cheapest ones of each other, but for some */
    STRUCTURES
};

/* What is done to the costs of a structure. */
enum change {
    NO_CHANGE,
    NEGATED,
    WEIGHTED_ROWS,
    ONE_CHEAP,
    ONE_FORBIDDEN,
    SOME_FORBIDDEN,
    MOST_FORBIDDEN,
    EMPTY_COLUMN, /* without any pair that is allowed */
    LARGEST,      /* costs up to the limit */
    CHANGES
};

/* Integers as real costs, integers, and tenths. */
enum form { REAL, INTEGER, TENTHS, FORMS };

struct shape {
    size_t rows, cols;
    int64_t listed; /* percent of the pairs; 0: the problem is dense */
};

/* An array of a solution, and a copy. */
struct output {
    void *array, *copy;
    size_t bytes;
};
enum { OUTPUTS = 5 };

struct assignment {
    lap_problem problem;
    lap_solution solution;
    enum structure structure;
    enum change change;
    struct shape shape;
    int64_t *value;  /* of column j on row i: value[j * rows + i]; LAP_FORBIDDEN */
    int64_t largest; /* magnitude of a value */
    int64_t factor;  /* integer costs are values times this */
    size_t *start, *row, pairs;
    size_t *value_of; /* by pair: an index of value[] */
    double *cost;
    int64_t *integer_cost;
    bool feasible, infeasible; /* neither: not known */
    struct output output[OUTPUTS];
    struct base_arena arena;
};

extern const char *const structure_names[STRUCTURES];

/* Equal seeds give equal problems. */
void draw_assignment(struct assignment *a, enum structure structure, enum change change,
                     const struct shape *shape, uint64_t seed);
/* With a shape, mostly a small one, and a change at random. */
void draw_any(struct assignment *a, enum structure structure, uint64_t seed);
void release_assignment(struct assignment *a);

/* Writes the costs in this form. */
void choose_form(struct assignment *a, enum form form);

/* Fills the solution with values that no solver writes; whether it still has them. */
void mark_solution(struct assignment *a);
bool is_marked(const struct assignment *a);

/* Solves the problem in all forms, and its transpose, by all solvers; where it is large, by the
 * default one. They must find the same, and prove it; for small problems, what brute force finds.
 * Returns NULL, or what is wrong. */
const char *find_fault(struct assignment *a);

#endif
