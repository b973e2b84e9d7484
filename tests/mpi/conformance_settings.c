/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance: parameters that change from file to file, by the rows of a table in the folder of
 * the tests:
 *
 *     accept|SETTINGS|OTHERS    all ranks have the settings, the last one the others as well
 *     refuse|SETTINGS           all calls fail, and the file stays as it is
 *
 * Settings are NAME=VALUE,... In each row the ranks have another order: a process prints some
 * messages once, and some values are read once for a group of ranks. */
#include "bench/settings.h"

#include "conformance.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void apply(struct test *t, settings *s, const char *text)
{
    const char *wrong = text != NULL && *text ? settings_apply(s, "tatp", "ompio", text) : NULL;
    if (wrong != NULL)
        differ(t, "%s", wrong);
}

static void run_named(struct test *t, const struct family *f, const char *name, int variant)
{
    while (strcmp(f->name, name) != 0)
        f++;
    run_alone(t, f, variant);
}

static void expect_success(struct test *t)
{
    run_named(t, calls_families, "even", ALL);
    run_named(t, calls_families, "even", I_AT_ALL);
    run_named(t, calls_families, "ragged", SPLIT_ALL);
    run_named(t, files_families, "same_view_again", 0);
    run_named(t, files_families, "several_files", ALL);
}

static void expect_failure(struct test *t)
{
    static const struct deal deal = {0, 100, 100, 0, 1};
    struct memory m = memory_make(PLAIN, 1000, 1);
    struct bytes old = create_filled(t, 5000, 1);
    MPI_File file = open_file(t, MPI_MODE_RDWR);
    set_dealt_view(t, file, &deal);
    memory_fill(&m, 2);
    if (call_write(AT_ALL, file, 0, &m, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        differ(t, "writing succeeds");
    if (call_read(AT_ALL, file, 0, &m, MPI_STATUS_IGNORE) == MPI_SUCCESS)
        differ(t, "reading succeeds");
    close_file(t, &file);
    check_file(t, &old);
    memory_release(&m);
}

static void run_row(struct test *t, const char *kind, const char *common, const char *others)
{
    settings all = {.changes = 0}, last = {.changes = 0};
    apply(t, &all, common);
    if (t->rank == t->ranks - 1)
        apply(t, &last, others);
    if (strcmp(kind, "refuse") == 0)
        expect_failure(t);
    else
        expect_success(t);
    settings_restore(&last);
    settings_restore(&all);
}

static void case_table(struct test *t, int variant)
{
    char path[sizeof t->path + 16], line[4096];
    int row = 0;
    snprintf(path, sizeof path, "%s/table", t->dir);
    FILE *in = fopen(path, "r");
    MPI_File first = open_path(MPI_COMM_SELF, t->path, MPI_MODE_RDWR | MPI_MODE_CREATE, "");
    close_file(t, &first); /* now there are variables */
    for (; in != NULL && fgets(line, sizeof line, in) != NULL; row++) {
        struct test turned = *t;
        char *rest = line, *kind = strsep(&rest, "|\n"), *all = strsep(&rest, "|\n");
        MPI_Comm_split(t->comm, variant, (t->rank + row) % t->ranks, &turned.comm);
        MPI_Comm_rank(turned.comm, &turned.rank);
        run_row(&turned, kind, all, strsep(&rest, "|\n"));
        MPI_Comm_free(&turned.comm);
        if (turned.failure[0] != '\0')
            differ(t, "row %d: %.400s", row + 1, turned.failure);
    }
    if (row == 0 || fclose(in) != 0)
        differ(t, "%s has no rows", path);
}

const struct family settings_families[] = {{"table", case_table, NULL, NULL}, {0}};
