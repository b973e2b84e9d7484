/* SPDX-License-Identifier: BSD-3-Clause */
#include "scene.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "order.h"

#define BYTES 2000                  /* of each rank in one call */
#define SMALL "cb_buffer_size=4096" /* a call takes several cycles */
#define SHAPES_OF_VIEWS 16          /* more than plans are kept */

const struct part parts[] = {
    {"open", OPEN, ALL, STRIDED, AGGREGATED},
    {"close", CLOSE, ALL, STRIDED, AGGREGATED},
    {"write_all", WRITE, ALL, STRIDED, AGGREGATED},
    {"write_all_again", REWRITE, ALL, STRIDED, AGGREGATED},
    {"read_all", READ, ALL, STRIDED, AGGREGATED},
    {"iwrite_all", WRITE, I_ALL, STRIDED, AGGREGATED},
    {"iread_all", READ, I_ALL, STRIDED, AGGREGATED},
    {"write_all_begin", WRITE, SPLIT_ALL, STRIDED, AGGREGATED},
    {"read_all_begin", READ, SPLIT_ALL, STRIDED, AGGREGATED},
    {"write_holes", WRITE, ALL, APART, AGGREGATED},
    {"write_pages", WRITE, ALL, SPARSE, INDEPENDENT},
    {"write_alone", WRITE, ALL, APART, INDEPENDENT},
    {"read_alone", READ, ALL, APART, INDEPENDENT},
    {"write_early", WRITE, ALL, LARGE, AUTOMATIC},
    {"read_early", READ, ALL, LARGE, AUTOMATIC},
    {0},
};

/* --- what is accessed --- */

static struct deal deal_of(enum pattern pattern, int round)
{
    static const struct {
        int64_t block, gap;
    } shapes[] = {
        [STRIDED] = {40, 0}, [APART] = {80, 20}, [SPARSE] = {8, 12}, [LARGE] = {BYTES, 0}};
    int64_t more = 4 * (round % SHAPES_OF_VIEWS);
    int64_t block = shapes[pattern].block + (pattern == STRIDED ? more : 0);
    int64_t room = block + shapes[pattern].gap + (pattern == STRIDED ? 0 : more);
    return (struct deal){0, block, room, 28, 4};
}

/* Of rank 0; the next rank has the next one. */
static uint64_t seed_of(int round)
{
    return (uint64_t)(round * ORDER_MOST_RANKS);
}

/* The file after a write by all ranks. */
static struct bytes model_round(const struct test *t, enum pattern pattern, int round)
{
    const struct deal deal = deal_of(pattern, round);
    struct bytes model = {0};
    model_deal(t, &model, &deal, 0, BYTES, seed_of(round));
    return model;
}

/* --- calls --- */

/* Whether the call succeeded, the same on all ranks. */
static bool succeeded(struct scene *s, const char *what, int rc)
{
    int class = same_class(s->t, what, rc);
    if (s->error == MPI_SUCCESS)
        s->error = class;
    return class == MPI_SUCCESS;
}

static int open_with_hints(const struct test *t, enum hints hints, MPI_File *file)
{
    static const char *const texts[] = {
        [AGGREGATED] = SMALL " cb_nodes=2",
        [INDEPENDENT] = SMALL " collective_buffering=false",
        [AUTOMATIC] = SMALL,
    };
    MPI_Info info = make_info(texts[hints]);
    *file = MPI_FILE_NULL;
    int rc = MPI_File_open(t->comm, t->path, MPI_MODE_RDWR | MPI_MODE_CREATE, info, file);
    MPI_Info_free(&info);
    return rc;
}

static void write_part(struct scene *s, MPI_File file, const struct part *part, int round)
{
    const struct data d = {RESIZED, 4, 0, BYTES, seed_of(round) + (uint64_t)s->t->rank, true};
    if (succeeded(s, "write", write_data(s->t, part->kind, file, &d))) {
        struct bytes model = model_round(s->t, part->pattern, round);
        check_file(s->t, &model);
    }
}

static void read_part(struct scene *s, MPI_File file, const struct part *part, int round)
{
    const struct data d = {RESIZED, 4, 0, BYTES, seed_of(round) + (uint64_t)s->t->rank, true};
    (void)succeeded(s, "read", read_data(s->t, part->kind, file, &d));
}

static void set_new_view(struct scene *s, MPI_File file, enum pattern pattern, int round)
{
    const struct deal deal = deal_of(pattern, round);
    set_dealt_view(s->t, file, &deal);
}

/* A write and a read that must succeed. */
static void use_file(struct scene *s, MPI_File file)
{
    static const struct part plain = {"", WRITE, ALL, STRIDED, AGGREGATED};
    int before = s->error, round = ++s->round;
    s->error = MPI_SUCCESS;
    must(s->t, "set_size afterwards", MPI_File_set_size(file, 0));
    MPI_Barrier(s->t->comm);
    set_new_view(s, file, STRIDED, round);
    write_part(s, file, &plain, round);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    if (s->error == MPI_SUCCESS)
        read_part(s, file, &plain, round);
    if (s->error != MPI_SUCCESS)
        differ(s->t, "error class %d without a fault, afterwards", s->error);
    s->error = before;
}

/* --- the file that is open all the time --- */

static void keep_open(struct scene *s, const struct part *part)
{
    s->t = &s->kept;
    if (s->kept_file != MPI_FILE_NULL && s->kept_hints == (int)part->hints &&
        part->pattern != SPARSE)
        return; /* after an error the pages of a file are not mapped any more */
    scene_restart(s);
    must(s->t, "open", open_with_hints(s->t, part->hints, &s->kept_file));
    s->kept_hints = (int)part->hints;
}

