/* SPDX-License-Identifier: BSD-3-Clause */
/* Property test of the assignment solvers: random problems of many structures and shapes. A failure
 * prints the command that reproduces it. */
#include "../unit/assignments.h"
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool check_seed(enum structure structure, uint64_t seed, const char *tool)
{
    struct assignment a;
    draw_any(&a, structure, seed);
    const char *fault = find_fault(&a);
    if (fault != NULL)
        printf("# %s\n# replay: %s --kind='%s' --seed=%" PRIu64 " --instances=1\n", fault, tool,
               structure_names[structure], seed);
    release_assignment(&a);
    return fault == NULL;
}

int main(int argc, char **argv)
{
    struct options options =
        read_options(argc, argv, 4000,
                     "Solves random assignment problems by every solver, and proves the answers.");
    int number = 0, failed = 0;
    uint64_t each = options.kind != NULL ? options.instances
                                         : (options.instances + STRUCTURES - 1) / STRUCTURES;
    for (int s = 0; s < STRUCTURES; s++) {
        if (options.kind != NULL && strcmp(options.kind, structure_names[s]) != 0)
            continue;
        bool good = true;
        for (uint64_t k = 0; k < each && good; k++)
            good = check_seed((enum structure)s, options.seed + k, argv[0]);
        printf("%sok %d - %s: %" PRIu64 " instances\n", good ? "" : "not ", ++number,
               structure_names[s], each);
        failed += !good;
    }
    printf("1..%d\n", number);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
