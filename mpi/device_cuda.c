/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA, by the constants of cuda.h. Its addresses are numbers as long as a pointer. */
#include "mpi/device.h"

enum { CU_CONTEXT = 1, CU_MEMORY_TYPE = 2, CU_IS_MANAGED = 8, CU_DEVICE = 2 };

static int (*ask_cuda)(void *value, int attribute, const void *address);

static bool is_cuda_memory(const void *address)
{
    int type = 0, is_managed = 0;
    return ask_cuda(&type, CU_MEMORY_TYPE, address) == 0 && type == CU_DEVICE &&
           ask_cuda(&is_managed, CU_IS_MANAGED, address) == 0 && !is_managed;
}

static void *cuda_context_of(const void *address)
{
    void *context;
    return ask_cuda(&context, CU_CONTEXT, address) == 0 ? context : NULL;
}

front_vendor front_cuda = {
    .library = "libcuda.so.",
    .function = {{"cuPointerGetAttribute", &ask_cuda},
                 {"cuStreamCreate", &front_cuda.create},
                 {"cuMemcpyAsync", &front_cuda.copy},
                 {"cuStreamDestroy_v2", &front_cuda.destroy},
                 {"cuMemGetAddressRange_v2", &front_cuda.range},
                 {"cuStreamSynchronize", &front_cuda.wait},
                 {"cuMemHostRegister_v2", &front_cuda.enlist},
                 {"cuMemHostUnregister", &front_cuda.dismiss},
                 {"cuCtxPushCurrent_v2", &front_cuda.push},
                 {"cuCtxPopCurrent_v2", &front_cuda.pop}},
    .is_device = is_cuda_memory,
    .context_of = cuda_context_of,
};
