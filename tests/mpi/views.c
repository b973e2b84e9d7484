/* SPDX-License-Identifier: BSD-3-Clause */
/* views: random file views, memory types and sequences of collective calls, against a
 * serial model of the file and of every buffer. A case is a function of its seed and
 * number and of the number of ranks; a failure prints the command that replays it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generate.h"
#include "layout.h"

#define GUARD 64 /* bytes around each buffer that nobody may touch */

struct bytes {
    unsigned char *at;
    int64_t size, room;
};

enum access { READ_WRITE, WRITE_ONLY, READ_ONLY };

/* How a collective call is made: in one, as a begin and an end, or with a request. */
enum form { BLOCKING, SPLIT, NONBLOCKING, FORMS };

/* By form, whether it writes, and whether it has an explicit offset. */
static const char *const call_name[FORMS][2][2] = {
    {{"read_all", "read_at_all"}, {"write_all", "write_at_all"}},
    {{"split read_all", "split read_at_all"}, {"split write_all", "split write_at_all"}},
    {{"iread_all", "iread_at_all"}, {"iwrite_all", "iwrite_at_all"}},
};

/* One collective call of this rank. */
struct operation {
    bool write, explicit_offset;
    enum form form;
    unsigned char *buffer, *wanted; /* what it is given, and what that must be afterwards */
    int64_t size, low;              /* of both; where they begin, seen from the MPI's address */
    int64_t valid;                  /* bytes of data that are moved */
    MPI_Request request;
    MPI_Status status;
};

enum { MOST_PENDING = 4 };

/* One file of a case, as one group of ranks sees it. `model` is what the file must be. */
struct test {
    struct rng rng;
    int forms;          /* of enum form, so many of the first */
    struct test *other; /* a file that is accessed while a call is under way; NULL: none */
    struct operation pending[MOST_PENDING];
    int pendings;
    bool may_write; /* in this phase */
    MPI_Comm comm;
    int rank, ranks;
    enum access access;
    bool large; /* a few megabytes a rank, the default view, large buffers */
    char path[4096];
    bool endless;   /* zeros follow the bytes of the model */
    int64_t origin; /* of the model in the file */
    MPI_File file;
    struct bytes model;
    int64_t settled;   /* size of the file that every rank is sure to see */
    struct view *view; /* of each rank of the group */
    int64_t *position; /* of each rank, in etypes of its view */
    int64_t *base;     /* first etype that the rank may use */
    int64_t etypes;    /* how many it may use from there */
    int operations;    /* done so far; the data of each differ */
    const char *what;  /* the call that is checked now */
    char *failure;     /* the first difference seen; empty: none */
};

/* One rank's part in one collective call. */
struct part {
    struct layout memory;
    int count;           /* of memory types */
    int64_t offset;      /* in etypes, where it begins */
    int64_t bytes;       /* of data */
    unsigned char *data; /* in the order of the view */
};

static int world_rank, world_size;

static void differ(struct test *t, const char *format, ...)
{
    va_list arguments;
    if (t->failure[0] != '\0')
        return;
    int used = snprintf(t->failure, FAILURE_ROOM, "%s: ", t->what);
    va_start(arguments, format);
    vsnprintf(t->failure + used, FAILURE_ROOM - (size_t)used, format, arguments);
    va_end(arguments);
}

static void check_mpi(struct test *t, int code)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    differ(t, "error %s", text);
}

/* The model of the file */

static void extend(struct bytes *b, int64_t size)
{
    if (size <= b->size)
        return;
    if (size > b->room) {
        unsigned char *larger = checked_alloc((size_t)(2 * size), 1);
        if (b->size > 0)
            memcpy(larger, b->at, (size_t)b->size);
        free(b->at);
        b->at = larger;
        b->room = 2 * size;
    }
    b->size = size;
}

/* A walk along a view or a memory type: `data` advances through the data stream. */
struct stream {
    struct bytes *file;
    bool endless; /* behind its end are zeros */
    int64_t disp, valid, end;
    unsigned char *data, *memory;
    int64_t rest; /* bytes of data left that exist in the file */
};

static void put_in_file(void *context, int64_t offset, int64_t length)
{
    struct stream *s = context;
    extend(s->file, s->disp + offset + length);
    memcpy(s->file->at + s->disp + offset, s->data, (size_t)length);
    s->data += length;
}

