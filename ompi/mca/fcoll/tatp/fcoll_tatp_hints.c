/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of hints. MPI_File_get_info returns the file's info object. OMPIO reads this object as
 * well, as the hints of MPI_File_open. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_hints.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ompi/file/file.h"
#include "ompi/info/info.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"
#include "ompi/compat/compat_info.h"
#include "opal/util/info.h"

#include "plan/division.h"

/* ---- values ---- */

static const char *const switches[] = {"enable", "disable", "automatic", NULL};
static const char *const truths[] = {"true", "false", NULL};

typedef struct hint_key {
    char name[24];
    const char *const *names; /* of values 1, 2, ...; NULL: a number ... */
    int64_t most;             /* ... from 1 to this */
    const char *valid;
} hint_key;

static hint_key keys[TATP_HINTS] = {
    [TATP_HINT_CB_NODES] = {"cb_nodes", NULL, INT64_MAX, "a number of ranks"},
    [TATP_HINT_CB_BUFFER_SIZE] = {"cb_buffer_size", NULL, INT64_MAX, "a number of bytes"},
    [TATP_HINT_STRIPING_UNIT] = {"striping_unit", NULL, DIVISION_LARGEST_STRIPE,
                                 "a number of bytes up to 4294967296"},
    [TATP_HINT_STRIPING_FACTOR] = {"striping_factor", NULL, INT_MAX, "a number of storage targets"},
    [TATP_HINT_CB_WRITE] = {"romio_cb_write", switches, 0, "enable, disable, automatic"},
    [TATP_HINT_CB_READ] = {"romio_cb_read", switches, 0, "enable, disable, automatic"},
    [TATP_HINT_COLLECTIVE_BUFFERING] = {"collective_buffering", truths, 0, "true, false"},
};

const char *tatp_hint_name(int hint)
{
    return keys[hint].name;
}

/* 0: invalid. */
static int64_t value_of_text(const hint_key *key, const char *text)
{
    char *end;
    if (NULL != key->names) {
        for (int i = 0; NULL != key->names[i]; i++)
            if (0 == strcasecmp(key->names[i], text))
                return i + 1;
        return 0;
    }
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool is_valid = 0 == errno && end != text && '\0' == *end && value > 0 && value <= key->most;
    return is_valid ? (int64_t)value : 0;
}

static void report_invalid(const hint_key *key, const char *text)
{
    static _Atomic bool reported[TATP_HINTS];
    if (!atomic_exchange(&reported[key - keys], true))
        tatp_show_help("hint", key->name, text, key->valid);
}

/* Replaces the values of the hints that the object has. */
static void merge_info(opal_info_t *info, bool report, tatp_hint_values *values)
{
    char text[MPI_MAX_INFO_VAL + 1];
    for (int i = 0; NULL != info && i < TATP_HINTS; i++) {
        if (!compat_info_get(info, keys[i].name, text, sizeof text))
            continue;
        int64_t value = value_of_text(&keys[i], text);
        if (value > 0)
            values->of[i] = value;
        else if (report)
            report_invalid(&keys[i], text);
    }
}

/* Without OMPIO's defaults, which Open MPI 6 puts into the same object. */
static tatp_hint_values read_hints_at_open(const ompio_file_t *fh, bool report)
{
    tatp_hint_values values = {{0}};
    merge_info(fh->f_info, report, &values);
    if (!COMPAT_DEFAULTS_ARE_HINTS)
        return values;
    if (values.of[TATP_HINT_CB_NODES] == OMPIO_MCA_GET(fh, num_aggregators))
        values.of[TATP_HINT_CB_NODES] = 0;
    if (values.of[TATP_HINT_CB_BUFFER_SIZE] == OMPIO_MCA_GET(fh, bytes_per_agg))
        values.of[TATP_HINT_CB_BUFFER_SIZE] = 0;
    if (1 == values.of[TATP_HINT_COLLECTIVE_BUFFERING]) /* true */
        values.of[TATP_HINT_COLLECTIVE_BUFFERING] = 0;
    return values;
}

tatp_hint_values tatp_hints_at_open(const ompio_file_t *fh)
{
    return read_hints_at_open(fh, false);
}

