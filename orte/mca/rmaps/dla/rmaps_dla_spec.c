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

    if (length == 0) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char) text[i])
            || __builtin_mul_overflow(value, 10, &value)
            || __builtin_add_overflow(value, (size_t) (text[i] - '0'), &value)) {
            return false;
        }
    }
    *number = value;
    return true;
}

int dla_spec_parse_cart(const char *text, size_t dims[DLA_SPEC_MAX_DIMS], size_t *ndims,
                        char reason[DLA_SPEC_REASON_SIZE])
{
    const reader r = { NULL, reason };
    size_t extents[DLA_SPEC_MAX_DIMS];
    size_t count = 0, product = 1;
    const char *part = text;

    for (;; part++) {
        size_t length = strcspn(part, "xX");

        if (count == DLA_SPEC_MAX_DIMS) {
            return refuse(&r, "the grid \"" SHOWN "\" has more than 8 dimensions", text);
        }
        if (!read_number(part, length, &extents[count]) || extents[count] == 0) {
            return refuse(&r, "\"" SHOWN "\" is not a grid; a grid is written like 4x2x2", text);
        }
        if (__builtin_mul_overflow(product, extents[count], &product)) {
            return refuse(&r, "the grid \"" SHOWN "\" has too many ranks to count", text);
        }
        count++;
        part += length;
        if (*part == '\0') {
            break;
        }
    }
    memcpy(dims, extents, count * sizeof(*dims));
    *ndims = count;
    return 0;
}

static int set_file(const reader *r, const char *value)
{
    if (r->spec->file != NULL) {
        return refuse(r, "%s is given twice", "file");
    }
    if (*value == '\0') {
        return refuse(r, "%s needs a name", "file=");
    }
    r->spec->file = strdup(value);
    return r->spec->file == NULL ? -ENOMEM : 0;
}

static int set_threshold(const reader *r, const char *value)
{
    size_t number;

    if (r->spec->has_threshold) {
        return refuse(r, "%s is given twice", "threshold");
    }
    if (!read_number(value, strlen(value), &number) || number > 100) {
        return refuse(r, "threshold=" SHOWN " is not a whole number of per cent from 0 to 100", value);
    }
    r->spec->has_threshold = true;
    r->spec->threshold = (unsigned) number;
    return 0;
}

const setmatch_method *dla_spec_find_method(const char *name, char reason[DLA_SPEC_REASON_SIZE])
{
    int used = snprintf(reason, DLA_SPEC_REASON_SIZE, "\"%.30s\" is not a method; there are", name);

    for (const setmatch_method *m = setmatch_methods; m->name != NULL; m++) {
        if (strcasecmp(name, m->name) == 0) {
            return m;
        }
        used += snprintf(reason + used, DLA_SPEC_REASON_SIZE - (size_t) used, "%s%s",
                         m == setmatch_methods ? " " : ", ", m->name);
    }
    return NULL;
}

static int set_method(const reader *r, const char *value)
{
    if (r->spec->method != NULL) {
        return refuse(r, "%s is given twice", "method");
    }
    r->spec->method = dla_spec_find_method(value, r->reason);
    return r->spec->method != NULL ? 0 : -EINVAL;
}

static int set_refine(const reader *r, const char *value)
{
    if (r->spec->has_refine) {
        return refuse(r, "%s is given twice", "refine");
    }
    r->spec->refine = strcasecmp(value, "on") == 0;
    if (!r->spec->refine && strcasecmp(value, "off") != 0) {
        return refuse(r, "refine=" SHOWN " is neither on nor off", value);
    }
    r->spec->has_refine = true;
    return 0;
}

static int set_cart(const reader *r, const char *value)
{
    if (r->spec->ndims != 0) {
        return refuse(r, "%s is given twice", "cart");
    }
    return dla_spec_parse_cart(value, r->spec->dims, &r->spec->ndims, r->reason);
}