/* Offsets of a view ascend: from the first byte past the end on there is nothing. */
static void get_from_file(void *context, int64_t offset, int64_t length)
{
    struct stream *s = context;
    int64_t there = s->file->size - (s->disp + offset);
    there = there < 0 ? 0 : there < length ? there : length;
    if (s->endless)
        memset(s->data, 0, (size_t)length);
    if (there > 0)
        memcpy(s->data, s->file->at + s->disp + offset, (size_t)there);
    s->data += length;
    s->valid += s->endless ? length : there;
    s->end = s->disp + offset + length;
}

static void put_in_memory(void *context, int64_t offset, int64_t length)
{
    struct stream *s = context;
    int64_t here = s->rest < length ? s->rest : length;
    if (here > 0)
        memcpy(s->memory + offset, s->data, (size_t)here);
    s->data += length;
    s->rest -= here;
}

/* Walks along the part of a rank's view. */
static void walk_part(const struct test *t, int rank, const struct part *p, struct stream *s,
                      void (*visit)(void *context, int64_t offset, int64_t length))
{
    const struct view *v = &t->view[rank];
    s->disp = v->disp;
    layout_walk(&v->file, p->offset * v->etype.size, p->bytes, visit, s);
}

/* Operations */

static void fill_random(struct rng *r, unsigned char *at, int64_t size)
{
    for (int64_t i = 0; i < size; i++)
        at[i] = (unsigned char)(rng_next(r) >> 56);
}

/* How many memory types the rank moves. With a view of size zero nothing moves, whatever
 * is asked for. */
static int draw_count(struct test *t, int rank, int etypes, int most, bool explicit_offset)
{
    int64_t room = t->base[rank] + t->etypes - t->position[rank];
    if (t->view[rank].file.size == 0)
        return rng_below(&t->rng, 3);
    if (explicit_offset)
        room = rng_chance(&t->rng, 70) ? t->etypes / 2 : t->etypes;
    int64_t limit = room / etypes < most ? room / etypes : most;
    return limit > 0 && !rng_chance(&t->rng, 12) ? rng_between(&t->rng, 0, (int)limit) : 0;
}

/* Draws one rank's memory, amount and place. Every rank draws everybody's. */
static struct part draw_part(struct test *t, int rank, bool explicit_offset)
{
    const struct view *v = &t->view[rank];
    struct part p;
    int etypes, most;
    p.memory = generate_memory(&t->rng, &v->etype, &etypes, &most);
    p.count = draw_count(t, rank, etypes, most, explicit_offset);
    int64_t used = v->file.size == 0 ? 0 : (int64_t)p.count * etypes;
    p.offset = t->position[rank];
    if (explicit_offset)
        p.offset = t->base[rank] + rng_below(&t->rng, (int)(t->etypes - used) + 1);
    p.bytes = used * v->etype.size;
    p.data = checked_alloc((size_t)p.bytes, 1);
    struct rng content = {rng_mix((uint64_t)rank + 1, rng_next(&t->rng))};
    fill_random(&content, p.data, p.bytes);
    return p;
}

static void free_part(struct part *p)
{
    layout_free(&p->memory);
    free(p->data);
}

static int call_at(MPI_File file, const struct part *p, struct operation *o, void *buffer)
{
    MPI_Datatype type = p->memory.type;
    if (o->form == BLOCKING)
        return o->write ? MPI_File_write_at_all(file, p->offset, buffer, p->count, type, &o->status)
                        : MPI_File_read_at_all(file, p->offset, buffer, p->count, type, &o->status);
    if (o->form == SPLIT)
        return o->write ? MPI_File_write_at_all_begin(file, p->offset, buffer, p->count, type)
                        : MPI_File_read_at_all_begin(file, p->offset, buffer, p->count, type);
    return o->write ? MPI_File_iwrite_at_all(file, p->offset, buffer, p->count, type, &o->request)
                    : MPI_File_iread_at_all(file, p->offset, buffer, p->count, type, &o->request);
}

