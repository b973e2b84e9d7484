/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parses items of a placement, wherever they are given.
 */
#define _GNU_SOURCE /* asprintf */
#include "dla/spec.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/unknown.h"
#include "setmatch/setmatch.h"

#define STOCK_POLICY "slot"
/* A value too long for a message is cut. */
#define SHOWN "%.80s"

enum { MOST_CHOICES = 16 };

static const char *const orders[] = {"C", "Fortran", NULL};
static const char *const switches[] = {[DLA_NUMA_ON] = "on", [DLA_NUMA_OFF] = "off", NULL};

const dla_item_row dla_items[DLA_ITEMS] = {
    [DLA_FILE] = {"file",
                  "View matrix of the ranks: a file that fcoll_tatp_record or "
                  "io_ompio_record_file_offset_info wrote; auto: what fcoll_tatp_record=auto "
                  "recorded of the program, if that gains anything. Any other --map-by policy "
                  "takes precedence",
                  false, NULL},
    [DLA_CART] = {"cart",
                  "Process grid of the program, like 4x2x2; the last coordinate of a rank varies "
                  "fastest. Without a view matrix, the ranks are placed by the grid; with one, the "
                  "grid is only checked against the number of ranks",
                  false, NULL},
    [DLA_ORDER] = {"order",
                   "Storage order of the array: the last (C) or the first (Fortran) dimension of "
                   "the grid is contiguous in the file",
                   true, orders},
    [DLA_METHOD] = {"method",
                    "Placement method: auto (the best result of several methods), setmatch (as "
                    "published), bisection; for comparison byslot, bynode",
                    true, NULL},
    [DLA_OBJECTIVE] = {"objective",
                       "Objective that method=auto minimises: neighbours (the weight of the view "
                       "matrix between nodes), profile (the recorded bytes that leave their nodes) "
                       "or auto (profile, if the file has one)",
                       true, setmatch_objective_names},
    [DLA_NUMA] = {"numa",
                  "Whether ranks of a node that access neighbouring regions are also bound near "
                  "each other, to one NUMA node, cache or package: on or off",
                  true, switches},
    [DLA_TOPOLOGY] = {"topology",
                      "Network between the nodes: a file in one of the formats that tatp(1) lists, "
                      "or bandwidths that \"dla pingpong\" measured. Ranks that do not fit on one "
                      "node are placed under one switch",
                      true, NULL},
};

/* Earlier versions had these; the texts say what there is in their place. */
static const base_removed removed[] = {
    {"targets", "ranks are placed without regard to storage servers"},
    {"storage_weight", "ranks are placed without regard to storage servers"},
    {"effort", "searches have one length"},
    {"threshold", "values within 10 per cent of the largest make a set"},
    {"refine", "placements are always refined"},
    {"domains", "the file domains of the recorded run are assumed"},
    {"bandwidth", "topology takes measured bandwidths, too"},
    {NULL, NULL},
};

/* ---- items with a value ---- */

/* Returns the name of a value of a choice; NULL if there are no values from this one on. */
static const char *name_of(dla_item item, int value)
{
    const char *const *names = dla_items[item].names;
    if (item == DLA_METHOD)
        return setmatch_methods[value].name;
    return names == NULL ? NULL : names[value];
}

int dla_reject(char reason[DLA_REASON_SIZE], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(reason, DLA_REASON_SIZE, format, args);
    va_end(args);
    return -EINVAL;
}

/* It accepts digits only; strtoul also accepts signs and blanks. */
static bool parse_digits(const char *text, size_t length, size_t *number)
{
    errno = 0;
    *number = strtoul(text, NULL, 10);
    return length > 0 && strspn(text, "0123456789") == length && errno == 0;
}

static int set_grid(dla_spec *spec, const char *value, char *reason)
{
    size_t *dims = NULL, ndims = 0, capacity = 0, product = 1;
    const char *part = value;
    int rc;
    do {
        size_t length = strcspn(part, "xX");
        rc = base_reserve(&dims, &capacity, ndims + 1, sizeof *dims);
        if (rc == 0 && (!parse_digits(part, length, &dims[ndims]) || dims[ndims] == 0))
            rc = dla_reject(reason, "\"" SHOWN "\" is not a grid; a grid is written like 4x2x2",
                            value);
        else if (rc == 0 && __builtin_mul_overflow(product, dims[ndims], &product))
            rc = dla_reject(reason, "the grid \"" SHOWN "\" has too many ranks to count", value);
        ndims++;
        part += length;
    } while (rc == 0 && *part++ != '\0');
    if (rc != 0) {
        free(dims);
        return rc;
    }
    spec->dims = dims;
    spec->ndims = ndims;
    return 0;
}

static int refuse_choice(dla_item item, const char *value, const char *nearest, char *reason)
{
    size_t used = (size_t)snprintf(reason, DLA_REASON_SIZE, "%s=" SHOWN " is not valid; ",
                                   dla_items[item].key, value);
    if (nearest != NULL) {
        snprintf(reason + used, DLA_REASON_SIZE - used, "did you mean %s?", nearest);
        return -EINVAL;
    }
    used += (size_t)snprintf(reason + used, DLA_REASON_SIZE - used, "there are");
    for (int i = 0; name_of(item, i) != NULL; i++)
        used += (size_t)snprintf(reason + used, DLA_REASON_SIZE - used, "%s %s", i == 0 ? "" : ",",
                                 name_of(item, i));
    return -EINVAL;
}

