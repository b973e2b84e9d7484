/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the user has named a component. */
#ifndef TATP_COMPAT_ASKED_H
#define TATP_COMPAT_ASKED_H

#include "ompi/compat/compat.h"

#include "base/text.h"

/* --mca FRAMEWORK a,b names a and b; ^a, all but a, names none. *source: where the parameter is
 * from, or NULL. */
static inline bool compat_is_asked_for(const char *framework, const char *component,
                                       mca_base_var_source_t *source)
{
    char *const *names = NULL;
    int index = mca_base_var_find("ompi", framework, NULL, NULL);
    (void)mca_base_var_get_value(index, &names, source, NULL);
    return NULL != names && NULL != *names && '^' != **names && base_lists(*names, component);
}

#endif
