/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings that differ between the ranks of a file: all ranks take those of rank 0. */
#include "ompi/mca/fcoll/tatp/fcoll_tatp_settings.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "ompi/mca/fcoll/tatp/fcoll_tatp_help.h"

#include "base/mix.h"

static const char *const others[] = {
    "MCA parameter io_ompio_bytes_per_agg",
    "MCA parameter io_ompio_num_aggregators",
    "stripe size of the file system",
    "stripe count of the file system",
};

/* ---- digests ---- */

int64_t tatp_settings_digest_text(const char *text)
{
    uint64_t digest = 0;
    for (; '\0' != *text; text++)
        digest = base_digest(digest, (unsigned char)*text);
    return (int64_t)(digest >> 1);
}

int64_t tatp_settings_digest(const tatp_settings *settings)
{
    uint64_t digest = 0;
    for (int i = 0; i < TATP_SETTINGS; i++)
        digest = base_digest(digest, (uint64_t)settings->of[i]);
    return (int64_t)(digest >> 1);
}

/* ---- hints ---- */

tatp_hint_values tatp_settings_get_hints(const tatp_settings *settings)
{
    tatp_hint_values hints;
    memcpy(hints.of, settings->of + TATP_FIRST_HINT, sizeof hints.of);
    return hints;
}

void tatp_settings_set_hints(tatp_settings *settings, const tatp_hint_values *hints)
{
    memcpy(settings->of + TATP_FIRST_HINT, hints->of, sizeof hints->of);
}

/* ---- differences ---- */

/* For each setting, by maxima over all ranks: the last rank that has another value than rank 0, and
 * the first one, negative. */
enum { LAST, FIRST = LAST + TATP_SETTINGS, ERROR = FIRST + TATP_SETTINGS, VALUES };

/* Ranks in between may have rank 0's. */
static void report_difference(int setting, const char *file, const int64_t *value)
{
    static atomic_flag reported[TATP_SETTINGS]; /* once a process */
    char what[64], ranks[80];
    int64_t first = -value[FIRST + setting], last = value[LAST + setting];
    if (atomic_flag_test_and_set(&reported[setting]))
        return;
    if (setting >= TATP_FIRST_HINT)
        snprintf(what, sizeof what, "hint %s", tatp_hint_name(setting - TATP_FIRST_HINT));
    else if (setting >= TATP_OMPIO_BUFFER)
        snprintf(what, sizeof what, "%s", others[setting - TATP_OMPIO_BUFFER]);
    else
        snprintf(what, sizeof what, "MCA parameter fcoll_tatp_%s", parameter_table[setting].name);
    if (first == last)
        snprintf(ranks, sizeof ranks, "on rank %lld", (long long)first);
    else
        snprintf(ranks, sizeof ranks, "on some of the ranks %lld to %lld", (long long)first,
                 (long long)last);
    tatp_show_help("different", what, file, ranks);
}

/* rc: this rank's status so far. */
static int agree_on_differences(const tatp_settings *own, const tatp_settings *root,
                                coll_group *group, const char *file, int rc)
{
    int64_t value[VALUES];
    int rank = group->rank;
    for (int i = 0; i < TATP_SETTINGS; i++) {
        bool differs = own->of[i] != root->of[i];
        value[LAST + i] = differs ? rank : -1;
        value[FIRST + i] = differs ? -rank : -INT64_MAX;
    }
    value[ERROR] = tatp_error_class(rc);
    rc = coll_agree_max(group, value, VALUES);
    for (int i = 0; i < TATP_SETTINGS && 0 == rank && OMPI_SUCCESS == rc; i++)
        if (value[LAST + i] >= 0)
            report_difference(i, file, value);
    return OMPI_SUCCESS == rc ? (int)value[ERROR] : rc;
}

int tatp_settings_agree(tatp_settings *settings, coll_group *group, const char *file)
{
    const tatp_settings own = *settings;
    int count = TATP_SETTINGS;
    int rc = coll_bcast(group, settings->of, &count);
    return agree_on_differences(&own, settings, group, file, rc);
}
