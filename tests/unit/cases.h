/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts for readers, from tests/fixtures: what a user reports becomes a test without C.
 */
#ifndef TESTS_UNIT_CASES_H
#define TESTS_UNIT_CASES_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The caller frees it. */
static inline char *read_fixture(const char *name, size_t *length)
{
    const char *top = getenv("top_srcdir");
    char path[400], *text = NULL;
    snprintf(path, sizeof path, "%s/tests/fixtures/%s", top != NULL ? top : ".", name);
    FILE *in = fopen(path, "r"), *out = open_memstream(&text, length);
    ck_assert_msg(in != NULL && out != NULL, "%s is missing", path);
    for (int c; (c = getc(in)) != EOF;)
        putc(c, out);
    fclose(in);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

/* Calls for each case of a file of tests/fixtures/cases: a line "=== HEAD", where HEAD may end in a
 * remark after " #", and all up to the next such line; without its last newline where HEAD says
 * that it is cut. */
static inline void check_cases(const char *file,
                               void (*check)(const char *head, const char *text, size_t length))
{
    char name[100];
    size_t length;
    snprintf(name, sizeof name, "cases/%s.txt", file);
    char *all = read_fixture(name, &length), *next = all;
    ck_assert_int_eq(strncmp(all, "=== ", 4), 0);
    while (next != NULL) {
        char *head = next + 4, *text = strchr(head, '\n') + 1, *end = strstr(text - 1, "\n=== ");
        next = end != NULL ? end + 1 : NULL;
        text[-1] = '\0';
        length = next != NULL ? (size_t)(next - text) : strlen(text);
        length -= strstr(head, " cut") != NULL;
        check(head, text, length);
    }
    free(all);
}

#endif