static int set_choice(dla_spec *spec, dla_item item, const char *value, char *reason)
{
    const char *known[MOST_CHOICES + 1] = {NULL};
    for (int i = 0; i < MOST_CHOICES && name_of(item, i) != NULL; i++) {
        known[i] = name_of(item, i);
        if (strcasecmp(value, known[i]) == 0) {
            spec->choice[item] = i;
            return 0;
        }
    }
    return refuse_choice(item, value, base_nearest_name(value, known), reason);
}

int dla_spec_set(dla_spec *spec, dla_item item, const char *value, char reason[DLA_REASON_SIZE])
{
    int rc = 0;
    if (spec->text[item] != NULL)
        return dla_reject(reason, "%s is given twice", dla_items[item].key);
    char *copy = strdup(value);
    if (copy == NULL)
        rc = -ENOMEM;
    else if (name_of(item, 0) != NULL)
        rc = set_choice(spec, item, value, reason);
    else if (item == DLA_CART)
        rc = set_grid(spec, value, reason);
    else if (*value == '\0')
        rc = dla_reject(reason, "%s= needs a name", dla_items[item].key);
    if (rc == 0)
        spec->text[item] = copy;
    else
        free(copy);
    return rc;
}

/* ---- qualifiers ---- */

static int add_qualifier(dla_spec *spec, const char *qualifier)
{
    char *policy = spec->stock_policy;
    char separator = strcmp(policy, STOCK_POLICY) == 0 ? ':' : ',';
    if (asprintf(&spec->stock_policy, "%s%c%s", policy, separator, qualifier) < 0) {
        spec->stock_policy = policy;
        return -ENOMEM;
    }
    free(policy);
    return 0;
}

static int set_pe(dla_spec *spec, const char *value, char *reason)
{
    char qualifier[32];
    size_t number;
    if (!parse_digits(value, strlen(value), &number) || number == 0 || number > 32767)
        return dla_reject(
            reason, "PE=" SHOWN " is not a whole number of processors from 1 to 32767", value);
    snprintf(qualifier, sizeof qualifier, "PE=%zu", number);
    return add_qualifier(spec, qualifier);
}

/* ---- the policy ---- */

/* The value of "KEY=VALUE"; NULL if `item` is not of that key. */
static const char *match_key(const char *item, const char *key)
{
    size_t length = strlen(key);
    return strncasecmp(item, key, length) == 0 && item[length] == '=' ? item + length + 1 : NULL;
}

static int refuse_item(const char *item, char *reason)
{
    const char *known[DLA_ITEMS + 1] = {NULL}, *nearest;
    char key[BASE_SETTING_BYTES];
    for (dla_item i = 0; i < DLA_ITEMS; i++)
        known[i] = dla_items[i].key;
    snprintf(key, sizeof key, "%.*s", (int)strcspn(item, "="), item);
    nearest = base_nearest_name(key, known);
    if (*item == '\0')
        return dla_reject(reason, "there is nothing between two separators");
    for (const base_removed *r = removed; r->name != NULL; r++)
        if (match_key(item, r->name) != NULL)
            return dla_reject(reason, "there is no %s any more: %s", r->name, r->instead);
    if (nearest != NULL)
        return dla_reject(reason, "\"" SHOWN "\" is unknown; did you mean %s=?", item, nearest);
    return dla_reject(reason,
                      "\"" SHOWN
                      "\" is unknown; there are file=, cart=, order=, method=, objective=, "
                      "numa=, topology=, PE=, OVERSUBSCRIBE, NOOVERSUBSCRIBE, NOLOCAL and SPAN",
                      item);
}

