/* SPDX-License-Identifier: BSD-3-Clause */
/* Names by number, numbers by name, and the matching of host names. */
#define _GNU_SOURCE /* qsort_r */
#include "topo/names.h"

#include "base/memory.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- tables ---- */

/* FNV-1a. */
static uint64_t hash_bytes(const void *bytes, size_t length)
{
    const unsigned char *byte = bytes;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        h = (h ^ byte[i]) * UINT64_C(0x100000001b3);
    return h ^ (h >> 32);
}

static size_t length_of(const name_table *names, size_t index)
{
    return names->start[index + 1] - names->start[index] - 1;
}

const char *name_table_get(const name_table *names, size_t index)
{
    return names->text + names->start[index];
}

/* The slot of those bytes, or the free one for them. */
static size_t find_slot(const name_table *names, const void *bytes, size_t length)
{
    assert(names->count < names->slots);
    size_t s = (size_t)hash_bytes(bytes, length) & (names->slots - 1);
    while (names->slot[s] != 0) {
        size_t index = names->slot[s] - 1;
        if (length_of(names, index) == length &&
            memcmp(name_table_get(names, index), bytes, length) == 0)
            break;
        s = (s + 1) & (names->slots - 1);
    }
    return s;
}

/* NO_INDEX: not in the table. */
static size_t find_known(const name_table *names, const void *bytes, size_t length)
{
    if (names->slots == 0)
        return NO_INDEX;
    size_t s = find_slot(names, bytes, length);
    return names->slot[s] == 0 ? NO_INDEX : names->slot[s] - 1;
}

static int rehash_names(name_table *names)
{
    size_t slots = names->slots == 0 ? 64 : names->slots * 2;
    size_t *slot = calloc(slots, sizeof *slot);
    if (slot == NULL)
        return -ENOMEM;
    free(names->slot);
    names->slot = slot;
    names->slots = slots;
    for (size_t i = 0; i < names->count; i++)
        slot[find_slot(names, name_table_get(names, i), length_of(names, i))] = i + 1;
    return 0;
}

static int name_table_reserve(name_table *names, size_t length)
{
    size_t needed;
    if (__builtin_add_overflow(names->used, length, &needed) ||
        __builtin_add_overflow(needed, 1, &needed))
        return -ENOMEM;
    int rc = base_reserve(&names->text, &names->text_capacity, needed, 1);
    if (rc == 0)
        rc = base_reserve(&names->start, &names->capacity, names->count + 2, sizeof *names->start);
    if (rc == 0 && names->count + 1 > names->slots / 2)
        rc = rehash_names(names);
    return rc;
}

int name_table_add(name_table *names, const void *bytes, size_t length, size_t *index)
{
    size_t known = find_known(names, bytes, length);
    if (known != NO_INDEX) {
        *index = known;
        return 0;
    }
    int rc = name_table_reserve(names, length);
    if (rc != 0)
        return rc;
    names->slot[find_slot(names, bytes, length)] = names->count + 1;
    memcpy(names->text + names->used, bytes, length);
    names->text[names->used + length] = '\0';
    names->start[names->count] = names->used;
    names->used += length + 1;
    *index = names->count++;
    names->start[names->count] = names->used;
    return 0;
}

void name_table_release(name_table *names)
{
    free(names->text);
    free(names->start);
    free(names->slot);
    *names = (name_table){0};
}

/* ---- hosts ---- */

static size_t short_length(const char *name)
{
    return strcspn(name, ".");
}

static int compare_short(const char *a, const char *b)
{
    size_t m = short_length(a), n = short_length(b);
    int order = strncasecmp(a, b, m < n ? m : n);
    return order != 0 ? order : (m > n) - (m < n);
}

static int compare_names(const char *a, const char *b)
{
    int order = compare_short(a, b);
    return order != 0 ? order : strcasecmp(a, b);
}

static int compare_hosts(const void *a, const void *b, void *context)
{
    const name_table *names = context;
    return compare_names(name_table_get(names, *(const size_t *)a),
                         name_table_get(names, *(const size_t *)b));
}

static int has_domain(const char *name)
{
    return name[short_length(name)] != '\0';
}

/* Whether two names may stand for one host: if only one has a domain, that is ignored. */
static int same_host(const char *a, const char *b)
{
    return has_domain(a) == has_domain(b) ? strcasecmp(a, b) == 0 : compare_short(a, b) == 0;
}

/* The hosts of a table, sorted so that names that may stand for one host are adjacent. */
typedef struct host_index {
    const name_table *names;
    size_t *order;
    size_t count;
} host_index;

static int sort_hosts(host_index *index, const name_table *names)
{
    *index = (host_index){names, calloc(names->count | 1, sizeof *index->order), names->count};
    if (index->order == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < names->count; i++)
        index->order[i] = i;
    qsort_r(index->order, index->count, sizeof *index->order, compare_hosts,
            (void *)(uintptr_t)names);
    return 0;
}

static const char *nth_name(const host_index *index, size_t k)
{
    return name_table_get(index->names, index->order[k]);
}

static int same_name(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}

/* The first place whose name is not before `name` by that order. */
static size_t first_from(const host_index *index, const char *name,
                         int (*compare)(const char *, const char *))
{
    size_t low = 0, high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(nth_name(index, middle), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Names equal without case, or else those that may stand for the host: one without a domain is
 * before all others of its short name. Two are enough to refuse the host, so no more are counted.
 */
static size_t count_matches(const host_index *index, const char *host, size_t *first)
{
    int (*matches)(const char *, const char *) = same_name;
    *first = first_from(index, host, compare_names);
    if (*first == index->count || !same_name(nth_name(index, *first), host)) {
        matches = same_host;
        *first = first_from(index, host, compare_short);
    }
    size_t count = 0;
    while (count < 2 && *first + count < index->count &&
           matches(nth_name(index, *first + count), host))
        count++;
    return count;
}

static int find_host(const host_index *index, const char *host, size_t *found, matrix_error *error)
{
    size_t first, count = count_matches(index, host, &first);
    if (count > 1)
        return matrix_refuse(error, 0, "host %.60s may be %.60s or %.60s", host,
                             nth_name(index, first), nth_name(index, first + 1));
    if (count == 0)
        return REFUSE_HOST(error, "host %.150s is not in the file", host);
    *found = index->order[first];
    return 0;
}

/* Notes in host_of[] that a name of the table is of host n. */
static int claim_name(size_t *host_of, const char *const *hosts, size_t n, size_t name,
                      matrix_error *error)
{
    if (host_of[name] != 0)
        return matrix_refuse(error, 0, "host %.150s is given twice", hosts[n]);
    host_of[name] = n + 1;
    return 0;
}

int find_hosts(const name_table *names, const char *const *hosts, size_t nodes, int optional,
               size_t *found, matrix_error *error)
{
    host_index index = {0};
    size_t *host_of = calloc(names->count | 1, sizeof *host_of);
    int rc = host_of == NULL ? -ENOMEM : sort_hosts(&index, names);
    for (size_t n = 0; rc == 0 && n < nodes; n++) {
        rc = find_host(&index, hosts[n], &found[n], error);
        if (rc == -ENXIO && optional) {
            found[n] = NO_INDEX;
            rc = 0;
        } else if (rc == 0) {
            rc = claim_name(host_of, hosts, n, found[n], error);
        }
    }
    free(index.order);
    free(host_of);
    return rc;
}
