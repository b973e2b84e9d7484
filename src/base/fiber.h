/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls that run on stacks of their own, which they leave wherever they would wait.
 *
 * Calls of a queue run one after another, in the order of their start. Queues take turns: progress
 * enters the first call of each where it can continue, in one thread at a time, and never one call
 * inside another.
 */
#ifndef BASE_FIBER_H
#define BASE_FIBER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct fiber_call {
    _Atomic(struct fiber_call *) next; /* of the same queue, started later */
    struct fiber *fiber;
    void (*run)(struct fiber_call *call); /* on its stack */
    /* Runs then, on another one. The call is in no queue any more, and may be freed. */
    void (*end)(struct fiber_call *call);
    bool has_ended;
} fiber_call;

/* Zero at first, but for is_ready. */
typedef struct fiber_queue {
    /* Whether its first call can begin or continue; NULL: always. */
    bool (*is_ready)(struct fiber_queue *queue);
    _Atomic(fiber_call *) first;
    fiber_call *last;    /* where it is not empty */
    fiber_call *running; /* the first one, while it has the processor */
    _Atomic(struct fiber_queue *) next_busy;
} fiber_queue;

/* The queues of a process that are not empty, and idle stacks; modified with the lock held. */
typedef struct fiber_pool {
    pthread_mutex_t lock;
    _Atomic(fiber_queue *) busy;
    struct fiber *idle;
    atomic_flag entered; /* by the thread that runs calls */
} fiber_pool;

#define FIBER_POOL_INIT                                                                            \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, NULL, NULL, ATOMIC_FLAG_INIT                                    \
    }

/* Acquires a stack for a call, which is zeroed but for its functions. False if memory is exhausted.
 */
bool fiber_reserve(fiber_pool *pool, fiber_call *call);
/* The call was not started. */
void fiber_unreserve(fiber_pool *pool, const fiber_call *call);
/* Puts a call, which has a stack, behind the others of the queue; progress will begin it. */
void fiber_start(fiber_pool *pool, fiber_queue *queue, fiber_call *call);
/* Returns how many calls have ended. */
int fiber_progress(fiber_pool *pool);
/* Frees idle stacks, when no queue is busy. */
void fiber_pool_release(fiber_pool *pool);

/* Whether a call of this queue runs, in any thread: the caller's, as calls of others wait first. */
static inline bool fiber_is_running(const fiber_queue *queue)
{
    return queue->running != NULL;
}

/* Leaves its stack until progress finds the queue ready. */
void fiber_pause(const fiber_queue *queue);

#endif
