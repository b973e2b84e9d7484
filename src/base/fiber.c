/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "base/fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* ThreadSanitizer must know of stacks that are not a thread's. */
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#else
#define __tsan_create_fiber(flags) NULL
#define __tsan_destroy_fiber(fiber) ((void)(fiber))
#define __tsan_get_current_fiber() NULL
#define __tsan_switch_to_fiber(fiber, flags) ((void)(fiber))
#endif

/* An MPI's transports run below our own few frames; only what is touched becomes memory. */
#define STACK_BYTES ((size_t)1 << 20)

/* A stack, kept for later calls, with a guard page below it. */
typedef struct fiber {
    struct fiber *next;
    char *stack;
    ucontext_t inside, outside;
    void *tsan_inside, *tsan_outside;
} fiber;

/* ---- stacks ---- */

static fiber *new_fiber(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fiber *f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    void *stack = mmap(NULL, STACK_BYTES + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, page, PROT_NONE) != 0) {
        if (stack != MAP_FAILED)
            munmap(stack, STACK_BYTES + page);
        free(f);
        return NULL;
    }
    f->stack = stack;
    f->tsan_inside = __tsan_create_fiber(0);
    return f;
}

bool fiber_reserve(fiber_pool *pool, fiber_call *call)
{
    pthread_mutex_lock(&pool->lock);
    fiber *f = pool->idle;
    if (f != NULL)
        pool->idle = f->next;
    pthread_mutex_unlock(&pool->lock);
    call->fiber = f != NULL ? f : new_fiber();
    return call->fiber != NULL;
}

void fiber_unreserve(fiber_pool *pool, const fiber_call *call)
{
    pthread_mutex_lock(&pool->lock);
    call->fiber->next = pool->idle;
    pool->idle = call->fiber;
    pthread_mutex_unlock(&pool->lock);
}

void fiber_pool_release(fiber_pool *pool)
{
    while (pool->idle != NULL) {
        fiber *f = pool->idle;
        pool->idle = f->next;
        munmap(f->stack, STACK_BYTES + (size_t)sysconf(_SC_PAGESIZE));
        __tsan_destroy_fiber(f->tsan_inside);
        free(f);
    }
}

/* ---- on and off the stack ---- */

static void enter_stack(fiber *f)
{
    f->tsan_outside = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(f->tsan_inside, 0);
    swapcontext(&f->outside, &f->inside);
}

static void leave_stack(fiber *f)
{
    __tsan_switch_to_fiber(f->tsan_outside, 0);
    swapcontext(&f->inside, &f->outside);
}

void fiber_pause(const fiber_queue *queue)
{
    leave_stack(queue->running->fiber);
}

/* makecontext passes integers only. */
static void run_on_fiber(unsigned int high, unsigned int low)
{
    fiber_call *call = (fiber_call *)(uintptr_t)((uint64_t)high << 32 | (uint64_t)low);
    call->run(call);
    call->has_ended = true;
    leave_stack(call->fiber);
}

static void prepare_stack(fiber_call *call)
{
    uint64_t address = (uint64_t)(uintptr_t)call;
    fiber *f = call->fiber;
    getcontext(&f->inside);
    f->inside.uc_stack.ss_sp = f->stack + sysconf(_SC_PAGESIZE);
    f->inside.uc_stack.ss_size = STACK_BYTES;
    f->inside.uc_link = NULL;
    makecontext(&f->inside, (void (*)(void))run_on_fiber, 2, (unsigned int)(address >> 32),
                (unsigned int)address);
}

/* ---- queues ---- */

void fiber_start(fiber_pool *pool, fiber_queue *queue, fiber_call *call)
{
    prepare_stack(call);
    pthread_mutex_lock(&pool->lock);
    if (queue->first != NULL) {
        queue->last->next = call;
    } else {
        queue->first = call;
        queue->next_busy = pool->busy;
        pool->busy = queue;
    }
    queue->last = call;
    pthread_mutex_unlock(&pool->lock);
}

/* Takes the first call out of its queue, and an empty queue out of the list. */
static void remove_first(fiber_pool *pool, fiber_queue *queue)
{
    pthread_mutex_lock(&pool->lock);
    fiber_call *second = queue->first->next;
    _Atomic(fiber_queue *) *at = &pool->busy;
    while (second == NULL && *at != queue)
        at = &(*at)->next_busy;
    if (second == NULL)
        *at = queue->next_busy;
    queue->first = second;
    pthread_mutex_unlock(&pool->lock);
}

/* Runs the first call of a queue until it waits or ends; 1 if it ended. */
static int resume_first(fiber_pool *pool, fiber_queue *queue)
{
    fiber_call *call = queue->first;
    if (queue->is_ready != NULL && !queue->is_ready(queue))
        return 0;
    queue->running = call;
    enter_stack(call->fiber);
    queue->running = NULL;
    if (!call->has_ended)
        return 0;
    remove_first(pool, queue);
    fiber_unreserve(pool, call);
    call->end(call);
    return 1;
}

/* New queues come to the front of the list, and only this function takes one out. */
int fiber_progress(fiber_pool *pool)
{
    int ended = 0;
    if (pool->busy == NULL || atomic_flag_test_and_set(&pool->entered))
        return 0;
    for (fiber_queue *queue = pool->busy, *next; queue != NULL; queue = next) {
        next = queue->next_busy;
        ended += resume_first(pool, queue);
    }
    atomic_flag_clear(&pool->entered);
    return ended;
}
