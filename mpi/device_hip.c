/* SPDX-License-Identifier: BSD-3-Clause */
/* ROCm, by the constants of hip_runtime_api.h. */
#include "mpi/device.h"

enum { HIP_ANY_DIRECTION = 4 };

/* Up to release 7 of ROCm at least; the values of `type` have changed. */
typedef struct hip_attributes {
    int type, device;
    void *on_device, *on_host;
    int is_managed;
    unsigned flags, reserved[16];
} hip_attributes;

static int (*ask_hip)(hip_attributes *attributes, const void *address);
static int (*copy_any)(void *to, const void *from, size_t bytes, int direction, void *stream);

static bool is_hip_memory(const void *address)
{
    hip_attributes is = {0};
    return ask_hip(&is, address) == 0 && is.on_device != NULL && is.on_host == NULL &&
           !is.is_managed;
}

static int copy_hip(void *to, const void *from, size_t bytes, void *stream)
{
    return copy_any(to, from, bytes, HIP_ANY_DIRECTION, stream);
}

front_vendor front_hip = {
    .library = "libamdhip64.so.",
    .function = {{"hipPointerGetAttributes", &ask_hip},
                 {"hipStreamCreateWithFlags", &front_hip.create},
                 {"hipMemcpyAsync", &copy_any},
                 {"hipStreamDestroy", &front_hip.destroy},
                 {"hipMemGetAddressRange", &front_hip.range},
                 {"hipStreamSynchronize", &front_hip.wait},
                 {"hipHostRegister", &front_hip.enlist},
                 {"hipHostUnregister", &front_hip.dismiss}},
    .is_device = is_hip_memory,
    .copy = copy_hip,
};