void scene_restart(struct scene *s)
{
    if (s->kept_file != MPI_FILE_NULL)
        MPI_File_close(&s->kept_file);
    s->kept_file = MPI_FILE_NULL;
}

void scene_fill(struct scene *s, int files)
{
    MPI_File file[SCENE_MOST_FILES];
    scene_restart(s);
    s->t = &s->kept;
    for (int i = 0; i < files; i++) {
        must(s->t, "open", open_with_hints(s->t, AGGREGATED, &file[i]));
        use_file(s, file[i]);
    }
    for (int i = 0; i < files; i++)
        must(s->t, "close", MPI_File_close(&file[i]));
}

/* --- a new file --- */

static void remove_fresh(struct scene *s)
{
    MPI_Barrier(s->t->comm);
    if (s->t->rank == 0)
        unlink(s->t->path);
    MPI_Barrier(s->t->comm);
}

/* A group of ranks for which nothing is kept from earlier files. */
static void prepare_fresh(struct scene *s)
{
    struct test *t = s->t = &s->fresh;
    int rank, ranks;
    MPI_Comm_rank(s->all, &rank);
    MPI_Comm_size(s->all, &ranks);
    MPI_Comm_split(s->all, 0, order_place(rank, ranks, ++s->order), &t->comm);
    MPI_Comm_rank(t->comm, &t->rank);
    t->ranks = ranks;
    s->fresh_file = MPI_FILE_NULL;
    remove_fresh(s);
}

static void open_fresh(struct scene *s, const struct part *part)
{
    int round = ++s->round;
    if (!succeeded(s, "open", open_with_hints(s->t, part->hints, &s->fresh_file))) {
        s->fresh_file = MPI_FILE_NULL; /* not closed where only some ranks have it */
        return;
    }
    set_new_view(s, s->fresh_file, part->pattern, round);
    write_part(s, s->fresh_file, part, round);
}

static void close_fresh(struct scene *s)
{
    if (s->fresh_file != MPI_FILE_NULL)
        (void)succeeded(s, "close", MPI_File_close(&s->fresh_file));
}

static void recover_fresh(struct scene *s, const struct part *part)
{
    int before = s->error;
    close_fresh(s);
    remove_fresh(s);
    s->error = MPI_SUCCESS;
    open_fresh(s, part);
    if (s->fresh_file != MPI_FILE_NULL)
        use_file(s, s->fresh_file);
    close_fresh(s);
    if (s->error != MPI_SUCCESS)
        differ(s->t, "error class %d of a new file, without a fault", s->error);
    s->error = before;
    MPI_Comm_free(&s->t->comm);
    s->t->comm = s->all;
}

/* --- parts --- */

static bool is_fresh(const struct part *part)
{
    return part->action == OPEN || part->action == CLOSE;
}

static void prepare_kept(struct scene *s, const struct part *part)
{
    int round = ++s->round;
    keep_open(s, part);
    if (part->action == READ) {
        struct bytes model = model_round(s->t, part->pattern, round);
        create_file(s->t, &model);
        bytes_release(&model);
        return;
    }
    must(s->t, "set_size", MPI_File_set_size(s->kept_file, 0));
    MPI_Barrier(s->t->comm);
    if (part->action != REWRITE)
        return;
    set_new_view(s, s->kept_file, part->pattern, round);
    write_part(s, s->kept_file, part, round);
    MPI_File_seek(s->kept_file, 0, MPI_SEEK_SET);
}

void scene_prepare(struct scene *s, const struct part *part)
{
    s->error = MPI_SUCCESS;
    if (is_fresh(part))
        prepare_fresh(s);
    else
        prepare_kept(s, part);
    if (part->action == CLOSE)
        open_fresh(s, part);
    MPI_Barrier(s->t->comm);
}

void scene_act(struct scene *s, const struct part *part)
{
    s->error = MPI_SUCCESS;
    if (part->action == OPEN)
        open_fresh(s, part);
    if (is_fresh(part)) {
        close_fresh(s);
        return;
    }
    if (part->action != REWRITE)
        set_new_view(s, s->kept_file, part->pattern, s->round);
    else
        s->round += SHAPES_OF_VIEWS; /* the same shape, other contents */
    if (part->action == READ)
        read_part(s, s->kept_file, part, s->round);
    else
        write_part(s, s->kept_file, part, s->round);
}

void scene_recover(struct scene *s, const struct part *part)
{
    if (is_fresh(part))
        recover_fresh(s, part);
    else
        use_file(s, s->kept_file);
}

/* --- begin and end --- */

static void init_test(struct test *t, MPI_Comm comm, const char *dir, const char *name)
{
    *t = (struct test){.dir = dir, .comm = comm};
    MPI_Comm_rank(comm, &t->rank);
    MPI_Comm_size(comm, &t->ranks);
    snprintf(t->path, sizeof t->path, "%s/%s", dir, name);
}

void scene_begin(struct scene *s, MPI_Comm all, const char *dir)
{
    *s = (struct scene){.all = all, .kept_file = MPI_FILE_NULL, .fresh_file = MPI_FILE_NULL};
    init_test(&s->kept, all, dir, "kept");
    init_test(&s->fresh, all, dir, "fresh");
    s->t = &s->kept;
}

void scene_end(struct scene *s)
{
    scene_restart(s);
    MPI_Barrier(s->all);
    if (s->kept.rank == 0) {
        unlink(s->kept.path);
        unlink(s->fresh.path);
    }
}
