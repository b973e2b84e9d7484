/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parses the text of --map-by dla.
 */
#define _GNU_SOURCE /* asprintf */
#include "dla/spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STOCK_POLICY "slot"
#define MAX_PE 32767

/* ---- choices ---- */

/* `rejection` is the message for another value; `lists`: the names follow it. */
static const struct {
    const char *key, *rejection;
    bool lists;
    const char *const *name; /* ends with NULL; NULL: of setmatch_methods */
} choices[DLA_CHOICES] = {
    [DLA_METHOD] = {"method", "\"%.30s\" is not a method; there are", true, NULL},
    [DLA_OBJECTIVE] = {"objective", "\"%.30s\" is not an objective; there are", true,
                       setmatch_objective_names},
    [DLA_DOMAINS] = {"domains", "\"%.30s\" is not a kind of file domains; there are", true,
                     setmatch_domains_names},
    [DLA_ORDER] = {"order", "\"%.30s\" is not an order; there are", true,
                   (const char *const[]){"C", "Fortran", NULL}},
    [DLA_REFINE] = {"refine", "refine=%.30s is neither on nor off", false,
                    (const char *const[]){"on", "off", NULL}},
    [DLA_NUMA] = {"numa", "numa=%.30s is neither on nor off", false,
                  (const char *const[]){"on", "off", NULL}},
};

const char *dla_choice_key(dla_choice choice)
{
    return choices[choice].key;
}

const char *dla_choice_name(dla_choice choice, int value)
{
    const char *const *name = choices[choice].name;

    return name == NULL ? setmatch_methods[value].name : name[value];
}

/* -1: there is none. */
static int find_choice_value(dla_choice choice, const char *name)
{
    const char *known;

    for (int value = 0; (known = dla_choice_name(choice, value)) != NULL; value++)
        if (strcasecmp(name, known) == 0)
            return value;
    return -1;
}

/* ---- items with a value ---- */

/* The spec that the items set, and the buffer for the reason of a rejection. */
typedef struct spec_parser {
    dla_spec *spec;
    char *reason;
} spec_parser;

/* A name too long for a message is cut. */
#define SHOWN "%.80s"

static int reject_item(const spec_parser *p, const char *format, const char *text)
{
    snprintf(p->reason, DLA_SPEC_REASON_SIZE, format, text);
    return -EINVAL;
}

static int reject_repetition(const spec_parser *p, const char *key)
{
    reject_item(p, "%s is given twice", key);
    return -EEXIST;
}

/* Digits only: strtoul also accepts signs and blanks. */
static bool parse_digits(const char *text, size_t length, size_t *number)
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

/* `offset` is that of a char * in dla_spec. */
static int set_spec_name(const spec_parser *p, const char *key, size_t offset, const char *value)
{
    char **name = (char **)((char *)p->spec + offset);

    if (*name != NULL)
        return reject_repetition(p, key);
    if (*value == '\0')
        return reject_item(p, "%s= needs a name", key);
    *name = strdup(value);
    return *name == NULL ? -ENOMEM : 0;
}

static int set_spec_threshold(const spec_parser *p, const char *value)
{
    size_t number;

    if (p->spec->has_threshold)
        return reject_repetition(p, "threshold");
    if (!parse_digits(value, strlen(value), &number) || number > 100) {
        return reject_item(p, "threshold=" SHOWN " is not a whole number of per cent from 0 to 100",
                           value);
    }
    p->spec->has_threshold = true;
    p->spec->threshold = (unsigned)number;
    return 0;
}

static int set_spec_choice(const spec_parser *p, dla_choice choice, const char *value)
{
    int found = find_choice_value(choice, value);
    size_t used;

    if (p->spec->has_choice[choice])
        return reject_repetition(p, choices[choice].key);
    if (found >= 0) {
        p->spec->has_choice[choice] = true;
        p->spec->choice[choice] = found;
        return 0;
    }
    reject_item(p, choices[choice].rejection, value);
    for (int i = 0; choices[choice].lists && dla_choice_name(choice, i) != NULL; i++) {
        used = strlen(p->reason);
        snprintf(p->reason + used, DLA_SPEC_REASON_SIZE - used, "%s%s", i == 0 ? " " : ", ",
                 dla_choice_name(choice, i));
    }
    return -EINVAL;
}

/* ---- the grid ---- */

static int parse_dims(const spec_parser *p, const char *text, size_t *dims, size_t ndims)
{
    const char *part = text;
    size_t product = 1;

    for (size_t i = 0; i < ndims; i++, part++) {
        size_t length = strcspn(part, "xX");

        if (!parse_digits(part, length, &dims[i]) || dims[i] == 0)
            return reject_item(p, "\"" SHOWN "\" is not a grid; a grid is written like 4x2x2",
                               text);
        if (__builtin_mul_overflow(product, dims[i], &product))
            return reject_item(p, "the grid \"" SHOWN "\" has too many ranks to count", text);
        part += length;
    }
    return 0;
}

static int set_spec_cart(const spec_parser *p, const char *value)
{
    size_t ndims = 1;
    size_t *dims;
    int rc;

    if (p->spec->cart.ndims != 0)
        return reject_repetition(p, "cart");
    for (const char *c = value; *c != '\0'; c++)
        ndims += *c == 'x' || *c == 'X';
    dims = calloc(ndims, sizeof *dims);
    if (dims == NULL)
        return -ENOMEM;
    rc = parse_dims(p, value, dims, ndims);
    if (rc == 0)
        p->spec->cart = (dla_cart){dims, ndims};
    else
        free(dims);
    return rc;
}

/* ---- qualifiers ---- */