static int add_qualifier(const reader *r, const char *qualifier)
{
    char *policy = r->spec->stock_policy;
    size_t used = strlen(policy);
    size_t added = strlen(qualifier) + 1;
    char separator = used == strlen(STOCK_WORD) ? ':' : ',';

    policy = realloc(policy, used + added + 1);
    if (policy == NULL) {
        return -ENOMEM;
    }
    policy[used] = separator;
    memcpy(policy + used + 1, qualifier, added);
    r->spec->stock_policy = policy;
    return 0;
}

static int set_pe(const reader *r, const char *value)
{
    char qualifier[32];
    size_t number;

    if (!read_number(value, strlen(value), &number) || number == 0 || number > MAX_PE) {
        return refuse(r, "PE=" SHOWN " is not a whole number of processors from 1 to 32767", value);
    }
    snprintf(qualifier, sizeof(qualifier), "PE=%zu", number);
    return add_qualifier(r, qualifier);
}

static int set_no_local(const reader *r, const char *word)
{
    (void) word;
    r->spec->no_local = true;
    return 0;
}

/* Every item there is; `name` ends in '=' when a value follows, the others are passed whole. */
static const struct {
    const char *name;
    int (*set)(const reader *r, const char *value);
} items[] = {
    { "file=", set_file },
    { "threshold=", set_threshold },
    { "cart=", set_cart },
    { "method=", set_method },
    { "refine=", set_refine },
    { "PE=", set_pe },
    { "OVERSUBSCRIBE", add_qualifier },
    { "NOOVERSUBSCRIBE", add_qualifier },
    { "SPAN", add_qualifier },
    { "NOLOCAL", set_no_local },
};

static int read_item(const reader *r, const char *item)
{
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        size_t length = strlen(items[i].name);
        bool has_value = items[i].name[length - 1] == '=';

        if (strncasecmp(item, items[i].name, length) == 0
            && (has_value || item[length] == '\0')) {
            return items[i].set(r, has_value ? item + length : item);
        }
    }
    if (*item == '\0') {
        return refuse(r, "%s between two separators", "there is nothing");
    }
    return refuse(r, "\"" SHOWN "\" is unknown; there are file=, threshold=, cart=, "
                     "method=, refine=, PE=, OVERSUBSCRIBE, NOOVERSUBSCRIBE, NOLOCAL and SPAN", item);
}

/* Copies up to the next separator that no backslash protects; the place of the
 * separator (or of the final 0), NULL when a backslash protects nothing. */
static const char *cut_item(const char *text, char *item)
{
    for (; *text != '\0' && *text != ',' && *text != ':'; text++) {
        if (*text == '\\' && *++text == '\0') {
            return NULL;
        }
        *item++ = *text;
    }
    *item = '\0';
    return text;
}

static int read_items(const reader *r, const char *text, char *item)
{
    int rc = 0;

    if (*text == '\0') {
        return 0;
    }
    for (;; text++) {
        text = cut_item(text, item);
        if (text == NULL) {
            return refuse(r, "%s", "there is nothing behind the last backslash");
        }
        rc = read_item(r, item);
        if (rc != 0 || *text == '\0') {
            return rc;
        }
    }
}

bool dla_spec_is_dla(const char *policy)
{
    return policy != NULL && strncasecmp(policy, "dla", 3) == 0
           && (policy[3] == '\0' || policy[3] == ':');
}

int dla_spec_parse(const char *policy, dla_spec *spec, char reason[DLA_SPEC_REASON_SIZE])
{
    const char *text = policy + strlen(policy[3] == ':' ? "dla:" : "dla");
    dla_spec fresh = { .stock_policy = strdup(STOCK_WORD) };
    const reader r = { &fresh, reason };
    char *item = malloc(strlen(text) + 1);
    int rc = -ENOMEM;

    if (item != NULL && fresh.stock_policy != NULL) {
        rc = read_items(&r, text, item);
    }
    free(item);
    if (rc != 0) {
        dla_spec_release(&fresh);
        return rc;
    }
    *spec = fresh;
    return 0;
}

void dla_spec_release(dla_spec *spec)
{
    free(spec->file);
    free(spec->stock_policy);
    memset(spec, 0, sizeof(*spec));
}
