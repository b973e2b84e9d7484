/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects, which differ between the releases of Open MPI. */
#ifndef TATP_COMPAT_INFO_H
#define TATP_COMPAT_INFO_H

#include "ompi/compat/compat.h"

#if OMPI_MAJOR_VERSION >= 5

#include "opal/class/opal_cstring.h"

/* Text that callbacks for keys of an info object take and return. */
typedef const char compat_info_char;

static inline bool compat_info_get(opal_info_t *info, const char *key, char *text, size_t capacity)
{
    opal_cstring_t *value;
    int found = 0;
    if (OPAL_SUCCESS != opal_info_get(info, key, &value, &found) || !found)
        return false;
    snprintf(text, capacity, "%s", value->string);
    OBJ_RELEASE(value);
    return true;
}

static inline void compat_info_forget_saved(opal_info_t *info, const char *key)
{
    (void)info;
    (void)key;
}

#else

typedef char compat_info_char;

static inline bool compat_info_get(opal_info_t *info, const char *key, char *text, size_t capacity)
{
    int found = 0;
    opal_info_get(info, key, (int)capacity - 1, text, &found);
    return found;
}

/* MPI_File_get_info returns what was saved as the user's value, if anything, instead of the one in
 * force. */
static inline void compat_info_forget_saved(opal_info_t *info, const char *key)
{
    char saved[sizeof OPAL_INFO_SAVE_PREFIX + OPAL_MAX_INFO_KEY];
    snprintf(saved, sizeof saved, OPAL_INFO_SAVE_PREFIX "%.*s", OPAL_MAX_INFO_KEY, key);
    (void)opal_info_delete(info, saved);
}

#endif

#endif
