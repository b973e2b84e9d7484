/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/hints.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "plan/division.h"

static const char *const switches[] = {"enable", "disable", "automatic", NULL};
static const char *const truths[] = {"true", "false", NULL};

typedef struct hint_key {
    const char *name;
    const char *const *names; /* of values 1, 2, ...; NULL for a number ... */
    int64_t least, most;      /* ... in this range; up to 0: as without the hint */
    const char *valid;
} hint_key;

static const hint_key keys[COLL_HINTS] = {
    [COLL_HINT_CB_NODES] = {"cb_nodes", NULL, 1, INT64_MAX, "a number of ranks"},
    [COLL_HINT_CB_BUFFER_SIZE] = {"cb_buffer_size", NULL, 1, INT64_MAX, "a number of bytes"},
    /* ROMIO, and Lustre: 0 is the file system's default, -1 all storage targets. */
    [COLL_HINT_STRIPING_UNIT] = {"striping_unit", NULL, 0, DIVISION_LARGEST_STRIPE,
                                 "a number of bytes up to 4294967296"},
    [COLL_HINT_STRIPING_FACTOR] = {"striping_factor", NULL, -1, INT_MAX,
                                   "a number of storage targets"},
    [COLL_HINT_CB_WRITE] = {"romio_cb_write", switches, 0, 0, "enable, disable, automatic"},
    [COLL_HINT_CB_READ] = {"romio_cb_read", switches, 0, 0, "enable, disable, automatic"},
    [COLL_HINT_COLLECTIVE_BUFFERING] = {"collective_buffering", truths, 0, 0, "true, false"},
};

const char *coll_hint_name(enum coll_hint hint)
{
    return keys[hint].name;
}

enum coll_hint coll_hint_find(const char *name)
{
    enum coll_hint hint = 0;
    while (hint < COLL_HINTS - 1 && strcmp(keys[hint].name, name) != 0)
        hint++;
    return hint;
}

/* False: the text is no value of the hint. */
static bool parse_hint(const hint_key *key, const char *text, int64_t *value)
{
    char *end;
    if (key->names != NULL) {
        for (int i = 0; key->names[i] != NULL; i++)
            if (strcasecmp(key->names[i], text) == 0)
                *value = i + 1;
        return *value > 0;
    }
    errno = 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *value >= key->least && *value <= key->most;
}

int64_t coll_hint_read(coll_process *process, enum coll_hint hint, const char *text)
{
    const hint_key *key = &keys[hint];
    int64_t value = 0;
    const bool is_valid = parse_hint(key, text, &value);
    if (!is_valid && process != NULL && coll_is_first(process, "hint", key->name))
        coll_show(process, COLL_TEXT_HINT, key->name, text, key->valid);
    return is_valid && value > 0 ? value : 0;
}

const char *coll_hint_text(enum coll_hint hint, int64_t value, char text[COLL_HINT_TEXT])
{
    if (keys[hint].names != NULL)
        return keys[hint].names[value - 1];
    snprintf(text, COLL_HINT_TEXT, "%lld", (long long)value);
    return text;
}
