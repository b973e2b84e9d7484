/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer entry: any lines as the addresses that Slurm gives the nodes of a job, as locality strings,
 * and as lists of hosts. */
#include "topo/local.h"
#include "topo/topo.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_LINES = 20 };

static size_t cut_lines(char *text, const char **line)
{
    size_t count = 0;
    char *rest = NULL;
    for (char *at = strtok_r(text, "\n", &rest); at != NULL && count < MOST_LINES; at = strtok_r(NULL, "\n", &rest))
        line[count++] = at;
    return count;
}

static int count_name(const char *name, void *context)
{
    size_t *count = context;
    if (*name == '\0' || strlen(name) > 255)
        abort();
    return ++*count == 100000; /* enough of one list */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const hosts[MOST_LINES] = {"a", "b", "c.d", "e", "f", "g", "h", "i", "j", "k",
                                                  "l", "m", "n", "o", "p", "q", "r", "s", "t", "u"};
    const char *line[MOST_LINES];
    topo t;
    matrix_error error;
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    size_t count = cut_lines(text, line), names = 0;
    if (count > 0 && topo_from_addresses(line, hosts, count, &t, &error) == 0) {
        for (size_t n = 1; n < count; n++)
            if (topo_hops(&t, 0, n, 0) < 2.0)
                abort();
        topo_release(&t);
    }
    for (size_t k = 0; k < count; k++) {
        if (topo_locality_level(line[k], line[0]) > TOPO_SAME_MACHINE)
            abort();
        topo_expand_hostlist(line[k], count_name, &names, &error);
    }
    free(text);
    return 0;
}