static int call(MPI_File file, const struct part *p, struct operation *o, void *buffer)
{
    MPI_Datatype type = p->memory.type;
    if (o->explicit_offset)
        return call_at(file, p, o, buffer);
    if (o->form == BLOCKING)
        return o->write ? MPI_File_write_all(file, buffer, p->count, type, &o->status)
                        : MPI_File_read_all(file, buffer, p->count, type, &o->status);
    if (o->form == SPLIT)
        return o->write ? MPI_File_write_all_begin(file, buffer, p->count, type)
                        : MPI_File_read_all_begin(file, buffer, p->count, type);
    return o->write ? MPI_File_iwrite_all(file, buffer, p->count, type, &o->request)
                    : MPI_File_iread_all(file, buffer, p->count, type, &o->request);
}

/* Some wait, some ask again and again. */
static int wait_for(struct test *t, struct operation *o)
{
    int done = 0, code = MPI_SUCCESS;
    if ((t->rank + t->operations) % 2 == 0)
        return MPI_Wait(&o->request, &o->status);
    while (!done && code == MPI_SUCCESS)
        code = MPI_Test(&o->request, &done, &o->status);
    return code;
}

static int end_call(struct test *t, struct operation *o, void *buffer)
{
    if (o->form == BLOCKING)
        return MPI_SUCCESS;
    if (o->form == NONBLOCKING)
        return wait_for(t, o);
    if (o->explicit_offset)
        return o->write ? MPI_File_write_at_all_end(t->file, buffer, &o->status)
                        : MPI_File_read_at_all_end(t->file, buffer, &o->status);
    return o->write ? MPI_File_write_all_end(t->file, buffer, &o->status)
                    : MPI_File_read_all_end(t->file, buffer, &o->status);
}

static void compare_bytes(struct test *t, const char *where, const unsigned char *got,
                          const unsigned char *wanted, int64_t size, int64_t first)
{
    for (int64_t i = 0; i < size; i++)
        if (got[i] != wanted[i]) {
            differ(t, "%s, byte %" PRId64 " is %02x, not %02x", where, first + i, got[i],
                   wanted[i]);
            return;
        }
}

/* Without explicit offset io/ompio puts the full amount into the status, whatever the
 * collective component moved, so there the status says little. */
static void check_count(struct test *t, MPI_Status *status, int64_t wanted)
{
    int count;
    MPI_Get_count(status, MPI_BYTE, &count);
    if (count != wanted)
        differ(t, "status has %d bytes, not %" PRId64, count, wanted);
}

/* Begins this rank's part with a buffer that is random all over. `o->valid` of the data are to be
 * read; for a write it is all of them. */
static void begin_part(struct test *t, const struct part *p, struct operation *o)
{
    int64_t high;
    layout_hull(&p->memory, p->count, &o->low, &high);
    o->size = high - o->low + 2 * GUARD;
    o->buffer = checked_alloc((size_t)o->size, 1);
    o->wanted = checked_alloc((size_t)o->size, 1);
    struct rng gap = {rng_mix((uint64_t)t->operations, t->rng.state)};
    fill_random(&gap, o->buffer, o->size);
    memcpy(o->wanted, o->buffer, (size_t)o->size);
    struct stream s = {.data = p->data, .memory = o->wanted + GUARD - o->low, .rest = o->valid};
    layout_walk(&p->memory, 0, p->bytes, put_in_memory, &s);
    if (o->write)
        memcpy(o->buffer, o->wanted, (size_t)o->size);
    t->what = call_name[o->form][o->write][o->explicit_offset];
    check_mpi(t, call(t->file, p, o, o->buffer + GUARD - o->low));
}

/* Ends it and compares all of the buffer. */
static void end_part(struct test *t, struct operation *o)
{
    t->what = call_name[o->form][o->write][o->explicit_offset];
    check_mpi(t, end_call(t, o, o->buffer + GUARD - o->low));
    compare_bytes(t, "buffer", o->buffer, o->wanted, o->size, o->low - GUARD);
    if (o->explicit_offset)
        check_count(t, &o->status, o->valid);
    free(o->wanted);
    free(o->buffer);
}

/* Ranks with odd numbers in reverse order. */
static void end_pending(struct test *t)
{
    for (int i = 0; i < t->pendings; i++)
        end_part(t, &t->pending[t->rank % 2 == 0 ? i : t->pendings - 1 - i]);
    t->pendings = 0;
}

