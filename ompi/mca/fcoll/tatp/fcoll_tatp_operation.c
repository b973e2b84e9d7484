/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls that do not block: MPI_File_iwrite_all and its family, and the split ones.
 *
 * Such a call runs the code of the blocking one, on a stack of its own that it leaves wherever it
 * would wait, and that Open MPI's progress enters again when it can go on. The calls on a file run
 * one after another in the order in which they were made, which is the same on all ranks, so that
 * their messages and reductions cannot meet each other's. */
#include "fcoll_tatp.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "ompi/mca/pml/pml.h"
#include "ompi/request/request.h"
#include "opal/runtime/opal_progress.h"

/* Room for Open MPI's transports below our own few frames; only what is touched is memory. */
#define STACK_BYTES ((size_t)1 << 20)

/* Kept for later calls, with a page below it that nobody may touch. */
typedef struct fiber {
    struct fiber *next;
    char *stack;
    ucontext_t inside, outside;
} fiber;

/* What the user holds. `request` comes first: Open MPI sees nothing else. */
struct tatp_operation {
    ompi_request_t request;
    struct tatp_operation *next; /* of the same file, made later */
    tatp_call *call;
    fiber *fiber;
    ompi_request_t *awaited; /* NULL: it wants to look around by itself */
    bool begun, ended;
};

static void construct(tatp_operation *operation);
static void destruct(tatp_operation *operation);
OBJ_CLASS_DECLARATION(tatp_operation);
OBJ_CLASS_INSTANCE(tatp_operation, ompi_request_t, construct, destruct);

/* Files with operations, and stacks that wait; guarded by a lock of their own, which is taken while
 * the component's is held. */
static opal_mutex_t lock = OPAL_MUTEX_STATIC_INIT;
static tatp_module *busy_modules;
static fiber *idle_fibers;
static bool progress_registered;

/* Whoever has it runs operations: one at a time, and never one inside another. */
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
    if (stack == MAP_FAILED || mprotect(stack, page, PROT_NONE) != 0) {
        if (stack != MAP_FAILED)
            munmap(stack, STACK_BYTES + page);
        free(f);
        return NULL;
    }
    f->stack = stack;
    return f;
}

static void free_fiber(fiber *f)
{
    munmap(f->stack, STACK_BYTES + (size_t)sysconf(_SC_PAGESIZE));
    free(f);
}

static fiber *take_fiber(void)
{
    OPAL_THREAD_LOCK(&lock);
    fiber *f = idle_fibers;
    if (NULL != f)
        idle_fibers = f->next;
    OPAL_THREAD_UNLOCK(&lock);
    return NULL != f ? f : new_fiber();
}

static void put_back_fiber(fiber *f)
{
    OPAL_THREAD_LOCK(&lock);
    f->next = idle_fibers;
    idle_fibers = f;
    OPAL_THREAD_UNLOCK(&lock);
}

/* ---- the request ---- */

