/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of hints. MPI_File_get_info returns the file's info object. OMPIO reads this object as
 * well, as the hints of MPI_File_open. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_hints.h"

#include <string.h>

#include "ompi/file/file.h"
#include "ompi/info/info.h"
#include "ompi/compat/compat_info.h"
#include "ompi/mca/fcoll/tatp/fcoll_tatp_process.h"
#include "opal/util/info.h"

/* Replaces the values of the hints that the object has. */
static void merge_info(opal_info_t *info, bool report, coll_hint_values *values)
{
    char text[MPI_MAX_INFO_VAL + 1];
    for (enum coll_hint i = 0; NULL != info && i < COLL_HINTS; i++) {
        if (!compat_info_get(info, coll_hint_name(i), text, sizeof text))
            continue;
        int64_t value = coll_hint_read(report ? tatp_process() : NULL, i, text);
        if (value > 0)
            values->of[i] = value;
    }
}

/* OMPIO's defaults, which Open MPI 6 puts into the same object, are left out. */
coll_hint_values tatp_hints_at_open(const ompio_file_t *fh, bool report)
{
    coll_hint_values values = {{0}};
    merge_info(fh->f_info, report, &values);
    if (!COMPAT_DEFAULTS_ARE_HINTS)
        return values;
    if (values.of[COLL_HINT_CB_NODES] == OMPIO_MCA_GET(fh, num_aggregators))
        values.of[COLL_HINT_CB_NODES] = 0;
    if (values.of[COLL_HINT_CB_BUFFER_SIZE] == OMPIO_MCA_GET(fh, bytes_per_agg))
        values.of[COLL_HINT_CB_BUFFER_SIZE] = 0;
    if (1 == values.of[COLL_HINT_COLLECTIVE_BUFFERING]) /* true */
        values.of[COLL_HINT_COLLECTIVE_BUFFERING] = 0;
    return values;
}

/* ---- the state of a file ---- */

/* A thread may set hints while a non-blocking call reads them. */
static opal_mutex_t hints_lock = OPAL_MUTEX_STATIC_INIT;

/* Handles that a component for shared file pointers opens have no file of the user's. */
void tatp_hints_open(tatp_hints *hints, const ompio_file_t *fh)
{
    hints->file = fh->f_flags & OMPIO_SHAREDFP_IS_SET ? NULL : fh->f_fh;
    hints->reports = 0 == fh->f_rank;
    hints->noted = tatp_hints_at_open(fh, hints->reports);
    hints->is_published = false;
}

coll_hint_values tatp_hints_take(tatp_hints *hints)
{
    OPAL_THREAD_LOCK(&hints_lock);
    coll_hint_values values = hints->noted;
    hints->noted = (coll_hint_values){{0}};
    OPAL_THREAD_UNLOCK(&hints_lock);
    return values;
}

void tatp_hints_apply(tatp_hints *hints, coll_file *file)
{
    const coll_hint_values values = tatp_hints_take(hints);
    coll_file_set_hints(file, &values);
}

/* ---- MPI_File_get_info ---- */

/* Open MPI 6 replaces the info object of an open file. */
static void put_text(const tatp_hints *hints, enum coll_hint hint, const char *text)
{
    opal_info_t *info = hints->file->super.s_info;
    const char *name = coll_hint_name(hint);
    compat_info_forget_saved(info, name);
    if (NULL != text)
        (void)opal_info_set(info, name, text);
    else
        (void)opal_info_delete(info, name);
}

static void write_published(const tatp_hints *hints)
{
    char text[COLL_HINT_TEXT];
    for (enum coll_hint i = 0; i < COLL_HINTS; i++) {
        int64_t value = hints->published.of[i];
        put_text(hints, i, value > 0 ? coll_hint_text(i, value, text) : NULL);
    }
}

void tatp_hints_publish(tatp_hints *hints, const coll_file *file)
{
    coll_hint_values values;
    if (NULL == hints->file || !coll_file_get_hints(file, &values))
        return;
    OPAL_THREAD_LOCK(&hints_lock);
    if (!hints->is_published || 0 != memcmp(&values, &hints->published, sizeof values)) {
        hints->published = values;
        write_published(hints);
        hints->is_published = true;
    }
    OPAL_THREAD_UNLOCK(&hints_lock);
}

/* ---- MPI_File_set_view and MPI_File_set_info ---- */

void tatp_hints_note_info(tatp_hints *hints, opal_info_t *info)
{
    OPAL_THREAD_LOCK(&hints_lock);
    merge_info(info, hints->reports, &hints->noted);
    put_text(hints, COLL_HINT_COLLECTIVE_BUFFERING, NULL);
    hints->is_published = false;
    OPAL_THREAD_UNLOCK(&hints_lock);
}

bool tatp_hints_note(tatp_hints *hints, const char *name, const char *text)
{
    enum coll_hint i = coll_hint_find(name);
    int64_t value = coll_hint_read(hints->reports ? tatp_process() : NULL, i, text);
    OPAL_THREAD_LOCK(&hints_lock);
    if (value > 0)
        hints->noted.of[i] = value;
    hints->is_published = false;
    OPAL_THREAD_UNLOCK(&hints_lock);
    return value > 0;
}
