/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs one suite of Check's, with its results as TAP on standard output. */
#ifndef TESTS_UNIT_SUITE_H
#define TESTS_UNIT_SUITE_H

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "seeded.h"

/* Of glibc. */
extern char *program_invocation_name;

/* The command that repeats the random cases of this run. */
static inline void print_replay(void)
{
    static const char *const names[] = {"TEST_SEED", "RANDOM_CASES_DIVISOR"};
    if (getenv(names[0]) == NULL && getenv(names[1]) == NULL)
        return;
    printf("# replay:");
    for (int i = 0; i < 2; i++)
        if (getenv(names[i]) != NULL)
            printf(" %s=%s", names[i], getenv(names[i]));
    printf(" %s\n", program_invocation_name);
}

/* Adds these tests to a case. */
#define add_tests(tcase, ...) add_test_list(tcase, (const TTest *const[]){__VA_ARGS__, NULL})

static inline void add_test_list(TCase *tcase, const TTest *const *test)
{
    for (; *test != NULL; test++)
        tcase_add_test(tcase, *test);
}

/* The exit status of the test program. */
static inline int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_tap(runner, "-");
    srunner_run_all(runner, CK_SILENT);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    if (failed > 0)
        print_replay();
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The same, of these tests, which are one case. */
#define run_tests(name, ...) run_test_list(name, (const TTest *const[]){__VA_ARGS__, NULL})

static inline int run_test_list(const char *name, const TTest *const *test)
{
    Suite *suite = suite_create(name);
    TCase *tests = tcase_create(name);
    add_test_list(tests, test);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}

#endif
