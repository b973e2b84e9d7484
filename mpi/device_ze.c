/* SPDX-License-Identifier: BSD-3-Clause */
/* Level Zero, by the constants and structures of ze_api.h, versions 1.0 to 1.17. */
#include "mpi/device.h"

enum { ZE_GPU_ONLY = 1, ZE_DEVICE = 2, ZE_SYNCHRONOUS = 1 };
enum { ZE_CONTEXT_DESC = 0xd, ZE_QUEUE_DESC = 0xe, ZE_ALLOCATION = 0x17 };
enum { ZE_DRIVERS = 8 };

/* A queue has all members. The struct of a context ends with its flags in place of `ordinal`. */
typedef struct ze_desc {
    int structure;
    const void *next;
    uint32_t ordinal, index, flags;
    int mode, priority;
} ze_desc;

typedef struct ze_allocation {
    int structure;
    void *next;
    int type;
    uint64_t id, page_bytes;
} ze_allocation;

static int (*init_ze)(unsigned flags);
static int (*ze_drivers)(uint32_t *count, void **drivers);
static int (*connect_ze)(void *driver, const ze_desc *context, void **created);
static int (*ask_ze)(void *context, const void *address, ze_allocation *is, void **device);
static int (*new_ze_list)(void *context, void *device, const ze_desc *queue, void **list);
static int (*append_ze_copy)(void *list, void *to, const void *from, size_t bytes, void *signal,
                             uint32_t waits, void **events);
static int (*ask_ze_range)(void *context, const void *address, char **base, size_t *bytes);

static void *ze_context[ZE_DRIVERS]; /* of the drivers: each knows its own devices only */
static size_t ze_contexts;

/* The program's zeInit has loaded a driver, and may not have returned: this one waits for it. */
static bool begin_ze(void)
{
    static const ze_desc context = {.structure = ZE_CONTEXT_DESC};
    void *driver[ZE_DRIVERS];
    uint32_t count = ZE_DRIVERS;
    if (init_ze(ZE_GPU_ONLY) != 0 || ze_drivers(&count, driver) != 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        ze_contexts += connect_ze(driver[i], &context, &ze_context[ze_contexts]) == 0;
    return ze_contexts > 0;
}

/* The context of the device that has the address, or NULL. device may be NULL. */
static void *ze_context_of(const void *address, void **device)
{
    for (size_t i = 0; i < ze_contexts; i++) {
        ze_allocation is = {.structure = ZE_ALLOCATION};
        if (ask_ze(ze_context[i], address, &is, device) == 0 && is.type == ZE_DEVICE)
            return ze_context[i];
    }
    return NULL;
}

static bool is_ze_memory(const void *address)
{
    return ze_context_of(address, NULL) != NULL;
}

/* Copies are done when they are started: nothing synchronizes the list. */
static int create_ze_list(void **list, const void *address)
{
    static const ze_desc queue = {.structure = ZE_QUEUE_DESC, .mode = ZE_SYNCHRONOUS};
    void *device, *context = ze_context_of(address, &device);
    return new_ze_list(context, device, &queue, list);
}

static int copy_ze(void *to, const void *from, size_t bytes, void *list)
{
    return append_ze_copy(list, to, from, bytes, NULL, 0, NULL);
}

static int find_ze_range(char **base, size_t *bytes, const void *address)
{
    return ask_ze_range(ze_context_of(address, NULL), address, base, bytes);
}

front_vendor front_ze = {
    .library = "libze_intel_gpu",
    .loader = "libze_loader.so.1",
    .function = {{"zeInit", &init_ze},
                 {"zeDriverGet", &ze_drivers},
                 {"zeContextCreate", &connect_ze},
                 {"zeMemGetAllocProperties", &ask_ze},
                 {"zeCommandListCreateImmediate", &new_ze_list},
                 {"zeCommandListAppendMemoryCopy", &append_ze_copy},
                 {"zeMemGetAddressRange", &ask_ze_range},
                 {"zeCommandListDestroy", &front_ze.destroy}},
    .begin = begin_ze,
    .is_device = is_ze_memory,
    .create_for = create_ze_list,
    .copy = copy_ze,
    .range = find_ze_range,
};
