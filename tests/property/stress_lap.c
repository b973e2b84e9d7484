/* SPDX-License-Identifier: BSD-3-Clause */
/* Property test of the assignment solvers: random problems of many structures and shapes. */
#include "../unit/assignments.h"
#include "options.h"

static const char *name_of(int structure)
{
    return structure_names[structure];
}

static const char *check_instance(int structure, uint64_t seed)
{
    struct assignment a;
    draw_any(&a, (enum structure)structure, seed);
    const char *fault = find_fault(&a);
    release_assignment(&a);
    return fault;
}

int main(int argc, char **argv)
{
    static const struct property property = {
        "Solves random assignment problems by every solver, and proves the answers.", 4000,
        STRUCTURES, name_of, check_instance};
    return check_property(argc, argv, &property);
}
