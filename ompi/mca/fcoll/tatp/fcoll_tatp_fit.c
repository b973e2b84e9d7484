/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dladdr */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_fit.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "ompi/compat/compat_fit.h"

/* The object that has the address, or NULL. */
static const void *find_object(const void *address)
{
    Dl_info info;
    return 0 != dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* The last two members are functions of one object: nothing else in a handle looks like them. */
static bool has_functions(const ompio_file_t *fh)
{
    const void *view, *parameter;
    memcpy(&view, &fh->f_generate_current_file_view, sizeof view);
    memcpy(&parameter, &fh->f_get_mca_parameter_value, sizeof parameter);
    const void *object = find_object(view);
    return NULL != object && object == find_object(parameter);
}

bool tatp_fits_handle(const ompio_file_t *fh)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    if (has_functions(fh))
        return true;
    if (!atomic_flag_test_and_set(&reported))
        compat_report_misfit("fcoll:tatp", "ompio_file_t");
    return false;
}
