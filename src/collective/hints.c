/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective/hints.h"

#include <errno.h>
#include <limits.h>
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
    int64_t most;             /* ... from 1 to this */
    const char *valid;
} hint_key;

static const hint_key keys[COLL_HINTS] = {
    [COLL_HINT_CB_NODES] = {"cb_nodes", NULL, INT64_MAX, "a number of ranks"},
    [COLL_HINT_CB_BUFFER_SIZE] = {"cb_buffer_size", NULL, INT64_MAX, "a number of bytes"},
    [COLL_HINT_STRIPING_UNIT] = {"striping_unit", NULL, DIVISION_LARGEST_STRIPE,
                                 "a number of bytes up to 4294967296"},
    [COLL_HINT_STRIPING_FACTOR] = {"striping_factor", NULL, INT_MAX, "a number of storage targets"},
    [COLL_HINT_CB_WRITE] = {"romio_cb_write", switches, 0, "enable, disable, automatic"},
    [COLL_HINT_CB_READ] = {"romio_cb_read", switches, 0, "enable, disable, automatic"},
    [COLL_HINT_COLLECTIVE_BUFFERING] = {"collective_buffering", truths, 0, "true, false"},
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

static int64_t parse_hint(enum coll_hint hint, const char *text)
{
    const hint_key *key = &keys[hint];
    char *end;
    if (key->names != NULL) {
        for (int i = 0; key->names[i] != NULL; i++)
            if (strcasecmp(key->names[i], text) == 0)
                return i + 1;
        return 0;
    }
    errno = 0;
    long long value = strtoll(text, &end, 10);
    bool is_valid = errno == 0 && end != text && *end == '\0' && value > 0 && value <= key->most;
    return is_valid ? (int64_t)value : 0;
}

int64_t coll_hint_read(coll_process *process, enum coll_hint hint, const char *text)
{
    const hint_key *key = &keys[hint];
    int64_t value = parse_hint(hint, text);
    if (value == 0 && process != NULL && coll_is_first(process, "hint", key->name))
        coll_show(process, COLL_TEXT_HINT, key->name, text, key->valid);
    return value;
}

const char *coll_hint_text(enum coll_hint hint, int64_t value, char text[COLL_HINT_TEXT])
{
    if (keys[hint].names != NULL)
        return keys[hint].names[value - 1];
    snprintf(text, COLL_HINT_TEXT, "%lld", (long long)value);
    return text;
}
