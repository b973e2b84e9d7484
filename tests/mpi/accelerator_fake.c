/* SPDX-License-Identifier: BSD-3-Clause */
/* accelerator/fake: a component of Open MPI 5 and 6 for tests without a GPU. Its memory is that of
 * device.h. Open MPI selects it in place of accelerator/null where it finds it. The settings begin
 * with FAKE_ACCELERATOR_:
 *
 *   LATE       copies on a stream are done when an event behind them is queried the N-th time (3):
 *              who uses the bytes before sees old ones
 *   STREAMS    0: no stream can be made once MPI is initialized
 *   STATS      each rank writes what was asked of the component to the file of this name, .RANK */
#include "ompi_config.h"

#if OMPI_MAJOR_VERSION >= 5

#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/constants.h"
#include "opal/mca/accelerator/accelerator.h"

#include "device.h"

/* Open MPI's functions have parameters that make no difference here. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define IS_6 (OMPI_MAJOR_VERSION >= 6)
#define MOST_REGISTERED 256 /* parts of host memory */

static struct device_state *state;
static long late, streams;

static long setting(const char *name, long otherwise)
{
    const char *value = getenv(name);
    return value == NULL ? otherwise : strtol(value, NULL, 10);
}

/* --- copies --- */

static int mem_copy(int to_device, int from_device, void *to, const void *from, size_t bytes,
                    opal_accelerator_transfer_type_t type)
{
    device_count(&state->bytes, bytes);
    bool fails = device_fails(device_count(&state->copies, 1)) || !device_move(to, from, bytes);
    return fails ? OPAL_ERROR : OPAL_SUCCESS;
}

/* --- streams: copies in order --- */

typedef struct queue {
    device_copy *first, **last;
    uint64_t started, done, failed; /* copies */
} queue;

/* An event: done with the copy of this number. As on devices, it may tell the failure of a copy
 * behind it as well. */
typedef struct mark {
    queue *of;
    uint64_t until, failed;
    long asked;
} mark;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void finish_copies(queue *q, uint64_t until)
{
    for (; q->done < until; q->done++) {
        device_copy *p = q->first;
        if (p->fails || !device_move(p->to, p->from, p->bytes))
            q->failed++;
        q->first = p->next;
        free(p);
    }
    if (q->first == NULL)
        q->last = &q->first;
}

static int create_stream(int device, opal_accelerator_stream_t **stream)
{
    int initialized = 0;
    MPI_Initialized(&initialized);
    if (initialized && streams == 0)
        return OPAL_ERR_NOT_SUPPORTED;
    queue *q = calloc(1, sizeof *q);
    *stream = OBJ_NEW(opal_accelerator_stream_t);
    if (q == NULL || *stream == NULL)
        return OPAL_ERR_OUT_OF_RESOURCE;
    q->last = &q->first;
    (*stream)->stream = q;
    return OPAL_SUCCESS;
}

#if IS_6
static int create_event(int device, opal_accelerator_event_t **event, bool ipc)
#else
static int create_event(int device, opal_accelerator_event_t **event)
#endif
{
    *event = OBJ_NEW(opal_accelerator_event_t);
    if (*event == NULL)
        return OPAL_ERR_OUT_OF_RESOURCE;
    (*event)->event = calloc(1, sizeof(mark));
    return (*event)->event == NULL ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_SUCCESS;
}

static int record_event(int device, opal_accelerator_event_t *event,
                        opal_accelerator_stream_t *stream)
{
    queue *q = stream->stream;
    pthread_mutex_lock(&lock);
    *(mark *)event->event = (mark){.of = q, .until = q->started, .failed = q->failed};
    pthread_mutex_unlock(&lock);
    return OPAL_SUCCESS;
}

static int query_mark(mark *m)
{
    if (m->of == NULL)
        return OPAL_SUCCESS;
    if (m->of->done < m->until) {
        if (++m->asked < late)
            return OPAL_ERR_RESOURCE_BUSY;
        finish_copies(m->of, m->until);
    }
    return m->of->failed > m->failed ? OPAL_ERROR : OPAL_SUCCESS;
}