/* Calls at the file pointer in one direction have no byte in common. */
static bool may_overlap(const struct test *t, const struct operation *o)
{
    return t->pendings < MOST_PENDING && o->form != SPLIT && !o->explicit_offset &&
           (t->pendings == 0 || t->pending[0].write == o->write);
}

static void check_position(struct test *t)
{
    MPI_Offset position;
    MPI_File_get_position(t->file, &position);
    if (position != t->position[t->rank])
        differ(t, "file pointer is %lld, not %" PRId64, (long long)position, t->position[t->rank]);
}

/* What the ranks wrote before is what all of them see afterwards. Without it a rank sees
 * what it wrote itself, but the end of the file may not have moved yet for it. */
static void synchronise(struct test *t)
{
    end_pending(t);
    if (t->access == READ_ONLY)
        return;
    t->what = "sync";
    check_mpi(t, MPI_File_sync(t->file));
    MPI_Barrier(t->comm);
    check_mpi(t, MPI_File_sync(t->file));
    t->settled = t->endless ? INT64_MAX : t->model.size;
}

static void random_call(struct test *t);

/* While a call of this file is under way. */
static void use_other(struct test *t)
{
    struct test *other = t->other;
    if (other == NULL || rng_chance(&t->rng, 50))
        return;
    other->other = NULL;
    random_call(other);
    other->other = t;
}

static void operate(struct test *t, struct operation o)
{
    struct part own = {0};
    int64_t last = 0; /* up to where the ranks ask */
    bool write = o.write, explicit_offset = o.explicit_offset, overlaps = may_overlap(t, &o);
    t->operations++;
    for (int i = 0; i < t->ranks; i++) {
        struct part p = draw_part(t, i, explicit_offset);
        struct stream s = {.file = &t->model, .data = p.data, .endless = t->endless};
        walk_part(t, i, &p, &s, write ? put_in_file : get_from_file);
        last = s.end > last ? s.end : last;
        if (!explicit_offset && p.bytes > 0)
            t->position[i] += p.bytes / t->view[i].etype.size;
        if (i != t->rank) {
            free_part(&p);
            continue;
        }
        own = p;
        o.valid = write ? p.bytes : s.valid;
    }
    if (last > t->settled)
        synchronise(t);
    if (!overlaps)
        end_pending(t);
    begin_part(t, &own, &o);
    if (o.form != BLOCKING)
        use_other(t);
    if (overlaps && o.form == NONBLOCKING && last <= t->model.size)
        t->pending[t->pendings++] = o;
    else
        end_part(t, &o);
    /* Past its end a read may leave the file pointer short or not (MPI does not say). */
    if (o.valid == own.bytes)
        check_position(t);
    /* Nobody may go on to move the end of the file that others still look for. */
    if (last > t->model.size)
        MPI_Barrier(t->comm);
    free_part(&own);
    MPI_File_seek(t->file, t->position[t->rank], MPI_SEEK_SET);
}

/* Overlapping writes: each byte must hold what one of its writers wrote. */

struct image {
    struct bytes byte, written;
};

static void draw_image(const struct test *t, int rank, struct image *image, const struct part *p)
{
    unsigned char *ones = checked_alloc((size_t)p->bytes, 1);
    memset(ones, 1, (size_t)p->bytes);
    walk_part(t, rank, p, &(struct stream){.file = &image->byte, .data = p->data}, put_in_file);
    walk_part(t, rank, p, &(struct stream){.file = &image->written, .data = ones}, put_in_file);
    free(ones);
}

static struct bytes read_file(struct test *t)
{
    struct bytes content = {0};
    struct stat status;
    int fd = open(t->path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0) {
        differ(t, "cannot open the file: %s", strerror(errno));
        return content;
    }
    extend(&content, t->endless ? t->model.size : status.st_size);
    for (int64_t at = 0; at < content.size;) {
        ssize_t got = pread(fd, content.at + at, (size_t)(content.size - at), t->origin + at);
        if (got <= 0) {
            differ(t, "cannot read the file");
            break;
        }
        at += got;
    }
    close(fd);
    return content;
}

static bool one_wrote(const struct image *image, int ranks, int64_t at, unsigned char value,
                      bool *written)
{
    bool found = false;
    *written = false;
    for (int i = 0; i < ranks; i++) {
        if (at >= image[i].written.size || !image[i].written.at[at])
            continue;
        *written = true;
        found = found || image[i].byte.at[at] == value;
    }
    return found;
}

