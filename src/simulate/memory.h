/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of ranks, of which all are in one process: programs are linked with --wrap for malloc
 * and its family.
 */
#ifndef SIMULATE_MEMORY_H
#define SIMULATE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A rank's. */
typedef struct sim_account {
    int64_t bytes, most; /* that it has, and has had */
    /* Decides for a test whether an allocation fails, or NULL. Freed memory then changes. */
    bool (*fails)(struct sim_account *account);
} sim_account;

/* What is allocated from now on counts as this one's; NULL: is not counted. */
void sim_memory_of(sim_account *account);
/* The present account has so many bytes more, or less, of which only the number matters. */
void sim_memory_add(int64_t bytes);
/* Frees what is left of all accounts, and returns the number of its parts. */
size_t sim_memory_left(void);

/* Memory of the simulation, which is not counted: zeroed, or what it was, with another size. Where
 * there is none, the program ends. It is freed by free or __real_free, which is faster. */
void *sim_zeroed(size_t count, size_t size);
void *sim_resized(void *memory, size_t size);
void __real_free(void *memory);

#endif
