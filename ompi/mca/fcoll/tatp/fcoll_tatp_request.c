/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking collective calls: MPI_File_iwrite_all and its family, and the split ones.
 *
 * Such a call runs the code of the blocking one on a stack of its own. It leaves that stack
 * wherever it would wait, and Open MPI's progress enters it again when it can continue. The calls
 * on a file run one after another in the order of their start, which is the same on all ranks, so
 * that their messages and reductions cannot meet each other's. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_comm.h"
#include "opal/runtime/opal_progress.h"
#include "ompi/compat/compat.h"

/* ThreadSanitizer must know of stacks that are not a thread's. */
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#else
#define __tsan_create_fiber(flags) NULL
#define __tsan_destroy_fiber(fiber) ((void)(fiber))
#define __tsan_get_current_fiber() NULL
#define __tsan_switch_to_fiber(fiber, flags) ((void)(fiber))
#endif

/* For Open MPI's transports below our own few frames; only what is touched becomes memory. */
#define STACK_BYTES ((size_t)1 << 20)

/* A stack, kept for later calls, with a guard page below it. */
typedef struct fiber {
    struct fiber *next;
    char *stack;
    ucontext_t inside, outside;
    void *tsan_inside, *tsan_outside;
} fiber;

/* What the user holds. `super` comes first: Open MPI sees nothing else. */
struct tatp_request {
    ompi_request_t super;
    struct tatp_request *next; /* of the same queue, started later */
    int (*run)(void *call, ompi_status_public_t *status);
    void (*release)(void *call);
    void *call;
    fiber *fiber;
    ompi_request_t *awaited; /* NULL if the call polls */
    bool begun, ended;
};

static void construct_request(tatp_request *request);
static void destruct_request(tatp_request *request);
OBJ_CLASS_DECLARATION(tatp_request);
OBJ_CLASS_INSTANCE(tatp_request, ompi_request_t, construct_request, destruct_request);

/* Queues that are not empty, and idle stacks; modified with the lock held. */
static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static _Atomic(tatp_queue *) busy_queues;
static fiber *idle_fibers;
static bool progress_registered;

/* Held by the thread that runs calls: one at a time, and never one inside another. */
static atomic_flag entered = ATOMIC_FLAG_INIT;

/* ---- stacks ---- */

