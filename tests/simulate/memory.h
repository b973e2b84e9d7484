/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The memory of ranks: programs are linked with --wrap for malloc and its family.
 */
#ifndef SIMULATE_MEMORY_H
#define SIMULATE_MEMORY_H

#include <stddef.h>

struct sim_rank;

/* What is allocated from now on counts as this rank's; NULL: is not counted. */
void sim_memory_of(struct sim_rank *r);
/* Frees what is left, and returns the number of its parts. */
int sim_memory_left(void);

/* Memory that is not counted. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);

#endif