static int free_request(ompi_request_t **request)
{
    OBJ_RELEASE(*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

/* A collective operation cannot be taken back. */
static int cancel_request(ompi_request_t *request, int flag)
{
    (void)request;
    (void)flag;
    return OMPI_SUCCESS;
}

static void construct(tatp_operation *operation)
{
    ompi_request_t *request = &operation->request;
    OMPI_REQUEST_INIT(request, false);
    request->req_type = OMPI_REQUEST_IO;
    request->req_free = free_request;
    request->req_cancel = cancel_request;
    request->req_status = ompi_status_empty;
    operation->next = NULL;
    operation->call = NULL;
    operation->fiber = NULL;
    operation->awaited = NULL;
    operation->begun = operation->ended = false;
}

static void destruct(tatp_operation *operation)
{
    OMPI_REQUEST_FINI(&operation->request);
}

tatp_operation *tatp_operation_new(void)
{
    tatp_operation *operation = OBJ_NEW(tatp_operation);
    if (NULL == operation)
        return NULL;
    operation->fiber = take_fiber();
    operation->call = tatp_call_new();
    if (NULL != operation->fiber && NULL != operation->call)
        return operation;
    tatp_operation_free(operation);
    return NULL;
}

void tatp_operation_free(tatp_operation *operation)
{
    if (NULL == operation)
        return;
    if (NULL != operation->fiber)
        put_back_fiber(operation->fiber);
    tatp_call_free(operation->call);
    OBJ_RELEASE(operation);
}

tatp_call *tatp_operation_call(tatp_operation *operation)
{
    return operation->call;
}

/* ---- on and off the stack ---- */

void tatp_operation_pause(tatp_operation *operation, ompi_request_t *awaited)
{
    operation->awaited = awaited;
    swapcontext(&operation->fiber->inside, &operation->fiber->outside);
    operation->awaited = NULL;
}

/* makecontext hands over integers only. */
static void enter(unsigned int high, unsigned int low)
{
    tatp_operation *operation = (tatp_operation *)(uintptr_t)((uint64_t)high << 32 | (uint64_t)low);
    int rc = tatp_call_run(operation->call, &operation->request.req_status);
    operation->request.req_status.MPI_ERROR = tatp_error_class(rc);
    operation->ended = true;
    swapcontext(&operation->fiber->inside, &operation->fiber->outside);
}

static void begin(tatp_operation *operation)
{
    uint64_t address = (uint64_t)(uintptr_t)operation;
    fiber *f = operation->fiber;
    getcontext(&f->inside);
    f->inside.uc_stack.ss_sp = f->stack + sysconf(_SC_PAGESIZE);
    f->inside.uc_stack.ss_size = STACK_BYTES;
    f->inside.uc_link = NULL;
    makecontext(&f->inside, (void (*)(void))enter, 2, (unsigned int)(address >> 32),
                (unsigned int)address);
    operation->begun = true;
}

static bool can_go_on(const tatp_operation *operation)
{
    return NULL == operation->awaited || REQUEST_COMPLETE(operation->awaited);
}

/* Takes an operation that has ended from the queue of its file, and a file without operations from
 * the list. */
static void remove_first(tatp_module *module)
{
    OPAL_THREAD_LOCK(&lock);
    module->operations = module->operations->next;
    if (NULL == module->operations) {
        tatp_module **at = &busy_modules;
        while (*at != module)
            at = &(*at)->next_busy;
        *at = module->next_busy;
    }
    OPAL_THREAD_UNLOCK(&lock);
}

static void complete(tatp_module *module, tatp_operation *operation)
{
    remove_first(module);
    ompi_request_complete(&operation->request, true);
    tatp_operation_free(operation);
}

/* Runs the first operation of a file as far as it goes; 1 when that was to its end. */
static int go_on(tatp_module *module)
{
    tatp_operation *operation = module->operations;
    if (!can_go_on(operation))
        return 0;
    if (!operation->begun)
        begin(operation);
    module->running = operation;
    swapcontext(&operation->fiber->outside, &operation->fiber->inside);
    module->running = NULL;
    if (!operation->ended)
        return 0;
    complete(module, operation);
    return 1;
}

/* New files come to the front of the list, and only who is here takes one out. */
static int progress(void)
{
    int completed = 0;
    if (NULL == busy_modules || atomic_flag_test_and_set(&entered))
        return 0;
    for (tatp_module *module = busy_modules, *next; NULL != module; module = next) {
        next = module->next_busy;
        completed += go_on(module);
    }
    atomic_flag_clear(&entered);
    return completed;
}

/* ---- for the rest of the component ---- */

static void append(tatp_module *module, tatp_operation *operation)
{
    bool first_of_all;
    OPAL_THREAD_LOCK(&lock);
    tatp_operation **at = &module->operations;
    while (NULL != *at)
        at = &(*at)->next;
    *at = operation;
    if (module->operations == operation) {
        module->next_busy = busy_modules;
        busy_modules = module;
    }
    first_of_all = !progress_registered;
    progress_registered = true;
    OPAL_THREAD_UNLOCK(&lock);
    if (first_of_all)
        opal_progress_register(progress);
}

void tatp_operation_start(ompio_file_t *fh, tatp_operation *operation, ompi_request_t **request)
{
    operation->request.req_state = OMPI_REQUEST_ACTIVE;
    operation->request.req_mpi_object.file = fh->f_fh;
    OBJ_RETAIN(operation); /* the user's and the queue's */
    append((tatp_module *)fh->f_fcoll, operation);
    *request = &operation->request;
    (void)progress();
}

void tatp_operations_finish(const tatp_module *module)
{
    while (NULL != *(tatp_operation *const volatile *)&module->operations)
        opal_progress();
}

void tatp_operations_release(void)
{
    if (progress_registered)
        opal_progress_unregister(progress);
    progress_registered = false;
    while (NULL != idle_fibers) {
        fiber *f = idle_fibers;
        idle_fibers = f->next;
        free_fiber(f);
    }
}
