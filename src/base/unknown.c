/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* strtok_r */
#include "base/unknown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/text.h"

#define MOST_LINE ((size_t)1 << 20) /* the rest of a file with a longer one is not read */

/* Insertions, deletions and replacements that make one name of the other. */
static size_t name_distance(const char *a, const char *b)
{
    size_t row[BASE_SETTING_BYTES + 1], length = strnlen(b, BASE_SETTING_BYTES);
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0]++;
        for (size_t j = 0; j < length; j++) {
            size_t least = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            least = diagonal + 1 < least ? diagonal + 1 : least;
            row[j + 1] = row[j] + 1 < least ? row[j] + 1 : least;
        }
    }
    return row[length];
}

const char *base_nearest_name(const char *name, const char *const *known)
{
    const char *nearest = NULL;
    size_t too_far = strlen(name) / 2 + 1;
    for (; *known != NULL; known++) {
        size_t distance = name_distance(name, *known);
        if (distance < too_far) {
            too_far = distance;
            nearest = *known;
        }
    }
    return nearest;
}

void base_describe_unknown(const base_settings *s, const char *name,
                           char message[BASE_UNKNOWN_BYTES])
{
    const char *nearest = base_nearest_name(name, s->known);
    const base_removed *r = s->removed;
    char shown[4 * BASE_SETTING_BYTES];
    while (r != NULL && r->name != NULL && strcasecmp(r->name, name) != 0)
        r++;
    base_escape(shown, sizeof shown, name);
    if (r != NULL && r->name != NULL)
        snprintf(message, BASE_UNKNOWN_BYTES, "%s%s; %s", s->prefix, shown, r->instead);
    else if (nearest != NULL)
        snprintf(message, BASE_UNKNOWN_BYTES, "%s%s; did you mean %s%s?", s->prefix, shown,
                 s->prefix, nearest);
    else
        snprintf(message, BASE_UNKNOWN_BYTES, "%s%s; man %s lists them", s->prefix, shown,
                 s->manual);
}

bool base_is_unknown(const base_settings *s, const char *text, char message[BASE_UNKNOWN_BYTES])
{
    size_t prefix = strlen(s->prefix);
    char name[BASE_SETTING_BYTES];
    if (strncmp(text, s->prefix, prefix) != 0)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text + prefix, "= \t\n"), text + prefix);
    const char *nearest = base_nearest_name(name, s->known);
    if (nearest != NULL && strcmp(name, nearest) == 0)
        return false;
    base_describe_unknown(s, name, message);
    return true;
}

/* NAME = VALUE or, as in files for --tune, any number of --mca NAME VALUE. */
static void check_setting_line(const base_settings *s, char *line)
{
    bool is_name = true;
    char message[BASE_UNKNOWN_BYTES], *rest = NULL, *word = strtok_r(line, " \t", &rest);
    for (; word != NULL && *word != '#'; word = strtok_r(NULL, " \t", &rest)) {
        if (is_name && base_is_unknown(s, word, message))
            s->report(message);
        is_name = strcmp(word, "-mca") == 0 || strcmp(word, "--mca") == 0;
    }
}

void base_check_files(const base_settings *s, const char *files)
{
    char *list = strdup(files), *rest = NULL, *line = NULL;
    size_t capacity = 0;
    for (char *path = list == NULL ? NULL : strtok_r(list, ",:", &rest); path != NULL;
         path = strtok_r(NULL, ",:", &rest)) {
        const char *cause;
        FILE *stream = base_open_regular(path, &cause);
        size_t length = 0;
        while (stream != NULL &&
               base_append_line(stream, MOST_LINE, &line, &capacity, &length) == 1) {
            check_setting_line(s, line);
            length = 0;
        }
        if (stream != NULL)
            fclose(stream);
    }
    free(line);
    free(list);
}

void base_check_environment(const base_settings *s)
{
    extern char **environ;
    size_t length = strlen(s->variable);
    char message[BASE_UNKNOWN_BYTES];
    for (char **v = environ; *v != NULL; v++)
        if (strncmp(*v, s->variable, length) == 0 && base_is_unknown(s, *v + length, message))
            s->report(message);
}
