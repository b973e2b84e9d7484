/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer entry: any lines as the addresses that Slurm gives the nodes of a job, as the locality
 * strings of ranks, and together as a list of hosts. */
#include "topo/local.h"
#include "topo/topo.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_LINES = 20 };

static size_t cut_lines(char *text, const char **line)
{
    size_t count = 0;
    char *rest = NULL;
    for (char *at = strtok_r(text, "\n", &rest); at != NULL && count < MOST_LINES;
         at = strtok_r(NULL, "\n", &rest))
        line[count++] = at;
    return count;
}

static void check_addresses(const char *const *line, size_t count)
{
    static const char *const hosts[MOST_LINES] = {"a", "b", "c.d", "e", "f", "g", "h",
                                                  "i", "j", "k",   "l", "m", "n", "o",
                                                  "p", "q", "r",   "s", "t", "u"};
    topo t;
    matrix_error error;
    if (count == 0 || topo_from_addresses(line, hosts, count, &t, &error) != 0)
        return;
    for (size_t n = 1; n < count; n++)
        if (topo_hops(&t, 0, n, 0) < 2.0)
            abort();
    topo_release(&t);
}

/* More names of one list take time and show nothing new. */
enum { ENOUGH = 10000, STOPPED = 77 };

static int count_name(const char *name, void *context)
{
    size_t *count = context;
    if (*name == '\0' || strlen(name) > 255)
        abort();
    return ++*count == ENOUGH ? STOPPED : 0;
}

static void check_hostlist(const char *text)
{
    matrix_error error = {.line = 99};
    size_t names = 0;
    int rc = topo_expand_hostlist(text, count_name, &names, &error);
    bool only_separators = text[strspn(text, ", \t")] == '\0';
    if (rc == 0         ? (names == 0) != only_separators
        : rc == STOPPED ? names != ENOUGH
                        : error.line != 0 || error.reason[0] == '\0')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *line[MOST_LINES];
    char *text = strndup((const char *)data, size);
    if (text == NULL)
        return 0;
    check_hostlist(text);
    size_t count = cut_lines(text, line);
    check_addresses(line, count);
    for (size_t k = 0; k < count; k++)
        if (topo_locality_level(line[k], line[0]) > TOPO_SAME_MACHINE)
            abort();
    free(text);
    return 0;
}
