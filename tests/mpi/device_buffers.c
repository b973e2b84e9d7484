/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload: collective file accesses of any MPI program take place in the device memory
 * of device.h. Before the call the bytes that the datatype spans are copied there, and the call
 * gets the address there; when it is complete, bytes that it changed are copied back. Buffers by
 * absolute addresses stay in host memory. At the end each rank adds to the file
 * DEVICE_BUFFERS_STATS how many calls took place in device memory. */
#include "device.h"

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

struct redirected {
    struct redirected *next;
    char *host, *device, *before; /* of the span: the program's, the device's, as it was */
    size_t bytes;
    MPI_Request request; /* of a non-blocking call, ... */
    MPI_File file;       /* ... or of a split one */
};

static struct redirected *outstanding;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls, others;

/* A span may have pages that are not mapped. */
static void copy_mapped(char *to, const char *from, size_t bytes)
{
    for (size_t at = 0, part; at < bytes; at += part) {
        part = DEVICE_PAGE - ((uintptr_t)(from + at) & (DEVICE_PAGE - 1));
        part = part < bytes - at ? part : bytes - at;
        struct iovec local = {to + at, part}, remote = {(char *)from + at, part};
        (void)!process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    }
}

static struct redirected *new_redirected(char *host, size_t bytes)
{
    struct redirected *r = calloc(1, sizeof *r);
    char *device = device_alloc(bytes, false), *before = malloc(bytes);
    if (r == NULL || device == NULL || before == NULL) {
        device_free(device);
        free(before);
        free(r);
        return NULL;
    }
    *r = (struct redirected){.host = host, .device = device, .before = before, .bytes = bytes};
    copy_mapped(device_alias(device), host, bytes);
    memcpy(before, device_alias(device), bytes);
    return r;
}

/* The address that the call gets in place of `buffer`; *r is NULL where that is `buffer` itself. */
static void *redirect(const void *buffer, int count, MPI_Datatype type, struct redirected **r)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    int size = 0;
    *r = NULL;
    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_size(type, &size);
    if (count <= 0 || size == 0)
        return (void *)buffer;
    PMPI_Type_get_extent(type, &lb, &extent);
    PMPI_Type_get_true_extent(type, &true_lb, &true_extent);
    MPI_Aint last = (count - 1) * extent, low = true_lb + (last < 0 ? last : 0);
    if (buffer != MPI_BOTTOM)
        *r = new_redirected((char *)buffer + low, (size_t)(true_extent + labs(last)));
    __atomic_add_fetch(*r != NULL ? &calls : &others, 1, __ATOMIC_RELAXED);
    return *r != NULL ? (*r)->device - low : (void *)buffer;
}

static void restore(struct redirected *r)
{
    if (r == NULL)
        return;
    const char *now = device_alias(r->device);
    for (size_t at = 0; at < r->bytes; at++)
        if (now[at] != r->before[at])
            r->host[at] = now[at];
    device_free(r->device);
    free(r->before);
    free(r);
}

/* Until the call that has begun, with error code rc, is complete. */
static void keep(struct redirected *r, int rc, MPI_Request request, MPI_File file)
{
    if (r == NULL || rc != MPI_SUCCESS) {
        restore(r);
        return;
    }
    r->request = request;
    r->file = file;
    pthread_mutex_lock(&lock);
    r->next = outstanding;
    outstanding = r;
    pthread_mutex_unlock(&lock);
}

/* Of a request, or of the split call of a file. */
static void restore_kept(MPI_Request request, MPI_File file)
{
    struct redirected *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct redirected **at = &outstanding; *at != NULL; at = &(*at)->next)
        if ((*at)->file == file && (*at)->request == request) {
            found = *at;
            *at = found->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    restore(found);
}

/* --- the calls: with the parameter OFFSET, handed on as `offset` --- */

#define BLOCKING(name, CONST, OFFSET, offset)                                                      \
    int MPI_File_##name(MPI_File file OFFSET, CONST void *buffer, int count, MPI_Datatype type,    \
                        MPI_Status *status)                                                        \
    {                                                                                              \
        struct redirected *r;                                                                      \
        void *to = redirect(buffer, count, type, &r);                                              \
        int rc = PMPI_File_##name(file offset, to, count, type, status);                           \
        restore(r);                                                                                \
        return rc;                                                                                 \
    }
