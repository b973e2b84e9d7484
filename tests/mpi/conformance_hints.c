/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance_hints: hints of MPI_File_set_view and MPI_File_set_info count from then on, and
 * MPI_File_get_info returns what is in force. The number of aggregators and of messages is in the
 * statistics, which test_hints.sh reads. */
#include "conformance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 6000 /* of each rank in one call */

static const struct deal deal = {0, 100, 100, 28, 4};

/* Every rank writes, and reads it back. */
static void write_and_read(struct test *t, MPI_File file, enum kind kind, uint64_t seed)
{
    struct data d = {RESIZED, 4, 0, BYTES, seed + (uint64_t)t->rank, false};
    struct bytes model = {0};
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    must(t, "write", write_data(t, kind, file, &d));
    synchronise(t, file);
    model_deal(t, &model, &deal, 0, BYTES, seed);
    check_file(t, &model);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    d.shape = HOLES;
    must(t, "read", read_data(t, kind, file, &d));
}

/* MPI_File_get_info must return this value; -: must not return the hint; *: what rank 0 returns;
 * of aggregators no more than ranks. */
static void check_hint(struct test *t, MPI_Info info, const char *key, const char *wanted)
{
    char got[MPI_MAX_INFO_VAL + 1] = "-", all[16], root[sizeof got];
    int found = 0;
    MPI_Info_get(info, (char *)key, MPI_MAX_INFO_VAL, got, &found);
    memcpy(root, got, sizeof got);
    MPI_Bcast(root, sizeof root, MPI_CHAR, 0, t->comm);
    snprintf(all, sizeof all, "%d", t->ranks);
    if (*wanted == '*')
        wanted = root;
    else if (strcmp(key, "cb_nodes") == 0 && atoi(wanted) > t->ranks)
        wanted = all;
    if (strcmp(got, wanted) != 0)
        differ(t, "%s is %s, not %s", key, got, wanted);
}

static void check_hints(struct test *t, MPI_File file, const char *hints)
{
    char text[512], *rest = text, *value;
    MPI_Info info;
    must(t, "get_info", MPI_File_get_info(file, &info));
    snprintf(text, sizeof text, "%s", hints);
    while ((value = strsep(&rest, " ")) != NULL && *value != '\0') {
        const char *key = strsep(&value, "=");
        check_hint(t, info, key, value);
    }
    MPI_Info_free(&info);
}

/* Gives hints, makes calls, and asks for hints. REOPEN: with what MPI_File_get_info returned. */
struct step {
    enum { CLOSE, OPEN, REOPEN, VIEW, INFO, SAME } by;
    const char *hints;
    enum kind kind;
    const char *returned;
};
#define NO_CALL SPLIT_ORDERED

