/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads the text behind --map-by dla:.
 */
#include "rmaps_dla_spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STOCK_WORD "slot"
#define MAX_PE 32767

/* An item being read: what it sets, and where a complaint goes. */
typedef struct reader {
    dla_spec *spec;
    char *reason;
} reader;

/* Cuts a name that is too long to be shown whole. */
#define SHOWN "%.80s"

static int refuse(const reader *r, const char *format, const char *text)
{
    snprintf(r->reason, DLA_SPEC_REASON_SIZE, format, text);
    return -EINVAL;
}

/* Digits only, as strtoul also takes signs and blanks. */
static bool read_number(const char *text, size_t length, size_t *number)
{
    size_t value = 0;

    if (length == 0)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)text[i]) || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (size_t)(text[i] - '0'), &value))
            return false;
    *number = value;
    return true;
}

/* ---- items with a value ---- */

static int given_twice(const reader *r, const char *name)
{
    refuse(r, "%s is given twice", name);
    return -EEXIST;
}

static int set_name(const reader *r, const char *key, char **name, const char *value)
{
    if (NULL != *name)
        return given_twice(r, key);
    if (*value == '\0')
        return refuse(r, "%s= needs a name", key);
    *name = strdup(value);
    return NULL == *name ? -ENOMEM : 0;
}

static int set_file(const reader *r, const char *value)
{
    return set_name(r, "file", &r->spec->file, value);
}

static int set_topology(const reader *r, const char *value)
{
    return set_name(r, "topology", &r->spec->topology, value);
}

static int set_bandwidth(const reader *r, const char *value)
{
    return set_name(r, "bandwidth", &r->spec->bandwidth, value);
}

static int set_threshold(const reader *r, const char *value)
{
    size_t number;

    if (r->spec->has_threshold)
        return given_twice(r, "threshold");
    if (!read_number(value, strlen(value), &number) || number > 100) {
        return refuse(r, "threshold=" SHOWN " is not a whole number of per cent from 0 to 100",
                      value);
    }
    r->spec->has_threshold = true;
    r->spec->threshold = (unsigned)number;
    return 0;
}

/* "VALUE" is not a WHAT; there are NAME, NAME, ...: takes one name after the other. */
typedef struct choice {
    char *reason;
    size_t used;
    const char *separator;
} choice;

static choice refuse_choice(const reader *r, const char *what, const char *value)
{
    choice c = {r->reason, 0, " "};

    c.used = (size_t)snprintf(c.reason, DLA_SPEC_REASON_SIZE, "\"%.30s\" is not %s; there are",
                              value, what);
    return c;
}

static void offer(choice *c, const char *name)
{
    c->used += (size_t)snprintf(c->reason + c->used, DLA_SPEC_REASON_SIZE - c->used, "%s%s",
                                c->separator, name);
    c->separator = ", ";
}

static int set_method(const reader *r, const char *value)
{
    choice c;

    if (NULL != r->spec->method)
        return given_twice(r, "method");
    for (const setmatch_method *m = setmatch_methods; NULL != m->name; m++) {
        if (strcasecmp(value, m->name) == 0) {
            r->spec->method = m;
            return 0;
        }
    }
    c = refuse_choice(r, "a method", value);
    for (const setmatch_method *m = setmatch_methods; NULL != m->name; m++)
        offer(&c, m->name);
    return -EINVAL;
}

/* What an item may say: the names of its values, in the order of an enum, closed by NULL. */
typedef struct names {
    const char *key, *what;
    const char *const *name;
} names;

/* The index of a value among the item's names, and that the item is *given; or an error. */
static int find_name(const reader *r, const names *n, const char *value, bool *given)
{
    choice c;

    if (*given)
        return given_twice(r, n->key);
    for (int i = 0; NULL != n->name[i]; i++) {
        if (strcasecmp(value, n->name[i]) == 0) {
            *given = true;
            return i;
        }
    }
    c = refuse_choice(r, n->what, value);
    for (int i = 0; NULL != n->name[i]; i++)
        offer(&c, n->name[i]);
    return -EINVAL;
}

static int set_objective(const reader *r, const char *value)
{
    static const names objectives = {"objective", "an objective", setmatch_objective_names};
    int found = find_name(r, &objectives, value, &r->spec->has_objective);

    if (found < 0)
        return found;
    r->spec->objective = (setmatch_objective)found;
    return 0;
}

static int set_domains(const reader *r, const char *value)
{
    static const names kinds = {"domains", "a kind of file domains", setmatch_domains_names};
    int found = find_name(r, &kinds, value, &r->spec->has_domains);

    if (found < 0)
        return found;
    r->spec->domains = (setmatch_domains)found;
    return 0;
}

static int set_order(const reader *r, const char *value)
{
    static const char *const orders[] = {"C", "Fortran", NULL};
    static const names grid_orders = {"order", "an order", orders};
    int found = find_name(r, &grid_orders, value, &r->spec->has_order);

    if (found < 0)
        return found;
    r->spec->cart.order = (setmatch_order)found;
    return 0;
}

static int set_refine(const reader *r, const char *value)
{
    bool on = strcasecmp(value, "on") == 0;

    if (r->spec->has_refine)
        return given_twice(r, "refine");
    if (!on && strcasecmp(value, "off") != 0)
        return refuse(r, "refine=" SHOWN " is neither on nor off", value);
    r->spec->has_refine = true;
    r->spec->refine = on;
    return 0;
}

/* ---- the grid ---- */

static size_t count_dims(const char *text)
{
    size_t count = 1;

    for (; *text != '\0'; text++)
        count += *text == 'x' || *text == 'X';
    return count;
}