static fiber *new_fiber(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    fiber *f = calloc(1, sizeof *f);
    if (NULL == f)
        return NULL;
    void *stack = mmap(NULL, STACK_BYTES + page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (MAP_FAILED == stack || 0 != mprotect(stack, page, PROT_NONE)) {
        if (MAP_FAILED != stack)
            munmap(stack, STACK_BYTES + page);
        free(f);
        return NULL;
    }
    f->stack = stack;
    f->tsan_inside = __tsan_create_fiber(0);
    return f;
}

static fiber *acquire_fiber(void)
{
    OPAL_THREAD_LOCK(&lock);
    fiber *f = idle_fibers;
    if (NULL != f)
        idle_fibers = f->next;
    OPAL_THREAD_UNLOCK(&lock);
    return NULL != f ? f : new_fiber();
}

static void release_fiber(fiber *f)
{
    OPAL_THREAD_LOCK(&lock);
    f->next = idle_fibers;
    idle_fibers = f;
    OPAL_THREAD_UNLOCK(&lock);
}

/* ---- the request ---- */

static int free_handle(ompi_request_t **request)
{
    OBJ_RELEASE(*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

/* A collective operation cannot be cancelled. */
static int cancel_handle(ompi_request_t *request, int flag)
{
    (void)request;
    (void)flag;
    return OMPI_SUCCESS;
}

static void construct_request(tatp_request *request)
{
    ompi_request_t *super = &request->super;
    OMPI_REQUEST_INIT(super, false);
    super->req_type = OMPI_REQUEST_IO;
    super->req_free = free_handle;
    super->req_cancel = cancel_handle;
    super->req_status = ompi_status_empty;
    request->next = NULL;
    request->call = NULL;
    request->fiber = NULL;
    request->awaited = NULL;
    request->begun = request->ended = false;
}

static void destruct_request(tatp_request *request)
{
    OMPI_REQUEST_FINI(&request->super);
}

tatp_request *tatp_request_new(int (*run)(void *call, ompi_status_public_t *status),
                               void (*release)(void *call), void *call)
{
    tatp_request *request = OBJ_NEW(tatp_request);
    if (NULL == request)
        return NULL;
    request->fiber = acquire_fiber();
    if (NULL == request->fiber) {
        OBJ_RELEASE(request);
        return NULL;
    }
    request->run = run;
    request->release = release;
    request->call = call;
    return request;
}

void tatp_request_free(tatp_request *request)
{
    if (NULL == request)
        return;
    release_fiber(request->fiber);
    request->release(request->call);
    OBJ_RELEASE(request);
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

bool tatp_queue_is_running(const tatp_queue *queue)
{
    return NULL != queue->running;
}

void tatp_queue_pause(tatp_queue *queue, ompi_request_t *awaited)
{
    tatp_request *request = queue->running;
    request->awaited = awaited;
    leave_stack(request->fiber);
    request->awaited = NULL;
}

/* makecontext passes integers only. */
static void run_on_fiber(unsigned int high, unsigned int low)
{
    tatp_request *request = (tatp_request *)(uintptr_t)((uint64_t)high << 32 | (uint64_t)low);
    int rc = request->run(request->call, &request->super.req_status);
    request->super.req_status.MPI_ERROR = tatp_error_class(rc);
    request->ended = true;
    leave_stack(request->fiber);
}

static void begin_on_fiber(tatp_request *request)
{
    uint64_t address = (uint64_t)(uintptr_t)request;
    fiber *f = request->fiber;
    getcontext(&f->inside);
    f->inside.uc_stack.ss_sp = f->stack + sysconf(_SC_PAGESIZE);
    f->inside.uc_stack.ss_size = STACK_BYTES;
    f->inside.uc_link = NULL;
    makecontext(&f->inside, (void (*)(void))run_on_fiber, 2, (unsigned int)(address >> 32),
                (unsigned int)address);
    request->begun = true;
}

static void remove_busy(const tatp_queue *queue)
{
    tatp_queue *before = busy_queues;
    if (before == queue) {
        busy_queues = queue->next_busy;
        return;
    }
    while (before->next_busy != queue)
        before = before->next_busy;
    before->next_busy = queue->next_busy;
}

/* Takes the first request out of its queue, and an empty queue out of the list. */
static void remove_first(tatp_queue *queue)
{
    OPAL_THREAD_LOCK(&lock);
    tatp_request *second = queue->first->next;
    if (NULL == second)
        remove_busy(queue);
    queue->first = second;
    OPAL_THREAD_UNLOCK(&lock);
}

/* Runs the first call of a queue until it waits or ends; 1 if it ended. */
static int resume_first(tatp_queue *queue)
{
    tatp_request *request = queue->first;
    tatp_comm_check_loss((tatp_comm *)((char *)queue - offsetof(tatp_comm, queue)));
    if (NULL != request->awaited && !compat_is_complete(request->awaited))
        return 0;
    if (!request->begun)
        begin_on_fiber(request);
    queue->running = request;
    enter_stack(request->fiber);
    queue->running = NULL;
    if (!request->ended)
        return 0;
    remove_first(queue);
    ompi_request_complete(&request->super, true);
    tatp_request_free(request);
    return 1;
}

/* New queues come to the front of the list, and only this function takes one out. */
static int progress_queues(void)
{
    int completed = 0;
    if (NULL == busy_queues || atomic_flag_test_and_set(&entered))
        return 0;
    for (tatp_queue *queue = busy_queues, *next; NULL != queue; queue = next) {
        next = queue->next_busy;
        completed += resume_first(queue);
    }
    atomic_flag_clear(&entered);
    return completed;
}

/* ---- queues ---- */

static void append_to_queue(tatp_queue *queue, tatp_request *request)
{
    bool is_first_ever;
    OPAL_THREAD_LOCK(&lock);
    tatp_request *last = queue->first;
    while (NULL != last && NULL != last->next)
        last = last->next;
    if (NULL != last) {
        last->next = request;
    } else {
        queue->first = request;
        queue->next_busy = busy_queues;
        busy_queues = queue;
    }
    is_first_ever = !progress_registered;
    progress_registered = true;
    OPAL_THREAD_UNLOCK(&lock);
    if (is_first_ever)
        opal_progress_register(progress_queues);
}

void tatp_request_start(tatp_comm *comm, struct ompi_file_t *file, tatp_request *request,
                        ompi_request_t **handle)
{
    request->super.req_state = OMPI_REQUEST_ACTIVE;
    request->super.req_mpi_object.file = file;
    OBJ_RETAIN(request); /* one reference is the user's, one the queue's */
    *handle = &request->super;
    append_to_queue(&comm->queue, request);
    (void)progress_queues();
}

void tatp_requests_finish(const tatp_comm *comm)
{
    while (NULL != comm->queue.first)
        opal_progress();
}

void tatp_requests_release(void)
{
    if (progress_registered)
        opal_progress_unregister(progress_queues);
    progress_registered = false;
    while (NULL != idle_fibers) {
        fiber *f = idle_fibers;
        idle_fibers = f->next;
        munmap(f->stack, STACK_BYTES + (size_t)sysconf(_SC_PAGESIZE));
        __tsan_destroy_fiber(f->tsan_inside);
        free(f);
    }
}
