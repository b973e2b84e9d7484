/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the MPI that this library takes over, under both of their names: a program, or a
 * profiling library, calls MPI_NAME, and a profiling library above this one, or the Fortran part of
 * an MPI, PMPI_NAME. Each goes on to the next definition of the same name, which may be that of a
 * profiling library below this one, or the MPI's. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/front.h"
#include "mpi/process.h"

/* ---- the next definition ---- */

typedef struct next_slot {
    const char *name;
    void *_Atomic function;
} next_slot;

static void *find_next(next_slot *slot, const void *caller)
{
    void *function = atomic_load_explicit(&slot->function, memory_order_relaxed);
    if (function != NULL)
        return function;
    function = front_next(slot->name, caller);
    if (function == NULL) {
        fprintf(stderr,
                "tatp: no MPI has %s behind libtatp-mpiio.so: preload the library, or link it "
                "before the MPI\n",
                slot->name);
        abort();
    }
    atomic_store_explicit(&slot->function, function, memory_order_relaxed);
    return function;
}

/* The next definition runs. It calls functions of the MPI itself, and an error handler of the
 * program, or another function that the program has given to the MPI. */
static _Thread_local bool is_inside;

/* Whether the object of a caller is that of a next definition of the function that it calls: it is
 * the MPI, or a profiling library below this one. The address is in this library if that one jumps
 * to the function instead of calling it. */
static bool is_below(next_slot slot[2], const void *caller)
{
    const void *function[] = {(const void *)is_below, find_next(&slot[0], caller),
                              find_next(&slot[1], caller)};
    Dl_info from, object;
    if (dladdr(caller, &from) == 0)
        return false;
    for (int i = 0; i < 3; i++)
        if (dladdr(function[i], &object) != 0 && from.dli_fbase == object.dli_fbase)
            return true;
    return false;
}

static int enter(void)
{
    is_inside = true;
    return 0;
}

static int leave(int rc)
{
    is_inside = false;
    return rc;
}

#define PASS(...) (enter(), leave(next(__VA_ARGS__)))

/* TAKE(name, (parameters), arguments...) { BODY }: defines MPI_name and PMPI_name, which go through
 * the body, a function with these parameters, the next definition as `next`, and `is_profiling` for
 * PMPI_name. TAKE_UNLESS: but for a condition, where they go to the next definition, as do calls
 * that it makes itself: of PMPI_name. */
