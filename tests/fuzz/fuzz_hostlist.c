/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer entry: any text as a list of hosts. */
#include "topo/topo.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* More names of one list take time and show nothing new. */
enum { ENOUGH = 10000, STOPPED = 77 };

static int count_name(const char *name, void *context)
{
    size_t *count = context;
    if (*name == '\0' || strlen(name) > 255)
        abort();
    return ++*count == ENOUGH ? STOPPED : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    matrix_error error = {.line = 99};
    size_t names = 0;
    char *text = strndup((const char *)data, size);
    if (text == NULL)
        return 0;
    int rc = topo_expand_hostlist(text, count_name, &names, &error);
    bool only_separators = text[strspn(text, ", \t")] == '\0';
    if (rc == 0         ? (names == 0) != only_separators
        : rc == STOPPED ? names != ENOUGH
                        : error.line != 0 || error.reason[0] == '\0')
        abort();
    free(text);
    return 0;
}
