/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one suite of Check's, with its results as TAP on standard output. */
#ifndef TESTS_UNIT_SUITE_H
#define TESTS_UNIT_SUITE_H

#include <check.h>
#include <stdint.h>
#include <stdlib.h>

/* How many random cases a test takes that usually takes so many: a part of them where each takes
 * fifty times as long, under valgrind. */
static inline uint64_t random_cases(uint64_t usual)
{
    const char *divisor = getenv("RANDOM_CASES_DIVISOR");
    uint64_t by = divisor != NULL ? strtoull(divisor, NULL, 10) : 1;
    return by > 1 ? (usual - 1) / by + 1 : usual;
}

/* The exit status of the test program. */
static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