#define DEFINE(condition, symbol, is_profiling, name, parameters, ...)                             \
    int symbol parameters;                                                                         \
    __attribute__((visibility("default"))) int symbol parameters                                   \
    {                                                                                              \
        static next_slot slot[] = {{"MPI_" #name, NULL}, {"PMPI_" #name, NULL}};                   \
        const void *const caller = __builtin_return_address(0);                                    \
        next_##name *next = (next_##name *)find_next(&slot[is_profiling], caller);                 \
        const bool was_inside = is_inside;                                                         \
        if ((condition) || (is_profiling && was_inside && is_below(slot, caller)))                 \
            return next(__VA_ARGS__);                                                              \
        is_inside = false;                                                                         \
        const int rc = take_##name(next, is_profiling, __VA_ARGS__);                               \
        is_inside = was_inside;                                                                    \
        return rc;                                                                                 \
    }
#define BARE(...) __VA_ARGS__
#define TAKE(...) TAKE_UNLESS(false, __VA_ARGS__)
#define TAKE_UNLESS(condition, name, parameters, ...)                                              \
    typedef int next_##name parameters;                                                            \
    static int take_##name(next_##name *next, bool is_profiling, BARE parameters);                 \
    DEFINE(condition, MPI_##name, false, name, parameters, __VA_ARGS__)                            \
    DEFINE(condition, PMPI_##name, true, name, parameters, __VA_ARGS__)                            \
    static int take_##name(next_##name *next, __attribute__((unused)) bool is_profiling,           \
                           BARE parameters)

/* ---- launchers ---- */

/* In an allocation of Slurm, mpirun starts its daemons by srun, for which the list of `tatp run` is
 * not. */
static __attribute__((constructor)) void hide_list(void)
{
    if (getenv("TATP_PLACED") != NULL &&
        (dlsym(RTLD_DEFAULT, "orte_init") != NULL || dlsym(RTLD_DEFAULT, "prte_init") != NULL))
        unsetenv("SLURM_HOSTFILE");
}

/* Slurm's commands call this function of their library between their options and the list. Beside
 * it srun takes no -N: that of all nodes is the default; for another, the list is given up. Beside
 * -w it does not read the list. A job of salloc or sbatch has other nodes. */
__attribute__((visibility("default"))) void validate_options_salloc_sbatch_srun(void *options);
void validate_options_salloc_sbatch_srun(void *options)
{
    void (*validate)(void *) = dlsym(RTLD_NEXT, "validate_options_salloc_sbatch_srun");
    bool (*is_given)(void *, int) = dlsym(RTLD_NEXT, "slurm_option_set_by_cli");
    char *(*get)(void *, const char *) = dlsym(RTLD_NEXT, "slurm_option_get");
    bool (*reset)(void *, const char *) = dlsym(RTLD_NEXT, "slurm_option_reset");
    const char *all = getenv("SLURM_JOB_NUM_NODES");
    bool has_list = getenv("TATP_PLACED") != NULL && getenv("SLURM_HOSTFILE") != NULL &&
                    all != NULL && is_given != NULL && get != NULL && reset != NULL;
    if (has_list && strcmp(program_invocation_short_name, "srun") != 0) {
        unsetenv("SLURM_HOSTFILE");
        unsetenv("TATP_PLACED");
    } else if (has_list && is_given(options, 'N') && !is_given(options, 'w')) {
        const char *nodes = get(options, "nodes");
        if (nodes != NULL && strcmp(nodes, all) == 0) {
            reset(options, "nodes");
        } else {
            unsetenv("SLURM_HOSTFILE");
            setenv("TATP_PLACED", "srun is to use another number of nodes than the job has", 1);
        }
    }
    validate(options);
}

/* ---- MPI_Init ---- */

TAKE(Init, (int *argc, char ***argv), argc, argv)
{
    int rc = PASS(argc, argv);
    if (rc == 0)
        front_process_start();
    return rc;
}

TAKE(Init_thread, (int *argc, char ***argv, int required, int *provided), argc, argv, required,
     provided)
{
    int rc = PASS(argc, argv, required, provided);
    if (rc == 0)
        front_process_start();
    return rc;
}

/* ---- topologies ---- */

TAKE(Cart_create,
     (front_word comm, int dims, const int *extent, const int *periodic, int reorder,
      front_word *created),
     comm, dims, extent, periodic, reorder, created)
{
    front_word ordered = front_order_grid(comm, dims, extent, periodic, reorder);
    int rc = PASS(ordered, dims, extent, periodic, reorder, created);
    front_order_release(comm, ordered, rc == 0 ? created : NULL);
    return rc;
}

TAKE(Graph_create,
     (front_word comm, int ranks, const int *index, const int *edge, int reorder,
      front_word *created),
     comm, ranks, index, edge, reorder, created)
{
    front_word ordered = front_order_graph(comm, ranks, index, edge, reorder);
    int rc = PASS(ordered, ranks, index, edge, reorder, created);
    front_order_release(comm, ordered, rc == 0 ? created : NULL);
    return rc;
}

TAKE(Dist_graph_create,
     (front_word comm, int count, const int *source, const int *degree, const int *target,
      const int *weight, front_word info, int reorder, front_word *created),
     comm, count, source, degree, target, weight, info, reorder, created)
{
    int rc = PASS(comm, count, source, degree, target, weight, info, reorder, created);
    if (rc == 0)
        front_order_dist_graph(comm, weight, info, reorder, created);
    return rc;
}

TAKE(Dist_graph_create_adjacent,
     (front_word comm, int sources, const int *source, const int *source_weight, int targets,
      const int *target, const int *target_weight, front_word info, int reorder,
      front_word *created),
     comm, sources, source, source_weight, targets, target, target_weight, info, reorder, created)
{
    int rc = PASS(comm, sources, source, source_weight, targets, target, target_weight, info,
                  reorder, created);
    if (rc == 0)
        front_order_dist_graph(comm, source_weight, info, reorder, created);
    return rc;
}

/* ---- files ---- */

TAKE(File_open, (front_word comm, const char *name, int mode, front_word info, front_word *handle),
     comm, name, mode, info, handle)
{
    if (!front_may_serve(comm, name, mode))
        return PASS(comm, name, mode, info, handle);
    const double began = front_process()->clock(NULL);
    const front_word chosen = front_choose_info(comm, name, mode, info);
    int rc = PASS(comm, name, mode, chosen, handle);
    front_release_info(info, chosen);
    if (rc == 0)
        front_open(comm, name, mode, info, *handle, began);
    return rc;
}

TAKE(File_close, (front_word * handle), handle)
{
    front_file *closing;
    int error;
    const int rc = front_close(handle, &closing, &error) ? PASS(handle) : 0;
    front_end_closing(closing);
    return error != 0 ? error : rc;
}

TAKE(File_sync, (front_word handle), handle)
{
    const int error = front_flush(handle);
    const int rc = PASS(handle);
    return rc == 0 ? front_report(handle, error) : error != 0 ? error : rc;
}

TAKE(File_set_view,
     (front_word handle, int64_t displacement, front_word etype, front_word filetype,
      const char *representation, front_word info),
     handle, displacement, etype, filetype, representation, info)
{
    front_finish(handle);
    filetype = front_choose_type(handle, filetype);
    int rc = PASS(handle, displacement, etype, filetype, representation, info);
    if (rc == 0)
        front_set_view(handle, info);
    return rc;
}

TAKE(File_set_info, (front_word handle, front_word info), handle, info)
{
    int rc = PASS(handle, info);
    if (rc == 0)
        front_set_info(handle, info);
    return rc;
}

TAKE(File_get_info, (front_word handle, void *info), handle, info)
{
    int rc = PASS(handle, info);
    if (rc == 0)
        front_get_info(handle, info);
    return rc;
}

/* ---- the file pointer ---- */

TAKE(File_seek, (front_word handle, int64_t offset, int whence), handle, offset, whence)
{
    front_file *file = front_find(handle);
    return file == NULL ? PASS(handle, offset, whence) : front_seek(file, offset, whence);
}

TAKE(File_get_position, (front_word handle, int64_t *offset), handle, offset)
{
    front_file *file = front_find(handle);
    if (file == NULL)
        return PASS(handle, offset);
    *offset = front_position(file);
    return 0;
}

/* ---- access ---- */

/* In all functions below, `count` is an int, or an MPI_Count where the name ends with _c. result:
 * MPI_Status or MPI_Request. */
#define AT_POINTER(count_type, buffer_type)                                                        \
    front_word handle, buffer_type *buffer, count_type count, front_word datatype
#define AT_OFFSET(count_type, buffer_type)                                                         \
    front_word handle, int64_t offset, buffer_type *buffer, count_type count, front_word datatype

/* Lets the MPI carry it out. */
#define PERFORM(name, count_type, buffer_type)                                                     \
    typedef int at_##name(AT_OFFSET(count_type, buffer_type), void *result);                       \
    static int perform_##name(const front_access *a, front_word handle, void *result)              \
    {                                                                                              \
        static next_slot slot[] = {{"MPI_" #name, NULL}, {"PMPI_" #name, NULL}};                   \
        at_##name *next = (at_##name *)find_next(&slot[a->is_profiling], NULL);                    \
        return PASS(handle, a->offset, (buffer_type *)a->buffer, (count_type)a->count,             \
                    a->datatype, result);                                                          \
    }

/* way: front_transfer, front_start, or BEGIN, without a result. */
#define BEGIN(file, access, none) front_begin(file, access)
#define COLLECTIVE(way, writes, has_offset, at, result, name, name_at, parameters, ...)            \
    TAKE(name, parameters, __VA_ARGS__)                                                            \
    {                                                                                              \
        front_file *file = front_find(handle);                                                     \
        if (file == NULL)                                                                          \
            return PASS(__VA_ARGS__);                                                              \
        front_access access = {writes,   has_offset,        at,          buffer, count,            \
                               datatype, perform_##name_at, is_profiling};                         \
        return way(file, &access, result);                                                         \
    }

/* A function at the file pointer, and name_at at an explicit offset. */
#define COLLECTIVE_PAIR(way, name, name_at, count_type, buffer_type, writes)                       \
    COLLECTIVE(way, writes, false, 0, result, name, name_at,                                       \
               (AT_POINTER(count_type, buffer_type), void *result), handle, buffer, count,         \
               datatype, result)                                                                   \
    COLLECTIVE(way, writes, true, offset, result, name_at, name_at,                                \
               (AT_OFFSET(count_type, buffer_type), void *result), handle, offset, buffer, count,  \
               datatype, result)

/* Accesses that the MPI carries out, which are counted: at an explicit offset, and at the file
 * pointer, as MPI_NAME_at for MPI_NAME, and as PMPI_NAME_at for PMPI_NAME. */
#define COUNTED_PAIR(name, name_at, starts, count_type, buffer_type, writes)                       \
    PERFORM(name_at, count_type, buffer_type)                                                      \
    TAKE(name_at, (AT_OFFSET(count_type, buffer_type), void *result), handle, offset, buffer,      \
         count, datatype, result)                                                                  \
    {                                                                                              \
        front_count(front_find(handle), writes, count, datatype);                                  \
        return PASS(handle, offset, buffer, count, datatype, result);                              \
    }                                                                                              \
    TAKE(name, (AT_POINTER(count_type, buffer_type), void *result), handle, buffer, count,         \
         datatype, result)                                                                         \
    {                                                                                              \
        front_file *file = front_find(handle);                                                     \
        front_access access = {writes,      false, 0, buffer, count, datatype, perform_##name_at,  \
                               is_profiling};                                                      \
        front_count(file, writes, count, datatype);                                                \
        return file == NULL ? PASS(handle, buffer, count, datatype, result)                        \
                            : front_access_alone(file, &access, starts, result);                   \
    }

/* All functions of a verb. c: what their names end with. */
#define ACCESSES(verb, c, count_type, buffer_type, writes)                                         \
    PERFORM(File_##verb##_at_all##c, count_type, buffer_type)                                      \
    PERFORM(File_i##verb##_at_all##c, count_type, buffer_type)                                     \
    COLLECTIVE_PAIR(front_transfer, File_##verb##_all##c, File_##verb##_at_all##c, count_type,     \
                    buffer_type, writes)                                                           \
    COLLECTIVE_PAIR(front_start, File_i##verb##_all##c, File_i##verb##_at_all##c, count_type,      \
                    buffer_type, writes)                                                           \
    COLLECTIVE(BEGIN, writes, false, 0, NULL, File_##verb##_all_begin##c, File_##verb##_at_all##c, \
               (AT_POINTER(count_type, buffer_type)), handle, buffer, count, datatype)             \
    COLLECTIVE(BEGIN, writes, true, offset, NULL, File_##verb##_at_all_begin##c,                   \
               File_##verb##_at_all##c, (AT_OFFSET(count_type, buffer_type)), handle, offset,      \
               buffer, count, datatype)                                                            \
    COUNTED_PAIR(File_##verb##c, File_##verb##_at##c, false, count_type, buffer_type, writes)      \
    COUNTED_PAIR(File_i##verb##c, File_i##verb##_at##c, true, count_type, buffer_type, writes)

#define END(name, buffer_type)                                                                     \
    TAKE(name, (front_word handle, buffer_type * buffer, void *status), handle, buffer, status)    \
    {                                                                                              \
        front_file *file = front_find(handle);                                                     \
        return file == NULL ? PASS(handle, buffer, status) : front_end(file, status);              \
    }

ACCESSES(write, , int, const void, true)
ACCESSES(read, , int, void, false)
#if TATP_HAS_LARGE_COUNTS
ACCESSES(write, _c, int64_t, const void, true)
ACCESSES(read, _c, int64_t, void, false)
#endif
END(File_write_all_end, const void)
END(File_read_all_end, void)
END(File_write_at_all_end, const void)
END(File_read_at_all_end, void)

/* ---- completion ---- */

/* Nothing is done here for a program without non-blocking collective calls. */
#define HAS_NONE (atomic_load_explicit(&front_requests, memory_order_relaxed) == 0)

/* flag: of the function, whether it has completed requests; NULL: no such. */
#define TEST(name, flag, count, statuses, parameters, ...)                                         \
    TAKE_UNLESS(HAS_NONE, name, parameters, __VA_ARGS__)                                           \
    {                                                                                              \
        front_progress();                                                                          \
        const int rc = PASS(__VA_ARGS__);                                                          \
        return front_completed(rc, flag, count, statuses);                                         \
    }

/* After `before` it polls by `test`, with these arguments, as long as calls have to continue. */
#define WAIT(name, before, test, is_done, tested, count, statuses, parameters, ...)                \
    TAKE_UNLESS(HAS_NONE, name, parameters, __VA_ARGS__)                                           \
    {                                                                                              \
        static next_slot slot[] = {{"MPI_" #test, NULL}, {"PMPI_" #test, NULL}};                   \
        next_##test *next_test = (next_##test *)find_next(&slot[is_profiling], NULL);              \
        int flag = 0, rc = 0;                                                                      \
        before;                                                                                    \
        while (front_progress() && rc == 0 && !(is_done))                                          \
            rc = (enter(), leave(next_test tested));                                               \
        if (rc == 0 && !(is_done))                                                                 \
            rc = PASS(__VA_ARGS__);                                                                \
        return front_completed(rc, NULL, count, statuses);                                         \
    }

#define TESTS(all, any, some, request_type)                                                        \
    TEST(all, flag, requests, statuses,                                                            \
         (int requests, request_type *request, int *flag, void *statuses), requests, request,      \
         flag, statuses)                                                                           \
    TEST(any, flag, FRONT_ONE, NULL,                                                               \
         (int requests, request_type *request, int *index, int *flag, void *status), requests,     \
         request, index, flag, status)                                                             \
    TEST(some, NULL, *count, statuses,                                                             \
         (int requests, request_type *request, int *count, int *index, void *statuses), requests,  \
         request, count, index, statuses)

TEST(Request_get_status, flag, FRONT_ONE, NULL, (front_word request, int *flag, void *status),
     request, flag, status)
TESTS(Request_get_status_all, Request_get_status_any, Request_get_status_some, const void)
TEST(Test, flag, FRONT_ONE, NULL, (void *request, int *flag, void *status), request, flag, status)
TESTS(Testall, Testany, Testsome, void)
WAIT(Wait, , Test, flag, (request, &flag, status), FRONT_ONE, NULL, (void *request, void *status),
     request, status)
WAIT(Waitall, front_run(requests, request), Testall, flag, (requests, request, &flag, statuses),
     requests, statuses, (int requests, void *request, void *statuses), requests, request, statuses)
WAIT(Waitany, , Testany, flag, (requests, request, index, &flag, status), FRONT_ONE, NULL,
     (int requests, void *request, int *index, void *status), requests, request, index, status)
WAIT(Waitsome, , Testsome, flag, (requests, request, &flag, index, statuses),
     flag != 0 ? (*count = flag) : *count, statuses,
     (int requests, void *request, int *count, int *index, void *statuses), requests, request,
     count, index, statuses)