static void give_hints(struct test *t, MPI_File *file, const struct step *step)
{
    MPI_Info info = make_info(step->hints);
    const struct view v = dealt_view(&deal, t, t->rank);
    if (step->by == REOPEN) {
        must(t, "get_info", MPI_File_get_info(*file, &info));
        close_file(t, file);
    }
    if (step->by == OPEN)
        *file = open_with(t, MPI_MODE_RDWR | MPI_MODE_CREATE, step->hints);
    else if (step->by == REOPEN)
        must(t, "open", MPI_File_open(t->comm, t->path, MPI_MODE_RDWR, info, file));
    else if (step->by == VIEW)
        set_view_as(t, *file, &v, "native", info);
    else if (step->by == INFO)
        must(t, "set_info", MPI_File_set_info(*file, info));
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

static void run_steps(struct test *t, const struct step *step)
{
    MPI_File file = MPI_FILE_NULL;
    for (uint64_t seed = 1; step->by != CLOSE; step++, seed++) {
        give_hints(t, &file, step);
        if (step->kind != NO_CALL)
            write_and_read(t, file, step->kind, seed);
        check_hints(t, file, step->returned);
    }
    close_file(t, &file);
}

#define AUTOMATIC "romio_cb_write=automatic romio_cb_read=automatic"
#define NEITHER "romio_cb_write=disable romio_cb_read=disable"
#define INVALID                                                                                    \
    "cb_nodes=two cb_buffer_size=0 striping_unit=auto striping_factor=1.5 "                        \
    "romio_cb_write=off romio_cb_read=on collective_buffering=no"

static const char *const sequence_names[] = {"aggregators", "get_info", "invalid",
                                             "in_turn",     "at_open",  NULL};
static const struct step sequences[][10] = {
    /* Statistics: one aggregator is chosen, then as many as the hint says, of every way to give it.
     */
    {{OPEN, "", NO_CALL, "cb_nodes=- cb_buffer_size=33554432 " AUTOMATIC},
     {VIEW, "", ALL, "cb_nodes=1"},
     {VIEW, "cb_nodes=2", NO_CALL, "cb_nodes=2"},
     {SAME, "", ALL, "cb_nodes=2"},
     {VIEW, "", I_AT_ALL, ""},
     {VIEW, "cb_nodes=1", AT_ALL, ""},
     {INFO, "cb_nodes=1000000", ALL, "cb_nodes=1000000"}},
    /* 3 do not divide 4. */
    {{OPEN, "cb_buffer_size=65536 unknown=value", NO_CALL,
      "cb_buffer_size=65536 striping_unit=- collective_buffering=- " AUTOMATIC},
     {VIEW, "striping_unit=4096 striping_factor=4 romio_cb_read=enable cb_nodes=3", NO_CALL,
      "striping_unit=4096 striping_factor=4 cb_nodes=2 cb_buffer_size=65536 "
      "romio_cb_write=automatic romio_cb_read=enable"},
     {SAME, "", ALL, ""},
     {INFO, "cb_buffer_size=131072 romio_cb_write=DISABLE", ALL,
      "cb_buffer_size=131072 romio_cb_write=disable romio_cb_read=enable striping_unit=4096"}},
    /* Ignored; one message for each hint of a process (test_hints.sh). */
    {{OPEN, "cb_nodes=1 striping_unit=4294967297", NO_CALL, ""},
     {VIEW, INVALID, NO_CALL, "cb_nodes=1"},
     {SAME, "", ALL, ""},
     {INFO, "cb_nodes=-5", ALL,
      "cb_nodes=1 striping_unit=- romio_cb_write=automatic collective_buffering=-"},
     {VIEW, INVALID, ALL, "cb_nodes=1"},
     {INFO, "cb_nodes=-5", ALL, "cb_nodes=1 striping_unit=-"}},
    /* Statistics: an aggregator, none, one for reading, one, and again none. */
    {{OPEN, "", NO_CALL, ""},
     {VIEW, "", ALL, ""},
     {VIEW, "collective_buffering=false", NO_CALL, "collective_buffering=false"},
     {SAME, "", ALL, ""},
     {VIEW, "romio_cb_read=enable", ALL, "romio_cb_write=disable romio_cb_read=enable"},
     {VIEW, "collective_buffering=true", NO_CALL, "collective_buffering=- romio_cb_write=enable"},
     {SAME, "", ALL, ""},
     {VIEW, NEITHER, SPLIT_ALL, ""}},
    /* A file that is opened with such hints, as one that another file returned. */
    {{OPEN, NEITHER, NO_CALL, ""},
     {VIEW, "", ALL, ""},
     {REOPEN, "", NO_CALL, ""},
     {VIEW, "", NO_CALL, "romio_cb_write=disable"},
     {SAME, "", ALL, ""}},
};

static void case_given(struct test *t, int sequence)
{
    run_steps(t, sequences[sequence]);
}

/* One rank alone has a hint: when it opens the file, sets a view, or sets an info object. `same`:
 * it is returned alike. */
static void give_to_one_rank(struct test *t, const char *first, const char *second,
                             const char *same, bool mine)
{
    const struct step steps[] = {{OPEN, mine ? first : "", NO_CALL, ""},
                                 {VIEW, "", ALL, same},
                                 {INFO, mine ? second : "unknown=value", I_AT_ALL, same},
                                 {.by = CLOSE}},
                      others[] = {{OPEN, "striping_unit=1000", NO_CALL, ""},
                                  {VIEW, mine ? second : "", SPLIT_ALL, ""},
                                  {SAME, "", ALL, same},
                                  {VIEW, mine ? "" : first, ALL, same},
                                  {.by = CLOSE}};
    run_steps(t, steps);
    run_steps(t, others);
}

static const char *const hint_names[] = {
    "cb_nodes",       "cb_buffer_size", "striping_unit",        "striping_factor",
    "romio_cb_write", "romio_cb_read",  "collective_buffering", NULL};

/* One message for each hint of a process (test_hints.sh). */
static void case_one_rank(struct test *t, int variant)
{
    static const char *const values[][2] = {
        {"1", "3"},       {"4096", "64"},        {"100", "4096"},
        {"3", "2"},       {"disable", "enable"}, {"enable", "disable"},
        {"false", "true"}};
    char hint[3][64];
    for (int i = 0; i < 3; i++)
        snprintf(hint[i], sizeof hint[i], "%s=%s", hint_names[variant],
                 i < 2 ? values[variant][i] : "*");
    give_to_one_rank(t, hint[0], hint[1], hint[2], t->rank == 0);
    give_to_one_rank(t, hint[0], hint[1], hint[2], t->rank == t->ranks - 1);
}

static const struct family families[] = {
    {"given", case_given, sequence_names, NULL},
    {"one_rank", case_one_rank, hint_names, NULL},
    /* Also where the hint says otherwise. */
    {"atomic", case_atomic_overlap, own_kinds, "romio_cb_write=disable"},
    {0},
};

int main(int argc, char **argv)
{
    static const struct family *const table[] = {families, settings_families, NULL};
    return conformance_main(argc, argv, table);
}
