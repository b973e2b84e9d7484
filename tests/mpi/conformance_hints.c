/* SPDX-License-Identifier: BSD-3-Clause */
/* conformance_hints: hints of MPI_File_set_view and MPI_File_set_info count from then on, and
 * MPI_File_get_info returns what is in force. The number of aggregators and of messages is in the
 * statistics, which test_hints.sh reads. */
#include "conformance.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 30000 /* of each rank in one call */

static struct view view_of(int rank, int ranks)
{
    return (struct view){rank * 100, 100, ranks * 100 + 28, 4};
}

/* Pairs of key and value; ends with NULL. MPI_INFO_NULL where there are none. */
static MPI_Info make_info(const char *const *hint)
{
    MPI_Info info = MPI_INFO_NULL;
    for (; hint != NULL && *hint != NULL; hint += 2) {
        if (info == MPI_INFO_NULL)
            MPI_Info_create(&info);
        MPI_Info_set(info, hint[0], hint[1]);
    }
    return info;
}

static void free_info(MPI_Info *info)
{
    if (*info != MPI_INFO_NULL)
        MPI_Info_free(info);
}

static MPI_File open_with(struct test *t, const char *const *hint)
{
    MPI_File file;
    MPI_Info info = make_info(hint);
    if (MPI_File_open(t->comm, t->path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, &file) !=
        MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    free_info(&info);
    return file;
}

static void view_with(struct test *t, MPI_File file, const char *const *hint)
{
    struct view v = view_of(t->rank, t->ranks);
    MPI_Info info = make_info(hint);
    MPI_Datatype block, filetype;
    MPI_Type_contiguous((int)v.block / 4, element(4), &block);
    MPI_Type_create_resized(block, 0, v.stride, &filetype);
    MPI_Type_commit(&filetype);
    must(t, "set_view", MPI_File_set_view(file, v.first, element(4), filetype, "native", info));
    MPI_Type_free(&filetype);
    MPI_Type_free(&block);
    free_info(&info);
}

static void set_info(struct test *t, MPI_File file, const char *const *hint)
{
    MPI_Info info = make_info(hint);
    must(t, "set_info", MPI_File_set_info(file, info));
    free_info(&info);
}

/* Every rank writes, and reads what the next one wrote. */
static void write_and_read(struct test *t, MPI_File file, enum kind kind, uint64_t seed)
{
    struct memory m = memory_make(RESIZED, BYTES, 4), back = memory_make(HOLES, BYTES, 4);
    struct bytes model = {0};
    MPI_Status status;
    memory_fill(&m, seed + (uint64_t)t->rank);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    must(t, "write", call_write(kind, file, 0, &m, &status));
    check_count(t, "write", &status, BYTES);
    synchronise(t, file);
    for (int rank = 0; rank < t->ranks && t->rank == 0; rank++) {
        struct view v = view_of(rank, t->ranks);
        model_write(&model, &v, 0, BYTES, seed + (uint64_t)rank);
    }
    check_file(t, &model);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    must(t, "read", call_read(kind, file, 0, &back, &status));
    check_count(t, "read", &status, BYTES);
    memory_check(t, &back, BYTES, seed + (uint64_t)t->rank);
    memory_release(&m);
    memory_release(&back);
    bytes_release(&model);
}

/* MPI_File_get_info must return this value; NULL: must not return the hint. */
static void check_hint(struct test *t, MPI_File file, const char *key, const char *wanted)
{
    char got[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info info;
    must(t, "get_info", MPI_File_get_info(file, &info));
    MPI_Info_get(info, (char *)key, MPI_MAX_INFO_VAL, got, &found);
    MPI_Info_free(&info);
    if ((found != 0) != (wanted != NULL))
        differ(t, "%s is %s", key, found ? got : "not returned");
    else if (found && strcmp(got, wanted) != 0)
        differ(t, "%s is %s, not %s", key, got, wanted);
}

#define HINTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Statistics: one aggregator is chosen, then as many as the hint says, of every way to give it. */
static void case_aggregators(struct test *t, int variant)
{
    (void)variant;
    const char *two = t->ranks > 1 ? "2" : "1";
    MPI_File file = open_with(t, NULL);
    check_hint(t, file, "cb_nodes", NULL);
    view_with(t, file, NULL);
    write_and_read(t, file, ALL, 1);
    check_hint(t, file, "cb_nodes", "1");
    view_with(t, file, HINTS("cb_nodes", "2"));
    check_hint(t, file, "cb_nodes", two);
    write_and_read(t, file, ALL, 2);
    check_hint(t, file, "cb_nodes", two);
    view_with(t, file, NULL);
    write_and_read(t, file, I_AT_ALL, 3);
    view_with(t, file, HINTS("cb_nodes", "1"));
    write_and_read(t, file, AT_ALL, 4);
    set_info(t, file, HINTS("cb_nodes", "1000000"));
    write_and_read(t, file, ALL, 5);
    char all[16];
    snprintf(all, sizeof all, "%d", t->ranks);
    check_hint(t, file, "cb_nodes", all);
    close_file(t, &file);
}

static void case_get_info(struct test *t, int variant)
{
    (void)variant;
    MPI_File file = open_with(t, HINTS("cb_buffer_size", "65536", "unknown", "value"));
    check_hint(t, file, "cb_buffer_size", "65536");
    check_hint(t, file, "striping_unit", NULL);
    check_hint(t, file, "romio_cb_write", "automatic");
    check_hint(t, file, "romio_cb_read", "automatic");
    check_hint(t, file, "collective_buffering", NULL);
    view_with(t, file,
              HINTS("striping_unit", "4096", "striping_factor", "4", "romio_cb_read", "enable",
                    "cb_nodes", "3"));
    check_hint(t, file, "striping_unit", "4096");
    check_hint(t, file, "striping_factor", "4");
    check_hint(t, file, "cb_nodes", t->ranks > 1 ? "2" : "1"); /* 3 do not divide 4 */
    check_hint(t, file, "cb_buffer_size", "65536");
    check_hint(t, file, "romio_cb_write", "automatic");
    check_hint(t, file, "romio_cb_read", "enable");
    write_and_read(t, file, ALL, 1);
    set_info(t, file, HINTS("cb_buffer_size", "131072", "romio_cb_write", "DISABLE"));
    write_and_read(t, file, ALL, 2);
    check_hint(t, file, "cb_buffer_size", "131072");
    check_hint(t, file, "romio_cb_write", "disable");
    check_hint(t, file, "romio_cb_read", "enable");
    check_hint(t, file, "striping_unit", "4096");
    close_file(t, &file);
}

/* A wish that the file system of the tests cannot meet changes nothing, until there is a number. */
static void case_auto(struct test *t, int variant)
{
    (void)variant;
    MPI_File file = open_with(t, HINTS("striping_unit", "auto"));
    view_with(t, file, NULL);
    check_hint(t, file, "striping_unit", "auto");
    write_and_read(t, file, ALL, 1);
    view_with(t, file, HINTS("striping_unit", "4096"));
    write_and_read(t, file, ALL, 2);
    check_hint(t, file, "striping_unit", "4096");
    set_info(t, file, HINTS("striping_unit", "AUTO"));
    write_and_read(t, file, ALL, 3);
    check_hint(t, file, "striping_unit", "auto");
    close_file(t, &file);
}

/* Ignored; one message for each hint of a process (test_hints.sh). */
static void case_invalid(struct test *t, int variant)
{
    (void)variant;
    MPI_File file = open_with(t, HINTS("cb_nodes", "1", "striping_unit", "-1"));
    for (uint64_t i = 1; i <= 3; i++) {
        view_with(t, file,
                  HINTS("cb_nodes", "two", "cb_buffer_size", "0", "striping_unit", "4294967297",
                        "striping_factor", "1.5", "romio_cb_write", "off", "romio_cb_read", "on",
                        "collective_buffering", "no"));
        check_hint(t, file, "cb_nodes", "1");
        write_and_read(t, file, ALL, i);
        set_info(t, file, HINTS("cb_nodes", "-5"));
        write_and_read(t, file, ALL, 10 * i);
        check_hint(t, file, "cb_nodes", "1");
        check_hint(t, file, "striping_unit", NULL);
        check_hint(t, file, "romio_cb_write", "automatic");
        check_hint(t, file, "collective_buffering", NULL);
    }
    close_file(t, &file);
}

/* The hints of rank 0 are those of all ranks, and no rank waits for a message that is not sent. */
static void case_different(struct test *t, int kind)
{
    char nodes[16], buffer[16];
    snprintf(nodes, sizeof nodes, "%d", t->rank + 1);
    snprintf(buffer, sizeof buffer, "%d", 4096 << (t->rank % 4));
    MPI_File file = open_with(t, HINTS("cb_buffer_size", buffer, "cb_nodes", nodes));
    view_with(t, file, NULL);
    write_and_read(t, file, (enum kind)kind, 1);
    check_hint(t, file, "cb_nodes", "1");
    check_hint(t, file, "cb_buffer_size", "4096");
    view_with(t, file, t->rank % 2 ? HINTS("romio_cb_write", "disable") : NULL);
    write_and_read(t, file, (enum kind)kind, 2);
    check_hint(t, file, "romio_cb_write", "automatic");
    view_with(t, file, t->rank % 2 ? NULL : HINTS("romio_cb_read", "disable", "cb_nodes", "2"));
    write_and_read(t, file, (enum kind)kind, 3);
    check_hint(t, file, "romio_cb_read", "disable");
    check_hint(t, file, "cb_nodes", t->ranks > 1 ? "2" : "1");
    set_info(t, file, t->rank == 0 ? HINTS("romio_cb_read", "automatic") : HINTS("cb_nodes", "3"));
    write_and_read(t, file, (enum kind)kind, 4);
    check_hint(t, file, "romio_cb_read", "automatic");
    check_hint(t, file, "cb_nodes", t->ranks > 1 ? "2" : "1");
    close_file(t, &file);
}

/* All ranks return what rank 0 does. */
static void check_same_hint(struct test *t, MPI_File file, const char *key)
{
    char own[MPI_MAX_INFO_VAL + 1] = "", wanted[MPI_MAX_INFO_VAL + 1];
    int found;
    MPI_Info info;
    must(t, "get_info", MPI_File_get_info(file, &info));
    MPI_Info_get(info, (char *)key, MPI_MAX_INFO_VAL, own, &found);
    MPI_Info_free(&info);
    memcpy(wanted, own, sizeof own);
    MPI_Bcast(wanted, sizeof wanted, MPI_CHAR, 0, t->comm);
    if (strcmp(own, wanted) != 0)
        differ(t, "%s is %s, on rank 0 %s", key, own, wanted);
}

static const char *const hint_names[] = {
    "cb_nodes",       "cb_buffer_size", "striping_unit",        "striping_factor",
    "romio_cb_write", "romio_cb_read",  "collective_buffering", NULL};

/* One rank alone has a hint: when it opens the file, sets a view, or sets an info object. */
static void give_to_one_rank(struct test *t, const char *key, const char *const *value, bool mine)
{
    const char *const *first = HINTS(key, value[0]), *const *second = HINTS(key, value[1]);
    MPI_File file = open_with(t, mine ? first : NULL);
    view_with(t, file, NULL);
    write_and_read(t, file, ALL, 1);
    check_same_hint(t, file, key);
    set_info(t, file, mine ? second : HINTS("unknown", "value"));
    write_and_read(t, file, I_AT_ALL, 2);
    check_same_hint(t, file, key);
    close_file(t, &file);
    file = open_with(t, HINTS("striping_unit", "128"));
    view_with(t, file, mine ? second : NULL);
    write_and_read(t, file, SPLIT_ALL, 3);
    write_and_read(t, file, ALL, 4);
    check_same_hint(t, file, key);
    view_with(t, file, mine ? NULL : first);
    write_and_read(t, file, ALL, 5);
    check_same_hint(t, file, key);
    close_file(t, &file);
}

static void case_one_rank(struct test *t, int variant)
{
    static const char *const values[][2] = {
        {"1", "3"},       {"4096", "1"},         {"100", "4096"},
        {"3", "2"},       {"disable", "enable"}, {"enable", "disable"},
        {"false", "true"}};
    give_to_one_rank(t, hint_names[variant], values[variant], t->rank == 0);
    give_to_one_rank(t, hint_names[variant], values[variant], t->rank == t->ranks - 1);
}

/* Statistics: neither aggregators nor messages. */
static void case_disable(struct test *t, int kind)
{
    MPI_File file = open_with(t, NULL);
    view_with(t, file, HINTS("romio_cb_write", "disable", "romio_cb_read", "disable"));
    write_and_read(t, file, (enum kind)kind, 1);
    write_and_read(t, file, (enum kind)kind, 2);
    close_file(t, &file);
}

/* Statistics: an aggregator, none, one for reading, one, and again none. */
static void case_in_turn(struct test *t, int variant)
{
    (void)variant;
    MPI_File file = open_with(t, NULL);
    view_with(t, file, NULL);
    write_and_read(t, file, ALL, 1);
    view_with(t, file, HINTS("collective_buffering", "false"));
    check_hint(t, file, "collective_buffering", "false");
    write_and_read(t, file, ALL, 2);
    view_with(t, file, HINTS("romio_cb_read", "enable"));
    write_and_read(t, file, ALL, 3);
    check_hint(t, file, "romio_cb_write", "disable");
    check_hint(t, file, "romio_cb_read", "enable");
    view_with(t, file, HINTS("collective_buffering", "true"));
    check_hint(t, file, "collective_buffering", NULL);
    check_hint(t, file, "romio_cb_write", "enable");
    write_and_read(t, file, ALL, 4);
    view_with(t, file, HINTS("romio_cb_write", "disable", "romio_cb_read", "disable"));
    write_and_read(t, file, SPLIT_ALL, 5);
    close_file(t, &file);
}

/* A file that is opened with such hints, as one that another file returned. */
static void case_at_open(struct test *t, int variant)
{
    (void)variant;
    MPI_File file = open_with(t, HINTS("romio_cb_write", "disable", "romio_cb_read", "disable"));
    MPI_Info info;
    view_with(t, file, NULL);
    write_and_read(t, file, ALL, 1);
    must(t, "get_info", MPI_File_get_info(file, &info));
    close_file(t, &file);
    if (MPI_File_open(t->comm, t->path, MPI_MODE_RDWR, info, &file) != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Info_free(&info);
    view_with(t, file, NULL);
    check_hint(t, file, "romio_cb_write", "disable");
    write_and_read(t, file, ALL, 2);
    close_file(t, &file);
}

/* All ranks write the same bytes: all are one rank's, also where the hint says otherwise. */
static void case_atomic(struct test *t, int kind)
{
    enum { LENGTH = 30000 };
    struct view v = {0, 100, 130, 1};
    struct memory m = memory_make(PLAIN, LENGTH, 1);
    MPI_File file = open_with(t, HINTS("romio_cb_write", "disable"));
    must(t, "set_atomicity", MPI_File_set_atomicity(file, 1));
    set_view(t, file, &v);
    memset(m.origin, t->rank + 1, LENGTH);
    must(t, "write", call_write((enum kind)kind, file, 0, &m, MPI_STATUS_IGNORE));
    close_file(t, &file);
    MPI_Barrier(t->comm);
    unsigned char first = 0, got;
    for (int64_t k = 0; k < LENGTH && t->rank == 0; k++) {
        if (!peek(t, t->path, view_place(&v, k), &got, 1))
            break;
        first = k == 0 ? got : first;
        if (got != first || got == 0 || got > t->ranks)
            differ(t, "byte %" PRId64 " is rank %d's, the first is rank %d's", k, got - 1,
                   first - 1);
    }
    memory_release(&m);
}

/* The end of file, which is within the data of a middle rank, and memory that stays as it is. */
static void case_end_of_file(struct test *t, int kind)
{
    struct bytes model = {0};
    struct view v = view_of(t->rank, t->ranks);
    bytes_extend(&model, 150 * (t->ranks * 100 + 28) + t->ranks * 50 + 30);
    fill_content(model.at, model.size, 1);
    create_file(t, &model);
    int64_t valid = 0;
    while (valid < BYTES && view_place(&v, valid) < model.size)
        valid++;
    MPI_File file = open_with(t, HINTS("romio_cb_read", "disable"));
    struct memory m = memory_make(BACKWARD, BYTES, 4);
    MPI_Status status;
    set_view(t, file, &v);
    must(t, "read", call_read((enum kind)kind, file, 0, &m, &status));
    if (kind != ALL) /* OMPIO sets the count itself */
        check_count(t, "read", &status, valid);
    memory_check_view(t, &m, valid, &v, 0, &model);
    close_file(t, &file);
    memory_release(&m);
    bytes_release(&model);
}

static const struct family families[] = {
    {"aggregators", case_aggregators, NULL},
    {"get_info", case_get_info, NULL},
    {"auto", case_auto, NULL},
    {"invalid", case_invalid, NULL},
    {"different", case_different, own_kinds},
    {"one_rank", case_one_rank, hint_names},
    {"disable", case_disable, own_kinds},
    {"in_turn", case_in_turn, NULL},
    {"at_open", case_at_open, NULL},
    {"atomic", case_atomic, own_kinds},
    {"end_of_file", case_end_of_file, own_kinds},
    {0},
};

int main(int argc, char **argv)
{
    static const struct family *const table[] = {families, NULL};
    return conformance_main(argc, argv, table);
}