static int read_dims(const reader *r, const char *text, size_t *dims, size_t ndims)
{
    const char *part = text;
    size_t product = 1;

    for (size_t i = 0; i < ndims; i++, part++) {
        size_t length = strcspn(part, "xX");

        if (!read_number(part, length, &dims[i]) || dims[i] == 0)
            return refuse(r, "\"" SHOWN "\" is not a grid; a grid is written like 4x2x2", text);
        if (__builtin_mul_overflow(product, dims[i], &product))
            return refuse(r, "the grid \"" SHOWN "\" has too many ranks to count", text);
        part += length;
    }
    return 0;
}

static int set_cart(const reader *r, const char *value)
{
    size_t ndims = count_dims(value);
    size_t *dims;
    int rc;

    if (r->spec->cart.ndims != 0)
        return given_twice(r, "cart");
    dims = calloc(ndims, sizeof(*dims));
    if (NULL == dims)
        return -ENOMEM;
    rc = read_dims(r, value, dims, ndims);
    if (rc != 0) {
        free(dims);
        return rc;
    }
    r->spec->cart.dims = dims;
    r->spec->cart.ndims = ndims;
    return 0;
}

/* ---- qualifiers ---- */

static int add_qualifier(const reader *r, const char *qualifier)
{
    char *policy = r->spec->stock_policy;
    size_t used = strlen(policy);
    size_t added = strlen(qualifier) + 1;
    char separator = used == strlen(STOCK_WORD) ? ':' : ',';

    policy = realloc(policy, used + added + 1);
    if (NULL == policy)
        return -ENOMEM;
    policy[used] = separator;
    memcpy(policy + used + 1, qualifier, added);
    r->spec->stock_policy = policy;
    return 0;
}

static int set_pe(const reader *r, const char *value)
{
    char qualifier[32];
    size_t number;

    if (!read_number(value, strlen(value), &number) || number == 0 || number > MAX_PE)
        return refuse(r, "PE=" SHOWN " is not a whole number of processors from 1 to 32767", value);
    snprintf(qualifier, sizeof(qualifier), "PE=%zu", number);
    return add_qualifier(r, qualifier);
}

static int set_no_local(const reader *r, const char *word)
{
    (void)word;
    r->spec->no_local = true;
    return 0;
}

/* Every item there is; `name` ends in '=' when a value follows, the others are passed whole. */
static const struct {
    const char *name;
    int (*set)(const reader *r, const char *value);
} items[] = {
    {"file=", set_file},
    {"cart=", set_cart},
    {"order=", set_order},
    {"method=", set_method},
    {"objective=", set_objective},
    {"domains=", set_domains},
    {"threshold=", set_threshold},
    {"refine=", set_refine},
    {"topology=", set_topology},
    {"bandwidth=", set_bandwidth},
    {"PE=", set_pe},
    {"OVERSUBSCRIBE", add_qualifier},
    {"NOOVERSUBSCRIBE", add_qualifier},
    {"SPAN", add_qualifier},
    {"NOLOCAL", set_no_local},
};

static int read_item(const reader *r, const char *item)
{
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        size_t length = strlen(items[i].name);
        bool has_value = items[i].name[length - 1] == '=';

        if (strncasecmp(item, items[i].name, length) == 0 && (has_value || item[length] == '\0'))
            return items[i].set(r, has_value ? item + length : item);
    }
    if (*item == '\0')
        return refuse(r, "%s between two separators", "there is nothing");
    return refuse(r,
                  "\"" SHOWN "\" is unknown; there are file=, cart=, order=, method=, objective=, "
                  "domains=, threshold=, refine=, topology=, bandwidth=, PE=, OVERSUBSCRIBE, "
                  "NOOVERSUBSCRIBE, NOLOCAL and SPAN",
                  item);
}

int dla_spec_set(dla_spec *spec, const char *item, char reason[DLA_SPEC_REASON_SIZE])
{
    return read_item(&(reader){spec, reason}, item);
}

/* Copies up to the next separator that no backslash protects; the place of the
 * separator (or of the final 0), NULL when a backslash protects nothing. */
static const char *cut_item(const char *text, char *item)
{
    for (; *text != '\0' && *text != ',' && *text != ':'; text++) {
        if (*text == '\\' && *++text == '\0')
            return NULL;
        *item++ = *text;
    }
    *item = '\0';
    return text;
}

static int read_items(const reader *r, const char *text, char *item)
{
    int rc = 0;

    if (*text == '\0')
        return 0;
    for (;; text++) {
        text = cut_item(text, item);
        if (NULL == text)
            return refuse(r, "%s", "there is nothing behind the last backslash");
        rc = read_item(r, item);
        if (rc != 0 || *text == '\0')
            return rc;
    }
}

bool dla_spec_is_dla(const char *policy)
{
    return NULL != policy && strncasecmp(policy, "dla", 3) == 0 &&
           (policy[3] == '\0' || policy[3] == ':');
}

int dla_spec_parse(const char *policy, dla_spec *spec, char reason[DLA_SPEC_REASON_SIZE])
{
    const char *text = policy + strlen(policy[3] == ':' ? "dla:" : "dla");
    dla_spec fresh = {.stock_policy = strdup(STOCK_WORD)};
    const reader r = {&fresh, reason};
    char *item = malloc(strlen(text) + 1);
    int rc = -ENOMEM;

    if (NULL != item && NULL != fresh.stock_policy)
        rc = read_items(&r, text, item);
    free(item);
    if (rc != 0) {
        dla_spec_release(&fresh);
        return rc == -EEXIST ? -EINVAL : rc;
    }
    *spec = fresh;
    return 0;
}

void dla_spec_release(dla_spec *spec)
{
    free(spec->file);
    free(spec->topology);
    free(spec->bandwidth);
    free(spec->cart.dims);
    free(spec->stock_policy);
    memset(spec, 0, sizeof(*spec));
}
