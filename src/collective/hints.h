/* SPDX-License-Identifier: BSD-3-Clause */
/* The hints of a file that count here. */
#ifndef COLLECTIVE_HINTS_H
#define COLLECTIVE_HINTS_H

#include <stdint.h>

#include "collective/process.h"

enum coll_hint {
    COLL_HINT_CB_NODES,
    COLL_HINT_CB_BUFFER_SIZE,
    COLL_HINT_STRIPING_UNIT,
    COLL_HINT_STRIPING_FACTOR,
    COLL_HINT_CB_WRITE,
    COLL_HINT_CB_READ,
    COLL_HINT_COLLECTIVE_BUFFERING,
    COLL_HINTS
};

/* Values of the last three: enable or true, disable or false, automatic. */
enum { COLL_HINT_ON = 1, COLL_HINT_OFF, COLL_HINT_AUTOMATIC };

/* 0: none. */
typedef struct coll_hint_values {
    int64_t of[COLL_HINTS];
} coll_hint_values;

/* The longest text of a value, with its NUL. */
enum { COLL_HINT_TEXT = 24 };

const char *coll_hint_name(enum coll_hint hint);
/* The hint of this name, which is that of one. */
enum coll_hint coll_hint_find(const char *name);
/* 0: as without the hint, or the text is no value of it, which is reported, once a process for each
 * hint, unless the process is NULL. */
int64_t coll_hint_read(coll_process *process, enum coll_hint hint, const char *text);
/* The text of a value > 0. */
const char *coll_hint_text(enum coll_hint hint, int64_t value, char text[COLL_HINT_TEXT]);

#endif