static int query_event(int device, opal_accelerator_event_t *event)
{
    pthread_mutex_lock(&lock);
    int rc = query_mark(event->event);
    pthread_mutex_unlock(&lock);
    return rc;
}

static int mem_copy_async(int to_device, int from_device, void *to, const void *from, size_t bytes,
                          opal_accelerator_stream_t *stream, opal_accelerator_transfer_type_t type)
{
    queue *q = stream->stream;
    device_copy *p = device_start(to, from, bytes);
    if (p == NULL)
        return OPAL_ERROR;
    pthread_mutex_lock(&lock);
    *q->last = p;
    q->last = &p->next;
    q->started++;
    pthread_mutex_unlock(&lock);
    return OPAL_SUCCESS;
}

/* --- memory --- */

static int check_addr(const void *address, int *device, uint64_t *flags)
{
    bool known = is_device(address) || is_unified(address);
    *device = known ? 0 : MCA_ACCELERATOR_NO_DEVICE_ID;
    *flags = is_unified(address) ? MCA_ACCELERATOR_FLAGS_UNIFIED_MEMORY : 0;
    return known;
}

static int get_address_range(int device, const void *address, void **base, size_t *size)
{
    return device_range(address, base, size) ? OPAL_SUCCESS : OPAL_ERR_NOT_FOUND;
}

static int get_buffer_id(int device, const void *address, opal_accelerator_buffer_id_t *id)
{
    *id = (opal_accelerator_buffer_id_t)(uintptr_t)device_base(address);
    return OPAL_SUCCESS;
}

static int mem_alloc(int device, void **memory, size_t bytes)
{
    *memory = device_alloc(bytes, false);
    return *memory == NULL ? OPAL_ERR_OUT_OF_RESOURCE : OPAL_SUCCESS;
}

static int mem_release(int device, void *memory)
{
    device_free(memory);
    return OPAL_SUCCESS;
}

static struct {
    char *at;
    size_t bytes;
} part[MOST_REGISTERED];

/* Nothing is registered twice. */
static int register_part(char *at, size_t bytes)
{
    size_t all = bytes;
    int unused = MOST_REGISTERED;
    for (int i = 0; i < MOST_REGISTERED; i++) {
        if (part[i].bytes == 0)
            unused = i;
        else if (at < part[i].at + part[i].bytes && part[i].at < at + bytes)
            return OPAL_ERROR;
        all += part[i].bytes;
    }
    if (unused == MOST_REGISTERED)
        return OPAL_ERR_OUT_OF_RESOURCE;
    part[unused].at = at;
    part[unused].bytes = bytes;
    if (all > state->registered)
        state->registered = all;
    return OPAL_SUCCESS;
}

static int host_register(int device, void *memory, size_t bytes)
{
    pthread_mutex_lock(&lock);
    int rc = register_part(memory, bytes);
    pthread_mutex_unlock(&lock);
    return rc;
}

static int host_unregister(int device, void *memory)
{
    int rc = OPAL_ERROR;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MOST_REGISTERED; i++)
        if (part[i].bytes > 0 && part[i].at == memory) {
            part[i].bytes = 0;
            rc = OPAL_SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return rc;
}

/* --- devices --- */

static int get_device(int *device)
{
    *device = 0;
    return OPAL_SUCCESS;
}

/* --- what 6.0 needs besides --- */

#if IS_6
static int sync_stream(opal_accelerator_stream_t *stream)
{
    int rc = OPAL_SUCCESS;
    if (stream == MCA_ACCELERATOR_STREAM_DEFAULT)
        return rc;
    queue *q = stream->stream;
    pthread_mutex_lock(&lock);
    uint64_t failed = q->failed;
    finish_copies(q, q->started);
    rc = q->failed > failed ? OPAL_ERROR : OPAL_SUCCESS;
    pthread_mutex_unlock(&lock);
    return rc;
}

