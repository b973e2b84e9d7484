/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks for the layout of a file on CephFS again and again. Prints the milliseconds in which most
 * questions begin, and those of the first answer and of most others. Then it lives until its input
 * ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "storage/query.h"

enum { MILLISECONDS = 30000, QUESTIONS = 20 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

typedef struct times {
    double begin, answer; /* milliseconds */
} times;

static int ask(int fd, times *took, matrix_error *error)
{
    storage_question *question;
    storage_layout *layout;
    double start = now();
    int rc = storage_ask(fd, 0, 0, &question, error);
    took->begin = now() - start;
    if (rc == 0)
        rc = storage_answer(question, MILLISECONDS, &layout, error);
    took->answer = now() - start;
    if (rc == 0)
        storage_free(layout);
    return rc;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(int count, char **arguments)
{
    double begin[QUESTIONS], answer[QUESTIONS];
    times first, other;
    matrix_error error = {0, ""};
    int fd = count == 2 ? open(arguments[1], O_RDONLY) : -1;
    if (fd < 0) {
        fprintf(stderr, "queries: FILE: %s\n", strerror(errno));
        return 2;
    }
    int rc = ask(fd, &first, &error);
    for (int k = 0; k < QUESTIONS && rc == 0; k++) {
        rc = ask(fd, &other, &error);
        begin[k] = other.begin;
        answer[k] = other.answer;
    }
    if (rc != 0) {
        printf("%s\n", error.reason);
        return 1;
    }
    qsort(begin, QUESTIONS, sizeof *begin, compare);
    qsort(answer, QUESTIONS, sizeof *answer, compare);
    printf("%.3f %.3f %.3f\n", begin[QUESTIONS / 2], first.answer, answer[QUESTIONS / 2]);
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