/* Makes the bytes in dispute those of the file once they have been found right. */
static void settle(struct test *t, const struct image *image)
{
    struct bytes content = read_file(t);
    for (int64_t at = 0; at < t->model.size && at < content.size; at++) {
        bool written, right = one_wrote(image, t->ranks, at, content.at[at], &written);
        if (written && !right)
            differ(t, "nobody wrote %02x at byte %" PRId64, content.at[at], at);
        if (right)
            t->model.at[at] = content.at[at];
    }
    free(content.at);
}

static void write_overlapping(struct test *t)
{
    struct image *image = checked_alloc((size_t)t->ranks, sizeof *image);
    struct part own = {0};
    t->operations++;
    for (int i = 0; i < t->ranks; i++) {
        struct part p = draw_part(t, i, true);
        draw_image(t, i, &image[i], &p);
        walk_part(t, i, &p, &(struct stream){.file = &t->model, .data = p.data}, put_in_file);
        if (i == t->rank)
            own = p;
        else
            free_part(&p);
    }
    struct operation o = {.write = true, .explicit_offset = true, .valid = own.bytes};
    begin_part(t, &own, &o);
    end_part(t, &o);
    synchronise(t);
    t->what = "overlapping writes";
    settle(t, image);
    free_part(&own);
    for (int i = 0; i < t->ranks; i++) {
        free(image[i].byte.at);
        free(image[i].written.at);
    }
    free(image);
    MPI_Barrier(t->comm);
}

/* Phases: a view of each rank, and calls */

static void set_view(struct test *t)
{
    const struct view *v = &t->view[t->rank];
    t->what = "set_view";
    check_mpi(t, MPI_File_set_view(t->file, t->origin + v->disp, v->etype.type, v->file.type,
                                   "native", MPI_INFO_NULL));
}

static void start_at(struct test *t, bool apart)
{
    for (int i = 0; i < t->ranks; i++)
        t->base[i] = t->position[i] = apart ? i * t->etypes : 0;
    MPI_File_seek(t->file, t->position[t->rank], MPI_SEEK_SET);
}

static void random_call(struct test *t)
{
    struct operation o = {.write = rng_chance(&t->rng, 60) && t->may_write};
    if (!o.write && t->access == WRITE_ONLY)
        return;
    o.explicit_offset = rng_chance(&t->rng, 40);
    o.form = t->forms > 1 ? (enum form)rng_below(&t->rng, t->forms) : BLOCKING;
    operate(t, o);
}

static void begin_phase(struct test *t, bool first)
{
    int kind = rng_below(&t->rng, 10);
    bool is_default = kind == 0;
    t->may_write = kind < 8 && t->access != READ_ONLY;
    t->etypes =
        rng_chance(&t->rng, 15) ? rng_between(&t->rng, 500, 3000) : rng_between(&t->rng, 1, 300);
    if (t->large) {
        is_default = true;
        t->etypes = rng_between(&t->rng, 1 << 20, 5 << 20);
    }
    if (is_default)
        generate_default(t->ranks, t->view);
    else if (kind < 5)
        generate_tiled(&t->rng, t->ranks, t->view);
    else if (kind < 8)
        generate_regions(&t->rng, t->ranks, t->etypes, t->view);
    else
        generate_overlapping(&t->rng, t->ranks, t->view);
    if (!first || !is_default || t->origin > 0)
        set_view(t);
    start_at(t, is_default);
    if (kind == 8 && !t->large && t->access != READ_ONLY)
        write_overlapping(t);
}

static void end_phase(struct test *t)
{
    synchronise(t);
    for (int i = 0; i < t->ranks; i++)
        view_free(&t->view[i]);
}

/* Cases */

static void write_existing_file(struct test *t)
{
    bool exists = (t->access == READ_ONLY || rng_chance(&t->rng, 50)) && t->origin == 0;
    int64_t size = exists ? rng_below(&t->rng, rng_chance(&t->rng, 50) ? 2000 : 30000) : 0;
    extend(&t->model, size);
    t->settled = size;
    fill_random(&t->rng, t->model.at, size);
    if (t->rank == 0 && exists) {
        FILE *f = fopen(t->path, "w");
        if (f == NULL || fwrite(t->model.at, 1, (size_t)size, f) != (size_t)size || fclose(f) != 0)
            differ(t, "cannot create %s: %s", t->path, strerror(errno));
    }
    MPI_Barrier(t->comm);
}