static int parse_item(dla_spec *spec, const char *item, char *reason)
{
    /* The launcher has these. PRRTE adds the last five for options like --use-hwthread-cpus. */
    static const char *const qualifiers[] = {"OVERSUBSCRIBE", "NOOVERSUBSCRIBE", "SPAN",
                                             "HWTCPUS",       "CORECPUS",        "INHERIT",
                                             "NOINHERIT",     "ORDERED"};
    const char *value;
    for (dla_item i = 0; i < DLA_ITEMS; i++)
        if ((value = match_key(item, dla_items[i].key)) != NULL)
            return dla_spec_set(spec, i, value, reason);
    if ((value = match_key(item, "PE")) != NULL)
        return set_pe(spec, value, reason);
    for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
        if (strcasecmp(item, qualifiers[i]) == 0)
            return add_qualifier(spec, item);
    if (strcasecmp(item, "NOLOCAL") != 0)
        return refuse_item(item, reason);
    spec->no_local = true;
    return 0;
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

static int parse_items(dla_spec *spec, const char *text, char *item, char *reason)
{
    int rc = 0;
    if (*text == '\0')
        return 0;
    for (;; text++) {
        text = copy_item(text, item);
        if (text == NULL)
            return dla_reject(reason, "there is nothing behind the last backslash");
        rc = parse_item(spec, item, reason);
        if (rc != 0 || *text == '\0')
            return rc;
    }
}

int dla_spec_parse(const char *policy, dla_spec *spec, char reason[DLA_REASON_SIZE])
{
    const char *text = policy + strlen(policy[3] == ':' ? "dla:" : "dla");
    dla_spec parsed = {.stock_policy = strdup(STOCK_POLICY)};
    char *item = strdup(text); /* as long as the longest item */
    int rc = -ENOMEM;
    if (item != NULL && parsed.stock_policy != NULL)
        rc = parse_items(&parsed, text, item, reason);
    free(item);
    if (rc == 0)
        *spec = parsed;
    else
        dla_spec_release(&parsed);
    return rc;
}

bool dla_spec_is_dla(const char *policy)
{
    return policy != NULL && strncasecmp(policy, "dla", 3) == 0 &&
           (policy[3] == '\0' || policy[3] == ':');
}

char *dla_spec_stock_policy(const char *policy)
{
    char reason[DLA_REASON_SIZE];
    dla_spec spec;
    if (dla_spec_parse(policy, &spec, reason) != 0)
        return strdup(STOCK_POLICY);
    char *stock = spec.stock_policy;
    spec.stock_policy = NULL;
    dla_spec_release(&spec);
    return stock;
}

void dla_spec_release(dla_spec *spec)
{
    for (dla_item i = 0; i < DLA_ITEMS; i++)
        free(spec->text[i]);
    free(spec->dims);
    free(spec->stock_policy);
    *spec = (dla_spec){.ndims = 0};
}

/* ---- policy and parameters ---- */

static int add_parameters(dla_spec *spec, char *const parameter[DLA_ITEMS], char *reason)
{
    char why[DLA_REASON_SIZE];
    int rc = 0;
    for (dla_item i = 0; rc == 0 && i < DLA_ITEMS; i++) {
        if (parameter[i] == NULL || spec->text[i] != NULL)
            continue;
        rc = dla_spec_set(spec, i, parameter[i], why);
        if (rc == -EINVAL)
            snprintf(reason, DLA_REASON_SIZE, "parameter rmaps_dla_%s: %.900s", dla_items[i].key,
                     why);
    }
    return rc;
}

int dla_spec_read(const char *policy, char *const parameter[DLA_ITEMS], dla_spec *spec,
                  char reason[DLA_REASON_SIZE])
{
    char why[DLA_REASON_SIZE];
    dla_spec read = {.ndims = 0};
    int rc = policy == NULL ? 0 : dla_spec_parse(policy, &read, why);
    if (rc == -EINVAL)
        snprintf(reason, DLA_REASON_SIZE, "--map-by %.160s: %.800s", policy, why);
    if (rc == 0)
        rc = add_parameters(&read, parameter, reason);
    if (rc == 0 && read.text[DLA_FILE] == NULL && read.ndims == 0)
        rc = dla_reject(
            reason, "there is nothing to place the ranks by: give a view matrix or a process grid, "
                    "as in --map-by dla:file=view.crs or dla:cart=4x2x2");
    if (rc == 0)
        *spec = read;
    else
        dla_spec_release(&read);
    return rc;
}

bool dla_spec_is_automatic(const dla_spec *spec)
{
    static const size_t length = sizeof DLA_AUTOMATIC_FILE - 1;
    const char *file = spec->text[DLA_FILE];
    return file != NULL && strncmp(file, DLA_AUTOMATIC_FILE, length) == 0 &&
           (file[length] == '\0' || file[length] == ':');
}

const char *dla_spec_automatic_file(const dla_spec *spec)
{
    const char *name = strchr(spec->text[DLA_FILE], ':');
    return name == NULL ? NULL : name + 1;
}

const char *dla_spec_name(const dla_spec *spec)
{
    return spec->text[spec->text[DLA_FILE] != NULL ? DLA_FILE : DLA_CART];
}

void dla_refusal_format(const char *reason, char text[DLA_REASON_SIZE + 512])
{
    static const char dashes[] =
        "--------------------------------------------------------------------------\n";
    snprintf(text, DLA_REASON_SIZE + 512,
             "%sThe dla mapper cannot place the ranks of the job:\n\n  %s.\n\nNothing was started. "
             "The manual page rmaps_dla(7) explains --map-by dla.\n%s",
             dashes, reason, dashes);
}

void dla_check_parameters(const char *files, void (*report)(const char *message))
{
    /* spec: the mapper of PRRTE passes the text of --map-by on by it. */
    const char *known[DLA_ITEMS + 4] = {"priority", "verbose", "spec"};
    for (dla_item i = 0; i < DLA_ITEMS; i++)
        known[i + 3] = dla_items[i].key;
    base_settings s = {"OMPI_MCA_", "rmaps_dla_", known, "7 rmaps_dla", report, removed};
    if (files != NULL) {
        base_check_files(&s, files);
        return;
    }
    base_check_environment(&s);
    s.variable = "PRTE_MCA_";
    base_check_environment(&s);
}
