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

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* A reason: what is quoted of a file does not reach a terminal as it is. */
static inline void check_printable(const char *reason)
{
    ck_assert_str_ne(reason, "");
    for (; *reason != '\0'; reason++)
        ck_assert(*reason >= ' ' && *reason <= '~');
}

/* A test, and how often it runs, with _i from 0 on. */
struct suite_test {
    const TTest *test;
    size_t times;
};
#define TIMES(test, times)                                                                         \
    {                                                                                              \
        test, times                                                                                \
    }
#define ONCE(test) TIMES(test, 1)
#define END_OF_TESTS TIMES(NULL, 0)

static inline void add_tests(TCase *tcase, const struct suite_test *t)
{
    for (; t->test != NULL; t++)
        tcase_add_loop_test(tcase, t->test, 0, (int)t->times);
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

/* The same, of ONCE(TEST), TIMES(TEST, N), ..., which are one case; NULL, or what comes before and
 * after each of them. */
#define run_tests_between(before, after, name, ...)                                                \
    run_test_list(before, after, name, (const struct suite_test[]){__VA_ARGS__, END_OF_TESTS})
#define run_tests(...) run_tests_between(NULL, NULL, __VA_ARGS__)

/* Their time ends a hang; more than any load makes of a test. */
static inline int run_test_list(void (*before)(void), void (*after)(void), const char *name,
                                const struct suite_test *tests)
{
    Suite *suite = suite_create(name);
    TCase *all = tcase_create(name);
    tcase_set_timeout(all, 600);
    tcase_add_checked_fixture(all, before, after);
    add_tests(all, tests);
    suite_add_tcase(suite, all);
    return run_suite(suite);
}

#endif