static int add_qualifier(const spec_parser *p, const char *qualifier)
{
    char *policy = p->spec->stock_policy;
    char separator = strcmp(policy, STOCK_POLICY) == 0 ? ':' : ',';

    if (asprintf(&p->spec->stock_policy, "%s%c%s", policy, separator, qualifier) < 0) {
        p->spec->stock_policy = policy;
        return -ENOMEM;
    }
    free(policy);
    return 0;
}

static int set_spec_pe(const spec_parser *p, const char *value)
{
    char qualifier[32];
    size_t number;

    if (!parse_digits(value, strlen(value), &number) || number == 0 || number > MAX_PE) {
        return reject_item(p, "PE=" SHOWN " is not a whole number of processors from 1 to 32767",
                           value);
    }
    snprintf(qualifier, sizeof(qualifier), "PE=%zu", number);
    return add_qualifier(p, qualifier);
}

/* ---- the policy ---- */

/* The value of "KEY=VALUE"; NULL if `item` is not of that key. */
static const char *match_key(const char *item, const char *key)
{
    size_t length = strlen(key);

    return strncasecmp(item, key, length) == 0 && item[length] == '=' ? item + length + 1 : NULL;
}

static int parse_qualifier(const spec_parser *p, const char *item)
{
    if (strcasecmp(item, "OVERSUBSCRIBE") == 0 || strcasecmp(item, "NOOVERSUBSCRIBE") == 0 ||
        strcasecmp(item, "SPAN") == 0)
        return add_qualifier(p, item);
    if (strcasecmp(item, "NOLOCAL") == 0) {
        p->spec->no_local = true;
        return 0;
    }
    if (*item == '\0')
        return reject_item(p, "%s between two separators", "there is nothing");
    return reject_item(p,
                       "\"" SHOWN
                       "\" is unknown; there are file=, cart=, order=, method=, objective=, "
                       "domains=, threshold=, refine=, numa=, topology=, bandwidth=, PE=, "
                       "OVERSUBSCRIBE, NOOVERSUBSCRIBE, NOLOCAL and SPAN",
                       item);
}

static int parse_item(const spec_parser *p, const char *item)
{
    static const struct {
        const char *key;
        size_t offset;
    } names[] = {{"file", offsetof(dla_spec, file)},
                 {"topology", offsetof(dla_spec, topology)},
                 {"bandwidth", offsetof(dla_spec, bandwidth)}};
    const char *value;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if ((value = match_key(item, names[i].key)) != NULL)
            return set_spec_name(p, names[i].key, names[i].offset, value);
    for (dla_choice c = 0; c < DLA_CHOICES; c++)
        if ((value = match_key(item, choices[c].key)) != NULL)
            return set_spec_choice(p, c, value);
    if ((value = match_key(item, "cart")) != NULL)
        return set_spec_cart(p, value);
    if ((value = match_key(item, "threshold")) != NULL)
        return set_spec_threshold(p, value);
    if ((value = match_key(item, "PE")) != NULL)
        return set_spec_pe(p, value);
    return parse_qualifier(p, item);
}

int dla_spec_set(dla_spec *spec, const char *item, char reason[DLA_SPEC_REASON_SIZE])
{
    return parse_item(&(spec_parser){spec, reason}, item);
}

/* Copies and unquotes one item. Returns the position of the separator or of the final NUL; NULL if
 * the text ends in a backslash. */
static const char *copy_item(const char *text, char *item)
{
    for (; *text != '\0' && *text != ',' && *text != ':'; text++) {
        if (*text == '\\' && *++text == '\0')
            return NULL;
        *item++ = *text;
    }
    *item = '\0';
    return text;
}

static int parse_items(const spec_parser *p, const char *text, char *item)
{
    int rc = 0;

    if (*text == '\0')
        return 0;
    for (;; text++) {
        text = copy_item(text, item);
        if (text == NULL)
            return reject_item(p, "%s", "there is nothing behind the last backslash");
        rc = parse_item(p, item);
        if (rc != 0 || *text == '\0')
            return rc;
    }
}

bool dla_spec_is_dla(const char *policy)
{
    return policy != NULL && strncasecmp(policy, "dla", 3) == 0 &&
           (policy[3] == '\0' || policy[3] == ':');
}

int dla_spec_parse(const char *policy, dla_spec *spec, char reason[DLA_SPEC_REASON_SIZE])
{
    const char *text = policy + strlen(policy[3] == ':' ? "dla:" : "dla");
    dla_spec parsed = {.stock_policy = strdup(STOCK_POLICY)};
    char *item = strdup(text); /* as long as the longest item */
    int rc = -ENOMEM;

    if (item != NULL && parsed.stock_policy != NULL)
        rc = parse_items(&(spec_parser){&parsed, reason}, text, item);
    free(item);
    if (rc == 0)
        *spec = parsed;
    else
        dla_spec_release(&parsed);
    return rc == -EEXIST ? -EINVAL : rc;
}

char *dla_spec_stock_policy(const char *policy)
{
    char reason[DLA_SPEC_REASON_SIZE];
    char *stock;
    dla_spec spec;

    if (dla_spec_parse(policy, &spec, reason) != 0)
        return strdup(STOCK_POLICY);
    stock = strdup(spec.stock_policy);
    dla_spec_release(&spec);
    return stock;
}

void dla_spec_release(dla_spec *spec)
{
    free(spec->file);
    free(spec->topology);
    free(spec->bandwidth);
    free(spec->cart.dims);
    free(spec->stock_policy);
    memset(spec, 0, sizeof *spec);
}

unsigned dla_spec_threshold(const dla_spec *spec)
{
    return spec->has_threshold ? spec->threshold : SETMATCH_DEFAULT_THRESHOLD;
}
