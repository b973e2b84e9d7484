/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The units of fitted file domains (see fitted.h): how a range is cut into them, the bytes of an
 * access in each, which domain each belongs to, and how the latter is broadcast.
 *
 * Functions return 0 or a negative errno value; outputs are set only on success.
 */
#ifndef PLAN_PIECES_H
#define PLAN_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/units.h"
#include "matrix/matrix.h"
#include "plan/division.h"

/* The range [lo, hi) in units; zeroed: none. */
typedef struct pieces {
    int64_t lo, hi;
    bool columns;   /* unit u is all stripes s of the file with s % count == u */
    int64_t base;   /* otherwise units are counted from this byte of the file, <= lo */
    int64_t unit;   /* bytes of a unit, or of a stripe */
    size_t count;   /* of units that reach into the range */
    size_t *domain; /* of each; NULL if it is not assigned. pieces_release frees it */
} pieces;

void pieces_release(pieces *p);

/* The units of [lo, hi) for `domains` domains. Where stripes of a storage target belong together
 * these are columns of stripes: all stripes of one target or, with more domains than targets, a
 * part of them that is as regular. Otherwise a unit is one stripe, counted from byte 0, so that the
 * borders of stripes stay borders; or without stripes 64 KiB, about what file systems lock, cache
 * and place, counted from lo: the best guess at where the blocks of a program begin. Of ranges of
 * more than 2^20 units these are doubled. 0 <= lo < hi. */
pieces pieces_of(const division_settings *settings, size_t domains, int64_t lo, int64_t hi);

/* Domains from units that are assigned or, where none is, each a domain of its own. -ENOMEM. */
int pieces_divide(const pieces *p, const division_settings *settings, size_t domains,
                  division *result);

/* ---- bytes ---- */

/* Bytes of an ordered list, which lies inside the range, in each unit. -ENOMEM. */
int pieces_count(const pieces *p, const access_list *list, unit_counts *counts);

/* Bytes of each node in each unit, from the steps of each. Zeroed: empty. The caller frees entry.
 * With more than PIECES_MOST_ENTRIES it takes no more memory: too_many. */
#define PIECES_MOST_ENTRIES ((size_t)1 << 23)
typedef struct pieces_bytes {
    matrix_entry *entry; /* unit, node, bytes */
    size_t count, capacity;
    bool too_many;
} pieces_bytes;

/* The units that one node may access of so many nodes. Where more do, each in more units than that,
 * many nodes share a unit, and fitted domains save less than PLANNER_LEAST_SAVING. */
size_t pieces_most_of_node(const pieces *p, size_t nodes);

/* A step of -1 units: the node accesses too many. -ENOMEM. */
int pieces_add_bytes(pieces_bytes *all, size_t node, const unit_step *step, size_t steps);

/* ---- broadcast ---- */

/* Adjacent units of one domain. */
typedef struct pieces_run {
    size_t first, count, domain;
} pieces_run;

/* The run of assigned units that begins with unit `first`, in one element. */
int64_t pieces_put_run(const pieces *p, size_t first);
/* The inverse, whose count is 0 if the element is none of the units of `domains` domains. */
pieces_run pieces_take_run(const pieces *p, size_t first, int64_t element, size_t domains);

/* Divides units that are not columns, without a range yet (domains_begin). */
int pieces_begin(const pieces *p, const division_settings *settings, size_t domains,
                 division *result);
/* The bytes of a run of them (domains_append). */
void pieces_bounds(const pieces *p, const pieces_run *run, int64_t *lo, int64_t *hi);

#endif