#define NONBLOCKING(name, CONST, OFFSET, offset)                                                   \
    int MPI_File_##name(MPI_File file OFFSET, CONST void *buffer, int count, MPI_Datatype type,    \
                        MPI_Request *request)                                                      \
    {                                                                                              \
        struct redirected *r;                                                                      \
        void *to = redirect(buffer, count, type, &r);                                              \
        int rc = PMPI_File_##name(file offset, to, count, type, request);                          \
        keep(r, rc, *request, MPI_FILE_NULL);                                                      \
        return rc;                                                                                 \
    }
#define SPLIT(name, CONST, OFFSET, offset)                                                         \
    int MPI_File_##name##_begin(MPI_File file OFFSET, CONST void *buffer, int count,               \
                                MPI_Datatype type)                                                 \
    {                                                                                              \
        struct redirected *r;                                                                      \
        void *to = redirect(buffer, count, type, &r);                                              \
        int rc = PMPI_File_##name##_begin(file offset, to, count, type);                           \
        keep(r, rc, MPI_REQUEST_NULL, file);                                                       \
        return rc;                                                                                 \
    }                                                                                              \
    int MPI_File_##name##_end(MPI_File file, CONST void *buffer, MPI_Status *status)               \
    {                                                                                              \
        int rc = PMPI_File_##name##_end(file, buffer, status);                                     \
        restore_kept(MPI_REQUEST_NULL, file);                                                      \
        return rc;                                                                                 \
    }
#define AT , MPI_Offset at
#define GIVEN , at
#define ALL_KINDS(read, CONST)                                                                     \
    BLOCKING(read##_all, CONST, , )                                                                \
    BLOCKING(read##_at_all, CONST, AT, GIVEN)                                                      \
    BLOCKING(read##_ordered, CONST, , )                                                            \
    NONBLOCKING(i##read##_all, CONST, , )                                                          \
    NONBLOCKING(i##read##_at_all, CONST, AT, GIVEN)                                                \
    SPLIT(read##_all, CONST, , )                                                                   \
    SPLIT(read##_at_all, CONST, AT, GIVEN)                                                         \
    SPLIT(read##_ordered, CONST, , )
ALL_KINDS(write, const)
ALL_KINDS(read, )

/* --- completion --- */

static MPI_Request *copy_of(int count, const MPI_Request *request)
{
    MPI_Request *copy = malloc(((size_t)count + 1) * sizeof *copy);
    if (copy == NULL)
        abort();
    return memcpy(copy, request, (size_t)count * sizeof *copy);
}

static int restore_completed(int rc, int count, MPI_Request *was, const MPI_Request *now)
{
    for (int i = 0; i < count; i++)
        if (was[i] != MPI_REQUEST_NULL && now[i] == MPI_REQUEST_NULL)
            restore_kept(was[i], MPI_FILE_NULL);
    free(was);
    return rc;
}

#define COMPLETION(name, count, parameters, arguments)                                             \
    int name parameters                                                                            \
    {                                                                                              \
        MPI_Request *was = copy_of(count, request);                                                \
        int rc = P##name arguments;                                                                \
        return restore_completed(rc, count, was, request);                                         \
    }
COMPLETION(MPI_Wait, 1, (MPI_Request * request, MPI_Status *status), (request, status))
COMPLETION(MPI_Test, 1, (MPI_Request * request, int *flag, MPI_Status *status),
           (request, flag, status))
COMPLETION(MPI_Waitall, count, (int count, MPI_Request request[], MPI_Status *status),
           (count, request, status))
COMPLETION(MPI_Testall, count, (int count, MPI_Request request[], int *flag, MPI_Status *status),
           (count, request, flag, status))
COMPLETION(MPI_Waitany, count, (int count, MPI_Request request[], int *index, MPI_Status *status),
           (count, request, index, status))
COMPLETION(MPI_Waitsome, count,
           (int count, MPI_Request request[], int *done, int *index, MPI_Status *status),
           (count, request, done, index, status))

int MPI_Finalize(void)
{
    const char *name = getenv("DEVICE_BUFFERS_STATS");
    FILE *f = name != NULL ? fopen(name, "a") : NULL;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (f != NULL) {
        fprintf(f, "rank %d: %ld calls in device memory, %ld not\n", rank, calls, others);
        fclose(f);
    }
    return PMPI_Finalize();
}