static MPI_Info draw_hints(struct test *t)
{
    static const int small[] = {64, 100, 128, 256, 1000, 4096, 65536};
    static const int large[] = {1 << 16, 3 << 16, 1 << 20, 1 << 22, 7 << 20, 1 << 25, 1 << 26};
    const int *buffer_size = t->large ? large : small;
    MPI_Info info;
    MPI_Info_create(&info);
    if (rng_chance(&t->rng, 70))
        set_number(info, "cb_nodes", rng_between(&t->rng, 1, t->ranks));
    if (rng_chance(&t->rng, 80))
        set_number(info, "cb_buffer_size", buffer_size[rng_below(&t->rng, 7)]);
    return info;
}

static void open_file(struct test *t)
{
    static const int mode[] = {MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_MODE_WRONLY | MPI_MODE_CREATE,
                               MPI_MODE_RDONLY};
    int kind = rng_below(&t->rng, 10);
    t->access = kind < 7 ? READ_WRITE : kind == 7 ? WRITE_ONLY : READ_ONLY;
    write_existing_file(t);
    MPI_Info info = draw_hints(t);
    t->what = "open";
    int code = MPI_File_open(t->comm, t->path, mode[t->access], info, &t->file);
    MPI_Info_free(&info);
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "views: cannot open %s\n", t->path);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void check_file(struct test *t)
{
    struct bytes content = read_file(t);
    t->what = "file at the end";
    if (content.size != t->model.size)
        differ(t, "size is %" PRId64 ", not %" PRId64, content.size, t->model.size);
    int64_t size = content.size < t->model.size ? content.size : t->model.size;
    compare_bytes(t, "content", content.at, t->model.at, size, 0);
    free(content.at);
    if (t->origin == 0)
        unlink(t->path);
}

static void begin_file(struct test *t)
{
    t->view = checked_alloc((size_t)t->ranks, sizeof *t->view);
    t->position = checked_alloc((size_t)t->ranks, sizeof *t->position);
    t->base = checked_alloc((size_t)t->ranks, sizeof *t->base);
    open_file(t);
}

static void end_file(struct test *t)
{
    t->what = "close";
    check_mpi(t, MPI_File_close(&t->file));
    MPI_Barrier(t->comm);
    if (t->rank == 0)
        check_file(t);
    free(t->base);
    free(t->position);
    free(t->view);
    free(t->model.at);
}

/* What a thread does. */
struct thread {
    struct test t[2];
    int files; /* 0: this rank sits out */
    int phases, calls;
    char failure[FAILURE_ROOM];
    pthread_t id;
};

static void begin_phases(struct thread *h, int number)
{
    h->calls = 0;
    if (number >= h->phases)
        return;
    h->calls = rng_between(&h->t->rng, 1, 5);
    for (int i = 0; i < h->files; i++)
        begin_phase(&h->t[i], number == 0);
}

static void *make_calls(void *state)
{
    struct thread *h = state;
    for (int i = 0; i < h->calls; i++)
        random_call(h->files > 1 && rng_chance(&h->t->rng, 30) ? &h->t[1] : h->t);
    return NULL;
}

static void end_phases(struct thread *h)
{
    for (int i = 0; i < h->files && h->calls > 0; i++)
        end_phase(&h->t[i]);
}

/* The ranks that share a file: all, all in reverse order, two halves with a file each,
 * or all but the last. Returns the group's number, or -1 on a rank that sits out. */
static int draw_group(struct rng *r, MPI_Comm *comm)
{
    int colour = 0, key = world_rank;
    switch (rng_below(r, 10)) {
    case 0: key = -world_rank; break;
    case 1: colour = world_rank % 2; break;
    case 2: colour = world_rank >= world_size / 2; break;
    case 3: colour = world_size > 1 && world_rank == world_size - 1 ? -1 : 0; break;
    default: break;
    }
    MPI_Comm_split(MPI_COMM_WORLD, colour < 0 ? MPI_UNDEFINED : colour, key, comm);
    return colour;
}