/* ---- the state of a file ---- */

struct tatp_hints {
    struct ompi_file_t *file; /* the user's; NULL: it has none */
    bool reports;             /* rank 0 */
    tatp_hint_values values, published;
    bool is_published; /* the info object has `published` */
};

/* A thread may set hints while a non-blocking call reads them. */
static opal_mutex_t hints_lock = OPAL_MUTEX_STATIC_INIT;

tatp_hints *tatp_hints_new(void)
{
    return calloc(1, sizeof(tatp_hints));
}

void tatp_hints_free(tatp_hints *hints)
{
    free(hints);
}

/* Handles that a component for shared file pointers opens have no file of the user's. */
void tatp_hints_open(tatp_hints *hints, const ompio_file_t *fh)
{
    hints->file = fh->f_flags & OMPIO_SHAREDFP_IS_SET ? NULL : fh->f_fh;
    hints->reports = 0 == fh->f_rank;
    hints->values = read_hints_at_open(fh, hints->reports);
    hints->is_published = false;
}

tatp_hint_values tatp_hints_get(tatp_hints *hints)
{
    OPAL_THREAD_LOCK(&hints_lock);
    tatp_hint_values values = hints->values;
    OPAL_THREAD_UNLOCK(&hints_lock);
    return values;
}

/* What another thread has set meanwhile is for the next agreement. */
void tatp_hints_replace(tatp_hints *hints, const tatp_hint_values *then,
                        const tatp_hint_values *values)
{
    OPAL_THREAD_LOCK(&hints_lock);
    if (0 == memcmp(&hints->values, then, sizeof *then))
        hints->values = *values;
    OPAL_THREAD_UNLOCK(&hints_lock);
}

/* ---- MPI_File_get_info ---- */

/* Open MPI 6 replaces the info object of an open file. */
static void put_text(const tatp_hints *hints, const hint_key *key, const char *text)
{
    opal_info_t *info = hints->file->super.s_info;
    compat_info_forget_saved(info, key->name);
    if (NULL != text)
        (void)opal_info_set(info, key->name, text);
    else
        (void)opal_info_delete(info, key->name);
}

static void write_published(const tatp_hints *hints)
{
    for (int i = 0; i < TATP_HINTS; i++) {
        int64_t value = hints->published.of[i];
        const char *text = NULL;
        char number[24];
        if (value > 0 && NULL != keys[i].names)
            text = keys[i].names[value - 1];
        else if (value > 0) {
            snprintf(number, sizeof number, "%lld", (long long)value);
            text = number;
        }
        put_text(hints, &keys[i], text);
    }
}

void tatp_hints_publish(tatp_hints *hints, const tatp_hint_values *values)
{
    OPAL_THREAD_LOCK(&hints_lock);
    bool is_same = hints->is_published && 0 == memcmp(values, &hints->published, sizeof *values);
    if (NULL != hints->file && !is_same) {
        hints->published = *values;
        write_published(hints);
        hints->is_published = true;
    }
    OPAL_THREAD_UNLOCK(&hints_lock);
}

/* ---- MPI_File_set_view and MPI_File_set_info ---- */

void tatp_hints_note_info(tatp_hints *hints, opal_info_t *info)
{
    OPAL_THREAD_LOCK(&hints_lock);
    merge_info(info, hints->reports, &hints->values);
    put_text(hints, &keys[TATP_HINT_COLLECTIVE_BUFFERING], NULL);
    hints->is_published = false;
    OPAL_THREAD_UNLOCK(&hints_lock);
}

bool tatp_hints_note(tatp_hints *hints, const char *name, const char *text)
{
    int i = 0;
    while (i < TATP_HINTS - 1 && 0 != strcmp(keys[i].name, name))
        i++;
    int64_t value = value_of_text(&keys[i], text);
    OPAL_THREAD_LOCK(&hints_lock);
    if (value > 0)
        hints->values.of[i] = value;
    else if (hints->reports)
        report_invalid(&keys[i], text);
    hints->is_published = false;
    OPAL_THREAD_UNLOCK(&hints_lock);
    return value > 0;
}
