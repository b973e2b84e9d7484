/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks for the layout of a file on CephFS again and again; prints the milliseconds of the first
 * question, those that most of the others take, and what the last one is answered: the others have
 * no configuration of Ceph, and so depend on the connection of the first; the last has none. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "storage/storage.h"

enum { MILLISECONDS = 30000, QUESTIONS = 100 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* The milliseconds that it takes; ends the program after an error. */
static double ask(int fd)
{
    storage_layout *layout;
    matrix_error error;
    double start = now();
    int rc = storage_query(fd, 0, 0, MILLISECONDS, &layout, &error);
    double end = now();
    if (rc != 0) {
        printf("%s\n", error.reason);
        exit(1);
    }
    storage_free(layout);
    return end - start;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(int count, char **arguments)
{
    double others[QUESTIONS];
    int fd = count == 2 ? open(arguments[1], O_RDONLY) : -1;
    if (fd < 0) {
        fprintf(stderr, "queries: FILE: %s\n", strerror(errno));
        return 2;
    }
    double first = ask(fd);
    setenv("CEPH_CONF", "/none", 1);
    for (int k = 0; k < QUESTIONS; k++)
        others[k] = ask(fd);
    qsort(others, QUESTIONS, sizeof *others, compare);
    printf("%.3f %.3f\n", first, others[QUESTIONS / 2]);
    double start = now();
    storage_disconnect(MILLISECONDS);
    printf("%.3f\n", now() - start);
    fflush(stdout);
    (void)ask(fd);
    return 0;
}