/* The end of a file would move for all of its handles. */
static void extend_file(struct test *t, int64_t size)
{
    if (t->rank == 0 && truncate(t->path, size) != 0)
        differ(t, "cannot extend %s: %s", t->path, strerror(errno));
    t->settled = INT64_MAX;
    MPI_Barrier(t->comm);
}

/* One of several. with: another, whose file this one uses through another handle; NULL: none. */
static void begin_thread(const struct cases *c, int number, struct thread *h,
                         const struct thread *with)
{
    enum { FAR = 1 << 29 };
    struct test *t = h->t;
    *h = (struct thread){.t[0] = {.rng = {rng_mix(c->seed, (uint64_t)number)},
                                  .failure = h->failure,
                                  .forms = c->forms < FORMS ? c->forms : FORMS,
                                  .endless = c->forms > FORMS}};
    t->large = rng_chance(&t->rng, c->large);
    int colour = draw_group(&t->rng, &t->comm), process = (int)getpid();
    if (with != NULL && colour >= 0)
        MPI_Comm_free(&t->comm);
    if (with != NULL ? with->files == 0 : colour < 0)
        return;
    if (with != NULL)
        MPI_Comm_dup(with->t->comm, &t->comm);
    t->rng.state = rng_mix(t->rng.state, with != NULL ? 0 : (uint64_t)colour);
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->ranks);
    MPI_Bcast(&process, 1, MPI_INT, 0, t->comm);
    int length = snprintf(t->path, sizeof t->path, "%s/views.%d.%d", c->dir, process, number);
    h->files = t->forms > 1 && rng_chance(&t->rng, 30) ? 2 : 1;
    if (h->files == 2) {
        t[1] = t[0];
        t[1].rng.state = rng_mix(t->rng.state, 1);
        snprintf(t[1].path + length, sizeof t[1].path - (size_t)length, ".other");
        t[0].other = &t[1];
        t[1].other = &t[0];
    }
    if (with != NULL) {
        memcpy(t->path, with->t->path, sizeof t->path);
        t->origin = FAR;
    }
    for (int i = 0; i < h->files; i++) {
        begin_file(&t[i]);
        if (t[i].endless)
            extend_file(&t[i], 2 * FAR);
    }
    h->phases = t->large ? 1 : rng_between(&t->rng, 1, 3);
}

static void end_thread(struct thread *h)
{
    for (int i = 0; i < h->files; i++)
        end_file(&h->t[i]);
    if (h->files > 0)
        MPI_Comm_free(&h->t->comm);
}

/* Threads transfer data only: in other collective calls ROMIO waits for other ranks with a lock. */
static void run_case(const struct cases *c, int number, char failure[FAILURE_ROOM])
{
    enum { MOST = 4, MOST_PHASES = 3 };
    static struct thread h[MOST];
    int threads = c->forms > FORMS ? 2 + number % (MOST - 1) : 1;
    for (int i = 0; i < threads; i++)
        begin_thread(c, number + (i << 20), &h[i], i == 1 && number % 2 == 0 ? h : NULL);
    for (int phase = 0; phase < MOST_PHASES; phase++) {
        for (int i = 0; i < threads; i++)
            begin_phases(&h[i], phase);
        for (int i = 1; i < threads; i++)
            pthread_create(&h[i].id, NULL, make_calls, &h[i]);
        make_calls(h);
        for (int i = 1; i < threads; i++)
            pthread_join(h[i].id, NULL);
        for (int i = 0; i < threads; i++)
            end_phases(&h[i]);
    }
    for (int i = threads - 1; i >= 0; i--) {
        end_thread(&h[i]);
        if (h[i].failure[0] != '\0')
            memcpy(failure, h[i].failure, FAILURE_ROOM);
    }
}

int main(int argc, char **argv)
{
    static const struct argp parser = {
        .doc = "Random file views and memory types in collective MPI-IO, against a serial model.",
        .children = cases_options,
    };
    struct cases c = {"views", "views", .seed = 1, .cases = 100, .large = 1, .forms = 1};
    argp_parse(&parser, argc, argv, 0, NULL, &c);
    int provided, wanted = c.forms > FORMS ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv, wanted, &provided);
    if (provided < wanted)
        MPI_Abort(MPI_COMM_WORLD, 77);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    int status = cases_run(&c, run_case);
    MPI_Finalize();
    return status;
}