static int wait_event(int device, opal_accelerator_event_t *event,
                      opal_accelerator_stream_t *stream)
{
    int rc;
    while ((rc = query_event(device, event)) == OPAL_ERR_RESOURCE_BUSY)
        ;
    return rc;
}

static int mem_alloc_stream(int device, void **memory, size_t bytes,
                            opal_accelerator_stream_t *stream)
{
    return mem_alloc(device, memory, bytes);
}

static int mem_release_stream(int device, void *memory, opal_accelerator_stream_t *stream)
{
    sync_stream(stream);
    return mem_release(device, memory);
}

static bool is_ipc_enabled(void)
{
    return false;
}

static int num_devices(int *number)
{
    *number = 1;
    return OPAL_SUCCESS;
}

static int get_mem_bw(int device, float *bandwidth)
{
    *bandwidth = 1.0f;
    return OPAL_SUCCESS;
}

/* Open MPI frees these strings. */
static void get_memkind(ompi_memkind_t *kind)
{
    kind->im_name = strdup("fake");
    kind->im_no_restrictors = false;
    kind->im_num_restrictors = 1;
    kind->im_restrictors[0] = strdup("device");
}
#endif

static opal_accelerator_base_module_t module = {
#if IS_6
    .sync_stream = sync_stream,
    .wait_event = wait_event,
    .mem_move_async = mem_copy_async,
    .mem_alloc_stream = mem_alloc_stream,
    .mem_release_stream = mem_release_stream,
    .is_ipc_enabled = is_ipc_enabled,
    .num_devices = num_devices,
    .get_mem_bw = get_mem_bw,
    .get_memkind = get_memkind,
#endif
    .check_addr = check_addr,
    .create_stream = create_stream,
    .create_event = create_event,
    .record_event = record_event,
    .query_event = query_event,
    .mem_copy_async = mem_copy_async,
    .mem_copy = mem_copy,
    .mem_move = mem_copy,
    .mem_alloc = mem_alloc,
    .mem_release = mem_release,
    .get_address_range = get_address_range,
    .host_register = host_register,
    .host_unregister = host_unregister,
    .get_device = get_device,
    .get_buffer_id = get_buffer_id,
};

/* --- begin and end --- */

static opal_accelerator_base_module_t *init(void)
{
    state = device_state();
    state->selected = 1;
    late = setting("FAKE_ACCELERATOR_LATE", 3);
    streams = setting("FAKE_ACCELERATOR_STREAMS", 1);
    return &module;
}

static void finalize(opal_accelerator_base_module_t *m)
{
    const char *prefix = getenv("FAKE_ACCELERATOR_STATS");
    long rank = setting("OMPI_COMM_WORLD_RANK", -1);
    char name[4096];
    if (prefix == NULL || rank < 0)
        return;
    snprintf(name, sizeof name, "%s.%ld", prefix, rank);
    FILE *f = fopen(name, "w");
    if (f == NULL)
        return;
    fprintf(f, "{\"copies\": %llu, \"bytes\": %llu, \"host_ranges\": %llu, \"registered\": %llu}\n",
            (unsigned long long)state->copies, (unsigned long long)state->bytes,
            (unsigned long long)state->host_ranges, (unsigned long long)state->registered);
    fclose(f);
}

static int nothing(void)
{
    return OPAL_SUCCESS;
}

OMPI_DECLSPEC opal_accelerator_base_component_t mca_accelerator_fake_component = {
    .base_version =
        {
            OPAL_ACCELERATOR_BASE_VERSION_1_0_0,
            .mca_component_name = "fake",
            MCA_BASE_MAKE_VERSION(component, OPAL_MAJOR_VERSION, OPAL_MINOR_VERSION,
                                  OPAL_RELEASE_VERSION),
            .mca_open_component = nothing,
            .mca_close_component = nothing,
            .mca_register_component_params = nothing,
        },
    .base_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .accelerator_init = init,
    .accelerator_finalize = finalize,
};

#endif
